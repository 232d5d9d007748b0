//! What can be set of an engine.

use thiserror::Error;

use crate::front_ends::thinking::Rule;
use crate::nearest::nearest;

/// The options, as they are set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How a search chooses.
    pub search: Rule,
    /// Threads that evaluate positions.
    pub threads: usize,
    /// The most nodes of a tree.
    pub nodes: u32,
    /// Lines that are told.
    pub lines: usize,
    /// Whether a search goes on with the tree of the one before.
    pub reuse: bool,
    /// Where setups, ties and lots come from.
    pub seed: u64,
}

/// An option that cannot be set so.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionError {
    /// There is none with this name.
    #[error("unknown option `{name}`{hint}: expected one of {known}", known = NAMES.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// A hint, or nothing.
        hint: String,
    },
    /// The value does not fit.
    #[error("option {name} is `{value}`, expected {expected}")]
    Value {
        /// The option.
        name: &'static str,
        /// The value.
        value: String,
        /// What would be right.
        expected: String,
    },
}

const NAMES: [&str; 6] = ["search", "threads", "nodes", "lines", "reuse", "seed"];
const MOST_THREADS: u64 = 256;
/// Fewer would end a search before it has compared anything.
const FEWEST_NODES: u64 = 1000;
const MOST_NODES: u64 = 100_000_000;
const MOST_LINES: u64 = 500;

impl Options {
    /// The options of an engine that nobody has set.
    #[must_use]
    pub fn new(seed: u64) -> Options {
        Options { search: Rule::Auto, threads: 1, nodes: 1_000_000, lines: 1, reuse: true, seed }
    }

    /// A line for each option: its name, what it can be and what it is.
    #[must_use]
    pub fn list(&self) -> Vec<String> {
        let number = |name: &str, now: u64, least: u64, most: u64| {
            format!("option name {name} type number default {now} min {least} max {most}")
        };
        let rule = match self.search {
            Rule::Auto => "auto",
            Rule::Gumbel => "gumbel",
            Rule::Puct => "puct",
        };
        vec![
            format!("option name search type choice default {rule} of auto puct gumbel"),
            number("threads", self.threads as u64, 1, MOST_THREADS),
            number("nodes", self.nodes.into(), FEWEST_NODES, MOST_NODES),
            number("lines", self.lines as u64, 1, MOST_LINES),
            format!("option name reuse type choice default {} of true false", self.reuse),
            number("seed", self.seed, 0, u64::MAX),
        ]
    }

    /// Sets an option.
    ///
    /// # Errors
    /// An unknown name or a value out of its range; nothing is changed then.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let refuse = |name: &'static str, expected: &str| OptionError::Value {
            name,
            value: value.chars().take(40).collect(),
            expected: expected.into(),
        };
        let number = |name: &'static str, least: u64, most: u64| {
            let number = value.parse().ok().filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| refuse(name, &format!("a whole number from {least} to {most}")))
        };
        match name {
            "search" => {
                self.search = match value {
                    "auto" => Rule::Auto,
                    "gumbel" => Rule::Gumbel,
                    "puct" => Rule::Puct,
                    _ => return Err(refuse("search", "auto, puct or gumbel")),
                }
            }
            "threads" => self.threads = number("threads", 1, MOST_THREADS)? as usize,
            "nodes" => self.nodes = number("nodes", FEWEST_NODES, MOST_NODES)? as u32,
            "lines" => self.lines = number("lines", 1, MOST_LINES)? as usize,
            "reuse" => {
                self.reuse = value.parse().map_err(|_| refuse("reuse", "true or false"))?;
            }
            "seed" => self.seed = number("seed", 0, u64::MAX)?,
            _ => {
                let hint = nearest(name, &NAMES);
                let hint = hint.map_or(String::new(), |best| format!(" (did you mean `{best}`?)"));
                return Err(OptionError::Unknown { name: name.chars().take(40).collect(), hint });
            }
        }
        Ok(())
    }
}
