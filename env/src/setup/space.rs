//! The set of all legal setups: counted exactly and sampled uniformly.

use rand::Rng;

use super::mountains::Mountains;
use super::{Setup, SetupBuilder};
use crate::rules::Rules;
use crate::square::{Side, Square, SquareSet};
use crate::tile::Tile;
use crate::unit::Unit;

/// All setups that are legal under some rules.
///
/// A legal setup is made by three choices:
///
/// 1. a layout of the mountains under the group limit;
/// 2. an arrangement of the other tiles on the other squares;
/// 3. a placement of the units: the walkers (all but the dragons) on squares
///    that are no mountains, then the dragons on any squares left.
///
/// Different choices make different setups, copies of a unit being alike. In
/// how many ways the second choice can be made depends on the first only
/// through the number of mountains, which is fixed; the third likewise, since
/// every tile but a mountain is open to every unit. So the number of setups is
/// the product of three numbers, and a uniform choice at each of the three is a
/// uniform choice of the setup.
///
/// ```
/// use cyvasse_env::{Rules, SetupSpace};
///
/// let space = SetupSpace::new(&Rules::iron_throne());
/// assert_eq!(space.count(), Some(835_994_457_119_419_556_768_409_600_000));
/// ```
#[derive(Clone, Debug)]
pub struct SetupSpace {
    pub(super) mountains: Mountains,
    /// By number of the tile in [`Tile::LAID`].
    pub(super) tiles: [u8; 5],
    /// By [`Unit::index`].
    pub(super) units: [u8; Unit::COUNT],
}

impl SetupSpace {
    /// The setups that are legal under `rules`. Takes milliseconds under most
    /// rules, a few tens of them and 8 MB at worst: make it once and keep it.
    ///
    /// # Panics
    ///
    /// If the rules, made by hand, are such that [`Rules::from_toml`] would
    /// refuse them for having no legal setup.
    #[must_use]
    pub fn new(rules: &Rules) -> SetupSpace {
        rules.check_setups().expect("the rules have a legal setup");
        SetupSpace {
            mountains: Mountains::new(&rules.tiles),
            tiles: Tile::LAID.map(|tile| rules.tiles.count(tile)),
            units: Unit::ALL.map(|unit| rules.unit(unit).count),
        }
    }

    /// The number of legal setups, if it is less than 2^128.
    #[must_use]
    pub fn count(&self) -> Option<u128> {
        self.factors().into_iter().try_fold(1u128, |product, factor| product.checked_mul(factor))
    }

    /// The natural logarithm of the number of legal setups: the entropy of
    /// [`SetupSpace::sample`] in nats.
    #[must_use]
    pub fn log_count(&self) -> f64 {
        self.factors().into_iter().map(|factor| (factor as f64).ln()).sum()
    }

    /// Numbers whose product is the number of legal setups: the layouts of the
    /// mountains, then for each kind of tile and unit in how many ways it can
    /// be laid on the squares that are left to it.
    fn factors(&self) -> Vec<u128> {
        let mut factors = vec![u128::from(self.mountains.count())];
        let mut squares = 32 - self.mountain_count();
        for tile in [Tile::Water, Tile::Forest, Tile::Fortress] {
            let count = u32::from(self.tiles[tile as usize]);
            factors.push(binomial(squares, count));
            squares -= count;
        }
        let mut squares = 32 - self.mountain_count();
        for walker in Unit::ALL.into_iter().filter(|&unit| unit != Unit::Dragon) {
            let count = u32::from(self.units[walker.index()]);
            factors.push(binomial(squares, count));
            squares -= count;
        }
        let dragons = u32::from(self.units[Unit::Dragon.index()]);
        factors.push(binomial(squares + self.mountain_count(), dragons));
        factors
    }

    fn mountain_count(&self) -> u32 {
        u32::from(self.tiles[Tile::Mountain as usize])
    }

    /// A legal setup, each with exactly the same probability. What it makes of
    /// a generator's numbers is the same on every machine.
    ///
    /// ```
    /// use cyvasse_env::{Rules, SetupSpace};
    /// use rand::SeedableRng;
    ///
    /// let rules = Rules::iron_throne();
    /// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    /// let setup = SetupSpace::new(&rules).sample(&mut rng);
    /// assert_eq!(setup.check(&rules), Ok(()));
    /// ```
    #[must_use]
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Setup {
        let number = below(rng, self.mountains.count());
        let mountains = self.mountains.layout(number);
        let open = Side::White.homeland() & !mountains;
        let mut tiles = [Tile::Grass; 32];
        for square in mountains {
            tiles[square.index()] = Tile::Mountain;
        }
        let mut free = Squares::new(open);
        for tile in [Tile::Water, Tile::Forest, Tile::Fortress] {
            for _ in 0..self.tiles[tile as usize] {
                tiles[free.draw(rng).index()] = tile;
            }
        }
        let mut units = [None; 32];
        let mut free = Squares::new(open);
        for walker in Unit::ALL.into_iter().filter(|&unit| unit != Unit::Dragon) {
            for _ in 0..self.units[walker.index()] {
                units[free.draw(rng).index()] = Some(walker);
            }
        }
        free.add(mountains);
        for _ in 0..self.units[Unit::Dragon.index()] {
            units[free.draw(rng).index()] = Some(Unit::Dragon);
        }
        Setup::new(tiles, units)
    }

    /// Starts to build a setup square by square.
    #[must_use]
    pub fn builder(&self) -> SetupBuilder<'_> {
        SetupBuilder::new(self)
    }
}

/// Squares to draw from without putting back. Copies of a tile or a unit, drawn
/// one by one, come in every order alike, so that each way to lay them is drawn
/// equally often.
struct Squares {
    squares: [Square; 32],
    len: usize,
}

impl Squares {
    fn new(set: SquareSet) -> Squares {
        let mut squares = Squares { squares: [Square::new(0); 32], len: 0 };
        squares.add(set);
        squares
    }

    fn add(&mut self, set: SquareSet) {
        for square in set {
            self.squares[self.len] = square;
            self.len += 1;
        }
    }

    fn draw<R: Rng + ?Sized>(&mut self, rng: &mut R) -> Square {
        let index = below(rng, self.len as u32) as usize;
        self.len -= 1;
        self.squares.swap(index, self.len);
        self.squares[self.len]
    }
}

/// A number from 0 to `bound - 1`, each with exactly the same probability: as
/// many random bits as the largest has, drawn again while they are too large.
fn below<R: Rng + ?Sized>(rng: &mut R, bound: u32) -> u32 {
    let mask = bound.next_power_of_two().wrapping_sub(1);
    loop {
        let number = rng.next_u32() & mask;
        if number < bound {
            return number;
        }
    }
}

/// In how many ways `k` of `n` squares can be chosen; `k <= n <= 32`.
fn binomial(n: u32, k: u32) -> u128 {
    // Each product of neighbours is divisible, so this stays exact.
    (0..k).fold(1, |product, i| product * u128::from(n - i) / u128::from(i + 1))
}
