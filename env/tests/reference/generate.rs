//! Random rules files, setups and positions.
//!
//! Far from real games on purpose: what is rare there is common here.

use super::board::{At, BLANK, Letters, everywhere, row_text};
use super::play::Deed;
use super::position::Reference;
use super::rules::{LETTERS, NAMES, RefRules};
use super::setup::{Homeland, mountain_group};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::rc::Rc;

pub(crate) type Random = ChaCha8Rng;

/// The same numbers for the same seed, always.
pub(crate) fn random(seed: u64) -> Random {
    Random::seed_from_u64(seed)
}

// Rules files.

/// The text of a random rules file within the bounds.
pub(crate) fn random_rules_text(random: &mut Random) -> String {
    loop {
        let text = random_rules_text_with_any_counts(random);
        if RefRules::parse(&text).is_ok() {
            return text;
        }
    }
}

/// Tiles and units may be too many for the homeland.
fn random_rules_text_with_any_counts(random: &mut Random) -> String {
    let mut text = format!(
        "name = \"random\"\n\
         [tiles]\nmountain = {}\nwater = {}\nforest = {}\nfortress = {}\n\
         largest_mountain_group = {}\n\
         [draws]\nno_progress_plies = {}\nrepetitions = {}\nmax_plies = {}\n",
        random.random_range(0..=12),
        random.random_range(0..=9),
        random.random_range(0..=9),
        u32::from(random.random_ratio(3, 4)),
        [1, 2, 3, 5, 32].choose(random).unwrap(),
        random.random_range(1..=60),
        random.random_range(2..=4),
        random.random_range(1..=200),
    );
    for name in NAMES {
        let count = match name {
            "king" => 1,
            _ => random.random_range(0..=3),
        };
        writeln!(text, "[units.{name}]\ncount = {count}").unwrap();
        text += &match name {
            "dragon" => random_flight_text(random),
            _ => random_moves_text(random),
        };
        text += &random_captures_text(random);
    }
    text
}

fn random_flight_text(random: &mut Random) -> String {
    let flight = ["blocked", "over-units"].choose(random).unwrap();
    format!("flight = \"{flight}\"\n")
}

fn random_moves_text(random: &mut Random) -> String {
    let mode = |random: &mut Random| {
        let steps = ["orthogonal", "diagonal", "any"].choose(random).unwrap();
        format!("{{ steps = \"{steps}\", reach = {} }}", random.random_range(1..=3))
    };
    let modes: Vec<String> = (0..random.random_range(1..=2)).map(|_| mode(random)).collect();
    let mut text = format!("moves = [{}]\n", modes.join(", "));
    if random.random_ratio(1, 3) {
        text += &random_shots_text(random);
    }
    text
}

fn random_shots_text(random: &mut Random) -> String {
    let orthogonal = random.random_range(0..=4);
    let diagonal = random.random_range(u32::from(orthogonal == 0)..=3);
    let over_mountains = random.random_bool(0.5);
    format!(
        "shots = {{ orthogonal = {orthogonal}, diagonal = {diagonal}, \
         over_mountains = {over_mountains} }}\n"
    )
}

fn random_captures_text(random: &mut Random) -> String {
    let likely = *[0.2, 0.7, 1.0].choose(random).unwrap();
    let captures: Vec<String> = NAMES
        .iter()
        .filter(|_| random.random_bool(likely))
        .map(|name| format!("\"{name}\""))
        .collect();
    format!("captures = [{}]\n", captures.join(", "))
}

// Setups.

/// A legal setup in the own view: tiles and units.
pub(crate) fn random_setup(random: &mut Random, rules: &RefRules) -> (Homeland, Homeland) {
    loop {
        if let Some(setup) = try_setup(random, rules) {
            return setup;
        }
    }
}

/// Lays the pieces in a random order; the mountains may fail to fit.
fn try_setup(random: &mut Random, rules: &RefRules) -> Option<(Homeland, Homeland)> {
    let mut places: Vec<At> = everywhere().filter(|at| at.rank < 4).collect();
    let mut tiles: Homeland = places.iter().map(|&at| (at, BLANK)).collect();
    let mut units = tiles.clone();
    places.shuffle(random);
    let mut mountains = 0;
    for &at in &places {
        if mountains == rules.mountain {
            break;
        }
        tiles.insert(at, 'm');
        mountains += 1;
        if mountain_group(&tiles, at).len() > rules.largest_mountain_group {
            tiles.insert(at, BLANK);
            mountains -= 1;
        }
    }
    if mountains < rules.mountain {
        return None;
    }
    let mut flat = places.iter().copied().filter(|at| tiles[at] != 'm').collect::<Vec<At>>();
    flat.shuffle(random);
    let others = [('w', rules.water), ('f', rules.forest), ('c', rules.fortress)];
    let mut letters = others.iter().flat_map(|&(letter, count)| vec![letter; count]);
    for &at in &flat {
        tiles.insert(at, letters.next().unwrap_or(BLANK));
    }
    flat.shuffle(random);
    let walkers = rules.rows().iter().filter(|row| row.letter != 'D');
    for letter in walkers.flat_map(|row| vec![row.letter; row.count]) {
        units.insert(flat.pop().expect("room for every unit"), letter);
    }
    let mut free: Vec<At> = places.into_iter().filter(|at| units[at] == BLANK).collect();
    for _ in 0..rules.row('D').count {
        units.insert(free.pop().expect("room for every dragon"), 'D');
    }
    Some((tiles, units))
}

/// The text of one half of a setup.
pub(crate) fn homeland_text(homeland: &Homeland) -> String {
    let row = |rank| -> Vec<char> { (0..8).map(|file| homeland[&At { rank, file }]).collect() };
    let rows: Vec<String> = (0..4).rev().map(|rank| row_text(&row(rank))).collect();
    rows.join("/")
}

