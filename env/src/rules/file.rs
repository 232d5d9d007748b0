//! Reading, checking and writing a rules file.
//!
//! The file is read as a tree of TOML values and walked by hand rather than
//! through a derived deserializer: that way every refusal can name its key by
//! the full path, numbers too large for any integer type included.

use std::fmt::Write as _;

use toml::de::{DeTable, DeValue};

use super::{DrawRules, Movement, Rules, Shots, Steps, TileCounts, UnitRules, Walk};
use crate::unit::{Unit, UnitSet};

mod table;

use table::{Table, bad_value, describe, one_of};

/// Why a rules file is refused. Each prints as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// The text is not TOML.
    #[error("line {line} is not TOML: {message}")]
    Syntax {
        /// The line of the first mistake, from 1.
        line: usize,
        /// What the TOML parser says about it.
        message: String,
    },
    /// A key that means nothing.
    #[error("`{key}` is not a key of a rules file; did you mean `{nearest}`?")]
    UnknownKey {
        /// The full path of the key.
        key: String,
        /// The full path of the known key that is spelled most like it.
        nearest: String,
    },
    /// A key that belongs to other units than the one it was given to.
    #[error("`{key}` is out of place: {reason}")]
    MisplacedKey {
        /// The full path of the key.
        key: String,
        /// Whose key it is, and what the unit has in its place.
        reason: &'static str,
    },
    /// A mandatory key is not there.
    #[error("`{key}` is missing; it must be {expected}")]
    MissingKey {
        /// The full path of the key.
        key: String,
        /// What its value may be.
        expected: String,
    },
    /// A value of the wrong type or out of bounds, or values that contradict
    /// each other (then `key` is the table that they share, or the larger one).
    #[error("`{key}` is {found}; it must be {expected}")]
    BadValue {
        /// The full path of the key.
        key: String,
        /// What stands there.
        found: String,
        /// What may stand there.
        expected: String,
    },
}

/// The most mountains that a homeland can hold when groups are limited to 1,
/// 2, ... 32 of them. (Facts of the 8x4 grid; a test counts them anew.)
const MOST_MOUNTAINS: [u8; 32] = [
    16, 16, 20, 21, 22, 22, 23, 24, 24, 25, 25, 26, 27, 28, 28, 28, //
    28, 28, 28, 28, 28, 28, 28, 28, 28, 29, 29, 29, 30, 30, 31, 32,
];

impl Rules {
    /// Reads a rules file. `configs/rules/iron-throne.toml` explains every key.
    ///
    /// # Errors
    ///
    /// Refuses, naming the key by its full path: text that is not TOML, unknown
    /// keys, missing keys, values outside their bounds, and tiles or units that
    /// leave no legal setup.
    ///
    /// ```
    /// use cyvasse_env::Rules;
    ///
    /// let text = include_str!("../../../configs/rules/iron-throne.toml");
    /// assert_eq!(Rules::from_toml(text).unwrap().tiles.mountain, 6);
    ///
    /// let wrong = text.replace("reach = 3", "reach = 4");
    /// assert_eq!(
    ///     Rules::from_toml(&wrong).unwrap_err().to_string(),
    ///     "`units.light_horse.moves[0].reach` is 4; it must be a whole number from 1 to 3",
    /// );
    /// ```
    pub fn from_toml(text: &str) -> Result<Rules, RulesError> {
        let document = DeTable::parse(text).map_err(|error| syntax_error(text, &error))?;
        let root = Table::new(String::new(), document.get_ref());
        root.allow(&["name", "tiles", "draws", "units"])?;
        let rules = Rules {
            name: root.string("name", "a string")?.to_owned(),
            tiles: read_tiles(&root.table("tiles")?)?,
            draws: read_draws(&root.table("draws")?)?,
            units: read_units(&root.table("units")?)?,
        };
        rules.check_setups()?;
        Ok(rules)
    }

