//! The lines of play that a search looks at: for people who watch it think and
//! for programs that show them.

use std::cmp::Ordering;

use super::Search;
use super::edges::EdgeView;
use super::game::Game;
use super::tree::ROOT;
use crate::value::{MoverValue, Proven};

/// An action of the root, with what the search knows of it so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<A> {
    /// The action and what is expected after it, best play by both sides as far
    /// as it was looked at; never empty.
    pub actions: Vec<A>,
    /// Finished simulations of the action, kept ones included.
    pub visits: u32,
    /// The evaluator's share for it, 0 to 1.
    pub prior: f32,
    /// Its mean value for the side to move at the root, exact where it is proven;
    /// `None` before its first finished simulation.
    pub value: Option<MoverValue>,
    /// What is proven of it for the side to move at the root.
    pub proven: Option<Proven>,
}

impl<G: Game> Search<G> {
    /// Whether the root has its evaluation, or needs none: only then is there a
    /// [`Search::result`].
    #[must_use]
    pub fn has_result(&self) -> bool {
        self.tree.node(ROOT).opened()
    }

    /// Finished simulations of the root, kept ones included.
    #[must_use]
    pub fn visits(&self) -> u32 {
        self.tree.node(ROOT).visits
    }

    /// Finished and begun simulations of this search, kept ones aside.
    #[must_use]
    pub fn begun(&self) -> u32 {
        self.begun
    }

    /// The best lines, best first, none longer than `longest` actions; none before
    /// the search has a result. Proven wins come before all others and proven
    /// losses after them, then the order is by visits.
    #[must_use]
    pub fn lines(&self, most: usize, longest: usize) -> Vec<Line<G::Action>> {
        if !self.has_result() {
            return Vec::new();
        }
        let edges = self.tree.edges(ROOT);
        let mut places: Vec<usize> = (0..edges.len()).collect();
        places.sort_by(|&a, &b| order(&edges, a, b));
        places.truncate(most);
        let line = |place: usize| {
            let edge = &edges.rest[place];
            let mut actions = vec![edge.action];
            self.follow(edge.child(), longest, &mut actions);
            let value = Some(edges.values[place]).filter(|value| !value.is_nan());
            Line {
                actions,
                visits: edge.visits,
                prior: edges.priors[place],
                value: value.map(MoverValue::new),
                proven: edge.proven,
            }
        };
        places.into_iter().map(line).collect()
    }

    /// Adds the best actions from a node on, as far as they were tried.
    fn follow(&self, mut node: Option<u32>, longest: usize, actions: &mut Vec<G::Action>) {
        while let Some(at) = node.filter(|&at| self.tree.node(at).opened()) {
            if actions.len() >= longest {
                return;
            }
            let edges = self.tree.edges(at);
            let tried = (0..edges.len()).filter(|&place| {
                edges.rest[place].visits > 0 || edges.rest[place].proven.is_some()
            });
            let Some(best) = tried.min_by(|&a, &b| order(&edges, a, b)) else { return };
            actions.push(edges.rest[best].action);
            node = edges.rest[best].child();
        }
    }
}

/// The order of the edges of a node for the side to move there, the best first.
fn order<A>(edges: &EdgeView<'_, A>, a: usize, b: usize) -> Ordering {
    let key = |place: usize| {
        let decided = match edges.rest[place].proven {
            Some(Proven::Draw(_)) | None => 0,
            Some(proven) => proven.preference(),
        };
        (decided, edges.rest[place].visits)
    };
    let by_prior = || edges.priors[b].total_cmp(&edges.priors[a]);
    key(b).cmp(&key(a)).then_with(by_prior)
}
