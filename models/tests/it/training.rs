//! A few steps of training on one small batch, from first weights on.

use crate::common::{noise, small_config, small_net};
use cyvasse_models::loss::{policy_loss, value_loss};
use cyvasse_models::optim::{Optimizer, OptimizerConfig};
use cyvasse_models::{ConfigError, Net, NetConfig, TrainingPrecision};
use tch::{Device, Kind, Tensor};

struct Batch {
    planes: Tensor,
    legal: Tensor,
    targets: Tensor,
    outcomes: Tensor,
}

/// Random positions with one best action and a known outcome each.
fn batch(size: i64) -> Batch {
    let actions = 10;
    let legal = (noise(&[size, actions], 7) * 160.0 + 160.0).to_kind(Kind::Int64);
    let best = Tensor::arange(size, (Kind::Int64, Device::Cpu)).remainder(actions);
    let outcome = Tensor::arange(size, (Kind::Int64, Device::Cpu)).remainder(3);
    Batch {
        planes: noise(&[size, 8, 8, 6], 8),
        legal,
        targets: best.one_hot(actions).to_kind(Kind::Float),
        outcomes: outcome.one_hot(3).to_kind(Kind::Float),
    }
}

/// Losses before each of `steps` steps.
fn train(net: &Net, config: &OptimizerConfig, rate: f64, steps: usize) -> Vec<f64> {
    tch::set_num_threads(1);
    let batch = batch(16);
    let mut optimizer = Optimizer::new(config, net.trainable_variables()).unwrap();
    (0..steps)
        .map(|_| {
            let outputs = net.forward_train(&batch.planes);
            let policy = policy_loss(&outputs.policy, &batch.legal, &batch.targets);
            let value = value_loss(&outputs.value, &batch.outcomes);
            let loss = (policy + value).mean(Kind::Float);
            optimizer.zero_grad();
            loss.backward();
            optimizer.clip_grad_norm(5.0);
            optimizer.step(rate);
            loss.double_value(&[])
        })
        .collect()
}

#[test]
fn a_small_batch_is_learnt_by_heart() {
    let adam_w =
        OptimizerConfig::AdamW { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 1e-4 };
    let losses = train(&small_net(1), &adam_w, 0.01, 150);
    // ln 10 + ln 3 at first: nothing is known.
    assert!((losses[0] - 3.4).abs() < 0.2, "first loss {}", losses[0]);
    assert!(losses[149] < 0.3, "last loss {}", losses[149]);

    let sgd = OptimizerConfig::Sgd { momentum: 0.9, nesterov: true, weight_decay: 1e-4 };
    let losses = train(&small_net(1), &sgd, 0.05, 150);
    assert!(losses[149] < 1.0, "last loss {}", losses[149]);
}

#[test]
fn the_same_seed_trains_the_same_network() {
    let adam_w =
        OptimizerConfig::AdamW { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 1e-4 };
    let run = |seed| train(&small_net(seed), &adam_w, 0.01, 5);
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}

#[test]
fn an_untrained_network_prefers_nothing() {
    let config = NetConfig { channels: 32, blocks: 4, policy_planes: 124, ..small_config() };
    let outputs = Net::new(&config, 9, Device::Cpu).unwrap().forward(&noise(&[8, 8, 8, 6], 9));
    assert!(outputs.policy.abs().max().double_value(&[]) < 0.5);
    let chances = outputs.value.softmax(1, Kind::Float);
    assert!((chances - 1.0 / 3.0).abs().max().double_value(&[]) < 0.1);
}

#[test]
fn padding_and_illegal_actions_teach_nothing() {
    let logits = noise(&[2, 20], 1).set_requires_grad(true);
    let legal = Tensor::from_slice(&[3i64, 5, -1, -1, -1, -1]).reshape([2, 3]);
    let targets = Tensor::from_slice(&[0.25f32, 0.75, 9.0, 9.0, 9.0, 9.0]).reshape([2, 3]);
    let losses = policy_loss(&logits, &legal, &targets);
    assert_eq!(losses.double_value(&[1]), 0.0, "no legal action, no loss");
    losses.sum(Kind::Float).backward();
    let touched = logits.grad().ne(0.0).nonzero();
    assert_eq!(Vec::<Vec<i64>>::try_from(touched).unwrap(), [[0, 3], [0, 5]]);
}

#[test]
fn refuses_architectures_out_of_bounds() {
    let error = |config| -> ConfigError { Net::new(&config, 0, Device::Cpu).unwrap_err() };
    let none = error(NetConfig { channels: 0, ..small_config() });
    assert_eq!(
        none.to_string(),
        "network configuration: channels is 0, expected a whole number from 1 to 4096"
    );
    let nan = error(NetConfig { batch_norm_epsilon: f64::NAN, ..small_config() });
    assert_eq!(nan.field, "batch_norm_epsilon");
    let vast = error(NetConfig { channels: 4096, blocks: 100, ..small_config() });
    assert_eq!(vast.field, "blocks");
}

#[test]
fn configurations_with_unknown_keys_are_refused() {
    let mut json = serde_json::to_value(small_config()).unwrap();
    assert_eq!(serde_json::from_value::<NetConfig>(json.clone()).unwrap(), small_config());
    json["blokcs"] = 3.into();
    let error = serde_json::from_value::<NetConfig>(json).unwrap_err();
    assert!(error.to_string().contains("unknown field `blokcs`"), "{error}");
}

/// Losses of the policy and the value before each of some steps, and the gradient of
/// the first convolution in the first.
fn train_in(net: &Net, precision: TrainingPrecision, steps: usize) -> (Vec<[f64; 2]>, Tensor) {
    tch::set_num_threads(1);
    let batch = batch(16);
    let config =
        OptimizerConfig::AdamW { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 1e-4 };
    let mut optimizer = Optimizer::new(&config, net.trainable_variables()).unwrap();
    let mut gradient = Tensor::new();
    let losses = (0..steps).map(|step| {
        let outputs = net.forward_train_in(&batch.planes, precision);
        let policy = policy_loss(&outputs.policy, &batch.legal, &batch.targets).mean(Kind::Float);
        let value = value_loss(&outputs.value, &batch.outcomes).mean(Kind::Float);
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
    let (exact, gradient) = train_in(&single, TrainingPrecision::Single, 1);
    let (rounded, of_half) = train_in(&half, TrainingPrecision::Bfloat16, 150);
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
