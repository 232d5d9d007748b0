//! A game with the way it came about, so that it can be gone back in, saved, and
//! told from another that reaches the same position.

use std::sync::Arc;

use cyvasse_env::{Action, ActionParseError, Game, IllegalAction, Outcome, Position, Rules, Side};
use thiserror::Error;

/// A start, the actions since, and the game that they make.
#[derive(Clone, Debug)]
pub struct Course {
    start: Position,
    actions: Vec<Action>,
    game: Game,
}

/// An action that cannot be played, by its number from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CourseError {
    /// It is no action.
    #[error("action {number}: {reason}")]
    Unreadable {
        /// Its number.
        number: usize,
        /// What is wrong.
        reason: ActionParseError,
    },
    /// It is not legal.
    #[error("action {number}: {reason}")]
    Illegal {
        /// Its number.
        number: usize,
        /// What is wrong.
        reason: IllegalAction,
    },
    /// The game was over before it.
    #[error("action {number}: the game has ended before it ({outcome})")]
    Over {
        /// Its number.
        number: usize,
        /// How it ended.
        outcome: Outcome,
    },
}

impl Course {
    /// A game that begins at a position.
    #[must_use]
    pub fn new(rules: Arc<Rules>, start: Position) -> Course {
        Course { game: Game::new(rules, start.clone()), start, actions: Vec::new() }
    }

    /// A game that begins at a position and goes on with actions in their text
    /// form.
    ///
    /// # Errors
    /// The first action that cannot be played.
    pub fn replay<'a>(
        rules: Arc<Rules>,
        start: Position,
        actions: impl IntoIterator<Item = &'a str>,
    ) -> Result<Course, CourseError> {
        let mut course = Course::new(rules, start);
        for (index, text) in actions.into_iter().enumerate() {
            let number = index + 1;
            let action =
                Action::parse(text).map_err(|reason| CourseError::Unreadable { number, reason })?;
            course.play(action)?;
        }
        Ok(course)
    }

    /// Plays an action.
    ///
    /// # Errors
    /// An action that is not legal or comes after the end; the game stays as it is.
    pub fn play(&mut self, action: Action) -> Result<(), CourseError> {
        let number = self.actions.len() + 1;
        if let Some(outcome) = self.game.outcome() {
            return Err(CourseError::Over { number, outcome });
        }
        self.game.play(action).map_err(|reason| CourseError::Illegal { number, reason })?;
        self.actions.push(action);
        Ok(())
    }

    /// Takes the last actions back, as far as there are so many.
    pub fn take_back(&mut self, count: usize) {
        let left = self.actions.len().saturating_sub(count);
        *self = self.after(left);
    }

    /// The game as it was after its first actions.
    #[must_use]
    pub fn after(&self, count: usize) -> Course {
        let mut course = Course::new(self.game.rules().clone(), self.start.clone());
        for &action in self.actions.iter().take(count) {
            course.game.play_unchecked(action);
            course.actions.push(action);
        }
        course
    }

    /// The position that the game began with.
    #[must_use]
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// The actions since, oldest first.
    #[must_use]
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The game now.
    #[must_use]
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The position now.
    #[must_use]
    pub fn position(&self) -> &Position {
        self.game.position()
    }

    /// The side to move.
    #[must_use]
    pub fn turn(&self) -> Side {
        self.position().turn()
    }

    /// The legal actions in ascending order of their text; none after the end.
    #[must_use]
    pub fn legal_actions(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.game.outcome().is_none() {
            self.game.legal_actions(&mut actions);
        }
        actions.sort_by_cached_key(Action::to_string);
        actions
    }
}
