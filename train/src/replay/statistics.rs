//! What games were like, counted game by game.

use std::collections::BTreeMap;
use std::fmt;

use cyvasse_env::{DrawReason, Outcome, Side};
use cyvasse_selfplay::{GameRecord, PlyKind, PlyRecord, SetupSource};
use serde::Serialize;

use super::calibration::{Calibration, CalibrationBin};
use crate::evaluation::statistics::Score;

/// Bins of values between -1 and 1.
const BINS: usize = 10;

/// What games were like.
#[derive(Clone, Debug)]
pub struct GameStatistics {
    /// Plies of each game.
    lengths: Vec<u32>,
    ends: Ends,
    resigned: u64,
    /// By seat and source: the games of that side.
    scores: [[Score; SetupSource::ALL.len()]; 2],
    /// Plies by kind.
    kinds: [u64; PlyKind::ALL.len()],
    targets: u64,
    entropy: f64,
    surprise: f64,
    simulations: u64,
    proven: u64,
    calibration: Calibration,
}

/// How games ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ends {
    /// Won by white.
    pub white: u64,
    /// Won by black.
    pub black: u64,
    /// Drawn by repetition.
    pub repetition: u64,
    /// Drawn without progress.
    pub no_progress: u64,
    /// Drawn by length.
    pub length: u64,
}

/// The numbers of [`GameStatistics`]; those that need games or plies are `None`
/// where there are none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Games.
    pub games: u64,
    /// Plies of all games.
    pub plies: u64,
    /// Lengths of games in plies.
    pub lengths: Option<Lengths>,
    /// How they ended.
    pub ends: Ends,
    /// Games that were resigned.
    pub resigned: u64,
    /// Mean points of white: a win 1, a draw 0.5.
    pub white_score: Option<f64>,
    /// By seat (`white`, `black`) and source of that side's setup: how the side fared.
    pub sources: BTreeMap<String, BTreeMap<&'static str, SourceScore>>,
    /// Plies that were searched in full.
    pub full_plies: u64,
    /// Plies that were searched cheaply.
    pub cheap_plies: u64,
    /// Plies of random openings.
    pub opening_plies: u64,
    /// Plies with a policy target.
    pub targets: u64,
    /// Mean entropy of the policy targets, in nats.
    pub policy_entropy: Option<f64>,
    /// Mean divergence of policy targets from the network's priors, in nats; `None`
    /// where it is not known (shards before version 3).
    pub policy_surprise: Option<f64>,
    /// Mean simulations of a search.
    pub simulations: Option<f64>,
    /// Share of searches that proved the value of their root.
    pub proven: Option<f64>,
    /// What the values of the roots were worth.
    pub values: ValueSummary,
}

/// Lengths of games in plies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lengths {
    /// The mean.
    pub mean: f64,
    /// The shortest.
    pub least: u32,
    /// At most half of the games are shorter.
    pub median: u32,
    /// At most nine games of ten are shorter.
    pub ninth_decile: u32,
    /// The longest.
    pub most: u32,
}

/// How the side with setups of one source fared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SourceScore {
    /// Games.
    pub games: u64,
    /// Mean points: a win 1, a draw 0.5.
    pub score: f64,
}

/// What the values of searches were worth, over games that were played to their end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueSummary {
    /// Positions.
    pub positions: u64,
    /// Mean square of root value less result.
    pub mean_square_error: Option<f64>,
    /// Mean distance of value and result within bins.
    pub calibration_error: Option<f64>,
    /// The bins, from -1 to 1; `None` for those without positions.
    pub bins: Vec<Option<CalibrationBin>>,
}

impl Default for GameStatistics {
    fn default() -> GameStatistics {
        GameStatistics {
            lengths: Vec::new(),
            ends: Ends::default(),
            resigned: 0,
            scores: Default::default(),
            kinds: [0; PlyKind::ALL.len()],
            targets: 0,
            entropy: 0.0,
            surprise: 0.0,
            simulations: 0,
            proven: 0,
            calibration: Calibration::new(BINS),
        }
    }
}

impl GameStatistics {
    /// The statistics of some games.
    #[must_use]
    pub fn of(games: &[GameRecord]) -> GameStatistics {
        let mut statistics = GameStatistics::default();
        games.iter().for_each(|game| statistics.add(game));
        statistics
    }

    /// Counts a game.
    pub fn add(&mut self, game: &GameRecord) {
        self.lengths.push(game.plies.len() as u32);
        self.ends.count(game.outcome);
        self.resigned += u64::from(game.resigned);
        for seat in Side::ALL {
            let source = game.sources[seat.index()] as usize;
            self.scores[seat.index()][source].count(game.outcome, seat);
        }
        game.plies.iter().for_each(|ply| self.add_ply(ply));
        self.calibration.add(game);
    }

    fn add_ply(&mut self, ply: &PlyRecord) {
        self.kinds[ply.kind as usize] += 1;
        if ply.kind != PlyKind::Opening {
            self.simulations += u64::from(ply.simulations);
            self.proven += u64::from(ply.proven);
        }
        if !ply.policy.is_empty() {
            self.targets += 1;
            self.entropy += entropy(ply.policy.iter().map(|&(_, share)| share));
            self.surprise += f64::from(ply.surprise);
        }
    }

