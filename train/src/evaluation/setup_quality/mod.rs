//! Whether learned setups are any good: against uniform and hand-made ones, with
//! the same pilot on both sides; whether they are a mixture; and whether a best
//! answer to the mixture gains less than one to what is not a mixture.

mod best_response;
mod diversity;
mod evaluation;
mod exploitation;
mod report;
mod watched;

pub use best_response::{Climb, best_responses};
pub use diversity::{Diversity, Marginals};
pub use evaluation::{HandMade, SetupEvaluation, SetupEvaluationPlan, pairings, sampled, uniform};
pub use report::{CriticReport, Exploitation, Interval, SetupReport, Verdict};
pub use watched::Stopped;
pub(crate) use watched::watched;
