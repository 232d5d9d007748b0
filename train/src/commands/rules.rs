//! `cyvasse rules`: the rules from the command line, for people and for
//! programs that check their rules against ours.
//!
//! What is printed here is an interface: other programs read it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, value_parser};
use cyvasse_env::{Action, Position, Rules, Setup, SetupSpace};
use cyvasse_env::{perft, perft_divide};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub(super) mod answers;

use crate::front_ends::board::{draw, wants_colour};

use answers::{Output, answer, answer_lines, verdict};

const EXAMPLES: &str = "\
Positions, setups and actions are texts. A position or a setup is one argument: put it in quotes.
With `-` in its place one is read from each line of standard input, and each line gets one answer;
what is wrong with a line is its answer, `error: ...`, and then the exit code is 1 in the end.

Examples:
  cyvasse rules sample-setups --count 2 --seed 7
  cyvasse rules check-setup \"3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE\"
  cyvasse rules start \"3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE\" \\
                      \"w3fw1f/2m3m1/mwfmmc1f/f2fwm1w R4E2/3C1D2/1T4H1/L1XS3K\"
  cyvasse rules show \"8/8/8/4w3/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w e5 0 12\"
  cyvasse rules actions \"8/8/8/8/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w - 0 12\"
  cyvasse rules apply \"8/8/8/8/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w - 0 12\" e5e6 d8e7
  cyvasse rules perft --depth 3 \"8/8/8/8/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w - 0 12\"
  cyvasse rules perft --depth 3 - < positions.txt";

/// The deepest perft: more than anybody can wait for, and little enough for
/// the stack.
const DEEPEST: i64 = 1000;

const UNQUOTED: &str = "a position or a setup is one argument: put it in quotes";

/// The rules commands.
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(super) enum Command {
    /// Count the action sequences of a length
    Perft(PerftArguments),
    /// List the legal actions in ascending order
    Actions(ActionsArguments),
    /// Play actions and print the position after them
    Apply(ApplyArguments),
    /// Draw legal setups at random, all equally likely
    SampleSetups(SampleSetupsArguments),
    /// Say `ok` to a legal setup and give the reason against any other
    CheckSetup(CheckSetupArguments),
    /// Print the position that a game with two setups starts from
    Start(StartArguments),
    /// Draw the board for a person
    Show(ShowArguments),
}

/// What `cyvasse rules perft` is given.
#[derive(Debug, Args)]
pub(super) struct PerftArguments {
    /// How many actions a sequence has, 0 to 1000, such as `--depth 3`
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(0..=DEEPEST))]
    depth: u32,
    /// Count by first action: lines `e2e4 31` and `total 620`, with `-` one line `e2e4=31 total=620`
    #[arg(long)]
    divide: bool,
    #[command(flatten)]
    rules: RulesArgument,
    #[command(flatten)]
    position: PositionArgument,
}

/// What `cyvasse rules actions` is given.
#[derive(Debug, Args)]
pub(super) struct ActionsArguments {
    #[command(flatten)]
    rules: RulesArgument,
    #[command(flatten)]
    position: PositionArgument,
}

/// What `cyvasse rules apply` is given.
#[derive(Debug, Args)]
pub(super) struct ApplyArguments {
    #[command(flatten)]
    rules: RulesArgument,
    /// In quotes: "8/8/8/8/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w - 0 12"; or `-` for lines of a
    /// position, a tab and actions
    position: String,
    /// What is played: e5e6 (a move), e5xd5 (a shot), e5e6@e5 (an assault) or pass
    #[arg(value_name = "ACTION")]
    actions: Vec<String>,
}

/// What `cyvasse rules sample-setups` is given.
#[derive(Debug, Args)]
pub(super) struct SampleSetupsArguments {
    /// How many, such as `--count 10`; they are printed one a line
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    /// Any number, such as `--seed 7`: the same seed gives the same setups on every machine
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    rules: RulesArgument,
}

/// What `cyvasse rules check-setup` is given.
#[derive(Debug, Args)]
pub(super) struct CheckSetupArguments {
    #[command(flatten)]
    rules: RulesArgument,
    /// In quotes: "3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE"; or `-` for one a line
    setup: String,
    #[command(flatten)]
    rest: Unquoted,
}

/// What `cyvasse rules start` is given.
#[derive(Debug, Args)]
pub(super) struct StartArguments {
    #[command(flatten)]
    rules: RulesArgument,
    /// In quotes: "3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE"; or `-` for lines of white's
    /// setup, a tab and black's
    #[arg(value_name = "WHITE SETUP")]
    white: String,
    /// The same for black, as black sees it: the front rank first
    #[arg(value_name = "BLACK SETUP")]
    black: Option<String>,
    #[command(flatten)]
    rest: Unquoted,
}

/// What `cyvasse rules show` is given.
#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    #[command(flatten)]
    rules: RulesArgument,
    #[command(flatten)]
    position: PositionArgument,
}

/// The rules of a command.
#[derive(Debug, Args)]
pub(super) struct RulesArgument {
    /// The rules to go by, such as `--rules my-rules.toml`; left out, those of iron-throne.toml
    #[arg(long = "rules", value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct PositionArgument {
    /// In quotes: "8/8/8/8/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w - 0 12"; or `-` for one a line
    #[arg(value_name = "POSITION")]
    text: String,
    #[command(flatten)]
    rest: Unquoted,
}

