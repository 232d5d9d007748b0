//! A homeland that is being built: anything may stand anywhere until it is done.

use cyvasse_env::{Rules, Setup, SetupError, Square, Tile, Unit};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// A homeland under construction, in its builder's own view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    tiles: [Tile; 32],
    units: [Option<Unit>; 32],
}

/// What can be put on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Tile(Tile),
    Unit(Unit),
    /// Nobody stands there.
    Nobody,
}

/// Attempts to complete a homeland before it is said that it cannot be done.
const ATTEMPTS: usize = 2000;

impl Plan {
    /// Grass, and nobody on it.
    pub(super) const EMPTY: Plan = Plan { tiles: [Tile::Grass; 32], units: [None; 32] };

    pub(super) fn of(setup: &Setup) -> Plan {
        Plan { tiles: *setup.tiles(), units: *setup.units() }
    }

    /// As a setup, which need not be legal.
    pub(super) fn setup(&self) -> Setup {
        Setup::new(self.tiles, self.units)
    }

    /// The homeland, if it is complete.
    pub(super) fn done(&self, rules: &Rules) -> Result<Setup, SetupError> {
        let setup = self.setup();
        setup.check(rules).map(|()| setup)
    }

    /// Puts something on a square. A unit of which there is one only comes from where it
    /// stood.
    ///
    /// # Errors
    /// In words, why it cannot stand there.
    pub(super) fn put(
        &mut self,
        piece: Piece,
        square: Square,
        rules: &Rules,
    ) -> Result<(), String> {
        let place = square.index();
        match piece {
            Piece::Nobody => self.units[place] = None,
            Piece::Tile(tile) => {
                if let (Tile::Mountain, Some(unit)) = (tile, self.units[place])
                    && unit != Unit::Dragon
                {
                    return Err(format!("the {unit} on {square} cannot stand on a mountain"));
                }
                if tile != Tile::Grass
                    && self.tiles[place] != tile
                    && self.tiles_left(tile, rules) <= 0
                {
                    let count = rules.tiles.count(tile);
                    return Err(format!("there are {count} {tile} tiles, and all are laid"));
                }
                self.tiles[place] = tile;
            }
            Piece::Unit(unit) => {
                if self.tiles[place] == Tile::Mountain && unit != Unit::Dragon {
                    return Err(format!("{square} is a mountain, where only a dragon may stand"));
                }
                let count = rules.unit(unit).count;
                if self.units[place] != Some(unit) && self.units_left(unit, rules) <= 0 {
                    if count != 1 {
                        return Err(format!("there are {count} {unit}, and all are placed"));
                    }
                    self.units.iter_mut().filter(|u| **u == Some(unit)).for_each(|u| *u = None);
                }
                self.units[place] = Some(unit);
            }
        }
        Ok(())
    }

    /// Exchanges two squares with all that is on them.
    pub(super) fn swap(&mut self, a: Square, b: Square) {
        self.tiles.swap(a.index(), b.index());
        self.units.swap(a.index(), b.index());
    }

    fn tiles_left(&self, tile: Tile, rules: &Rules) -> i32 {
        let laid = self.tiles.iter().filter(|&&laid| laid == tile).count();
        i32::from(rules.tiles.count(tile)) - laid as i32
    }

    fn units_left(&self, unit: Unit, rules: &Rules) -> i32 {
        let placed = self.units.iter().filter(|&&placed| placed == Some(unit)).count();
        i32::from(rules.unit(unit).count) - placed as i32
    }

    /// What is still to be put somewhere, in words; `None` if nothing is.
    pub(super) fn left(&self, rules: &Rules) -> Option<String> {
        let tiles = Tile::LAID.into_iter().skip(1).filter_map(|tile| {
            let left = self.tiles_left(tile, rules);
            let letter = tile.letter()?;
            (left > 0).then(|| format!("{left} {tile} ({letter})"))
        });
        let units = Unit::ALL.into_iter().filter_map(|unit| {
            let left = self.units_left(unit, rules);
            let letter = unit.letter();
            match left {
                ..=0 => None,
                1 => Some(format!("{unit} ({letter})")),
                _ => Some(format!("{left} {unit} ({letter})")),
            }
        });
        let left: Vec<String> = tiles.chain(units).collect();
        (!left.is_empty()).then(|| left.join(", "))
    }

    /// The homeland with all that is left put somewhere at random; what stands already
    /// stays. `None` when no way was found.
    pub(super) fn completed(&self, rules: &Rules, rng: &mut ChaCha8Rng) -> Option<Plan> {
        (0..ATTEMPTS).find_map(|_| {
            let plan = self.scattered(rules, rng)?;
            plan.done(rules).ok().map(|_| plan)
        })
    }

    fn scattered(&self, rules: &Rules, rng: &mut ChaCha8Rng) -> Option<Plan> {
        let mut plan = *self;
        let mut squares: Vec<usize> = (0..32).collect();
        squares.shuffle(rng);
        for tile in Tile::LAID.into_iter().skip(1) {
            for _ in 0..plan.tiles_left(tile, rules).max(0) {
                let free = squares.iter().position(|&place| {
                    let walker = plan.units[place].is_some_and(|unit| unit != Unit::Dragon);
                    plan.tiles[place] == Tile::Grass && !(tile == Tile::Mountain && walker)
                })?;
                // Never looked at again by another tile.
                plan.tiles[squares.swap_remove(free)] = tile;
            }
        }
        for unit in Unit::ALL {
            for _ in 0..plan.units_left(unit, rules).max(0) {
                let open = |place: &usize| {
                    plan.units[*place].is_none()
                        && (plan.tiles[*place] != Tile::Mountain || unit == Unit::Dragon)
                };
                let free: Vec<usize> = (0..32).filter(open).collect();
                plan.units[*free.get(rng.random_range(0..free.len().max(1)))?] = Some(unit);
            }
        }
        Some(plan)
    }
}

