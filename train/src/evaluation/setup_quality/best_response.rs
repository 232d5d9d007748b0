//! The best answer to a mixture of setups that a climb by the critic finds.

use std::sync::atomic::{AtomicBool, Ordering};

use cyvasse_env::{Rules, Setup, Side};
use cyvasse_selfplay::EvaluatorError;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::setups::{Critic, Start, seated};

/// How a climb is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Climb<'a> {
    /// Changes that are tried at each setup.
    pub steps: u32,
    /// Where the changes come from.
    pub seed: u64,
    /// Set by someone else to end the climb early, with what it has found so far.
    pub stop: &'a AtomicBool,
}

/// Setups that do well against a mixture, the best first, each with its value
/// (the mean expected result from both seats, -1 to 1).
///
/// From each of `from`, two squares at a time swap their tiles or their units;
/// what is legal and of more value to the critic is kept. `mixture` are the
/// opponents' setups for white and for black.
///
/// # Errors
/// A failure of the critic.
pub fn best_responses(
    critic: &mut dyn Critic,
    rules: &Rules,
    mixture: &[Vec<Setup>; 2],
    from: &[Setup],
    climb: Climb<'_>,
) -> Result<Vec<(Setup, f64)>, EvaluatorError> {
    let mut rng = ChaCha8Rng::seed_from_u64(climb.seed);
    let mut best = from.to_vec();
    let mut values = values(critic, mixture, &best)?;
    for _ in 0..climb.steps {
        if climb.stop.load(Ordering::Relaxed) {
            break;
        }
        let tried: Vec<Setup> =
            best.iter().map(|setup| neighbour(setup, rules, &mut rng)).collect();
        let new = self::values(critic, mixture, &tried)?;
        for ((best, value), (tried, new)) in
            best.iter_mut().zip(&mut values).zip(tried.iter().zip(new))
        {
            if new > *value {
                (*best, *value) = (*tried, new);
            }
        }
    }
    let mut found: Vec<(Setup, f64)> = Vec::new();
    for response in best.into_iter().zip(values) {
        if found.iter().all(|(setup, _)| *setup != response.0) {
            found.push(response);
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(found)
}

/// A legal setup that differs by one swap.
fn neighbour(setup: &Setup, rules: &Rules, rng: &mut ChaCha8Rng) -> Setup {
    // Nearly every setup has legal swaps; where chance finds none, it stays.
    for _ in 0..1000 {
        let (a, b) = (rng.random_range(0..32), rng.random_range(0..32));
        let (mut tiles, mut units) = (*setup.tiles(), *setup.units());
        if rng.random() {
            tiles.swap(a, b);
        } else {
            units.swap(a, b);
        }
        let changed = Setup::new(tiles, units);
        if changed != *setup && changed.check(rules).is_ok() {
            return changed;
        }
    }
    *setup
}

/// The mean value of each setup against the mixture, over both seats.
fn values(
    critic: &mut dyn Critic,
    mixture: &[Vec<Setup>; 2],
    setups: &[Setup],
) -> Result<Vec<f64>, EvaluatorError> {
    let mut sums = vec![0.0; setups.len()];
    for seat in Side::ALL {
        let opponents = &mixture[seat.other().index()];
        let starts: Vec<Start> = setups
            .iter()
            .flat_map(|&setup| opponents.iter().map(move |&other| seated(seat, setup, other)))
            .collect();
        let chances = critic.chances(&starts)?;
        for (sum, chances) in sums.iter_mut().zip(chances.chunks(opponents.len().max(1))) {
            let white: f64 = chances.iter().map(|chances| f64::from(chances.value().get())).sum();
            let own = if seat == Side::White { white } else { -white };
            *sum += own / opponents.len() as f64 / 2.0;
        }
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyvasse_env::{SetupSpace, Unit};
    use cyvasse_selfplay::Wdl;

    /// The king that is nearer to the h file wins more often.
    struct Files;

    impl Critic for Files {
        fn chances(&mut self, starts: &[Start]) -> Result<Vec<Wdl>, EvaluatorError> {
            let file = |setup: &Setup| {
                (setup.units().iter().position(|&unit| unit == Some(Unit::King)).unwrap() % 8)
                    as f32
            };
            let chances = |[white, black]: &Start| {
                let win = 0.5 + (file(white) - file(black)) / 14.0;
                Wdl { win, draw: 0.0, loss: 1.0 - win }
            };
            Ok(starts.iter().map(chances).collect())
        }
    }

    #[test]
    fn a_climb_finds_what_the_critic_likes_from_both_seats() {
        let rules = Rules::iron_throne();
        let space = SetupSpace::new(&rules);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut draw = |count| (0..count).map(|_| space.sample(&mut rng)).collect::<Vec<Setup>>();
        let mixture = [draw(5), draw(7)];
        let from = draw(6);
        let stop = AtomicBool::new(false);
        let climb = Climb { steps: 400, seed: 1, stop: &stop };
        let found = best_responses(&mut Files, &rules, &mixture, &from, climb).unwrap();
        assert!(found.is_sorted_by(|a, b| a.1 >= b.1));
        let mean = |setups: &[Setup]| {
            let file = |setup: &Setup| {
                (setup.units().iter().position(|&unit| unit == Some(Unit::King)).unwrap() % 8)
                    as f64
            };
            setups.iter().map(file).sum::<f64>() / setups.len() as f64
        };
        let most = (2.0 * 7.0 - mean(&mixture[0]) - mean(&mixture[1])) / 14.0;
        assert!((found[0].1 - most).abs() < 1e-4, "{} of {most}", found[0].1);
        assert!(found.iter().all(|(setup, _)| setup.check(&rules).is_ok()));

        stop.store(true, Ordering::Relaxed);
        let found = best_responses(&mut Files, &rules, &mixture, &from, climb).unwrap();
        assert!(found.iter().all(|(setup, _)| from.contains(setup)), "a stopped climb went on");
    }
}
