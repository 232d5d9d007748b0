//! A match between two entrants, counted as it goes on, and ended early where
//! that was asked for.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cyvasse_env::Rules;

use super::entrant::Entrant;
use super::matches::{Match, MatchError, PlayedPair, play_match};
use super::statistics::{Sprt, Verdict};
use super::tally::Tally;

/// What two entrants are to play.
pub struct Contest<'a> {
    /// The players.
    pub entrants: [&'a Entrant; 2],
    /// The rules that both were loaded for.
    pub rules: Arc<Rules>,
    /// Numbers of the pairs of games, of which a test may need only the first.
    pub pairs: Range<u64>,
    /// Where setups and the players' choices come from.
    pub seed: u64,
    /// Random plies that each game begins with.
    pub opening_plies: u16,
    /// Threads to play on.
    pub workers: usize,
    /// A test that ends the match with its verdict.
    pub sprt: Option<Sprt>,
}

impl Contest<'_> {
    /// Whether both players take their setups from the same place, so that the
    /// games of a pair have the same start.
    #[must_use]
    pub fn shares_setups(&self) -> bool {
        self.entrants[0].setups.same_as(&self.entrants[1].setups)
    }

    /// Plays until the pairs are played, the test has a verdict or `stop` is
    /// set; tells of every pair that counts, in order. Pairs after the one that
    /// brought the verdict do not count, so that the result does not depend on
    /// the workers.
    ///
    /// # Errors
    /// A player that fails, or what `on_pair` returns.
    pub fn play<E: From<MatchError>>(
        &self,
        stop: &AtomicBool,
        on_pair: impl FnMut(&PlayedPair, &Tally) -> Result<(), E>,
    ) -> Result<(Tally, Option<Verdict>), E> {
        self.play_on(Tally::default(), stop, on_pair)
    }

    /// The same, going on with a tally: games that it knows are repeats.
    ///
    /// # Errors
    /// As [`Contest::play`].
    pub(super) fn play_on<E: From<MatchError>>(
        &self,
        mut tally: Tally,
        stop: &AtomicBool,
        mut on_pair: impl FnMut(&PlayedPair, &Tally) -> Result<(), E>,
    ) -> Result<(Tally, Option<Verdict>), E> {
        let [first, second] = self.entrants;
        let settings = Match {
            rules: self.rules.clone(),
            pairs: self.pairs.clone(),
            seed: self.seed,
            setups: (&first.setups, (!self.shares_setups()).then_some(&second.setups)),
            opening_plies: self.opening_plies,
        };
        let copies = (0..self.workers.max(1)).map(|_| self.entrants.map(Entrant::player));
        let (mut verdict, mut failure) = (None, None);
        play_match(copies.collect(), &settings, stop, |pair| {
            tally.add(&pair);
            failure = on_pair(&pair, &tally).err();
            verdict = self.sprt.and_then(|sprt| sprt.verdict(&tally.pairs));
            match failure.is_some() || verdict.is_some() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        match failure {
            Some(error) => Err(error),
            None => Ok((tally, verdict)),
        }
    }
}