    /// The rules as a rules file in its one canonical form, which
    /// [`Rules::from_toml`] reads back to equal rules.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let name = toml::Value::String(self.name.clone());
        format!("name = {name}\n{}", self.body())
    }

    /// A number that two sets of rules share only if they are the same game:
    /// 64-bit FNV-1a over the bytes of [`Rules::to_toml`] without the line of
    /// the name. Stored beside games and networks, so the canonical form must
    /// never change.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        const OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
        const PRIME: u64 = 0x0000_0100_0000_01B3;
        self.body().bytes().fold(OFFSET_BASIS, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(PRIME) //
        })
    }

    /// Refuses rules under which no setup is legal.
    ///
    /// The checks are exact. Mountains first: a layout with fewer mountains than
    /// a legal one is legal too, so a number of them can be laid if it is at most
    /// the most that can. The rest of the tiles go anywhere. Of the units, all but
    /// the dragons need a tile that is no mountain, and once those stand, the
    /// dragons need only as many free tiles as there are dragons.
    pub(crate) fn check_setups(&self) -> Result<(), RulesError> {
        let tiles = &self.tiles;
        let laid = [tiles.mountain, tiles.water, tiles.forest, tiles.fortress];
        let laid: u32 = laid.into_iter().map(u32::from).sum();
        if laid > 32 {
            return Err(bad_value(
                "tiles".to_owned(),
                format!("{laid} tiles in all"),
                "at most 32",
            ));
        }
        let group = tiles.largest_mountain_group;
        let most = MOST_MOUNTAINS[usize::from(group) - 1];
        if tiles.mountain > most {
            let expected = format!("at most {most} when `tiles.largest_mountain_group` is {group}");
            return Err(bad_value(
                "tiles.mountain".to_owned(),
                tiles.mountain.to_string(),
                &expected,
            ));
        }
        let dragons = usize::from(self.unit(Unit::Dragon).count);
        let walkers = self.unit_count() - dragons;
        let open = 32 - usize::from(tiles.mountain);
        if walkers > open {
            let found = format!("{walkers} units other than dragons");
            let expected = format!("at most {open}, the tiles that are not mountains");
            return Err(bad_value("units".to_owned(), found, &expected));
        }
        if walkers + dragons > 32 {
            let found = format!("{} units in all", walkers + dragons);
            return Err(bad_value(
                "units".to_owned(),
                found,
                "at most 32, the tiles of a homeland",
            ));
        }
        Ok(())
    }

    /// The canonical form without the name.
    fn body(&self) -> String {
        let TileCounts { mountain, water, forest, fortress, largest_mountain_group } = self.tiles;
        let DrawRules { no_progress_plies, repetitions, max_plies } = self.draws;
        let mut text = format!(
            "[tiles]\nmountain = {mountain}\nwater = {water}\nforest = {forest}\n\
             fortress = {fortress}\nlargest_mountain_group = {largest_mountain_group}\n\
             [draws]\nno_progress_plies = {no_progress_plies}\nrepetitions = {repetitions}\n\
             max_plies = {max_plies}\n"
        );
        for kind in Unit::ALL {
            write_unit(&mut text, kind, self.unit(kind));
        }
        text
    }
}

fn write_unit(text: &mut String, kind: Unit, unit: &UnitRules) {
    let captures: Vec<String> = Unit::ALL
        .into_iter()
        .filter(|&prey| unit.captures.contains(prey))
        .map(|prey| format!("\"{}\"", prey.key()))
        .collect();
    let movement = match unit.movement {
        Movement::Walk(first, None) => format!("moves = [{}]", walk_text(first)),
        Movement::Walk(first, Some(second)) => {
            format!("moves = [{}, {}]", walk_text(first), walk_text(second))
        }
        Movement::Flight { over_units: false } => "flight = \"blocked\"".to_owned(),
        Movement::Flight { over_units: true } => "flight = \"over-units\"".to_owned(),
    };
    let shots = unit.shots.map_or(String::new(), |shots| {
        let Shots { orthogonal, diagonal, over_mountains } = shots;
        format!(
            "shots = {{ orthogonal = {orthogonal}, diagonal = {diagonal}, \
             over_mountains = {over_mountains} }}\n"
        )
    });
    writeln!(
        text,
        "[units.{}]\ncount = {}\n{movement}\n{shots}captures = [{}]",
        kind.key(),
        unit.count,
        captures.join(", ")
    )
    .expect("a string takes any text");
}

fn walk_text(walk: Walk) -> String {
    let steps = match walk.steps {
        Steps::Orthogonal => "orthogonal",
        Steps::Diagonal => "diagonal",
        Steps::Any => "any",
    };
    format!("{{ steps = \"{steps}\", reach = {} }}", walk.reach)
}

fn read_tiles(table: &Table) -> Result<TileCounts, RulesError> {
    table.allow(&["mountain", "water", "forest", "fortress", "largest_mountain_group"])?;
    Ok(TileCounts {
        mountain: table.small("mountain", 0..=32)?,
        water: table.small("water", 0..=32)?,
        forest: table.small("forest", 0..=32)?,
        fortress: table.small("fortress", 0..=1)?,
        largest_mountain_group: table.small("largest_mountain_group", 1..=32)?,
    })
}

