//! Where the setups of new games come from.

use std::sync::Arc;

use cyvasse_env::{Rules, Setup, SetupSpace, Side};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::record::{GameId, SetupSource};
use crate::seeds::{Purpose, derive};

/// Setups for new games, drawn from several sources by their shares.
///
/// Plain data that workers share. Whatever makes setups (a network, a file)
/// has made them before the round; only uniform ones are made when they are
/// drawn.
#[derive(Clone, Debug)]
pub struct SetupPool {
    space: Arc<SetupSpace>,
    supplies: Vec<Supply>,
}

/// The setups of one source.
#[derive(Clone, Debug)]
pub struct Supply {
    /// The source that games are tagged with.
    pub source: SetupSource,
    /// The source's share of all setups, relative to those of the others.
    pub share: f64,
    /// Setups to draw from, for white and for black, each as likely as the
    /// others; not looked at for [`SetupSource::Uniform`].
    pub setups: [Vec<Setup>; 2],
}

/// Why a pool was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupPoolError {
    /// No source would ever be drawn from, or a share is no share.
    #[error("shares of setup sources must be at least 0 and more than 0 in sum")]
    Shares,
    /// A source with a share has no setups for a seat.
    #[error("the setup source {source_name} has a share, but no setup for {seat}")]
    Empty {
        /// The source's name.
        source_name: &'static str,
        /// The seat.
        seat: Side,
    },
}

impl SetupPool {
    /// A pool that gives uniformly drawn setups only.
    #[must_use]
    pub fn uniform(rules: &Rules) -> SetupPool {
        let supply =
            Supply { source: SetupSource::Uniform, share: 1.0, setups: Default::default() };
        SetupPool { space: Arc::new(SetupSpace::new(rules)), supplies: vec![supply] }
    }

    /// A pool of these supplies; those with a share of 0 are left out.
    ///
    /// # Errors
    /// Shares that cannot be drawn by, and sources with nothing to draw from.
    pub fn new(space: Arc<SetupSpace>, supplies: Vec<Supply>) -> Result<SetupPool, SetupPoolError> {
        let sound = |supply: &Supply| supply.share.is_finite() && supply.share >= 0.0;
        let total: f64 = supplies.iter().map(|supply| supply.share).sum();
        if !supplies.iter().all(sound) || total <= 0.0 {
            return Err(SetupPoolError::Shares);
        }
        let supplies: Vec<Supply> =
            supplies.into_iter().filter(|supply| supply.share > 0.0).collect();
        for supply in supplies.iter().filter(|supply| supply.source != SetupSource::Uniform) {
            let empty = Side::ALL.into_iter().find(|seat| supply.setups[seat.index()].is_empty());
            if let Some(seat) = empty {
                return Err(SetupPoolError::Empty { source_name: supply.source.name(), seat });
            }
        }
        Ok(SetupPool { space, supplies })
    }

    /// A setup for a seat, and where it came from.
    #[must_use]
    pub fn draw<R: Rng + ?Sized>(&self, seat: Side, rng: &mut R) -> (Setup, SetupSource) {
        let supply = self.supply(rng);
        let setup = match &supply.setups[seat.index()][..] {
            _ if supply.source == SetupSource::Uniform => self.space.sample(rng),
            setups => setups[rng.random_range(0..setups.len())],
        };
        (setup, supply.source)
    }

    fn supply<R: Rng + ?Sized>(&self, rng: &mut R) -> &Supply {
        let total: f64 = self.supplies.iter().map(|supply| supply.share).sum();
        let mut rest = rng.random::<f64>() * total;
        let chosen = self.supplies.iter().find(|supply| {
            rest -= supply.share;
            rest < 0.0
        });
        chosen.unwrap_or(&self.supplies[self.supplies.len() - 1])
    }

