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

use super::edges::{EdgeView, exponentials};
use super::settings::GumbelSettings;
use super::tree::Frontier;

/// What the root of a Gumbel search carries along.
pub(super) struct Root {
    /// Gumbel noise of each action.
    noise: Vec<f32>,
    /// Visits of each action that were there before this search.
    kept: Vec<u32>,
    /// Begun simulations of the actions to consider, by simulation.
    schedule: Vec<u32>,
}

impl Root {
    /// A root with these edges, on which `simulations` are to be spent.
    pub(super) fn new<A>(
        edges: &EdgeView<'_, A>,
        simulations: u32,
        settings: &GumbelSettings,
        rng: &mut impl Rng,
    ) -> Root {
        let noise = (0..edges.len()).map(|_| settings.noise * gumbel(rng)).collect();
        let kept = edges.rest.iter().map(|edge| edge.visits).collect();
        let considered = settings.max_considered.min(edges.len() as u32);
        Root { noise, kept, schedule: considered_visits(considered, simulations) }
    }

    /// The place of the edge to walk down in simulation number `simulation` of
    /// this search.
    pub(super) fn select<A>(
        &self,
        frontier: &Frontier<'_, A>,
        simulation: u32,
        settings: &GumbelSettings,
    ) -> usize {
        let visits = self.schedule.get(simulation as usize).copied().unwrap_or(u32::MAX);
        // Where actions dropped out, another one that has begun less takes the
        // place in the schedule.
        let rank = |place: usize| match frontier.edges.begun[place] - self.kept[place] {
            begun if begun == visits => 3,
            begun if begun < visits => 2,
            _ => 1,
        };
        self.best(frontier, rank, settings)
    }

    /// The place of the action to play: among those most visited in this search
    /// the one with the greatest score; never one that is proven to lose if there is
    /// another.
    pub(super) fn choose<A>(&self, frontier: &Frontier<'_, A>, settings: &GumbelSettings) -> usize {
        let rank = |place: usize| 1 + frontier.edges.rest[place].visits - self.kept[place];
        self.best(frontier, rank, settings)
    }

