//! Judging a position by playing it out at random.

use std::sync::Arc;

use cyvasse_env::{Action, Game, Outcome, Position, Rules};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Searcher;
use crate::evaluator::{Evaluation, Evaluator, EvaluatorError, Request};
use crate::search::{Cyvasse, PolicySettings, PuctSettings, SearchSettings};
use crate::seeds::{Purpose, derive};
use crate::value::{MoverOutcome, Wdl};

/// Judges a position by the result of one random game from it (a rollout:
/// Coulom 2006, "Efficient selectivity and backup operators in Monte-Carlo
/// tree search"); all actions are equally likely at first. In a rollout a king
/// that can be taken is taken. The same position always gets the same rollout.
#[derive(Clone, Debug)]
pub struct Rollouts {
    rules: Arc<Rules>,
    actions: Vec<Action>,
}

impl Rollouts {
    /// The evaluator under these rules.
    #[must_use]
    pub fn new(rules: Arc<Rules>) -> Rollouts {
        Rollouts { rules, actions: Vec::new() }
    }

    /// The player that searches with rollouts: `simulations` of them a ply.
    #[must_use]
    pub fn player(rules: Arc<Rules>, simulations: u32) -> Searcher<Rollouts> {
        let policy = PolicySettings::Puct(PuctSettings {
            c_init: 1.25,
            c_base: 19652.0,
            fpu_reduction: 0.0,
            noise_share: 0.0,
            noise_concentration: 10.83,
            temperature: 0.0,
            temperature_plies: 0,
        });
        let max_nodes = simulations.saturating_add(2);
        Searcher::new(Rollouts::new(rules), SearchSettings { simulations, max_nodes, policy })
    }

    /// How a random game from this position ends.
    fn play_out(&mut self, position: &Position) -> Outcome {
        let parts = [position.hash(), position.plies().into(), position.quiet_plies().into()];
        let mut rng = ChaCha8Rng::seed_from_u64(derive(0, Purpose::Rollout, &parts));
        let mut game = Game::new(self.rules.clone(), position.clone());
        loop {
            if let Some(outcome) = game.outcome() {
                return outcome;
            }
            game.legal_actions(&mut self.actions);
            let wins = |action: &&Action| game.position().captures_king(**action);
            let chosen = self.actions.iter().find(wins).copied();
            let any = || self.actions[rng.random_range(0..self.actions.len())];
            game.play_unchecked(chosen.unwrap_or_else(any));
        }
    }
}

impl Evaluator<Cyvasse> for Rollouts {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, Cyvasse>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        for (request, answer) in requests.iter().zip(answers) {
            answer.logits.clear();
            answer.logits.resize(request.actions.len(), 0.0);
            let outcome = self.play_out(request.state);
            let chance =
                |result| f32::from(MoverOutcome::of(outcome, request.state.turn()) == result);
            answer.wdl = Wdl {
                win: chance(MoverOutcome::Win),
                draw: chance(MoverOutcome::Draw),
                loss: chance(MoverOutcome::Loss),
            };
        }
        Ok(())
    }
}
