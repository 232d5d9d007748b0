//! Matches: paired games with the seats swapped.

use std::ops::Range;
use std::sync::Arc;

use cyvasse_env::{Game, Outcome, Position, Rules, Setup, SetupSpace, Side};
use cyvasse_selfplay::{Purpose, derive};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::interval::Score;
use super::player::{Player, PlayerError, Turn};

/// What a match is to be.
#[derive(Clone, Debug)]
pub struct Match {
    /// The rules.
    pub rules: Arc<Rules>,
    /// Numbers of the pairs of games: each pair plays the same two setups
    /// twice, with the seats of the players swapped. What a pair plays depends
    /// on the seed and its number, so that a match can be split.
    pub pairs: Range<u64>,
    /// Where setups and the players' choices come from.
    pub seed: u64,
}

impl Match {
    /// The match as `parts` matches of about the same length.
    #[must_use]
    pub fn split(&self, parts: u64) -> Vec<Match> {
        let Range { start, end } = self.pairs;
        let bound = |part: u64| start + (end - start) * part / parts.max(1);
        (0..parts.max(1))
            .map(|part| Match { pairs: bound(part)..bound(part + 1), ..self.clone() })
            .collect()
    }
}

/// A game of a match.
struct MatchGame {
    game: Game,
    /// The side of the first player.
    first: Side,
    seed: u64,
}

/// Plays a match on uniformly drawn setups, all games at the same time, and
/// tells the score after every ply of it; `false` ends the match. Returns the
/// first player's score.
///
/// # Errors
/// A player that fails.
pub fn play_match(
    players: [&mut dyn Player; 2],
    settings: &Match,
    mut after_ply: impl FnMut(Score) -> bool,
) -> Result<Score, PlayerError> {
    let mut live = pair_up(settings);
    let mut score = Score::default();
    let mut turn_of = 0;
    while !live.is_empty() {
        advance(&mut *players[turn_of], turn_of, &mut live)?;
        live.retain(|game| match game.game.outcome() {
            Some(outcome) => {
                count(&mut score, outcome, game.first);
                false
            }
            None => true,
        });
        turn_of = 1 - turn_of;
        if !after_ply(score) {
            break;
        }
    }
    Ok(score)
}

/// Lets one player move in every game in which it is to move.
fn advance(
    player: &mut dyn Player,
    number: usize,
    games: &mut [MatchGame],
) -> Result<(), PlayerError> {
    let to_move = |game: &MatchGame| usize::from(game.game.position().turn() != game.first);
    let mut turns = games.iter_mut().filter(|game| to_move(game) == number).collect::<Vec<_>>();
    let questions: Vec<Turn<'_>> =
        turns.iter().map(|game| Turn { game: &game.game, seed: game.seed }).collect();
    if questions.is_empty() {
        return Ok(());
    }
    let actions = player.choose(&questions)?;
    drop(questions);
    for (game, action) in turns.iter_mut().zip(actions) {
        game.game.play_unchecked(action);
    }
    Ok(())
}

/// The games of a match at their start.
fn pair_up(settings: &Match) -> Vec<MatchGame> {
    let space = SetupSpace::new(&settings.rules);
    settings
        .pairs
        .clone()
        .flat_map(|pair| {
            let seed = derive(settings.seed, Purpose::Match, &[pair]);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (white, black) = (space.sample(&mut rng), space.sample(&mut rng));
            Side::ALL.map(|first| MatchGame { game: start(settings, &white, &black), first, seed })
        })
        .collect()
}

fn start(settings: &Match, white: &Setup, black: &Setup) -> Game {
    Game::new(settings.rules.clone(), Position::start(white, black))
}

fn count(score: &mut Score, outcome: Outcome, first: Side) {
    match outcome.winner() {
        None => score.draws += 1,
        Some(winner) if winner == first => score.wins += 1,
        Some(_) => score.losses += 1,
    }
}
