//! Self-play: many games at once, a batch of leaves at a time.
//!
//! Games are played in slots. In a round every slot plays the same number of
//! plies; games that are not over then go on in the next round, with the
//! network of that round. So all workers stay busy to the end of a round, and
//! what is played depends on the seed, the slots and the evaluators' answers,
//! not on the number of workers.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cyvasse_env::{IllegalAction, Rules};
use rayon::prelude::*;

mod opening;
mod resignation;
mod settings;
mod slot;

pub use resignation::{Resignation, ResignationRates};
pub use settings::{GameSettings, OpeningSettings, PlayoutCapSettings, ResignationSettings};

use crate::evaluator::{Evaluation, Evaluator, EvaluatorError};
use crate::record::{GameRecord, UnfinishedGame};
use crate::search::{Cyvasse, SearchSettings};
use crate::seeds::{Purpose, derive};
use crate::setups::SetupPool;
use crate::value::MoverValue;
use slot::{Common, Played, Slot};

/// The games of a run that are being played.
pub struct SelfPlay {
    common: Common,
    slots: Vec<Slot>,
}

/// Counts what self-play has done, for others to watch while it works.
#[derive(Debug, Default)]
pub struct Progress {
    /// Plies played.
    pub plies: AtomicU64,
    /// Games finished.
    pub games: AtomicU64,
    /// Simulations done.
    pub simulations: AtomicU64,
    /// Plies that they walked down from their roots, in sum.
    pub walked: AtomicU64,
    /// Positions evaluated.
    pub evaluations: AtomicU64,
    /// Those of them whose evaluation was remembered.
    pub remembered: AtomicU64,
    /// Batches evaluated.
    pub batches: AtomicU64,
}

/// What a round is to be.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// Plies that every slot plays.
    pub plies_per_slot: u32,
    /// The training step of the evaluators' network, for the records.
    pub network_step: u32,
    /// Where games that begin in the round take their setups from.
    pub setups: &'a SetupPool,
    /// The value below which players resign ([`Resignation::threshold`]).
    pub resign_below: MoverValue,
    /// Counts as the round goes on.
    pub progress: &'a Progress,
    /// Set by someone else to end the round early.
    pub stop: &'a AtomicBool,
}

impl SelfPlay {
    /// Self-play in the slots with these numbers, all at the start of their first
    /// game, whose setups are drawn uniformly.
    #[must_use]
    pub fn new(
        rules: Arc<Rules>,
        search: SearchSettings,
        games: GameSettings,
        slots: Range<u32>,
        seed: u64,
    ) -> SelfPlay {
        let setups = SetupPool::uniform(&rules);
        let common = Common::new(rules, search, games, seed);
        let slots = slots.map(|slot| Slot::new(&common, &setups, slot)).collect();
        SelfPlay { common, slots }
    }

    /// Self-play that goes on with the games of [`SelfPlay::unfinished`].
    ///
    /// # Errors
    /// A game with an action that its rules forbid.
    pub fn resume(
        rules: Arc<Rules>,
        search: SearchSettings,
        games: GameSettings,
        unfinished: Vec<UnfinishedGame>,
        seed: u64,
    ) -> Result<SelfPlay, IllegalAction> {
        let common = Common::new(rules, search, games, seed);
        let slots = unfinished.into_iter().map(|game| Slot::resume(&common, game));
        let slots = slots.collect::<Result<Vec<Slot>, IllegalAction>>()?;
        Ok(SelfPlay { common, slots })
    }

    /// The games that are being played, one a slot.
    #[must_use]
    pub fn unfinished(&self) -> Vec<UnfinishedGame> {
        self.slots.iter().map(|slot| slot.record().clone()).collect()
    }

    /// Plays a round, with one worker for each evaluator, and returns the
    /// games that ended in it in the order of their ids.
    ///
    /// A round that is stopped, or fails, leaves the slots somewhere on the
    /// way; go on from an earlier [`SelfPlay::unfinished`] for a run that
    /// can be repeated.
    ///
    /// # Errors
    /// The first failure of an evaluator.
    pub fn play<E: Evaluator<Cyvasse> + Send>(
        &mut self,
        evaluators: &mut [E],
        round: Round<'_>,
    ) -> Result<Vec<GameRecord>, EvaluatorError> {
        let common = &self.common;
        let games = shares(&mut self.slots, evaluators.len())
            .into_par_iter()
            .zip(evaluators)
            .map(|(slots, evaluator)| work(common, slots, evaluator, round))
            .collect::<Result<Vec<Vec<GameRecord>>, EvaluatorError>>()?;
        let mut games: Vec<GameRecord> = games.into_iter().flatten().collect();
        games.sort_by_key(|game| game.id);
        Ok(games)
    }
}

/// The slots in `count` parts whose lengths differ by one at most.
fn shares(mut slots: &mut [Slot], count: usize) -> Vec<&mut [Slot]> {
    let mut shares = Vec::with_capacity(count);
    for left in (1..=count).rev() {
        let (share, rest) = slots.split_at_mut(slots.len().div_ceil(left));
        shares.push(share);
        slots = rest;
    }
    shares
}

/// Plays one worker's share of a round.
fn work<E: Evaluator<Cyvasse>>(
    common: &Common,
    slots: &mut [Slot],
    evaluator: &mut E,
    round: Round<'_>,
) -> Result<Vec<GameRecord>, EvaluatorError> {
    let mut answers: Vec<Evaluation> = slots.iter().map(|_| Evaluation::blank()).collect();
    let mut games = Vec::new();
    let mut waiting = Vec::with_capacity(slots.len());
    slots.iter_mut().for_each(|slot| slot.allow(round.plies_per_slot));
    while !round.stop.load(Ordering::Relaxed) {
        let mut played = Played::default();
        waiting.clear();
        for (index, slot) in slots.iter_mut().enumerate() {
            if slot.gather(common, round, &mut played) {
                waiting.push(index);
            }
        }
        let requests: Vec<_> = waiting.iter().filter_map(|&slot| slots[slot].request()).collect();
        let batch = requests.len();
        count(round.progress, &played, batch);
        games.append(&mut played.finished);
        if batch == 0 {
            return Ok(games);
        }
        evaluator.evaluate(&requests, &mut answers[..batch])?;
        drop(requests);
        for (&slot, answer) in waiting.iter().zip(&answers) {
            slots[slot].apply(answer);
        }
    }
    slots.iter_mut().for_each(Slot::interrupt);
    Ok(games)
}

fn count(progress: &Progress, played: &Played, batch: usize) {
    progress.plies.fetch_add(played.plies, Ordering::Relaxed);
    progress.games.fetch_add(played.finished.len() as u64, Ordering::Relaxed);
    progress.simulations.fetch_add(played.simulations, Ordering::Relaxed);
    progress.walked.fetch_add(played.walked, Ordering::Relaxed);
    progress.evaluations.fetch_add(batch as u64, Ordering::Relaxed);
    progress.batches.fetch_add(u64::from(batch > 0), Ordering::Relaxed);
}

/// A lot that is drawn with a chance of `share`, always the same for the same
/// arguments.
fn drawn(seed: u64, purpose: Purpose, parts: &[u64], share: f32) -> bool {
    let unit = (derive(seed, purpose, parts) >> 40) as f32 / (1 << 24) as f32;
    unit < share
}
