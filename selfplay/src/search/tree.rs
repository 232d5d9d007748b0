//! The tree: nodes and edges in two arenas.
//!
//! A node is a state with one history: a state reached by two paths is two
//! nodes, so that repetition and the progress count are exact. All that a
//! choice of action looks at stands in the edges of a node, side by side.

use cyvasse_env::Outcome;

use super::game::Game;
use crate::value::{MoverValue, Proven};

/// The root is the first node.
pub(super) const ROOT: u32 = 0;

/// No node.
const NONE: u32 = u32::MAX;

/// A state in the tree.
pub(super) struct Node<S> {
    pub(super) state: S,
    first_edge: u32,
    edge_count: u32,
    /// How often the state has occurred in its history, now included.
    pub(super) occurrences: u32,
    /// The evaluator's value.
    pub(super) value: MoverValue,
    /// Finished simulations that went through an edge of the node.
    pub(super) visits: u32,
    pub(super) proven: Option<Proven>,
    /// Whether an action is proven to draw, so that the state is worth no less.
    draws: bool,
    pub(super) expanded: bool,
}

/// An action in a state. Values are for the side that takes it.
#[derive(Clone)]
pub(super) struct Edge<A> {
    pub(super) action: A,
    /// Logarithm of the prior.
    pub(super) logit: f32,
    pub(super) prior: f32,
    /// Finished simulations.
    pub(super) visits: u32,
    /// Simulations that wait for an evaluation.
    pub(super) in_flight: u32,
    child: u32,
    pub(super) value_sum: f64,
    pub(super) proven: Option<Proven>,
}

impl<A> Edge<A> {
    pub(super) fn new(action: A) -> Edge<A> {
        Edge {
            action,
            logit: 0.0,
            prior: 0.0,
            visits: 0,
            in_flight: 0,
            child: NONE,
            value_sum: 0.0,
            proven: None,
        }
    }

    /// The mean value of the action, exact where it is proven; `None` before
    /// its first finished simulation.
    #[inline]
    pub(super) fn q(&self) -> Option<f32> {
        match self.proven {
            Some(proven) => Some(proven.value().get()),
            None if self.visits == 0 => None,
            None => Some((self.value_sum / f64::from(self.visits)) as f32),
        }
    }

    /// Simulations finished and under way.
    #[inline]
    pub(super) fn begun(&self) -> u32 {
        self.visits + self.in_flight
    }

    #[inline]
    pub(super) fn child(&self) -> Option<u32> {
        (self.child != NONE).then_some(self.child)
    }

    #[inline]
    pub(super) fn loses(&self) -> bool {
        matches!(self.proven, Some(Proven::Loss(_)))
    }
}

/// A step of a walk from the root: a node, and the edge taken from it.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) node: u32,
    pub(super) edge: u32,
}

pub(super) struct Tree<G: Game> {
    pub(super) nodes: Vec<Node<G::State>>,
    edges: Vec<Edge<G::Action>>,
}

impl<G: Game> Tree<G> {
    pub(super) fn new() -> Tree<G> {
        Tree { nodes: Vec::new(), edges: Vec::new() }
    }

