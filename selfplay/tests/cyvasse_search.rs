//! The search on Cyvasse: against a brute-force solver, and its own promises.

mod common;

use std::sync::Arc;

use common::brute_force::{KingHunt, after};
use cyvasse_env::{Action, Position, Rules};
use cyvasse_selfplay::search::{Cyvasse, Search, SearchSettings};
use cyvasse_selfplay::{Evaluation, Evaluator, EvaluatorError, Proven, Request, Uniform, Wdl};

#[test]
fn forced_king_captures_are_found_and_proven_values_are_true() {
    let rules = Arc::new(Rules::iron_throne());
    let game = Cyvasse { rules: rules.clone() };
    let mut hunt = KingHunt::new(&rules);
    let (mut wins, mut found) = (0, 0);
    for seed in 0..150 {
        let played = common::random_game(&rules, 10 + seed as usize % 40, seed);
        let position = played.position().clone();
        let solution = hunt.win(&position, 3);
        for settings in [common::gumbel(2000), common::puct(2000)] {
            // A leaf at a time on even seeds, several in flight on odd ones.
            let mut search =
                Search::new(game.clone(), settings, position.clone(), played.earlier(), seed);
            common::run(&mut search, 1 + 7 * (seed as usize % 2));
            let result = search.result(0);
            if let Some(Proven::Win(plies)) = result.proven.filter(|proven| proven.plies() <= 3) {
                assert!(solution.is_some_and(|true_plies| true_plies <= plies), "{position}");
            }
            if let Some(Proven::Loss(plies)) = result.proven.filter(|proven| proven.plies() <= 2) {
                assert!(hunt.loss(&position, plies).is_some(), "{position}");
            }
            if let Some(plies) = solution {
                wins += 1;
                found += u32::from(matches!(result.proven, Some(Proven::Win(p)) if p >= plies));
            }
        }
    }
    assert!(wins >= 60, "only {wins} forced wins among the positions");
    assert!(f64::from(found) >= 0.99 * f64::from(wins), "found {found} of {wins}");
}

#[test]
fn visits_and_shares_add_up() {
    let rules = Arc::new(Rules::iron_throne());
    for seed in 0..40 {
        let played = common::random_game(&rules, 20, seed);
        for (settings, batch) in
            [(common::gumbel(64), 1), (common::puct(64), 1), (common::puct(64), 8)]
        {
            let position = played.position().clone();
            let game = Cyvasse { rules: rules.clone() };
            let mut search = Search::new(game, settings, position, played.earlier(), seed);
            common::run(&mut search, batch);
            let result = search.result(0);
            let visits: u32 = result.visits.iter().map(|&(_, visits)| visits).sum();
            assert_eq!(visits, result.simulations);
            assert!(result.proven.is_some() || result.simulations == 64);
            let share: f32 = result.policy.iter().map(|&(_, share)| share).sum();
            assert!((share - 1.0).abs() < 1e-4, "{share}");
            assert!(result.value.get().abs() <= 1.0);
            assert!(played.position().is_legal(result.best, &rules));
        }
    }
}

#[test]
fn a_search_stops_at_the_bound_of_its_tree() {
    let rules = Arc::new(Rules::iron_throne());
    let played = common::random_game(&rules, 20, 7);
    let settings = SearchSettings { max_nodes: 50, ..common::puct(10_000) };
    let game = Cyvasse { rules: rules.clone() };
    let mut search = Search::new(game, settings, played.position().clone(), &[], 1);
    common::run(&mut search, 1);
    let result = search.result(0);
    assert!(result.proven.is_some() || (result.evaluations <= 50 && result.simulations < 10_000));
    assert!(played.position().is_legal(result.best, &rules));
}

/// Believes that whoever is to move wins, so that a draw is the best that a
/// move can lead to.
struct Optimist;

impl Evaluator<Cyvasse> for Optimist {
    fn evaluate(
        &mut self,
        requests: &[Request<'_, Cyvasse>],
        answers: &mut [Evaluation],
    ) -> Result<(), EvaluatorError> {
        Uniform::new().evaluate(requests, answers)?;
        answers.iter_mut().for_each(|answer| answer.wdl = Wdl { win: 1.0, draw: 0.0, loss: 0.0 });
        Ok(())
    }
}

#[test]
fn repetitions_are_seen_across_the_root() {
    let rules = Arc::new(Rules::iron_throne());
    let text = "8/8/8/8/8/8/8/8 7k/8/8/8/8/8/R7/K7 w - 4 20";
    let position = Position::parse(text, &rules).unwrap();
    let back = Action::parse("a2a3").unwrap();
    let repeated = after(&position, back).hash();
    let visits_to_back = |earlier: &[u64]| {
        let game = Cyvasse { rules: rules.clone() };
        let mut search = Search::new(game, common::puct(12), position.clone(), earlier, 3);
        common::run_with(&mut search, &mut Optimist, 1);
        let result = search.result(0);
        let visits = result.visits.iter().find(|(action, _)| *action == back).unwrap().1;
        (visits, result.best == back)
    };
    // Twice before, with the progress count reaching back over both.
    let (visits, best) = visits_to_back(&[repeated, 1, repeated, 2]);
    assert!(best && visits > 6, "a draw on the third occurrence is not seen: {visits} visits");
    for history in [&[][..], &[repeated, 1][..], &[repeated, 1, repeated, 2, 3, 4, 5][..]] {
        assert!(visits_to_back(history).0 < 6, "a draw is seen where there is none: {history:?}");
    }
}
