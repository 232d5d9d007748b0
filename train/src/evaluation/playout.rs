//! Games from given setups with one pilot on both sides: what is measured is the
//! setups alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cyvasse_env::{Game, Outcome, Position, Rules, Side};
use cyvasse_selfplay::players::{Player, PlayerError, Turn};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::statistics::Score;
use crate::setups::Start;

/// Games that a pilot plays at the same time.
const LIVE: usize = 96;

/// A game to be played.
#[derive(Clone, Copy, Debug)]
pub struct Pairing {
    /// The setups of white and black.
    pub start: Start,
    /// The side whose setup is measured.
    pub measured: Side,
    /// Where the pilot's choices in the game come from.
    pub seed: u64,
}

/// Pilots, one a thread, that choose alike.
pub struct Pilots<'a> {
    /// The pilots.
    pub players: Vec<Box<dyn Player>>,
    /// The threads.
    pub pool: &'a ThreadPool,
    /// The rules.
    pub rules: Arc<Rules>,
    /// Counts the games that are over, for others to watch.
    pub done: &'a AtomicU64,
    /// Set by someone else to leave the remaining games out.
    pub stop: &'a AtomicBool,
}

impl Pilots<'_> {
    /// Plays games and returns their outcomes in the order of the pairings; `None`
    /// for one that was left out. What is played does not depend on the number of
    /// pilots.
    ///
    /// # Errors
    /// A pilot that fails.
    pub fn play(&mut self, pairings: &[Pairing]) -> Result<Vec<Option<Outcome>>, PlayerError> {
        let share = pairings.len().div_ceil(self.players.len().max(1)).max(1);
        let (rules, done, stop) = (&self.rules, self.done, self.stop);
        let outcomes: Result<Vec<Vec<Option<Outcome>>>, PlayerError> = self.pool.install(|| {
            let parts = self.players.par_iter_mut().zip(pairings.par_chunks(share));
            parts.map(|(pilot, part)| play_part(pilot.as_mut(), part, rules, done, stop)).collect()
        });
        Ok(outcomes?.into_iter().flatten().collect())
    }
}

/// The score of the measured setups.
#[must_use]
pub fn score_of(pairings: &[Pairing], outcomes: &[Option<Outcome>]) -> Score {
    let mut score = Score::default();
    for (pairing, outcome) in pairings.iter().zip(outcomes) {
        if let Some(outcome) = *outcome {
            score.count(outcome, pairing.measured);
        }
    }
    score
}

fn play_part(
    pilot: &mut dyn Player,
    pairings: &[Pairing],
    rules: &Arc<Rules>,
    done: &AtomicU64,
    stop: &AtomicBool,
) -> Result<Vec<Option<Outcome>>, PlayerError> {
    let mut outcomes = vec![None; pairings.len()];
    let mut waiting = pairings.iter().enumerate();
    let mut live: Vec<(usize, Game)> = Vec::with_capacity(LIVE);
    while !stop.load(Ordering::Relaxed) {
        live.extend(waiting.by_ref().take(LIVE - live.len()).map(|(place, pairing)| {
            let [white, black] = &pairing.start;
            (place, Game::new(rules.clone(), Position::start(white, black)))
        }));
        if live.is_empty() {
            break;
        }
        let turns: Vec<Turn<'_>> =
            live.iter().map(|(place, game)| Turn { game, seed: pairings[*place].seed }).collect();
        let actions = pilot.choose(&turns)?;
        drop(turns);
        for ((_, game), action) in live.iter_mut().zip(actions) {
            game.play_unchecked(action);
        }
        live.retain(|(place, game)| {
            outcomes[*place] = game.outcome();
            done.fetch_add(u64::from(outcomes[*place].is_some()), Ordering::Relaxed);
            outcomes[*place].is_none()
        });
    }
    Ok(outcomes)
}
