//! The training run: rounds of self-play and learning in a run directory.

mod finale;
mod games;
mod gate;
mod metrics;
mod play_report;
mod progress;
mod progress_file;
mod run_dir;
mod setups;
mod state;
mod tensorboard;
mod train;

pub use finale::FINAL_FILE;
pub use gate::{GateConfig, GateTest};
pub use metrics::read as read_metrics;
pub use progress::{Reporter, be_quiet};
pub(crate) use progress::{SetOnDrop, is_quiet};
pub(crate) use progress_file::seconds_now;
pub use progress_file::{PROGRESS_FILE, ProgressNote, WorkEnd};
pub use run_dir::{LADDER_FILE, RunDir, RunDirError, checkpoint_of, checkpoints_of, write_folder};
pub use train::{RunEnd, RunOptions, train};
