//! What a run ends with: matches of its newest network.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use cyvasse_models::{Net, checkpoint};
use cyvasse_selfplay::search::SearchSettings;
use cyvasse_selfplay::{Purpose, derive};
use rayon::prelude::*;

use super::train::{Run, RunEnd};
use crate::checkpoints::{PLAY_NET, made_for};
use crate::evaluation::{Agent, Match, Player, PlayerError, Random, Score, play_match};

/// Plays the newest network against the random player and against the
/// untrained network with the same search, and prints both scores.
pub(super) fn evaluate(run: &Run<'_>) -> anyhow::Result<RunEnd> {
    if run.config.evaluation.games == 0 {
        return Ok(RunEnd::Finished);
    }
    let device = run.trainer.net.device();
    let path = run.dir.checkpoint(0).join(PLAY_NET);
    let (untrained, _) = checkpoint::load(&path, &made_for(&run.rules), device)?;
    let workers = run.config.selfplay.workers;
    let random = (0..workers).map(|_| Box::new(Random) as Box<dyn Player>).collect();
    report(run, "the random player", agents(run, &run.trainer.net), random)?;
    if !run.stopped() {
        let first = agents(run, &untrained);
        report(run, "the untrained network", agents(run, &run.trainer.net), first)?;
    }
    Ok(if run.stopped() { RunEnd::Stopped } else { RunEnd::Finished })
}

/// An agent for each worker.
fn agents(run: &Run<'_>, net: &Net) -> Vec<Box<dyn Player>> {
    let policy = run.config.evaluation.policy.clone();
    let settings = SearchSettings { policy, ..run.config.search.clone() };
    run.config
        .selfplay
        .evaluators(net, &run.rules)
        .into_iter()
        .map(|evaluator| Box::new(Agent::new(evaluator, settings.clone())) as Box<dyn Player>)
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
    let seed = derive(run.config.run.seed, Purpose::Match, &[]);
    let rules = run.rules.clone();
    let parts = Match { rules, pairs: 0..u64::from(games / 2), seed }.split(ours.len() as u64);
    // Not the run itself: a network must not be seen from several threads.
    let stop = run.stop;
    let scores = Mutex::new(vec![Score::default(); parts.len()]);
    let stage = Mutex::new(run.reporter.stage("match", games.into()));
    let play = |(part, mut players): (usize, [Box<dyn Player>; 2])| {
        let [our, their] = &mut players;
        play_match([our.as_mut(), their.as_mut()], &parts[part], |score| {
            let mut scores = lock(&scores);
            scores[part] = score;
            let score: Score = scores.iter().copied().sum();
            lock(&stage).update(score.games().into(), &format!("against {opponent}: {score}"));
            !stop.load(Ordering::Relaxed)
        })
    };
    let players: Vec<_> = ours.into_iter().zip(theirs).map(|(our, their)| [our, their]).collect();
    let result: Result<Vec<Score>, PlayerError> =
        run.pool.install(|| players.into_par_iter().enumerate().map(play).collect());
    let score: Score = result?.into_iter().sum();
    let stage = stage.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if run.stopped() {
        // The games that are over are the shortest ones: no fair sample.
        stage.finish(&format!("against {opponent}: interrupted; `--resume` plays the match again"));
    } else {
        stage.finish(&format!("against {opponent}, {} games: {score}", score.games()));
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
