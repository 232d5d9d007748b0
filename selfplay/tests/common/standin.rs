//! A stand-in for a network: answers that look random and depend on the texts
//! of position and action alone.

use std::fmt::Display;

use cyvasse_env::{Action, Position};
use cyvasse_selfplay::search::Cyvasse;
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Request, Wdl};

/// The evaluator. Logits lie between -`sharpness` and `sharpness`; with a
/// sharpness above 2 or so a few actions have most of the prior, as under a
/// trained network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandIn {
    pub(crate) sharpness: f32,
}

impl StandIn {
    fn logit(self, position: &Position, action: Action) -> f32 {
        let unit = unit_interval(&format_args!("{position} {action}"));
        self.sharpness * (2.0 * unit - 1.0)
    }

    fn wdl(self, position: &Position) -> Wdl {
        let weights = ["win", "draw", "loss"]
            .map(|name| 0.05 + unit_interval(&format_args!("{position} {name}")));
        let [win, draw, loss] = weights.map(|weight| weight / weights.iter().sum::<f32>());
        Wdl { win, draw, loss }
    }
}

impl Evaluator<Cyvasse> for StandIn {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, Cyvasse>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        for (request, answer) in requests.iter().zip(answers) {
            let logits = request.actions.iter().map(|&action| self.logit(request.state, action));
            answer.logits.clear();
            answer.logits.extend(logits);
            answer.wdl = self.wdl(request.state);
        }
        Ok(())
    }
}

/// A number from 0 (included) to 1 (excluded) with 24 bits, from a text.
fn unit_interval(text: &impl Display) -> f32 {
    // FNV-1a, and the finaliser of MurmurHash3 for the bits to spread.
    let fnv = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let mut hash = text.to_string().as_bytes().iter().fold(0xCBF2_9CE4_8422_2325, fnv);
    for factor in [0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53] {
        hash = (hash ^ (hash >> 33)).wrapping_mul(factor);
    }
    ((hash ^ (hash >> 33)) >> 40) as f32 / (1 << 24) as f32
}
