//! What a run ends with: matches of its newest network.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;

use cyvasse_env::SetupSpace;
use cyvasse_models::{Net, checkpoint};
use cyvasse_selfplay::players::{Player, Random, Searcher};
use cyvasse_selfplay::search::SearchSettings;
use cyvasse_selfplay::{Purpose, derive};

use super::train::{Run, RunEnd};
use crate::checkpoints::{PLAY_NET, made_for};
use crate::evaluation::setup_quality::{Stopped, pairings, sampled, uniform, watched};
use crate::evaluation::{Match, Pilots, Setups, Tally, play_match};
use crate::setups::SetupLearner;

/// What becomes of a match that was stopped.
const AGAIN: &str = "`--resume` plays the match again";

/// Plays the newest network against the random player and against the
/// untrained network with the same search, then learned against uniform setups
/// with the newest network on both sides, and prints the scores.
pub(super) fn evaluate(run: &Run<'_>) -> anyhow::Result<RunEnd> {
    if run.config.evaluation.games == 0 {
        return Ok(RunEnd::Finished);
    }
    let device = run.trainer.net.device();
    let path = run.dir.checkpoint(0).join(PLAY_NET);
    let (untrained, _) = checkpoint::load(&path, &made_for(&run.rules), device)?;
    let workers = run.config.selfplay.workers;
    let random = (0..workers).map(|_| Box::new(Random) as Box<dyn Player>).collect();
    report(run, "the random player", agents(run, run.playing_net()), random)?;
    if !run.stopped() {
        let first = agents(run, &untrained);
        report(run, "the untrained network", agents(run, run.playing_net()), first)?;
    }
    if let (Some(learner), false) = (&run.setups, run.stopped()) {
        setups_match(run, learner)?;
    }
    Ok(if run.stopped() { RunEnd::Stopped } else { RunEnd::Finished })
}

/// Plays learned setups against uniform ones.
fn setups_match(run: &Run<'_>, learner: &SetupLearner) -> anyhow::Result<()> {
    let games = run.config.evaluation.games;
    let seed = derive(run.config.run.seed, Purpose::Match, &[1]);
    let space = SetupSpace::new(&run.rules);
    let ours = sampled(&learner.trainer.average, &space, games.div_ceil(2), seed)?;
    let theirs = uniform(&space, games.div_ceil(2), seed);
    let mut pilots = Pilots {
        players: agents(run, run.playing_net()),
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
            Ok(())
        }
        played => played.map(|_| ()),
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

/// Plays a match and prints its score.
fn report(
    run: &Run<'_>,
    opponent: &str,
    ours: Vec<Box<dyn Player>>,
    theirs: Vec<Box<dyn Player>>,
) -> anyhow::Result<()> {
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
    } else {
        let games = tally.score().games();
        stage.finish(&format!("against {opponent}, {games} games: {}", tally.summary()));
    }
    Ok(())
}
