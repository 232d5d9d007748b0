//! The optimisers against PyTorch's numbers, and exact resume.

use std::collections::BTreeMap;

use crate::common::{assert_close, data, difference};
use cyvasse_models::TensorFile;
use cyvasse_models::optim::{Optimizer, OptimizerConfig, OptimizerError};
use tch::Tensor;

fn adam_w() -> OptimizerConfig {
    OptimizerConfig::AdamW { beta1: 0.9, beta2: 0.99, epsilon: 1e-6, weight_decay: 0.1 }
}

fn sgd(nesterov: bool) -> OptimizerConfig {
    OptimizerConfig::Sgd { momentum: 0.9, nesterov, weight_decay: 0.1 }
}

fn start(file: &TensorFile) -> BTreeMap<String, Tensor> {
    ["weight", "bias"]
        .map(|name| {
            let tensor = file.tensors[&format!("start/{name}")].copy().set_requires_grad(true);
            (name.to_string(), tensor)
        })
        .into()
}

fn shared(weights: &BTreeMap<String, Tensor>) -> BTreeMap<String, Tensor> {
    weights.iter().map(|(name, tensor)| (name.clone(), tensor.shallow_clone())).collect()
}

/// Takes step `i` of the file and returns the norm before clipping.
fn take_step(
    optimizer: &mut Optimizer,
    weights: &BTreeMap<String, Tensor>,
    file: &TensorFile,
    i: usize,
) -> f64 {
    optimizer.zero_grad();
    for (name, weight) in weights {
        // The gradient of this sum is the wanted one.
        (weight * &file.tensors[&format!("gradient/{i}/{name}")]).sum(tch::Kind::Float).backward();
    }
    let norm = optimizer.clip_grad_norm(file.metadata["clip"].parse().unwrap());
    optimizer.step(file.tensors["rates"].double_value(&[i as i64]));
    norm
}

fn check_against_pytorch(config: &OptimizerConfig, kind: &str) {
    let file = data("optimizer.safetensors");
    let weights = start(&file);
    let mut optimizer = Optimizer::new(config, shared(&weights)).unwrap();
    for i in 0..6 {
        let norm = take_step(&mut optimizer, &weights, &file, i);
        let expected = file.tensors["norms"].double_value(&[i as i64]);
        assert!((norm - expected).abs() < 1e-5, "norm {norm}, expected {expected}");
        for (name, weight) in &weights {
            let expected = &file.tensors[&format!("{kind}/{i}/{name}")];
            assert_close(&format!("{kind} step {i}: {name}"), &weight.detach(), expected, 2e-6);
        }
    }
    assert_eq!(optimizer.steps(), 6);
}

#[test]
fn adam_w_steps_as_pytorch_does() {
    check_against_pytorch(&adam_w(), "adam_w");
}

#[test]
fn sgd_steps_as_pytorch_does() {
    check_against_pytorch(&sgd(false), "sgd");
    check_against_pytorch(&sgd(true), "nesterov");
}

#[test]
fn resumes_exactly() {
    let file = data("optimizer.safetensors");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("optimizer.safetensors");
    for config in [adam_w(), sgd(false), sgd(true)] {
        let weights = start(&file);
        let mut whole = Optimizer::new(&config, shared(&weights)).unwrap();
        for i in 0..3 {
            take_step(&mut whole, &weights, &file, i);
        }

        whole.state().save(&path).unwrap();
        let copies: BTreeMap<_, _> = weights
            .iter()
            .map(|(name, tensor)| (name.clone(), tensor.detach().copy().set_requires_grad(true)))
            .collect();
        let mut resumed = Optimizer::new(&config, shared(&copies)).unwrap();
        resumed.restore(&TensorFile::load(&path).unwrap()).unwrap();

        for i in 3..6 {
            take_step(&mut whole, &weights, &file, i);
            take_step(&mut resumed, &copies, &file, i);
        }
        for (name, tensor) in &weights {
            assert_eq!(difference(&tensor.detach(), &copies[name].detach()), 0.0, "{name}");
        }
        assert_eq!(resumed.steps(), 6);
    }
}

