//! Learning: from the records of games to the steps of an optimiser.

mod batch;
mod sample;
mod trainer;

pub use batch::Batch;
pub use sample::{Sample, Window, samples_of};
pub use trainer::{Losses, Trainer, TrainingError, TrainingRound};
