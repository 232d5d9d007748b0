//! What a player sees of a game.

use cyvasse_env::{Action, Outcome, Side, Square, SquareSet};

use super::words::{describe, ends, lost, squares};
use crate::front_ends::board::{Marks, draw_board, frozen};
use crate::front_ends::course::Course;

/// A game as a player sees it.
pub(super) struct View<'a> {
    pub(super) course: &'a Course,
    /// The player's side.
    pub(super) seat: Side,
    /// Whether the player has given up.
    pub(super) resigned: bool,
}

impl View<'_> {
    /// How the game ended, by the rules or because the player gave up.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        let given_up = self.resigned.then_some(Outcome::Win(self.seat.other()));
        self.course.game().outcome().or(given_up)
    }

    /// The board with all that a player wants to see.
    pub(super) fn scene(&self, colour: bool) -> String {
        let (position, actions) = (self.course.position(), self.course.actions());
        let mut lines = vec![String::new()];
        // The person's action and the answer to it.
        let shown = actions.len().saturating_sub(2);
        for (place, &action) in actions.iter().enumerate().skip(shown) {
            let before = self.course.after(place);
            lines.push(format!("{}: {}", before.turn(), describe(before.position(), action)));
        }
        let last = actions.last().map_or(SquareSet::EMPTY, |&action| squares(action));
        let marks = Marks { last, ..Marks::default() };
        lines.push(draw_board(position, self.seat, marks, colour));
        lines.push(self.losses());
        lines.extend(frozen(position));
        lines.extend(self.draw_is_near());
        if let Some(outcome) = self.outcome() {
            lines.push(self.verdict(outcome));
        }
        lines.join("\n")
    }

    /// The units that are gone.
    pub(super) fn losses(&self) -> String {
        let (start, now) = (self.course.start(), self.course.position());
        let of = |side| format!("{side} has lost: {}", lost(side, start, now));
        format!("{}; {}", of(Side::White), of(Side::Black))
    }

    fn draw_is_near(&self) -> Option<String> {
        let (game, draws) = (self.course.game(), self.course.game().rules().draws);
        let quiet = game.position().quiet_plies();
        if game.occurrences() > 1 {
            let (times, most) = (game.occurrences(), draws.repetitions);
            return Some(format!("this position occurs for time {times} of {most} to a draw"));
        }
        let most = draws.no_progress_plies;
        (quiet >= most / 2).then(|| format!("{quiet} of {most} plies to a draw without a capture"))
    }

    fn verdict(&self, outcome: Outcome) -> String {
        let seat = self.seat;
        let result = match outcome {
            _ if self.resigned && self.course.game().outcome().is_none() => {
                format!("You have resigned: {} wins.", seat.other())
            }
            Outcome::Win(side) if side == seat => "You have taken the king: you win!".into(),
            Outcome::Win(_) => "Your king is taken: you lose.".into(),
            Outcome::Draw(reason) => format!("The game is a draw by {reason}."),
        };
        format!("{result} `undo` takes back, `save FILE` keeps the game, `quit` leaves.")
    }

    /// All legal actions, some a line.
    pub(super) fn all_moves(&self) -> String {
        let actions: Vec<String> =
            self.course.legal_actions().iter().map(Action::to_string).collect();
        let lines: Vec<String> = actions.chunks(12).map(|chunk| chunk.join(" ")).collect();
        if lines.is_empty() { "the game is over".into() } else { lines.join("\n") }
    }

    /// What can be done with a unit: drawn, and in words.
    ///
    /// # Errors
    /// In words, that there is nothing.
    pub(super) fn moves_of(&self, from: Square, colour: bool) -> Result<String, String> {
        let position = self.course.position();
        let actions: Vec<Action> = self
            .course
            .legal_actions()
            .into_iter()
            .filter(|&action| ends(action).is_some_and(|(square, _)| square == from))
            .collect();
        if actions.is_empty() {
            return Err(match position.unit(from) {
                Some((side, unit)) if side == position.turn() => {
                    format!("the {unit} on {from} can do nothing now")
                }
                _ => format!("you have nobody on {from}"),
            });
        }
        let targets = actions.iter().filter_map(|&action| ends(action)).map(|(_, to)| to);
        let marks = Marks { last: from.set(), targets: targets.collect() };
        let mut lines = vec![draw_board(position, self.seat, marks, colour)];
        lines.extend(actions.iter().map(|&action| describe(position, action)));
        Ok(lines.join("\n"))
    }
}
