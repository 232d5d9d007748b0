//! The newest positions of a run, drawn from its shards on the disk.
//!
//! A position takes some 200 bytes in a shard's arrays and more as a [`Sample`],
//! so that millions of them are not kept in memory. The window knows how many
//! positions each shard has. All draws of many steps are looked up together,
//! shard by shard: each shard is read once for them and each game is played
//! through once. Since every shard is
//! visited in turn, what is kept in memory between two visits is simply as many
//! shards as a bound allows; replacing them by use would only ever drop the one
//! that is needed next.
//!
//! Where a config asks for it, positions whose policy target surprised the network
//! stand in the window several times, and others less than once: see [`by_surprise`].

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyvasse_env::Rules;
use cyvasse_selfplay::PlyKind;
use cyvasse_selfplay::replay::{ReplayError, Shard};
use rayon::prelude::*;

use super::config::TrainingConfig;
use super::held_out::HeldOut;
use super::sample::{Sample, drawn_share, samples_of_game};

/// How many of the newest positions are learned from.
///
/// The window grows with the run by a power law (Wu 2019, "Accelerating self-play
/// learning in Go", appendix C): early games are soon unlike what the network
/// plays, later ones stay of use for longer. After `N` positions it reaches
/// `c (1 + b ((N / c)^a - 1) / a)` of them, where `c`, `b` and `a` are the
/// fields; `c` while there are fewer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSize {
    /// The positions that the window begins with.
    pub least: u32,
    /// Its growth, 0 to 1, for each new position when growth begins; 0 for a
    /// window that stays as it is. Of the paper: 0.4.
    pub growth: f64,
    /// How the growth goes on: 1 as it begins, less ever more slowly; over 0. Of the
    /// paper: 0.75.
    pub exponent: f64,
}

impl WindowSize {
    /// The number of positions that the window reaches after `total` of the run.
    #[must_use]
    pub fn reach(&self, total: u64) -> u64 {
        let least = f64::from(self.least);
        let ratio = (total as f64 / least).max(1.0);
        let factor = 1.0 + self.growth * (ratio.powf(self.exponent) - 1.0) / self.exponent;
        (least * factor) as u64
    }
}

/// The newest positions of a run that are learned from.
#[derive(Debug)]
pub struct Window {
    size: WindowSize,
    rules: Arc<Rules>,
    held_out: HeldOut,
    lambda: f32,
    /// Share of the draws that go by surprise, 0 to 1.
    surprise: f64,
    /// Bytes of shards that may stay in memory between draws.
    most_kept: usize,
    /// Oldest first.
    shards: VecDeque<Source>,
    /// Positions of the run so far, those that the window has left behind too.
    total: u64,
    kept_bytes: usize,
}

/// A shard of the window.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    number: u32,
    positions: u64,
    /// In memory, if there was room.
    kept: Option<Opened>,
}

/// A shard in memory, and where in it the positions are that are learned from.
#[derive(Debug)]
struct Opened {
    shard: Shard,
    /// Positions before each game, and of all games.
    before: Vec<u32>,
    /// The position behind each place that can be drawn, ascending, such as 0 2 2 3 of
    /// four positions of which 2 surprised; `None` if each place is its own position.
    positions: Option<Vec<u32>>,
    /// Share of the shard's games that were drawn.
    drawn: f32,
}

/// A position that was drawn.
#[derive(Clone, Copy, Debug)]
struct Draw {
    /// Its number within the window's shards.
    place: u64,
    /// Where the caller wants it.
    slot: usize,
}

impl Window {
    /// An empty window, as a config asks for. `held_out` games are no part of it.
    #[must_use]
    pub fn new(config: &TrainingConfig, held_out: HeldOut, rules: Arc<Rules>) -> Window {
        Window {
            size: config.window_size(),
            rules,
            held_out,
            lambda: config.value_lambda,
            surprise: config.policy_surprise,
            most_kept: config.window_memory_mb as usize * 1_000_000,
            shards: VecDeque::new(),
            total: 0,
            kept_bytes: 0,
        }
    }

    /// Counts positions of the run that the window does not have: those of shards
    /// that are too old for it, or lost.
    pub fn skip(&mut self, positions: u64) {
        self.total += positions;
    }

