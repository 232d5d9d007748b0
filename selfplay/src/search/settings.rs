//! How a search is to be done.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How a search is to be done; part of a training config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchSettings {
    /// Simulations of a search: how often a path is walked down the tree.
    pub simulations: u32,
    /// The most nodes that a tree may hold; a search that gets there ends with
    /// what it has found.
    pub max_nodes: u32,
    /// How actions are chosen at the root and below it.
    pub policy: PolicySettings,
}

/// The rule by which actions are chosen, with its constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum PolicySettings {
    /// Gumbel AlphaZero (Danihelka, Guez, Schrittwieser and Silver 2022):
    /// sequential halving at the root, the improved policy as target.
    Gumbel(GumbelSettings),
    /// PUCT (Silver et al. 2017), visits as target.
    Puct(PuctSettings),
}

/// Constants of Gumbel AlphaZero, under the names of the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GumbelSettings {
    /// m: actions considered at the root (paper: 16).
    pub max_considered: u32,
    /// c_visit of the monotone map of values (paper, section 3.4: 50).
    pub c_visit: f32,
    /// c_scale of that map, for values scaled to 0..1 (paper: 1 for board
    /// games). With thousands of simulations a search needs less, 0.1 or so:
    /// the scale grows with visits until a node tries one action only, and the
    /// refutation of another is never seen.
    pub c_scale: f32,
    /// Factor of the Gumbel noise: 1 in self-play, 0 for the strongest play.
    pub noise: f32,
}

/// Constants of PUCT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PuctSettings {
    /// c_init of AlphaZero's exploration rate (1.25).
    pub c_init: f32,
    /// c_base of that rate, by which it grows with visits (19652).
    pub c_base: f32,
    /// First-play urgency: how much worse than its parent an unvisited action
    /// counts, times the root of the prior already visited (Leela Chess Zero).
    pub fpu_reduction: f32,
    /// Share of Dirichlet noise in the prior at the root (AlphaZero: 0.25; 0
    /// for the strongest play).
    pub noise_share: f32,
    /// Concentration of the noise times the number of actions (KataGo: 10.83).
    pub noise_concentration: f32,
    /// Temperature of the choice among visited actions in self-play.
    pub temperature: f32,
    /// Plies of a game after which the most visited action is chosen.
    pub temperature_plies: u16,
}

/// The most simulations of a search.
pub const MOST_SIMULATIONS: u32 = 10_000_000;

/// A number of search settings outside its range.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{key}` is {value}, expected {expected}")]
pub struct SettingsError {
    /// The key, such as `policy.c_visit`.
    pub key: &'static str,
    /// What it is.
    pub value: String,
    /// What would be right.
    pub expected: &'static str,
}

pub(crate) fn require(
    holds: bool,
    key: &'static str,
    value: impl ToString,
    expected: &'static str,
) -> Result<(), SettingsError> {
    if holds {
        return Ok(());
    }
    Err(SettingsError { key, value: value.to_string(), expected })
}

fn not_negative(key: &'static str, value: f32) -> Result<(), SettingsError> {
    require((0.0..=1e6).contains(&value), key, value, "a number from 0 to a million")
}

impl SearchSettings {
    /// Checks that every number is within its range.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let simulations = self.simulations;
        let possible = (1..=MOST_SIMULATIONS).contains(&simulations);
        require(possible, "simulations", simulations, "from 1 to 10 million")?;
        require(self.max_nodes >= 2, "max_nodes", self.max_nodes, "2 or more")?;
        self.policy.validate()
    }
}

impl SearchSettings {
    /// The same settings for the strongest play: without noise at the root.
    #[must_use]
    pub fn without_noise(&self) -> SearchSettings {
        let mut settings = self.clone();
        match &mut settings.policy {
            PolicySettings::Gumbel(gumbel) => gumbel.noise = 0.0,
            PolicySettings::Puct(puct) => puct.noise_share = 0.0,
        }
        settings
    }
}

impl PolicySettings {
    /// Checks that every number is within its range.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn validate(&self) -> Result<(), SettingsError> {
        match self {
            PolicySettings::Gumbel(settings) => settings.validate(),
            PolicySettings::Puct(settings) => settings.validate(),
        }
    }
}

impl GumbelSettings {
    fn validate(&self) -> Result<(), SettingsError> {
        let considered = self.max_considered;
        require(considered >= 1, "policy.max_considered", considered, "1 or more")?;
        not_negative("policy.c_visit", self.c_visit)?;
        not_negative("policy.c_scale", self.c_scale)?;
        not_negative("policy.noise", self.noise)
    }
}

impl PuctSettings {
    fn validate(&self) -> Result<(), SettingsError> {
        not_negative("policy.c_init", self.c_init)?;
        require(self.c_base >= 1.0, "policy.c_base", self.c_base, "1 or more")?;
        not_negative("policy.fpu_reduction", self.fpu_reduction)?;
        let share = self.noise_share;
        require((0.0..=1.0).contains(&share), "policy.noise_share", share, "a number from 0 to 1")?;
        let concentration = self.noise_concentration;
        let positive = concentration > 0.0 && concentration <= 1e6;
        require(positive, "policy.noise_concentration", concentration, "a number above 0")?;
        not_negative("policy.temperature", self.temperature)
    }
}