/// There to tell whoever forgot the quotes what is wrong.
#[derive(Debug, Args)]
struct Unquoted {
    #[arg(hide = true, value_name = "UNQUOTED", value_parser = refuse_unquoted)]
    unquoted: Vec<String>,
}

fn refuse_unquoted(_: &str) -> Result<String, &'static str> {
    Err(UNQUOTED)
}

pub(super) fn run(command: Command) -> anyhow::Result<ExitCode> {
    let result = match command {
        Command::Perft(arguments) => arguments.run(),
        Command::Actions(arguments) => arguments.run(),
        Command::Apply(arguments) => arguments.run(),
        Command::SampleSetups(arguments) => arguments.run(),
        Command::CheckSetup(arguments) => arguments.run(),
        Command::Start(arguments) => arguments.run(),
        Command::Show(arguments) => arguments.run(),
    };
    match result {
        // Whoever read the answers has enough of them, as in `... | head`.
        Err(error) if answers::is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
        result => result,
    }
}

impl PerftArguments {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        answer(&self.position.text, |text| {
            let position = Position::parse(text, &rules)?;
            Ok(match (self.divide, self.position.text.as_str()) {
                (false, _) => perft(&position, &rules, self.depth).to_string(),
                (true, "-") => divide(&position, &rules, self.depth, '=', " "),
                (true, _) => divide(&position, &rules, self.depth, ' ', "\n"),
            })
        })
    }
}

/// The count for each first action and in total; `is` stands between a name and
/// its count, `then` between two counts.
fn divide(position: &Position, rules: &Rules, depth: u32, is: char, then: &str) -> String {
    let counts = perft_divide(position, rules, depth);
    // The one sequence without actions has no first action.
    let total = if depth == 0 { 1 } else { counts.iter().map(|(_, count)| count).sum::<u64>() };
    let counts = counts.into_iter().map(|(action, count)| (action.to_string(), count));
    let counts = counts.chain([("total".to_owned(), total)]);
    counts.map(|(name, count)| format!("{name}{is}{count}")).collect::<Vec<_>>().join(then)
}

impl ActionsArguments {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        answer(&self.position.text, |text| {
            let mut actions = Vec::new();
            Position::parse(text, &rules)?.legal_actions(&rules, &mut actions);
            let mut texts: Vec<String> = actions.iter().map(Action::to_string).collect();
            texts.sort_unstable();
            Ok(texts.join(" "))
        })
    }
}

impl ApplyArguments {
    fn run(&self) -> anyhow::Result<ExitCode> {
        if self.position == "-" && !self.actions.is_empty() {
            return Ok(usage_error("with `-` each line has its own actions, after a tab"));
        }
        if self.actions.iter().any(|action| action.contains('/')) {
            return Ok(usage_error(UNQUOTED));
        }
        let rules = self.rules.load()?;
        answer(&self.position, |text| {
            let (position, actions) = match self.position.as_str() {
                "-" => text.split_once('\t').unwrap_or((text, "")),
                _ => (text, ""),
            };
            let actions = self.actions.iter().map(String::as_str).chain([actions]);
            let actions = actions.flat_map(str::split_ascii_whitespace);
            let mut position = Position::parse(position, &rules)?;
            for (index, action) in actions.enumerate() {
                let number = || format!("action {}", index + 1);
                let action = Action::parse(action).with_context(number)?;
                position = position.play(action, &rules).with_context(number)?;
            }
            Ok(position.to_string())
        })
    }
}

impl SampleSetupsArguments {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let space = SetupSpace::new(&self.rules.load()?);
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut output = Output::new();
        for _ in 0..self.count {
            output.line(&space.sample(&mut rng).to_string())?;
        }
        output.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

impl CheckSetupArguments {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        // A refusal is what was asked for: it goes where `ok` would.
        verdict(&self.setup, |text| {
            Setup::parse(text, &rules)?;
            Ok("ok".to_owned())
        })
    }
}

impl StartArguments {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let setups = match (self.white.as_str(), self.black.as_deref()) {
            ("-", None) => "-".to_owned(),
            ("-", Some(_)) => {
                return Ok(usage_error("with `-` each line has black's setup too, after a tab"));
            }
            (_, None) => return Ok(usage_error("black's setup is missing")),
            // As on a line; a tab of the user's own is refused in a setup.
            (white, Some(black)) => format!("{white}\t{black}"),
        };
        let rules = self.rules.load()?;
        answer(&setups, |text| {
            let (white, black) =
                text.split_once('\t').context("expected white's setup, a tab and black's setup")?;
            let white = Setup::parse(white, &rules).context("white's setup")?;
            let black = Setup::parse(black, &rules).context("black's setup")?;
            Ok(Position::start(&white, &black).to_string())
        })
    }
}

impl ShowArguments {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        let colour = wants_colour();
        let drawn = |text: &str| Ok(draw(&Position::parse(text, &rules)?, &rules, colour));
        match self.position.text.as_str() {
            "-" => answer_lines("\n", drawn),
            text => answer(text, drawn),
        }
    }
}

impl RulesArgument {
    pub(super) fn load(&self) -> anyhow::Result<Rules> {
        let Some(path) = &self.file else { return Ok(Rules::iron_throne()) };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the rules file `{}`", path.display()))?;
        Rules::from_toml(&text).with_context(|| format!("the rules file `{}`", path.display()))
    }
}

/// Refuses arguments for reasons that clap cannot be told of, as clap does.
fn usage_error(message: &str) -> ExitCode {
    eprintln!("error: {message}\n\nFor more information, try '--help'.");
    ExitCode::from(2)
}
