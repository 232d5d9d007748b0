//! What may be said to the engine: `docs/protocol.md`.
//!
//! A line is read for its form only; whether a position is one and an option
//! exists is found out when it is obeyed.

use std::fmt;
use std::time::Duration;

use cyvasse_env::Side;
use cyvasse_selfplay::search::MOST_SIMULATIONS;
use thiserror::Error;

use crate::nearest::nearest;

/// A line that asks for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `cvp`: who are you, and what can be set?
    Hello,
    /// `isready`
    IsReady,
    /// `newgame`, perhaps with a rules file.
    NewGame {
        /// The file.
        rules: Option<String>,
    },
    /// `setup white` or `setup black`
    Setup(Side),
    /// `setoption name NAME value VALUE`
    SetOption {
        /// The option.
        name: String,
        /// What it is to be.
        value: String,
    },
    /// `position ...`
    Position {
        /// Where the game began.
        start: Start,
        /// What was played since.
        actions: Vec<String>,
    },
    /// `go ...`
    Go(Go),
    /// `stop`
    Stop,
    /// `show`
    Show,
    /// `quit`
    Quit,
}

/// Where a game began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// At a position in its text form.
    Position(String),
    /// With white's setup and black's in their text form.
    Setups([String; 2]),
}

/// How long to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// Until one of the two limits is reached, of which there is one at least.
    Limited {
        /// Simulations.
        simulations: Option<u32>,
        /// Time.
        time: Option<Duration>,
    },
    /// Until `stop`.
    Infinite,
}

/// A line that asks for nothing known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// Its first word means nothing.
    #[error("unknown command `{word}`{hint}: expected one of {known}", known = COMMANDS.join(", "))]
    Unknown {
        /// The word.
        word: String,
        /// A hint, or nothing.
        hint: String,
    },
    /// The rest does not fit the first word.
    #[error("{command}: expected `{expected}`")]
    Form {
        /// The first word.
        command: &'static str,
        /// The form.
        expected: &'static str,
    },
    /// A number that is none, or out of its range.
    #[error("go: `{key}` is `{value}`, expected a whole number from 1 to {most}")]
    Number {
        /// What it is for.
        key: &'static str,
        /// The text.
        value: String,
        /// The greatest number.
        most: u32,
    },
}

const COMMANDS: [&str; 10] =
    ["cvp", "isready", "newgame", "setup", "setoption", "position", "go", "stop", "show", "quit"];

/// The longest time that may be given, in milliseconds: a month.
const MOST_TIME: u32 = 31 * 24 * 3_600_000;

impl Command {
    /// Reads a line; `None` for one that says nothing.
    ///
    /// # Errors
    /// A line that asks for nothing known.
    pub fn parse(line: &str) -> Result<Option<Command>, CommandError> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let Some((&first, rest)) = words.split_first() else { return Ok(None) };
        let bare = |command: Command, name: &'static str| match rest {
            [] => Ok(command),
            _ => Err(CommandError::Form { command: name, expected: name }),
        };
        let command = match first {
            "cvp" => bare(Command::Hello, "cvp")?,
            "isready" => bare(Command::IsReady, "isready")?,
            "newgame" => new_game(rest)?,
            "setup" => setup(rest)?,
            "setoption" => set_option(rest)?,
            "position" => position(rest)?,
            "go" => Command::Go(go(rest)?),
            "stop" => bare(Command::Stop, "stop")?,
            "show" => bare(Command::Show, "show")?,
            "quit" => bare(Command::Quit, "quit")?,
            word => {
                let hint = nearest(word, &COMMANDS);
                let hint = hint.map_or(String::new(), |best| format!(" (did you mean `{best}`?)"));
                return Err(CommandError::Unknown { word: word.chars().take(40).collect(), hint });
            }
        };
        Ok(Some(command))
    }
}

fn new_game(rest: &[&str]) -> Result<Command, CommandError> {
    match rest {
        [] => Ok(Command::NewGame { rules: None }),
        ["rules", file @ ..] if !file.is_empty() => {
            Ok(Command::NewGame { rules: Some(file.join(" ")) })
        }
        _ => Err(CommandError::Form { command: "newgame", expected: "newgame [rules FILE]" }),
    }
}

