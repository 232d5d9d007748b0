//! What a report tells, read from the run directory.

use std::fs;
use std::path::{Path, PathBuf};

use cyvasse_env::{DrawReason, Outcome, Position, Rules, Setup, Side, Tile, Unit};
use cyvasse_selfplay::replay::{ReplayError, Shard};
use cyvasse_selfplay::{GameRecord, PlyKind};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::config::{ConfigError, read_rules};
use crate::evaluation::LadderReport;
use crate::evaluation::ladder::ResultsError;
use crate::pipeline::LADDER_FILE;
use crate::replay::{Calibration, CalibrationBin};

/// Everything that a report tells.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The run directory.
    pub run: PathBuf,
    /// The name of the rules.
    pub rules: String,
    /// The rounds, in their order.
    pub rounds: Vec<Round>,
    /// The ladder's ratings; `null` before `cyvasse evaluate ladder`.
    pub ladder: Option<LadderReport>,
    /// What the values of the newest games' searches were worth.
    pub calibration: Vec<CalibrationBin>,
    /// Where the newest games' setups have their tiles and units.
    pub marginals: Vec<Marginal>,
    /// Some of the newest games.
    pub games: Vec<ShownGame>,
}

/// A round of the run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Round {
    /// Its number.
    pub round: u32,
    /// Optimiser steps so far.
    pub step: u64,
    /// Games finished so far.
    pub games: u64,
    /// Hours of work so far; `null` in runs of versions that did not count.
    pub hours: Option<f64>,
    /// Mean loss of the policy head; `null` in a round without a step.
    pub policy_loss: Option<f64>,
    /// Mean loss of the value head; `null` in a round without a step.
    pub value_loss: Option<f64>,
    /// What became of the games that ended in the round.
    pub results: Option<RoundResults>,
}

/// What became of some games.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RoundResults {
    /// Mean length in plies.
    pub mean_plies: f64,
    /// Share of games won by white.
    pub white: f64,
    /// Share of games won by black.
    pub black: f64,
    /// Share of games drawn by repetition.
    pub repetition: f64,
    /// Share of games drawn without progress.
    pub no_progress: f64,
    /// Share of games drawn by length.
    pub length: f64,
}

/// Where one kind of tile or unit stands in setups, in the builder's view.
#[derive(Clone, Debug, Serialize)]
pub struct Marginal {
    /// What.
    pub name: String,
    /// The share of the setups that have it there, by square: a1 to h4.
    pub shares: Vec<f64>,
}

/// A game to step through.
#[derive(Clone, Debug, Serialize)]
pub struct ShownGame {
    /// The round in which it ended, and how.
    pub title: String,
    /// Its positions, from the start on.
    pub positions: Vec<String>,
    /// Its actions, one fewer.
    pub actions: Vec<String>,
    /// What the search thought before each action, for white, -1 to 1; `null`
    /// where there was no search.
    pub values: Vec<Option<f32>>,
}

