//! Tree search, self-play and the replay format.
//!
//! Nothing here knows libtorch: positions are judged by an [`Evaluator`], and
//! [`Uniform`] stands in where no network is at hand.

mod evaluator;
mod middlegames;
pub mod play;
pub mod players;
mod record;
mod remembering;
pub mod replay;
pub mod search;
mod seeds;
mod setups;
mod value;
mod wilson;

pub use evaluator::{Evaluation, Evaluator, EvaluatorError, Request, Uniform};
pub use middlegames::middlegames;
pub use record::{GameId, GameRecord, PlyKind, PlyRecord, SetupSource, UnfinishedGame};
pub use remembering::Remembering;
pub use seeds::{Purpose, derive};
pub use setups::{SetupPool, SetupPoolError, Supply};
pub use value::{MoverOutcome, MoverValue, Proven, Wdl, WhiteValue};
pub use wilson::{NORMAL_95, wilson};
