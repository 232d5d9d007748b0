//! A position as tensor planes: what the play network sees.
//!
//! Channels-last: the value of a plane on a square stands at
//! `square * PLANES + plane`, shape `[8, 8, 32]` as (rank, file, plane), f32,
//! all in the mover's own view (for black the ranks are flipped).
//!
//! | planes | meaning                                             | range  |
//! |--------|-----------------------------------------------------|--------|
//! | 0-9    | own units by kind, rabble to king                   | 0 or 1 |
//! | 10-19  | enemy units by kind, rabble to king                 | 0 or 1 |
//! | 20-24  | mountain, water, forest, intact fortress, ruin      | 0 or 1 |
//! | 25, 26 | frozen own units, frozen enemy units                | 0 or 1 |
//! | 27     | plies without progress / `no_progress_plies`        | 0 to 1 |
//! | 28     | plies in all / `max_plies`                          | 0 to 1 |
//! | 29     | earlier occurrences of the position / (`repetitions` - 1) | 0 to 1 |
//! | 30     | seat: 1 where the mover is black                    | 0 or 1 |
//! | 31     | ones, so that the network sees the edge of the board | 1     |
//!
//! Planes 27-31 have one value on the whole board.

use crate::position::Position;
use crate::rules::Rules;
use crate::square::{Side, Square, SquareSet};
use crate::unit::Unit;

/// The number of planes.
pub const PLANES: usize = 32;

/// The values of one encoded position.
pub const ENCODED_LEN: usize = Square::COUNT * PLANES;

/// The version of the planes; it changes when a plane changes its meaning.
pub const PLANES_VERSION: u32 = 1;

const UNIFORM_PLANES: usize = 27;

/// Encodes a position for the side to move.
///
/// `occurrences` is how often the position has occurred in its game, now
/// included ([`Game::occurrences`](crate::Game::occurrences)).
///
/// # Panics
/// When `planes` is not [`ENCODED_LEN`] long.
pub fn encode(position: &Position, occurrences: usize, rules: &Rules, planes: &mut [f32]) {
    let planes: &mut [f32; ENCODED_LEN] = planes.try_into().expect("room for one encoded position");
    let turn = position.turn();
    fill_uniform(planes, uniform_values(position, occurrences, rules));
    let flip = 56 * turn.index();
    let mut mark = |plane: usize, squares: SquareSet| {
        for square in squares {
            planes[(square.index() ^ flip) * PLANES + plane] = 1.0;
        }
    };
    for unit in Unit::ALL {
        let units = position.units(unit);
        mark(unit.index(), units & position.side(turn));
        mark(Unit::COUNT + unit.index(), units & position.side(turn.other()));
    }
    mark(20, position.mountains);
    mark(21, position.waters);
    mark(22, position.forests);
    mark(23, position.fortresses);
    mark(24, position.ruins);
    mark(25, position.frozen & position.side(turn));
    mark(26, position.frozen & position.side(turn.other()));
}

/// Planes 27 to 31.
fn uniform_values(position: &Position, occurrences: usize, rules: &Rules) -> [f32; 5] {
    let share = |number: usize, limit: usize| (number as f32 / limit as f32).min(1.0);
    let draws = &rules.draws;
    let earlier = occurrences.saturating_sub(1);
    [
        share(position.quiet_plies().into(), draws.no_progress_plies.into()),
        share(position.plies().into(), draws.max_plies.into()),
        share(earlier, usize::from(draws.repetitions) - 1),
        if position.turn() == Side::Black { 1.0 } else { 0.0 },
        1.0,
    ]
}

/// Clears all planes but those with one value on the whole board.
#[inline]
fn fill_uniform(planes: &mut [f32; ENCODED_LEN], values: [f32; 5]) {
    let mut square = [0.0; PLANES];
    square[UNIFORM_PLANES..].copy_from_slice(&values);
    for values in planes.as_chunks_mut::<PLANES>().0 {
        *values = square;
    }
}

/// Mirrors an encoded position left to right: what [`encode`] gives for the
/// mirrored position.
///
/// # Panics
/// When `planes` is not [`ENCODED_LEN`] long.
pub fn mirror_planes(planes: &mut [f32]) {
    assert_eq!(planes.len(), ENCODED_LEN, "one encoded position");
    for rank in planes.chunks_exact_mut(8 * PLANES) {
        for file in 0..4 {
            let (left, right) = rank.split_at_mut((7 - file) * PLANES);
            left[file * PLANES..][..PLANES].swap_with_slice(&mut right[..PLANES]);
        }
    }
}
