//! The test cases of a bundle: `test_cases.json` with what a front end needs to
//! check itself, `test_cases.safetensors` with all numbers.

use std::collections::BTreeMap;

use cyvasse_env::ENCODED_LEN;
use cyvasse_models::{OUTCOMES, SETUP_FEATURES, TensorFile};
use serde_json::{Value, json};
use tch::{Kind, Tensor};

use super::bundle::{self, Bundle};
use super::cases::{PlayCases, SetupCases};

/// Writes both files.
pub(super) fn write(bundle: &Bundle<'_>) -> anyhow::Result<()> {
    let setup = bundle.setup.map(setup_cases).transpose()?;
    let cases = json!({"play": play_cases(bundle.play)?, "setup": setup});
    let path = bundle.folder.join("test_cases.json");
    bundle::write(&path, format!("{cases}\n").as_bytes())?;
    let tensors = TensorFile { metadata: BTreeMap::new(), tensors: tensors(bundle) };
    Ok(tensors.save(&bundle.folder.join("test_cases.safetensors"))?)
}

fn tensors(bundle: &Bundle<'_>) -> BTreeMap<String, Tensor> {
    let play = bundle.play;
    let mut tensors = BTreeMap::from([
        ("play.planes".to_string(), play.planes.shallow_clone()),
        ("play.policy".to_string(), play.expected[0].shallow_clone()),
        ("play.value".to_string(), play.expected[1].shallow_clone()),
    ]);
    if let Some(setup) = bundle.setup {
        let [features, step] = setup.inputs.each_ref().map(Tensor::shallow_clone);
        tensors.insert("setup.features".into(), features);
        tensors.insert("setup.step".into(), step);
        tensors.insert("setup.logits".into(), setup.expected[0].shallow_clone());
    }
    tensors
}

fn numbers(tensor: &Tensor) -> anyhow::Result<Vec<f32>> {
    Ok(Vec::try_from(tensor.to_kind(Kind::Float).contiguous().view(-1))?)
}

fn play_cases(cases: &PlayCases) -> anyhow::Result<Vec<Value>> {
    let planes = numbers(&cases.planes)?;
    let (policy, value) = (numbers(&cases.expected[0])?, numbers(&cases.expected[1])?);
    let size = policy.len() / cases.positions.len();
    let rows = planes.chunks(ENCODED_LEN).zip(policy.chunks(size)).zip(value.chunks(OUTCOMES));
    let cases = cases.positions.iter().zip(&cases.actions).zip(rows);
    let told = cases.map(|(((position, occurrences), actions), ((planes, policy), value))| {
        let action = |&(action, index): &(cyvasse_env::Action, usize)| {
            json!({
                "action": action.to_string(), "index": index, "logit": policy.get(index),
            })
        };
        json!({
            "position": position.to_string(),
            "occurrences": occurrences,
            "planes": planes,
            "actions": actions.iter().map(action).collect::<Vec<_>>(),
            "value": value,
        })
    });
    Ok(told.collect())
}

fn setup_cases(cases: &SetupCases) -> anyhow::Result<Vec<Value>> {
    let features = numbers(&cases.inputs[0])?;
    let logits = numbers(&cases.expected[0])?;
    let rows = features.chunks(SETUP_FEATURES).zip(logits.chunks(logits.len() / cases.legal.len()));
    let cases = cases.prefixes.iter().zip(cases.legal.iter().zip(&cases.uniform)).zip(rows);
    let told = cases.map(|(((seat, tokens), (legal, uniform)), (features, logits))| {
        let legal: Vec<bool> = (0..logits.len()).map(|token| legal & 1 << token != 0).collect();
        json!({
            "seat": seat.to_string(),
            "tokens": tokens,
            "step": tokens.len(),
            "features": features,
            "legal": legal,
            "uniform": uniform,
            "logits": logits,
            "probabilities": probabilities(&legal, uniform, logits),
        })
    });
    Ok(told.collect())
}

/// The softmax over the legal tokens of logit and logarithm of the uniform
/// probability.
fn probabilities(legal: &[bool], uniform: &[f64], logits: &[f32]) -> Vec<f64> {
    let weight = |token: usize| match legal[token] {
        true => uniform[token] * f64::from(logits[token]).exp(),
        false => 0.0,
    };
    let weights: Vec<f64> = (0..legal.len()).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}
