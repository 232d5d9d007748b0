//! What a run ends with: matches of its newest network.

use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;

use cyvasse_env::SetupSpace;
use cyvasse_models::Net;
use cyvasse_selfplay::players::{Player, Random, Searcher};
use cyvasse_selfplay::search::SearchSettings;
use cyvasse_selfplay::{Purpose, derive};
use serde_json::{Value, json};

use super::files::{io_error, replace_file};
use super::run_dir::RunDirError;
use super::train::{Run, RunEnd};
use crate::evaluation::setup_quality::{Interval, Stopped, pairings, sampled, uniform, watched};
use crate::evaluation::{Match, Pilots, Setups, Tally, play_match, score_of};
use crate::learning::Trainer;
use crate::setups::SetupLearner;

/// The scores of these matches, from the run directory: a JSON array of objects.
pub const FINAL_FILE: &str = "evaluation/final.json";

/// What becomes of a match that was stopped.
const AGAIN: &str = "`--resume` plays the match again";

/// Plays the newest network against the random player and against the
/// untrained network with the same search, then learned against uniform setups
/// with the newest network on both sides, and prints the scores.
pub(super) fn evaluate(run: &Run<'_>) -> anyhow::Result<RunEnd> {
    if run.config.evaluation.games == 0 {
        return Ok(RunEnd::Finished);
    }
    let mut scores = Vec::new();
    let device = run.trainer.net.device();
    let untrained = Trainer::untrained(&run.config, &run.rules, device)?.net;
    let workers = run.config.selfplay.workers;
    let random = (0..workers).map(|_| Box::new(Random) as Box<dyn Player>).collect();
    scores.extend(report(run, "the random player", agents(run, &run.trainer.average), random)?);
    if !run.stopped() {
        let first = agents(run, &untrained);
        let newest = agents(run, &run.trainer.average);
        scores.extend(report(run, "the untrained network", newest, first)?);
    }
    if let (Some(learner), false) = (&run.setups, run.stopped()) {
        scores.extend(setups_match(run, learner)?);
    }
    if run.stopped() {
        return Ok(RunEnd::Stopped);
    }
    save(run, &scores)?;
    Ok(RunEnd::Finished)
}

/// Keeps the scores of the matches, once all are played.
fn save(run: &Run<'_>, scores: &[Value]) -> Result<(), RunDirError> {
    let path = run.dir.file(FINAL_FILE);
    let folder = run.dir.file("evaluation");
    fs::create_dir_all(&folder).map_err(io_error("create", &folder))?;
    replace_file(&path, &format!("{}\n", json!(scores)))
}

/// What is kept of a match.
fn kept(run: &Run<'_>, what: &str, score: Interval) -> Value {
    json!({ "round": run.round, "match": what, "score": score })
}

/// Plays learned setups against uniform ones; `None` where it was stopped.
fn setups_match(run: &Run<'_>, learner: &SetupLearner) -> anyhow::Result<Option<Value>> {
    let games = run.config.evaluation.games;
    let seed = derive(run.config.run.seed, Purpose::Match, &[1]);
    let space = SetupSpace::new(&run.rules);
    let ours = sampled(&learner.trainer.average, &space, games.div_ceil(2), seed)?;
    let theirs = uniform(&space, games.div_ceil(2), seed);
    let mut pilots = Pilots {
        players: agents(run, &run.trainer.average),
        pool: &run.pool,
        rules: run.rules.clone(),
        done: &AtomicU64::new(0),
        stop: run.stop,
    };
    let what = "learned against uniform setups";
    let pairings = pairings(&ours, &theirs, games, seed);
    match watched(&run.reporter, "setups", &mut pilots, &pairings, what) {
        Err(error) if error.is::<Stopped>() => {
            run.reporter.say(&format!("{what}: interrupted; {AGAIN}"));
            Ok(None)
        }
        played => {
            let score = Interval::from(score_of(&pairings, &played?));
            Ok(Some(kept(run, what, score)))
        }
    }
}

/// An agent for each worker.
pub(super) fn agents(run: &Run<'_>, net: &Net) -> Vec<Box<dyn Player>> {
    let policy = run.config.evaluation.policy.clone();
    let settings = SearchSettings { policy, ..run.config.search.clone() };
    run.config
        .selfplay
        .evaluators(net, &run.rules)
        .into_iter()
        .map(|evaluator| Box::new(Searcher::new(evaluator, settings.clone())) as Box<dyn Player>)
        .collect()
}

/// Plays a match and prints its score; `None` where it was stopped.
fn report(
    run: &Run<'_>,
    opponent: &str,
    ours: Vec<Box<dyn Player>>,
    theirs: Vec<Box<dyn Player>>,
) -> anyhow::Result<Option<Value>> {
    let games = run.config.evaluation.games;
    let setups = Setups::Uniform(SetupSpace::new(&run.rules));
    let settings = Match {
        rules: run.rules.clone(),
        pairs: 0..u64::from(games / 2),
        seed: derive(run.config.run.seed, Purpose::Match, &[]),
        setups: (&setups, None),
        opening_plies: 0,
    };
    let mut stage = run.reporter.stage("match", games.into());
    let mut tally = Tally::default();
    let players = ours.into_iter().zip(theirs).map(|(our, their)| [our, their]).collect();
    play_match(players, &settings, run.stop, |pair| {
        tally.add(&pair);
        let games = tally.score().games();
        stage.update(games, &format!("against {opponent}: {}", tally.summary()));
        ControlFlow::Continue(())
    })?;
    if run.stopped() {
        stage.finish(&format!("against {opponent}: interrupted; {AGAIN}"));
        return Ok(None);
    }
    let games = tally.score().games();
    stage.finish(&format!("against {opponent}, {games} games: {}", tally.summary()));
    let (share, (low, high)) = (tally.pairs.share(), tally.pairs.interval());
    let score = Interval { games, share, low, high };
    Ok(Some(kept(run, &format!("against {opponent}"), score)))
}
