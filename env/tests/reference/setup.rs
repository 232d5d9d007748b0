//! One player's setup in the own view.

use super::board::{At, BLANK, ORTHOGONAL, parse_rows};
use super::rules::{LETTERS, RefRules};
use std::collections::BTreeMap;

/// The letters of a homeland: tiles or units by place, rank 1 the home rank.
pub(crate) type Homeland = BTreeMap<At, char>;

/// Says why the text is no legal setup, if it is none.
pub(crate) fn check_setup(text: &str, rules: &RefRules) -> Result<(), String> {
    let fields: Vec<&str> = text.split(' ').collect();
    let &[tiles, units] = fields.as_slice() else {
        return Err(format!("{} fields instead of 2", fields.len()));
    };
    let tiles = homeland(tiles, "mwfc")?;
    let units = homeland(units, LETTERS)?;
    check_tile_counts(&tiles, rules)?;
    check_mountain_groups(&tiles, rules)?;
    check_units(&tiles, &units, rules)
}

fn homeland(text: &str, allowed: &str) -> Result<Homeland, String> {
    let rows = parse_rows(text, 4, allowed)?;
    let mut homeland = Homeland::new();
    for (down, row) in rows.iter().enumerate() {
        for (file, &letter) in row.iter().enumerate() {
            homeland.insert(At { rank: 3 - down as i32, file: file as i32 }, letter);
        }
    }
    Ok(homeland)
}

fn count(homeland: &Homeland, letter: char) -> usize {
    homeland.values().filter(|&&on| on == letter).count()
}

fn check_tile_counts(tiles: &Homeland, rules: &RefRules) -> Result<(), String> {
    let wanted =
        [('m', rules.mountain), ('w', rules.water), ('f', rules.forest), ('c', rules.fortress)];
    for (letter, wanted) in wanted {
        let laid = count(tiles, letter);
        if laid != wanted {
            return Err(format!("{laid} tiles {letter} instead of {wanted}"));
        }
    }
    Ok(())
}

fn check_mountain_groups(tiles: &Homeland, rules: &RefRules) -> Result<(), String> {
    for (&at, &tile) in tiles {
        if tile == 'm' && mountain_group(tiles, at).len() > rules.largest_mountain_group {
            return Err(format!("the group of mountains on {} is too large", at.name()));
        }
    }
    Ok(())
}

/// The mountains that are connected with the one on `at`.
pub(crate) fn mountain_group(tiles: &Homeland, at: At) -> Vec<At> {
    let mut group = vec![at];
    let mut done = 0;
    while done < group.len() {
        for direction in ORTHOGONAL {
            let Some(next) = group[done].step(direction) else { continue };
            if tiles.get(&next) == Some(&'m') && !group.contains(&next) {
                group.push(next);
            }
        }
        done += 1;
    }
    group
}

fn check_units(tiles: &Homeland, units: &Homeland, rules: &RefRules) -> Result<(), String> {
    for row in rules.rows() {
        let placed = count(units, row.letter);
        if placed != row.count {
            return Err(format!("{placed} units {} instead of {}", row.letter, row.count));
        }
    }
    for (at, &unit) in units {
        if tiles[at] == 'm' && unit != 'D' && unit != BLANK {
            return Err(format!("{unit} on the mountain {}", at.name()));
        }
    }
    Ok(())
}
