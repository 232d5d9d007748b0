//! What the network is taught: points of view, mirrored batches, steps.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cyvasse_env::{
    ACTION_COUNT, Game, Outcome, Position, Rules, Side, encode, mirror_index, mirror_planes,
};
use cyvasse_models::optim::{Optimizer, OptimizerConfig};
use cyvasse_models::{Net, NetConfig, TrainingPrecision};
use cyvasse_selfplay::replay::{Shard, ShardHeader, write_shard};
use cyvasse_selfplay::{GameRecord, MoverValue, PlyKind, PlyRecord};
use cyvasse_train::learning::{
    Batch, HeldOut, Sample, Trainer, TrainingConfig, TrainingRound, Validation, ValidationLosses,
    Window, samples_of,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tch::Device;

mod common;

use common::random_games;

fn samples(lambda: f32) -> (Arc<Rules>, Vec<GameRecord>, Vec<Sample>) {
    let rules = Arc::new(Rules::iron_throne());
    let games = random_games(&rules, 12);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shard.h5");
    write_shard(&path, &ShardHeader::new(&rules, 1, 1), &games).unwrap();
    let shard = Shard::open(&path, &rules).unwrap();
    let samples = samples_of(&shard, lambda).unwrap();
    (rules, games, samples)
}

#[test]
fn results_are_taught_from_the_movers_point_of_view() {
    let (_, games, samples) = samples(1.0);
    let mut seen = [false; 3];
    let mut rest = samples.iter();
    for game in &games {
        for (ply, sample) in rest.by_ref().take(game.plies.len()).enumerate() {
            let mover = if ply % 2 == 0 { Side::White } else { Side::Black };
            assert_eq!(sample.position.turn(), mover);
            let (place, expected) = match game.outcome {
                Outcome::Win(side) if side == mover => (0, [1.0, 0.0, 0.0]),
                Outcome::Draw(_) => (1, [0.0, 1.0, 0.0]),
                Outcome::Win(_) => (2, [0.0, 0.0, 1.0]),
            };
            assert_eq!(sample.wdl, expected);
            seen[place] = true;
        }
    }
    assert!(seen[0] && seen[2] && rest.next().is_none());
}

#[test]
fn later_searches_and_the_result_make_the_value_target() {
    let lambda = 0.8f64;
    let (_, games, samples) = samples(lambda as f32);
    let drawn = games.iter().filter(|game| game.outcome.winner().is_none()).count() as f64;
    let drawn = drawn / games.len() as f64;
    // Every root value is 0.5: with three wins in four, but for draws.
    let draw = drawn.min(0.5);
    let search = [(1.0 - draw + 0.5) / 2.0, draw, (1.0 - draw - 0.5) / 2.0];
    let flipped = [search[2], search[1], search[0]];
    let mut rest = samples.iter();
    for game in &games {
        let plies = game.plies.len();
        for (ply, sample) in rest.by_ref().take(plies).enumerate() {
            let mover = if ply % 2 == 0 { Side::White } else { Side::Black };
            let result = match game.outcome {
                Outcome::Win(side) if side == mover => [1.0, 0.0, 0.0],
                Outcome::Draw(_) => [0.0, 1.0, 0.0],
                Outcome::Win(_) => [0.0, 0.0, 1.0],
            };
            for i in 0..3 {
                // The sum that defines TD(lambda), term by term.
                let mut expected = lambda.powi((plies - ply) as i32) * result[i];
                for later in ply..plies {
                    let said = if (later - ply) % 2 == 0 { search } else { flipped };
                    expected += (1.0 - lambda) * lambda.powi((later - ply) as i32) * said[i];
                }
                assert!((f64::from(sample.wdl[i]) - expected).abs() < 1e-5);
            }
        }
    }
    assert!(rest.next().is_none());
}

/// What a ply of a game adds to the targets of itself and of those before it.
fn said(ply: &PlyRecord, number: usize) -> f64 {
    let white = f64::from(ply.root_value.get());
    if number.is_multiple_of(2) { white } else { -white }
}

#[test]
fn plies_by_lot_have_no_say_and_proofs_have_the_last_word() {
    let lambda = 0.7f64;
    let rules = Arc::new(Rules::iron_throne());
    let mut games = random_games(&rules, 40);
    games.retain(|game| game.outcome.winner().is_some() && game.plies.len() > 8);
    assert!(games.len() > 8);
    let mut kinds = [PlyKind::Opening, PlyKind::Full, PlyKind::Cheap, PlyKind::Full].iter().cycle();
    for (number, ply) in games.iter_mut().flat_map(|game| &mut game.plies).enumerate() {
        ply.kind = *kinds.next().unwrap();
        ply.root_value = MoverValue::new(((number * 37) % 19) as f32 / 9.0 - 1.0);
        ply.proven = ply.kind != PlyKind::Opening && number % 11 == 3;
        if ply.proven {
            ply.root_value = MoverValue::new([1.0, -1.0, 0.0][number % 3]);
        }
        if ply.kind != PlyKind::Full {
            ply.policy.clear();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shard.h5");
    write_shard(&path, &ShardHeader::new(&rules, 1, 1), &games).unwrap();
    let shard = Shard::open(&path, &rules).unwrap();
    let samples = samples_of(&shard, lambda as f32).unwrap();
    let mut rest = samples.iter();
    for game in &games {
        let result = if game.outcome.winner() == Some(Side::White) { 1.0 } else { -1.0 };
        for (number, _) in
            game.plies.iter().enumerate().filter(|(_, ply)| ply.kind == PlyKind::Full)
        {
            // Forwards: what is left for those who come later shrinks with every say.
            let (mut expected, mut left) = (0.0, 1.0);
            for (later, ply) in game.plies.iter().enumerate().skip(number) {
                let share = match ply.kind {
                    PlyKind::Opening => 0.0,
                    _ if ply.proven => 1.0,
                    _ => 1.0 - lambda,
                };
                expected += left * share * said(ply, later);
                left *= 1.0 - share;
            }
            expected += left * result;
            let mover = if number.is_multiple_of(2) { expected } else { -expected };
            let [win, draw, loss] = rest.next().unwrap().wdl.map(f64::from);
            assert!((win - loss - mover).abs() < 1e-5, "{} for {mover}", win - loss);
            assert!((win + draw + loss - 1.0).abs() < 1e-5);
        }
    }
    assert!(rest.next().is_none());
}

#[test]
fn a_mirrored_batch_is_the_mirror_of_the_batch() {
    let (rules, _, samples) = samples(1.0);
    for sample in samples.iter().step_by(7) {
        let plain = Batch::new(&[(sample, false)], &rules, Device::Cpu);
        let mirrored = Batch::new(&[(sample, true)], &rules, Device::Cpu);
        let numbers = |tensor: &tch::Tensor| Vec::<f32>::try_from(tensor.flatten(0, -1)).unwrap();
        let mut planes = numbers(&plain.planes);
        let mut expected = vec![0.0; planes.len()];
        encode(&sample.position, sample.occurrences.into(), &rules, &mut expected);
        assert_eq!(planes, expected);
        mirror_planes(&mut planes);
        assert_eq!(numbers(&mirrored.planes), planes);

        let policy = |batch: &Batch| {
            let legal = Vec::<i64>::try_from(batch.legal.flatten(0, -1)).unwrap();
            let shares = numbers(&batch.policy);
            let mut row: Vec<(i64, u32)> =
                legal.into_iter().zip(shares.iter().map(|share| share.to_bits())).collect();
            row.sort_unstable();
            row
        };
        let mut expected: Vec<(i64, u32)> = policy(&plain)
            .into_iter()
            .map(|(index, share)| (mirror_index(index as usize) as i64, share))
            .collect();
        expected.sort_unstable();
        assert_eq!(policy(&mirrored), expected);
        assert!(expected.iter().all(|&(index, _)| (0..ACTION_COUNT as i64).contains(&index)));
        let sum: f32 = numbers(&plain.policy).iter().sum();
        assert!((sum - 1.0).abs() < 1e-5, "a part of the target is lost: {sum}");
    }
}

fn adam_w() -> OptimizerConfig {
    OptimizerConfig::AdamW { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
}

fn training(mirror: bool) -> TrainingConfig {
    TrainingConfig {
        batch_size: 32,
        samples_per_position: 1.0,
        window_positions: 100,
        window_growth: 0.0,
        window_exponent: 1.0,
        window_memory_mb: 0,
        held_out_games: 0.0,
        threads: 1,
        precision: TrainingPrecision::Single,
        learning_rate: 0.01,
        warmup_steps: 1,
        final_rate_share: 1.0,
        value_weight: 1.0,
        value_lambda: 1.0,
        policy_surprise: 0.0,
        mirror,
        average_decay: 0.9,
        gradient_norm: 5.0,
        optimizer: adam_w(),
    }
}

/// A small network.
fn network(output_init_std: f64) -> Net {
    let config = NetConfig {
        input_planes: cyvasse_env::PLANES,
        policy_planes: cyvasse_env::ACTION_PLANES,
        blocks: 1,
        channels: 16,
        policy_channels: 16,
        value_channels: 8,
        value_hidden: 16,
        batch_norm_epsilon: 1e-5,
        batch_norm_momentum: 0.1,
        output_init_std,
    };
    Net::new(&config, 1, Device::Cpu).unwrap()
}

/// A small network in training.
fn trainer(rules: &Arc<Rules>, mirror: bool) -> Trainer {
    tch::set_num_threads(1); // more would wait for each other on a busy machine
    let net = network(0.01);
    let average = net.copy();
    let optimizer = Optimizer::new(&adam_w(), net.trainable_variables()).unwrap();
    let training = training(mirror);
    Trainer::new(net, average, optimizer, training, rules.clone())
}

#[test]
fn without_mirroring_positions_are_taught_as_they_are() {
    let rules = Arc::new(Rules::iron_throne());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shard.h5");
    write_shard(&path, &ShardHeader::new(&rules, 1, 1), &random_games(&rules, 4)).unwrap();
    let stop = AtomicBool::new(false);
    let round = TrainingRound { steps: 3, run_share: 0.0, seed: 5, stop: &stop };
    let weights = |trainer: &Trainer| {
        let weights = trainer.net.variables().into_values();
        let weights = weights.map(|weight| Vec::<f32>::try_from(weight.flatten(0, -1)).unwrap());
        weights.collect::<Vec<Vec<f32>>>()
    };
    let [plain, mirrored] = [false, true].map(|mirror| {
        let mut trainer = trainer(&rules, mirror);
        let held_out = HeldOut { share: 0.0, seed: 1 };
        let mut window = Window::new(&training(mirror), held_out, rules.clone());
        window.add(Shard::open(&path, &rules).unwrap());
        trainer.train(&mut window, round, |_| {}).unwrap();
        weights(&trainer)
    });
    // The same steps, one by one.
    let mut by_hand = trainer(&rules, false);
    let samples = samples_of(&Shard::open(&path, &rules).unwrap(), 1.0).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let drawn: Vec<&Sample> =
        (0..3 * 32).map(|_| &samples[rng.random_range(0..samples.len())]).collect();
    for drawn in drawn.chunks(32) {
        let drawn: Vec<(&Sample, bool)> = drawn.iter().map(|&sample| (sample, false)).collect();
        by_hand.step(&Batch::new(&drawn, &rules, Device::Cpu), 0.0).unwrap();
    }
    assert_eq!(plain, weights(&by_hand));
    assert_ne!(plain, mirrored);
}

#[test]
fn held_out_games_and_no_others_are_judged_until_they_are_old() {
    let rules = Arc::new(Rules::iron_throne());
    let games = random_games(&rules, 60);
    let folder = tempfile::tempdir().unwrap();
    let held_out = HeldOut { share: 0.4, seed: 1 };
    let mut validation = Validation::default();
    for (round, games) in [(4, &games[..25]), (5, &games[25..])] {
        let path = folder.path().join(format!("shard-{round}.h5"));
        write_shard(&path, &ShardHeader::new(&rules, 1, round), games).unwrap();
        validation.add(round, &Shard::open(&path, &rules).unwrap(), &held_out, 1.0).unwrap();
    }
    // A network whose outputs are all 0 takes any legal action and any result to be as
    // likely as any other.
    let indifferent = network(0.0);
    let check = |validation: &Validation, games: &[GameRecord]| {
        let chosen: Vec<&GameRecord> =
            games.iter().filter(|game| held_out.contains(game.id)).collect();
        assert!(chosen.len() > 5 && chosen.len() < games.len(), "{} held out", chosen.len());
        let choices: Vec<Vec<f64>> = chosen.iter().map(|game| choices(game, &rules)).collect();
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        // Older positions make room for newer ones.
        let mut all = choices.concat();
        all.drain(..all.len().saturating_sub(2048));
        let starts: Vec<f64> = choices.iter().map(|game| game[0]).collect();
        let said = validation.losses(&indifferent, &rules);
        assert_eq!((said.positions, said.starts), (all.len(), starts.len()));
        for (losses, choices) in [(said.losses, all), (said.start_losses, starts)] {
            assert!((losses.policy - mean(&choices)).abs() < 1e-5, "{losses:?}");
            assert!((losses.value - f64::ln(3.0)).abs() < 1e-5, "{losses:?}");
        }
    };
    check(&validation, &games);
    validation.forget_before(5);
    check(&validation, &games[25..]);
    validation.forget_before(6);
    assert_eq!(validation.losses(&indifferent, &rules), ValidationLosses::default());
}

/// The logarithms of how many actions are legal at each ply of a game.
fn choices(record: &GameRecord, rules: &Arc<Rules>) -> Vec<f64> {
    let start = Position::start(&record.setups[0], &record.setups[1]);
    let mut game = Game::new(rules.clone(), start);
    let mut actions = Vec::new();
    let mut count = |ply: &PlyRecord| {
        game.legal_actions(&mut actions);
        game.play(ply.action).unwrap();
        (actions.len() as f64).ln()
    };
    record.plies.iter().map(&mut count).collect()
}

#[test]
fn a_tiny_set_is_learned_by_heart() {
    let (rules, _, samples) = samples(1.0);
    let mut trainer = trainer(&rules, true);
    let chosen: Vec<(&Sample, bool)> =
        samples.iter().step_by(samples.len() / 32).take(32).map(|s| (s, false)).collect();
    let batch = Batch::new(&chosen, &rules, Device::Cpu);
    let weight = |net: &Net| {
        let tensor = &net.variables()["stem.norm.running_mean"];
        tensor.double_value(&[0])
    };
    let mut average = weight(&trainer.average);
    let first = trainer.step(&batch, 0.0).unwrap();
    for steps in 1..4 {
        // It starts to follow at once, by the share of a young average.
        let decay = (1.0 + f64::from(steps)) / (10.0 + f64::from(steps));
        average += (1.0 - decay) * (weight(&trainer.net) - average);
        assert!((weight(&trainer.average) - average).abs() < 1e-6);
        assert!((weight(&trainer.average) - weight(&trainer.net)).abs() > 1e-6);
        trainer.step(&batch, 0.0).unwrap();
    }
    let last = (0..120).map(|_| trainer.step(&batch, 0.0).unwrap()).last().unwrap();
    // The target's own entropy, ln 4, is the least that the policy loss can be.
    assert!(first.policy > 3.0 && last.policy < 1.6, "{first:?} {last:?}");
    assert!(first.value > 0.9 && last.value < 0.1, "{first:?} {last:?}");
}
