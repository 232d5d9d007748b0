//! The training run: rounds of self-play and learning in a run directory, in one
//! process or in several.

mod data;
mod files;
mod finale;
mod games;
mod gate;
mod inbox;
mod learning;
mod metrics;
mod play_report;
mod progress;
mod progress_file;
mod run_dir;
mod sealed;
mod settle;
mod setups;
mod start;
mod state;
mod stints;
mod tensorboard;
mod train;
mod unfinished;
mod worker;

pub use files::write_folder;
pub use finale::FINAL_FILE;
pub use gate::{GateConfig, GateTest};
pub use metrics::read as read_metrics;
pub use progress::{Reporter, be_quiet};
pub(crate) use progress::{SetOnDrop, is_quiet};
pub(crate) use progress_file::seconds_now;
pub use progress_file::{PROGRESS_FILE, ProgressNote, WorkEnd};
pub use run_dir::{LADDER_FILE, RunDir, RunDirError, checkpoint_of, checkpoints_of};
pub use train::{RunEnd, RunOptions, train};
pub use worker::{WorkerOptions, selfplay};
