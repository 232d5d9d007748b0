//! `cyvasse evaluate setups`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use anyhow::{Context, ensure};
use clap::{Args, value_parser};
use cyvasse_env::Rules;
use cyvasse_models::{Net, NetEvaluator, Precision};
use cyvasse_selfplay::players::{Player, Searcher};
use cyvasse_selfplay::search::{GumbelSettings, PolicySettings, SearchSettings};
use rayon::ThreadPoolBuilder;
use serde_json::json;

use super::{Machine, PLAYERS, load_rules};
use crate::checkpoints::{find_checkpoint, load_play_net, load_setup_net};
use crate::commands::rules::answers::tell;
use crate::commands::signal::{INTERRUPTED, stop_flag};
use crate::evaluation::setup_quality::{
    HandMade, SetupEvaluation, SetupEvaluationPlan, SetupReport, Stopped,
};
use crate::evaluation::{Entrant, Pilots, PlayerSpec};
use crate::pipeline::Reporter;
use crate::setups::NetCritic;

/// Nodes of a search's tree: more than it has simulations.
const SPARE_NODES: u32 = 16;

const EXIT_CODES: &str = "\
Exit codes:
  0    no requirement is found not to be met; one that is open does not count: it was not
       looked at, or the games of best answers were too few to tell
  1    a requirement is not met, or the evaluation failed (with one line that says why)
  2    these arguments are not understood
  130  stopped by Ctrl-C; there is no report then";

/// Arguments of `cyvasse evaluate setups`.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXIT_CODES}\n\n{PLAYERS}"))]
pub(in crate::commands) struct SetupsArguments {
    /// The checkpoint whose setup network is measured, such as
    /// `--checkpoint runs/hour/checkpoints/round-0060`, of a run directory the newest; its play
    /// network is the pilot of both sides
    #[arg(long, value_name = "DIR")]
    checkpoint: PathBuf,
    /// Another player to pilot games against uniform setups too: alphabeta:depth=2, or the
    /// agent of another run; it plays both sides with the setups that are measured, never
    /// with its own
    #[arg(long, value_name = "PLAYER")]
    pilot: Option<PlayerSpec>,
    /// The rules to play by; left out, those of iron-throne.toml
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// The folder of hand-made setups: files `*.txt` with one a line (lines with # are comments)
    #[arg(long, value_name = "DIR", default_value = "configs/setups")]
    hand_made: PathBuf,
    /// Simulations of the pilot's search, with the noise of self-play
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = value_parser!(u32).range(2..=65_536))]
    simulations: u32,
    /// Games against uniform setups, an even number, and as many with the other pilot
    #[arg(long, value_name = "N", default_value_t = 800, value_parser = value_parser!(u32).range(2..=MOST_GAMES))]
    games: u32,
    /// Games against each hand-made setup, an even number
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = value_parser!(u32).range(2..=MOST_GAMES))]
    hand_made_games: u32,
    /// Games of the best answers to one mixture, an even number
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = value_parser!(u32).range(2..=MOST_GAMES))]
    response_games: u32,
    /// Samples whose diversity is looked at, for each seat
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = value_parser!(u32).range(2..=100_000))]
    samples: u32,
    /// Setups that the climbs for best answers start from
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = value_parser!(u32).range(1..=10_000))]
    climb_starts: u32,
    /// Swaps that are tried at each, against 200 opponents; a hundred times as many against
    /// the single likeliest setup for each seat, at the same cost
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parser!(u32).range(0..=1_000_000))]
    climb_steps: u32,
    /// Games on trial of each setup that a climb ends at, which choose the best answers; 0
    /// takes the critic's word
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = value_parser!(u32).range(0..=10_000))]
    trial_games: u32,
    #[command(flatten)]
    machine: Machine,
    /// Any number: the same seed gives the same games
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The most games of one kind: what is played is kept in memory.
const MOST_GAMES: i64 = 1_000_000;

/// Positions that a GPU evaluates together.
const LARGEST_BATCH: usize = 256;

/// Opponents that best answers are searched against, half for each seat.
const CLIMB_OPPONENTS: u32 = 200;

/// Best answers that are replayed.
const BEST: u32 = 8;

