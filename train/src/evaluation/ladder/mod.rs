//! A ladder: the checkpoints of a run and some baselines rated in one pool.
//!
//! Results are kept in the run directory and only added to: a second call plays
//! what is missing. Pairs of players are chosen where a game tells most.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cyvasse_env::Rules;
use cyvasse_selfplay::{Purpose, derive};
use tch::Device;
use thiserror::Error;

mod report;
mod results;

pub use report::{LadderPlayer, LadderReport, Surprise};
pub use results::{Batch, Origin, ResultsError, ResultsFile, read};

use super::contest::Contest;
use super::entrant::{Entrant, EntrantError};
use super::matches::MatchError;
use super::spec::PlayerSpec;
use super::statistics::{Fit, Results};
use super::tally::{Tally, fingerprint};

/// A player of a ladder.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its name in results: its text form, with a path from the run directory.
    pub name: String,
    /// The player.
    pub spec: PlayerSpec,
    /// The round whose checkpoint it is.
    pub round: Option<u32>,
}

/// What a ladder is to be.
#[derive(Clone, Debug)]
pub struct LadderPlan {
    /// The players, each name once: first the baselines, the weakest of them
    /// before the others; that one is the anchor, at Elo 0.
    pub contenders: Vec<Contender>,
    /// Pairs that each player is to have played.
    pub pairs: u64,
    /// Pairs that are played before ratings are looked at again.
    pub batch: u64,
    /// Where setups and choices come from.
    pub seed: u64,
    /// Threads to play on.
    pub workers: usize,
    /// Where networks are computed.
    pub device: Device,
}