/// A run of which no report can be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// There is no run.
    #[error("{} is no run directory: {source}", path.display())]
    NoRun {
        /// The path.
        path: PathBuf,
        /// Its rules file.
        source: ConfigError,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A line of the metrics is not what it should be.
    #[error("{}, line {line}: {source}", path.display())]
    Metrics {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A shard cannot be used.
    #[error(transparent)]
    Shard(#[from] ReplayError),
    /// The ladder's results cannot be used.
    #[error(transparent)]
    Ladder(#[from] ResultsError),
}

/// What a report needs of a line of metrics; there may be more in it.
#[derive(Deserialize)]
struct MetricsLine {
    round: u32,
    step: u64,
    games: u64,
    policy_loss: Option<f64>,
    value_loss: Option<f64>,
    seconds: Option<f64>,
}

/// Newest games that calibration and setups are told from.
const NEWEST_GAMES: usize = 2000;

/// Games of a round that its results are told from.
const GAMES_OF_ROUND: usize = 5000;

const BINS: usize = 20;

impl Report {
    /// Reads a run directory; the run may be going on.
    ///
    /// # Errors
    /// A directory without a run, or with files that are not sound.
    pub fn read(run: &Path) -> Result<Report, ReportError> {
        let rules = read_rules(&run.join("rules.toml"))
            .map_err(|source| ReportError::NoRun { path: run.into(), source })?;
        let mut rounds = read_metrics(&run.join("metrics.jsonl"))?;
        let mut newest: Vec<(u32, GameRecord)> = Vec::new();
        for round in rounds.iter_mut().rev() {
            let path = run.join(format!("shards/round-{:04}.h5", round.round));
            if !path.exists() {
                continue;
            }
            let shard = Shard::open(&path, &rules)?;
            round.results = Some(results(&shard));
            let wanted = NEWEST_GAMES.saturating_sub(newest.len()).min(shard.game_count());
            for game in 0..wanted {
                newest.push((round.round, shard.game(game)?));
            }
        }
        Ok(Report {
            run: run.into(),
            rules: rules.name.clone(),
            ladder: LadderReport::read(&run.join(LADDER_FILE))?,
            calibration: calibration(&newest),
            marginals: marginals(&newest, &rules),
            games: chosen(&newest).into_iter().map(|(round, game)| shown(*round, game)).collect(),
            rounds,
        })
    }
}

fn read_metrics(path: &Path) -> Result<Vec<Round>, ReportError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path)
        .map_err(|source| ReportError::Read { path: path.into(), source })?;
    let (mut games, mut hours) = (0, Some(0.0));
    let round = |(index, line): (usize, &str)| {
        let line: MetricsLine = serde_json::from_str(line).map_err(|source| {
            ReportError::Metrics { path: path.into(), line: index + 1, source }
        })?;
        games += line.games;
        hours = hours.zip(line.seconds).map(|(hours, seconds)| hours + seconds / 3600.0);
        let MetricsLine { round, step, policy_loss, value_loss, .. } = line;
        Ok(Round { round, step, games, hours, policy_loss, value_loss, results: None })
    };
    // A last line without an end is still being written, or never was.
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.enumerate().map(round).collect()
}

/// What became of the games of a shard.
fn results(shard: &Shard) -> RoundResults {
    let count = shard.game_count().min(GAMES_OF_ROUND);
    let one = 1.0 / count.max(1) as f64;
    let mut results = RoundResults::default();
    for game in 0..count {
        results.mean_plies += one * shard.plies_of(game) as f64;
        *match shard.outcome(game) {
            Outcome::Win(Side::White) => &mut results.white,
            Outcome::Win(Side::Black) => &mut results.black,
            Outcome::Draw(DrawReason::Repetition) => &mut results.repetition,
            Outcome::Draw(DrawReason::NoProgress) => &mut results.no_progress,
            Outcome::Draw(DrawReason::Length) => &mut results.length,
        } += one;
    }
    results
}

fn turn_at(ply: usize) -> Side {
    Side::ALL[ply % 2]
}

fn calibration(games: &[(u32, GameRecord)]) -> Vec<CalibrationBin> {
    let mut calibration = Calibration::new(BINS);
    games.iter().for_each(|(_, game)| calibration.add(game));
    calibration.bins().into_iter().flatten().collect()
}

fn marginals(games: &[(u32, GameRecord)], rules: &Rules) -> Vec<Marginal> {
    let setups: Vec<&Setup> = games.iter().flat_map(|(_, game)| &game.setups).collect();
    let share = |holds: &dyn Fn(&Setup, usize) -> bool| {
        let count = |square| setups.iter().filter(|setup| holds(setup, square)).count();
        (0..Setup::SQUARES)
            .map(|square| count(square) as f64 / setups.len().max(1) as f64)
            .collect()
    };
    let tiles = Tile::LAID.into_iter().filter(|tile| rules.tiles.count(*tile) > 0);
    let tiles = tiles.map(|tile| Marginal {
        name: tile.to_string(),
        shares: share(&|setup, square| setup.tiles()[square] == tile),
    });
    let units = Unit::ALL.into_iter().filter(|unit| rules.unit(*unit).count > 0);
    let units = units.map(|unit| Marginal {
        name: unit.to_string(),
        shares: share(&|setup, square| setup.units()[square] == Some(unit)),
    });
    if setups.is_empty() { Vec::new() } else { units.chain(tiles).collect() }
}

/// Games of several lengths among the newest.
fn chosen(games: &[(u32, GameRecord)]) -> Vec<&(u32, GameRecord)> {
    let newest = games.first().map_or(0, |(round, _)| *round);
    let mut games: Vec<_> = games.iter().filter(|(round, _)| *round == newest).collect();
    games.sort_by_key(|(_, game)| game.plies.len());
    let mut places: Vec<usize> =
        [0.3, 0.5, 0.7, 0.9, 1.0].map(|part| (part * games.len() as f64) as usize).into();
    places.iter_mut().for_each(|place| *place = (*place).min(games.len().saturating_sub(1)));
    places.dedup();
    places.into_iter().filter_map(|place| games.get(place).copied()).collect()
}

fn shown(round: u32, game: &GameRecord) -> ShownGame {
    let mut position = Position::start(&game.setups[0], &game.setups[1]);
    let mut positions = vec![position.to_string()];
    for ply in &game.plies {
        position.play_unchecked(ply.action);
        positions.push(position.to_string());
    }
    let value = |(number, ply): (usize, &cyvasse_selfplay::PlyRecord)| {
        let searched = ply.kind != PlyKind::Opening;
        searched.then(|| ply.root_value.for_white(turn_at(number)).get())
    };
    let resigned = if game.resigned { ", resigned" } else { "" };
    ShownGame {
        title: format!("round {round}: {}{resigned}, {} plies", game.outcome, game.plies.len()),
        positions,
        actions: game.plies.iter().map(|ply| ply.action.to_string()).collect(),
        values: game.plies.iter().enumerate().map(value).collect(),
    }
}

#[cfg(test)]
mod tests {
    use cyvasse_env::{Action, SetupSpace};
    use cyvasse_selfplay::{GameId, MoverValue, PlyRecord, SetupSource};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Two random plies and two searched ones; white wins.
    fn game(resigned: bool) -> GameRecord {
        let rules = Rules::iron_throne();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let setups = [(); 2].map(|()| SetupSpace::new(&rules).sample(&mut rng));
        let mut position = Position::start(&setups[0], &setups[1]);
        let ply = |(kind, value)| {
            let mut actions: Vec<Action> = Vec::new();
            position.legal_actions(&rules, &mut actions);
            position.play_unchecked(actions[0]);
            PlyRecord {
                kind,
                action: actions[0],
                policy: Vec::new(),
                surprise: 0.0,
                root_value: MoverValue::new(value),
                proven: false,
                simulations: 1,
                network_step: 0,
            }
        };
        let plies = [
            (PlyKind::Opening, 0.0),
            (PlyKind::Opening, 0.0),
            (PlyKind::Full, 0.75),
            (PlyKind::Cheap, -0.25),
        ];
        GameRecord {
            id: GameId { slot: 0, sequence: 0 },
            setups,
            sources: [SetupSource::Uniform; 2],
            plies: plies.into_iter().map(ply).collect(),
            outcome: Outcome::Win(Side::White),
            resigned,
        }
    }

    #[test]
    fn only_searches_of_games_played_on_are_calibrated() {
        let bins = calibration(&[(1, game(false)), (1, game(true))]);
        let bins: Vec<_> =
            bins.iter().map(|bin| (bin.predicted, bin.actual, bin.positions)).collect();
        assert_eq!(bins, [(-0.25, -1.0, 1), (0.75, 1.0, 1)]);
    }

    #[test]
    fn a_shown_game_tells_of_resignation_and_of_no_search() {
        let (played, given_up) = (shown(3, &game(false)), shown(3, &game(true)));
        assert_eq!(played.values, [None, None, Some(0.75), Some(0.25)]);
        assert!(given_up.title.ends_with("resigned, 4 plies"), "{}", given_up.title);
        assert!(!played.title.contains("resigned"));
    }

    #[test]
    fn a_round_without_losses_and_a_torn_line_are_no_faults() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let line = |round, loss| {
            format!(
                r#"{{"round":{round},"step":0,"games":5,"policy_loss":{loss},"value_loss":{loss}}}"#
            )
        };
        fs::write(&path, format!("{}\n{}\n{{\"round\":3", line(1, "null"), line(2, "0.5")))
            .unwrap();
        let rounds = read_metrics(&path).unwrap();
        let told: Vec<_> = rounds.iter().map(|round| (round.games, round.policy_loss)).collect();
        assert_eq!(told, [(5, None), (10, Some(0.5))]);
        fs::write(&path, "{}\n").unwrap();
        assert!(read_metrics(&path).unwrap_err().to_string().contains("line 1"));
    }
}
