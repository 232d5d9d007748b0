//! Players named by a text, in one form wherever a player is asked for.
//!
//! ```text
//! random
//! greedy
//! alphabeta:depth=4            or nodes=20000, or ms=20
//! rollouts:simulations=400
//! agent:PATH?simulations=64    PATH: a run directory (its newest checkpoint),
//!                              a checkpoint directory or its file
//! agent:PATH?search=policy     the network's first choice, without a search
//! ```
//!
//! Every player has the option `setups`, too: where it takes its homelands from.
//!
//! ```text
//! setups=own        the setup network of an agent's checkpoint
//! setups=uniform    any setup, each as likely as the others
//! setups=FILE       one of those in the file, one a line, between comments (`#`)
//! ```
//!
//! And `errors=20`: in so many of a hundred turns it plays at random, for people who
//! want to win.
//!
//! An agent is all that its checkpoint holds: where that has a setup network,
//! `own` is what it does unless told otherwise, since a run that learns setups
//! learns its play for them, and whoever asks whether one checkpoint is better
//! than another means both. `setups=uniform` for both players measures play
//! alone, on the same starts. Players other than agents build uniformly unless
//! told otherwise.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use cyvasse_selfplay::players::alphabeta::{Limit, MOST_DEPTH};
use cyvasse_selfplay::search::MOST_SIMULATIONS;
use thiserror::Error;

use super::options::{Options, nearest};
use super::setups::SetupChoice;
use crate::checkpoints::{find_play_net, find_setup_net};

/// A player as its text form names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlayerSpec {
    /// How it chooses actions.
    pub kind: PlayerKind,
    /// Where it takes its homelands from.
    pub setups: SetupChoice,
    /// In how many of a hundred turns it plays at random, 0 to 100.
    pub errors: u8,
}

/// How a player chooses actions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PlayerKind {
    /// Any legal action.
    Random,
    /// The best capture.
    Greedy,
    /// Alpha-beta with a hand-written evaluation.
    AlphaBeta(Limit),
    /// Monte-Carlo tree search with random rollouts: so many a ply.
    Rollouts(u32),
    /// A trained network.
    Agent {
        /// A run directory, a checkpoint directory or a checkpoint's file.
        path: PathBuf,
        /// How it searches.
        search: AgentSearch,
    },
}

/// How an agent searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AgentSearch {
    /// Gumbel AlphaZero without noise: so many simulations a ply.
    Gumbel(u32),
    /// PUCT without noise: so many simulations a ply.
    Puct(u32),
    /// No search: the action that the network prefers.
    Policy,
}

/// A text that names no player.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// A kind that there is not.
    #[error(
        "unknown player `{kind}`{nearest}: expected random, greedy, alphabeta:depth=4, rollouts:simulations=400 or agent:PATH?simulations=64"
    )]
    UnknownKind {
        /// The kind.
        kind: String,
        /// A hint, or nothing.
        nearest: String,
    },
    /// An option that the kind does not have.
    #[error("{kind} has no option `{key}`{nearest}: it takes {known}")]
    UnknownOption {
        /// The kind.
        kind: &'static str,
        /// The option.
        key: String,
        /// What there is.
        known: String,
        /// A hint, or nothing.
        nearest: String,
    },
    /// Something that is no option.
    #[error("`{text}` is no option of {kind}: expected `key=value`, more of them after commas")]
    NoOption {
        /// The kind.
        kind: &'static str,
        /// What was found.
        text: String,
    },
    /// An option given twice.
    #[error("option `{key}` is there twice")]
    Twice {
        /// The option.
        key: String,
    },
    /// A value outside its range.
    #[error("`{key}` is `{value}`, expected {expected}")]
    Value {
        /// The option.
        key: &'static str,
        /// Its value.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// Something that has to be said is not.
    #[error("{kind} needs {needs}")]
    Missing {
        /// The kind.
        kind: &'static str,
        /// What it needs.
        needs: &'static str,
    },
}

/// Simulations of an agent that says nothing about them.
const SIMULATIONS: u32 = 64;

