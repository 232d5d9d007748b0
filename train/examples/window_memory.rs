//! How much memory a window of millions of positions takes, and how fast positions are
//! drawn from it: writes shards of generated games into a temporary folder, trains on
//! them and prints the peak of resident memory.
//!
//! ```sh
//! cargo run --release --workspace --example window_memory -- 5000000 100
//! ```
//!
//! The arguments are the positions of the window and the optimiser steps.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Context;
use cyvasse_env::{Game, Position, Rules, SetupSpace};
use cyvasse_selfplay::replay::{Shard, ShardHeader, write_shard};
use cyvasse_selfplay::{GameId, GameRecord, MoverValue, PlyKind, PlyRecord, SetupSource};
use cyvasse_train::config::Config;
use cyvasse_train::learning::{HeldOut, Trainer, TrainingConfig, TrainingRound, Window};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use tch::Device;

/// Games of a shard.
const GAMES: u32 = 2000;

/// Actions of a policy target; runs with 32 simulations have fewer.
const POLICY: usize = 32;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| -> anyhow::Result<u64> {
        arguments.next().map_or(Ok(default), |text| text.parse().context("expected a number"))
    };
    let (positions, steps) = (number(5_000_000)?, number(100)?);
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/quick.toml");
    let (config, rules) = Config::load(&config)?;
    let training = TrainingConfig {
        window_positions: positions as u32,
        window_growth: 0.0,
        ..config.training.clone()
    };
    let folder = tempfile::tempdir()?;
    let mut window = Window::new(&training, HeldOut { share: 0.0, seed: 1 }, rules.clone());
    let space = SetupSpace::new(&rules);
    let (started, mut shards) = (Instant::now(), 0);
    while (window.len() as u64) < positions {
        shards += 1;
        let path = folder.path().join(format!("{shards}.h5"));
        let games: Vec<GameRecord> = (0..GAMES)
            .into_par_iter()
            .map(|slot| random_game(&rules, &space, GameId { slot, sequence: shards }))
            .collect();
        write_shard(&path, &ShardHeader::new(&rules, 1, shards), &games)?;
        window.add(Shard::open(&path, &rules)?);
    }
    println!("{} positions in {shards} shards, made in {:.0} s", window.len(), seconds(started));
    println!("before training: peak {} MB", peak_mb()?);

    tch::set_num_threads(1);
    let samples = steps * u64::from(training.batch_size);
    let started = Instant::now();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let numbers: Vec<usize> = (0..samples).map(|_| rng.random_range(0..window.len())).collect();
    drop(window.look_up(&numbers)?);
    println!("{samples} positions looked up in {:.1} s", seconds(started));
    let mut trainer = Trainer::untrained(&config, &rules, Device::Cpu)?;
    let started = Instant::now();
    let stop = AtomicBool::new(false);
    let round = TrainingRound { steps, run_share: 0.0, seed: 1, stop: &stop };
    trainer.train(&mut window, round, |_| ())?;
    println!("{steps} steps in {:.1} s, the looking up included", seconds(started));
    println!("after training: peak {} MB", peak_mb()?);
    Ok(())
}

fn seconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64()
}

/// The peak of resident memory, as Linux tells it.
fn peak_mb() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kilobytes.context("no VmHWM in /proc/self/status")?.parse::<u64>()? / 1000)
}

/// A game of random actions, with a policy target of full size at each ply.
fn random_game(rules: &Arc<Rules>, space: &SetupSpace, id: GameId) -> GameRecord {
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(id.sequence) << 32 | u64::from(id.slot));
    let setups = [space.sample(&mut rng), space.sample(&mut rng)];
    let mut game = Game::new(rules.clone(), Position::start(&setups[0], &setups[1]));
    let (mut plies, mut actions) = (Vec::new(), Vec::new());
    while game.outcome().is_none() {
        actions.clear();
        game.legal_actions(&mut actions);
        let action = actions[rng.random_range(0..actions.len())];
        let targets = &actions[..actions.len().min(POLICY)];
        let share = 1.0 / targets.len() as f32;
        plies.push(PlyRecord {
            kind: PlyKind::Full,
            action,
            policy: targets.iter().map(|&action| (action, share)).collect(),
            surprise: 0.0,
            root_value: MoverValue::new(rng.random_range(-1.0..1.0)),
            proven: false,
            simulations: 32,
            network_step: 0,
        });
        game.play_unchecked(action);
    }
    let outcome = game.outcome().unwrap_or_else(|| unreachable!("the loop ends with one"));
    GameRecord { id, setups, sources: [SetupSource::Uniform; 2], plies, outcome, resigned: false }
}
