//! Test cases: positions and prefixes of setups with what the networks say.

use std::sync::Arc;

use cyvasse_env::{
    Action, ENCODED_LEN, Game, PASS_INDEX, PLANES, Position, Rules, Setup, SetupBuilder,
    SetupSpace, Side, encode,
};
use cyvasse_models::{BOARD_SIDE, Net, SETUP_FEATURES, SetupNet, encode_prefix};
use cyvasse_selfplay::{Purpose, derive};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tch::Tensor;

/// Cases for each network.
pub(super) const CASES: usize = 32;

/// Random plies that a position may lie behind.
const MOST_PLIES: usize = 80;

/// One position in so many is taken to have occurred before.
const REPEATED: usize = 8;

/// Tokens at a step.
const TOKENS: usize = SetupBuilder::UNIT_TOKENS;

/// Positions with what the play network says.
#[derive(Debug)]
pub(super) struct PlayCases {
    /// The positions, and how often each has occurred in its game.
    pub positions: Vec<(Position, usize)>,
    /// The legal actions of each with their indices.
    pub actions: Vec<Vec<(Action, usize)>>,
    /// f32 `[32, 8, 8, 32]`.
    pub planes: Tensor,
    /// The network's policy `[32, 7936]` and value `[32, 3]`.
    pub expected: Vec<Tensor>,
}

/// Prefixes of setups with what the setup network says.
#[derive(Debug)]
pub(super) struct SetupCases {
    /// The seat and the tokens so far.
    pub prefixes: Vec<(Side, Vec<u8>)>,
    /// The legal tokens after each prefix, as bits.
    pub legal: Vec<u16>,
    /// The uniform probabilities of the next token.
    pub uniform: Vec<[f64; TOKENS]>,
    /// f32 `[32, 529]` and i64 `[32]`.
    pub inputs: [Tensor; 2],
    /// The network's logits `[32, 11]`.
    pub expected: Vec<Tensor>,
}

/// Positions as f32 `[B, 8, 8, 32]`.
pub(super) fn encoded(positions: &[(Position, usize)], rules: &Rules) -> Tensor {
    let mut planes = vec![0.0; positions.len() * ENCODED_LEN];
    for ((position, occurrences), row) in positions.iter().zip(planes.chunks_mut(ENCODED_LEN)) {
        encode(position, *occurrences, rules, row);
    }
    let side = BOARD_SIDE as i64;
    Tensor::from_slice(&planes).reshape([-1, side, side, PLANES as i64])
}

impl PlayCases {
    /// Positions of random games from random setups, always the same for the same
    /// rules.
    #[must_use]
    pub(super) fn new(net: &Net, rules: &Arc<Rules>) -> PlayCases {
        let positions = positions(rules);
        let planes = encoded(&positions, rules);
        let outputs = net.forward(&planes);
        let of = |position: &Position| {
            let mut actions = Vec::new();
            position.legal_actions(rules, &mut actions);
            let turn = position.turn();
            actions.into_iter().map(|action| (action, action.index(turn))).collect()
        };
        PlayCases {
            actions: positions.iter().map(|(position, _)| of(position)).collect(),
            positions,
            planes,
            expected: vec![outputs.policy, outputs.value],
        }
    }
}

fn positions(rules: &Arc<Rules>) -> Vec<(Position, usize)> {
    let space = SetupSpace::new(rules);
    (0..CASES)
        .map(|case| {
            let mut rng = ChaCha8Rng::seed_from_u64(derive(0, Purpose::Opening, &[case as u64]));
            let start = Position::start(&space.sample(&mut rng), &space.sample(&mut rng));
            let mut game = Game::new(rules.clone(), start.clone());
            let mut position = start;
            for _ in 0..case * MOST_PLIES / CASES {
                let mut actions = Vec::new();
                game.legal_actions(&mut actions);
                // A random game is soon over if kings may be taken.
                let spares = |action: &Action| !game.position().captures_king(*action);
                actions.retain(spares);
                if actions.is_empty() {
                    break;
                }
                game.play_unchecked(actions[rng.random_range(0..actions.len())]);
                if game.outcome().is_some() {
                    break;
                }
                if can_move(game.position(), rules) {
                    position = game.position().clone();
                }
            }
            (position, 1 + usize::from(case % REPEATED == REPEATED - 1))
        })
        .collect()
}

/// Whether there is anything to ask the network.
fn can_move(position: &Position, rules: &Rules) -> bool {
    let mut actions = Vec::new();
    position.legal_actions(rules, &mut actions);
    actions.iter().any(|action| action.index(position.turn()) != PASS_INDEX)
}

impl SetupCases {
    /// Prefixes of random setups for both seats, a longer one each time; always the
    /// same for the same rules.
    ///
    /// # Errors
    /// None for the rules that the builder itself follows.
    pub(super) fn new(net: &SetupNet, rules: &Rules) -> anyhow::Result<SetupCases> {
        let space = SetupSpace::new(rules);
        let mut cases = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut logits = Vec::new();
        for case in 0..CASES {
            let seed = derive(1, Purpose::Opening, &[case as u64]);
            let setup: Setup = space.sample(&mut ChaCha8Rng::seed_from_u64(seed));
            let seat = Side::ALL[case / 2 % 2];
            let step = case * SetupBuilder::STEPS / CASES + case % 2;
            let tokens = SetupBuilder::tokens(&setup)[..step].to_vec();
            let mut builder = space.builder();
            for &token in &tokens {
                builder.place(token.into())?;
            }
            let mut features = [0.0; SETUP_FEATURES];
            encode_prefix(&builder, seat, &mut features);
            logits.extend(net.outputs_at(step, &features));
            cases.0.push((seat, tokens));
            cases.1.push(builder.legal_tokens());
            cases.2.push(builder.uniform_probabilities());
            cases.3.extend(features);
            cases.4.push(step as i64);
        }
        let (prefixes, legal, uniform, features, steps) = cases;
        let rows = |values: &[f32], width: usize| {
            Tensor::from_slice(values).reshape([CASES as i64, width as i64])
        };
        Ok(SetupCases {
            prefixes,
            legal,
            uniform,
            inputs: [rows(&features, SETUP_FEATURES), Tensor::from_slice(&steps)],
            expected: vec![rows(&logits, TOKENS)],
        })
    }
}
