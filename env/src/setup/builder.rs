//! Building a setup square by square, never into a dead end.

use super::mountains::{Mountains, Node, SCAN};
use super::{Setup, SetupSpace};
use crate::square::Square;
use crate::tile::Tile;
use crate::unit::Unit;

/// A setup under construction, as a network that fills it in step by step
/// needs it.
///
/// A setup is a sequence of 64 *tokens* and each setup is one sequence only:
/// first a tile for each square in the order of [`SetupBuilder::SCAN`], then a
/// unit or none for each in the same order.
///
/// - A tile's token is its place in [`Tile::LAID`], 0 (grass) to 4 (fortress).
/// - A unit's token is 1 + [`Unit::index`], 1 (rabble) to 10 (king); 0 leaves
///   the square empty.
///
/// [`SetupBuilder::legal_tokens`] are exactly the tokens that some legal setup
/// continues with. A step takes some nanoseconds, and clones are cheap.
///
/// ```
/// use cyvasse_env::{Rules, SetupBuilder, SetupSpace};
///
/// let space = SetupSpace::new(&Rules::iron_throne());
/// let mut builder = space.builder();
/// while let Some(token) = (0..11).find(|token| builder.legal_tokens() & 1 << token != 0) {
///     builder.place(token)?;
/// }
/// let setup = builder.finish().expect("no legal token is left only after the last step");
/// assert_eq!(setup.to_string(), "3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE");
/// # Ok::<(), cyvasse_env::IllegalToken>(())
/// ```
#[derive(Clone, Debug)]
pub struct SetupBuilder<'a> {
    space: &'a SetupSpace,
    /// Tokens placed, 0 to 64.
    step: usize,
    /// The mountains of the squares that have their tile.
    node: Node,
    /// Tiles still to lay, by token.
    tiles_left: [u8; SetupBuilder::TILE_TOKENS],
    /// Units still to place and squares still to leave empty, by token.
    units_left: [u8; SetupBuilder::UNIT_TOKENS],
    /// Walkers (all units but the dragons) still to place.
    walkers_left: u8,
    /// Squares that are no mountains and not yet decided to hold a unit or none.
    open_left: u8,
    tiles: [Tile; Setup::SQUARES],
    units: [Option<Unit>; Setup::SQUARES],
}

/// A token that no legal setup continues with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("token {token} is not legal at step {step} of a setup")]
pub struct IllegalToken {
    /// The step, 0 to 64 (64: the setup is complete).
    pub step: usize,
    /// The token.
    pub token: usize,
}

/// The unit token of the dragon.
const DRAGON: usize = 1 + Unit::Dragon.index();

impl<'a> SetupBuilder<'a> {
    /// Steps to a full setup.
    pub const STEPS: usize = 64;

    /// Tokens that there are at steps 0 to 31.
    pub const TILE_TOKENS: usize = 5;

    /// Tokens that there are at steps 32 to 63.
    pub const UNIT_TOKENS: usize = 11;

    /// The squares in own view in the order in which they get their tile and
    /// again their unit: a1, a2, a3, a4, b1, ... h4.
    pub const SCAN: [Square; 32] = SCAN;

