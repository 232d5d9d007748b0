//! The action index: the map between actions and the entries of a policy.
//!
//! Index = `from * 124 + plane`, with the from-square in the mover's own view;
//! `pass` comes last. It is injective over the legal actions of any position
//! under any rules file, knows nothing of the rules, and equals the flattened
//! channels-last output `[8, 8, 124]` of a convolution over the board.
//!
//! Planes of a from-square, offsets as (files, ranks) in own view:
//!
//! | planes  | action                                                              |
//! |---------|---------------------------------------------------------------------|
//! | 0-47    | move by an offset within 3 files and 3 ranks, rank by rank upwards  |
//! | 48-79   | move 4 to 7 squares along a direction: `48 + 4 * direction + d - 4` |
//! | 80-95   | shot 1 to 4 squares along an orthogonal direction                   |
//! | 96-107  | shot 1 to 3 squares along a diagonal direction                      |
//! | 108-115 | assault on the fortress in the mover's homeland, by the direction   |
//! |         | in which the attacker comes to rest, seen from the fortress         |
//! | 116-123 | assault on the fortress in the enemy's homeland, likewise           |
//!
//! Directions go clockwise from north. A homeland has at most one intact
//! fortress, so that its square need not be told.

use crate::action::Action;
use crate::lines::{DIRECTIONS, direction};
use crate::position::Position;
use crate::rules::Rules;
use crate::square::{Side, Square};

/// Entries of the action index for each from-square.
pub const ACTION_PLANES: usize = 124;

/// The index of `pass`, and the number of entries that a policy network
/// needs: `pass` is only legal alone, so that no network is asked about it.
pub const PASS_INDEX: usize = Square::COUNT * ACTION_PLANES;

/// The number of entries of the action index, `pass` included.
pub const ACTION_COUNT: usize = PASS_INDEX + 1;

/// The version of this map; it changes when an index changes its meaning.
pub const ACTION_INDEX_VERSION: u32 = 1;

const FAR_MOVES: usize = 48;
const ORTHOGONAL_SHOTS: usize = 80;
const DIAGONAL_SHOTS: usize = 96;
const ASSAULTS: usize = 108;

impl Action {
    /// The action's index for `turn`, the side that plays it; less than
    /// [`ACTION_COUNT`]. The action must be legal in some position.
    #[must_use]
    #[inline]
    pub fn index(self, turn: Side) -> usize {
        let plane = match self {
            Action::Pass => return PASS_INDEX,
            Action::Move { from, to } => move_plane(from.in_view_of(turn), to.in_view_of(turn)),
            Action::Shot { from, to } => shot_plane(from.in_view_of(turn), to.in_view_of(turn)),
            Action::Assault { to, rest, .. } => {
                assault_plane(to.in_view_of(turn), rest.in_view_of(turn))
            }
        };
        let (Action::Move { from, .. } | Action::Shot { from, .. } | Action::Assault { from, .. }) =
            self
        else {
            return PASS_INDEX;
        };
        from.in_view_of(turn).index() * ACTION_PLANES + plane
    }
}

/// The plane of a move by (files, ranks), each from -7 to 7; 255 where no unit
/// moves so.
const MOVE_PLANES: [[u8; 16]; 16] = {
    let mut planes = [[u8::MAX; 16]; 16];
    let mut plane = 0;
    let mut ranks = -3i32;
    while ranks <= 3 {
        let mut files = -3i32;
        while files <= 3 {
            if files != 0 || ranks != 0 {
                planes[(ranks + 7) as usize][(files + 7) as usize] = plane;
                plane += 1;
            }
            files += 1;
        }
        ranks += 1;
    }
    let mut direction = 0;
    while direction < 8 {
        let (files, ranks) = DIRECTIONS[direction];
        let mut distance = 4;
        while distance <= 7 {
            let row = (ranks * distance + 7) as usize;
            planes[row][(files * distance + 7) as usize] = plane;
            plane += 1;
            distance += 1;
        }
        direction += 1;
    }
    planes
};

#[inline]
fn move_plane(from: Square, to: Square) -> usize {
    let files = to.file() + 7 - from.file();
    let ranks = to.rank() + 7 - from.rank();
    usize::from(MOVE_PLANES[ranks][files])
}

fn shot_plane(from: Square, to: Square) -> usize {
    let toward = direction(from, to).unwrap_or(0);
    let files = to.file().abs_diff(from.file());
    let distance = files.max(to.rank().abs_diff(from.rank()));
    if toward.is_multiple_of(2) {
        ORTHOGONAL_SHOTS + toward / 2 * 4 + distance - 1
    } else {
        DIAGONAL_SHOTS + toward / 2 * 3 + distance - 1
    }
}

