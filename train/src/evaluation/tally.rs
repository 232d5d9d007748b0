//! What a match has come to, pair by pair.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use cyvasse_env::{DrawReason, Outcome, Side};

use super::matches::{PlayedGame, PlayedPair};
use super::statistics::{Pairs, Score};

/// Counts of a match. A pair both of whose games have been played before, to
/// the last action, tells nothing new and counts as a repeat only.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Pairs by their score.
    pub pairs: Pairs,
    /// Games of the first player as white and as black.
    pub seats: [Score; 2],
    /// Draws by repetition, without progress and by length.
    pub draws: [u64; 3],
    /// The lengths of the games in plies.
    pub plies: Vec<u32>,
    /// Pairs that repeat an earlier one.
    pub repeats: u64,
    /// Actions that each player chose.
    pub chosen: [u64; 2],
    /// The time that each player took for them.
    pub time: [Duration; 2],
    seen: HashSet<u64>,
}

impl Tally {
    /// An empty tally that takes games with these fingerprints for played.
    #[must_use]
    pub(super) fn knowing(games: impl IntoIterator<Item = u64>) -> Tally {
        Tally { seen: games.into_iter().collect(), ..Tally::default() }
    }

    /// Counts a pair.
    pub fn add(&mut self, pair: &PlayedPair) {
        let new = pair.games.each_ref().map(|game| self.seen.insert(fingerprint(game)));
        if new == [false; 2] {
            self.repeats += 1;
            return;
        }
        self.pairs.add(pair.half_points());
        pair.games.iter().for_each(|game| self.add_game(game));
    }

    fn add_game(&mut self, game: &PlayedGame) {
        self.seats[game.first.index()].count(game.outcome, game.first);
        if let Outcome::Draw(reason) = game.outcome {
            self.draws[match reason {
                DrawReason::Repetition => 0,
                DrawReason::NoProgress => 1,
                DrawReason::Length => 2,
            }] += 1;
        }
        self.plies.push(game.actions.len() as u32);
        for player in 0..2 {
            self.chosen[player] += u64::from(game.chosen[player]);
            self.time[player] += game.time[player];
        }
    }

    /// The games of both seats.
    #[must_use]
    pub fn score(&self) -> Score {
        let [white, black] = self.seats;
        Score {
            wins: white.wins + black.wins,
            draws: white.draws + black.draws,
            losses: white.losses + black.losses,
        }
    }

    /// The score in one line: the share of the points with its interval.
    #[must_use]
    pub fn summary(&self) -> String {
        let (low, high) = self.pairs.interval();
        let percent = |share: f64| format!("{:.1}%", 100.0 * share);
        format!(
            "{} (95%: {} to {}; {})",
            percent(self.pairs.share()),
            percent(low),
            percent(high),
            self.score()
        )
    }

    /// The length of the median game in plies, and of the longest.
    #[must_use]
    pub fn lengths(&self) -> (u32, u32) {
        let mut plies = self.plies.clone();
        plies.sort_unstable();
        (plies.get(plies.len() / 2).copied().unwrap_or(0), plies.last().copied().unwrap_or(0))
    }

    /// Mean time that a player (0 or 1) took for an action, in milliseconds.
    #[must_use]
    pub fn milliseconds_per_action(&self, player: usize) -> f64 {
        1000.0 * self.time[player].as_secs_f64() / self.chosen[player].max(1) as f64
    }
}

/// A number that games share when they are the same: players, setups, actions.
pub(super) fn fingerprint(game: &PlayedGame) -> u64 {
    let mut hasher = DefaultHasher::new();
    (game.first == Side::White, &game.setups, &game.actions).hash(&mut hasher);
    hasher.finish()
}