    /// The numbers so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let [full, cheap, opening] = self.kinds;
        let searches = full + cheap;
        let Ends { white, black, .. } = self.ends;
        let games = self.lengths.len() as u64;
        let draws = games - white - black;
        Summary {
            games,
            plies: self.lengths.iter().map(|&plies| u64::from(plies)).sum(),
            lengths: Lengths::of(&self.lengths),
            ends: self.ends,
            resigned: self.resigned,
            white_score: mean(white as f64 + 0.5 * draws as f64, games),
            sources: self.sources(),
            full_plies: full,
            cheap_plies: cheap,
            opening_plies: opening,
            targets: self.targets,
            policy_entropy: mean(self.entropy, self.targets),
            policy_surprise: mean(self.surprise, self.targets).filter(|&surprise| surprise > 0.0),
            simulations: mean(self.simulations as f64, searches),
            proven: mean(self.proven as f64, searches),
            values: ValueSummary {
                positions: self.calibration.positions(),
                mean_square_error: self.calibration.mean_square_error(),
                calibration_error: self.calibration.calibration_error(),
                bins: self.calibration.bins(),
            },
        }
    }

    fn sources(&self) -> BTreeMap<String, BTreeMap<&'static str, SourceScore>> {
        let of_seat = |seat: Side| {
            let sources = SetupSource::ALL.into_iter().filter_map(move |source| {
                let score = self.scores[seat.index()][source as usize];
                let games = score.games();
                let points = score.wins as f64 + 0.5 * score.draws as f64;
                Some((source.name(), SourceScore { games, score: mean(points, games)? }))
            });
            (seat.to_string(), sources.collect())
        };
        Side::ALL.into_iter().map(of_seat).collect()
    }
}

/// Entropy of some shares that add up to 1, in nats.
fn entropy(shares: impl Iterator<Item = f32>) -> f64 {
    -shares.map(f64::from).map(|share| share * share.ln()).sum::<f64>()
}

fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

impl Ends {
    fn count(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Win(Side::White) => &mut self.white,
            Outcome::Win(Side::Black) => &mut self.black,
            Outcome::Draw(DrawReason::Repetition) => &mut self.repetition,
            Outcome::Draw(DrawReason::NoProgress) => &mut self.no_progress,
            Outcome::Draw(DrawReason::Length) => &mut self.length,
        } += 1;
    }
}

impl Lengths {
    fn of(lengths: &[u32]) -> Option<Lengths> {
        let mut sorted = lengths.to_vec();
        sorted.sort_unstable();
        let at = |share: f64| sorted[(share * sorted.len() as f64) as usize];
        Some(Lengths {
            mean: mean(sorted.iter().map(|&plies| f64::from(plies)).sum(), sorted.len() as u64)?,
            least: *sorted.first()?,
            median: at(0.5),
            ninth_decile: at(0.9),
            most: *sorted.last()?,
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: Option<f64>| {
            share.map_or("none".into(), |share| format!("{:.1}%", 100.0 * share))
        };
        let number =
            |number: Option<f64>| number.map_or("none".into(), |number| format!("{number:.3}"));
        writeln!(f, "games: {}, with {} plies", self.games, self.plies)?;
        if let Some(Lengths { mean, least, median, ninth_decile, most }) = self.lengths {
            write!(f, "lengths: {mean:.1} plies on average, from {least} to {most}; ")?;
            writeln!(f, "half have up to {median}, nine of ten up to {ninth_decile}")?;
        }
        let Ends { white, black, repetition, no_progress, length } = self.ends;
        write!(f, "results: white won {white}, black won {black}; draws: {repetition} by ")?;
        writeln!(f, "repetition, {no_progress} without progress, {length} by length")?;
        writeln!(f, "white's share of the points: {}", percent(self.white_score))?;
        for (seat, sources) in &self.sources {
            for (source, SourceScore { games, score }) in sources {
                let score = percent(Some(*score));
                writeln!(f, "  {seat} with {source} setups: {score} of {games} games")?;
            }
        }
        write!(f, "plies: {} searched in full, {} cheaply, ", self.full_plies, self.cheap_plies)?;
        writeln!(f, "{} of random openings; {} policy targets", self.opening_plies, self.targets)?;
        write!(f, "policy targets: entropy {} nats, ", number(self.policy_entropy))?;
        writeln!(f, "divergence from the network's priors {} nats", number(self.policy_surprise))?;
        write!(f, "searches: {} simulations, ", number(self.simulations))?;
        writeln!(f, "{} proved the value of their root", percent(self.proven))?;
        let values = &self.values;
        write!(f, "root values of {} positions against the results: ", values.positions)?;
        write!(f, "mean square error {}, ", number(values.mean_square_error))?;
        writeln!(f, "calibration error {}", number(values.calibration_error))?;
        for CalibrationBin { predicted, actual, positions } in values.bins.iter().flatten() {
            writeln!(f, "  said {predicted:+.2}, was {actual:+.2} ({positions} positions)")?;
        }
        write!(f, "resigned: {}", self.resigned)
    }
}
