//! Gumbel AlphaZero: Danihelka, Guez, Schrittwieser and Silver 2022, "Policy
//! improvement by planning with Gumbel".
//!
//! At the root the search considers the actions with the greatest sums of
//! logit and Gumbel noise and halves their number as simulations are spent
//! (section 3.2, "sequential halving with Gumbel"). Below it follows the
//! improved policy deterministically (section 5). The training target is the
//! improved policy: the softmax of logits plus transformed completed values
//! (section 4).

use rand::Rng;

use super::settings::GumbelSettings;
use super::tree::Edge;
use crate::value::MoverValue;

/// What the root of a Gumbel search carries along.
pub(super) struct Root {
    /// Gumbel noise of each action.
    noise: Vec<f32>,
    /// Begun simulations of the actions to consider, by simulation.
    schedule: Vec<u32>,
}

impl Root {
    pub(super) fn new(
        actions: usize,
        simulations: u32,
        settings: &GumbelSettings,
        rng: &mut impl Rng,
    ) -> Root {
        let noise = (0..actions).map(|_| settings.noise * gumbel(rng)).collect();
        let considered = settings.max_considered.min(actions as u32);
        Root { noise, schedule: considered_visits(considered, simulations) }
    }

    /// The edge to walk down in simulation number `begun`.
    pub(super) fn select<A>(
        &self,
        edges: &[Edge<A>],
        value: MoverValue,
        begun: usize,
        settings: &GumbelSettings,
    ) -> u32 {
        let visits = self.schedule.get(begun).copied().unwrap_or(u32::MAX);
        // Actions that are proven to lose drop out; another one that has begun
        // less then takes the place in the schedule.
        let rank = |edge: &Edge<A>| match edge.begun() {
            _ if edge.loses() => 0,
            begun if begun == visits => 3,
            begun if begun < visits => 2,
            _ => 1,
        };
        self.best(edges, value, rank, settings) as u32
    }

    /// The action to play: among the most visited ones the one with the
    /// greatest score; never one that is proven to lose if there is another.
    pub(super) fn choose<A>(
        &self,
        edges: &[Edge<A>],
        value: MoverValue,
        settings: &GumbelSettings,
    ) -> usize {
        let rank = |edge: &Edge<A>| if edge.loses() { 0 } else { 1 + edge.visits };
        self.best(edges, value, rank, settings)
    }

    /// The edge with the greatest noise + logit + transformed value, among
    /// those of the highest rank.
    fn best<A>(
        &self,
        edges: &[Edge<A>],
        value: MoverValue,
        rank: impl Fn(&Edge<A>) -> u32,
        settings: &GumbelSettings,
    ) -> usize {
        let completion = Completion::of(edges, value, settings);
        let mut best = (0, f32::NEG_INFINITY, 0);
        for (index, (edge, noise)) in edges.iter().zip(&self.noise).enumerate() {
            let score = noise + edge.logit + completion.transformed(edge);
            let rank = rank(edge);
            if (rank, score) > (best.0, best.1) {
                best = (rank, score, index);
            }
        }
        best.2
    }
}

/// A draw from the standard Gumbel distribution.
fn gumbel(rng: &mut impl Rng) -> f32 {
    // The interval is open at both ends, so that both logarithms are finite.
    let uniform = super::unit_interval(rng).max(f32::MIN_POSITIVE);
    -(-uniform.ln()).max(f32::MIN_POSITIVE).ln()
}

/// Sequential halving as a table: for each simulation, how many simulations
/// the actions under consideration have begun. `considered` actions share
/// `simulations` in rounds, each round as long as the others, and the better
/// half of the actions goes on to the next.
fn considered_visits(considered: u32, simulations: u32) -> Vec<u32> {
    let total = simulations as usize;
    if considered <= 1 {
        return (0..simulations).collect();
    }
    let rounds = (f64::from(considered)).log2().ceil() as u32;
    let mut visits = vec![0; considered as usize];
    let mut table = Vec::with_capacity(total);
    let mut going_on = considered;
    while table.len() < total {
        let each = (simulations / (rounds * going_on)).max(1);
        for _ in 0..each {
            table.extend_from_slice(&visits[..going_on as usize]);
            visits[..going_on as usize].iter_mut().for_each(|visits| *visits += 1);
        }
        going_on = (going_on / 2).max(2);
    }
    table.truncate(total);
    table
}

/// How the values of actions are completed and transformed at a node.
struct Completion {
    /// The value of actions without a visit (v_mix; appendix D, equation 33).
    unvisited: f32,
    /// (c_visit + max visits) * c_scale (section 4, equation 8).
    scale: f32,
}

impl Completion {
    #[inline]
    fn of<A>(edges: &[Edge<A>], value: MoverValue, settings: &GumbelSettings) -> Completion {
        let (mut visits, mut most) = (0, 0);
        let (mut prior, mut weighted) = (0.0, 0.0);
        for edge in edges {
            if let Some(q) = edge.q().filter(|_| edge.visits > 0) {
                visits += edge.visits;
                most = most.max(edge.visits);
                prior += edge.prior;
                weighted += edge.prior * q;
            }
        }
        let unvisited = if visits == 0 {
            value.get()
        } else {
            let visits = visits as f32;
            let mean = weighted / prior.max(f32::MIN_POSITIVE);
            (value.get() + visits * mean) / (1.0 + visits)
        };
        Completion { unvisited, scale: (settings.c_visit + most as f32) * settings.c_scale }
    }

