//! The gate: a new network plays in self-play only once it has beaten the one
//! that plays there (Silver et al. 2017, "Mastering the game of Go without human
//! knowledge", section "Evaluator"); here the match ends as soon as a sequential
//! test has a verdict.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use cyvasse_env::SetupSpace;
use cyvasse_models::Net;
use cyvasse_selfplay::{Purpose, derive};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::finale::agents;
use super::run_dir::RunDir;
use super::sealed;
use super::train::Run;
use crate::config::Bound;
use crate::evaluation::statistics::{Sprt, SprtError, Verdict};
use crate::evaluation::{Match, Mixture, Setups, Tally, play_match};

/// In the folder of the state: whose network plays.
const BEST: &str = "gate.json";

/// Whether new networks must win a match before they play in self-play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum GateConfig {
    /// The newest network plays.
    Off,
    /// The best network so far plays: the last one that a test has promoted.
    Sprt(GateTest),
}

/// When a new network is promoted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateTest {
    /// A test after every so many rounds.
    pub rounds: u32,
    /// Pairs of games at most; without a verdict by then there is no promotion.
    pub pairs: u32,
    /// The lead, in Elo, that is not enough.
    pub elo0: f64,
    /// The lead that is.
    pub elo1: f64,
    /// Chance of a promotion with a lead of `elo0`.
    pub alpha: f64,
    /// Chance of none with a lead of `elo1`.
    pub beta: f64,
}

impl GateTest {
    fn sprt(&self) -> Result<Sprt, SprtError> {
        Sprt::new(self.elo0, self.elo1, self.alpha, self.beta)
    }
}

impl GateConfig {
    /// What the numbers must hold to.
    pub(crate) fn bounds(&self) -> Vec<Bound> {
        let GateConfig::Sprt(test) = self else { return Vec::new() };
        let sprt = test.sprt().err().map(|error| error.to_string());
        vec![
            Bound::count("gate.rounds", test.rounds, 1, 1_000_000),
            Bound::count("gate.pairs", test.pairs, 8, 1_000_000),
            Bound::new(
                sprt.is_none(),
                "gate",
                sprt.unwrap_or_default(),
                "`elo0` below `elo1`, both from -1000 to 1000, and `alpha` and `beta` above 0 and \
                 below 0.5",
            ),
        ]
    }
}

/// The network that plays in self-play.
#[derive(Debug)]
pub(super) struct Champion {
    pub(super) net: Net,
    /// The round that made it; 0 is the untrained network.
    pub(super) round: u32,
    /// The optimiser steps that made it.
    pub(super) step: u64,
}

/// What a test has come to.
pub(super) struct GateReport {
    /// Whether the new network plays from now on.
    pub(super) promoted: bool,
    verdict: Option<Verdict>,
    tally: Tally,
    /// Whose network plays from now on.
    champion: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BestText {
    round: u32,
}

/// The champion of a new run: its untrained network. `None` without a gate.
pub(super) fn begin(config: &GateConfig, untrained: &Net) -> Option<Champion> {
    matches!(config, GateConfig::Sprt(_)).then(|| Champion {
        net: untrained.copy(),
        round: 0,
        step: 0,
    })
}

/// The champion of a run that goes on after a round; `load` reads the play network
/// of a round, with its steps.
pub(super) fn resume(
    config: &GateConfig,
    dir: &RunDir,
    round: u32,
    load: impl FnOnce(u32) -> anyhow::Result<(Net, u64)>,
) -> anyhow::Result<Option<Champion>> {
    if *config == GateConfig::Off {
        return Ok(None);
    }
    let path = dir.state(round).join(BEST);
    let BestText { round: best } = sealed::load(&path)?;
    if best > round {
        bail!("{} names round {best}, expected one up to {round}", path.display());
    }
    let (net, step) = load(best)?;
    Ok(Some(Champion { net, round: best, step }))
}

/// Saves whose network plays into the folder of a state.
pub(super) fn save(run: &Run<'_>, folder: &Path) -> anyhow::Result<()> {
    let Some(champion) = &run.champion else { return Ok(()) };
    sealed::save(&folder.join(BEST), &BestText { round: champion.round })
}

/// Tests the network that a round has made against the champion, if a test is
/// due. `None` where there was no test; one that was stopped has no verdict.
pub(super) fn test(run: &Run<'_>, round: u32) -> anyhow::Result<Option<GateReport>> {
    let (GateConfig::Sprt(test), Some(champion)) = (&run.config.gate, &run.champion) else {
        return Ok(None);
    };
    if !round.is_multiple_of(test.rounds) {
        return Ok(None);
    }
    let (tally, verdict) = play(run, champion, test, round)?;
    let promoted = verdict == Some(Verdict::Accepted);
    let champion = if promoted { round } else { champion.round };
    Ok(Some(GateReport { promoted, verdict, tally, champion }))
}

/// The games of a test, until it has a verdict.
fn play(
    run: &Run<'_>,
    champion: &Champion,
    test: &GateTest,
    round: u32,
) -> anyhow::Result<(Tally, Option<Verdict>)> {
    let sprt = test.sprt()?;
    let setups = match &run.setups {
        Some(learner) => Setups::Learned(Box::new(Mixture::new(
            learner.trainer.average.copy(),
            SetupSpace::new(&run.rules),
        ))),
        None => Setups::Uniform(SetupSpace::new(&run.rules)),
    };
    let settings = Match {
        rules: run.rules.clone(),
        pairs: 0..u64::from(test.pairs),
        seed: derive(run.config.run.seed, Purpose::Match, &[2, u64::from(round)]),
        setups: (&setups, None),
        opening_plies: 0,
    };
    let new = agents(run, &run.trainer.average);
    let players = new.into_iter().zip(agents(run, &champion.net)).map(|(new, old)| [new, old]);
    let (mut tally, mut verdict) = (Tally::default(), None);
    let mut stage = run.reporter.stage("gate", u64::from(test.pairs));
    play_match(players.collect(), &settings, run.stop, |pair| {
        tally.add(&pair);
        stage.update(pair.number + 1, &format!("against round {}", champion.round));
        verdict = sprt.verdict(&tally.pairs);
        match verdict {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    })?;
    if run.stopped() {
        stage.clear();
        return Ok((tally, None));
    }
    let what = match verdict {
        Some(Verdict::Accepted) => "promoted",
        Some(Verdict::Rejected) => "not promoted",
        None => "no verdict, not promoted",
    };
    let against = champion.round;
    let summary = tally.summary();
    stage.finish(&format!("round {round}: {what} with {summary} against round {against}"));
    Ok((tally, verdict))
}

impl GateReport {
    /// The numbers for the metrics.
    pub(super) fn to_json(&self) -> Value {
        let (low, high) = self.tally.pairs.interval();
        json!({
            "promoted": self.promoted,
            "verdict": self.verdict.is_some(),
            "pairs": self.tally.pairs.count(),
            "repeats": self.tally.repeats,
            "share": self.tally.pairs.share(),
            "interval": [low, high],
            "champion": self.champion,
        })
    }
}
