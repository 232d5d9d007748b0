//! What the window of positions gives, against the shards themselves.

use std::sync::Arc;

use cyvasse_env::{Game, Position, Rules, SetupSpace};
use cyvasse_selfplay::replay::{Shard, ShardHeader, write_shard};
use cyvasse_selfplay::{GameId, GameRecord, MoverValue, PlyKind, PlyRecord, SetupSource};
use cyvasse_train::config::Config;
use cyvasse_train::learning::{
    Duplicates, HeldOut, Sample, TrainingConfig, Window, WindowSize, samples_of,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::toy;

/// The settings of a window that keeps nothing in memory.
fn settings(positions: u32) -> TrainingConfig {
    let folder = TempDir::new().unwrap();
    let path = toy::toy_config(folder.path(), &[]);
    let (config, _) = Config::load(&path).unwrap();
    TrainingConfig {
        window_positions: positions,
        window_growth: 0.0,
        window_memory_mb: 0,
        ..config.training
    }
}

/// Random games; every third ply was searched cheaply.
fn random_games(rules: &Arc<Rules>, first: u32, count: u32) -> Vec<GameRecord> {
    let space = SetupSpace::new(rules);
    let mut rng = ChaCha8Rng::seed_from_u64(first.into());
    let game = |slot| {
        let setups = [space.sample(&mut rng), space.sample(&mut rng)];
        let mut game = Game::new(rules.clone(), Position::start(&setups[0], &setups[1]));
        let mut plies = Vec::new();
        while game.outcome().is_none() {
            let mut actions = Vec::new();
            game.legal_actions(&mut actions);
            let action = actions[rng.random_range(0..actions.len())];
            let full = plies.len() % 3 > 0;
            plies.push(PlyRecord {
                kind: if full { PlyKind::Full } else { PlyKind::Cheap },
                action,
                policy: if full { vec![(action, 1.0)] } else { Vec::new() },
                surprise: if full { rng.random_range(0.0..2.0) } else { 0.0 },
                root_value: MoverValue::new(0.25),
                proven: false,
                simulations: 1,
                network_step: 0,
            });
            game.play(action).unwrap();
        }
        let outcome = game.outcome().unwrap();
        let (id, sources) = (GameId { slot, sequence: 0 }, [SetupSource::Uniform; 2]);
        GameRecord { id, setups, sources, plies, outcome, resigned: false }
    };
    (first..first + count).map(game).collect()
}

fn shard(folder: &TempDir, rules: &Rules, number: u32, games: &[GameRecord]) -> Shard {
    let path = folder.path().join(format!("{number}.h5"));
    write_shard(&path, &ShardHeader::new(rules, 1, number), games).unwrap();
    Shard::open(&path, rules).unwrap()
}

fn told(sample: &Sample) -> String {
    format!("{sample:?}")
}

#[test]
fn positions_are_looked_up_on_the_disk_as_they_stand_there() {
    let (rules, folder) = (Arc::new(Rules::iron_throne()), TempDir::new().unwrap());
    let held_out = HeldOut { share: 0.3, seed: 5 };
    let training = settings(150);
    let mut window = Window::new(&training, held_out, rules.clone());
    let mut expected = Vec::new();
    let mut kept_out = 0;
    for number in 1..=4 {
        let games = random_games(&rules, 10 * number, 6);
        let (out, used): (Vec<_>, Vec<_>) =
            games.iter().cloned().partition(|game| held_out.contains(game.id));
        kept_out += out.len();
        // A shard of its own with the games that are not held out.
        let plain = shard(&folder, &rules, 100 + number, &used);
        let samples = samples_of(&plain, training.value_lambda).unwrap();
        let added = window.add(shard(&folder, &rules, number, &games));
        assert_eq!(added, samples.len() as u64);
        expected.extend(samples);
    }
    assert!((1..23).contains(&kept_out), "{kept_out}");
    assert!(expected.len() > 200 && window.len() == 150, "{}", expected.len());
    assert!(window.oldest() > Some(1), "a shard out of reach is still there");
    let newest = &expected[expected.len() - 150..];

    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let numbers: Vec<usize> = (0..150).chain((0..300).map(|_| rng.random_range(0..150))).collect();
    let samples = window.look_up(&numbers).unwrap();
    assert_eq!(samples.len(), numbers.len());
    for (number, sample) in numbers.iter().zip(&samples) {
        assert_eq!(told(sample), told(&newest[*number]), "position {number}");
    }
}

#[test]
fn surprising_positions_are_looked_up_more_often() {
    let (rules, folder) = (Arc::new(Rules::iron_throne()), TempDir::new().unwrap());
    // Targets by results alone: those by searches depend on the other games of a shard.
    let by_results = TrainingConfig { value_lambda: 1.0, ..settings(100_000) };
    let nothing_kept = TrainingConfig { policy_surprise: 0.5, ..by_results };
    let all_kept = TrainingConfig { window_memory_mb: 100, ..nothing_kept.clone() };
    let held_out = HeldOut { share: 0.3, seed: 5 };
    let windows = [nothing_kept, all_kept].map(|training| {
        let mut window = Window::new(&training, held_out, rules.clone());
        for number in 1..=2 {
            let path = folder.path().join(format!("{number}.h5"));
            let shard = match path.exists() {
                true => Shard::open(&path, &rules).unwrap(),
                false => shard(&folder, &rules, number, &random_games(&rules, 10 * number, 8)),
            };
            window.add(shard);
        }
        let all: Vec<usize> = (0..window.len()).collect();
        window.look_up(&all).unwrap().iter().map(told).collect::<Vec<String>>()
    });
    assert_eq!(windows[0], windows[1], "what is kept in memory changes what is drawn");

    for number in 1..=2 {
        let games = random_games(&rules, 10 * number, 8);
        let used: Vec<_> = games.into_iter().filter(|game| !held_out.contains(game.id)).collect();
        let plies: Vec<&PlyRecord> = used.iter().flat_map(|game| &game.plies).collect();
        let surprises: Vec<f32> =
            plies.iter().filter(|ply| ply.kind == PlyKind::Full).map(|ply| ply.surprise).collect();
        let mean = surprises.iter().sum::<f32>() / surprises.len() as f32;
        let plain = shard(&folder, &rules, 100 + number, &used);
        let samples = samples_of(&plain, 1.0).unwrap();
        assert_eq!(samples.len(), surprises.len());
        for (sample, surprise) in samples.iter().zip(surprises) {
            let count = windows[0].iter().filter(|one| **one == told(sample)).count() as f32;
            let weight = 0.5 + 0.5 * surprise / mean;
            assert!((count - weight).abs() < 1.0, "{count} of {weight}");
        }
    }
}

#[test]
fn a_lost_shard_is_named_and_can_be_forgotten() {
    let (rules, folder) = (Arc::new(Rules::iron_throne()), TempDir::new().unwrap());
    let mut window =
        Window::new(&settings(100_000), HeldOut { share: 0.0, seed: 1 }, rules.clone());
    let [first, second] =
        [1, 2].map(|number| shard(&folder, &rules, number, &random_games(&rules, number, 3)));
    let path = first.path().to_path_buf();
    window.add(first);
    let of_second = window.add(second);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let all: Vec<usize> = (0..window.len()).collect();
    let error = window.look_up(&all).unwrap_err();
    assert!(error.is_damage() && error.path() == path, "{error}");
    assert!(window.forget(&path) && !window.forget(&path));
    assert_eq!(window.len() as u64, of_second);
    assert_eq!(window.look_up(&[0]).unwrap().len(), 1);
}

#[test]
fn the_window_grows_by_the_papers_power_law() {
    // Wu 2019, appendix C: from 250 thousand to about 22 million samples at the
    // end of the main run, which had 241 million.
    let size = WindowSize { least: 250_000, growth: 0.4, exponent: 0.75 };
    assert_eq!(size.reach(10), 250_000);
    assert_eq!(size.reach(250_000), 250_000);
    // It begins with four new positions in ten.
    let step = size.reach(251_000) - 250_000;
    assert!((398..=400).contains(&step), "{step}");
    let last = size.reach(241_000_000) as f64 / 1e6;
    assert!((21.0..24.0).contains(&last), "{last} million");
    assert_eq!(WindowSize { growth: 0.0, ..size }.reach(241_000_000), 250_000);
}

#[test]
fn games_that_were_played_before_are_counted() {
    let (rules, folder) = (Arc::new(Rules::iron_throne()), TempDir::new().unwrap());
    let mut games = random_games(&rules, 1, 3);
    // Another number, another policy, another result of the search: the same game.
    let mut again = games[1].clone();
    again.id.slot = 77;
    again.plies[0].root_value = MoverValue::new(-0.5);
    games.push(again);
    let mut duplicates = Duplicates::default();
    assert_eq!(duplicates.count(1, &shard(&folder, &rules, 1, &games)), 1);
    let next = [games[0].clone(), random_games(&rules, 50, 1).remove(0)];
    assert_eq!(duplicates.count(2, &shard(&folder, &rules, 2, &next)), 1);
    duplicates.forget_before(2);
    let last = [games[2].clone(), games[0].clone()];
    assert_eq!(duplicates.count(3, &shard(&folder, &rules, 3, &last)), 1);
}