#[test]
fn refuses_a_state_that_does_not_fit() {
    let file = data("optimizer.safetensors");
    let mut optimizer = Optimizer::new(&adam_w(), start(&file)).unwrap();
    let refused = |optimizer: &mut Optimizer, state: &TensorFile| match optimizer.restore(state) {
        Err(OptimizerError::State { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    let other_kind = Optimizer::new(&sgd(true), start(&file)).unwrap().state();
    assert_eq!(refused(&mut optimizer, &other_kind), "optimizer");

    let mut state = optimizer.state();
    state.tensors.insert("bias.mean".into(), Tensor::zeros([5], tch::kind::FLOAT_CPU));
    assert_eq!(refused(&mut optimizer, &state), "bias.mean");
    state.tensors.remove("bias.mean");
    assert_eq!(refused(&mut optimizer, &state), "bias.mean");

    let mut state = optimizer.state();
    state.tensors.insert("more".into(), Tensor::zeros([5], tch::kind::FLOAT_CPU));
    assert_eq!(refused(&mut optimizer, &state), "number of tensors");
    let mut state = optimizer.state();
    state.metadata.insert("step".into(), "-1".into());
    assert_eq!(refused(&mut optimizer, &state), "step");
    assert_eq!(refused(&mut optimizer, &TensorFile::default()), "format");
}

#[test]
fn refuses_numbers_out_of_range() {
    let bad = OptimizerConfig::AdamW { beta1: 1.0, beta2: 0.99, epsilon: 1e-8, weight_decay: 0.0 };
    let error = Optimizer::new(&bad, BTreeMap::new()).unwrap_err();
    assert_eq!(error.to_string(), "optimiser: beta1 is 1, expected at least 0 and under 1");
}

#[test]
fn biases_of_any_shape_do_not_decay() {
    let start = || Tensor::ones([2, 1, 3], tch::kind::FLOAT_CPU).set_requires_grad(true);
    let weights =
        ["out.weight", "out.seat_bias", "step.bias"].map(|name| (name.to_string(), start()));
    let weights = BTreeMap::from(weights);
    let mut optimizer = Optimizer::new(&adam_w(), shared(&weights)).unwrap();
    for weight in weights.values() {
        (weight * 0.0).sum(tch::Kind::Float).backward();
    }
    optimizer.step(0.5);
    for (name, weight) in &weights {
        let expected = if name == "out.weight" { 1.0 - 0.5 * 0.1 } else { 1.0 };
        assert!((weight.double_value(&[1, 0, 2]) - expected).abs() < 1e-6, "{name}");
    }
}

#[test]
fn norm_of_nothing_and_of_nan() {
    let weight = Tensor::ones([2], tch::kind::FLOAT_CPU).set_requires_grad(true);
    let weights = BTreeMap::from([("w".to_string(), weight.shallow_clone())]);
    let mut optimizer = Optimizer::new(&adam_w(), weights).unwrap();
    assert_eq!(optimizer.clip_grad_norm(1.0), 0.0);
    (&weight * f64::NAN).sum(tch::Kind::Float).backward();
    assert!(optimizer.clip_grad_norm(1.0).is_nan());
}

#[test]
fn configurations_with_unknown_keys_are_refused() {
    let mut json = serde_json::to_value(adam_w()).unwrap();
    assert_eq!(serde_json::from_value::<OptimizerConfig>(json.clone()).unwrap(), adam_w());
    assert_eq!(json["kind"], "adam_w");
    json["beta3"] = 0.5.into();
    let error = serde_json::from_value::<OptimizerConfig>(json).unwrap_err();
    assert!(error.to_string().contains("unknown field `beta3`"), "{error}");
}