    /// Adds a shard, newer than all others, and returns its number of positions.
    /// Shards that the window does not reach any more are left behind.
    pub fn add(&mut self, shard: Shard) -> u64 {
        let (path, number) = (shard.path().to_path_buf(), shard.header().shard);
        let opened = self.opened(shard);
        let positions = opened.positions();
        self.shards.push_back(Source { path, number, positions, kept: None });
        self.total += positions;
        while self.shards.len() > 1 && self.held() - self.shards[0].positions >= self.reach() {
            self.remove(0);
        }
        self.keep(self.shards.len() - 1, opened);
        positions
    }

    /// The number of the oldest shard.
    #[must_use]
    pub fn oldest(&self) -> Option<u32> {
        self.shards.front().map(|source| source.number)
    }

    /// The number of positions to draw from.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held().min(self.reach()) as usize
    }

    /// Whether there is no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets a shard that has been lost; what was in it still counts as
    /// positions of the run. Returns whether it was there.
    pub fn forget(&mut self, path: &Path) -> bool {
        let index = self.shards.iter().position(|source| source.path == path);
        index.map(|index| self.remove(index)).is_some()
    }

    /// Looks up positions by their numbers in the window, 0 for the oldest, in the
    /// order in which they are asked for. What is looked up together should be
    /// as much as there is memory for.
    ///
    /// # Errors
    /// A shard that cannot be read.
    ///
    /// # Panics
    /// If a number is not under [`Window::len`].
    pub fn look_up(&mut self, numbers: &[usize]) -> Result<Vec<Sample>, ReplayError> {
        let older = self.held() - self.len() as u64;
        let mut draws: Vec<Draw> = numbers
            .iter()
            .enumerate()
            .map(|(slot, &number)| Draw { place: older + number as u64, slot })
            .collect();
        draws.sort_unstable_by_key(|draw| (draw.place, draw.slot));
        let mut samples: Vec<Option<Sample>> = vec![None; draws.len()];
        let mut rest = &mut draws[..];
        let mut first = 0;
        for index in 0..self.shards.len() {
            let end = first + self.shards[index].positions;
            let (of_shard, later) =
                rest.split_at_mut(rest.partition_point(|draw| draw.place < end));
            rest = later;
            if !of_shard.is_empty() {
                of_shard.iter_mut().for_each(|draw| draw.place -= first);
                for (slot, sample) in self.read(index, of_shard)? {
                    samples[slot] = Some(sample);
                }
            }
            first = end;
        }
        assert!(rest.is_empty(), "a number outside the window");
        Ok(samples.into_iter().flatten().collect())
    }

    /// Reads positions of a shard, ordered by their places in it.
    fn read(&mut self, index: usize, draws: &[Draw]) -> Result<Vec<(usize, Sample)>, ReplayError> {
        let lambda = self.lambda;
        if let Some(opened) = &self.shards[index].kept {
            return opened.read(draws, lambda);
        }
        let shard = Shard::open(&self.shards[index].path, &self.rules)?;
        let opened = self.opened(shard);
        let samples = opened.read(draws, lambda);
        self.keep(index, opened);
        samples
    }

    fn opened(&self, shard: Shard) -> Opened {
        Opened::new(shard, &self.held_out, self.surprise)
    }

    /// Keeps a shard in memory if there is room.
    fn keep(&mut self, index: usize, opened: Opened) {
        let bytes = opened.memory();
        if self.kept_bytes + bytes <= self.most_kept {
            self.kept_bytes += bytes;
            self.shards[index].kept = Some(opened);
        }
    }

    fn remove(&mut self, index: usize) {
        let kept = self.shards.remove(index).and_then(|source| source.kept);
        self.kept_bytes -= kept.map_or(0, |opened| opened.memory());
    }

    /// Positions of the shards that are at least partly within reach.
    fn held(&self) -> u64 {
        self.shards.iter().map(|source| source.positions).sum()
    }

    fn reach(&self) -> u64 {
        self.size.reach(self.total)
    }
}

impl Opened {
    fn new(shard: Shard, held_out: &HeldOut, surprise: f64) -> Opened {
        let mut before = vec![0];
        let mut surprises = Vec::new();
        for game in 0..shard.game_count() {
            if !held_out.contains(shard.id(game)) {
                let plies = shard.kinds(game).zip(shard.surprises(game));
                let taught = plies.filter(|(kind, _)| *kind == PlyKind::Full);
                surprises.extend(taught.map(|(_, &surprise)| surprise));
            }
            before.push(surprises.len() as u32);
        }
        let drawn = drawn_share(&shard);
        let positions = (surprise > 0.0).then(|| by_surprise(&surprises, surprise));
        Opened { shard, before, positions, drawn }
    }

