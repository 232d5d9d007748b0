//! Games of self-play: reproducible, legal, and as their settings say.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::standin::StandIn;
use cyvasse_env::{Game, Outcome, Position, Rules, SetupSpace};
use cyvasse_selfplay::play::{GameSettings, Progress, Resignation, Round, SelfPlay};
use cyvasse_selfplay::search::SearchSettings;
use cyvasse_selfplay::{
    GameRecord, MoverValue, PlyKind, Remembering, SetupPool, SetupSource, Supply,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const SEED: u64 = 5;

/// Half of the setups uniform, half from a few that are there before.
fn half_from_a_pool(rules: &Rules) -> SetupPool {
    let space = SetupSpace::new(rules);
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let supply = |source| Supply {
        source,
        share: 0.5,
        setups: [0, 1].map(|_| (0..5).map(|_| space.sample(&mut rng)).collect()),
    };
    let supplies = [SetupSource::Uniform, SetupSource::Current].map(supply).to_vec();
    SetupPool::new(Arc::new(space.clone()), supplies).unwrap()
}

/// What rounds of self-play without a network are to be.
#[derive(Clone)]
struct Plan {
    search: SearchSettings,
    games: GameSettings,
    slots: u32,
    workers: usize,
    /// Whether each round goes on from what the last one saved.
    interrupted: bool,
    resign_below: f32,
}

impl Plan {
    fn plain() -> Plan {
        let (search, games) = (common::gumbel(8), GameSettings::plain());
        Plan { search, games, slots: 6, workers: 1, interrupted: false, resign_below: -1.0 }
    }

    /// With all that games can be made by.
    fn everything() -> Plan {
        let mut plan = Plan::plain();
        plan.games.reuse_tree = true;
        plan.games.playout_cap.full_share = 0.4;
        plan.games.playout_cap.cheap_simulations = 3;
        plan.games.opening.share = 0.5;
        plan.games.opening.most_plies = 6;
        plan.games.resignation.false_positives = 0.05;
        plan.games.resignation.played_on = 0.5;
        plan.resign_below = 0.1;
        plan
    }

    /// Plays two rounds; returns the games and the progress.
    fn play(&self) -> (Vec<GameRecord>, Progress) {
        let rules = Arc::new(Rules::iron_throne());
        let Plan { search, games, .. } = self.clone();
        let mut selfplay =
            SelfPlay::new(rules.clone(), search.clone(), games.clone(), 0..self.slots, SEED);
        let (setups, progress) = (half_from_a_pool(&rules), Progress::default());
        let mut finished = Vec::new();
        for _ in 0..2 {
            let round = Round {
                plies_per_slot: 40,
                network_step: 0,
                setups: &setups,
                resign_below: MoverValue::new(self.resign_below),
                progress: &progress,
                stop: &AtomicBool::new(false),
            };
            let evaluator = || {
                let remembered = games.remembered_evaluations;
                Remembering::new(StandIn { sharpness: 2.0 }, remembered, &progress.remembered)
            };
            let mut evaluators: Vec<_> = (0..self.workers).map(|_| evaluator()).collect();
            finished.extend(selfplay.play(&mut evaluators, round).unwrap());
            drop(evaluators);
            if self.interrupted {
                let (rules, games) = (rules.clone(), games.clone());
                let unfinished = selfplay.unfinished();
                selfplay =
                    SelfPlay::resume(rules, search.clone(), games, unfinished, SEED).unwrap();
            }
        }
        (finished, progress)
    }

    fn games(&self) -> Vec<GameRecord> {
        self.play().0
    }
}

#[test]
fn games_depend_on_seeds_alone() {
    for plan in [Plan::plain(), Plan::everything()] {
        let expected = plan.games();
        assert!(expected.len() > 6);
        let sources: Vec<SetupSource> = expected.iter().flat_map(|game| game.sources).collect();
        assert!(sources.contains(&SetupSource::Current) && sources.contains(&SetupSource::Uniform));
        assert_eq!(Plan { workers: 2, ..plan.clone() }.games(), expected);
        let interrupted = Plan { workers: 3, interrupted: true, ..plan.clone() }.games();
        assert_eq!(interrupted, expected, "an interruption changed the games");
        let few = Plan { slots: 2, ..plan }.games();
        let same: Vec<GameRecord> = expected.into_iter().filter(|game| game.id.slot < 2).collect();
        assert_eq!(few, same, "other games changed a game");
    }
}

#[test]
fn a_memory_of_evaluations_changes_no_game() {
    for plan in [Plan::plain(), Plan::everything()] {
        let (expected, without) = plan.play();
        assert_eq!(without.remembered.load(Ordering::Relaxed), 0);
        for remembered_evaluations in [7, 10_000] {
            let mut plan = plan.clone();
            plan.games.remembered_evaluations = remembered_evaluations;
            let (games, progress) = plan.play();
            assert_eq!(games, expected);
            let hits = progress.remembered.load(Ordering::Relaxed);
            let asked = progress.evaluations.load(Ordering::Relaxed);
            assert!(hits > 0 && hits < asked, "{hits} of {asked}");
        }
    }
}

#[test]
fn records_tell_of_legal_games() {
    let rules = Arc::new(Rules::iron_throne());
    for record in Plan::everything().games() {
        let [white, black] = &record.setups;
        let mut game = Game::new(rules.clone(), Position::start(white, black));
        for ply in &record.plies {
            assert_eq!(game.outcome(), None);
            let position = game.position();
            assert!(ply.policy.iter().all(|&(action, _)| position.is_legal(action, &rules)));
            let share: f32 = ply.policy.iter().map(|&(_, share)| share).sum();
            let expected = if ply.kind == PlyKind::Full { 1.0 } else { 0.0 };
            assert!((share - expected).abs() < 1e-4);
            game.play(ply.action).unwrap();
        }
        let loser = game.position().turn();
        let resigned = record.resigned.then(|| Outcome::Win(loser.other()));
        assert_eq!(game.outcome().or(resigned), Some(record.outcome));
        assert_eq!(game.outcome().is_none(), record.resigned);
    }
}

#[test]
fn cheap_plies_are_as_many_as_the_config_says() {
    let plan = Plan::everything();
    let games = plan.games();
    let plies = games.iter().flat_map(|game| &game.plies);
    let searched: Vec<_> = plies.filter(|ply| ply.kind != PlyKind::Opening).collect();
    let full = searched.iter().filter(|ply| ply.kind == PlyKind::Full);
    let share = full.clone().count() as f64 / searched.len() as f64;
    assert!(
        (share - 0.4).abs() < 0.06,
        "{share} of {} plies were searched in full",
        searched.len()
    );
    assert!(full.clone().all(|ply| ply.simulations <= 8));
    assert!(full.clone().any(|ply| ply.simulations == 8));
    let cheap = searched.iter().filter(|ply| ply.kind == PlyKind::Cheap);
    assert!(cheap.clone().all(|ply| ply.simulations <= 3));
}

#[test]
fn a_kept_tree_saves_evaluations() {
    let mut plan = Plan { search: common::puct(32), slots: 2, ..Plan::plain() };
    let evaluations = |plan: &Plan| {
        let (_, progress) = plan.play();
        let [evaluations, plies] = [&progress.evaluations, &progress.plies]
            .map(|count: &AtomicU64| count.load(Ordering::Relaxed) as f64);
        evaluations / plies
    };
    let before = evaluations(&plan);
    plan.games.reuse_tree = true;
    let after = evaluations(&plan);
    assert!(after < 0.95 * before, "{after} evaluations a ply, {before} with a new tree");
}

#[test]
fn openings_are_random_and_harmless() {
    let rules = Arc::new(Rules::iron_throne());
    let mut with_opening = 0;
    let games = Plan::everything().games();
    for record in &games {
        let opening = record.plies.iter().take_while(|ply| ply.kind == PlyKind::Opening).count();
        with_opening += usize::from(opening > 0);
        assert!(opening <= 6);
        let later = &record.plies[opening..];
        assert!(later.iter().all(|ply| ply.kind != PlyKind::Opening));
        let [white, black] = &record.setups;
        let mut position = Position::start(white, black);
        for ply in &record.plies[..opening] {
            position = position.play(ply.action, &rules).unwrap();
            let mut answers = Vec::new();
            position.legal_actions(&rules, &mut answers);
            assert!(!answers.into_iter().any(|answer| position.captures_king(answer)));
        }
    }
    let share = with_opening as f64 / games.len() as f64;
    assert!((0.25..0.75).contains(&share), "{share} of {} games", games.len());
}

#[test]
fn players_resign_below_the_threshold_unless_the_game_is_played_on() {
    let plan = Plan::everything();
    let games = plan.games();
    let resignation = Resignation::new(plan.games.resignation.clone(), SEED);
    let resigned: Vec<&GameRecord> = games.iter().filter(|game| game.resigned).collect();
    assert!(!resigned.is_empty() && resigned.len() < games.len());
    for game in resigned {
        assert!(!resignation.is_played_on(game.id));
        let own = &game.plies[game.plies.len() - 2];
        assert!(own.root_value.get() < plan.resign_below);
    }
    let played_on = games.iter().filter(|game| resignation.is_played_on(game.id)).count();
    assert!(played_on > games.len() / 4);
    let never = Plan { resign_below: -1.0, ..plan };
    assert!(never.games().iter().all(|game| !game.resigned));
}
