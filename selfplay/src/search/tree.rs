//! The tree: what is known of its states, in arenas.
//!
//! A node is a state with one history: a state reached by two paths is two
//! nodes, so that repetition and the progress count are exact.
//!
//! Most nodes are leaves that no walk ever passes. So a node comes to its edges
//! in two steps: when it is evaluated, its actions and their logits are put
//! down ([`Tree::expand`]); when the first walk goes on from there, they become
//! edges with statistics ([`Tree::open`]), those with the greatest priors
//! first. Below the root the untried actions of a node differ in nothing but
//! their priors: they are tried in this order, and a choice looks at the edges
//! that were tried and at the next one, not at all of them.

use std::ops::Range;

use cyvasse_env::Outcome;

use super::edges::{EdgeView, Edges};
use super::game::Game;
use crate::value::{MoverValue, Proven};

/// The root is the first node.
pub(super) const ROOT: u32 = 0;

/// What is known of a state.
#[derive(Clone)]
pub(super) struct Node {
    /// How far it has come on the way to its edges.
    stage: Stage,
    /// The first of its choices or edges, by its stage.
    first: u32,
    /// Its actions.
    count: u32,
    /// Edges that have a child: the first ones, except at the root.
    tried: u32,
    /// Simulations that went through an edge of the node and wait for an
    /// evaluation.
    in_flight: u32,
    /// Finished simulations that went through an edge of the node.
    pub(super) visits: u32,
    /// Those through the edge with most.
    pub(super) most_visits: u32,
    /// How often the state has occurred in its history, now included.
    pub(super) occurrences: u32,
    /// The evaluator's value.
    pub(super) value: MoverValue,
    pub(super) proven: Option<Proven>,
    /// Whether an action is proven to draw, so that the state is worth no less.
    draws: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Waits for its evaluation, or never needs one.
    Added,
    /// Its actions and their logits are among the choices.
    Expanded,
    /// Its actions are edges.
    Opened,
}

/// An action that is not an edge yet.
#[derive(Clone, Copy)]
struct Choice<A> {
    action: A,
    logit: f32,
}

/// A step of a walk from the root: a node, and the edge taken from it.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) node: u32,
    /// The place among all edges.
    edge: u32,
}

pub(super) struct Tree<G: Game> {
    nodes: Vec<Node>,
    states: Vec<G::State>,
    choices: Vec<Choice<G::Action>>,
    edges: Edges<G::Action>,
}

/// What a choice of action looks at in a node: the edges that were tried and
/// the best of the others; at the root, whose edges are not sorted, all.
pub(super) struct Frontier<'a, A> {
    pub(super) node: &'a Node,
    pub(super) edges: EdgeView<'a, A>,
    /// Whether the last of the edges stands for all that were not tried.
    pub(super) more: bool,
}

impl Node {
    #[inline]
    pub(super) fn expanded(&self) -> bool {
        self.stage != Stage::Added
    }

    /// Whether walks have gone on from here.
    pub(super) fn opened(&self) -> bool {
        self.stage == Stage::Opened
    }

    /// Simulations finished and under way that went through an edge.
    #[inline]
    pub(super) fn begun(&self) -> u32 {
        self.visits + self.in_flight
    }

    #[inline]
    fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

impl<G: Game> Tree<G> {
    pub(super) fn new() -> Tree<G> {
        Tree { nodes: Vec::new(), states: Vec::new(), choices: Vec::new(), edges: Edges::new() }
    }

    /// Forgets everything, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.states.clear();
        self.choices.clear();
        self.edges.clear();
    }

    /// Makes a node with edges the root, keeps what lies below it and forgets
    /// the rest. No walk may be under way. `spare` is scratch room.
    pub(super) fn keep(&mut self, node: u32, spare: &mut Tree<G>) {
        spare.clear();
        // The kept nodes by their old numbers, in the order of the new ones.
        let mut kept = vec![node];
        let mut next = 0;
        while let Some(&old) = kept.get(next) {
            next += 1;
            let mut node = self.nodes[old as usize].clone();
            let range = match node.stage {
                Stage::Added => 0..0,
                Stage::Expanded => {
                    let first = spare.choices.len();
                    spare.choices.extend_from_slice(&self.choices[node.range()]);
                    first..spare.choices.len()
                }
                Stage::Opened => spare.edges.extend_from(&self.edges, node.range()),
            };
            if node.stage == Stage::Opened {
                for (edge, old) in (range.start as u32..).zip(self.edges(old).rest) {
                    if let Some(child) = old.child() {
                        spare.edges.set_child(edge, kept.len() as u32);
                        kept.push(child);
                    }
                }
            }
            node.first = range.start as u32;
            spare.nodes.push(node);
            spare.states.push(self.states[old as usize].clone());
        }
        std::mem::swap(self, spare);
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[inline]
    pub(super) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    #[inline]
    pub(super) fn state(&self, node: u32) -> &G::State {
        &self.states[node as usize]
    }

    /// The edges of an opened node.
    pub(super) fn edges(&self, node: u32) -> EdgeView<'_, G::Action> {
        let node = self.node(node);
        debug_assert!(node.stage == Stage::Opened);
        self.edges.view(node.range())
    }

