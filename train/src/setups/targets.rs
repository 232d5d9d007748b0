//! What setups are taught: the worth of each against the mixture of opponents.

use std::collections::HashMap;

use cyvasse_env::{Setup, Side};
use cyvasse_selfplay::{EvaluatorError, GameRecord, PlyKind, SetupSource, Wdl, WhiteValue};

use super::config::Targets;
use super::critic::{Critic, Start, seated};
use super::watch::Watcher;

/// About how many starts the critic is asked about at once: a round may have more
/// than there is memory for.
const STARTS: usize = 1 << 16;

/// A setup for a seat and what it is worth there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lesson {
    /// The setup.
    pub setup: Setup,
    /// The seat that it was sampled for.
    pub seat: Side,
    /// The expected result for that seat: 1 a win, -1 a loss.
    pub target: f64,
    /// How often it was sampled.
    pub weight: f64,
}

/// The games of a round, and what the critic thought of them beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Played<'a> {
    /// Games that ended in the round.
    pub games: &'a [GameRecord],
    /// White's chances at the start of each, by the critic as it was before it
    /// learned from any of these games: one that has seen their results would
    /// leave less of them to be surprised at.
    pub chances: &'a [Wdl],
}

/// A setup while its target is being put together.
struct Candidate {
    setup: Setup,
    samples: u32,
    /// Sum of (result - value) over its games, or of the results alone.
    sum: f64,
    games: u32,
}

/// The lessons of a round. A setup is one lesson however often it was sampled,
/// which its weight tells.
///
/// With [`Targets::Value`], every setup in `current` (for white and for black)
/// and every one that the current network had made for a game that ended is
/// valued against all `opponents` of the other seat; the same ones for all, so
/// that their luck is no difference between setups. A setup that was played is
/// corrected by `result_weight` times its mean of (result - value of its start
/// before the games were learned from), which is on average how wrong the critic
/// was about it. With 1 the target is right on average where learning has not
/// changed what the critic says of this setup, however wrong that is, and noisier;
/// what `critic`, who values the setups now, has already put right is corrected a
/// second time.
///
/// With [`Targets::Result`], only setups that were played are taught, by their
/// mean result.
///
/// None of all if the watcher wanted an end.
///
/// # Errors
/// A failure of the critic.
pub fn lessons(
    critic: &mut dyn Critic,
    current: &[Vec<Setup>; 2],
    opponents: &[Vec<Setup>; 2],
    played: Played<'_>,
    targets: Targets,
    result_weight: f64,
    watcher: &mut Watcher<'_>,
) -> Result<Vec<Lesson>, EvaluatorError> {
    let Played { games, chances } = played;
    let expected = match targets {
        Targets::Value => white_values(chances),
        Targets::Result => vec![0.0; games.len()],
    };
    let mut lessons = Vec::new();
    for seat in Side::ALL {
        let sampled = match targets {
            Targets::Value => &current[seat.index()][..],
            Targets::Result => &[],
        };
        let candidates = candidates(seat, sampled, games, &expected);
        let values = match targets {
            Targets::Value => {
                let opponents = &opponents[seat.other().index()];
                let values = values_against(critic, seat, &candidates, opponents, watcher)?;
                let Some(values) = values else { return Ok(Vec::new()) };
                values
            }
            Targets::Result => vec![0.0; candidates.len()],
        };
        let weight = if targets == Targets::Value { result_weight } else { 1.0 };
        lessons.extend(candidates.iter().zip(values).map(|(candidate, value)| {
            let correction = candidate.sum / f64::from(candidate.games.max(1));
            let target = value + weight * correction;
            // One that was played and comes from an earlier sample counts by its games.
            let weight =
                f64::from(if candidate.samples > 0 { candidate.samples } else { candidate.games });
            Lesson { setup: candidate.setup, seat, target, weight }
        }));
    }
    Ok(lessons)
}

/// Whether the players chose from the first ply on: the result of a game whose
/// first plies were drawn by lot says little of its setups.
pub(super) fn is_played_from_start(game: &GameRecord) -> bool {
    game.plies.first().is_none_or(|ply| ply.kind != PlyKind::Opening)
}

/// The setups to be taught for a seat, each once, with what their games say
/// beyond the values `expected` of their starts for white.
fn candidates(
    seat: Side,
    sampled: &[Setup],
    games: &[GameRecord],
    expected: &[f64],
) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut places: HashMap<Setup, usize> = HashMap::new();
    let mut place_of = |setup: Setup, candidates: &mut Vec<Candidate>| {
        *places.entry(setup).or_insert_with(|| {
            candidates.push(Candidate { setup, samples: 0, sum: 0.0, games: 0 });
            candidates.len() - 1
        })
    };
    for &setup in sampled {
        let place = place_of(setup, &mut candidates);
        candidates[place].samples += 1;
    }
    for (game, expected) in games.iter().zip(expected) {
        if game.sources[seat.index()] != SetupSource::Current || !is_played_from_start(game) {
            continue;
        }
        let place = place_of(game.setups[seat.index()], &mut candidates);
        let surprise = f64::from(WhiteValue::of(game.outcome).get()) - expected;
        candidates[place].sum += for_seat(surprise, seat);
        candidates[place].games += 1;
    }
    candidates
}

