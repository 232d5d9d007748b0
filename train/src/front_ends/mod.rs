//! What people and other programs use a trained agent through: a protocol on
//! standard input and output, an analysis of many positions at once, a game in
//! the terminal. The commands around them are thin.

pub mod analyze;
pub mod board;
pub mod course;
pub mod engine;
pub mod line_input;
pub mod play;
pub mod split;
pub mod thinking;
