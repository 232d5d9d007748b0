//! Measuring a setup network: the games, samples and climbs.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use cyvasse_env::{Outcome, Rules, Setup, SetupSpace, Side};
use cyvasse_models::{SampledSetup, SetupNet};
use cyvasse_selfplay::{Purpose, Wdl, derive};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::diversity::Diversity;
use super::report::{CriticReport, Interval, SetupReport};
use super::watched::watched;
use crate::evaluation::playout::{Pairing, Pilots, score_of};
use crate::evaluation::statistics::Score;
use crate::pipeline::Reporter;
use crate::setups::{Critic, Start, log_loss, read_setups, seated};

/// How much is to be played and looked at.
#[derive(Clone, Debug)]
pub struct SetupEvaluationPlan {
    /// Games against uniform setups, and as many with another pilot.
    pub games: u32,
    /// Games against each hand-made setup.
    pub hand_made_games: u32,
    /// Samples for each seat whose diversity is looked at.
    pub samples: u32,
    /// Setups that climbs for best answers start from.
    pub climb_starts: u32,
    /// Changes that are tried at each, with so many opponents; more with fewer.
    pub climb_steps: u32,
    /// Opponents that climbs are valued against, half of them for each seat.
    pub climb_opponents: u32,
    /// Games on trial of each setup that a climb ends at, which choose the best.
    pub trial_games: u32,
    /// Best answers that are replayed in games against fresh opponents.
    pub best: u32,
    /// Games of all best answers to one mixture together.
    pub response_games: u32,
    /// Where all randomness comes from.
    pub seed: u64,
}

/// A setup made by hand to be measured against.
#[derive(Clone, Debug)]
pub struct HandMade {
    /// Its name: that of its file.
    pub name: String,
    /// The setup.
    pub setup: Setup,
}

/// An evaluation of a setup network with a pilot on both sides.
pub struct SetupEvaluation<'a> {
    /// The setup network.
    pub net: &'a SetupNet,
    /// The rules.
    pub rules: Arc<Rules>,
    /// The pilot of nearly all games.
    pub pilots: Pilots<'a>,
    /// Another one.
    pub others: Option<Pilots<'a>>,
    /// The critic that goes with the pilot.
    pub critic: &'a mut dyn Critic,
    /// Hand-made setups.
    pub hand_made: &'a [HandMade],
    /// How much is to be done.
    pub plan: SetupEvaluationPlan,
    /// Tells of progress.
    pub reporter: &'a Reporter,
}

impl HandMade {
    /// Reads the files `*.txt` of a folder, in the order of their names.
    ///
    /// # Errors
    /// A folder that cannot be read or has none, a line that is no legal setup.
    pub fn read(folder: &Path, rules: &Rules) -> anyhow::Result<Vec<HandMade>> {
        let cannot = || format!("cannot read the folder of setups {}", folder.display());
        let entries = std::fs::read_dir(folder).with_context(cannot)?;
        let mut paths = entries
            .map(|entry| Ok(entry.with_context(cannot)?.path()))
            .collect::<anyhow::Result<Vec<_>>>()?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
        paths.sort();
        let mut all = Vec::new();
        for path in paths {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let setups = read_setups(&path, rules)?.into_iter();
            all.extend(setups.map(|setup| HandMade { name: name.clone(), setup }));
        }
        if all.is_empty() {
            bail!("{} holds no setups (files `*.txt`)", folder.display());
        }
        Ok(all)
    }
}

/// Pairings of some setups with others: the seats alternate, and the setups for a
/// seat are taken in turn. Both are given for white and for black.
#[must_use]
pub fn pairings(
    ours: &[Vec<Setup>; 2],
    theirs: &[Vec<Setup>; 2],
    games: u32,
    seed: u64,
) -> Vec<Pairing> {
    let pick = |setups: &[Setup], number: usize| setups[number % setups.len()];
    (0..games as usize)
        .map(|game| {
            let measured = Side::ALL[game % 2];
            let own = pick(&ours[measured.index()], game / 2);
            let other = pick(&theirs[measured.other().index()], game / 2);
            let seed = derive(seed, Purpose::Match, &[game as u64]);
            Pairing { start: seated(measured, own, other), measured, seed }
        })
        .collect()
}

