//! The setup network: exact probabilities, legal setups under any rules, and no
//! input but its own half and the seat.

use std::collections::HashMap;

use cyvasse_env::{Rules, Setup, SetupBuilder, SetupSpace, Side, Tile, Unit};
use cyvasse_models::checkpoint::{self, Compatibility};
use cyvasse_models::optim::{Optimizer, OptimizerConfig};
use cyvasse_models::{
    Net, SETUP_ENCODING_VERSION, SETUP_FEATURES, SetupBatch, SetupNet, SetupNetConfig,
    encode_prefix,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tch::{Device, Kind};

use crate::common::noise;

fn config() -> SetupNetConfig {
    SetupNetConfig { encoding: SETUP_ENCODING_VERSION, width: 16, blocks: 1, mirror: false }
}

/// A network whose outputs are far from 0.
fn wild_net(seed: u64) -> SetupNet {
    let net = SetupNet::new(&config(), seed, Device::Cpu).unwrap();
    tch::no_grad(|| {
        for (place, mut weight) in net.variables().into_values().enumerate() {
            let _ = weight.g_add_(&(noise(&weight.size(), seed + 100 * place as u64) * 0.5));
        }
    });
    net
}

/// The same that mirrors what it builds.
fn mirroring(net: &SetupNet) -> SetupNet {
    let config = SetupNetConfig { mirror: true, ..net.config().clone() };
    let mirroring = SetupNet::new(&config, 0, Device::Cpu).unwrap();
    mirroring.move_towards(net, 1.0);
    mirroring
}

/// The default rules with other counts of tiles and units.
fn rules(tiles: [u8; 5], units: [u8; 9]) -> Rules {
    let mut rules = Rules::iron_throne();
    let counts = &mut rules.tiles;
    [counts.mountain, counts.water, counts.forest, counts.fortress] =
        [tiles[0], tiles[1], tiles[2], tiles[3]];
    counts.largest_mountain_group = tiles[4];
    for (unit, count) in rules.units.iter_mut().zip(units) {
        unit.count = count;
    }
    rules
}

/// 32 setups: a king on any square.
fn king_only() -> SetupSpace {
    SetupSpace::new(&rules([0, 32, 0, 0, 1], [0; 9]))
}

/// These setups, by the king's square.
fn kings() -> Vec<Setup> {
    let king_on = |square: usize| {
        let mut units = [None; 32];
        units[square] = Some(Unit::King);
        Setup::new([Tile::Water; 32], units)
    };
    (0..32).map(king_on).collect()
}

#[test]
fn a_new_network_is_exactly_uniform() {
    let net = SetupNet::new(&config(), 1, Device::Cpu).unwrap();
    let space = SetupSpace::new(&Rules::iron_throne());
    for net in [mirroring(&net), net] {
        for sampled in net.sample(&space, Side::White, 20, 3).unwrap() {
            assert!((sampled.log_probability + space.log_count()).abs() < 1e-4);
        }
    }
}

#[test]
fn probabilities_of_all_setups_add_up_to_one_and_are_those_of_sampling() {
    let net = wild_net(4);
    is_a_distribution(&mirroring(&net));
    is_a_distribution(&net);
}

fn is_a_distribution(net: &SetupNet) {
    let (space, all) = (king_only(), kings());
    for seat in Side::ALL {
        let scores = net.score(&space, seat, &all).unwrap();
        let sum: f64 = scores.iter().map(|score| score.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");

        let count = 4000;
        let sampled = net.sample(&space, seat, count, 9).unwrap();
        let mut counts: HashMap<Setup, u32> = HashMap::new();
        for sample in &sampled {
            *counts.entry(sample.setup).or_default() += 1;
        }
        for (setup, score) in all.iter().zip(&scores) {
            let expected = score.exp() * count as f64;
            let found = f64::from(counts.get(setup).copied().unwrap_or(0));
            assert!((found - expected).abs() < 5.0 * expected.sqrt() + 3.0, "{found} {expected}");
        }
        let likeliest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!((net.greedy(&space, seat).unwrap().log_probability - likeliest).abs() < 3.0);
    }
    let [white, black] = Side::ALL.map(|seat| net.score(&space, seat, &all).unwrap());
    assert!(white.iter().zip(&black).any(|(w, b)| (w - b).abs() > 0.05), "the seat is no input");
}

#[test]
fn a_mirroring_network_is_as_likely_to_build_either_way() {
    let (space, all, net) = (king_only(), kings(), wild_net(4));
    let images: Vec<Setup> = all.iter().map(Setup::mirror).collect();
    for seat in Side::ALL {
        let either = mirroring(&net).score(&space, seat, &all).unwrap();
        assert_eq!(either, mirroring(&net).score(&space, seat, &images).unwrap());
        let [one, other] = [&all, &images].map(|of| net.score(&space, seat, of).unwrap());
        assert!(one.iter().zip(&other).any(|(a, b)| (a - b).abs() > 0.1), "no side is liked more");
        for (either, (one, other)) in either.iter().zip(one.iter().zip(&other)) {
            assert!((either.exp() - (one.exp() + other.exp()) / 2.0).abs() < 1e-6);
        }
    }
}

#[test]
fn how_samples_were_built_is_told_by_how_the_network_builds() {
    let (space, net, count) = (king_only(), wild_net(4), 4000);
    let sampled = mirroring(&net).sample(&space, Side::White, count, 9).unwrap();
    let sampled: Vec<Setup> = sampled.iter().map(|sampled| sampled.setup).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let built = mirroring(&net).as_built(&space, Side::White, &sampled, &mut rng).unwrap();
    assert!(sampled.iter().zip(&built).all(|(a, b)| a == b || a.mirror() == *b));
    let shares = net.score(&space, Side::White, &kings()).unwrap();
    for (setup, share) in kings().iter().zip(shares) {
        let expected = share.exp() * count as f64;
        let found = built.iter().filter(|built| *built == setup).count() as f64;
        assert!((found - expected).abs() < 5.0 * expected.sqrt() + 3.0, "{found} {expected}");
    }
    assert_eq!(net.as_built(&space, Side::White, &sampled, &mut rng).unwrap(), sampled);
}

#[test]
fn networks_from_before_mirroring_do_not_mirror() {
    let saved = r#"{"encoding": 1, "width": 16, "blocks": 1}"#;
    assert_eq!(serde_json::from_str::<SetupNetConfig>(saved).unwrap(), config());
}

#[test]
fn sampling_tells_the_score() {
    let net = wild_net(7);
    samples_have_their_scores(&mirroring(&net));
    samples_have_their_scores(&net);
}

fn samples_have_their_scores(net: &SetupNet) {
    let space = SetupSpace::new(&Rules::iron_throne());
    let sampled = net.sample(&space, Side::Black, 300, 5).unwrap();
    assert_eq!(sampled, net.sample(&space, Side::Black, 300, 5).unwrap());
    let setups: Vec<Setup> = sampled.iter().map(|sampled| sampled.setup).collect();
    let scores = net.score(&space, Side::Black, &setups).unwrap();
    for (sampled, score) in sampled.iter().zip(scores) {
        assert!((sampled.log_probability - score).abs() < 1e-3, "{sampled:?} {score}");
    }
    let other = net.sample(&space, Side::Black, 300, 6).unwrap();
    assert!(other[0] != sampled[0]);
}

#[test]
fn setups_are_legal_under_any_rules() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut tried = 0;
    while tried < 60 {
        let tiles = [
            rng.random_range(0..24),
            rng.random_range(0..8),
            rng.random_range(0..8),
            rng.random_range(0..2),
            rng.random_range(1..5),
        ];
        let rules = rules(tiles, std::array::from_fn(|_| rng.random_range(0..4)));
        if Rules::from_toml(&rules.to_toml()).is_err() {
            continue;
        }
        tried += 1;
        let space = SetupSpace::new(&rules);
        let net = wild_net(tried);
        for sampled in net.sample(&space, Side::White, 8, tried).unwrap() {
            assert_eq!(sampled.setup.check(&rules), Ok(()), "{rules:?}");
            assert!(sampled.log_probability.is_finite());
        }
        assert_eq!(net.greedy(&space, Side::Black).unwrap().setup.check(&rules), Ok(()));
    }
}

#[test]
fn the_inputs_are_the_own_prefix_and_the_seat_and_nothing_else() {
    let space = SetupSpace::new(&Rules::iron_throne());
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (one, other) = (space.sample(&mut rng), space.sample(&mut rng));
    let mut builder = space.builder();
    let mut row = [0.0; SETUP_FEATURES];
    for token in SetupBuilder::tokens(&one) {
        encode_prefix(&builder, Side::Black, &mut row);
        let placed = row[..512].iter().filter(|&&feature| feature == 1.0).count();
        let rest = row[..512].iter().filter(|&&feature| feature == 0.0).count();
        assert_eq!((placed, placed + rest), (builder.step(), 512));
        builder.place(token.into()).unwrap();
    }

    // Whatever stands beside it in a batch, the opponent's setup included, a
    // setup's probability is its own.
    let net = wild_net(3);
    let alone = net.score(&space, Side::White, &[one]).unwrap()[0];
    let score_beside = |setup: Setup, seat: Side| {
        let batch = SetupBatch::new(&space, &[(one, Side::White), (setup, seat)], Device::Cpu);
        let batch = batch.unwrap();
        let all = tch::no_grad(|| net.log_probabilities(&batch));
        let chosen = all.gather(-1, &batch.tokens.unsqueeze(-1), false);
        chosen.sum_dim_intlist([0i64, 2].as_slice(), false, Kind::Double).double_value(&[0])
    };
    for setup in [one, other] {
        assert!((score_beside(setup, Side::Black) - alone).abs() < 1e-4);
    }
}

#[test]
fn a_setup_that_the_rules_forbid_has_no_probability() {
    let space = SetupSpace::new(&Rules::iron_throne());
    let foreign = king_only().sample(&mut ChaCha8Rng::seed_from_u64(1));
    let error = wild_net(1).score(&space, Side::White, &[foreign]).unwrap_err();
    assert!(error.to_string().starts_with("token 2 is not legal at step "), "{error}");
}

#[test]
fn one_setup_can_be_learned_by_heart() {
    let space = SetupSpace::new(&Rules::iron_throne());
    let net = SetupNet::new(&config(), 1, Device::Cpu).unwrap();
    let rule = OptimizerConfig::AdamW { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weight_decay: 0.0 };
    let mut optimizer = Optimizer::new(&rule, net.variables()).unwrap();
    let setup = space.sample(&mut ChaCha8Rng::seed_from_u64(4));
    let batch = SetupBatch::new(&space, &[(setup, Side::White)], Device::Cpu).unwrap();
    for _ in 0..60 {
        let all = net.log_probabilities(&batch);
        let loss = -all.gather(-1, &batch.tokens.unsqueeze(-1), false).sum(Kind::Float);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step(0.05);
    }
    let score = net.score(&space, Side::White, &[setup]).unwrap()[0];
    assert!(score > -0.5, "log-probability {score} after learning");
    assert_eq!(net.greedy(&space, Side::White).unwrap().setup, setup);
}

#[test]
fn averages_move_towards_the_network() {
    let (net, other) = (wild_net(1), wild_net(2));
    let average = net.copy();
    average.move_towards(&other, 0.25);
    for (name, weight) in average.variables() {
        let expected = &net.variables()[&name] * 0.75 + &other.variables()[&name] * 0.25;
        assert!((weight - expected).abs().max().double_value(&[]) < 1e-6);
    }
}

#[test]
fn checkpoints_of_setup_networks_come_back_and_are_no_play_networks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("setup.safetensors");
    let made_for = Compatibility {
        rules_name: "one".into(),
        rules_fingerprint: "01".into(),
        planes_version: 1,
        actions_version: 1,
    };
    let net = wild_net(5);
    checkpoint::save(&path, &net, &made_for, 7).unwrap();
    let (loaded, header) = checkpoint::load::<SetupNet>(&path, &made_for, Device::Cpu).unwrap();
    assert_eq!((header.step, &header.net), (7, net.config()));
    let space = SetupSpace::new(&Rules::iron_throne());
    let sample = |net: &SetupNet| net.sample(&space, Side::White, 5, 1).unwrap();
    assert_eq!(sample(&loaded), sample(&net));

    let error = checkpoint::load::<Net>(&path, &made_for, Device::Cpu).unwrap_err().to_string();
    assert!(error.contains("format is \"cyvasse-setup-checkpoint\""), "{error}");
    let others = Compatibility { rules_fingerprint: "02".into(), ..made_for };
    let error = checkpoint::load::<SetupNet>(&path, &others, Device::Cpu).unwrap_err();
    assert!(error.to_string().contains("rules_fingerprint is \"01\""), "{error}");
}

