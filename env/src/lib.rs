//! The rules of Cyvasse: The Iron Throne.
//!
//! Pure: no files, no threads, no tensors; everything the game is, and
//! nothing else. It starts at [`Rules`] (what a rules file says), [`Position`]
//! (a state of the play phase), [`Action`] (what a player does) and [`Game`]
//! (a position with its history); [`encode`] turns a position into planes and
//! [`Action::index`] an action into an entry of a policy.
//!
//! ```
//! use cyvasse_env::{Position, Rules, perft};
//!
//! let rules = Rules::iron_throne();
//! let position = Position::parse("8/8/8/8/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w - 0 12", &rules)?;
//! let mut actions = Vec::new();
//! position.legal_actions(&rules, &mut actions);
//! assert_eq!(actions.len() as u64, perft(&position, &rules, 1));
//! # Ok::<(), cyvasse_env::PositionError>(())
//! ```

mod action;
mod encode;
mod game;
mod generate;
mod index;
mod lines;
mod perft;
mod position;
mod row;
mod rules;
mod setup;
mod square;
mod text;
mod tile;
mod unit;
mod zobrist;

pub use action::{Action, ActionParseError};
pub use encode::{ENCODED_LEN, PLANES, PLANES_VERSION, encode, mirror_planes};
pub use game::{DrawReason, Game, Outcome};
pub use index::{ACTION_COUNT, ACTION_INDEX_VERSION, ACTION_PLANES, PASS_INDEX, mirror_index};
pub use perft::{perft, perft_by_playing, perft_divide};
pub use position::{IllegalAction, Position};
pub use rules::{
    DrawRules, Movement, Rules, RulesError, Shots, Steps, TileCounts, UnitRules, Walk,
};
pub use setup::{IllegalToken, Setup, SetupBuilder, SetupError, SetupSpace};
pub use square::{Side, Square, SquareSet};
pub use text::PositionError;
pub use tile::Tile;
pub use unit::{Unit, UnitSet};
