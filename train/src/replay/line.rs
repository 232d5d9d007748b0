//! A game as a line of JSON, as `cyvasse replay export` writes it.

use cyvasse_env::Side;
use cyvasse_selfplay::{GameRecord, PlyKind, PlyRecord};
use serde::Serialize;

/// A game, in the text forms of the rules.
#[derive(Clone, Debug, Serialize)]
pub struct GameLine {
    /// The name of the shard's file.
    pub shard: String,
    /// The number of the game in the shard, from 0.
    pub game: usize,
    /// Fingerprint of the rules, 16 hexadecimal digits.
    pub rules_fingerprint: String,
    /// The slot of self-play that the game was played in.
    pub slot: u32,
    /// The number of the game within its slot, from 0.
    pub sequence: u32,
    /// White's setup and black's, each in its builder's own view.
    pub setups: [String; 2],
    /// Where the two came from.
    pub sources: [&'static str; 2],
    /// How the game ended, in words.
    pub result: String,
    /// Whether the side that was to move resigned.
    pub resigned: bool,
    /// The number of plies.
    pub plies: usize,
    /// All actions, with spaces between them.
    pub actions: String,
    /// The plies with what the search found before them; absent unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<PlyLine>>,
}

/// A ply, and what the search found before it.
#[derive(Clone, Debug, Serialize)]
pub struct PlyLine {
    /// `full`, `cheap` or `opening`: how the action was found.
    pub kind: &'static str,
    /// The action.
    pub action: String,
    /// Its action index, in the mover's own view.
    pub index: usize,
    /// Divergence of the policy target from the network's priors, in nats; 0 without one.
    pub surprise: f32,
    /// The search's value of the position before the ply, -1 to 1 for the side to
    /// move.
    pub root_value: f32,
    /// Whether that value is proven.
    pub proven: bool,
    /// Simulations of the search.
    pub simulations: u32,
    /// The training step of the network that the search used.
    pub network_step: u32,
    /// The policy target: action, action index and share; empty where there is none.
    pub policy: Vec<(String, usize, f32)>,
}

impl GameLine {
    /// The line of a game.
    #[must_use]
    pub fn new(
        shard: &str,
        game: usize,
        fingerprint: u64,
        record: &GameRecord,
        with_targets: bool,
    ) -> GameLine {
        let actions: Vec<String> = record.plies.iter().map(|ply| ply.action.to_string()).collect();
        let plies = record.plies.iter().zip(Side::ALL.into_iter().cycle());
        GameLine {
            shard: shard.into(),
            game,
            rules_fingerprint: format!("{fingerprint:016x}"),
            slot: record.id.slot,
            sequence: record.id.sequence,
            setups: record.setups.map(|setup| setup.to_string()),
            sources: record.sources.map(|source| source.name()),
            result: record.outcome.to_string(),
            resigned: record.resigned,
            plies: record.plies.len(),
            actions: actions.join(" "),
            targets: with_targets
                .then(|| plies.map(|(ply, turn)| PlyLine::new(ply, turn)).collect()),
        }
    }
}

impl PlyLine {
    fn new(ply: &PlyRecord, turn: Side) -> PlyLine {
        let entry = |&(action, share): &(cyvasse_env::Action, f32)| {
            (action.to_string(), action.index(turn), share)
        };
        PlyLine {
            kind: kind_name(ply.kind),
            action: ply.action.to_string(),
            index: ply.action.index(turn),
            surprise: ply.surprise,
            root_value: ply.root_value.get(),
            proven: ply.proven,
            simulations: ply.simulations,
            network_step: ply.network_step,
            policy: ply.policy.iter().map(entry).collect(),
        }
    }
}

fn kind_name(kind: PlyKind) -> &'static str {
    match kind {
        PlyKind::Full => "full",
        PlyKind::Cheap => "cheap",
        PlyKind::Opening => "opening",
    }
}