fn assault_plane(fortress: Square, rest: Square) -> usize {
    let whose = usize::from(fortress.rank() >= 4);
    ASSAULTS + whose * 8 + direction(fortress, rest).unwrap_or(0)
}

impl Position {
    /// The legal action with this index; `None` for every other number.
    #[must_use]
    pub fn decode(&self, index: usize, rules: &Rules) -> Option<Action> {
        let mut actions = Vec::with_capacity(128);
        self.legal_actions(rules, &mut actions);
        actions.into_iter().find(|action| action.index(self.turn()) == index)
    }
}

/// The index of the mirrored action: `mirror_index(a.index(side))` equals
/// `a.mirror().index(side)`. Numbers from [`ACTION_COUNT`] on stay as they are.
#[must_use]
pub fn mirror_index(index: usize) -> usize {
    if index >= PASS_INDEX {
        return index;
    }
    let (from, plane) = (index / ACTION_PLANES, index % ACTION_PLANES);
    Square::new(from).mirror().index() * ACTION_PLANES + mirror_plane(plane)
}

fn mirror_plane(plane: usize) -> usize {
    // Clockwise from north, mirrored, is counter-clockwise from north.
    let mirror_direction = |direction: usize| (8 - direction) % 8;
    if plane < FAR_MOVES {
        let place = plane + usize::from(plane >= FAR_MOVES / 2); // the centre has no plane
        let mirrored = place / 7 * 7 + 6 - place % 7;
        mirrored - usize::from(mirrored > FAR_MOVES / 2)
    } else if plane < ORTHOGONAL_SHOTS {
        let ray = plane - FAR_MOVES;
        FAR_MOVES + mirror_direction(ray / 4) * 4 + ray % 4
    } else if plane < DIAGONAL_SHOTS {
        let shot = plane - ORTHOGONAL_SHOTS;
        ORTHOGONAL_SHOTS + mirror_direction(shot / 4 * 2) / 2 * 4 + shot % 4
    } else if plane < ASSAULTS {
        let shot = plane - DIAGONAL_SHOTS;
        DIAGONAL_SHOTS + mirror_direction(shot / 3 * 2 + 1) / 2 * 3 + shot % 3
    } else {
        let assault = plane - ASSAULTS;
        ASSAULTS + assault / 8 * 8 + mirror_direction(assault % 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plane_has_one_meaning() {
        let mut planes: Vec<usize> =
            MOVE_PLANES.iter().flatten().map(|&plane| usize::from(plane)).collect();
        planes.retain(|&plane| plane != 255);
        let centre = Square::at(4, 4);
        for (toward, (files, ranks)) in DIRECTIONS.into_iter().enumerate() {
            for distance in 1..=4 - toward as i32 % 2 {
                let from = Square::at(if files < 0 { 7 } else { 0 }, if ranks < 0 { 7 } else { 0 });
                let to = from.offset(files * distance, ranks * distance).unwrap();
                planes.push(shot_plane(from, to));
            }
            for fortress in [centre, Square::at(4, 3)] {
                planes.push(assault_plane(fortress, fortress.offset(files, ranks).unwrap()));
            }
        }
        planes.sort_unstable();
        assert_eq!(planes, (0..ACTION_PLANES).collect::<Vec<_>>());
    }

    #[test]
    fn mirroring_an_index_twice_gives_it_back() {
        for index in 0..ACTION_COUNT {
            assert!(mirror_index(index) < ACTION_COUNT);
            assert_eq!(mirror_index(mirror_index(index)), index);
        }
    }

    #[test]
    fn mirrored_moves_and_shots_have_mirrored_indices() {
        for from in Square::all() {
            for to in Square::all().filter(|&to| to != from) {
                let action = Action::Move { from, to };
                if MOVE_PLANES[to.rank() + 7 - from.rank()][to.file() + 7 - from.file()] != 255 {
                    assert_eq!(
                        mirror_index(action.index(Side::Black)),
                        action.mirror().index(Side::Black)
                    );
                }
                let range =
                    if from.file() != to.file() && from.rank() != to.rank() { 3 } else { 4 };
                let distance = from.file().abs_diff(to.file()).max(from.rank().abs_diff(to.rank()));
                if direction(from, to).is_some() && distance <= range {
                    let shot = Action::Shot { from, to };
                    assert_eq!(
                        mirror_index(shot.index(Side::White)),
                        shot.mirror().index(Side::White)
                    );
                }
            }
        }
    }
}