    /// The transformed completed value of an action: its value scaled to 0..1
    /// times the scale.
    #[inline]
    fn transformed<A>(&self, edge: &Edge<A>) -> f32 {
        let q = edge.q().unwrap_or(self.unvisited);
        self.scale * (q + 1.0) / 2.0
    }
}

/// The value that stands in for those of actions without a visit.
pub(super) fn unvisited_value<A>(
    edges: &[Edge<A>],
    value: MoverValue,
    settings: &GumbelSettings,
) -> f32 {
    Completion::of(edges, value, settings).unvisited
}

/// The improved policy of a node.
#[inline]
pub(super) fn improved_policy<A>(
    edges: &[Edge<A>],
    value: MoverValue,
    settings: &GumbelSettings,
    policy: &mut Vec<f32>,
) {
    let completion = Completion::of(edges, value, settings);
    policy.clear();
    policy.extend(edges.iter().map(|edge| edge.logit + completion.transformed(edge)));
    let highest = policy.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in policy.iter_mut() {
        *score = (*score - highest).exp();
        sum += *score;
    }
    policy.iter_mut().for_each(|share| *share /= sum);
}

/// The edge to walk down below the root: the one whose share of the visits
/// lags most behind its share of the improved policy (section 5, equation 14).
#[inline]
pub(super) fn select<A>(
    edges: &[Edge<A>],
    value: MoverValue,
    settings: &GumbelSettings,
    policy: &mut Vec<f32>,
) -> u32 {
    improved_policy(edges, value, settings, policy);
    let begun: u32 = edges.iter().map(Edge::begun).sum();
    let scale = 1.0 / (1.0 + begun as f32);
    let mut best = (f32::NEG_INFINITY, 0);
    for (index, (edge, share)) in edges.iter().zip(policy.iter()).enumerate() {
        let lag = share - edge.begun() as f32 * scale;
        if lag > best.0 && edge.proven.is_none() {
            best = (lag, index as u32);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_spends_what_the_paper_says() {
        // 16 simulations among 4 actions: 2 each, then 4 each among the best 2.
        let table = considered_visits(4, 16);
        assert_eq!(table, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
        assert_eq!(considered_visits(1, 3), [0, 1, 2]);
        // Fewer simulations than actions: the first ones only.
        assert_eq!(considered_visits(8, 3), [0, 0, 0]);
    }

    /// Edges with these log-priors (up to a constant), visits and mean values.
    fn edges(rows: [(f32, u32, f32); 4]) -> Vec<Edge<usize>> {
        let sum: f32 = rows.iter().map(|(logit, ..)| logit.exp()).sum();
        let edge = |(action, (logit, visits, q)): (usize, (f32, u32, f32))| {
            let mut edge = Edge::new(action);
            edge.prior = logit.exp() / sum;
            edge.logit = edge.prior.ln();
            edge.visits = visits;
            edge.value_sum = f64::from(q) * f64::from(visits);
            edge
        };
        rows.into_iter().enumerate().map(edge).collect()
    }

    #[test]
    fn formulas_give_what_a_separate_calculation_gave() {
        // Computed once in Python from the equations of the paper.
        let edges = edges([(0.5, 3, 0.2), (-1.0, 1, -0.6), (0.0, 0, 0.0), (2.0, 2, 0.4)]);
        let settings =
            GumbelSettings { max_considered: 4, c_visit: 50.0, c_scale: 0.05, noise: 1.0 };
        let value = MoverValue::new(0.1);
        let v_mix = unvisited_value(&edges, value, &settings);
        assert!((v_mix - 0.293_568).abs() < 1e-5, "{v_mix}");
        let mut policy = Vec::new();
        improved_policy(&edges, value, &settings, &mut policy);
        let expected = [0.131_484_4, 0.010_164_4, 0.090_275_5, 0.768_075_7];
        for (share, expected) in policy.iter().zip(expected) {
            assert!((share - expected).abs() < 1e-5, "{policy:?}");
        }
        // The shares less visits / 7 are -0.297, -0.133, 0.090 and 0.482.
        assert_eq!(select(&edges, value, &settings, &mut policy), 3);
    }

    #[test]
    fn actions_that_lose_are_neither_tried_again_nor_played() {
        use crate::value::Proven;

        let mut edges = edges([(3.0, 1, 0.9), (0.0, 1, 0.1), (-1.0, 0, 0.0), (-2.0, 0, 0.0)]);
        edges[0].proven = Some(Proven::Loss(2));
        let settings =
            GumbelSettings { max_considered: 4, c_visit: 50.0, c_scale: 1.0, noise: 0.0 };
        let root = Root { noise: vec![0.0; 4], schedule: vec![0, 0, 1, 1] };
        assert_eq!(root.select(&edges, MoverValue::DRAW, 2, &settings), 1);
        assert_eq!(root.choose(&edges, MoverValue::DRAW, &settings), 1);
        edges[1].proven = Some(Proven::Loss(4));
        assert_eq!(root.select(&edges, MoverValue::DRAW, 3, &settings), 2);
        assert_eq!(root.choose(&edges, MoverValue::DRAW, &settings), 2);
    }
}