const KINDS: [&str; 5] = ["random", "greedy", "alphabeta", "rollouts", "agent"];

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, SpecError> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let unknown =
            || SpecError::UnknownKind { kind: name.into(), nearest: nearest(name, &KINDS) };
        let kind = KINDS.into_iter().find(|kind| *kind == name).ok_or_else(unknown)?;
        let (path, options) = match (kind, rest) {
            ("agent", Some(rest)) => match rest.rsplit_once('?') {
                Some((path, options)) => (path, Some(options)),
                None => (rest, None),
            },
            (_, rest) => ("", rest),
        };
        let mut options = Options::parse(kind, options)?;
        let setups = match options.text("setups") {
            None if kind == "agent" => SetupChoice::Usual,
            None | Some("uniform") => SetupChoice::Uniform,
            Some("own") if kind == "agent" => SetupChoice::Own,
            Some("own") => {
                return Err(SpecError::Value {
                    key: "setups",
                    value: "own".into(),
                    expected: format!("uniform or a file: {kind} has no setup network"),
                });
            }
            Some(file) => SetupChoice::File(file.into()),
        };
        let errors = options.count("errors", 100)?.map_or(0, |percent| percent as u8);
        let kind = match kind {
            "random" => PlayerKind::Random,
            "greedy" => PlayerKind::Greedy,
            "alphabeta" => PlayerKind::AlphaBeta(limit(&mut options)?),
            "rollouts" => {
                let missing = SpecError::Missing {
                    kind,
                    needs: "`simulations`, as in rollouts:simulations=400",
                };
                let simulations = options.count("simulations", u64::from(MOST_SIMULATIONS))?;
                PlayerKind::Rollouts(simulations.ok_or(missing)? as u32)
            }
            _ => agent(path, &mut options)?,
        };
        options.finish()?;
        Ok(PlayerSpec { kind, setups, errors })
    }
}

fn limit(options: &mut Options<'_>) -> Result<Limit, SpecError> {
    let depth = options.count("depth", MOST_DEPTH.into())?.map(|depth| Limit::Depth(depth as u32));
    let nodes = options.count("nodes", u64::MAX)?.map(Limit::Nodes);
    let time = options.count("ms", 3_600_000)?.map(|ms| Limit::Time(Duration::from_millis(ms)));
    match (depth, nodes, time) {
        (Some(limit), None, None) | (None, Some(limit), None) | (None, None, Some(limit)) => {
            Ok(limit)
        }
        _ => Err(SpecError::Missing {
            kind: "alphabeta",
            needs: "one of `depth`, `nodes` and `ms`, as in alphabeta:depth=4",
        }),
    }
}

fn agent(path: &str, options: &mut Options<'_>) -> Result<PlayerKind, SpecError> {
    if path.is_empty() {
        return Err(SpecError::Missing { kind: "agent", needs: "a path, as in agent:runs/quick" });
    }
    let simulations = options.count("simulations", u64::from(MOST_SIMULATIONS))?;
    let count = simulations.map_or(SIMULATIONS, |simulations| simulations as u32);
    let search = match options.text("search").unwrap_or("gumbel") {
        "gumbel" => AgentSearch::Gumbel(count),
        "puct" => AgentSearch::Puct(count),
        "policy" if simulations.is_none() => AgentSearch::Policy,
        "policy" => {
            return Err(SpecError::Value {
                key: "simulations",
                value: count.to_string(),
                expected: "none of them with `search=policy`".into(),
            });
        }
        other => {
            return Err(SpecError::Value {
                key: "search",
                value: other.into(),
                expected: format!(
                    "gumbel, puct or policy{}",
                    nearest(other, &["gumbel", "puct", "policy"])
                ),
            });
        }
    };
    Ok(PlayerKind::Agent { path: path.into(), search })
}

impl PlayerSpec {
    /// The same player with what [`SetupChoice::Usual`] comes to, for a name that
    /// says all.
    #[must_use]
    pub fn settled(&self) -> PlayerSpec {
        let learned = match &self.kind {
            PlayerKind::Agent { path, .. } => {
                find_play_net(path).and_then(|file| find_setup_net(&file))
            }
            _ => None,
        };
        let setups = match (&self.setups, learned) {
            (SetupChoice::Usual, Some(_)) => SetupChoice::Own,
            (SetupChoice::Usual, None) => SetupChoice::Uniform,
            (said, _) => said.clone(),
        };
        PlayerSpec { setups, ..self.clone() }
    }