    /// The setups of a game of a run. The two seats draw from generators of
    /// their own: neither setup depends on anything of the other.
    pub(crate) fn for_game(&self, seed: u64, id: GameId) -> ([Setup; 2], [SetupSource; 2]) {
        let drawn = Side::ALL.map(|seat| {
            let parts = [u64::from(id.slot), u64::from(id.sequence), seat.index() as u64];
            let mut rng = ChaCha8Rng::seed_from_u64(derive(seed, Purpose::Setups, &parts));
            self.draw(seat, &mut rng)
        });
        (drawn.map(|(setup, _)| setup), drawn.map(|(_, source)| source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supply(source: SetupSource, share: f64, white: &[Setup], black: &[Setup]) -> Supply {
        Supply { source, share, setups: [white.to_vec(), black.to_vec()] }
    }

    #[test]
    fn sources_are_drawn_by_their_shares_and_each_seat_from_its_own_setups() {
        let rules = Rules::iron_throne();
        let space = Arc::new(SetupSpace::new(&rules));
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let [a, b, c, d] = [0; 4].map(|_| space.sample(&mut rng));
        let pool = SetupPool::new(
            space,
            vec![
                supply(SetupSource::Uniform, 0.25, &[], &[]),
                supply(SetupSource::Current, 0.5, &[a], &[b]),
                supply(SetupSource::Fixed, 0.25, &[c], &[d]),
                supply(SetupSource::Past, 0.0, &[], &[]),
            ],
        )
        .unwrap();
        let mut counts = [0; 4];
        for _ in 0..4000 {
            let (setup, source) = pool.draw(Side::Black, &mut rng);
            counts[source as usize] += 1;
            match source {
                SetupSource::Current => assert_eq!(setup, b),
                SetupSource::Fixed => assert_eq!(setup, d),
                _ => assert_eq!(setup.check(&rules), Ok(())),
            }
        }
        let [uniform, current, past, fixed] = counts;
        assert!((900..1100).contains(&uniform) && (900..1100).contains(&fixed), "{counts:?}");
        assert!((1900..2100).contains(&current) && past == 0, "{counts:?}");
    }

    #[test]
    fn no_setup_depends_on_what_the_other_seat_draws_from() {
        let rules = Rules::iron_throne();
        let space = Arc::new(SetupSpace::new(&rules));
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let setups: Vec<Setup> = (0..40).map(|_| space.sample(&mut rng)).collect();
        let pool = |black: &[Setup]| {
            let current = supply(SetupSource::Current, 0.7, &setups[..20], black);
            let uniform = supply(SetupSource::Uniform, 0.3, &[], &[]);
            SetupPool::new(space.clone(), vec![current, uniform]).unwrap()
        };
        let (one, other) = (pool(&setups[20..]), pool(&setups[20..23]));
        let mut differ = 0;
        for slot in 0..200 {
            let id = GameId { slot, sequence: 3 };
            let ([white, black], sources) = one.for_game(9, id);
            let ([white_too, black_too], sources_too) = other.for_game(9, id);
            assert_eq!((white, sources[0]), (white_too, sources_too[0]));
            differ += usize::from(black != black_too);
        }
        assert!(differ > 50, "the other seat's supply made no difference: {differ}");
    }

    #[test]
    fn pools_that_cannot_be_drawn_from_are_refused() {
        let space = Arc::new(SetupSpace::new(&Rules::iron_throne()));
        let setup = space.sample(&mut ChaCha8Rng::seed_from_u64(1));
        let make = |supply| SetupPool::new(space.clone(), vec![supply]).unwrap_err();
        let error = make(supply(SetupSource::Current, 1.0, &[setup], &[]));
        assert_eq!(
            error.to_string(),
            "the setup source current has a share, but no setup for black"
        );
        assert_eq!(make(supply(SetupSource::Uniform, 0.0, &[], &[])), SetupPoolError::Shares);
        assert_eq!(make(supply(SetupSource::Uniform, f64::NAN, &[], &[])), SetupPoolError::Shares);
    }
}
