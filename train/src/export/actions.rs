//! The action index as a table, made by asking the index itself.

use cyvasse_env::{ACTION_PLANES, Action, Side, Square};
use serde_json::{Value, json};

/// Directions clockwise from north as (files, ranks).
const DIRECTIONS: [(i32, i32); 8] =
    [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];

/// What each plane of the policy stands for, in the mover's own view.
#[must_use]
pub(super) fn planes() -> Vec<Value> {
    let mut planes = vec![Value::Null; ACTION_PLANES];
    let mut tell = |action: Action, meaning: Value| {
        planes[action.index(Side::White) % ACTION_PLANES] = meaning;
    };
    for (files, ranks) in offsets() {
        let (near, far) = (files.abs().min(ranks.abs()), files.abs().max(ranks.abs()));
        let straight = near == 0 || near == far;
        let (from, to) = squares(files, ranks);
        if far <= 3 || straight {
            let meaning = json!({"kind": "move", "files": files, "ranks": ranks});
            tell(Action::Move { from, to }, meaning);
        }
        if straight && far <= if near == 0 { 4 } else { 3 } {
            let meaning = json!({"kind": "shot", "files": files, "ranks": ranks});
            tell(Action::Shot { from, to }, meaning);
        }
    }
    // A fortress of each homeland with a square on each side of it.
    for (homeland, fortress) in [("own", Square::at(3, 2)), ("enemy", Square::at(3, 5))] {
        for (files, ranks) in DIRECTIONS {
            let Some(rest) = fortress.offset(files, ranks) else { continue };
            let meaning = json!({
                "kind": "assault", "homeland": homeland, "rest_files": files, "rest_ranks": ranks,
            });
            tell(Action::Assault { from: rest, to: fortress, rest }, meaning);
        }
    }
    for (plane, meaning) in planes.iter_mut().enumerate() {
        meaning["plane"] = plane.into();
    }
    planes
}

/// All ways from one square to another.
fn offsets() -> impl Iterator<Item = (i32, i32)> {
    let all = (-7..=7).flat_map(|files| (-7..=7).map(move |ranks| (files, ranks)));
    all.filter(|&offset| offset != (0, 0))
}

/// Two squares with this offset.
fn squares(files: i32, ranks: i32) -> (Square, Square) {
    let start = |offset: i32| if offset < 0 { 7 } else { 0 };
    let at = |file: i32, rank: i32| Square::at(file as usize, rank as usize);
    let (file, rank) = (start(files), start(ranks));
    (at(file, rank), at(file + files, rank + ranks))
}

#[cfg(test)]
mod tests {
    use cyvasse_env::{Position, Rules, SetupSpace};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The index of an action as a reader of the table finds it: by its offsets.
    fn looked_up(table: &[Value], action: Action, turn: Side) -> usize {
        let own = |square: Square| {
            let flip = if turn == Side::Black { 7 } else { 0 };
            (square.file() as i32, square.rank() as i32 ^ flip)
        };
        let offset = |(a, b): (i32, i32), (c, d): (i32, i32)| (c - a, d - b);
        let (from, wanted) = match action {
            Action::Move { from, to } => {
                let (files, ranks) = offset(own(from), own(to));
                (from, json!({"kind": "move", "files": files, "ranks": ranks}))
            }
            Action::Shot { from, to } => {
                let (files, ranks) = offset(own(from), own(to));
                (from, json!({"kind": "shot", "files": files, "ranks": ranks}))
            }
            Action::Assault { from, to, rest } => {
                let (files, ranks) = offset(own(to), own(rest));
                let homeland = if own(to).1 < 4 { "own" } else { "enemy" };
                let told = json!({
                    "kind": "assault", "homeland": homeland,
                    "rest_files": files, "rest_ranks": ranks,
                });
                (from, told)
            }
            Action::Pass => return 7936,
        };
        let matches = |row: &&Value| {
            wanted.as_object().unwrap().iter().all(|(key, value)| row[key] == *value)
        };
        let row = table.iter().find(matches).unwrap();
        let (file, rank) = own(from);
        (rank * 8 + file) as usize * 124 + row["plane"].as_u64().unwrap() as usize
    }

    #[test]
    fn the_table_finds_every_legal_action() {
        let table = planes();
        assert!(table.iter().all(|row| row["kind"].is_string()));
        let rules = Rules::iron_throne();
        let space = SetupSpace::new(&rules);
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut kinds = [0; 4];
        for game in 0..40 {
            let mut position = Position::start(&space.sample(&mut rng), &space.sample(&mut rng));
            for ply in 0..60 {
                let mut actions = Vec::new();
                position.legal_actions(&rules, &mut actions);
                for &action in &actions {
                    kinds[match action {
                        Action::Move { .. } => 0,
                        Action::Shot { .. } => 1,
                        Action::Assault { .. } => 2,
                        Action::Pass => 3,
                    }] += 1;
                    let turn = position.turn();
                    assert_eq!(looked_up(&table, action, turn), action.index(turn), "{action}");
                }
                let action = actions[(game * 7 + ply * 13) % actions.len()];
                if position.captures_king(action) {
                    break;
                }
                position = position.play(action, &rules).unwrap();
            }
        }
        assert!(kinds[..3].iter().all(|&count| count > 0), "{kinds:?}");
    }
}
