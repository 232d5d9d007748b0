//! PUCT: the choice of actions by upper confidence bounds (Silver et al.
//! 2017, "Mastering the game of Go without human knowledge"; the growing
//! exploration rate is from AlphaZero, Silver et al. 2018).

use rand::Rng;
use rand_distr::{Distribution, Gamma};

use super::settings::PuctSettings;
use super::tree::Edge;
use crate::value::MoverValue;

/// Mixes Dirichlet noise into the priors of the root.
pub(super) fn add_noise<A>(edges: &mut [Edge<A>], settings: &PuctSettings, rng: &mut impl Rng) {
    let share = settings.noise_share;
    let concentration = settings.noise_concentration / edges.len() as f32;
    let Ok(gamma) = Gamma::new(concentration, 1.0) else { return };
    if share == 0.0 {
        return;
    }
    let noise: Vec<f32> = edges.iter().map(|_| gamma.sample(rng)).collect();
    let sum: f32 = noise.iter().sum();
    if sum <= 0.0 {
        return;
    }
    for (edge, noise) in edges.iter_mut().zip(noise) {
        edge.prior = (1.0 - share) * edge.prior + share * noise / sum;
    }
}

/// The edge to walk down from a node whose evaluator's value is `value`, among
/// those that `open` admits.
#[inline]
pub(super) fn select<A>(
    edges: &[Edge<A>],
    value: MoverValue,
    settings: &PuctSettings,
    open: impl Fn(&Edge<A>) -> bool,
) -> u32 {
    let (mut begun, mut tried) = (0, 0.0);
    for edge in edges {
        begun += edge.begun();
        if edge.begun() > 0 {
            tried += edge.prior;
        }
    }
    let total = begun.max(1) as f32;
    let rate = settings.c_init + ((1.0 + total + settings.c_base) / settings.c_base).ln();
    let rate = rate * total.sqrt();
    let unvisited = value.get() - settings.fpu_reduction * tried.sqrt();
    let mut best = (f32::NEG_INFINITY, 0);
    for (index, edge) in edges.iter().enumerate() {
        if !open(edge) {
            continue;
        }
        let q = edge.q().unwrap_or(unvisited);
        let score = q + rate * edge.prior / (1.0 + edge.begun() as f32);
        if score > best.0 {
            best = (score, index as u32);
        }
    }
    best.1
}

/// The shares of the visits: the training target.
pub(super) fn target<A>(edges: &[Edge<A>]) -> Vec<f32> {
    let total: u32 = edges.iter().map(|edge| edge.visits).sum();
    if total == 0 {
        return edges.iter().map(|edge| edge.prior).collect();
    }
    edges.iter().map(|edge| edge.visits as f32 / total as f32).collect()
}

/// An action drawn by visits to the power of 1 / `temperature`; the most
/// visited one at temperature 0. Actions that are proven to lose are drawn
/// only when there is no other.
pub(super) fn choose<A>(edges: &[Edge<A>], temperature: f32, rng: &mut impl Rng) -> usize {
    let all_lose = edges.iter().all(Edge::loses);
    let eligible = |edge: &Edge<A>| all_lose || !edge.loses();
    let count = |edge: &Edge<A>| if eligible(edge) { edge.visits as f32 } else { -1.0 };
    let most = edges.iter().map(count).fold(0.0, f32::max);
    if temperature <= 0.0 || most == 0.0 {
        let key = |edge: &Edge<A>| (count(edge), edge.prior);
        return best_by(edges, key);
    }
    let weight = |edge: &Edge<A>| (count(edge).max(0.0) / most).powf(temperature.recip());
    let sum: f32 = edges.iter().map(weight).sum();
    let mut rest = super::unit_interval(rng) * sum;
    for (index, edge) in edges.iter().enumerate() {
        rest -= weight(edge);
        if rest < 0.0 {
            return index;
        }
    }
    best_by(edges, count)
}

/// The place of the edge with the greatest key, the first of equals.
pub(super) fn best_by<A, K: PartialOrd>(edges: &[Edge<A>], key: impl Fn(&Edge<A>) -> K) -> usize {
    let mut best = 0;
    for index in 1..edges.len() {
        if key(&edges[index]) > key(&edges[best]) {
            best = index;
        }
    }
    best
}
