//! Which actions to look at first: the sooner the best one comes, the less has
//! to be looked at after it.

use cyvasse_env::{Action, Position, Square};

use super::MOST_PLIES;
use super::evaluate::{target, unit_value};

/// What earlier parts of a search say about good actions.
#[derive(Debug)]
pub(super) struct Order {
    /// The two newest quiet actions that refuted something at this ply.
    killers: [[Option<Action>; 2]; MOST_PLIES],
    /// How much each way from a square to a square has refuted.
    history: Vec<i32>,
}

/// Above all captures, killers and histories.
const FIRST: i32 = 1 << 30;
const CAPTURE: i32 = 1 << 28;
const KILLER: i32 = 1 << 26;
const MOST_HISTORY: i32 = 1 << 24;

impl Order {
    pub(super) fn new() -> Order {
        Order { killers: [[None; 2]; MOST_PLIES], history: vec![0; Square::COUNT * Square::COUNT] }
    }

    /// Forgets everything.
    pub(super) fn start(&mut self) {
        self.killers.fill([None; 2]);
        self.history.fill(0);
    }

    /// Fills `scores` with a score for each action: the higher, the sooner.
    pub(super) fn score(
        &self,
        position: &Position,
        actions: &[Action],
        first: Option<Action>,
        ply: usize,
        scores: &mut Vec<i32>,
    ) {
        let killers = self.killers[ply];
        let score = |&action: &Action| {
            if Some(action) == first {
                FIRST
            } else if is_noisy(position, action) {
                CAPTURE + gain(position, action)
            } else if killers.contains(&Some(action)) {
                KILLER
            } else {
                place(action).map_or(0, |place| self.history[place])
            }
        };
        scores.clear();
        scores.extend(actions.iter().map(score));
    }

    /// Notes that a quiet action refuted something.
    pub(super) fn refuted(&mut self, action: Action, ply: usize, depth: u32) {
        let killers = &mut self.killers[ply];
        if killers[0] != Some(action) {
            *killers = [Some(action), killers[0]];
        }
        if let Some(place) = place(action) {
            self.history[place] += (depth * depth) as i32;
            if self.history[place] > MOST_HISTORY {
                self.history.iter_mut().for_each(|score| *score /= 2);
            }
        }
    }
}

/// Whether an action takes a unit or ruins a fortress.
#[inline]
pub(super) fn is_noisy(position: &Position, action: Action) -> bool {
    match action {
        Action::Move { to, .. } => position.side(position.turn().other()).contains(to),
        Action::Shot { .. } | Action::Assault { .. } => true,
        Action::Pass => false,
    }
}

/// Most valuable victim, then least valuable attacker; a shooter risks nothing.
fn gain(position: &Position, action: Action) -> i32 {
    let worth = |square: Square| position.unit(square).map_or(0, |(_, unit)| unit_value(unit));
    match action {
        Action::Move { from, to } => 16 * worth(to) - worth(from),
        Action::Shot { to, .. } if position.fortresses().contains(to) => 16 * 100,
        Action::Shot { to, .. } => 16 * worth(to),
        Action::Assault { .. } => 16 * 100,
        Action::Pass => 0,
    }
}

fn place(action: Action) -> Option<usize> {
    let (Action::Move { from, .. } | Action::Shot { from, .. } | Action::Assault { from, .. }) =
        action
    else {
        return None;
    };
    target(action).map(|to| from.index() * Square::COUNT + to.index())
}

/// Brings the action with the highest score among those from `place` on there.
#[inline]
pub(super) fn bring_best(actions: &mut [Action], scores: &mut [i32], place: usize) {
    let mut best = place;
    for other in place + 1..scores.len() {
        if scores[other] > scores[best] {
            best = other;
        }
    }
    actions.swap(place, best);
    scores.swap(place, best);
}