impl SetupsArguments {
    fn check_games(&self) -> anyhow::Result<()> {
        let all = [
            ("--games", self.games),
            ("--hand-made-games", self.hand_made_games),
            ("--response-games", self.response_games),
        ];
        for (flag, games) in all {
            ensure!(
                games.is_multiple_of(2),
                "{flag} is {games}, expected an even number: half of them are played from each seat"
            );
        }
        Ok(())
    }

    pub(super) fn run(mut self) -> anyhow::Result<ExitCode> {
        self.check_games()?;
        self.checkpoint = find_checkpoint(&self.checkpoint);
        let stop = stop_flag()?;
        let (device, workers) = (self.machine.device()?, self.machine.workers());
        let rules = load_rules(self.rules.as_ref())?;
        let net = load_setup_net(&self.checkpoint, &rules, device)?;
        let play = load_play_net(&self.checkpoint, &rules, device)?;
        let load = |spec: &PlayerSpec| Entrant::load(spec, &rules, device);
        let other = self.pilot.as_ref().map(load).transpose()?;
        let hand_made = hand_made(&self.hand_made, &rules)?;
        let pool = ThreadPoolBuilder::new().num_threads(workers).build()?;
        let done = AtomicU64::new(0);
        let mut critic = NetCritic::new(&play, rules.clone(), &pool);
        let pilots = |players| Pilots {
            players,
            pool: &pool,
            rules: rules.clone(),
            done: &done,
            stop: &stop,
        };
        let copies = |entrant: &Entrant| (0..workers).map(|_| entrant.player()).collect();
        let reporter = Reporter::new();
        let evaluation = SetupEvaluation {
            net: &net,
            rules: rules.clone(),
            pilots: pilots(searchers(&play, &rules, workers, self.simulations)),
            others: other.as_ref().map(|entrant| pilots(copies(entrant))),
            critic: &mut critic,
            hand_made: &hand_made,
            plan: self.plan(),
            reporter: &reporter,
        };
        match evaluation.run() {
            Err(error) if error.is::<Stopped>() => {
                reporter.say(&error.to_string());
                Ok(ExitCode::from(INTERRUPTED))
            }
            report => print(&report?, &self),
        }
    }

    fn plan(&self) -> SetupEvaluationPlan {
        SetupEvaluationPlan {
            games: self.games,
            hand_made_games: self.hand_made_games,
            samples: self.samples,
            climb_starts: self.climb_starts,
            climb_steps: self.climb_steps,
            climb_opponents: CLIMB_OPPONENTS,
            trial_games: self.trial_games,
            best: BEST,
            response_games: self.response_games,
            seed: self.seed,
        }
    }
}

fn hand_made(folder: &Path, rules: &Rules) -> anyhow::Result<Vec<HandMade>> {
    HandMade::read(folder, rules).context("`--hand-made` names a folder of setups for these rules")
}

/// A pilot for each worker.
fn searchers(
    net: &Net,
    rules: &Arc<Rules>,
    workers: usize,
    simulations: u32,
) -> Vec<Box<dyn Player>> {
    let evaluators =
        NetEvaluator::for_workers(net, rules, workers, Precision::Single, LARGEST_BATCH);
    let player = |evaluator| Box::new(Searcher::new(evaluator, search(simulations)));
    evaluators.into_iter().map(|evaluator| player(evaluator) as Box<dyn Player>).collect()
}

/// The search of self-play: with its noise, so that games between the same two
/// setups differ, and so that the critic is asked about what it has learned.
fn search(simulations: u32) -> SearchSettings {
    let policy = GumbelSettings { max_considered: 16, c_visit: 50.0, c_scale: 1.0, noise: 1.0 };
    SearchSettings {
        simulations,
        max_nodes: simulations + SPARE_NODES,
        policy: PolicySettings::Gumbel(policy),
    }
}

fn print(report: &SetupReport, arguments: &SetupsArguments) -> anyhow::Result<ExitCode> {
    if arguments.json {
        let mut value = serde_json::to_value(report)?;
        ensure!(value.is_object(), "a report is an object");
        value["verdicts"] = serde_json::to_value(report.verdicts())?;
        value["settings"] = json!({
            "checkpoint": arguments.checkpoint.display().to_string(),
            "pilot": arguments.pilot.as_ref().map(|pilot| pilot.to_string()),
            "simulations": arguments.simulations,
            "seed": arguments.seed,
        });
        tell(&(serde_json::to_string_pretty(&value)? + "\n"))?;
    } else {
        tell(&report.to_string())?;
    }
    Ok(if report.all_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