/// A ladder that cannot go on.
#[derive(Debug, Error)]
pub enum LadderError {
    /// A player that cannot be loaded.
    #[error(transparent)]
    Entrant(#[from] EntrantError),
    /// A player that fails.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// The file of results.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

/// A pool of players and what they have scored so far.
pub struct Ladder {
    plan: LadderPlan,
    rules: Arc<Rules>,
    entrants: Vec<Entrant>,
    results: Results,
    file: ResultsFile,
}

impl Ladder {
    /// Loads the players and the results that there are; results of others are
    /// left alone.
    ///
    /// # Errors
    /// A player or a file that cannot be used.
    pub fn open(plan: LadderPlan, rules: Arc<Rules>, file: PathBuf) -> Result<Ladder, LadderError> {
        let load = |contender: &Contender| Entrant::load(&contender.spec, &rules, plan.device);
        let entrants = plan.contenders.iter().map(load).collect::<Result<Vec<_>, _>>()?;
        let file = ResultsFile::open(file, &Origin::here(&rules))?;
        let results = collect(&plan.contenders, file.batches());
        Ok(Ladder { plan, rules, entrants, results, file })
    }

    /// Results in the file that were played under other rules or by another
    /// version of the program, and do not count.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.file.left_out()
    }

    /// Plays what is missing, a batch at a time, and tells after each how many
    /// pairs are still missing; what a batch that was stopped has played is
    /// dropped.
    ///
    /// # Errors
    /// A player that fails, or a file that cannot be written.
    pub fn play(
        &mut self,
        stop: &AtomicBool,
        mut on_batch: impl FnMut(&Batch, u64),
    ) -> Result<(), LadderError> {
        while let Some((first, second)) = self.choose() {
            let batch = self.play_batch(first, second, stop)?;
            if stop.load(Ordering::Relaxed) {
                break;
            }
            self.file.add(&batch)?;
            self.results.add(first, second, &batch.pairs);
            on_batch(&batch, self.missing());
        }
        Ok(())
    }

    /// Pairs that are missing, over all players.
    #[must_use]
    pub fn missing(&self) -> u64 {
        (0..self.entrants.len()).map(|player| self.missing_of(player)).sum()
    }

    fn missing_of(&self, player: usize) -> u64 {
        self.plan.pairs.saturating_sub(self.results.played(player))
    }

    /// Whether two players have nothing new to show: their last batch only
    /// repeated earlier games.
    fn exhausted(&self, first: usize, second: usize) -> bool {
        let names = [first, second].map(|player| &self.plan.contenders[player].name);
        self.file.between(names).last().is_some_and(|batch| batch.pairs.count() == 0)
    }

    /// The two players to play next. First each baseline plays the next
    /// one, since far from the anchor nothing else ties the pool to it; then those
    /// between whom a game tells most, one of whom has not played enough.
    fn choose(&self) -> Option<(usize, usize)> {
        let baselines = self.plan.contenders.iter().filter(|player| player.round.is_none()).count();
        let loose = |&first: &usize| {
            self.results.between(first, first + 1).count() < self.plan.pairs
                && !self.exhausted(first, first + 1)
        };
        if let Some(first) = (0..baselines.saturating_sub(1)).find(loose) {
            return Some((first, first + 1));
        }
        let fit = Fit::new(&self.results);
        let players = self.entrants.len();
        let pairings = (0..players).flat_map(|i| (i + 1..players).map(move |j| (i, j)));
        let open = pairings
            .filter(|&(i, j)| self.missing_of(i) + self.missing_of(j) > 0)
            .filter(|&(i, j)| !self.exhausted(i, j));
        let told = |&(i, j): &(usize, usize)| fit.information(i, j);
        open.max_by(|a, b| told(a).total_cmp(&told(b)))
    }

    fn play_batch(
        &self,
        first: usize,
        second: usize,
        stop: &AtomicBool,
    ) -> Result<Batch, LadderError> {
        let names = [first, second].map(|player| &self.plan.contenders[player].name);
        let begun = self.file.begun(names);
        let pairs = begun..begun + self.plan.batch;
        // Each two players have games of their own.
        let parts = names.map(|name| {
            name.bytes().fold(0, |sum, byte| derive(sum, Purpose::Match, &[byte.into()]))
        });
        let contest = Contest {
            entrants: [&self.entrants[first], &self.entrants[second]],
            rules: self.rules.clone(),
            pairs: pairs.clone(),
            seed: derive(self.plan.seed, Purpose::Match, &parts),
            opening_plies: 0,
            workers: self.plan.workers,
            sprt: None,
        };
        let known = Tally::knowing(self.file.games(names));
        let mut games = Vec::new();
        let (tally, _) = contest.play_on(known, stop, |pair, _| {
            games.extend(pair.games.iter().map(fingerprint));
            Ok::<(), MatchError>(())
        })?;
        Ok(Batch {
            players: names.map(String::clone),
            from: pairs.start,
            to: pairs.end,
            seed: self.plan.seed,
            pairs: tally.pairs,
            origin: Origin::here(&self.rules),
            games,
        })
    }

    /// What the results say.
    #[must_use]
    pub fn report(&self) -> LadderReport {
        LadderReport::new(&self.plan.contenders, &self.results)
    }
}

/// The players that results tell of: first the baselines, random before the
/// others, then checkpoints by round.
#[must_use]
pub fn contenders_of(batches: &[Batch]) -> Vec<Contender> {
    let mut contenders: Vec<Contender> = Vec::new();
    for name in batches.iter().flat_map(|batch| &batch.players) {
        let known = contenders.iter().any(|contender| contender.name == *name);
        // A name of a later version's kind of player is left out.
        if let Some(spec) = name.parse().ok().filter(|_| !known) {
            contenders.push(Contender { name: name.clone(), spec, round: round_of(name) });
        }
    }
    contenders.sort_by_key(|contender| (contender.round, contender.name != "random"));
    contenders
}

/// The round of a checkpoint's name.
fn round_of(name: &str) -> Option<u32> {
    let number = name.strip_prefix("agent:checkpoints/round-")?;
    number.split('?').next()?.parse().ok()
}

/// The results between these players, in their order.
#[must_use]
pub fn collect(contenders: &[Contender], batches: &[Batch]) -> Results {
    let mut results = Results::new(contenders.len());
    let place = |name: &String| contenders.iter().position(|contender| contender.name == *name);
    for batch in batches {
        if let (Some(first), Some(second)) = (place(&batch.players[0]), place(&batch.players[1])) {
            results.add(first, second, &batch.pairs);
        }
    }
    results
}
