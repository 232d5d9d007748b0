//! A player that searches with an evaluator.

use cyvasse_env::Action;

use super::{Player, PlayerError, Turn};
use crate::evaluator::{Evaluation, Evaluator};
use crate::search::{Cyvasse, Gathered, Search, SearchSettings};

/// Searches with an evaluator.
pub struct Searcher<E> {
    evaluator: E,
    settings: SearchSettings,
    /// One search for each game that is thought about at the same time.
    searches: Vec<Search<Cyvasse>>,
    answers: Vec<Evaluation>,
}

impl<E: Evaluator<Cyvasse>> Searcher<E> {
    /// A player that searches as the settings say.
    #[must_use]
    pub fn new(evaluator: E, settings: SearchSettings) -> Searcher<E> {
        Searcher { evaluator, settings, searches: Vec::new(), answers: Vec::new() }
    }

    /// Starts a search for each turn, in the memory of earlier ones.
    fn start(&mut self, turns: &[Turn<'_>]) {
        for (index, turn) in turns.iter().enumerate() {
            let state = turn.game.position().clone();
            let (earlier, seed) = (turn.game.earlier(), turn.own_seed());
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

impl<E: Evaluator<Cyvasse> + Send> Player for Searcher<E> {
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
