//! Setups as the tensors that the setup network reads.

use cyvasse_env::{IllegalToken, Setup, SetupBuilder, SetupSpace, Side};
use tch::{Device, Tensor};

/// The version of [`encode_prefix`]; it changes when a feature changes its
/// meaning.
pub const SETUP_ENCODING_VERSION: u32 = 1;

/// Features of one prefix.
pub const SETUP_FEATURES: usize = SQUARES * PLACED + PLACED + 1;

const SQUARES: usize = Setup::SQUARES;

/// What a square can hold: tiles, then units or none.
const PLACED: usize = SetupBuilder::TILE_TOKENS + SetupBuilder::UNIT_TOKENS;

const TOKENS: usize = SetupBuilder::UNIT_TOKENS;

/// Remaining counts are divided by this.
const COUNT_SCALE: f32 = 8.0;

/// Stands for the logarithm of 0 where nothing may become NaN.
const NEVER: f32 = -1e30;

/// Encodes what has been placed so far, and the seat. There is nothing else that
/// it could depend on.
///
/// | features  | meaning                                                        |
/// |-----------|----------------------------------------------------------------|
/// | 0-511     | for each square in scan order 16 features, 1 for the tile (0-4) and for the unit or none (5-15) that it has got, else 0 |
/// | 512-527   | what is left to place, by tile token and by unit token, / 8    |
/// | 528       | seat: 1 for black                                              |
///
/// # Panics
/// When `row` is not [`SETUP_FEATURES`] long.
pub fn encode_prefix(builder: &SetupBuilder<'_>, seat: Side, row: &mut [f32]) {
    let row: &mut [f32; SETUP_FEATURES] = row.try_into().expect("room for one prefix");
    row.fill(0.0);
    let step = builder.step();
    for (place, square) in SetupBuilder::SCAN.into_iter().enumerate() {
        if place < step {
            row[place * PLACED + builder.tiles()[square.index()] as usize] = 1.0;
        }
        if SQUARES + place < step {
            let token = builder.units()[square.index()].map_or(0, |unit| 1 + unit.index());
            row[place * PLACED + SetupBuilder::TILE_TOKENS + token] = 1.0;
        }
    }
    let left = builder.tiles_left().iter().chain(builder.units_left());
    for (feature, &count) in row[SQUARES * PLACED..].iter_mut().zip(left) {
        *feature = f32::from(count) / COUNT_SCALE;
    }
    row[SETUP_FEATURES - 1] = seat.index() as f32;
}

/// Logarithms of the uniform probabilities of the next token; [`NEVER`] for one
/// that is not legal.
pub(super) fn base_logits(builder: &SetupBuilder<'_>) -> [f32; TOKENS] {
    let (legal, uniform) = (builder.legal_tokens(), builder.uniform_probabilities());
    std::array::from_fn(
        |token| {
            if legal & 1 << token == 0 { NEVER } else { uniform[token].ln() as f32 }
        },
    )
}

/// N setups, each with the seat that it is for, as tensors: the first dimension
/// is the step.
#[derive(Debug)]
pub struct SetupBatch {
    /// f32 `[64, N, SETUP_FEATURES]`: each prefix, from the empty one to all but
    /// the last token.
    pub features: Tensor,
    /// f32 `[64, N, 11]`: the logarithm of each token's uniform probability after
    /// the prefix; very negative where it is not legal.
    pub base: Tensor,
    /// i64 `[64, N]`: the token that follows the prefix.
    pub tokens: Tensor,
}

impl SetupBatch {
    /// The tensors of some setups.
    ///
    /// # Errors
    /// A setup that is not legal in `space`: its first token that leads astray.
    pub fn new(
        space: &SetupSpace,
        setups: &[(Setup, Side)],
        device: Device,
    ) -> Result<SetupBatch, IllegalToken> {
        let count = setups.len();
        let mut features = vec![0.0; SetupBuilder::STEPS * count * SETUP_FEATURES];
        let mut base = vec![0.0; SetupBuilder::STEPS * count * TOKENS];
        let mut tokens = vec![0; SetupBuilder::STEPS * count];
        for (place, (setup, seat)) in setups.iter().enumerate() {
            let mut builder = space.builder();
            for (step, token) in SetupBuilder::tokens(setup).into_iter().enumerate() {
                let row = step * count + place;
                let features = &mut features[row * SETUP_FEATURES..][..SETUP_FEATURES];
                encode_prefix(&builder, *seat, features);
                base[row * TOKENS..][..TOKENS].copy_from_slice(&base_logits(&builder));
                tokens[row] = i64::from(token);
                builder.place(token.into())?;
            }
        }
        let (steps, count) = (SetupBuilder::STEPS as i64, count as i64);
        let tensor = |values: &[f32], width: usize| {
            Tensor::from_slice(values).view([steps, count, width as i64]).to_device(device)
        };
        Ok(SetupBatch {
            features: tensor(&features, SETUP_FEATURES),
            base: tensor(&base, TOKENS),
            tokens: Tensor::from_slice(&tokens).view([steps, count]).to_device(device),
        })
    }
}