    /// The priors at the root, to be changed.
    pub(super) fn root_priors_mut(&mut self) -> &mut [f32] {
        self.edges.priors_mut(self.nodes[ROOT as usize].range())
    }

    /// What a choice of action looks at in an opened node.
    #[inline]
    pub(super) fn frontier(&self, at: u32) -> Frontier<'_, G::Action> {
        let node = self.node(at);
        debug_assert!(node.stage == Stage::Opened);
        let more = at != ROOT && node.tried < node.count;
        let mut range = node.range();
        if more {
            range.end = range.start + node.tried as usize + 1;
        }
        Frontier { node, edges: self.edges.view(range), more }
    }

    /// The step from an opened node along the edge at `place` among its own.
    #[inline]
    pub(super) fn step(&self, node: u32, place: usize) -> Step {
        Step { node, edge: self.node(node).first + place as u32 }
    }

    #[inline]
    pub(super) fn action(&self, step: Step) -> G::Action {
        self.edges.get(step.edge).action
    }

    /// The node that a step leads to, if it is there already.
    #[inline]
    pub(super) fn child(&self, step: Step) -> Option<u32> {
        self.edges.get(step.edge).child()
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
        self.states.push(state);
        self.nodes.push(Node {
            stage: Stage::Added,
            first: 0,
            count: 0,
            tried: 0,
            in_flight: 0,
            visits: 0,
            most_visits: 0,
            occurrences,
            value,
            proven,
            draws: false,
        });
        (self.nodes.len() - 1) as u32
    }

    /// Makes a node the child of the edge that a step takes.
    pub(super) fn link(&mut self, step: Step, child: u32) {
        self.edges.set_child(step.edge, child);
        self.nodes[step.node as usize].tried += 1;
    }

    /// Puts down what the evaluator says of a node.
    pub(super) fn expand(
        &mut self,
        node: u32,
        actions: &[G::Action],
        logits: &[f32],
        value: MoverValue,
    ) {
        debug_assert_eq!(actions.len(), logits.len());
        let first = self.choices.len() as u32;
        let choices = actions.iter().zip(logits);
        self.choices.extend(choices.map(|(&action, &logit)| Choice { action, logit }));
        let node = &mut self.nodes[node as usize];
        node.stage = Stage::Expanded;
        (node.first, node.count) = (first, actions.len() as u32);
        node.value = value;
    }

    /// Makes the actions of an expanded node its edges, if they are not yet. At
    /// the root they keep their order, elsewhere they are sorted by prior.
    #[inline]
    pub(super) fn open(&mut self, node: u32) {
        if self.node(node).stage == Stage::Expanded {
            self.make_edges(node);
        }
    }

    #[inline(never)]
    fn make_edges(&mut self, node: u32) {
        let choices = &mut self.choices[self.nodes[node as usize].range()];
        if node != ROOT {
            // Stable: the first of equals comes first.
            choices.sort_by(|a, b| b.logit.total_cmp(&a.logit));
        }
        let choices = choices.iter().map(|choice| (choice.action, choice.logit));
        let range = self.edges.extend(choices);
        let node = &mut self.nodes[node as usize];
        node.stage = Stage::Opened;
        node.first = range.start as u32;
    }

    /// Proves an edge of the root.
    pub(super) fn prove_root_edge(&mut self, place: usize, proven: Proven) {
        let step = self.step(ROOT, place);
        self.edges.set_proven(step.edge, proven);
    }

    pub(super) fn begin(&mut self, path: &[Step]) {
        for step in path {
            self.edges.begin(step.edge);
            self.nodes[step.node as usize].in_flight += 1;
        }
    }

    /// Takes the result at the end of a walk up to the root: the value of
    /// `leaf`, or what is proven of it.
    pub(super) fn back_up(&mut self, path: &[Step], leaf: u32) {
        let mut value = self.node(leaf).value;
        let mut proven = self.node(leaf).proven;
        for &step in path.iter().rev() {
            value = value.for_opponent();
            if let Some(proven) = proven {
                self.edges.set_proven(step.edge, proven.before_move());
                value = proven.value().for_opponent();
            }
            let visits = self.edges.finish(step.edge, value);
            let node = &mut self.nodes[step.node as usize];
            node.in_flight -= 1;
            node.visits += 1;
            node.most_visits = node.most_visits.max(visits);
            if proven.is_some() {
                self.prove(step.node);
            }
            // Another walk may have proven it while this one waited.
            let node = self.node(step.node);
            proven = node.proven;
            if let Some(proven) = proven {
                value = proven.value();
            } else if node.draws && value < MoverValue::DRAW {
                // The walk tried something else, but nobody has to play it.
                value = MoverValue::DRAW;
            }
        }
    }

    /// Looks whether the edges of an opened node prove its result, and keeps
    /// it.
    fn prove(&mut self, node: u32) {
        let edges = self.edges(node).rest;
        let proven = edges.iter().filter_map(|edge| edge.proven);
        let Some(best) = proven.max_by_key(|proven| proven.preference()) else { return };
        let wins = matches!(best, Proven::Win(_));
        let decided = wins || edges.iter().all(|edge| edge.proven.is_some());
        let node = &mut self.nodes[node as usize];
        node.draws |= matches!(best, Proven::Draw(_));
        if decided {
            node.proven = Some(best);
        }
    }
}