fn setup(rest: &[&str]) -> Result<Command, CommandError> {
    match rest {
        ["white"] => Ok(Command::Setup(Side::White)),
        ["black"] => Ok(Command::Setup(Side::Black)),
        _ => Err(CommandError::Form { command: "setup", expected: "setup white|black" }),
    }
}

fn set_option(rest: &[&str]) -> Result<Command, CommandError> {
    match rest {
        ["name", name, "value", value] => {
            Ok(Command::SetOption { name: (*name).into(), value: (*value).into() })
        }
        _ => Err(CommandError::Form {
            command: "setoption",
            expected: "setoption name NAME value VALUE",
        }),
    }
}

fn position(rest: &[&str]) -> Result<Command, CommandError> {
    let refuse = || CommandError::Form {
        command: "position",
        expected: "position text SIX FIELDS [actions ACTION ...]` or `position setups WHITE TILES WHITE UNITS BLACK TILES BLACK UNITS [actions ACTION ...]",
    };
    let (start, rest) = match rest {
        ["text", fields @ ..] if fields.len() >= 6 => {
            (Start::Position(fields[..6].join(" ")), &fields[6..])
        }
        ["setups", fields @ ..] if fields.len() >= 4 => {
            (Start::Setups([fields[..2].join(" "), fields[2..4].join(" ")]), &fields[4..])
        }
        _ => return Err(refuse()),
    };
    let actions = match rest {
        [] => Vec::new(),
        ["actions", actions @ ..] => actions.iter().map(|&action| action.to_owned()).collect(),
        _ => return Err(refuse()),
    };
    Ok(Command::Position { start, actions })
}

fn go(rest: &[&str]) -> Result<Go, CommandError> {
    let refuse = || CommandError::Form {
        command: "go",
        expected: "go [simulations N] [time MS]` with one of them at least, or `go infinite",
    };
    if rest == ["infinite"] {
        return Ok(Go::Infinite);
    }
    let (mut simulations, mut time) = (None, None);
    for pair in rest.chunks(2) {
        match *pair {
            ["simulations", value] if simulations.is_none() => {
                simulations = Some(number("simulations", value, MOST_SIMULATIONS)?);
            }
            ["time", value] if time.is_none() => {
                time = Some(Duration::from_millis(number("time", value, MOST_TIME)?.into()));
            }
            _ => return Err(refuse()),
        }
    }
    if simulations.is_none() && time.is_none() {
        return Err(refuse());
    }
    Ok(Go::Limited { simulations, time })
}

fn number(key: &'static str, value: &str, most: u32) -> Result<u32, CommandError> {
    let number = value.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| CommandError::Number {
        key,
        value: value.chars().take(40).collect(),
        most,
    })
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Hello => f.write_str("cvp"),
            Command::IsReady => f.write_str("isready"),
            Command::NewGame { rules: None } => f.write_str("newgame"),
            Command::NewGame { rules: Some(file) } => write!(f, "newgame rules {file}"),
            Command::Setup(seat) => write!(f, "setup {seat}"),
            Command::SetOption { name, value } => write!(f, "setoption name {name} value {value}"),
            Command::Position { start, actions } => {
                match start {
                    Start::Position(text) => write!(f, "position text {text}")?,
                    Start::Setups([white, black]) => {
                        write!(f, "position setups {white} {black}")?;
                    }
                }
                match actions.is_empty() {
                    true => Ok(()),
                    false => write!(f, " actions {}", actions.join(" ")),
                }
            }
            Command::Go(Go::Infinite) => f.write_str("go infinite"),
            Command::Go(Go::Limited { simulations, time }) => {
                f.write_str("go")?;
                if let Some(simulations) = simulations {
                    write!(f, " simulations {simulations}")?;
                }
                time.map_or(Ok(()), |time| write!(f, " time {}", time.as_millis()))
            }
            Command::Stop => f.write_str("stop"),
            Command::Show => f.write_str("show"),
            Command::Quit => f.write_str("quit"),
        }
    }
}