    fn memory(&self) -> usize {
        self.shard.memory() + 4 * (self.before.len() + self.positions.as_ref().map_or(0, Vec::len))
    }

    fn positions(&self) -> u64 {
        self.before.last().copied().unwrap_or(0).into()
    }

    /// A draw of the position behind a place.
    fn drawn(&self, draw: &Draw) -> Draw {
        let positions = self.positions.as_ref();
        let place = positions.map_or(draw.place, |all| all[draw.place as usize].into());
        Draw { place, ..*draw }
    }

    /// The game that has a position.
    fn game(&self, draw: &Draw) -> usize {
        self.before.partition_point(|&before| u64::from(before) <= draw.place) - 1
    }

    fn read(&self, draws: &[Draw], lambda: f32) -> Result<Vec<(usize, Sample)>, ReplayError> {
        let draws: Vec<Draw> = draws.iter().map(|draw| self.drawn(draw)).collect();
        let games: Vec<&[Draw]> =
            draws.chunk_by(|one, other| self.game(one) == self.game(other)).collect();
        let read = |draws: &[Draw]| self.read_game(self.game(&draws[0]), draws, lambda);
        let samples: Vec<_> = games.into_par_iter().map(read).collect::<Result<_, _>>()?;
        Ok(samples.into_iter().flatten().collect())
    }

    /// Reads positions of one game: all of it, for values depend on later plies.
    fn read_game(
        &self,
        game: usize,
        draws: &[Draw],
        lambda: f32,
    ) -> Result<Vec<(usize, Sample)>, ReplayError> {
        let samples = samples_of_game(&self.shard, game, self.drawn, lambda)?;
        let sample = |draw: &Draw| {
            let place = draw.place - u64::from(self.before[game]);
            (draw.slot, samples[place as usize].clone())
        };
        Ok(draws.iter().map(sample).collect())
    }
}

/// As many positions as there are, ascending, some of them several times and others
/// not at all: `share` of them by how much their policy targets surprised the network,
/// the rest evenly (Wu, "KataGoMethods", policy surprise weighting). The numbers
/// of a position differ from its weight by less than 1 (systematic resampling).
fn by_surprise(surprises: &[f32], share: f64) -> Vec<u32> {
    let sum: f64 = surprises.iter().copied().map(f64::from).sum();
    let scale = if sum > 0.0 { share * surprises.len() as f64 / sum } else { 0.0 };
    let even = if sum > 0.0 { 1.0 - share } else { 1.0 };
    let mut drawn = Vec::with_capacity(surprises.len());
    let mut weights = 0.0;
    for (position, &surprise) in (0..).zip(surprises) {
        weights += even + scale * f64::from(surprise);
        while drawn.len() < surprises.len() && drawn.len() as f64 + 0.5 < weights {
            drawn.push(position);
        }
    }
    // Rounding can leave the last one out.
    drawn.resize(surprises.len(), surprises.len().saturating_sub(1) as u32);
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_drawn_by_their_weights() {
        let surprises: Vec<f32> = (0..1000).map(|i| ((i * 37) % 101) as f32 / 50.0).collect();
        let mean = surprises.iter().sum::<f32>() / 1000.0;
        for share in [0.1, 0.5, 1.0] {
            let drawn = by_surprise(&surprises, share);
            assert!(drawn.len() == 1000 && drawn.is_sorted());
            for (position, surprise) in (0..).zip(&surprises) {
                let count = drawn.iter().filter(|&&one| one == position).count() as f64;
                let weight = 1.0 - share + share * f64::from(surprise / mean);
                assert!((count - weight).abs() < 1.0, "{position}: {count} of {weight}");
            }
        }
    }

    #[test]
    fn without_surprises_all_are_drawn_once() {
        let all: Vec<u32> = (0..9).collect();
        assert_eq!(by_surprise(&[0.0; 9], 0.5), all);
        assert_eq!(by_surprise(&[2.0; 9], 0.5), all);
        assert_eq!(by_surprise(&[2.0; 9], 0.0), all);
        assert!(by_surprise(&[], 0.5).is_empty());
    }
}
