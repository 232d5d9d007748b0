//! A rules file, with every bound it has to keep.

use super::layout;
use toml::{Table, Value};

/// The keys of the units' tables in the order of rank.
pub(crate) const NAMES: [&str; 10] = [
    "rabble",
    "spearmen",
    "crossbowmen",
    "light_horse",
    "heavy_horse",
    "elephant",
    "catapult",
    "trebuchet",
    "dragon",
    "king",
];

/// The units' letters in the same order.
pub(crate) const LETTERS: &str = "RSXLHECTDK";

/// A rules file.
#[derive(Clone, Debug)]
pub(crate) struct RefRules {
    pub(crate) name: String,
    pub(crate) mountain: usize,
    pub(crate) water: usize,
    pub(crate) forest: usize,
    pub(crate) fortress: usize,
    pub(crate) largest_mountain_group: usize,
    pub(crate) no_progress_plies: u32,
    pub(crate) repetitions: usize,
    pub(crate) max_plies: u32,
    units: Vec<UnitRow>,
}

/// One row of the table of units.
#[derive(Clone, Debug)]
pub(crate) struct UnitRow {
    pub(crate) letter: char,
    pub(crate) count: usize,
    pub(crate) modes: Vec<Mode>,
    pub(crate) shots: Option<ShotRow>,
    /// The dragon's alone: whether it flies over units.
    pub(crate) over_units: bool,
    /// The upper-case letters of the units it captures.
    pub(crate) captures: String,
}

/// One of the separate ways in which a unit moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    pub(crate) orthogonal: bool,
    pub(crate) diagonal: bool,
    pub(crate) reach: u32,
}

/// How a unit shoots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShotRow {
    pub(crate) orthogonal: usize,
    pub(crate) diagonal: usize,
    pub(crate) over_mountains: bool,
}

impl RefRules {
    /// Reads a rules file.
    pub(crate) fn parse(text: &str) -> Result<RefRules, String> {
        let file: Table = text.parse().map_err(|error| format!("{error}"))?;
        only(&file, "the file", &["name", "tiles", "draws", "units"])?;
        let tiles = table(&file, "tiles")?;
        only(
            tiles,
            "tiles",
            &["mountain", "water", "forest", "fortress", "largest_mountain_group"],
        )?;
        let draws = table(&file, "draws")?;
        only(draws, "draws", &["no_progress_plies", "repetitions", "max_plies"])?;
        let units = table(&file, "units")?;
        only(units, "units", &NAMES)?;
        let rules = RefRules {
            name: get(&file, "name")?.as_str().ok_or("name is no string")?.to_owned(),
            mountain: number(tiles, "mountain", 0, 32)?,
            water: number(tiles, "water", 0, 32)?,
            forest: number(tiles, "forest", 0, 32)?,
            fortress: number(tiles, "fortress", 0, 1)?,
            largest_mountain_group: number(tiles, "largest_mountain_group", 1, 32)?,
            no_progress_plies: number(draws, "no_progress_plies", 1, 65535)? as u32,
            repetitions: number(draws, "repetitions", 2, 255)?,
            max_plies: number(draws, "max_plies", 1, 65535)? as u32,
            units: NAMES.iter().map(|name| unit_row(units, name)).collect::<Result<_, _>>()?,
        };
        rules.check_a_setup_exists()?;
        Ok(rules)
    }

    /// The row of the unit with this letter in either case.
    pub(crate) fn row(&self, letter: char) -> &UnitRow {
        let letter = letter.to_ascii_uppercase();
        self.units.iter().find(|row| row.letter == letter).expect("all ten tables are present")
    }

    pub(crate) fn rows(&self) -> &[UnitRow] {
        &self.units
    }

    fn check_a_setup_exists(&self) -> Result<(), String> {
        if self.mountain + self.water + self.forest + self.fortress > 32 {
            return Err("tiles are more than 32".to_owned());
        }
        let most = layout::most_mountains(self.largest_mountain_group);
        if self.mountain > most {
            return Err(format!("mountain is more than {most}"));
        }
        let units: usize = self.units.iter().map(|row| row.count).sum();
        let dragons = self.row('D').count;
        if units > 32 || units - dragons > 32 - self.mountain {
            return Err("units are more than the tiles they may stand on".to_owned());
        }
        // Mountains that can be laid, then the other units on the other tiles,
        // then the dragons on whatever is left: a legal setup.
        Ok(())
    }
}

