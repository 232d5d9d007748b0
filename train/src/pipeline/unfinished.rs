//! Unfinished games as they are saved, in the text forms of the rules.

use cyvasse_env::{Action, Rules, Setup};
use cyvasse_selfplay::{GameId, MoverValue, PlyKind, PlyRecord, SetupSource, UnfinishedGame};
use serde::{Deserialize, Serialize};

/// An unfinished game.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GameText {
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
    surprise: f32,
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
            surprise: ply.surprise,
            root_value: ply.root_value.get(),
            proven: ply.proven,
            simulations: ply.simulations,
            network_step: ply.network_step,
        }
    }
}

impl GameText {
    /// The game, if the text tells of one by these rules.
    pub(super) fn read(self, rules: &Rules) -> Result<UnfinishedGame, String> {
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
            surprise: self.surprise,
            root_value: MoverValue::new(self.root_value),
            proven: self.proven,
            simulations: self.simulations,
            network_step: self.network_step,
        })
    }
}
