//! What may be done in a position, and what comes of it.

use super::board::{At, DIAGONAL, Direction, ORTHOGONAL, all_directions, everywhere};
use super::position::{
    FOREST, FORTRESS, GRASS, MOUNTAIN, NO_UNIT, RUIN, Reference, WATER, is_dragon, other, side_of,
};
use super::rules::{Mode, UnitRow};
use std::collections::BTreeSet;

/// An action other than a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deed {
    pub(crate) from: At,
    pub(crate) to: At,
    pub(crate) is_shot: bool,
    /// Where an assault comes to rest.
    pub(crate) rest: Option<At>,
}

impl Deed {
    /// Reads an action; a pass is no deed.
    pub(crate) fn parse(text: &str) -> Option<Deed> {
        if text == "pass" {
            return None;
        }
        let place = |range| At::named(&text[range]).expect("the name of a place");
        let is_shot = text.as_bytes()[2] == b'x';
        let deed = match text.len() {
            4 => Deed { from: place(0..2), to: place(2..4), is_shot, rest: None },
            5 if is_shot => Deed { from: place(0..2), to: place(3..5), is_shot, rest: None },
            7 => Deed { from: place(0..2), to: place(2..4), is_shot, rest: Some(place(5..7)) },
            _ => panic!("{text} is no action"),
        };
        Some(deed)
    }
}

fn move_text(from: At, to: At) -> String {
    from.name() + &to.name()
}

fn shot_text(from: At, to: At) -> String {
    from.name() + "x" + &to.name()
}

fn assault_text(from: At, to: At, rest: At) -> String {
    from.name() + &to.name() + "@" + &rest.name()
}

// What may be done.
impl Reference {
    /// The side that has captured the other's king.
    pub(crate) fn winner(&self) -> Option<char> {
        match (self.units.count('K'), self.units.count('k')) {
            (1, 0) => Some('w'),
            (0, 1) => Some('b'),
            _ => None,
        }
    }

    /// The legal actions in ascending byte order.
    pub(crate) fn actions(&self) -> Vec<String> {
        if self.winner().is_some() {
            return Vec::new();
        }
        let mut found = BTreeSet::new();
        for from in everywhere() {
            if self.is_friend(from) && !self.frozen.contains(&from) {
                self.deeds_of(from, &mut found);
            }
        }
        if found.is_empty() {
            found.insert("pass".to_owned());
        }
        found.into_iter().collect()
    }

    fn deeds_of(&self, from: At, found: &mut BTreeSet<String>) {
        if is_dragon(self.units.on(from)) {
            self.fly(from, found);
            return;
        }
        for &mode in &self.row_on(from).modes {
            self.walk(from, mode, found);
        }
        // Nobody shoots while standing on water.
        if self.row_on(from).shots.is_some() && self.tiles.on(from) != WATER {
            self.shoot(from, found);
        }
    }

    /// Takes one step after another, in every way, while steps are left.
    fn walk(&self, from: At, mode: Mode, found: &mut BTreeSet<String>) {
        let mut reached = vec![(from, mode.reach)];
        let mut done = 0;
        while done < reached.len() {
            let (at, left) = reached[done];
            done += 1;
            if left == 0 {
                continue;
            }
            for direction in directions(mode) {
                let Some(next) = at.step(direction) else { continue };
                // A way back over the first tile leads nowhere new.
                if next == from || self.tiles.on(next) == MOUNTAIN {
                    continue;
                }
                if self.units.on(next) != NO_UNIT {
                    if self.may_walk_onto(from, next) {
                        found.insert(self.attack(from, next, at));
                    }
                    continue;
                }
                found.insert(move_text(from, next));
                let state = (next, self.left_after_entering(next, left));
                if !reached.contains(&state) {
                    reached.push(state);
                }
            }
        }
    }

    fn left_after_entering(&self, at: At, left: u32) -> u32 {
        match self.tiles.on(at) {
            WATER => 0,
            FOREST => left.saturating_sub(2),
            GRASS | FORTRESS | RUIN => left - 1,
            tile => panic!("a unit entered {tile}"),
        }
    }

    /// Shooters capture only by shooting.
    fn may_walk_onto(&self, from: At, target: At) -> bool {
        self.row_on(from).shots.is_none() && self.may_capture(from, target)
    }