/// The first position of a game under these rules.
pub(crate) fn random_start(random: &mut Random, rules: &Rc<RefRules>) -> Reference {
    let mut position = empty(rules);
    for is_white in [true, false] {
        let (tiles, units) = random_setup(random, rules);
        for (&own, &tile) in &tiles {
            let at = if is_white { own } else { At { rank: 7 - own.rank, ..own } };
            let unit = if is_white { units[&own] } else { units[&own].to_ascii_lowercase() };
            position.tiles.put(at, tile);
            position.units.put(at, unit);
        }
    }
    position
}

fn empty(rules: &Rc<RefRules>) -> Reference {
    Reference {
        rules: Rc::clone(rules),
        tiles: Letters::blank(),
        units: Letters::blank(),
        turn: 'w',
        frozen: BTreeSet::new(),
        quiet_plies: 0,
        plies: 0,
    }
}

// Positions.

/// A position that no game need have reached: any tiles, few kinds of unit in
/// many copies, ruins, occupied fortresses, frozen units.
pub(crate) fn random_position(random: &mut Random, rules: &Rc<RefRules>) -> Reference {
    let mut position = empty(rules);
    strew_tiles(random, &mut position);
    place_kings(random, &mut position);
    place_units(random, &mut position);
    for at in position.tiles.find('w') {
        let unit = position.units.on(at);
        let can_freeze = unit != BLANK && !"dD".contains(unit);
        if can_freeze && random.random_ratio(2, 5) {
            position.frozen.insert(at);
        }
    }
    position.turn = *['w', 'b'].choose(random).unwrap();
    position.quiet_plies = random.random_range(0..30);
    position.plies = random.random_range(0..100);
    position
}

fn strew_tiles(random: &mut Random, position: &mut Reference) {
    let mut density = || *[0.0, 0.05, 0.15, 0.3].choose(random).unwrap();
    let densities = [('m', density()), ('w', density()), ('f', density()), ('r', density() / 4.0)];
    for at in everywhere() {
        for (tile, density) in densities {
            if random.random_bool(density) {
                position.tiles.put(at, tile);
            }
        }
    }
    if position.rules.fortress == 1 {
        for ranks in [0..4, 4..8] {
            if random.random_ratio(4, 5) {
                let at = At { rank: random.random_range(ranks), file: random.random_range(0..8) };
                position.tiles.put(at, 'c');
            }
        }
    }
}

/// Both kings, rarely only one; often in a fortress.
fn place_kings(random: &mut Random, position: &mut Reference) {
    for king in ['K', 'k'] {
        let fortresses = position.tiles.find('c');
        let fortress = fortresses.choose(random).filter(|_| random.random_ratio(1, 3));
        let at = fortress.copied().or_else(|| free_place(random, position, king));
        let taken = at.is_none_or(|at| position.units.on(at) != BLANK);
        if taken || (king == 'k' && random.random_ratio(1, 50)) {
            continue;
        }
        position.units.put(at.unwrap(), king);
    }
    if position.units.count('K') + position.units.count('k') == 0 {
        position.tiles.put(At { rank: 0, file: 0 }, BLANK);
        position.units.put(At { rank: 0, file: 0 }, 'K');
    }
}

/// Copies of a few kinds, the more copies the fewer kinds.
fn place_units(random: &mut Random, position: &mut Reference) {
    let kinds: Vec<char> = LETTERS.chars().filter(|&letter| letter != 'K').collect();
    let size = random.random_range(1..=6);
    let palette: Vec<char> = kinds.sample(random, size).copied().collect();
    for _ in 0..*[2, 4, 8, 12, 24].choose(random).unwrap() {
        let kind = *palette.choose(random).unwrap();
        let unit = if random.random_bool(0.5) { kind } else { kind.to_ascii_lowercase() };
        let fortresses = position.tiles.find('c');
        let fortress = fortresses.choose(random).filter(|_| random.random_ratio(1, 6));
        let at = fortress.copied().or_else(|| free_place(random, position, unit));
        if let Some(at) = at.filter(|&at| position.units.on(at) == BLANK) {
            position.units.put(at, unit);
        }
    }
}

/// A place that the unit may stand on, if a few tries find one.
fn free_place(random: &mut Random, position: &Reference, unit: char) -> Option<At> {
    let places: Vec<At> = everywhere()
        .filter(|&at| position.units.on(at) == BLANK)
        .filter(|&at| position.tiles.on(at) != 'm' || "dD".contains(unit))
        .collect();
    // Units that stand apart seldom meet: half of them keep to the middle.
    let middle: Vec<At> = places
        .iter()
        .copied()
        .filter(|at| (2..6).contains(&at.rank) && (2..6).contains(&at.file))
        .collect();
    let crowded = if random.random_bool(0.5) { &middle } else { &places };
    crowded.choose(random).copied()
}

// Actions.

/// One of the actions. Attacks are preferred, but for those that end the game.
pub(crate) fn choose_action(
    random: &mut Random,
    position: &Reference,
    actions: &[String],
) -> String {
    let attacks: Vec<&String> = actions
        .iter()
        .filter(|action| Deed::parse(action).is_some_and(|deed| is_harmless_attack(position, deed)))
        .collect();
    match attacks.choose(random) {
        Some(attack) if random.random_ratio(1, 3) => (*attack).clone(),
        _ => actions.choose(random).expect("an action").clone(),
    }
}

fn is_harmless_attack(position: &Reference, deed: Deed) -> bool {
    let takes_king = "kK".contains(position.units.on(deed.to)) && position.tiles.on(deed.to) != 'c';
    position.units.on(deed.to) != BLANK && !takes_king
}