/// The mean value of each candidate against the opponents, for its seat; `None` where
/// the watcher wanted an end.
fn values_against(
    critic: &mut dyn Critic,
    seat: Side,
    candidates: &[Candidate],
    opponents: &[Setup],
    watcher: &mut Watcher<'_>,
) -> Result<Option<Vec<f64>>, EvaluatorError> {
    let mean = |values: &[f64]| for_seat(values.iter().sum::<f64>() / values.len() as f64, seat);
    let each = opponents.len().max(1);
    let mut means = Vec::with_capacity(candidates.len());
    let what = match seat {
        Side::White => "white's",
        Side::Black => "black's",
    };
    for part in candidates.chunks((STARTS / each).max(1)) {
        if watcher.wants_an_end() {
            return Ok(None);
        }
        let starts: Vec<Start> = part
            .iter()
            .flat_map(|candidate| {
                opponents.iter().map(|&opponent| seated(seat, candidate.setup, opponent))
            })
            .collect();
        means.extend(white_values(&critic.chances(&starts)?).chunks(each).map(mean));
        watcher.tell(what, means.len() as u64, candidates.len() as u64);
    }
    Ok(Some(means))
}

/// White's expected results.
fn white_values(chances: &[Wdl]) -> Vec<f64> {
    chances.iter().map(|chances| f64::from(chances.value().get())).collect()
}

/// White's result as the seat sees it.
fn for_seat(white: f64, seat: Side) -> f64 {
    match seat {
        Side::White => white,
        Side::Black => -white,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyvasse_env::{Outcome, Rules, SetupSpace, Unit};
    use cyvasse_selfplay::{GameId, Wdl};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use std::sync::atomic::AtomicBool;

    /// White's chance of winning grows with the file of its king, black's with
    /// that of its own.
    struct KingFiles;

    /// What was thought of any start before the games.
    const BEFORE: Wdl = Wdl { win: 0.25, draw: 0.25, loss: 0.5 };

    fn king_file(setup: &Setup) -> usize {
        let king = setup.units().iter().position(|&unit| unit == Some(Unit::King));
        king.unwrap() % 8
    }

    impl Critic for KingFiles {
        fn chances(&mut self, starts: &[Start]) -> Result<Vec<Wdl>, EvaluatorError> {
            let chances = |[white, black]: &Start| {
                let win = 0.5 + (king_file(white) as f32 - king_file(black) as f32) / 14.0;
                Wdl { win, draw: 0.0, loss: 1.0 - win }
            };
            Ok(starts.iter().map(chances).collect())
        }
    }

    fn setups(count: usize, seed: u64) -> Vec<Setup> {
        let space = SetupSpace::new(&Rules::iron_throne());
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        (0..count).map(|_| space.sample(&mut rng)).collect()
    }

    #[test]
    fn targets_are_the_seats_own_and_corrected_by_results() {
        let (mut current, opponents) = ([setups(6, 1), setups(6, 2)], [setups(4, 3), setups(5, 4)]);
        let twice = current[0][4];
        current[0].push(twice);
        let old = setups(1, 9)[0];
        let game = |white: Setup, black: Setup, sources, winner| GameRecord {
            id: GameId { slot: 0, sequence: 0 },
            setups: [white, black],
            sources,
            plies: Vec::new(),
            resigned: false,
            outcome: Outcome::Win(winner),
        };
        use SetupSource::{Current, Uniform};
        let games = [
            game(opponents[0][0], current[1][2], [Uniform, Current], Side::Black),
            game(old, opponents[1][0], [Current, Uniform], Side::White),
        ];
        let played = Played { games: &games, chances: &[BEFORE; 2] };
        let lessons = lessons(
            &mut KingFiles,
            &current,
            &opponents,
            played,
            Targets::Value,
            0.5,
            &mut Watcher::new(&AtomicBool::new(false), |_, _, _| {}),
        )
        .unwrap();
        assert_eq!(lessons.len(), 6 + 1 + 6);
        let mean = |setups: &[Setup]| {
            setups.iter().map(|setup| king_file(setup) as f64).sum::<f64>() / setups.len() as f64
        };
        for lesson in &lessons {
            assert_eq!(lesson.weight, if lesson.setup == twice { 2.0 } else { 1.0 });
            let against = mean(&opponents[lesson.seat.other().index()]);
            let mut expected = (king_file(&lesson.setup) as f64 - against) / 7.0;
            // White was thought to lose a quarter, whatever the critic says now.
            if lesson.setup == current[1][2] {
                expected += 0.5 * (1.0 - 0.25);
            }
            if lesson.setup == old {
                expected += 0.5 * (1.0 + 0.25);
            }
            assert!((lesson.target - expected).abs() < 1e-5, "{lesson:?} {expected}");
        }
    }

    #[test]
    fn results_alone_teach_what_was_played() {
        let (current, opponents) = ([setups(3, 1), setups(3, 2)], [setups(2, 3), setups(2, 4)]);
        let games = [GameRecord {
            id: GameId { slot: 0, sequence: 0 },
            setups: [current[0][0], current[1][1]],
            sources: [SetupSource::Current; 2],
            plies: Vec::new(),
            resigned: false,
            outcome: Outcome::Win(Side::Black),
        }];
        let played = Played { games: &games, chances: &[BEFORE] };
        let lessons = lessons(
            &mut KingFiles,
            &current,
            &opponents,
            played,
            Targets::Result,
            0.5,
            &mut Watcher::new(&AtomicBool::new(false), |_, _, _| {}),
        )
        .unwrap();
        let expected = [
            Lesson { setup: current[0][0], seat: Side::White, target: -1.0, weight: 1.0 },
            Lesson { setup: current[1][1], seat: Side::Black, target: 1.0, weight: 1.0 },
        ];
        assert_eq!(lessons, expected);
    }
}
