//! The networks of Cyvasse agents.
//!
//! * [`NetConfig`] describes an architecture, [`Net`] is one with weights to
//!   train, [`InferenceNet`] a copy of it to play with.
//! * [`SetupNet`] builds homelands: a distribution over all legal setups.
//! * [`checkpoint`] writes and reads networks, [`TensorFile`] any named tensors.
//! * [`loss`] and [`optim`] are what training needs besides.
//!
//! Everywhere, positions and outcomes are from the view of the player to move.

mod averaging;
pub mod checkpoint;
mod config;
mod evaluator;
pub mod export;
mod heads;
mod inference;
mod init;
mod layers;
pub mod loss;
mod net;
pub mod optim;
mod setup_net;
mod tensor_file;

pub use config::{BOARD_SIDE, ConfigError, NetConfig, OUTCOMES, TILES, TrainingPrecision};
pub use evaluator::NetEvaluator;
pub use inference::{
    Evaluation, InferenceClient, InferenceNet, Precision, ServedBatches, ServerError, serve,
};
pub use net::{Net, Outputs};
pub use setup_net::{
    SETUP_ENCODING_VERSION, SETUP_FEATURES, SampledSetup, SetupBatch, SetupNet, SetupNetConfig,
    SetupNetError, encode_prefix,
};
pub use tensor_file::{CHECKSUM_KEY, TensorFile, TensorFileError};
