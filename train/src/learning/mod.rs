//! Learning: from the records of games to the steps of an optimiser.

mod batch;
mod duplicates;
mod held_out;
mod sample;
mod trainer;
mod window;

pub use batch::Batch;
pub use duplicates::Duplicates;
pub use held_out::{HeldOut, Validation, ValidationLosses};
pub use sample::{Sample, samples_of};
pub use trainer::{Losses, Trainer, TrainingError, TrainingRound, Unsound};
pub use window::{Window, WindowSize};
