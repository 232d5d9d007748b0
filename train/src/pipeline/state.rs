//! What a resumed run needs beside its shards and checkpoints.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cyvasse_env::Rules;
use cyvasse_models::TensorFile;
use cyvasse_selfplay::UnfinishedGame;
use serde::{Deserialize, Serialize};

use super::sealed::{self, SealedError};
use super::unfinished::GameText;

/// The state after a round.
#[derive(Debug)]
pub(super) struct State {
    /// The optimiser.
    pub(super) optimizer: TensorFile,
    /// The shards of the run, oldest first: their rounds and the positions to learn
    /// from.
    pub(super) shards: Vec<(u32, u64)>,
    /// The rounds whose shards have been lost.
    pub(super) lost: BTreeSet<u32>,
    /// The round of the oldest shard in the window; 0 if there is none.
    pub(super) oldest: u32,
    /// The value below which players resign in the next round.
    pub(super) resign_below: f32,
    /// The newest stint of each worker whose games are in the shards.
    pub(super) taken: BTreeMap<u32, u32>,
    /// The games that are being played by the run itself.
    pub(super) games: Vec<UnfinishedGame>,
}

const OPTIMIZER: &str = "optimizer.safetensors";
const PLAY: &str = "play.json";

impl State {
    /// Writes the state into a folder.
    pub(super) fn save(&self, folder: &Path) -> anyhow::Result<()> {
        self.optimizer.save(&folder.join(OPTIMIZER))?;
        let text = PlayText {
            shards: self.shards.clone(),
            lost: self.lost.clone(),
            oldest: self.oldest,
            resign_below: self.resign_below,
            taken: self.taken.clone(),
            games: self.games.iter().map(GameText::from).collect(),
        };
        sealed::save(&folder.join(PLAY), &text)
    }

    /// Reads the state of a round.
    pub(super) fn load(folder: &Path, rules: &Rules) -> anyhow::Result<State> {
        let optimizer = TensorFile::load(&folder.join(OPTIMIZER))?;
        let path = folder.join(PLAY);
        let PlayText { shards, lost, oldest, resign_below, taken, games } = sealed::load(&path)?;
        let games = games.into_iter().map(|game| game.read(rules));
        let games = games.collect::<Result<_, String>>();
        let games = games.map_err(|reason| SealedError::foreign(&path, reason))?;
        Ok(State { optimizer, shards, lost, oldest, resign_below, taken, games })
    }
}

/// What workers need of a state.
#[derive(Debug)]
pub(super) struct ForWorkers {
    pub(super) resign_below: f32,
    pub(super) taken: BTreeMap<u32, u32>,
}

impl ForWorkers {
    /// Reads it from the folder of the state.
    pub(super) fn load(folder: &Path) -> anyhow::Result<ForWorkers> {
        let PlayText { resign_below, taken, .. } = sealed::load(&folder.join(PLAY))?;
        Ok(ForWorkers { resign_below, taken })
    }
}

/// How far self-play is.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlayText {
    shards: Vec<(u32, u64)>,
    lost: BTreeSet<u32>,
    oldest: u32,
    resign_below: f32,
    taken: BTreeMap<u32, u32>,
    games: Vec<GameText>,
}
