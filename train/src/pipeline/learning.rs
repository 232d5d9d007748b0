//! The play network's part of a round: steps in proportion to new positions, and
//! what it then says of games that it was not trained on.

use anyhow::Context;
use cyvasse_models::TensorFile;
use cyvasse_selfplay::{Purpose, derive};
use serde_json::{Value, json};

use super::data;
use super::train::Run;
use crate::learning::{Losses, TrainingError, TrainingRound, Unsound, ValidationLosses};

/// What came of a round's learning.
pub(super) struct LearningReport {
    /// Games of the round that had been played before.
    pub(super) duplicates: usize,
    /// `None` where no step was due.
    pub(super) losses: Option<Losses>,
    pub(super) validation: ValidationLosses,
}

/// The optimiser steps that the positions so far entitle to, less those that were
/// taken. So no position is trained on more often than `samples_per_position` on
/// average, however slowly new ones come.
fn steps_due(run: &Run<'_>) -> u64 {
    let training = &run.config.training;
    let samples = run.data.positions() as f64 * training.samples_per_position;
    let steps = (samples / f64::from(training.batch_size)) as u64;
    steps.saturating_sub(run.trainer.optimizer.steps())
}

/// Trains on the window, in proportion to its new positions, and validates.
pub(super) fn learn(
    run: &mut Run<'_>,
    round: u32,
    duplicates: usize,
) -> anyhow::Result<LearningReport> {
    let threads = run.config.training.threads as i32;
    tch::set_num_threads(threads);
    let losses = train(run, round);
    if let (Ok(None), false) = (&losses, run.stopped()) {
        say_why_not(run, round);
    }
    let validation = match &losses {
        Ok(_) if !run.stopped() => run.data.validation.losses(&run.trainer.average, &run.rules),
        _ => ValidationLosses::default(),
    };
    tch::set_num_threads(1);
    let report = LearningReport { duplicates, losses: losses?, validation };
    if validation.positions > 0 {
        run.reporter.say(&format!("round {round}: {report}"));
    }
    Ok(report)
}

/// Says why no step was taken.
fn say_why_not(run: &Run<'_>, round: u32) {
    let training = &run.config.training;
    let positions = run.data.positions();
    let due = positions as f64 * training.samples_per_position / f64::from(training.batch_size);
    run.reporter.say(&format!(
        "round {round}: no step is due: {positions} positions so far, each to be trained on {} \
         times, are {due:.1} batches of {}, and {} were taken",
        training.samples_per_position,
        training.batch_size,
        run.trainer.optimizer.steps()
    ));
}

/// Takes the steps that are due; when a shard turns out to be lost, without it.
fn train(run: &mut Run<'_>, round: u32) -> anyhow::Result<Option<Losses>> {
    for attempt in 0.. {
        let steps = steps_due(run);
        if run.data.window.is_empty() || steps == 0 {
            break;
        }
        let parts = [u64::from(round), attempt];
        // Without the attempt in most runs, where there is but one.
        let parts = if attempt == 0 { &parts[..1] } else { &parts[..] };
        let seed = derive(run.config.run.seed, Purpose::Samples, parts);
        match take_steps(run, round, steps, seed) {
            Ok(losses) => return Ok(Some(losses)),
            Err(TrainingError::Replay(error)) if error.is_damage() => data::lose(run, &error)?,
            Err(TrainingError::Replay(error)) => return Err(error.into()),
            Err(TrainingError::Unsound(unsound)) => return Err(give_up(run, unsound)),
        }
    }
    Ok(None)
}

fn take_steps(
    run: &mut Run<'_>,
    round: u32,
    steps: u64,
    seed: u64,
) -> Result<Losses, TrainingError> {
    let run_share = run.run_share(round);
    let plan = TrainingRound { steps, run_share, seed, stop: run.stop };
    let batch_size = f64::from(run.config.training.batch_size);
    let mut stage = run.reporter.stage("learning", steps);
    let mut step = 0;
    let losses = run.trainer.train(&mut run.data.window, plan, |losses| {
        step += 1;
        let rate = step as f64 * batch_size / stage.seconds().max(1e-9);
        stage.update(step, &format!("{losses}, {rate:.0} samples/s"));
    })?;
    if !run.stopped() {
        let seconds = stage.seconds();
        stage.finish(&format!("round {round}: {step} steps in {seconds:.0} s, loss: {losses}"));
    }
    Ok(losses)
}

/// Saves what could not be learned from; the error that ends the run.
fn give_up(run: &Run<'_>, unsound: Unsound) -> anyhow::Error {
    let Some(batch) = &run.trainer.failed else { return unsound.into() };
    let path = run.dir.file(&format!("failed-batch-{:06}.safetensors", unsound.step));
    let tensors = [
        ("planes", &batch.planes),
        ("legal", &batch.legal),
        ("policy", &batch.policy),
        ("wdl", &batch.wdl),
    ];
    let file = TensorFile {
        metadata: [("failure".to_string(), unsound.to_string())].into(),
        tensors: tensors.map(|(name, tensor)| (name.to_string(), tensor.shallow_clone())).into(),
    };
    let saved = file.save(&path).with_context(|| unsound.to_string());
    match saved {
        Ok(()) => anyhow::anyhow!("{unsound}; its batch is saved as {}", path.display()),
        Err(error) => error,
    }
}

impl std::fmt::Display for LearningReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ValidationLosses { positions, losses, starts, start_losses } = self.validation;
        write!(
            f,
            "held-out games, loss: {losses} ({positions} positions); at the start: \
             {start_losses} ({starts})"
        )
    }
}

impl LearningReport {
    /// The numbers for the metrics.
    pub(super) fn to_json(&self) -> Value {
        let of = |count: usize, losses: Losses| {
            let known = (count > 0).then_some(losses);
            json!({
                "positions": count,
                "policy_loss": known.map(|losses| losses.policy),
                "value_loss": known.map(|losses| losses.value),
            })
        };
        let ValidationLosses { positions, losses, starts, start_losses } = self.validation;
        json!({ "all": of(positions, losses), "starts": of(starts, start_losses) })
    }
}