    /// The edge with the greatest noise + logit + transformed value, among
    /// those of the highest rank. Actions that are proven to lose drop out, as
    /// long as there is another.
    fn best<A>(
        &self,
        frontier: &Frontier<'_, A>,
        rank: impl Fn(usize) -> u32,
        settings: &GumbelSettings,
    ) -> usize {
        let completion = Completion::of(frontier, settings);
        let edges = &frontier.edges;
        let mut best = (0, f32::NEG_INFINITY, 0);
        for (place, noise) in self.noise.iter().enumerate() {
            let rank = rank(place);
            if rank < best.0 {
                continue;
            }
            let score = noise + completion.score(edges.logits[place], edges.values[place]);
            if (rank, score) <= (best.0, best.1) {
                continue;
            }
            // Asked last, because it is seldom so and lies elsewhere in memory.
            let rank = if edges.rest[place].loses() { 0 } else { rank };
            if (rank, score) > (best.0, best.1) {
                best = (rank, score, place);
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
    fn of<A>(frontier: &Frontier<'_, A>, settings: &GumbelSettings) -> Completion {
        let Frontier { node, edges, .. } = frontier;
        let value = node.value.get();
        let unvisited = if node.visits == 0 {
            value
        } else {
            let (prior, weighted) = visited_sums(edges.priors, edges.values);
            let visits = node.visits as f32;
            let mean = weighted / prior.max(f32::MIN_POSITIVE);
            (value + visits * mean) / (1.0 + visits)
        };
        let scale = (settings.c_visit + node.most_visits as f32) * settings.c_scale;
        Completion { unvisited, scale }
    }

    /// The logit of an action plus its completed value, scaled to 0..1, times
    /// the scale.
    #[inline]
    fn score(&self, logit: f32, value: f32) -> f32 {
        let value = if value.is_nan() { self.unvisited } else { value };
        logit + self.scale * (value + 1.0) / 2.0
    }
}

/// The sums over the visited actions of their priors, and of their priors
/// times their values.
#[inline]
fn visited_sums(priors: &[f32], values: &[f32]) -> (f32, f32) {
    let mut sums = [[0.0; 8]; 2];
    let mut add = |priors: &[f32], values: &[f32]| {
        for (lane, (&prior, &value)) in priors.iter().zip(values).enumerate() {
            let (prior, value) = if value.is_nan() { (0.0, 0.0) } else { (prior, value) };
            sums[0][lane] += prior;
            sums[1][lane] += prior * value;
        }
    };
    let (prior_chunks, prior_rest) = priors.as_chunks::<8>();
    let (value_chunks, value_rest) = values.as_chunks::<8>();
    for (priors, values) in prior_chunks.iter().zip(value_chunks) {
        add(priors, values);
    }
    add(prior_rest, value_rest);
    let [prior, weighted] = sums.map(|lanes| lanes.into_iter().sum());
    (prior, weighted)
}

/// The value that stands in for those of actions without a visit.
pub(super) fn unvisited_value<A>(frontier: &Frontier<'_, A>, settings: &GumbelSettings) -> f32 {
    Completion::of(frontier, settings).unvisited
}

/// The improved policy over the edges of a frontier, all of them or the untried
/// ones put together in the last. `policy` takes the weights; their sum is
/// returned.
#[inline]
fn improved_weights<A>(
    frontier: &Frontier<'_, A>,
    settings: &GumbelSettings,
    policy: &mut Vec<f32>,
) -> f32 {
    let completion = Completion::of(frontier, settings);
    let edges = &frontier.edges;
    policy.clear();
    policy.extend(
        edges
            .logits
            .iter()
            .zip(edges.values)
            .map(|(&logit, &value)| completion.score(logit, value)),
    );
    exponentials(policy).1
}

/// The improved policy of the root.
pub(super) fn improved_policy<A>(
    root: &Frontier<'_, A>,
    settings: &GumbelSettings,
    policy: &mut Vec<f32>,
) {
    let sum = improved_weights(root, settings, policy);
    policy.iter_mut().for_each(|share| *share /= sum);
}

/// The place of the edge to walk down below the root: the one whose share of
/// the visits lags most behind its share of the improved policy (section 5,
/// equation 14). `shares` is scratch room.
#[inline]
pub(super) fn select<A>(
    frontier: &Frontier<'_, A>,
    settings: &GumbelSettings,
    shares: &mut Vec<f32>,
) -> usize {
    let edges = &frontier.edges;
    let mut sum = improved_weights(frontier, settings, shares);
    if frontier.more {
        // The untried actions have one value: their shares are as their priors.
        let last = edges.len() - 1;
        let (prior, all) = (edges.priors[last], edges.rest[last].prior_left);
        let others = if prior > 0.0 { all / prior - 1.0 } else { 0.0 };
        sum += shares[last] * others;
    }
    let (share, visit) = (sum.recip(), (1.0 + frontier.node.begun() as f32).recip());
    let mut best = (f32::NEG_INFINITY, 0);
    for (place, (&weight, &begun)) in shares.iter().zip(edges.begun).enumerate() {
        let lag = weight * share - begun as f32 * visit;
        if lag > best.0 && edges.rest[place].proven.is_none() {
            best = (lag, place);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use cyvasse_env::{Outcome, Side};

    use super::*;
    use crate::search::Game;
    use crate::search::tree::{ROOT, Tree};
    use crate::value::{MoverValue, Proven};

    #[test]
    fn halving_spends_what_the_paper_says() {
        // 16 simulations among 4 actions: 2 each, then 4 each among the best 2.
        let table = considered_visits(4, 16);
        assert_eq!(table, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
        assert_eq!(considered_visits(1, 3), [0, 1, 2]);
        // Fewer simulations than actions: the first ones only.
        assert_eq!(considered_visits(8, 3), [0, 0, 0]);
    }

    /// A tree whose root has edges with these log-priors (up to a constant),
    /// visits and mean values, and is worth 0.1 to the evaluator.
    fn tree(rows: [(f32, u32, f32); 4]) -> Tree<Stub> {
        let mut tree = Tree::new();
        tree.add_node(&Stub, (), 1, None, false);
        let logits = rows.map(|(logit, ..)| logit);
        tree.expand(ROOT, &[0, 1, 2, 3], &logits, MoverValue::new(0.1));
        tree.open(ROOT);
        for (place, (_, visits, q)) in rows.into_iter().enumerate() {
            let path = [tree.step(ROOT, place)];
            // A leaf is worth to its mover the opposite of what its edge is.
            let leaf = tree.add_node(&Stub, (), 1, None, false);
            tree.expand(leaf, &[0], &[0.0], MoverValue::new(-q));
            for _ in 0..visits {
                tree.begin(&path);
                tree.back_up(&path, leaf);
            }
        }
        tree
    }

    #[test]
    fn formulas_give_what_a_separate_calculation_gave() {
        // Computed once in Python from the equations of the paper.
        let tree = tree([(0.5, 3, 0.2), (-1.0, 1, -0.6), (0.0, 0, 0.0), (2.0, 2, 0.4)]);
        let settings =
            GumbelSettings { max_considered: 4, c_visit: 50.0, c_scale: 0.05, noise: 1.0 };
        let frontier = tree.frontier(ROOT);
        let v_mix = unvisited_value(&frontier, &settings);
        assert!((v_mix - 0.293_568).abs() < 1e-5, "{v_mix}");
        let mut policy = Vec::new();
        improved_policy(&frontier, &settings, &mut policy);
        let expected = [0.131_484_4, 0.010_164_4, 0.090_275_5, 0.768_075_7];
        for (share, expected) in policy.iter().zip(expected) {
            assert!((share - expected).abs() < 1e-5, "{policy:?}");
        }
        // The shares less visits / 7 are -0.297, -0.133, 0.090 and 0.482.
        assert_eq!(select(&frontier, &settings, &mut policy), 3);
    }

    #[test]
    fn actions_that_lose_are_neither_tried_again_nor_played() {
        let mut tree = tree([(3.0, 1, 0.9), (0.0, 1, 0.1), (-1.0, 0, 0.0), (-2.0, 0, 0.0)]);
        tree.prove_root_edge(0, Proven::Loss(2));
        let settings =
            GumbelSettings { max_considered: 4, c_visit: 50.0, c_scale: 1.0, noise: 0.0 };
        let root = Root { noise: vec![0.0; 4], kept: vec![0; 4], schedule: vec![0, 0, 1, 1] };
        assert_eq!(root.select(&tree.frontier(ROOT), 2, &settings), 1);
        assert_eq!(root.choose(&tree.frontier(ROOT), &settings), 1);
        tree.prove_root_edge(1, Proven::Loss(4));
        assert_eq!(root.select(&tree.frontier(ROOT), 3, &settings), 2);
        assert_eq!(root.choose(&tree.frontier(ROOT), &settings), 2);
    }

    /// A game that says nothing: its trees are built by hand.
    struct Stub;

    impl Game for Stub {
        type State = ();
        type Action = u8;

        fn turn(&self, (): &()) -> Side {
            Side::White
        }

        fn legal_actions(&self, (): &(), _actions: &mut Vec<u8>) {}

        fn play(&self, (): &mut (), _action: u8) {}

        fn wins_at_once(&self, (): &(), _action: u8) -> bool {
            false
        }

        fn repetition_key(&self, (): &()) -> u64 {
            0
        }

        fn reversible_plies(&self, (): &()) -> usize {
            0
        }

        fn outcome(&self, (): &(), _occurrences: usize) -> Option<Outcome> {
            None
        }
    }
}
