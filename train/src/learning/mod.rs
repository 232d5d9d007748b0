//! Learning: from the records of games to the steps of an optimiser.

mod batch;
mod config;
mod duplicates;
mod held_out;
mod sample;
mod schedule;
mod trainer;
mod window;

pub use batch::Batch;
pub use config::TrainingConfig;
pub use duplicates::Duplicates;
pub use held_out::{HeldOut, Validation, ValidationLosses, losses_at};
pub use sample::{Sample, samples_of};
pub(crate) use schedule::half_cosine;
pub use trainer::{Losses, Trainer, TrainingError, TrainingRound, Unsound, UntrainedError};
pub use window::{Window, WindowSize};
