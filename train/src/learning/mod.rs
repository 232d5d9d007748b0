//! Learning: from the records of games to the steps of an optimiser.

mod auxiliary;
mod batch;
mod config;
mod duplicates;
mod held_out;
mod sample;
mod trainer;
mod window;

pub use auxiliary::{AuxiliaryBatch, AuxiliaryLosses};
pub use batch::Batch;
pub use config::TrainingConfig;
pub use duplicates::Duplicates;
pub use held_out::{HeldOut, Validation, ValidationLosses, losses_at};
pub use sample::{AuxiliaryTargets, SHORT_TERM, Sample, Targets, samples_of};
pub use trainer::{Losses, Trainer, TrainingError, TrainingRound, Unsound, UntrainedError};
pub use window::{Window, WindowSize};
