//! Cyvasse by brute force, with nothing of the search in it.

use std::sync::Arc;

use cyvasse_env::{Action, Game as Played, Outcome, Position, Rules};

/// Looks for captures of a king that can be forced, to its full width; draws
/// are left out, being too far away to matter.
pub(crate) struct KingHunt {
    rules: Arc<Rules>,
    /// The last action that saved a king, by the plies left: tried first.
    rescues: [Action; 8],
}

impl KingHunt {
    pub(crate) fn new(rules: &Arc<Rules>) -> KingHunt {
        KingHunt { rules: rules.clone(), rescues: [Action::Pass; 8] }
    }

    pub(crate) fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// In how many plies, at the least, the side to move can force the capture
    /// of the other king; `None` if not within `most` plies.
    pub(crate) fn win(&mut self, position: &Position, most: u16) -> Option<u16> {
        (1..=most).step_by(2).find(|&plies| self.wins(position, plies))
    }

    /// How many plies, at the most, the side to move can last; `None` if for
    /// more than `most`.
    pub(crate) fn loss(&mut self, position: &Position, most: u16) -> Option<u16> {
        (2..=most).step_by(2).find(|&plies| self.loses(position, plies))
    }

    /// Whether an action is the first of a forced capture within `plies`.
    pub(crate) fn is_win(&mut self, position: &Position, action: Action, plies: u16) -> bool {
        position.captures_king(action)
            || plies > 2 && self.loses(&after(position, action), plies - 1)
    }

    fn wins(&mut self, position: &Position, plies: u16) -> bool {
        let actions = self.actions(position);
        actions.iter().any(|&action| position.captures_king(action))
            || plies > 2
                && actions.iter().any(|&action| self.loses(&after(position, action), plies - 1))
    }

    fn loses(&mut self, position: &Position, plies: u16) -> bool {
        let mut actions = self.actions(position);
        if actions.iter().any(|&action| position.captures_king(action)) {
            return false;
        }
        let rescue = &mut self.rescues[usize::from(plies)];
        if let Some(place) = actions.iter().position(|action| action == rescue) {
            actions.swap(0, place);
        }
        for action in actions {
            if !self.wins(&after(position, action), plies - 1) {
                self.rescues[usize::from(plies)] = action;
                return false;
            }
        }
        true
    }

    fn actions(&self, position: &Position) -> Vec<Action> {
        let mut actions = Vec::with_capacity(64);
        position.legal_actions(&self.rules, &mut actions);
        actions
    }
}

pub(crate) fn after(position: &Position, action: Action) -> Position {
    let mut next = position.clone();
    next.play_unchecked(action);
    next
}

/// What a game comes to for the side to move if both play right, as far as so
/// many plies tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Won in so many plies.
    Win(u16),
    Draw,
    /// Lost in so many plies.
    Loss(u16),
    /// It takes more plies to tell.
    Open,
}

/// Plays all games of up to `plies` plies, with their history.
pub(crate) fn exhaust(game: &Played, plies: u16) -> Verdict {
    match game.outcome() {
        // Only the side that has just moved can have captured a king.
        Some(Outcome::Win(_)) => return Verdict::Loss(0),
        Some(Outcome::Draw(_)) => return Verdict::Draw,
        None if plies == 0 => return Verdict::Open,
        None => {}
    }
    let mut actions = Vec::new();
    game.legal_actions(&mut actions);
    let (mut win, mut loss, mut open, mut draw) = (None, 0, false, false);
    for action in actions {
        let mut next = game.clone();
        next.play_unchecked(action);
        match exhaust(&next, plies - 1) {
            Verdict::Loss(0) => return Verdict::Win(1),
            Verdict::Loss(plies) => win = Some(win.map_or(plies, |win: u16| win.min(plies))),
            Verdict::Win(plies) => loss = loss.max(plies),
            Verdict::Draw => draw = true,
            Verdict::Open => open = true,
        }
    }
    match win {
        Some(plies) => Verdict::Win(plies + 1),
        None if open => Verdict::Open,
        None if draw => Verdict::Draw,
        None => Verdict::Loss(loss + 1),
    }
}