impl Piece {
    /// What a person calls it: a letter of the text forms, where lower case is a tile and
    /// upper case a unit, or a name.
    pub(super) fn named(name: &str) -> Option<Piece> {
        let mut letters = name.chars();
        if let (Some(letter), None) = (letters.next(), letters.next()) {
            return match letter {
                '-' => Some(Piece::Nobody),
                'g' | '.' => Some(Piece::Tile(Tile::Grass)),
                _ if letter.is_ascii_uppercase() => Unit::from_letter(letter).map(Piece::Unit),
                _ => Tile::from_letter(letter).filter(|&tile| tile != Tile::Ruin).map(Piece::Tile),
            };
        }
        let name = name.to_ascii_lowercase().replace('-', "_");
        let tile = Tile::LAID.into_iter().find(|tile| tile.to_string() == name);
        tile.map(Piece::Tile).or_else(|| Unit::from_key(&name).map(Piece::Unit))
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn square(text: &str) -> Square {
        Square::from_text(text.as_bytes()[0], text.as_bytes()[1]).unwrap()
    }

    #[test]
    fn a_homeland_is_built_piece_by_piece() {
        let rules = Rules::iron_throne();
        let text = "3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE";
        let setup = Setup::parse(text, &rules).unwrap();
        let mut plan = Plan::EMPTY;
        assert!(plan.left(&rules).unwrap().starts_with("6 mountain (m), 5 water (w)"));
        for place in 0..32 {
            assert!(plan.done(&rules).is_err());
            let square = Square::new(place);
            plan.put(Piece::Tile(setup.tile(square)), square, &rules).unwrap();
            if let Some(unit) = setup.unit(square) {
                plan.put(Piece::Unit(unit), square, &rules).unwrap();
            }
        }
        assert_eq!((plan.left(&rules), plan.done(&rules)), (None, Ok(setup)));
        // The king moves; the dragon alone may stand on a mountain, of which there are
        // six.
        plan.put(Piece::Unit(Unit::King), square("a1"), &rules).unwrap();
        assert_eq!((plan.units[0], plan.units[31]), (Some(Unit::King), None));
        let king = plan.put(Piece::Unit(Unit::King), square("f4"), &rules);
        assert!(king.unwrap_err().contains("f4 is a mountain"));
        let mountain = plan.put(Piece::Tile(Tile::Mountain), square("a1"), &rules);
        assert!(mountain.unwrap_err().contains("the king on a1"));
        let mountain = plan.put(Piece::Tile(Tile::Mountain), square("b1"), &rules);
        assert!(mountain.unwrap_err().contains("6 mountain tiles, and all are laid"));
        plan.put(Piece::Nobody, square("a1"), &rules).unwrap();
        assert_eq!(plan.left(&rules), Some("king (K)".into()));
        plan.swap(square("f4"), square("a4"));
        assert_eq!((plan.tiles[24], plan.units[24]), (Tile::Mountain, Some(Unit::Dragon)));
    }

    #[test]
    fn what_is_left_is_filled_in_and_what_stands_stays() {
        let rules = Rules::iron_throne();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for seed in 0..50 {
            let mut plan = Plan::EMPTY;
            for tile in [Tile::Fortress, Tile::Mountain, Tile::Mountain, Tile::Water] {
                let place = Square::new(rng.random_range(0..32));
                let _ = plan.put(Piece::Tile(tile), place, &rules);
            }
            let fortress = plan.tiles.iter().position(|&tile| tile == Tile::Fortress);
            if let Some(place) = fortress {
                plan.put(Piece::Unit(Unit::King), Square::new(place), &rules).unwrap();
            }
            let full = plan.completed(&rules, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
            assert!(full.done(&rules).is_ok());
            for place in 0..32 {
                assert!(plan.tiles[place] == Tile::Grass || plan.tiles[place] == full.tiles[place]);
                assert!(plan.units[place].is_none() || plan.units[place] == full.units[place]);
            }
        }
        // Three mountains together can never become legal.
        let mut plan = Plan::EMPTY;
        for square in [square("a1"), square("b1"), square("c1")] {
            plan.put(Piece::Tile(Tile::Mountain), square, &rules).unwrap();
        }
        assert_eq!(plan.completed(&rules, &mut rng), None);
    }

    #[test]
    fn pieces_have_letters_and_names() {
        for (name, piece) in [
            ("m", Piece::Tile(Tile::Mountain)),
            ("c", Piece::Tile(Tile::Fortress)),
            ("C", Piece::Unit(Unit::Catapult)),
            ("g", Piece::Tile(Tile::Grass)),
            ("-", Piece::Nobody),
            ("light-horse", Piece::Unit(Unit::LightHorse)),
            ("Forest", Piece::Tile(Tile::Forest)),
            ("king", Piece::Unit(Unit::King)),
        ] {
            assert_eq!(Piece::named(name), Some(piece), "{name}");
        }
        for name in ["", "k", "r", "ruin", "Z", "horse"] {
            assert_eq!(Piece::named(name), None, "{name}");
        }
    }
}
