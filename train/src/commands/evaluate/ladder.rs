//! `cyvasse evaluate ladder`.

use std::fmt::{self, Write};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, ensure};
use clap::ValueEnum;
use cyvasse_selfplay::search::MOST_SIMULATIONS;

use super::Machine;
use crate::commands::rules::answers::tell;
use crate::commands::signal::{INTERRUPTED, stop_flag};
use crate::config::read_rules;
use crate::evaluation::{
    AgentSearch, Contender, Ladder, LadderPlan, LadderReport, PlayerKind, PlayerSpec, SetupChoice,
    pinned,
};
use crate::pipeline::{LADDER_FILE, Reporter, checkpoint_of, checkpoints_of};

/// What `cyvasse evaluate ladder` is given.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct LadderArguments {
    /// The run directory; results are kept there, in evaluation/ladder.jsonl
    run: PathBuf,
    /// Take every K-th checkpoint, and the newest
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Simulations of the checkpoints' search
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_SIMULATIONS)))]
    simulations: u32,
    /// Where the checkpoints take their homelands from; left out, `own` for one that has a setup
    /// network and `uniform` for one that has none
    #[arg(long, value_enum, value_name = "SETUPS")]
    setups: Option<CheckpointSetups>,
    /// Another player in the pool, beside random, which is the anchor; may be given several
    /// times, the weakest first [default: greedy, alphabeta:depth=1, =2 and =3]
    #[arg(long = "baseline", value_name = "PLAYER")]
    baselines: Vec<PlayerSpec>,
    /// Games that each player is to have played; those it has already count
    #[arg(long, value_name = "N", default_value_t = 200)]
    games: u64,
    /// Any number: the seed of games still to be played
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: Machine,
}

/// Where checkpoints take their homelands from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CheckpointSetups {
    /// Their setup networks: play and setups are rated together
    Own,
    /// Any setup, each as likely as the others: play alone is rated
    Uniform,
}

/// Pairs between two looks at the ratings.
const BATCH: u64 = 10;

