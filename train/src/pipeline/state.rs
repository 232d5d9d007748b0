//! What a resumed run needs beside its shards and checkpoints.

use std::fs;
use std::path::Path;

use cyvasse_env::{Action, Rules, Setup};
use cyvasse_models::TensorFile;
use cyvasse_selfplay::{GameId, MoverValue, PlyKind, PlyRecord, SetupSource, UnfinishedGame};
use serde::{Deserialize, Serialize};

use super::run_dir::write_file;

/// The state after a round.
#[derive(Debug)]
pub(super) struct State {
    /// The optimiser.
    pub(super) optimizer: TensorFile,
    /// The shards of the run, oldest first: their rounds and positions.
    pub(super) shards: Vec<(u32, u64)>,
    /// The games that are being played.
    pub(super) games: Vec<UnfinishedGame>,
}

/// A state that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}")]
pub(super) struct StateError {
    path: String,
    reason: String,
}

const OPTIMIZER: &str = "optimizer.safetensors";
const PLAY: &str = "play.json";

impl State {
    /// Writes the state into a folder.
    pub(super) fn save(&self, folder: &Path) -> anyhow::Result<()> {
        self.optimizer.save(&folder.join(OPTIMIZER))?;
        let games = self.games.iter().map(GameText::from).collect();
        let text = serde_json::to_string(&PlayText { shards: self.shards.clone(), games })?;
        write_file(&folder.join(PLAY), &format!("{}\n{text}\n", seal(&text)))?;
        Ok(())
    }

    /// Reads the state of a round.
    pub(super) fn load(folder: &Path, rules: &Rules) -> anyhow::Result<State> {
        let optimizer = TensorFile::load(&folder.join(OPTIMIZER))?;
        let path = folder.join(PLAY);
        let refuse = |reason: String| StateError { path: path.display().to_string(), reason };
        let text = fs::read_to_string(&path).map_err(super::run_dir::io_error("read", &path))?;
        let (sealed, text) = text.trim_end().split_once('\n').unwrap_or_default();
        if seal(text) != sealed {
            return Err(refuse("the file is damaged (its checksum is another)".into()).into());
        }
        let PlayText { shards, games } =
            serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
        let games = games.into_iter().map(|game| game.read(rules));
        let games = games.collect::<Result<_, String>>().map_err(refuse)?;
        Ok(State { optimizer, shards, games })
    }
}

/// The checksum that stands before the text.
fn seal(text: &str) -> String {
    format!("crc32 {:08x}", crc32fast::hash(text.as_bytes()))
}

/// How far self-play is, in the text forms of the rules.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlayText {
    shards: Vec<(u32, u64)>,
    games: Vec<GameText>,
}

/// An unfinished game.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GameText {
    slot: u32,
    sequence: u32,
    setups: [String; 2],
    sources: [u8; 2],
    plies: Vec<PlyText>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlyText {
    kind: u8,
    action: String,
    policy: Vec<(String, f32)>,
    root_value: f32,
    proven: bool,
    simulations: u32,
    network_step: u32,
}

impl From<&UnfinishedGame> for GameText {
    fn from(game: &UnfinishedGame) -> GameText {
        GameText {
            slot: game.id.slot,
            sequence: game.id.sequence,
            setups: [game.setups[0].to_string(), game.setups[1].to_string()],
            sources: game.sources.map(|source| source as u8),
            plies: game.plies.iter().map(PlyText::from).collect(),
        }
    }
}

impl From<&PlyRecord> for PlyText {
    fn from(ply: &PlyRecord) -> PlyText {
        let share = |&(action, share): &(Action, f32)| (action.to_string(), share);
        PlyText {
            kind: ply.kind as u8,
            action: ply.action.to_string(),
            policy: ply.policy.iter().map(share).collect(),
            root_value: ply.root_value.get(),
            proven: ply.proven,
            simulations: ply.simulations,
            network_step: ply.network_step,
        }
    }
}

impl GameText {
    fn read(self, rules: &Rules) -> Result<UnfinishedGame, String> {
        let setup = |text: &str| Setup::parse(text, rules).map_err(|error| error.to_string());
        let source = |number: u8| {
            SetupSource::from_number(number).ok_or(format!("no setup source has number {number}"))
        };
        Ok(UnfinishedGame {
            id: GameId { slot: self.slot, sequence: self.sequence },
            setups: [setup(&self.setups[0])?, setup(&self.setups[1])?],
            sources: [source(self.sources[0])?, source(self.sources[1])?],
            plies: self.plies.into_iter().map(PlyText::read).collect::<Result<_, String>>()?,
        })
    }
}

impl PlyText {
    fn read(self) -> Result<PlyRecord, String> {
        let action = |text: &str| Action::parse(text).map_err(|error| error.to_string());
        let share = |(text, share): (String, f32)| Ok((action(&text)?, share));
        let kind = PlyKind::from_number(self.kind);
        Ok(PlyRecord {
            kind: kind.ok_or(format!("no kind of plies has number {}", self.kind))?,
            action: action(&self.action)?,
            policy: self.policy.into_iter().map(share).collect::<Result<_, String>>()?,
            root_value: MoverValue::new(self.root_value),
            proven: self.proven,
            simulations: self.simulations,
            network_step: self.network_step,
        })
    }
}