    /// Flies along every line until a unit, or the flight rule, stops it.
    fn fly(&self, from: At, found: &mut BTreeSet<String>) {
        let over_units = self.row_on(from).over_units;
        for direction in all_directions() {
            let mut last_empty = from;
            for at in from.line(direction) {
                if self.units.on(at) == NO_UNIT {
                    found.insert(move_text(from, at));
                    last_empty = at;
                    continue;
                }
                if self.may_capture(from, at) && self.tiles.on(at) != FOREST {
                    found.insert(self.attack(from, at, last_empty));
                }
                let is_enemy_dragon = self.is_enemy(at) && is_dragon(self.units.on(at));
                if !over_units || is_enemy_dragon {
                    break;
                }
            }
        }
    }

    /// Looks along every line for the first unit within range.
    fn shoot(&self, from: At, found: &mut BTreeSet<String>) {
        let shots = self.row_on(from).shots.expect("a shooter");
        let orthogonal = ORTHOGONAL.map(|direction| (direction, shots.orthogonal));
        let diagonal = DIAGONAL.map(|direction| (direction, shots.diagonal));
        for (direction, range) in orthogonal.into_iter().chain(diagonal) {
            for at in from.line(direction).into_iter().take(range) {
                if self.units.on(at) != NO_UNIT {
                    if self.may_capture(from, at) {
                        found.insert(shot_text(from, at));
                    }
                    break;
                }
                if self.tiles.on(at) == MOUNTAIN && !shots.over_mountains {
                    break;
                }
            }
        }
    }

    /// A capture by moving, or an assault where the target is in a fortress.
    fn attack(&self, from: At, target: At, before: At) -> String {
        match self.tiles.on(target) {
            FORTRESS => assault_text(from, target, before),
            _ => move_text(from, target),
        }
    }

    fn may_capture(&self, from: At, target: At) -> bool {
        let kind = self.units.on(target).to_ascii_uppercase();
        self.is_enemy(target) && self.row_on(from).captures.contains(kind)
    }

    pub(crate) fn row_on(&self, at: At) -> &UnitRow {
        self.rules.row(self.units.on(at))
    }

    /// Whether a unit of the side to move stands there.
    pub(crate) fn is_friend(&self, at: At) -> bool {
        let unit = self.units.on(at);
        unit != NO_UNIT && side_of(unit) == self.turn
    }

    pub(crate) fn is_enemy(&self, at: At) -> bool {
        let unit = self.units.on(at);
        unit != NO_UNIT && side_of(unit) != self.turn
    }
}

fn directions(mode: Mode) -> impl Iterator<Item = Direction> {
    let orthogonal = ORTHOGONAL.into_iter().filter(move |_| mode.orthogonal);
    orthogonal.chain(DIAGONAL.into_iter().filter(move |_| mode.diagonal))
}

// What comes of it.
impl Reference {
    /// The position after a legal action.
    pub(crate) fn apply(&self, action: &str) -> Reference {
        let mut after = self.clone();
        // The turn that is completed now thaws what it found frozen.
        after.frozen.retain(|&at| self.is_enemy(at));
        after.turn = other(self.turn);
        after.plies += 1;
        after.quiet_plies += 1;
        if let Some(deed) = Deed::parse(action) {
            after.carry_out(deed);
        }
        after
    }

    fn carry_out(&mut self, deed: Deed) {
        let is_attack = self.units.on(deed.to) != NO_UNIT;
        let is_saved_by_fortress = is_attack && self.tiles.on(deed.to) == FORTRESS;
        if is_attack {
            self.quiet_plies = 0;
        }
        if is_saved_by_fortress {
            self.tiles.put(deed.to, RUIN);
        } else if is_attack {
            self.units.put(deed.to, NO_UNIT);
            self.frozen.remove(&deed.to);
        }
        if deed.is_shot {
            return;
        }
        let end = deed.rest.unwrap_or(deed.to);
        if end != deed.from {
            self.bring(deed.from, end);
        }
    }

    fn bring(&mut self, from: At, to: At) {
        let unit = self.units.on(from);
        self.units.put(from, NO_UNIT);
        self.units.put(to, unit);
        if self.tiles.on(to) == WATER && !is_dragon(unit) {
            self.frozen.insert(to);
        }
    }

    /// Counts the sequences of exactly `depth` actions.
    pub(crate) fn perft(&self, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let actions = self.actions();
        if depth == 1 {
            return actions.len() as u64;
        }
        actions.iter().map(|action| self.apply(action).perft(depth - 1)).sum()
    }
}