#[test]
fn a_network_that_would_not_fit_into_memory_is_refused() {
    let of = |width, blocks| SetupNetConfig { width, blocks, ..config() }.validate();
    assert!(of(4096, 8).is_ok() && of(1024, 64).is_ok());
    let error = of(4096, 64).unwrap_err().to_string();
    assert!(error.contains("blocks is 64") && error.contains("not 2147483648"), "{error}");
}

#[test]
fn samples_do_not_depend_on_how_they_are_asked_for() {
    let (net, space) = (wild_net(3), king_only());
    for net in [mirroring(&net), net] {
        let chunks = net.sample_chunks(&space, Side::White, 600, 5).map(Result::unwrap);
        let chunks: Vec<Vec<Setup>> = chunks.collect();
        assert!(chunks.len() > 1 && chunks.iter().all(|chunk| !chunk.is_empty()));
        let sampled = net.sample(&space, Side::White, 600, 5).unwrap();
        let sampled: Vec<Setup> = sampled.iter().map(|sampled| sampled.setup).collect();
        assert_eq!(chunks.concat(), sampled);
        assert_eq!(net.sample_setups(&space, Side::White, 600, 5).unwrap(), sampled);
        // However many are asked for, only what is taken is made.
        let mut endless = net.sample_chunks(&space, Side::White, usize::MAX, 5);
        assert_eq!(endless.next().unwrap().unwrap(), chunks[0]);
    }
}
