//! Training that is left alone: whatever happens to it, nothing is lost and nothing
//! stalls without a word.

mod faults;
mod killed;
mod processes;
#[path = "../toy/mod.rs"]
mod toy;
mod window;