    /// Whether what is played depends on the clock, and with it on the machine
    /// and its load.
    #[must_use]
    pub fn depends_on_time(&self) -> bool {
        matches!(self.kind, PlayerKind::AlphaBeta(Limit::Time(_)))
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = Vec::new();
        let (name, mark) = match &self.kind {
            PlayerKind::Random => ("random".into(), ':'),
            PlayerKind::Greedy => ("greedy".into(), ':'),
            PlayerKind::AlphaBeta(limit) => {
                options.push(match limit {
                    Limit::Depth(depth) => format!("depth={depth}"),
                    Limit::Nodes(nodes) => format!("nodes={nodes}"),
                    Limit::Time(time) => format!("ms={}", time.as_millis()),
                });
                ("alphabeta".into(), ':')
            }
            PlayerKind::Rollouts(simulations) => {
                options.push(format!("simulations={simulations}"));
                ("rollouts".into(), ':')
            }
            PlayerKind::Agent { path, search } => {
                match search {
                    AgentSearch::Gumbel(simulations) => {
                        options.push(format!("simulations={simulations}"))
                    }
                    AgentSearch::Puct(simulations) => {
                        options.push(format!("search=puct,simulations={simulations}"));
                    }
                    AgentSearch::Policy => options.push("search=policy".into()),
                }
                (format!("agent:{}", path.display()), '?')
            }
        };
        match &self.setups {
            SetupChoice::File(path) => options.push(format!("setups={}", path.display())),
            SetupChoice::Own => options.push("setups=own".into()),
            // What goes without saying for all but agents.
            SetupChoice::Uniform if mark == '?' => options.push("setups=uniform".into()),
            SetupChoice::Uniform | SetupChoice::Usual => {}
        }
        if self.errors > 0 {
            options.push(format!("errors={}", self.errors));
        }
        match options.is_empty() {
            true => f.write_str(&name),
            false => write!(f, "{name}{mark}{}", options.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<PlayerSpec>().unwrap_err().to_string()
    }

    #[test]
    fn reads_what_it_writes() {
        for text in [
            "random",
            "greedy:setups=mine.txt",
            "alphabeta:depth=4",
            "alphabeta:nodes=20000,setups=a/b.txt",
            "alphabeta:ms=20",
            "rollouts:simulations=400",
            "agent:runs/quick?simulations=64",
            "agent:C:/what?ever?search=puct,simulations=8",
            "agent:x.safetensors?search=policy",
            "agent:x?search=policy,setups=own",
            "agent:x?simulations=8,setups=uniform",
            "agent:x?simulations=8,setups=mine.txt",
            "agent:x?search=policy,setups=uniform,errors=20",
            "greedy:errors=100",
        ] {
            assert_eq!(text.parse::<PlayerSpec>().unwrap().to_string(), text);
        }
        let default = "agent:runs/quick".parse::<PlayerSpec>().unwrap();
        assert_eq!(default.to_string(), "agent:runs/quick?simulations=64");
        assert_eq!(default.setups, SetupChoice::Usual);
        let uniform = "greedy:setups=uniform".parse::<PlayerSpec>().unwrap();
        assert_eq!((uniform.to_string(), uniform), ("greedy".into(), "greedy".parse().unwrap()));
    }

    #[test]
    fn says_what_is_wrong_and_what_would_be_right() {
        assert!(error("alfabeta:depth=3").contains("did you mean `alphabeta`?"));
        assert!(error("").contains("unknown player ``: expected random"));
        assert!(error("alphabeta:dept=3").contains("one of `depth`"));
        assert!(error("alphabeta:depth=3,node=3").contains("did you mean `nodes`?"));
        assert!(error("alphabeta:depth=3,ms=3").contains("needs one of"));
        assert!(error("alphabeta:depth=0").contains("from 1 to 60"));
        assert!(error("alphabeta:depth").contains("expected `key=value`"));
        assert!(error("random:depth=1").contains("has no option `depth`"));
        assert!(error("greedy:setups=own").contains("greedy has no setup network"));
        assert!(error("greedy:errors=101").contains("from 1 to 100"));
        assert!(error("greedy:").contains("`` is no option"));
        assert!(error("rollouts").contains("needs `simulations`"));
        assert!(error("agent").contains("needs a path"));
        assert!(error("agent:x?search=pukt").contains("did you mean `puct`?"));
        assert!(error("agent:x?search=policy,simulations=3").contains("none of them"));
        assert!(error("agent:x?simulations=3,simulations=4").contains("twice"));
    }
}
