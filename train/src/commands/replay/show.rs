//! `cyvasse replay show`.

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use cyvasse_env::{Action, Position, Side};
use cyvasse_selfplay::replay::Shard;
use cyvasse_selfplay::{GameRecord, MoverOutcome, PlyKind, PlyRecord};

use super::shards::{find, name_of};
use crate::commands::rules::answers::{Output, is_closed_pipe};
use crate::front_ends::board::{draw, wants_colour};
use crate::replay::GameLine;

/// Actions of a policy target that a line of the list has room for.
const LISTED: usize = 4;

const KEYS: &str = "Enter: next ply, b: back, a number: that ply, q: quit";

/// Arguments of `cyvasse replay show`.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct ShowArguments {
    /// A shard, or a run directory, whose newest shard is meant
    #[arg(value_name = "RUN|SHARD")]
    path: PathBuf,
    /// The shard of this round of the run
    #[arg(long, value_name = "R")]
    round: Option<u32>,
    /// The game, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    game: usize,
    /// Draw the board before this ply, from 0, with all targets; the number of plies for the end
    #[arg(long, value_name = "P", conflicts_with = "json")]
    ply: Option<usize>,
    /// Step through the game with the keyboard: Enter for the next ply, b to go back, a number to
    /// go there, q to quit
    #[arg(long, conflicts_with = "json")]
    step: bool,
    /// Print the game with its targets as JSON
    #[arg(long)]
    json: bool,
    /// The rules that the games must be by [default: the run's; of single shards their own]
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
}

/// A game, and the positions that it went through.
struct Shown {
    shard: Shard,
    number: usize,
    game: GameRecord,
    positions: Vec<Position>,
}

impl ShowArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.show() {
            Err(error) if is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
            result => result.map(|()| ExitCode::SUCCESS),
        }
    }

    fn show(&self) -> anyhow::Result<()> {
        let shown = self.find()?;
        let mut output = Output::new();
        if self.json {
            let fingerprint = shown.shard.header().rules.fingerprint();
            let name = name_of(&shown.shard);
            let line = GameLine::new(&name, shown.number, fingerprint, &shown.game, true);
            output.line(&serde_json::to_string(&line)?)?;
            return output.flush();
        }
        output.line(&shown.head())?;
        if let Some(ply) = self.ply {
            let last = shown.game.plies.len();
            ensure!(ply <= last, "--ply is {ply}, expected 0 to {last}");
        }
        if self.step {
            return shown.step(self.ply.unwrap_or(0), &mut output);
        }
        match self.ply {
            Some(ply) => output.line(&shown.board(ply))?,
            None => {
                (0..shown.game.plies.len()).try_for_each(|ply| output.line(&shown.list(ply)))?
            }
        }
        output.flush()
    }

    fn find(&self) -> anyhow::Result<Shown> {
        let shards = find(std::slice::from_ref(&self.path), self.rules.as_deref())?;
        let path = match self.round {
            Some(round) => self.path.join(format!("shards/round-{round:04}.h5")),
            None => shards.files.last().context("there is no shard")?.clone(),
        };
        let shard = shards.open(&path)?;
        let (number, count) = (self.game, shard.game_count());
        ensure!(number < count, "--game is {number}, expected 0 to {}", count - 1);
        let game = shard.game(number)?;
        let positions = positions(&game);
        Ok(Shown { shard, number, game, positions })
    }
}

/// The positions before each ply, and that at the end.
fn positions(game: &GameRecord) -> Vec<Position> {
    let mut position = Position::start(&game.setups[0], &game.setups[1]);
    let mut positions = vec![position.clone()];
    for ply in &game.plies {
        position.play_unchecked(ply.action);
        positions.push(position.clone());
    }
    positions
}

impl Shown {
    fn head(&self) -> String {
        let Shown { shard, number, game, .. } = self;
        let [white, black] = game.setups;
        let [of_white, of_black] = game.sources.map(|source| source.name());
        let end = if game.resigned { " (by resignation)" } else { "" };
        format!(
            "{}, game {number} of {} (game {} of slot {})\nwhite: {white} ({of_white})\n\
             black: {black} ({of_black})\n{}{end}, {} plies",
            shard.path().display(),
            shard.game_count(),
            game.id.sequence,
            game.id.slot,
            game.outcome,
            game.plies.len()
        )
    }

    /// A ply in one line.
    fn list(&self, ply: usize) -> String {
        let record = &self.game.plies[ply];
        let turn = if Side::ALL[ply % 2] == Side::White { 'w' } else { 'b' };
        let action = record.action.to_string();
        let mut line = format!("{ply:4} {turn}  {action:10} {}", searched(record));
        let policy = by_share(record);
        let listed: Vec<String> = policy.iter().take(LISTED).map(share).collect();
        if !listed.is_empty() {
            let more = if policy.len() > LISTED { ", ..." } else { "" };
            line += &format!("; target {}{more}", listed.join(", "));
        }
        line
    }

    /// The board before a ply, and what the search found there.
    fn board(&self, ply: usize) -> String {
        let position = &self.positions[ply];
        let rules = &self.shard.header().rules;
        let board = draw(position, rules, wants_colour());
        let last = self.game.plies.len();
        let Some(record) = self.game.plies.get(ply) else {
            return format!("after the last ply: {position}\n{board}");
        };
        let played = format!("played: {}, {}", record.action, searched(record));
        let targets: Vec<String> = by_share(record).iter().map(share).collect();
        let targets =
            if targets.is_empty() { "none".into() } else { targets.join("\n               ") };
        format!(
            "before ply {ply} of {last}: {position}\n{board}\n{played}\npolicy target: {targets}\n\
             result for {}: {:+.0}",
            position.turn(),
            MoverOutcome::of(self.game.outcome, position.turn()).value().get()
        )
    }

    /// Steps through the game as the lines of standard input say.
    fn step(&self, from: usize, output: &mut Output) -> anyhow::Result<()> {
        let last = self.game.plies.len();
        let mut ply = from;
        output.line(&self.board(ply))?;
        output.line(KEYS)?;
        output.flush()?;
        for line in io::stdin().lock().lines() {
            let line = line.context("cannot read standard input")?;
            let told = match line.trim() {
                "q" => break,
                "" if ply < last => Ok(ply + 1),
                "" => Err("this is the end of the game"),
                "b" => ply.checked_sub(1).ok_or("this is the start of the game"),
                number => match number.parse() {
                    Ok(number) if number <= last => Ok(number),
                    _ => Err("there is no such ply"),
                },
            };
            match told {
                Ok(next) => {
                    ply = next;
                    output.line(&self.board(ply))?;
                }
                Err(problem) => output.line(&format!("{problem}; {KEYS}"))?,
            }
            output.flush()?;
        }
        Ok(())
    }
}

fn searched(ply: &PlyRecord) -> String {
    if ply.kind == PlyKind::Opening {
        return "by lot".into();
    }
    let proven = if ply.proven { " proven" } else { "" };
    let kind = if ply.kind == PlyKind::Cheap { "cheap search" } else { "search" };
    let value = ply.root_value.get();
    let PlyRecord { simulations, network_step, .. } = ply;
    format!(
        "{kind} says {value:+.3}{proven} ({simulations} simulations, network step {network_step})"
    )
}

/// The policy target, the greatest share first.
fn by_share(ply: &PlyRecord) -> Vec<(Action, f32)> {
    let mut policy = ply.policy.clone();
    policy.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    policy
}

fn share(&(action, share): &(Action, f32)) -> String {
    format!("{action} {share:.3}")
}
