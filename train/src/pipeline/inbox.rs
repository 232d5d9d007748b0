//! The learner's side of self-play by workers: it waits for the games of a round
//! and takes them.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use cyvasse_selfplay::GameRecord;
use cyvasse_selfplay::replay::Shard;

use super::files::remove_dir;
use super::stints::{GAMES, stint_folder, stints_of, worker_folder, workers_of};
use super::train::Run;
use crate::config::MOST_SLOTS;

/// How often the learner looks for new games.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What the learner remembers of workers beside the state.
#[derive(Debug)]
pub(super) struct Inbox {
    /// What the newest state says is taken.
    in_newest: BTreeMap<u32, u32>,
}

impl Inbox {
    pub(super) fn new(taken: &BTreeMap<u32, u32>) -> Inbox {
        Inbox { in_newest: taken.clone() }
    }
}

/// The games of a round: those of the oldest stints that were not taken yet, with as
/// many plies as the run would play itself in a round. Waits until there are so many,
/// so that no position is trained on too often.
pub(super) fn collect(run: &mut Run<'_>, round: u32) -> anyhow::Result<Vec<GameRecord>> {
    let goal = run.config.selfplay.plies();
    let path = run.dir.path().display();
    let missing = format!("plies by workers (`cyvasse selfplay --run-dir {path}` is one)");
    let mut taken = run.taken.clone();
    let mut games = Vec::new();
    let mut stage = run.reporter.stage("waiting", goal);
    let mut plies = 0;
    let mut told = false;
    while !run.stopped() {
        for (worker, stint) in waiting(run, &taken)? {
            if plies < goal {
                let played = read(run, worker, stint)?;
                plies += played.iter().map(|game| game.plies.len() as u64).sum::<u64>();
                games.extend(played);
                taken.insert(worker, stint);
            }
        }
        if plies >= goal {
            break;
        }
        if !std::mem::replace(&mut told, true) && plies == 0 {
            run.reporter.say(&format!("round {round}: waiting for {goal} {missing}"));
        }
        stage.update(plies, &missing);
        thread::sleep(LOOK_AGAIN);
    }
    if run.stopped() {
        stage.clear();
        return Ok(Vec::new());
    }
    let seconds = stage.seconds();
    stage.finish(&format!(
        "round {round}: {} games, {plies} plies of workers, waited for {seconds:.0} s",
        games.len()
    ));
    run.taken = taken;
    games.sort_by_key(|game| game.id);
    Ok(games)
}

/// Stints that are not taken yet, workers and numbers, the oldest first.
fn waiting(run: &Run<'_>, taken: &BTreeMap<u32, u32>) -> anyhow::Result<Vec<(u32, u32)>> {
    let mut stints = Vec::new();
    for worker in workers_of(run.dir.path())? {
        let newest = taken.get(&worker).copied().unwrap_or(0);
        let all = stints_of(&worker_folder(run.dir.path(), worker))?;
        stints.extend(all.into_iter().filter(|&stint| stint > newest).map(|stint| (worker, stint)));
    }
    stints.sort_unstable_by_key(|&(worker, stint)| (stint, worker));
    Ok(stints)
}

/// The games that ended in a stint.
fn read(run: &Run<'_>, worker: u32, stint: u32) -> anyhow::Result<Vec<GameRecord>> {
    let path = stint_folder(&worker_folder(run.dir.path(), worker), stint).join(GAMES);
    if !path.exists() {
        return Ok(Vec::new());
    }
    match Shard::open(&path, &run.rules) {
        Ok(shard) if !is_of(&shard, run.config.run.seed, worker, stint) => {
            let aside = run.dir.set_aside(&path)?;
            run.reporter.say(&format!(
                "{} holds games of something else than stint {stint} of worker {worker} of \
                 this run; it is {aside}",
                path.display()
            ));
            Ok(Vec::new())
        }
        Ok(shard) => Ok((0..shard.game_count())
            .map(|game| shard.game(game))
            .collect::<Result<Vec<GameRecord>, _>>()?),
        Err(error) if error.is_damage() => {
            let aside = run.dir.set_aside(&path)?;
            run.reporter.say(&format!("{error}; it is {aside}"));
            Ok(Vec::new())
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether the games are those of a stint of a worker of a run with this seed.
fn is_of(shard: &Shard, run_seed: u64, worker: u32, stint: u32) -> bool {
    let header = shard.header();
    (header.run_seed, header.shard) == (run_seed, stint)
        && (0..shard.game_count()).all(|game| shard.id(game).slot / MOST_SLOTS == worker)
}

/// Removes stints that both states on the disk have taken, but not the newest of a
/// worker, which the worker goes on from.
pub(super) fn settle(run: &mut Run<'_>) -> anyhow::Result<()> {
    let Some(inbox) = &mut run.inbox else { return Ok(()) };
    let in_both = std::mem::replace(&mut inbox.in_newest, run.taken.clone());
    for (worker, newest) in in_both {
        let folder = worker_folder(run.dir.path(), worker);
        let stints = stints_of(&folder)?;
        let older = stints.split_last().map_or(&[][..], |(_, older)| older);
        for &stint in older.iter().filter(|&&stint| stint <= newest) {
            remove_dir(&stint_folder(&folder, stint))?;
        }
    }
    Ok(())
}