fn read_draws(table: &Table) -> Result<DrawRules, RulesError> {
    table.allow(&["no_progress_plies", "repetitions", "max_plies"])?;
    Ok(DrawRules {
        no_progress_plies: table.number("no_progress_plies", 1..=65_535)?,
        repetitions: table.small("repetitions", 2..=255)?,
        max_plies: table.number("max_plies", 1..=65_535)?,
    })
}

fn read_units(table: &Table) -> Result<[UnitRules; Unit::COUNT], RulesError> {
    table.allow(&Unit::ALL.map(Unit::key))?;
    let mut units = Vec::with_capacity(Unit::COUNT);
    for kind in Unit::ALL {
        units.push(read_unit(kind, &table.table(kind.key())?)?);
    }
    Ok(units.try_into().expect("one for each kind"))
}

fn read_unit(kind: Unit, table: &Table) -> Result<UnitRules, RulesError> {
    let dragon = kind == Unit::Dragon;
    if dragon {
        table.forbid("moves", "the dragon has `flight` instead")?;
        table.forbid("shots", "the dragon cannot shoot")?;
        table.allow(&["count", "flight", "captures"])?;
    } else {
        table.forbid("flight", "only the dragon flies; this unit has `moves` instead")?;
        table.allow(&["count", "moves", "shots", "captures"])?;
    }
    Ok(UnitRules {
        count: table.small("count", if kind == Unit::King { 1..=1 } else { 0..=32 })?,
        movement: if dragon { read_flight(table)? } else { read_moves(table)? },
        shots: if table.has("shots") { Some(read_shots(&table.table("shots")?)?) } else { None },
        captures: read_captures(table)?,
    })
}

fn read_flight(table: &Table) -> Result<Movement, RulesError> {
    const KINDS: [&str; 2] = ["blocked", "over-units"];
    let choice = table.choice("flight", &KINDS)?;
    Ok(Movement::Flight { over_units: choice == 1 })
}

fn read_moves(table: &Table) -> Result<Movement, RulesError> {
    const EXPECTED: &str = "an array of one or two tables like { steps = \"any\", reach = 1 }";
    let entries = table.array("moves", EXPECTED)?;
    let read = |index: usize| -> Result<Walk, RulesError> {
        let path = format!("{}[{index}]", table.path_of("moves"));
        let DeValue::Table(entry) = entries[index] else {
            return Err(bad_value(path, describe(entries[index]), "a table"));
        };
        read_walk(&Table::new(path, entry))
    };
    match entries.len() {
        1 => Ok(Movement::Walk(read(0)?, None)),
        2 => Ok(Movement::Walk(read(0)?, Some(read(1)?))),
        _ => Err(table.bad("moves", EXPECTED)),
    }
}

fn read_walk(table: &Table) -> Result<Walk, RulesError> {
    table.allow(&["steps", "reach"])?;
    let steps = [Steps::Orthogonal, Steps::Diagonal, Steps::Any];
    Ok(Walk {
        steps: steps[table.choice("steps", &["orthogonal", "diagonal", "any"])?],
        reach: table.small("reach", 1..=3)?,
    })
}

fn read_shots(table: &Table) -> Result<Shots, RulesError> {
    table.allow(&["orthogonal", "diagonal", "over_mountains"])?;
    let shots = Shots {
        orthogonal: table.small("orthogonal", 0..=4)?,
        diagonal: table.small("diagonal", 0..=3)?,
        over_mountains: table.boolean("over_mountains")?,
    };
    if shots.orthogonal == 0 && shots.diagonal == 0 {
        let expected = "at least 1 one way or the other, or left out";
        return Err(bad_value(table.path().to_owned(), "0 both ways".to_owned(), expected));
    }
    Ok(shots)
}

fn read_captures(table: &Table) -> Result<UnitSet, RulesError> {
    let entries = table.array("captures", "an array of names of units")?;
    let read = |(index, entry): (usize, &&DeValue)| {
        entry.as_str().and_then(Unit::from_key).ok_or_else(|| {
            let path = format!("{}[{index}]", table.path_of("captures"));
            bad_value(path, describe(entry), &one_of(&Unit::ALL.map(Unit::key)))
        })
    };
    entries.iter().enumerate().map(read).collect()
}

fn syntax_error(text: &str, error: &toml::de::Error) -> RulesError {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = 1 + text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count();
    RulesError::Syntax { line, message: error.message().replace('\n', ", ") }
}
