//! What a trainer takes from a shard: single plies, from the mover's side.

use cyvasse_env::{Action, Position};

use crate::record::PlyKind;
use crate::value::{MoverOutcome, MoverValue};

/// A ply of a stored game: what a network is given and what it should say.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The position before the ply.
    pub position: Position,
    /// How often it has occurred in its game, now included: 1 or more.
    pub occurrences: usize,
    /// The policy target: action indices in the mover's own view with their
    /// shares, which add up to 1; empty if the ply has no policy target.
    pub policy: Vec<(u16, f32)>,
    /// How the game ended, for the side to move.
    pub outcome: MoverOutcome,
    /// The search's value of the position.
    pub root_value: MoverValue,
    /// Plies from the position to the end of the game or to a resignation: 1 or
    /// more.
    pub plies_left: u32,
}

/// A ply of a stored game while the game is played through
/// (see [`Shard::for_each_ply`](super::Shard::for_each_ply)).
#[derive(Clone, Copy, Debug)]
pub struct PlyView<'a> {
    /// The number of the ply in its game, from 0.
    pub ply: usize,
    /// The position before the ply.
    pub position: &'a Position,
    /// How often it has occurred in its game, now included: 1 or more.
    pub occurrences: usize,
    /// How the action was found.
    pub kind: PlyKind,
    /// The action that was played.
    pub action: Action,
    /// Action indices of the policy target, in the mover's own view; empty if the
    /// ply has no policy target.
    pub policy_actions: &'a [u16],
    /// Their shares, which add up to 1.
    pub policy_shares: &'a [f32],
    /// How the game ended, for the side to move.
    pub outcome: MoverOutcome,
    /// The search's value of the position.
    pub root_value: MoverValue,
    /// Whether that value is proven.
    pub proven: bool,
    /// Plies from the position to the end of the game or to a resignation: 1 or
    /// more.
    pub plies_left: u32,
}
