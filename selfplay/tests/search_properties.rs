//! What every search promises, whatever its position, settings, evaluator and
//! number of leaves in flight.

mod common;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use common::standin::StandIn;
use cyvasse_env::{Action, Game as Played, Rules};
use cyvasse_selfplay::search::{
    Cyvasse, Gathered, GumbelSettings, PolicySettings, PuctSettings, Search, SearchResult,
    SearchSettings,
};
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Proven, Request, Uniform, Wdl};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Judges in one of several ways.
enum Judge {
    Uniform,
    StandIn(StandIn),
    /// Certain of everything, and wrong half of the time: all of the prior on
    /// one action, and the game won (or lost) for whoever is to move.
    Zealot(Wdl),
}

impl Evaluator<Cyvasse> for Judge {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, Cyvasse>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        match self {
            Judge::Uniform => Uniform::new().evaluate(requests, answers),
            Judge::StandIn(judge) => judge.evaluate(requests, answers),
            Judge::Zealot(wdl) => {
                Uniform::new().evaluate(requests, answers)?;
                for answer in answers {
                    let middle = answer.logits.len() / 2;
                    answer.logits[middle] = 1e4;
                    answer.wdl = *wdl;
                }
                Ok(())
            }
        }
    }
}

fn random_judge(rng: &mut ChaCha8Rng) -> Judge {
    match rng.random_range(0..4) {
        0 => Judge::Uniform,
        1 => Judge::Zealot(Wdl { win: 1.0, draw: 0.0, loss: 0.0 }),
        2 => Judge::Zealot(Wdl { win: 0.0, draw: 0.0, loss: 1.0 }),
        _ => Judge::StandIn(StandIn { sharpness: rng.random_range(0.0..20.0) }),
    }
}

/// Settings from all over their range, small values more often.
fn random_settings(rng: &mut ChaCha8Rng) -> SearchSettings {
    let policy = if rng.random() {
        PolicySettings::Gumbel(GumbelSettings {
            max_considered: rng.random_range(1..80),
            c_visit: rng.random_range(0.0..100.0),
            c_scale: 10_f32.powf(rng.random_range(-3.0..2.0)),
            noise: rng.random_range(0..3) as f32,
        })
    } else {
        PolicySettings::Puct(PuctSettings {
            c_init: 10_f32.powf(rng.random_range(-2.0..2.0)),
            c_base: 10_f32.powf(rng.random_range(0.0..5.0)),
            fpu_reduction: rng.random_range(0.0..2.0),
            noise_share: rng.random_range(0.0..1.0),
            noise_concentration: 10_f32.powf(rng.random_range(-2.0..2.0)),
            temperature: rng.random_range(0.0..2.0),
            temperature_plies: rng.random_range(0..60),
        })
    };
    SearchSettings {
        simulations: 1 << rng.random_range(0..10),
        max_nodes: 2 << rng.random_range(0..12),
        policy,
    }
}

/// Checks a result, at the end of a search or on its way.
fn check(result: &SearchResult<Action>, settings: &SearchSettings, played: &Played) {
    let mut legal = Vec::new();
    played.legal_actions(&mut legal);
    let legal: HashSet<Action> = legal.into_iter().collect();
    // The order is that of the list, but where the search went on from another.
    let visited: HashSet<Action> = result.visits.iter().map(|&(action, _)| action).collect();
    assert_eq!((&visited, result.visits.len()), (&legal, legal.len()));
    let pairs = result.visits.iter().zip(&result.policy);
    assert!(pairs.into_iter().all(|((one, _), (other, _))| one == other));
    assert_eq!(result.policy.len(), legal.len());
    assert!(legal.contains(&result.best));

    assert!(result.simulations <= settings.simulations);
    // A simulation evaluates one leaf at most, and the root is one more.
    assert!(result.evaluations <= result.simulations + 1);
    assert!(result.evaluations <= settings.max_nodes);

    assert!(result.value.get().abs() <= 1.0, "the value is {}", result.value.get());
    let share: f32 = result.policy.iter().map(|&(_, share)| share).sum();
    assert!((share - 1.0).abs() < 1e-5, "the shares add up to {share}");
    assert!(result.policy.iter().all(|&(_, share)| (0.0..=1.0 + 1e-6).contains(&share)));
    if let Some(proven) = result.proven {
        assert_eq!(result.value, proven.value());
    }
}

fn root_visits(result: &SearchResult<Action>) -> u32 {
    result.visits.iter().map(|&(_, visits)| visits).sum()
}

/// Plays on for a few plies, each search with the tree of the one before.
fn go_on(
    mut search: Search<Cyvasse>,
    mut result: SearchResult<Action>,
    settings: &SearchSettings,
    mut played: Played,
    judge: &mut Judge,
    in_flight: usize,
) {
    for seed in 0..4 {
        // What was expected, and every other time what was not.
        let action = if seed % 2 == 0 { result.best } else { result.visits[0].0 };
        played.play_unchecked(action);
        if played.outcome().is_some() {
            return;
        }
        search.advance(action, played.position().clone(), played.earlier(), seed);
        run(&mut search, judge, in_flight, |search| {
            check(&search.result(u16::MAX), settings, &played);
        });
        result = search.result(u16::MAX);
        check(&result, settings, &played);
        check_surprise(judge, &played, &result);
        // Some are kept, and at least half of the settings' are new.
        assert!(root_visits(&result) >= result.simulations);
        let spent = root_visits(&result) >= settings.simulations
            && result.simulations >= settings.simulations / 2;
        let full = settings.max_nodes <= 4 * settings.simulations;
        assert!(result.proven.is_some() || spent || full, "{result:?} of {settings:?}");
    }
}