fn unit_row(units: &Table, name: &str) -> Result<UnitRow, String> {
    unit_row_of(table(units, name)?, name).map_err(|error| format!("units.{name}: {error}"))
}

fn unit_row_of(unit: &Table, name: &str) -> Result<UnitRow, String> {
    let is_dragon = name == "dragon";
    match is_dragon {
        true => only(unit, name, &["count", "flight", "captures"])?,
        false => only(unit, name, &["count", "moves", "shots", "captures"])?,
    }
    let (fewest, most) = if name == "king" { (1, 1) } else { (0, 32) };
    Ok(UnitRow {
        letter: letter_of(name)?,
        count: number(unit, "count", fewest, most)?,
        modes: if is_dragon { Vec::new() } else { modes(unit)? },
        shots: unit.get("shots").map(shots).transpose()?,
        over_units: is_dragon && flies_over_units(unit)?,
        captures: array(unit, "captures")?
            .iter()
            .map(|name| letter_of(name.as_str().ok_or("captures holds more than names")?))
            .collect::<Result<_, _>>()?,
    })
}

fn letter_of(name: &str) -> Result<char, String> {
    let rank = NAMES.iter().position(|&known| known == name);
    rank.and_then(|rank| LETTERS.chars().nth(rank)).ok_or(format!("no unit is called {name}"))
}

fn modes(unit: &Table) -> Result<Vec<Mode>, String> {
    let entries = array(unit, "moves")?;
    if entries.is_empty() || entries.len() > 2 {
        return Err("moves has neither one nor two entries".to_owned());
    }
    entries.iter().map(mode).collect()
}

fn mode(entry: &Value) -> Result<Mode, String> {
    let entry = entry.as_table().ok_or("moves holds more than tables")?;
    only(entry, "moves", &["steps", "reach"])?;
    let reach = number(entry, "reach", 1, 3)? as u32;
    let (orthogonal, diagonal) = match get(entry, "steps")?.as_str() {
        Some("orthogonal") => (true, false),
        Some("diagonal") => (false, true),
        Some("any") => (true, true),
        _ => return Err("steps is not a kind of step".to_owned()),
    };
    Ok(Mode { orthogonal, diagonal, reach })
}

fn shots(entry: &Value) -> Result<ShotRow, String> {
    let entry = entry.as_table().ok_or("shots is no table")?;
    only(entry, "shots", &["orthogonal", "diagonal", "over_mountains"])?;
    let shots = ShotRow {
        orthogonal: number(entry, "orthogonal", 0, 4)?,
        diagonal: number(entry, "diagonal", 0, 3)?,
        over_mountains: get(entry, "over_mountains")?
            .as_bool()
            .ok_or("over_mountains is neither true nor false")?,
    };
    if shots.orthogonal == 0 && shots.diagonal == 0 {
        return Err("shots are of no range at all".to_owned());
    }
    Ok(shots)
}

fn flies_over_units(dragon: &Table) -> Result<bool, String> {
    match get(dragon, "flight")?.as_str() {
        Some("blocked") => Ok(false),
        Some("over-units") => Ok(true),
        _ => Err("flight is not a kind of flight".to_owned()),
    }
}

fn only(table: &Table, name: &str, known: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("{key} is an unknown key of {name}")),
        None => Ok(()),
    }
}

fn get<'t>(table: &'t Table, key: &str) -> Result<&'t Value, String> {
    table.get(key).ok_or(format!("{key} is missing"))
}

fn table<'t>(parent: &'t Table, key: &str) -> Result<&'t Table, String> {
    get(parent, key)?.as_table().ok_or(format!("{key} is no table"))
}

fn array<'t>(parent: &'t Table, key: &str) -> Result<&'t Vec<Value>, String> {
    get(parent, key)?.as_array().ok_or(format!("{key} is no array"))
}

fn number(table: &Table, key: &str, least: i64, most: i64) -> Result<usize, String> {
    let number = get(table, key)?.as_integer().ok_or(format!("{key} is no whole number"))?;
    match (least..=most).contains(&number) {
        true => Ok(number as usize),
        false => Err(format!("{key} = {number} is not within {least} to {most}")),
    }
}
