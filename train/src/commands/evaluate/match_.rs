//! `cyvasse evaluate match`.

use std::fmt::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::ensure;
use serde::Serialize;

use super::{Machine, PLAYERS, load_rules};
use crate::commands::rules::answers::tell;
use crate::commands::signal::{INTERRUPTED, stop_flag};
use crate::evaluation::statistics::{Pairs, Score, Sprt, Verdict};
use crate::evaluation::{Contest, Entrant, GameFile, PlayerSpec, Tally};
use crate::pipeline::Reporter;

/// What `cyvasse evaluate match` is given.
#[derive(Debug, clap::Args)]
#[command(after_help = PLAYERS)]
pub(in crate::commands) struct MatchArguments {
    /// The first player, whose score is told
    #[arg(value_name = "PLAYER")]
    first: PlayerSpec,
    /// The second player
    #[arg(value_name = "OPPONENT")]
    second: PlayerSpec,
    /// Games to play: an even number, each start from both seats; with --sprt the most
    #[arg(long, value_name = "N", default_value_t = 200)]
    games: u64,
    /// Stop as soon as it is clear whether the difference is ELO0 or ELO1 rather, as in
    /// `--sprt 0 20`
    #[arg(long, num_args = 2, value_names = ["ELO0", "ELO1"], allow_negative_numbers = true)]
    sprt: Option<Vec<f64>>,
    /// How often --sprt may say ELO1 where ELO0 is true
    #[arg(long, value_name = "RATE", default_value_t = 0.05, requires = "sprt")]
    alpha: f64,
    /// How often --sprt may say ELO0 where ELO1 is true
    #[arg(long, value_name = "RATE", default_value_t = 0.05, requires = "sprt")]
    beta: f64,
    /// Random plies that each game begins with, the same in both games of a pair
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=40))]
    opening_plies: u16,
    /// Any number: the same seed plays the same games
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Save the games as JSON lines in a new file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// The rules to play by, such as `--rules my-rules.toml`; left out, those of iron-throne.toml
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    #[command(flatten)]
    machine: Machine,
}

/// The result for machines. Infinite numbers are `null`.
#[derive(Serialize)]
struct Report<'a> {
    players: [String; 2],
    checkpoints: [Option<CheckpointReport<'a>>; 2],
    seed: u64,
    shared_setups: bool,
    depends_on_time: bool,
    interrupted: bool,
    games: u64,
    repeated_pairs: u64,
    share: f64,
    share_interval: (f64, f64),
    elo: f64,
    elo_interval: (f64, f64),
    pentanomial: Pairs,
    score: Score,
    as_white: Score,
    as_black: Score,
    draws: DrawReport,
    median_plies: u32,
    longest_plies: u32,
    milliseconds_per_action: [f64; 2],
    sprt: Option<SprtReport>,
}

#[derive(Serialize)]
struct CheckpointReport<'a> {
    file: &'a std::path::Path,
    step: u64,
}

#[derive(Serialize)]
struct DrawReport {
    repetition: u64,
    no_progress: u64,
    length: u64,
}

#[derive(Serialize)]
struct SprtReport {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    log_likelihood_ratio: f64,
    reject_at: f64,
    accept_at: f64,
    verdict: &'static str,
}