    /// Forgets everything, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
    }

    #[inline]
    pub(super) fn node(&self, node: u32) -> &Node<G::State> {
        &self.nodes[node as usize]
    }

    #[inline]
    pub(super) fn edges(&self, node: u32) -> &[Edge<G::Action>] {
        let node = self.node(node);
        &self.edges[node.first_edge as usize..][..node.edge_count as usize]
    }

    #[inline]
    pub(super) fn edges_mut(&mut self, node: u32) -> &mut [Edge<G::Action>] {
        let node = &self.nodes[node as usize];
        &mut self.edges[node.first_edge as usize..][..node.edge_count as usize]
    }

    #[inline]
    fn edge_mut(&mut self, step: Step) -> &mut Edge<G::Action> {
        &mut self.edges_mut(step.node)[step.edge as usize]
    }

    /// Adds a node for a state. `outcome` ends the game there; `wins` tells
    /// that the side to move can win at once, which needs no further look.
    pub(super) fn add_node(
        &mut self,
        game: &G,
        state: G::State,
        occurrences: u32,
        outcome: Option<Outcome>,
        wins: bool,
    ) -> u32 {
        let proven = match outcome {
            Some(outcome) => Some(game.result(&state, outcome)),
            None => wins.then_some(Proven::Win(1)),
        };
        let value = proven.map_or(MoverValue::DRAW, Proven::value);
        let node = Node {
            state,
            first_edge: self.edges.len() as u32,
            edge_count: 0,
            occurrences,
            value,
            visits: 0,
            proven,
            draws: false,
            expanded: false,
        };
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    /// Makes a node the child of the edge that a step takes.
    pub(super) fn link(&mut self, step: Step, child: u32) {
        self.edge_mut(step).child = child;
    }

    /// Gives a node its edges, with the priors that the logits stand for.
    pub(super) fn expand(&mut self, node: u32, actions: &[G::Action], logits: &[f32]) {
        let first = self.edges.len();
        self.edges.extend(actions.iter().map(|&action| Edge::new(action)));
        set_priors(&mut self.edges[first..], logits);
        let node = &mut self.nodes[node as usize];
        node.first_edge = first as u32;
        node.edge_count = actions.len() as u32;
        node.expanded = true;
    }

    pub(super) fn begin(&mut self, path: &[Step]) {
        for &step in path {
            self.edge_mut(step).in_flight += 1;
        }
    }

    /// Takes the result at the end of a walk up to the root: the value of
    /// `leaf`, or what is proven of it.
    pub(super) fn back_up(&mut self, path: &[Step], leaf: u32) {
        let mut value = self.node(leaf).value;
        let mut proven = self.node(leaf).proven;
        for &step in path.iter().rev() {
            value = value.for_opponent();
            let edge = self.edge_mut(step);
            if let Some(proven) = proven {
                edge.proven = Some(proven.before_move());
                value = proven.value().for_opponent();
            }
            edge.in_flight -= 1;
            edge.visits += 1;
            edge.value_sum += f64::from(value.get());
            self.nodes[step.node as usize].visits += 1;
            proven = match proven {
                Some(_) => self.prove(step.node),
                // Another walk may have proven it while this one waited.
                None => self.node(step.node).proven,
            };
            let node = self.node(step.node);
            if let Some(proven) = proven {
                value = proven.value();
            } else if node.draws && value < MoverValue::DRAW {
                // The walk tried something else, but nobody has to play it.
                value = MoverValue::DRAW;
            }
        }
    }

    /// Looks whether the edges of a node prove its result, and keeps it.
    pub(super) fn prove(&mut self, node: u32) -> Option<Proven> {
        let edges = self.edges(node);
        let best = edges.iter().filter_map(|edge| edge.proven).max_by_key(|p| p.preference())?;
        self.nodes[node as usize].draws |= matches!(best, Proven::Draw(_));
        let edges = self.edges(node);
        let decided =
            matches!(best, Proven::Win(_)) || edges.iter().all(|edge| edge.proven.is_some());
        if decided {
            self.nodes[node as usize].proven = Some(best);
        }
        self.node(node).proven
    }

    /// The node that a step leads to, if it is there already.
    pub(super) fn child(&self, step: Step) -> Option<u32> {
        self.edges(step.node)[step.edge as usize].child()
    }
}

/// Sets log-priors and priors from logits: their log-softmax.
fn set_priors<A>(edges: &mut [Edge<A>], logits: &[f32]) {
    debug_assert_eq!(edges.len(), logits.len());
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for (edge, &logit) in edges.iter_mut().zip(logits) {
        edge.logit = logit - highest;
        edge.prior = edge.logit.exp();
        sum += edge.prior;
    }
    let (scale, shift) = (sum.recip(), sum.ln());
    for edge in edges {
        edge.logit -= shift;
        edge.prior *= scale;
    }
}
