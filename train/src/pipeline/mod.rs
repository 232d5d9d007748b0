//! The training run: rounds of self-play and learning in a run directory.

mod finale;
mod games;
mod gate;
mod metrics;
mod progress;
mod run_dir;
mod setups;
mod state;
mod train;

pub use gate::{GateConfig, GateTest};
pub use progress::Reporter;
pub(crate) use progress::SetOnDrop;
pub use run_dir::{LADDER_FILE, RunDir, RunDirError, checkpoint_of, checkpoints_of};
pub use train::{RunEnd, RunOptions, train};
