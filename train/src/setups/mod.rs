//! Learning how to build the homeland: a mixture of setups, not one best setup,
//! for what the screen hides can be read and answered if it is always the same.
//!
//! Each round the setup network is sampled ([`SetupLearner::pool`]); games are
//! played with the samples among others; the play network learns from them and
//! then tells what each sample is worth against opponents from all sources, which
//! the results of the games correct, as far as the play network had not expected
//! them ([`lessons`]); the setup network takes a step
//! of clipped policy gradient ([`SetupTrainer`]).

mod config;
mod critic;
mod file;
mod learner;
mod statistics;
mod targets;
mod trainer;
mod watch;

pub use config::{LearnedSetups, SetupNetworkConfig, SetupsConfig, SourceShares, Targets};
pub use critic::{Critic, NetCritic, Start, seated};
pub use file::{SetupFileError, parse_setups, read_setups};
pub use learner::{LearnerError, SetupLearner};
pub(crate) use statistics::log_loss;
pub use statistics::{SourceStatistics, by_source};
pub use targets::{Lesson, Played, lessons};
pub use trainer::{SetupLosses, SetupRound, SetupTrainer, SetupTrainingError};
pub use watch::Watcher;
