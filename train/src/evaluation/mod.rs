//! Evaluation: players and their text form, matches between them, and what
//! the results mean.

mod contest;
mod entrant;
pub mod ladder;
mod matches;
mod options;
mod playout;
mod record;
pub mod setup_quality;
mod setups;
mod spec;
pub mod statistics;
mod suite;
mod tally;

pub use contest::Contest;
pub use entrant::{Entrant, EntrantError, pinned, search_settings};
pub use ladder::{Contender, Ladder, LadderError, LadderPlan, LadderReport};
pub use matches::{Match, MatchError, PlayedGame, PlayedPair, play_match};
pub use playout::{Pairing, Pilots, score_of};
pub use record::{GameFile, GameFileHeader, RecordError, RecordedGame, read_games};
pub use setups::{Mixture, SetupChoice, Setups};
pub use spec::{AgentSearch, PlayerKind, PlayerSpec, SpecError};
pub use suite::{Question, Suite, SuiteError, SuiteReport, WrongAnswer};
pub use tally::Tally;
