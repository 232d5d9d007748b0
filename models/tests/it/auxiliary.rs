//! Auxiliary heads, and training in bfloat16.

use crate::common::{assert_close, difference, noise, small_config, small_net};
use cyvasse_models::loss::{
    MOVES_LEFT_SCALE, moves_left_loss, policy_loss, reply_loss, value_loss,
};
use cyvasse_models::optim::{Optimizer, OptimizerConfig};
use cyvasse_models::{AuxiliaryConfig, AuxiliaryHeads, Net, TrainingPrecision};
use tch::{Device, Kind, Tensor};

fn heads(moves_left: bool, reply: bool, short_term: bool) -> AuxiliaryHeads {
    let config = AuxiliaryConfig { net: small_config(), moves_left, reply, short_term };
    AuxiliaryHeads::new(&config, 3, Device::Cpu).unwrap()
}

#[test]
fn a_reply_is_told_from_the_tile_that_it_starts_at() {
    let config = small_config();
    let heads = heads(false, true, false);
    // Nothing anywhere but on one tile of the mover's view: b3.
    let (rank, file) = (2, 1);
    let map = Tensor::zeros([1, config.channels as i64, 8, 8], tch::kind::FLOAT_CPU);
    map.select(3, file).select(2, rank).copy_(&noise(&[1, config.channels as i64], 4));
    let logits = heads.forward_train(&map).reply.unwrap().view([64, config.policy_planes as i64]);
    // The opponent calls it b6.
    let there = (7 - rank) * 8 + file;
    let other = logits.select(0, 0);
    for tile in 0..64 {
        let differs = difference(&logits.select(0, tile), &other) > 1e-6;
        assert_eq!(differs, tile == there, "tile {tile}");
    }
}

#[test]
fn heads_that_are_off_are_not_there() {
    for (on, prefix) in [
        (heads(true, false, false), "auxiliary.moves_left."),
        (heads(false, true, false), "auxiliary.reply."),
        (heads(false, false, true), "auxiliary.short_term."),
    ] {
        let names: Vec<String> = on.variables().into_keys().collect();
        assert!(
            !names.is_empty() && names.iter().all(|name| name.starts_with(prefix)),
            "{names:?}"
        );
        let map = noise(&[2, 8, 8, 8], 1);
        let outputs = on.forward_train(&map);
        let there =
            [outputs.moves_left.is_some(), outputs.reply.is_some(), outputs.short_term.is_some()];
        let expected = ["moves_left", "reply", "short_term"].map(|name| prefix.contains(name));
        assert_eq!(there, expected);
    }
    let (net, all) = (small_net(1).variables(), heads(true, true, true).variables());
    assert!(all.keys().all(|name| !net.contains_key(name)));
}

#[test]
fn the_losses_are_those_of_their_formulas() {
    // Huber: quadratic up to 10 plies, linear from there on.
    let plies = Tensor::from_slice(&[40.0f32, 40.0, 40.0]);
    let outputs = Tensor::from_slice(&[40.0f32, 34.0, 100.0]) / MOVES_LEFT_SCALE;
    let expected = Tensor::from_slice(&[0.0f32, 0.5 * 0.3 * 0.3, 0.5 * (3.0 - 0.25)]);
    assert_close("moves left", &moves_left_loss(&outputs, &plies), &expected, 1e-6);

    let logits = noise(&[2, 20], 1).set_requires_grad(true);
    let actions = Tensor::from_slice(&[3i64, 5, -1, -1, -1, -1]).reshape([2, 3]);
    let shares = Tensor::from_slice(&[0.25f32, 0.75, 0.0, 0.0, 0.0, 0.0]).reshape([2, 3]);
    let losses = reply_loss(&logits, &actions, &shares);
    let numbers = Vec::<f32>::try_from(logits.detach().select(0, 0)).unwrap();
    let sum: f64 = numbers.iter().map(|&number| f64::from(number).exp()).sum();
    let chance = |action: usize| (f64::from(numbers[action]).exp() / sum).ln();
    let expected = -(0.25 * chance(3) + 0.75 * chance(5));
    assert!((losses.double_value(&[0]) - expected).abs() < 1e-6);
    assert_eq!(losses.double_value(&[1]), 0.0, "no reply, no loss");
    losses.sum(Kind::Float).backward();
    let touched = logits.grad().select(0, 1).ne(0.0).any();
    assert_eq!(touched.int64_value(&[]), 0);
}

/// Losses of the policy and the value before each of some steps, and the gradient of
/// the first convolution in the first.
fn train(net: &Net, precision: TrainingPrecision, steps: usize) -> (Vec<[f64; 2]>, Tensor) {
    tch::set_num_threads(1);
    let planes = noise(&[16, 8, 8, 6], 8);
    let legal = (noise(&[16, 10], 7) * 160.0 + 160.0).to_kind(Kind::Int64);
    let place = Tensor::arange(16, (Kind::Int64, Device::Cpu));
    let best = place.remainder(10).one_hot(10).to_kind(Kind::Float);
    let outcome = place.remainder(3).one_hot(3).to_kind(Kind::Float);
    let config =
        OptimizerConfig::AdamW { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 1e-4 };
    let mut optimizer = Optimizer::new(&config, net.trainable_variables()).unwrap();
    let mut gradient = Tensor::new();
    let losses = (0..steps).map(|step| {
        let (outputs, _) = net.forward_train_with_map(&planes, precision);
        let policy = policy_loss(&outputs.policy, &legal, &best).mean(Kind::Float);
        let value = value_loss(&outputs.value, &outcome).mean(Kind::Float);
        optimizer.zero_grad();
        (&policy + &value).backward();
        if step == 0 {
            gradient = net.variables()["stem.conv.weight"].grad().copy();
        }
        optimizer.step(0.01);
        [policy.double_value(&[]), value.double_value(&[])]
    });
    (losses.collect(), gradient)
}

#[test]
fn bfloat16_learns_as_single_does() {
    let (single, half) = (small_net(1), small_net(1));
    let (exact, gradient) = train(&single, TrainingPrecision::Single, 1);
    let (rounded, of_half) = train(&half, TrainingPrecision::Bfloat16, 150);
    // Eight bits of a number, in some ten layers.
    for (exact, rounded) in exact[0].iter().zip(rounded[0]) {
        assert!((exact - rounded).abs() < 0.02, "{exact} {rounded}");
    }
    assert!(exact[0] != rounded[0], "it is not computed in bfloat16");
    let cosine = (&gradient * &of_half).sum(Kind::Double)
        / (gradient.norm() * of_half.norm()).to_kind(Kind::Double);
    assert!(cosine.double_value(&[]) > 0.95, "{cosine}");
    let [policy, value] = rounded[149];
    assert!(policy + value < 0.4, "{policy} {value}");
    for (name, tensor) in half.variables() {
        assert_eq!(tensor.kind(), Kind::Float, "{name}");
    }
}