    pub(super) fn new(space: &'a SetupSpace) -> SetupBuilder<'a> {
        let dragons = space.units[Unit::Dragon.index()];
        let units: u8 = space.units.iter().sum();
        let mut units_left = [32 - units; SetupBuilder::UNIT_TOKENS];
        units_left[1..].copy_from_slice(&space.units);
        SetupBuilder {
            space,
            step: 0,
            node: Mountains::START,
            tiles_left: space.tiles,
            units_left,
            walkers_left: units - dragons,
            open_left: 32 - space.tiles[Tile::Mountain as usize],
            tiles: [Tile::Grass; 32],
            units: [None; 32],
        }
    }

    /// The tokens of a setup in the order of the steps.
    #[must_use]
    pub fn tokens(setup: &Setup) -> [u8; 64] {
        std::array::from_fn(|step| {
            let square = SCAN[step % 32];
            match step {
                0..32 => setup.tile(square) as u8,
                _ => setup.unit(square).map_or(0, |unit| 1 + unit as u8),
            }
        })
    }

    /// Tokens placed so far, 0 to 64.
    #[must_use]
    pub const fn step(&self) -> usize {
        self.step
    }

    /// The square that the next token is for, in own view; `None` after the last.
    #[must_use]
    pub fn square(&self) -> Option<Square> {
        (self.step < Self::STEPS).then(|| SCAN[self.step % 32])
    }

    /// The tiles laid so far by [`Square::index`]; grass where none is yet.
    #[must_use]
    pub const fn tiles(&self) -> &[Tile; 32] {
        &self.tiles
    }

    /// The units placed so far by [`Square::index`].
    #[must_use]
    pub const fn units(&self) -> &[Option<Unit>; 32] {
        &self.units
    }

    /// Tiles still to lay, by token.
    #[must_use]
    pub const fn tiles_left(&self) -> &[u8; 5] {
        &self.tiles_left
    }

    /// Squares still to leave empty (0) and units still to place (1 to 10), by
    /// token.
    #[must_use]
    pub const fn units_left(&self) -> &[u8; 11] {
        &self.units_left
    }

    /// The tokens, as bits, that lead on to at least one legal setup. Empty only
    /// after the last step.
    #[must_use]
    #[inline]
    pub fn legal_tokens(&self) -> u16 {
        match self.step {
            0..32 => self.legal_tiles(),
            32..64 => self.legal_units(),
            _ => 0,
        }
    }

    /// A mountain and no mountain are possible if the mountains that are then
    /// left can be laid on the squares that are then left. The other tiles go
    /// anywhere: any that is left may come next.
    fn legal_tiles(&self) -> u16 {
        const MOUNTAIN: u16 = 1 << Tile::Mountain as u16;
        let [open, mountain] = self.mountain_completions();
        let left = nonzero(&self.tiles_left);
        let mut legal = 0;
        if mountain > 0 {
            legal |= MOUNTAIN;
        }
        if open > 0 {
            legal |= left & !MOUNTAIN;
        }
        legal
    }

    /// In how many ways the remaining mountains can be laid if this square is
    /// open, and if it is a mountain.
    fn mountain_completions(&self) -> [u32; 2] {
        let mountains = &self.space.mountains;
        let left = self.tiles_left[Tile::Mountain as usize];
        let open = mountains.step(self.node, false);
        let mountain = mountains.step(self.node, true).filter(|_| left > 0);
        [
            open.map_or(0, |node| mountains.completions(node, left)),
            mountain.map_or(0, |node| mountains.completions(node, left - 1)),
        ]
    }

    /// The units that are left can be placed as long as there are open squares
    /// enough for the walkers and squares enough for all (empty ones are
    /// counted as a unit of their own, so that this is always so).
    fn legal_units(&self) -> u16 {
        const WALKERS: u16 = 0x7FE & !(1 << DRAGON);
        let left = nonzero(&self.units_left);
        if self.on_mountain() {
            return left & !WALKERS;
        }
        // With no more open squares than walkers, this one needs a walker.
        if self.walkers_left == self.open_left { left & WALKERS } else { left }
    }

    /// Whether the square that is to get its unit or none is a mountain.
    fn on_mountain(&self) -> bool {
        self.tiles[SCAN[self.step % 32].index()] == Tile::Mountain
    }

    /// Places the next token.
    ///
    /// # Errors
    ///
    /// If it is not among [`SetupBuilder::legal_tokens`]; nothing has changed then.
    #[inline]
    pub fn place(&mut self, token: usize) -> Result<(), IllegalToken> {
        if token >= 16 || self.legal_tokens() & 1 << token == 0 {
            return Err(IllegalToken { step: self.step, token });
        }
        let square = SCAN[self.step % 32].index();
        if self.step < 32 {
            let mountain = token == Tile::Mountain as usize;
            let next = self.space.mountains.step(self.node, mountain);
            self.node = next.expect("the token is legal");
            self.tiles[square] = Tile::LAID[token];
            self.tiles_left[token] -= 1;
        } else {
            self.open_left -= u8::from(!self.on_mountain());
            self.walkers_left -= u8::from(token != 0 && token != DRAGON);
            self.units[square] = token.checked_sub(1).map(|index| Unit::ALL[index]);
            self.units_left[token] -= 1;
        }
        self.step += 1;
        Ok(())
    }

    /// The probability of each token if every legal setup is equally likely to
    /// be the one that is being built: 0 where a token is not legal, 1 in sum
    /// (until the last step). The product along a setup is one over
    /// [`SetupSpace::count`].
    ///
    /// Added to a network's logits, the logarithms make zero logits sample
    /// setups uniformly.
    #[must_use]
    pub fn uniform_probabilities(&self) -> [f64; 11] {
        match self.step {
            0..32 => self.uniform_tiles(),
            32..64 => self.uniform_units(),
            _ => [0.0; 11],
        }
    }

    /// A square is a mountain in proportion to the layouts that go on so; if it
    /// is not, it gets each other tile in proportion to how many are left.
    fn uniform_tiles(&self) -> [f64; 11] {
        let [open, mountain] = self.mountain_completions().map(f64::from);
        let left_on_open: u8 =
            self.tiles_left.iter().sum::<u8>() - self.tiles_left[Tile::Mountain as usize];
        let mut probabilities = [0.0; 11];
        for tile in Tile::LAID {
            let token = tile as usize;
            probabilities[token] = match tile {
                Tile::Mountain => mountain / (open + mountain),
                _ if left_on_open == 0 => 0.0,
                _ => {
                    let share = f64::from(self.tiles_left[token]) / f64::from(left_on_open);
                    open / (open + mountain) * share
                }
            };
        }
        probabilities
    }

    /// The walkers fall on the open squares evenly, and the dragons and empty
    /// squares evenly on what the walkers leave.
    fn uniform_units(&self) -> [f64; 11] {
        let open = f64::from(self.open_left);
        let walkers = f64::from(self.walkers_left);
        let mut probabilities = [0.0; 11];
        let mut rest = 1.0;
        if !self.on_mountain() {
            for token in (1..=10).filter(|&token| token != DRAGON) {
                probabilities[token] = f64::from(self.units_left[token]) / open;
            }
            rest = (open - walkers) / open;
        }
        let others = f64::from(self.units_left[0] + self.units_left[DRAGON]);
        if others > 0.0 {
            for token in [0, DRAGON] {
                probabilities[token] = rest * f64::from(self.units_left[token]) / others;
            }
        }
        probabilities
    }

    /// The finished setup, which is legal; `None` before the last step.
    #[must_use]
    pub fn finish(&self) -> Option<Setup> {
        (self.step == Self::STEPS).then(|| Setup::new(self.tiles, self.units))
    }
}

/// The places of the numbers that are not 0, as bits.
fn nonzero(numbers: &[u8]) -> u16 {
    numbers.iter().rev().fold(0, |bits, &number| bits << 1 | u16::from(number > 0))
}
