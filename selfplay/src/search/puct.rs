//! PUCT: the choice of actions by upper confidence bounds (Silver et al.
//! 2017, "Mastering the game of Go without human knowledge"; the growing
//! exploration rate is from AlphaZero, Silver et al. 2018).

use rand::Rng;
use rand_distr::{Distribution, Gamma};

use super::edges::{Edge, EdgeView, fold_lanes};
use super::settings::PuctSettings;
use super::tree::Frontier;

/// Mixes Dirichlet noise into the priors of the root.
pub(super) fn add_noise(priors: &mut [f32], settings: &PuctSettings, rng: &mut impl Rng) {
    let share = settings.noise_share;
    let concentration = settings.noise_concentration / priors.len() as f32;
    let Ok(gamma) = Gamma::new(concentration, 1.0) else { return };
    if share == 0.0 {
        return;
    }
    let noise: Vec<f32> = priors.iter().map(|_| gamma.sample(rng)).collect();
    let sum: f32 = noise.iter().sum();
    if sum <= 0.0 {
        return;
    }
    for (prior, noise) in priors.iter_mut().zip(noise) {
        // The quotient first: noise of a low concentration is subnormal.
        *prior = (1.0 - share) * *prior + share * (noise / sum);
    }
}

/// The place of the edge to walk down, among those that `open` admits.
/// `scores` is scratch room.
#[inline]
pub(super) fn select<A>(
    frontier: &Frontier<'_, A>,
    settings: &PuctSettings,
    scores: &mut Vec<f32>,
    open: impl Fn(&Edge<A>) -> bool,
) -> usize {
    let Frontier { node, edges, .. } = frontier;
    let begun_priors = edges.priors.iter().zip(edges.begun);
    scores.clear();
    scores.extend(begun_priors.map(|(&prior, &begun)| if begun > 0 { prior } else { 0.0 }));
    let tried = fold_lanes(scores, 0.0, |a, b| a + b);
    let total = node.begun().max(1) as f32;
    let rate = settings.c_init + ((1.0 + total + settings.c_base) / settings.c_base).ln();
    let rate = rate * total.sqrt();
    let unvisited = node.value.get() - settings.fpu_reduction * tried.sqrt();
    let numbers = edges.priors.iter().zip(edges.values).zip(edges.begun);
    for (score, ((&prior, &value), &begun)) in scores.iter_mut().zip(numbers) {
        let value = if value.is_nan() { unvisited } else { value };
        *score = value + rate * prior / (1.0 + begun as f32);
    }
    let mut best = (f32::NEG_INFINITY, 0);
    for (place, &score) in scores.iter().enumerate() {
        if score > best.0 && open(&edges.rest[place]) {
            best = (score, place);
        }
    }
    best.1
}

/// The shares of the visits: the training target.
pub(super) fn target<A>(edges: &EdgeView<'_, A>) -> Vec<f32> {
    let total: u32 = edges.rest.iter().map(|edge| edge.visits).sum();
    if total == 0 {
        return edges.priors.to_vec();
    }
    edges.rest.iter().map(|edge| edge.visits as f32 / total as f32).collect()
}

/// The place of an action drawn by visits to the power of 1 / `temperature`;
/// the most visited one at temperature 0. Actions that are proven to lose are
/// drawn only when there is no other.
pub(super) fn choose<A>(edges: &EdgeView<'_, A>, temperature: f32, rng: &mut impl Rng) -> usize {
    let all_lose = edges.rest.iter().all(Edge::loses);
    let eligible = |edge: &Edge<A>| all_lose || !edge.loses();
    let count = |edge: &Edge<A>| if eligible(edge) { edge.visits as f32 } else { -1.0 };
    let most = edges.rest.iter().map(count).fold(0.0, f32::max);
    if temperature <= 0.0 || most == 0.0 {
        return edges.best_by(|place| (count(&edges.rest[place]), edges.priors[place]));
    }
    let weight = |edge: &Edge<A>| (count(edge).max(0.0) / most).powf(temperature.recip());
    let sum: f32 = edges.rest.iter().map(weight).sum();
    let mut rest = super::unit_interval(rng) * sum;
    for (place, edge) in edges.rest.iter().enumerate() {
        rest -= weight(edge);
        if rest < 0.0 {
            return place;
        }
    }
    edges.best_by(|place| count(&edges.rest[place]))
}
