//! What a search found: the action to play, the training target, the value.

use super::edges::EdgeView;
use super::game::Game;
use super::settings::PolicySettings;
use super::tree::{Frontier, ROOT};
use super::{Search, gumbel, puct};
use crate::value::{MoverValue, Proven};

/// What a search found.
#[derive(Clone, Debug)]
pub struct SearchResult<A> {
    /// The action to play (in self-play with the noise of the policy).
    pub best: A,
    /// The value of the root for the side to move: exact where it is proven,
    /// that of the policy target otherwise.
    pub value: MoverValue,
    /// What is proven of the root.
    pub proven: Option<Proven>,
    /// The training target: a share for each legal action, in any order, adding
    /// up to 1.
    pub policy: Vec<(A, f32)>,
    /// The target's divergence from the evaluator's priors, KL(target || priors), in
    /// nats, 0 or more. Noise is no part of it. 0 where the root is won at once, which
    /// the evaluator is not asked about.
    pub surprise: f32,
    /// Finished simulations of each legal action, kept ones included, in the
    /// same order.
    pub visits: Vec<(A, u32)>,
    /// Simulations that this search finished.
    pub simulations: u32,
    /// Plies that they walked down from the root, in sum: divided by the simulations,
    /// the mean depth.
    pub walked: u64,
    /// Evaluations used, the root's included.
    pub evaluations: u32,
}

impl<G: Game> Search<G> {
    /// What the search has found so far, at least the evaluation of its root
    /// being applied. `ply` counts the plies of the game, for a temperature.
    ///
    /// # Panics
    /// When the root is not evaluated yet, or has no legal action.
    pub fn result(&mut self, ply: u16) -> SearchResult<G::Action> {
        let root = self.tree.frontier(ROOT);
        let edges = &root.edges;
        let proven = root.node.proven;
        let best = match (&self.settings.policy, &self.gumbel_root, proven) {
            (_, _, Some(_)) => best_proven(edges),
            (PolicySettings::Gumbel(settings), Some(gumbel), None) => {
                gumbel.choose(&root, settings)
            }
            (PolicySettings::Puct(settings), ..) => {
                let hot = ply < settings.temperature_plies;
                let temperature = if hot { settings.temperature } else { 0.0 };
                puct::choose(edges, temperature, &mut self.rng)
            }
            (PolicySettings::Gumbel(_), None, None) => 0,
        };
        let target = target(&root, &self.settings.policy);
        let value =
            proven.map_or_else(|| mean_value(&root, &target, &self.settings.policy), Proven::value);
        // A root that is won at once was not put to the evaluator.
        let asked = self.evaluations > 0 || self.kept > 0;
        let surprise = if asked { divergence(&target, edges.logits) } else { 0.0 };
        SearchResult {
            surprise,
            best: edges.rest[best].action,
            value,
            proven,
            policy: edges.rest.iter().map(|edge| edge.action).zip(target).collect(),
            visits: edges.rest.iter().map(|edge| (edge.action, edge.visits)).collect(),
            simulations: root.node.visits - self.kept,
            walked: self.walked,
            evaluations: self.evaluations,
        }
    }
}

/// The place of the proven edge that the side to move prefers.
fn best_proven<A>(edges: &EdgeView<'_, A>) -> usize {
    edges.best_by(|place| edges.rest[place].proven.map(Proven::preference))
}

/// The training target of the root: all weight on the shortest wins where the
/// root is won, what the policy says otherwise.
fn target<A>(root: &Frontier<'_, A>, policy: &PolicySettings) -> Vec<f32> {
    let edges = root.edges.rest;
    if let Some(win @ Proven::Win(_)) = root.node.proven {
        let best: Vec<bool> = edges.iter().map(|edge| edge.proven == Some(win)).collect();
        let share = 1.0 / best.iter().filter(|&&best| best).count().max(1) as f32;
        return best.into_iter().map(|best| if best { share } else { 0.0 }).collect();
    }
    match policy {
        PolicySettings::Gumbel(settings) => {
            let mut improved = Vec::new();
            gumbel::improved_policy(root, settings, &mut improved);
            improved
        }
        PolicySettings::Puct(_) => puct::target(&root.edges),
    }
}

/// KL(target || priors) in nats, of log-priors.
fn divergence(target: &[f32], log_priors: &[f32]) -> f32 {
    let shares = target.iter().zip(log_priors).filter(|(share, _)| **share > 0.0);
    let sum: f32 = shares.map(|(share, log_prior)| share * (share.ln() - log_prior)).sum();
    // Less than 0 by rounding alone.
    sum.max(0.0)
}

/// What the root is worth if the side to move plays by the target. Not the mean
/// over all simulations: half of those are spent on finding out which actions
/// are bad.
fn mean_value<A>(root: &Frontier<'_, A>, target: &[f32], policy: &PolicySettings) -> MoverValue {
    let unvisited = match policy {
        PolicySettings::Gumbel(settings) => gumbel::unvisited_value(root, settings),
        PolicySettings::Puct(_) => root.node.value.get(),
    };
    let values = root.edges.values.iter();
    let worth = values.map(|&value| if value.is_nan() { unvisited } else { value });
    let mean: f32 = worth.zip(target).map(|(value, share)| share * value).sum();
    // The shares add up to 1 but for rounding.
    MoverValue::new(mean.clamp(-1.0, 1.0))
}