/// Runs a search with up to so many leaves in flight, and checks it now and then.
fn run(
    search: &mut Search<Cyvasse>,
    judge: &mut Judge,
    in_flight: usize,
    mut look: impl FnMut(&mut Search<Cyvasse>),
) {
    for round in 0.. {
        let mut gathered = search.gather();
        while gathered == Gathered::Leaf && search.requests().len() < in_flight {
            gathered = search.gather();
        }
        if gathered == Gathered::Done {
            return;
        }
        let answers = common::answers(search, judge);
        assert!((1..=in_flight).contains(&answers.len()), "{} in flight", answers.len());
        // Some of the answers only: the others stay in flight.
        let applied = if round % 3 == 0 { answers.len() } else { answers.len().div_ceil(2) };
        answers[..applied].iter().for_each(|answer| search.apply(answer));
        if round % 5 == 0 {
            look(search);
        }
    }
}

#[test]
fn searches_keep_their_promises() {
    let rules = Arc::new(Rules::iron_throne());
    for seed in 0..400 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let played = common::random_game(&rules, rng.random_range(0..80), seed);
        let settings = random_settings(&mut rng);
        let mut judge = random_judge(&mut rng);
        let in_flight = rng.random_range(1..24);
        let ply = played.position().plies();
        let position = played.position().clone();
        let game = Cyvasse { rules: rules.clone() };
        let mut search =
            Search::new(game.clone(), settings.clone(), position, played.earlier(), seed);
        // A temperature draws lots, so that looking changes what comes after.
        run(&mut search, &mut judge, in_flight, |search| {
            let result = search.result(u16::MAX);
            check(&result, &settings, &played);
            assert_eq!(root_visits(&result), result.simulations);
        });
        let result = search.result(ply);
        check(&result, &settings, &played);
        assert_eq!(root_visits(&result), result.simulations);
        // It ends for a reason.
        let full = result.evaluations + result.simulations >= settings.max_nodes - 1;
        let spent = result.simulations == settings.simulations;
        assert!(result.proven.is_some() || spent || full, "{result:?} of {settings:?}");

        go_on(search, result.clone(), &settings, played.clone(), &mut judge, in_flight);

        // A search that has done something else before does the same.
        let mut other = Search::new(game, settings.clone(), played.position().clone(), &[], 1);
        if seed % 2 == 0 {
            run(&mut other, &mut judge, in_flight, |_| {});
        }
        other.restart(played.position().clone(), played.earlier(), seed);
        run(&mut other, &mut judge, in_flight, |_| {});
        assert_eq!(format!("{:?}", other.result(ply)), format!("{result:?}"));
    }
}

/// The divergence of a result's policy from the softmax of the evaluator's logits.
fn surprise(judge: &mut Judge, played: &Played, result: &SearchResult<Action>) -> f64 {
    // In the order of the list, which the judge may go by.
    let mut actions = Vec::new();
    played.legal_actions(&mut actions);
    let request =
        Request { state: played.position(), occurrences: played.occurrences(), actions: &actions };
    let mut answers = [Evaluation::blank()];
    judge.evaluate(&[request], &mut answers).unwrap();
    let logits: Vec<f64> = answers[0].logits.iter().map(|&logit| f64::from(logit)).collect();
    let highest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|logit| (logit - highest).exp()).sum();
    let shares: HashMap<Action, f32> = result.policy.iter().copied().collect();
    let shares = actions.iter().map(|action| f64::from(shares[action]));
    shares
        .zip(logits)
        .filter(|(share, _)| *share > 0.0)
        .map(|(share, logit)| share * (share.ln() - (logit - highest - sum.ln())))
        .sum()
}

fn check_surprise(judge: &mut Judge, played: &Played, result: &SearchResult<Action>) -> f64 {
    // The evaluator was not asked about what is won at once.
    let won_at_once = result.proven == Some(Proven::Win(1));
    let expected = if won_at_once { 0.0 } else { surprise(judge, played, result) };
    let found = f64::from(result.surprise);
    assert!((found - expected).abs() < 1e-3 * (1.0 + expected), "{found}, {expected}");
    expected
}

#[test]
fn the_surprise_is_the_divergence_from_the_priors_without_noise() {
    let rules = Arc::new(Rules::iron_throne());
    let mut most = 0.0f64;
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(1000 + seed);
        let played = common::random_game(&rules, rng.random_range(0..60), seed);
        let settings = random_settings(&mut rng);
        let mut judge = Judge::StandIn(StandIn { sharpness: rng.random_range(0.0..6.0) });
        let game = Cyvasse { rules: rules.clone() };
        let position = played.position().clone();
        let mut search = Search::new(game, settings, position, played.earlier(), seed);
        run(&mut search, &mut judge, 4, |_| {});
        let result = search.result(played.position().plies());
        most = most.max(check_surprise(&mut judge, &played, &result));
    }
    assert!(most > 1.0, "no search said anything new");
}
