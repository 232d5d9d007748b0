//! What the network is trained on: positions with their targets.

use std::collections::VecDeque;

use cyvasse_env::Position;
use cyvasse_selfplay::replay::{PlyView, ReplayError, Shard};
use cyvasse_selfplay::{MoverValue, PlyKind};

/// A position of a finished game, and what is to be learned from it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The position.
    pub position: Position,
    /// How often it had occurred in its game, itself included.
    pub occurrences: u16,
    /// Shares of legal actions by their action index; empty where the ply
    /// teaches no policy.
    pub policy: Box<[(u16, f32)]>,
    /// Target chances of win, draw and loss for the side to move.
    pub wdl: [f32; 3],
}

/// The samples of a shard, one for each ply that was searched in full, in the
/// order of its games.
///
/// `root_value_share` of the value target comes from the search, the rest from
/// the game's result; a proven value counts in full.
///
/// # Errors
/// A game that does not follow the rules.
pub fn samples_of(shard: &Shard, root_value_share: f32) -> Result<Vec<Sample>, ReplayError> {
    let mut samples = Vec::with_capacity(shard.ply_count());
    for game in 0..shard.game_count() {
        shard.for_each_ply(game, |ply| {
            if ply.kind == PlyKind::Full {
                samples.push(sample_of(&ply, root_value_share));
            }
        })?;
    }
    Ok(samples)
}

fn sample_of(ply: &PlyView<'_>, root_value_share: f32) -> Sample {
    let shares = ply.policy_actions.iter().zip(ply.policy_shares);
    let result = result_chances(ply.outcome.value());
    let wdl = if ply.proven {
        result_chances(ply.root_value)
    } else {
        let search = value_chances(ply.root_value);
        std::array::from_fn(|i| (1.0 - root_value_share) * result[i] + root_value_share * search[i])
    };
    Sample {
        position: ply.position.clone(),
        occurrences: ply.occurrences as u16,
        policy: shares.map(|(&action, &share)| (action, share)).collect(),
        wdl,
    }
}

/// Chances of win, draw and loss for a result that is certain.
fn result_chances(value: MoverValue) -> [f32; 3] {
    let value = value.get();
    [f32::from(value > 0.5), f32::from(value.abs() <= 0.5), f32::from(value < -0.5)]
}

/// Chances of win, draw and loss for an expected result. A search tells no
/// chance of a draw, and few games are drawn: none is taken for one.
fn value_chances(value: MoverValue) -> [f32; 3] {
    let win = (1.0 + value.get().clamp(-1.0, 1.0)) / 2.0;
    [win, 0.0, 1.0 - win]
}

/// The newest samples, as many as the config allows.
#[derive(Debug)]
pub struct Window {
    samples: VecDeque<Sample>,
    capacity: usize,
}

impl Window {
    /// An empty window.
    #[must_use]
    pub fn new(capacity: usize) -> Window {
        Window { samples: VecDeque::new(), capacity }
    }

    /// Adds newer samples; the oldest go.
    pub fn extend(&mut self, samples: impl IntoIterator<Item = Sample>) {
        self.samples.extend(samples);
        let excess = self.samples.len().saturating_sub(self.capacity);
        self.samples.drain(..excess);
    }

    /// The number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// A sample by its place, the oldest first.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Sample> {
        self.samples.get(index)
    }
}