impl MatchArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let games = self.games;
        ensure!(
            games >= 2 && games.is_multiple_of(2) && games <= 100_000_000,
            "--games is {games}, expected an even number from 2 to 100000000: every start is played from both seats"
        );
        let sprt = match self.sprt.as_deref() {
            Some(&[elo0, elo1]) => Some(Sprt::new(elo0, elo1, self.alpha, self.beta)?),
            _ => None,
        };
        let rules = load_rules(self.rules.as_ref())?;
        let (opening, longest) = (self.opening_plies, rules.draws.max_plies);
        ensure!(
            opening < longest,
            "--opening-plies is {opening}, expected fewer than the {longest} plies of the longest game"
        );
        let device = self.machine.device()?;
        let load = |spec: &PlayerSpec| Entrant::load(spec, &rules, device);
        let (first, second) = (load(&self.first)?, load(&self.second)?);
        let names = [&first, &second].map(|entrant| entrant.spec.to_string());
        let create = |path: &PathBuf| {
            GameFile::create(path, &rules, names.clone(), self.seed, self.opening_plies)
        };
        let mut file = self.save.as_ref().map(create).transpose()?;
        let stop = stop_flag()?;
        let contest = Contest {
            entrants: [&first, &second],
            rules: rules.clone(),
            pairs: 0..games / 2,
            seed: self.seed,
            opening_plies: self.opening_plies,
            workers: self.machine.workers(),
            sprt,
        };
        let reporter = Reporter::new();
        let mut stage = reporter.stage("match", games);
        let (tally, verdict) = contest.play(&stop, |pair, tally| -> anyhow::Result<()> {
            stage.update(2 * (pair.number + 1), &tally.summary());
            Ok(file.as_mut().map_or(Ok(()), |file| file.add(pair))?)
        })?;
        stage.clear();
        file.map_or(Ok(()), GameFile::finish)?;
        let interrupted = stop.load(Ordering::Relaxed);
        let report = self.report(&contest, &tally, verdict, interrupted);
        match self.json {
            true => tell(&(serde_json::to_string(&report)? + "\n"))?,
            false => tell(&in_words(&report)?)?,
        }
        Ok(if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
    }

    fn report<'a>(
        &self,
        contest: &Contest<'a>,
        tally: &Tally,
        verdict: Option<Verdict>,
        interrupted: bool,
    ) -> Report<'a> {
        let (elo, elo_interval) = tally.pairs.elo();
        let [repetition, no_progress, length] = tally.draws;
        let (median_plies, longest_plies) = tally.lengths();
        let sprt = contest.sprt.map(|sprt| {
            let ((elo0, elo1), (alpha, beta)) = (sprt.bounds(), sprt.rates());
            let (reject_at, accept_at) = sprt.thresholds();
            let log_likelihood_ratio = sprt.log_likelihood_ratio(&tally.pairs);
            let verdict = match verdict {
                Some(Verdict::Accepted) => "accepted",
                Some(Verdict::Rejected) => "rejected",
                None => "open",
            };
            SprtReport {
                elo0,
                elo1,
                alpha,
                beta,
                log_likelihood_ratio,
                reject_at,
                accept_at,
                verdict,
            }
        });
        Report {
            players: contest.entrants.map(|entrant| entrant.spec.to_string()),
            checkpoints: contest.entrants.map(|entrant| {
                entrant.checkpoint().map(|(file, step)| CheckpointReport { file, step })
            }),
            seed: self.seed,
            shared_setups: contest.shares_setups(),
            depends_on_time: contest.entrants.iter().any(|entrant| entrant.spec.depends_on_time()),
            interrupted,
            games: tally.score().games(),
            repeated_pairs: tally.repeats,
            share: tally.pairs.share(),
            share_interval: tally.pairs.interval(),
            elo,
            elo_interval,
            pentanomial: tally.pairs,
            score: tally.score(),
            as_white: tally.seats[0],
            as_black: tally.seats[1],
            draws: DrawReport { repetition, no_progress, length },
            median_plies,
            longest_plies,
            milliseconds_per_action: [0, 1].map(|player| tally.milliseconds_per_action(player)),
            sprt,
        }
    }
}

/// The result for a person.
fn in_words(report: &Report<'_>) -> Result<String, fmt::Error> {
    let mut text = String::new();
    let [first, second] = &report.players;
    writeln!(text, "{first} against {second}")?;
    for checkpoint in report.checkpoints.iter().flatten() {
        writeln!(text, "  {} (step {})", checkpoint.file.display(), checkpoint.step)?;
    }
    writeln!(
        text,
        "  starts: {}",
        match report.shared_setups {
            true => "the same setups in both games of a pair, the seats swapped",
            false => "each player's own setups in both seats",
        }
    )?;
    let (low, high) = report.share_interval;
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    writeln!(
        text,
        "  score: {} (95%: {} to {}) of {} games: {}",
        percent(report.share),
        percent(low),
        percent(high),
        report.games,
        report.score
    )?;
    // Added to 0, so that a negative nothing has no sign of its own.
    let (low, high) = report.elo_interval;
    let [elo, low, high] = [report.elo, low, high].map(|elo| elo.round() + 0.0);
    writeln!(text, "  Elo difference: {elo:+} (95%: {low:+} to {high:+})")?;
    let [none, half, one, more, two] = report.pentanomial.counts;
    writeln!(
        text,
        "  pairs with 0, 1/2, 1, 1 1/2 and 2 points: {none}, {half}, {one}, {more}, {two}"
    )?;
    writeln!(text, "  as white {}, as black {}", report.as_white, report.as_black)?;
    let DrawReport { repetition, no_progress, length } = report.draws;
    writeln!(
        text,
        "  draws: {repetition} by repetition, {no_progress} without progress, {length} by length"
    )?;
    writeln!(text, "  plies: median {}, longest {}", report.median_plies, report.longest_plies)?;
    let [ours, theirs] = report.milliseconds_per_action;
    writeln!(text, "  time an action: {ours:.3} ms against {theirs:.3} ms")?;
    if let Some(sprt) = &report.sprt {
        writeln!(
            text,
            "  SPRT of {:+} against {:+} Elo: {} (log-likelihood ratio {:.2}; rejects at {:.2}, wrongly in {}; accepts at {:.2}, wrongly in {})",
            sprt.elo0,
            sprt.elo1,
            sprt.verdict,
            sprt.log_likelihood_ratio,
            sprt.reject_at,
            percent(sprt.beta),
            sprt.accept_at,
            percent(sprt.alpha)
        )?;
    }
    if report.repeated_pairs > 0 {
        writeln!(
            text,
            "  {} pairs repeat earlier ones to the last action and do not count: more setups or --opening-plies would vary them",
            report.repeated_pairs
        )?;
    }
    if report.depends_on_time {
        writeln!(text, "  a player is given time: another machine or load gives other games")?;
    }
    if report.interrupted {
        writeln!(text, "  interrupted: the first games of the match, in their order")?;
    }
    Ok(text)
}