impl LadderArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        ensure!(
            self.games.is_multiple_of(2) && (2..=1_000_000).contains(&self.games),
            "--games is {}, expected an even number from 2 to 1000000",
            self.games
        );
        let rules = Arc::new(read_rules(&self.run.join("rules.toml")).context("no run directory")?);
        let contenders = self.contenders()?;
        let plan = LadderPlan {
            contenders,
            pairs: self.games / 2,
            batch: BATCH,
            seed: self.seed,
            workers: self.machine.workers(),
            device: self.machine.device()?,
        };
        let mut ladder = Ladder::open(plan, rules, self.run.join(LADDER_FILE))?;
        if ladder.left_out() > 0 {
            let (lines, file) = (ladder.left_out(), self.run.join(LADDER_FILE));
            // A closed standard error is no reason not to play.
            let _ = writeln!(
                io::stderr(),
                "warning: {lines} results in {} were played under other rules or by another version of the program, and do not count",
                file.display()
            );
        }
        let stop = stop_flag()?;
        let reporter = Reporter::new();
        let all = ladder.missing();
        let mut stage = reporter.stage("ladder", all);
        ladder.play(&stop, |batch, missing| {
            let [first, second] = &batch.players;
            let share = 100.0 * batch.pairs.share();
            stage.update(all.saturating_sub(missing), &format!("{first} {share:.0}% {second}"));
        })?;
        stage.clear();
        let report = ladder.report();
        match self.json {
            true => tell(&(serde_json::to_string(&report)? + "\n"))?,
            false => tell(&in_words(&report)?)?,
        }
        let interrupted = stop.load(Ordering::Relaxed);
        Ok(if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
    }

    /// The anchor, the baselines, and the checkpoints from the oldest on.
    fn contenders(&self) -> anyhow::Result<Vec<Contender>> {
        let usual = || {
            ["greedy", "alphabeta:depth=1", "alphabeta:depth=2", "alphabeta:depth=3"]
                .map(str::parse)
        };
        let mut specs = vec!["random".parse()?];
        match self.baselines.as_slice() {
            [] => specs.extend(usual().into_iter().collect::<Result<Vec<PlayerSpec>, _>>()?),
            given => specs.extend_from_slice(given),
        }
        let mut contenders: Vec<Contender> = Vec::new();
        for spec in specs {
            // Results are kept by name: it has to say where setups come from,
            // and a run's newest checkpoint may be another one at the next call.
            let spec = pinned(&spec)?.settled();
            let name = spec.to_string();
            if contenders.iter().all(|other| other.name != name) {
                contenders.push(Contender { name, spec, round: None });
            }
        }
        let rounds = checkpoints_of(&self.run)?;
        ensure!(!rounds.is_empty(), "{} has no checkpoint", self.run.display());
        let newest = rounds.last().copied();
        let chosen =
            rounds.iter().filter(|&&round| round % self.every == 0 || Some(round) == newest);
        contenders.extend(chosen.map(|&round| self.checkpoint(round)));
        Ok(contenders)
    }

    fn checkpoint(&self, round: u32) -> Contender {
        let kind = |folder: &Path| PlayerKind::Agent {
            path: checkpoint_of(folder, round),
            search: AgentSearch::Gumbel(self.simulations),
        };
        let setups = match self.setups {
            Some(CheckpointSetups::Own) => SetupChoice::Own,
            Some(CheckpointSetups::Uniform) => SetupChoice::Uniform,
            None => SetupChoice::Usual,
        };
        let spec = PlayerSpec { kind: kind(&self.run), setups, errors: 0 }.settled();
        // The name stays right when the run directory is moved.
        let name = PlayerSpec { kind: kind(Path::new("")), ..spec.clone() };
        Contender { name: name.to_string(), spec, round: Some(round) }
    }
}

/// The ladder for a person, the strongest player first.
fn in_words(report: &LadderReport) -> Result<String, fmt::Error> {
    let mut text = String::new();
    let mut order: Vec<usize> = (0..report.players.len()).collect();
    order.sort_by(|&a, &b| report.players[b].elo.total_cmp(&report.players[a].elo));
    writeln!(text, "  #     Elo    95%  in pool  games   Nash  worth  player")?;
    for (number, &place) in order.iter().enumerate() {
        let player = &report.players[place];
        writeln!(
            text,
            "{:>3} {:>7.0} {:>6} {:>8} {:>6} {:>5.0}% {:>+5.0}%  {}",
            number + 1,
            player.elo,
            format!("±{:.0}", player.margin),
            format!("±{:.0}", player.margin_in_pool),
            2 * player.pairs,
            100.0 * player.nash_share,
            100.0 * player.nash_worth,
            player.name
        )?;
    }
    writeln!(
        text,
        "\nElo: random has 0; 95%: of the difference to it, in pool: to the mean of the pool."
    )?;
    writeln!(
        text,
        "Nash: share in the mixture that nobody beats; worth: points against it, less a half."
    )?;
    writeln!(text, "Points in percent of row against column:")?;
    write!(text, "    ")?;
    for number in 1..=order.len() {
        write!(text, "{number:>4}")?;
    }
    for (number, &row) in order.iter().enumerate() {
        write!(text, "\n{:>3} ", number + 1)?;
        for &column in &order {
            match report.shares[row][column] {
                Some(share) => write!(text, "{:>4.0}", 100.0 * share)?,
                None => write!(text, "   .")?,
            }
        }
    }
    writeln!(text)?;
    for surprise in &report.surprises {
        writeln!(
            text,
            "not explained by the ratings: {} scores {:.0}% against {}, expected {:.0}%",
            surprise.first,
            100.0 * surprise.share,
            surprise.second,
            100.0 * surprise.expected
        )?;
    }
    Ok(text)
}
