//! What two setups are worth against each other, before a ply is played.

use std::sync::Arc;

use cyvasse_env::{ENCODED_LEN, Position, Rules, Setup, Side, encode};
use cyvasse_models::{InferenceNet, Net};
use cyvasse_selfplay::{EvaluatorError, Wdl};
use rayon::ThreadPool;
use rayon::prelude::*;

/// The setups of white and black that a game starts from.
pub type Start = [Setup; 2];

/// The start with `own` in a seat and `other` opposite.
#[must_use]
pub fn seated(seat: Side, own: Setup, other: Setup) -> Start {
    match seat {
        Side::White => [own, other],
        Side::Black => [other, own],
    }
}

/// Starts that are evaluated together.
const BATCH: usize = 128;

/// Judges starts.
pub trait Critic {
    /// White's chances at each start.
    ///
    /// # Errors
    /// A failure of the machinery behind the critic.
    fn chances(&mut self, starts: &[Start]) -> Result<Vec<Wdl>, EvaluatorError>;
}

/// Judges starts by the play network's value of their first position. A king
/// that can be taken at once is no question for the network.
pub struct NetCritic<'a> {
    /// One for each worker.
    nets: Vec<InferenceNet>,
    rules: Arc<Rules>,
    pool: &'a ThreadPool,
}

impl<'a> NetCritic<'a> {
    /// A critic that computes in the pool's threads.
    #[must_use]
    pub fn new(net: &Net, rules: Arc<Rules>, pool: &'a ThreadPool) -> NetCritic<'a> {
        let net = InferenceNet::new(net);
        let nets = (0..pool.current_num_threads()).map(|_| net.share()).collect();
        NetCritic { nets, rules, pool }
    }
}

impl Critic for NetCritic<'_> {
    fn chances(&mut self, starts: &[Start]) -> Result<Vec<Wdl>, EvaluatorError> {
        let rules = &self.rules;
        let batches = starts.len().div_ceil(BATCH);
        let share = BATCH * batches.div_ceil(self.nets.len()).max(1);
        let work = |(net, starts): (&mut InferenceNet, &[Start])| {
            let parts = starts.chunks(BATCH).map(|starts| evaluate(net, rules, starts));
            parts.collect::<Result<Vec<_>, _>>()
        };
        let chances: Vec<Vec<Vec<Wdl>>> = self.pool.install(|| {
            let shares = self.nets.par_iter_mut().zip(starts.par_chunks(share));
            shares.map(work).collect::<Result<_, EvaluatorError>>()
        })?;
        Ok(chances.into_iter().flatten().flatten().collect())
    }
}

fn evaluate(
    net: &InferenceNet,
    rules: &Rules,
    starts: &[Start],
) -> Result<Vec<Wdl>, EvaluatorError> {
    let mut planes = vec![0.0; starts.len() * ENCODED_LEN];
    let mut actions = Vec::new();
    let mut won = Vec::with_capacity(starts.len());
    for ([white, black], planes) in starts.iter().zip(planes.chunks_mut(ENCODED_LEN)) {
        let position = Position::start(white, black);
        encode(&position, 1, rules, planes);
        position.legal_actions(rules, &mut actions);
        won.push(actions.iter().any(|&action| position.captures_king(action)));
    }
    // No logits of actions are asked for: the value alone.
    let asked = vec![[0u16; 0]; starts.len()];
    let values = net.evaluate(&planes, &asked).value;
    if values.as_flattened().iter().any(|value| !value.is_finite()) {
        let reason = "the network's value is not finite".into();
        return Err(EvaluatorError { batch: starts.len(), reason });
    }
    let chances = values.into_iter().zip(won).map(|(value, won)| match won {
        true => Wdl { win: 1.0, draw: 0.0, loss: 0.0 },
        false => Wdl::from_logits(value),
    });
    Ok(chances.collect())
}
