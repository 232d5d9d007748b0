//! How games of self-play are made, beside the search.

use serde::{Deserialize, Serialize};

use crate::search::{MOST_SIMULATIONS, SettingsError, require};

/// How games of self-play are made; part of a training config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameSettings {
    /// Whether the search before a ply goes on from the tree of the last one.
    pub reuse_tree: bool,
    /// Evaluations that each worker remembers within a round (see
    /// [`Remembering`](crate::Remembering)); 0 for none.
    pub remembered_evaluations: u32,
    /// Cheap searches.
    pub playout_cap: PlayoutCapSettings,
    /// Random plies at the start.
    pub opening: OpeningSettings,
    /// Early ends.
    pub resignation: ResignationSettings,
}

/// Playout-cap randomisation (Wu 2019, "Accelerating self-play learning in Go",
/// section 3.1): most plies are searched cheaply, so that games, whose results
/// the value is learned from, cost less; only plies that are searched in full
/// are learned from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayoutCapSettings {
    /// Share of plies that are searched in full; 1 to search all of them so.
    pub full_share: f32,
    /// Simulations of the others, whose search has no noise.
    pub cheap_simulations: u32,
}

/// Random openings of the play phase, so that games differ and positions that
/// good play avoids are seen too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpeningSettings {
    /// Share of games that begin so.
    pub share: f32,
    /// The most random plies; each number up to it is as likely as the others.
    pub most_plies: u16,
}

/// Resignation. A player resigns whose value was below the threshold at two of
/// its own plies in a row. The threshold is learned from games that are always
/// played on (see [`Resignation`](super::Resignation)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResignationSettings {
    /// The highest share of resignations that may be wrong, because the player
    /// would not have lost; 0 to never resign.
    pub false_positives: f32,
    /// Share of games that are always played on.
    pub played_on: f32,
}

impl GameSettings {
    /// Every ply searched in full from a new tree, nothing random, no
    /// resignation.
    #[must_use]
    pub const fn plain() -> GameSettings {
        GameSettings {
            reuse_tree: false,
            remembered_evaluations: 0,
            playout_cap: PlayoutCapSettings { full_share: 1.0, cheap_simulations: 1 },
            opening: OpeningSettings { share: 0.0, most_plies: 1 },
            resignation: ResignationSettings { false_positives: 0.0, played_on: 1.0 },
        }
    }

    /// Checks that every number is within its range.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let GameSettings { remembered_evaluations, playout_cap, opening, resignation, .. } = self;
        let most = *remembered_evaluations <= MOST_REMEMBERED;
        require(most, "remembered_evaluations", remembered_evaluations, "up to 16 million")?;
        let full = playout_cap.full_share;
        let some = full > 0.0 && full <= 1.0;
        require(some, "playout_cap.full_share", full, "a number above 0 and up to 1")?;
        let cheap = playout_cap.cheap_simulations;
        let possible = (1..=MOST_SIMULATIONS).contains(&cheap);
        require(possible, "playout_cap.cheap_simulations", cheap, "from 1 to 10 million")?;
        share("opening.share", opening.share)?;
        let plies = opening.most_plies;
        require(plies >= 1, "opening.most_plies", plies, "1 or more")?;
        share("resignation.false_positives", resignation.false_positives)?;
        let played_on = resignation.played_on;
        let resigns = resignation.false_positives > 0.0;
        let possible = (0.0..=1.0).contains(&played_on) && (!resigns || played_on > 0.0);
        let expected = "a number above 0 and up to 1, for resignations to be checked";
        require(possible, "resignation.played_on", played_on, expected)
    }
}

/// The most evaluations that a worker may remember: some 4 GB.
const MOST_REMEMBERED: u32 = 1 << 24;

fn share(key: &'static str, value: f32) -> Result<(), SettingsError> {
    require((0.0..=1.0).contains(&value), key, value, "a number from 0 to 1")
}
