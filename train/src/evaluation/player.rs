//! Who plays in a match.

use cyvasse_env::{Action, Game};
use cyvasse_selfplay::search::{Cyvasse, Gathered, Search, SearchSettings};
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Purpose, derive};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

/// A game in which a player is to move.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The game.
    pub game: &'a Game,
    /// Where the player's choices in this game come from.
    pub seed: u64,
}

/// A player that failed to choose.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct PlayerError(#[from] EvaluatorError);

/// Chooses actions, in several games at a time.
pub trait Player: Send {
    /// An action for each turn, in their order; each game goes on and has a
    /// legal action. The choice depends on nothing but the turn.
    ///
    /// # Errors
    /// A failure of the machinery behind the player.
    fn choose(&mut self, turns: &[Turn<'_>]) -> Result<Vec<Action>, PlayerError>;
}

/// Plays any legal action, each as likely as the others.
#[derive(Clone, Copy, Debug)]
pub struct Random;

impl Player for Random {
    fn choose(&mut self, turns: &[Turn<'_>]) -> Result<Vec<Action>, PlayerError> {
        let mut actions = Vec::new();
        let choice = turns.iter().map(|turn| {
            turn.game.legal_actions(&mut actions);
            let mut rng = ChaCha8Rng::seed_from_u64(seed_of(turn));
            actions[rng.random_range(0..actions.len())]
        });
        Ok(choice.collect())
    }
}

/// Searches with an evaluator.
pub struct Agent<E> {
    evaluator: E,
    settings: SearchSettings,
    /// One search for each game that is thought about at the same time.
    searches: Vec<Search<Cyvasse>>,
    answers: Vec<Evaluation>,
}

impl<E: Evaluator<Cyvasse>> Agent<E> {
    /// An agent that searches as the settings say.
    #[must_use]
    pub fn new(evaluator: E, settings: SearchSettings) -> Agent<E> {
        Agent { evaluator, settings, searches: Vec::new(), answers: Vec::new() }
    }

    /// Starts a search for each turn, in the memory of earlier ones.
    fn start(&mut self, turns: &[Turn<'_>]) {
        for (index, turn) in turns.iter().enumerate() {
            let state = turn.game.position().clone();
            let (earlier, seed) = (turn.game.earlier(), seed_of(turn));
            match self.searches.get_mut(index) {
                Some(search) => search.restart(state, earlier, seed),
                None => {
                    let cyvasse = Cyvasse { rules: turn.game.rules().clone() };
                    let settings = self.settings.clone();
                    self.searches.push(Search::new(cyvasse, settings, state, earlier, seed));
                }
            }
        }
        self.answers.resize_with(turns.len(), Evaluation::blank);
    }
}

impl<E: Evaluator<Cyvasse> + Send> Player for Agent<E> {
    fn choose(&mut self, turns: &[Turn<'_>]) -> Result<Vec<Action>, PlayerError> {
        self.start(turns);
        let searches = &mut self.searches[..turns.len()];
        loop {
            let waiting: Vec<usize> = (0..searches.len())
                .filter(|&search| searches[search].gather() != Gathered::Done)
                .collect();
            if waiting.is_empty() {
                break;
            }
            let requests: Vec<_> =
                waiting.iter().filter_map(|&search| searches[search].requests().next()).collect();
            self.evaluator.evaluate(&requests, &mut self.answers[..waiting.len()])?;
            drop(requests);
            for (&search, answer) in waiting.iter().zip(&self.answers) {
                searches[search].apply(answer);
            }
        }
        let plies = turns.iter().map(|turn| turn.game.position().plies());
        Ok(searches.iter_mut().zip(plies).map(|(search, ply)| search.result(ply).best).collect())
    }
}

/// A seed for this turn of this game.
fn seed_of(turn: &Turn<'_>) -> u64 {
    derive(turn.seed, Purpose::Player, &[u64::from(turn.game.position().plies())])
}
