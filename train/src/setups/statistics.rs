//! How the setups of each source fared in the games of a round.

use cyvasse_env::{Outcome, Side};
use cyvasse_selfplay::{GameRecord, MoverOutcome, SetupSource, Wdl};

use super::targets::is_played_from_start;

/// What the games with setups of one source were like, a game counting once for
/// each seat that took its setup from there. Games with random openings are left
/// out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceStatistics {
    /// The source.
    pub source: SetupSource,
    /// Setups that were played.
    pub setups: u32,
    /// Mean points of their side: a win 1, a draw 0.5.
    pub score: f64,
    /// Mean length of their games in plies.
    pub plies: f64,
    /// Mean cross-entropy of the critic's chances at the start with the result, in
    /// nats.
    pub value_loss: f64,
}

/// Smallest chance that a result is given when its logarithm is taken.
const LEAST_CHANCE: f32 = 1e-4;

/// The statistics of each source that occurs in the games, whose starts the
/// critic gave these chances.
#[must_use]
pub fn by_source(games: &[GameRecord], chances: &[Wdl]) -> Vec<SourceStatistics> {
    SetupSource::ALL.into_iter().filter_map(|source| of_source(source, games, chances)).collect()
}

fn of_source(
    source: SetupSource,
    games: &[GameRecord],
    chances: &[Wdl],
) -> Option<SourceStatistics> {
    let mut sum = SourceStatistics { source, setups: 0, score: 0.0, plies: 0.0, value_loss: 0.0 };
    let pairs = games.iter().zip(chances).filter(|(game, _)| is_played_from_start(game));
    for (game, chances) in pairs {
        for seat in Side::ALL.into_iter().filter(|seat| game.sources[seat.index()] == source) {
            sum.setups += 1;
            let result = MoverOutcome::of(game.outcome, seat).value().get();
            sum.score += f64::from(result + 1.0) / 2.0;
            sum.plies += game.plies.len() as f64;
            sum.value_loss += log_loss(*chances, game.outcome);
        }
    }
    let count = f64::from(sum.setups);
    (sum.setups > 0).then(|| SourceStatistics {
        score: sum.score / count,
        plies: sum.plies / count,
        value_loss: sum.value_loss / count,
        ..sum
    })
}

/// Cross-entropy of white's chances at a start with the result, in nats.
pub(crate) fn log_loss(chances: Wdl, outcome: Outcome) -> f64 {
    let chance = match MoverOutcome::of(outcome, Side::White) {
        MoverOutcome::Win => chances.win,
        MoverOutcome::Draw => chances.draw,
        MoverOutcome::Loss => chances.loss,
    };
    -f64::from(chance.max(LEAST_CHANCE)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyvasse_env::{Rules, SetupSpace};
    use cyvasse_selfplay::GameId;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn games_count_for_the_source_of_each_seat() {
        let setup =
            SetupSpace::new(&Rules::iron_throne()).sample(&mut ChaCha8Rng::seed_from_u64(1));
        let game = |sources, winner| GameRecord {
            id: GameId { slot: 0, sequence: 0 },
            setups: [setup; 2],
            sources,
            plies: Vec::new(),
            resigned: false,
            outcome: Outcome::Win(winner),
        };
        use SetupSource::{Current, Past, Uniform};
        let games = [
            game([Current, Uniform], Side::White),
            game([Uniform, Current], Side::White),
            game([Current, Current], Side::Black),
        ];
        let even = Wdl { win: 0.5, draw: 0.0, loss: 0.5 };
        let statistics = by_source(&games, &[even; 3]);
        assert_eq!(statistics.len(), 2);
        let of = |source| *statistics.iter().find(|of| of.source == source).unwrap();
        assert_eq!((of(Current).setups, of(Current).score), (4, 0.5));
        assert_eq!((of(Uniform).setups, of(Uniform).score), (2, 0.5));
        assert!((of(Current).value_loss - 2.0f64.ln()).abs() < 1e-6);
        assert!(statistics.iter().all(|of| of.source != Past));
    }
}
