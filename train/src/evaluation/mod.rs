//! Evaluation: players, matches between them, and what a score means.

mod interval;
mod matches;
mod player;

pub use interval::Score;
pub use matches::{Match, play_match};
pub use player::{Agent, Player, PlayerError, Random, Turn};
