//! What smaller numbers cost in strength and gain in speed: a match of the play
//! network in smaller numbers against itself in f32, both computed by the same
//! reader, and the time that both take for the same positions, turn by turn.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Instant;

use cyvasse_env::{PASS_INDEX, Rules};
use cyvasse_models::export::{OnnxReader, Reader};
use cyvasse_selfplay::players::{Player, RawPolicy};
use cyvasse_selfplay::search::Cyvasse;
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Request, Wdl};
use serde::Serialize;
use tch::Tensor;

use super::cases::encoded;
use crate::evaluation::statistics::Pairs;
use crate::evaluation::{Match, Setups, Tally, play_match};
use crate::pipeline::Reporter;

/// Rounds in which each network is timed once.
const ROUNDS: usize = 15;

/// A match of smaller numbers against f32, without a search: each plays the action
/// that its policy prefers.
pub struct NumbersMatch<'a> {
    /// The rules.
    pub rules: Arc<Rules>,
    /// Where both players' setups come from.
    pub setups: &'a Setups,
    /// Games, an even number: each start is played from both seats.
    pub games: u64,
    /// Where setups come from.
    pub seed: u64,
    /// Ends the match early.
    pub stop: &'a AtomicBool,
}

/// What smaller numbers are worth.
#[derive(Clone, Debug, Serialize)]
pub struct Worth {
    /// "fp16" or "int8".
    pub numbers: &'static str,
    /// Games against f32.
    pub games: u64,
    /// Pairs with 0, 1/2, 1, 1 1/2 and 2 points; those that repeat others to the last
    /// action are left out.
    pub pentanomial: Pairs,
    /// The share of the points.
    pub share: f64,
    /// Its 95% interval.
    pub share_interval: (f64, f64),
    /// The same in one line.
    pub summary: String,
    /// Evaluations a second, by tract on one thread, in batches of the test cases.
    pub evaluations_per_second: f64,
    /// The same for f32, in the same minute.
    pub evaluations_per_second_fp32: f64,
}

impl NumbersMatch<'_> {
    /// Plays the match, then times both on `planes`.
    ///
    /// # Errors
    /// A reader that fails.
    pub fn play(
        &self,
        numbers: &'static str,
        smaller: OnnxReader,
        full: &Arc<OnnxReader>,
        planes: &Tensor,
    ) -> anyhow::Result<Worth> {
        let smaller = Arc::new(smaller);
        let settings = Match {
            rules: self.rules.clone(),
            pairs: 0..self.games / 2,
            seed: self.seed,
            setups: (self.setups, None),
            opening_plies: 0,
        };
        let player = |reader: &Arc<OnnxReader>| {
            let evaluator = OnnxEvaluator { reader: reader.clone(), rules: self.rules.clone() };
            Box::new(RawPolicy::new(evaluator)) as Box<dyn Player>
        };
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let players = (0..workers).map(|_| [player(&smaller), player(full)]).collect();
        let mut tally = Tally::default();
        let reporter = Reporter::new();
        let mut stage = reporter.stage(numbers, self.games);
        play_match(players, &settings, self.stop, |pair| {
            tally.add(&pair);
            stage.update(2 * (pair.number + 1), &tally.summary());
            ControlFlow::Continue(())
        })?;
        stage.clear();
        let [ours, theirs] = rates([&smaller, full], planes)?;
        Ok(Worth {
            numbers,
            games: tally.score().games(),
            pentanomial: tally.pairs,
            share: tally.pairs.share(),
            share_interval: tally.pairs.interval(),
            summary: tally.summary(),
            evaluations_per_second: ours,
            evaluations_per_second_fp32: theirs,
        })
    }
}

/// Evaluations a second of two networks, timed in turn, so that whatever else the
/// machine does slows both: from the median of the rounds.
fn rates(readers: [&OnnxReader; 2], planes: &Tensor) -> anyhow::Result<[f64; 2]> {
    let inputs = [planes.shallow_clone()];
    let mut seconds = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (reader, seconds) in readers.iter().zip(&mut seconds) {
            let started = Instant::now();
            reader.run(&inputs)?;
            seconds.push(started.elapsed().as_secs_f64());
        }
    }
    Ok(seconds.map(|mut seconds| {
        seconds.sort_by(f64::total_cmp);
        planes.size()[0] as f64 / seconds[seconds.len() / 2]
    }))
}

/// Judges positions with an ONNX file as its reader computes it.
struct OnnxEvaluator {
    reader: Arc<OnnxReader>,
    rules: Arc<Rules>,
}

impl Evaluator<Cyvasse> for OnnxEvaluator {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, Cyvasse>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        let failed = |reason: String| EvaluatorError { batch: requests.len(), reason };
        let positions: Vec<_> =
            requests.iter().map(|request| (request.state.clone(), request.occurrences)).collect();
        let outputs = self.reader.run(&[encoded(&positions, &self.rules)]);
        let outputs = outputs.map_err(|error| failed(error.to_string()))?;
        let [policy, value] = outputs.as_slice() else {
            return Err(failed(format!("{} outputs, expected 2", outputs.len())));
        };
        let numbers = |tensor: &Tensor| {
            Vec::<f32>::try_from(tensor.view(-1)).map_err(|error| failed(error.to_string()))
        };
        let (policy, value) = (numbers(policy)?, numbers(value)?);
        let rows = policy.chunks(PASS_INDEX).zip(value.as_chunks::<3>().0);
        for ((request, answer), (policy, value)) in requests.iter().zip(answers).zip(rows) {
            let turn = request.state.turn();
            let indices = request.actions.iter().map(|action| action.index(turn));
            answer.logits.clear();
            // A pass is only legal alone, and the network has no logit for it.
            answer.logits.extend(indices.map(|index| policy.get(index).copied().unwrap_or(0.0)));
            answer.wdl = Wdl::from_logits(*value);
        }
        Ok(())
    }
}