impl SetupEvaluation<'_> {
    /// Does all of it.
    ///
    /// # Errors
    /// A failure of a network; [`Stopped`](super::Stopped) where the pilots' flag was set before
    /// all was done.
    pub fn run(mut self) -> anyhow::Result<SetupReport> {
        let space = SetupSpace::new(&self.rules);
        let (against_uniform, critic) = self.against_uniform(&space)?;
        let other_pilot = self.with_another_pilot(&space)?;
        let hand_made = self.against_hand_made(&space)?;
        let diversity = self.diversity(&space)?;
        let exploitation = self.exploitation(&space)?;
        Ok(SetupReport { against_uniform, other_pilot, hand_made, diversity, exploitation, critic })
    }

    /// A seed for one of the parts.
    pub(super) fn seed(&self, part: u64) -> u64 {
        derive(self.plan.seed, Purpose::Match, &[part])
    }

    pub(super) fn samples(
        &self,
        space: &SetupSpace,
        count: u32,
        seed: u64,
    ) -> anyhow::Result<[Vec<SampledSetup>; 2]> {
        samples(self.net, space, count, seed)
    }

    pub(super) fn learned(
        &self,
        space: &SetupSpace,
        count: u32,
        seed: u64,
    ) -> anyhow::Result<[Vec<Setup>; 2]> {
        sampled(self.net, space, count, seed)
    }

    fn against_uniform(&mut self, space: &SetupSpace) -> anyhow::Result<(Interval, CriticReport)> {
        let seed = self.seed(1);
        let ours = self.learned(space, self.plan.games.div_ceil(2), seed)?;
        let theirs = uniform(space, self.plan.games.div_ceil(2), seed);
        let pairings = pairings(&ours, &theirs, self.plan.games, seed);
        let outcomes =
            watched(self.reporter, "uniform", &mut self.pilots, &pairings, "uniform setups")?;
        let starts: Vec<Start> = pairings.iter().map(|pairing| pairing.start).collect();
        let chances = self.critic.chances(&starts)?;
        let score = score_of(&pairings, &outcomes);
        Ok((score.into(), critic_report(&pairings, &outcomes, &chances, score)))
    }

    fn with_another_pilot(&mut self, space: &SetupSpace) -> anyhow::Result<Option<Interval>> {
        let seed = self.seed(2);
        let ours = self.learned(space, self.plan.games.div_ceil(2), seed)?;
        let theirs = uniform(space, self.plan.games.div_ceil(2), seed);
        let Some(others) = &mut self.others else { return Ok(None) };
        let pairings = pairings(&ours, &theirs, self.plan.games, seed);
        let what = "uniform setups, another pilot";
        let outcomes = watched(self.reporter, "pilot", others, &pairings, what)?;
        Ok(Some(score_of(&pairings, &outcomes).into()))
    }

    fn against_hand_made(&mut self, space: &SetupSpace) -> anyhow::Result<Vec<(String, Interval)>> {
        let mut scores = Vec::new();
        for (number, HandMade { name, setup }) in self.hand_made.iter().enumerate() {
            let seed = derive(self.seed(3), Purpose::Match, &[number as u64]);
            let ours = self.learned(space, self.plan.hand_made_games.div_ceil(2), seed)?;
            let theirs = [vec![*setup], vec![*setup]];
            let pairings = pairings(&ours, &theirs, self.plan.hand_made_games, seed);
            let outcomes = watched(self.reporter, "hand-made", &mut self.pilots, &pairings, name)?;
            scores.push((name.clone(), score_of(&pairings, &outcomes).into()));
        }
        Ok(scores)
    }

    fn diversity(&self, space: &SetupSpace) -> anyhow::Result<[Diversity; 2]> {
        let samples = self.samples(space, self.plan.samples, self.seed(4))?;
        Ok(samples.map(|samples| Diversity::of(&samples, space.log_count())))
    }
}

fn samples(
    net: &SetupNet,
    space: &SetupSpace,
    count: u32,
    seed: u64,
) -> anyhow::Result<[Vec<SampledSetup>; 2]> {
    let sample = |seat| net.sample(space, seat, count.max(1) as usize, seed_of(seed, seat));
    Ok([sample(Side::White)?, sample(Side::Black)?])
}

fn seed_of(seed: u64, seat: Side) -> u64 {
    derive(seed, Purpose::SetupSupply, &[seat.index() as u64])
}

/// Setups of a network for white and for black.
///
/// # Errors
/// A network whose answer is not finite.
pub fn sampled(
    net: &SetupNet,
    space: &SetupSpace,
    count: u32,
    seed: u64,
) -> anyhow::Result<[Vec<Setup>; 2]> {
    let sample = |seat| net.sample_setups(space, seat, count.max(1) as usize, seed_of(seed, seat));
    Ok([sample(Side::White)?, sample(Side::Black)?])
}

/// Uniform setups for white and for black.
#[must_use]
pub fn uniform(space: &SetupSpace, count: u32, seed: u64) -> [Vec<Setup>; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(derive(seed, Purpose::Setups, &[]));
    [0, 1].map(|_| (0..count.max(1)).map(|_| space.sample(&mut rng)).collect())
}

fn critic_report(
    pairings: &[Pairing],
    outcomes: &[Option<Outcome>],
    chances: &[Wdl],
    score: Score,
) -> CriticReport {
    let mut log_loss_sum = 0.0;
    let mut predicted = 0.0;
    let mut counts = [0.0f64; 3];
    let mut games = 0.0;
    for ((pairing, outcome), chances) in pairings.iter().zip(outcomes).zip(chances) {
        let Some(outcome) = *outcome else { continue };
        games += 1.0;
        log_loss_sum += log_loss(*chances, outcome);
        let white = f64::from(chances.value().get() + 1.0) / 2.0;
        predicted += if pairing.measured == Side::White { white } else { 1.0 - white };
        counts[match outcome.winner() {
            Some(Side::White) => 0,
            None => 1,
            Some(Side::Black) => 2,
        }] += 1.0;
    }
    let games = f64::max(games, 1.0);
    let entropy =
        |count: &f64| if *count > 0.0 { -count / games * (count / games).ln() } else { 0.0 };
    CriticReport {
        log_loss: log_loss_sum / games,
        constant_log_loss: counts.iter().map(entropy).sum(),
        predicted: predicted / games,
        real: Interval::from(score).share,
    }
}
