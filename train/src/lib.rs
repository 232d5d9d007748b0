//! The training pipeline of Cyvasse agents, and the commands around it.

pub mod bench;
pub mod checkpoints;
pub mod commands;
pub mod config;
pub mod device;
pub mod evaluation;
pub mod export;
pub mod front_ends;
pub mod learning;
pub mod machine;
mod nearest;
pub mod one_line;
pub mod pipeline;
pub mod replay;
pub mod report;
pub mod setups;
pub mod status;
