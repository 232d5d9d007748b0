//! Tree search guided by an evaluator, one tree a search.
//!
//! A search does not evaluate anything itself. [`Search::gather`] walks down
//! to a leaf that needs judging, the driver collects such leaves into a batch,
//! an [`Evaluator`](crate::Evaluator) judges them, and [`Search::apply`] takes
//! the answers. One driver can so serve many games with a leaf each
//! (self-play) or one game with many leaves in flight (analysis): leaves in
//! flight count as visits without a value, so that the next walk goes
//! elsewhere (Liu et al. 2020, "Watch the unobserved").
//!
//! Results by the rules are exact: they propagate with their distance, a
//! state in which the king can be taken is won without an evaluation, and a
//! search whose root is decided ends early.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod edges;
mod game;
mod gumbel;
mod lines;
mod puct;
mod result;
mod settings;
mod tree;

pub use game::{Cyvasse, Game, KeyedGame};
pub use lines::Line;
pub use result::SearchResult;
pub(crate) use settings::require;
pub use settings::{
    GumbelSettings, MOST_SIMULATIONS, PolicySettings, PuctSettings, SearchSettings, SettingsError,
};

use crate::evaluator::{Evaluation, Request};
use crate::value::{MoverValue, Proven};
use tree::{ROOT, Step, Tree};

/// A search from one state of a game.
pub struct Search<G: Game> {
    game: G,
    settings: SearchSettings,
    tree: Tree<G>,
    /// Scratch room for the tree that is kept.
    spare_tree: Tree<G>,
    rng: ChaCha8Rng,
    /// Repetition keys of the states before the root, oldest first.
    earlier: Vec<u64>,
    /// Present once the root is expanded, if the policy is Gumbel.
    gumbel_root: Option<gumbel::Root>,
    /// Simulations that the root had before this search.
    kept: u32,
    /// Simulations of this search, finished and under way.
    begun: u32,
    /// Plies that the simulations of this search walked down, in sum.
    walked: u64,
    evaluations: u32,
    /// Leaves that wait for their evaluation, oldest first.
    in_flight: VecDeque<Leaf<G::Action>>,
    /// Leaves to be used again, so that a walk allocates nothing.
    spare: Vec<Leaf<G::Action>>,
    /// Scratch room for a choice of action.
    scratch: Vec<f32>,
    /// Whether the tree reached its bound.
    full: bool,
}

/// A node that waits for its evaluation, and the way to it.
struct Leaf<A> {
    path: Vec<Step>,
    node: u32,
    actions: Vec<A>,
}

/// What [`Search::gather`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gathered {
    /// A leaf that needs an evaluation: now the newest one in flight.
    Leaf,
    /// Nothing to do before the leaves in flight are evaluated.
    Waiting,
    /// The search is over.
    Done,
}

/// Where a walk down the tree ended.
enum End {
    /// At a leaf that needs an evaluation.
    Leaf,
    /// At a node whose result is proven.
    Proven,
    /// At a node that is in flight already.
    Collision,
    /// At the bound of the tree.
    Full,
}

impl<G: Game> Search<G> {
    /// A search from `state`, whose earlier states have the repetition keys
    /// `earlier` (oldest first). Same arguments and answers, same result.
    #[must_use]
    pub fn new(
        game: G,
        settings: SearchSettings,
        state: G::State,
        earlier: &[u64],
        seed: u64,
    ) -> Search<G> {
        let mut search = Search {
            game,
            settings,
            tree: Tree::new(),
            spare_tree: Tree::new(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            earlier: Vec::new(),
            gumbel_root: None,
            kept: 0,
            begun: 0,
            walked: 0,
            evaluations: 0,
            in_flight: VecDeque::new(),
            spare: Vec::new(),
            scratch: Vec::new(),
            full: false,
        };
        search.restart(state, earlier, seed);
        search
    }

    /// Searches by other settings from the next start on.
    pub fn set_settings(&mut self, settings: &SearchSettings) {
        self.settings.clone_from(settings);
    }

    /// Starts over from another state, with the memory of this search.
    pub fn restart(&mut self, state: G::State, earlier: &[u64], seed: u64) {
        self.tree.clear();
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.earlier.clear();
        self.earlier.extend_from_slice(earlier);
        self.gumbel_root = None;
        (self.kept, self.begun, self.evaluations, self.full) = (0, 0, 0, false);
        self.walked = 0;
        self.spare.extend(self.in_flight.drain(..));
        let mut leaf = self.take_leaf();
        leaf.node = self.add_node(&leaf.path, state, &mut leaf.actions);
        if self.tree.node(ROOT).proven.is_none() {
            self.in_flight.push_back(leaf);
        } else {
            self.list_proven_root(&leaf.actions);
            self.spare.push(leaf);
        }
    }

    /// Starts over from the state after an action of the root, and keeps what is
    /// known of it. What is kept counts towards the simulations, but at least
    /// half of them are new. Without anything worth keeping it is
    /// [`Search::restart`], whose arguments follow the action.
    pub fn advance(&mut self, action: G::Action, state: G::State, earlier: &[u64], seed: u64) {
        let child = self.in_flight.is_empty().then(|| self.child_of_root(action)).flatten();
        let Some(child) = child.filter(|&child| {
            let child = self.tree.node(child);
            child.opened() && child.proven.is_none()
        }) else {
            return self.restart(state, earlier, seed);
        };
        self.tree.keep(child, &mut self.spare_tree);
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.earlier.clear();
        self.earlier.extend_from_slice(earlier);
        (self.begun, self.evaluations, self.full) = (0, 0, false);
        self.walked = 0;
        self.kept = self.tree.node(ROOT).visits;
        self.prepare_root();
    }

    fn child_of_root(&self, action: G::Action) -> Option<u32> {
        if !self.tree.node(ROOT).opened() {
            return None;
        }
        let edges = self.tree.edges(ROOT).rest;
        edges.iter().find(|edge| edge.action == action)?.child()
    }

    /// The simulations of this search, those that the root had aside.
    fn budget(&self) -> u32 {
        let simulations = self.settings.simulations;
        simulations.saturating_sub(self.kept).max(simulations.div_ceil(2))
    }

    /// Walks down to the next leaf that needs an evaluation. Walks that end
    /// where the rules decide are finished on the way.
    pub fn gather(&mut self) -> Gathered {
        if !self.tree.node(ROOT).expanded() {
            // The root waits for its own evaluation, from `restart` on.
            return Gathered::Waiting;
        }
        loop {
            if self.tree.node(ROOT).proven.is_some() || self.begun >= self.budget() || self.full {
                let waiting = !self.in_flight.is_empty();
                return if waiting { Gathered::Waiting } else { Gathered::Done };
            }
            let mut leaf = self.take_leaf();
            match self.walk(&mut leaf) {
                End::Leaf => {
                    self.begin(&leaf);
                    self.in_flight.push_back(leaf);
                    return Gathered::Leaf;
                }
                End::Proven => {
                    self.begin(&leaf);
                    self.tree.back_up(&leaf.path, leaf.node);
                }
                End::Full => self.full = true,
                End::Collision => {
                    self.spare.push(leaf);
                    return Gathered::Waiting;
                }
            }
            self.spare.push(leaf);
        }
    }

    /// The leaves in flight, oldest first, as questions to an evaluator.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = Request<'_, G>> {
        self.in_flight.iter().map(|leaf| {
            let node = self.tree.node(leaf.node);
            Request {
                state: self.tree.state(leaf.node),
                actions: &leaf.actions,
                occurrences: node.occurrences as usize,
            }
        })
    }

    /// Takes the answer to the oldest leaf in flight.
    ///
    /// # Panics
    /// When no leaf is in flight.
    pub fn apply(&mut self, evaluation: &Evaluation) {
        let leaf = self.in_flight.pop_front().expect("a leaf in flight");
        self.evaluations += 1;
        self.tree.expand(leaf.node, &leaf.actions, &evaluation.logits, evaluation.wdl.value());
        if leaf.node == ROOT {
            self.prepare_root();
        }
        self.tree.back_up(&leaf.path, leaf.node);
        self.spare.push(leaf);
    }

    fn take_leaf(&mut self) -> Leaf<G::Action> {
        let mut leaf = self.spare.pop().unwrap_or_else(|| Leaf {
            path: Vec::new(),
            node: ROOT,
            actions: Vec::new(),
        });
        leaf.path.clear();
        leaf
    }

    fn begin(&mut self, leaf: &Leaf<G::Action>) {
        self.begun += 1;
        self.walked += leaf.path.len() as u64;
        self.tree.begin(&leaf.path);
    }

    fn walk(&mut self, leaf: &mut Leaf<G::Action>) -> End {
        leaf.node = ROOT;
        loop {
            self.tree.open(leaf.node);
            let place = self.select(leaf.node);
            let step = self.tree.step(leaf.node, place);
            leaf.path.push(step);
            let Some(child) = self.tree.child(step) else {
                return self.grow(step, leaf);
            };
            leaf.node = child;
            let child = self.tree.node(child);
            if child.proven.is_some() {
                return End::Proven;
            }
            if !child.expanded() {
                return End::Collision;
            }
        }
    }

    /// The place of the edge to walk down. Below the root it is never a proven
    /// one: a walk there would find out nothing.
    #[inline]
    fn select(&mut self, node: u32) -> usize {
        let (frontier, scratch) = (self.tree.frontier(node), &mut self.scratch);
        match (&self.settings.policy, &self.gumbel_root) {
            (PolicySettings::Gumbel(settings), Some(root)) if node == ROOT => {
                root.select(&frontier, self.begun, settings)
            }
            (PolicySettings::Gumbel(settings), _) => gumbel::select(&frontier, settings, scratch),
            (PolicySettings::Puct(settings), _) if node == ROOT => {
                puct::select(&frontier, settings, scratch, |edge| !edge.loses())
            }
            (PolicySettings::Puct(settings), _) => {
                puct::select(&frontier, settings, scratch, |edge| edge.proven.is_none())
            }
        }
    }

    /// Adds the node that a step leads to.
    fn grow(&mut self, step: Step, leaf: &mut Leaf<G::Action>) -> End {
        if self.tree.len() >= self.settings.max_nodes as usize {
            return End::Full;
        }
        let mut state = self.tree.state(step.node).clone();
        self.game.play(&mut state, self.tree.action(step));
        leaf.node = self.add_node(&leaf.path, state, &mut leaf.actions);
        self.tree.link(step, leaf.node);
        if self.tree.node(leaf.node).proven.is_some() { End::Proven } else { End::Leaf }
    }

    /// Adds a node at the end of a path and lists its actions.
    fn add_node(&mut self, path: &[Step], state: G::State, actions: &mut Vec<G::Action>) -> u32 {
        actions.clear();
        let occurrences = self.occurrences(path, &state);
        let outcome = self.game.outcome(&state, occurrences as usize);
        if outcome.is_none() {
            self.game.legal_actions(&state, actions);
        }
        let wins = actions.iter().any(|&action| self.game.wins_at_once(&state, action));
        self.tree.add_node(&self.game, state, occurrences, outcome, wins)
    }

    /// How often a state at the end of a path has occurred, now included.
    fn occurrences(&self, path: &[Step], state: &G::State) -> u32 {
        let reversible = self.game.reversible_plies(state);
        let key = self.game.repetition_key(state);
        let in_tree =
            path.iter().rev().map(|step| self.game.repetition_key(self.tree.state(step.node)));
        let in_history = self.earlier.iter().rev().copied();
        let same = in_tree.chain(in_history).take(reversible).filter(|&earlier| earlier == key);
        1 + same.count() as u32
    }

    fn prepare_root(&mut self) {
        self.tree.open(ROOT);
        let budget = self.budget();
        match &self.settings.policy {
            PolicySettings::Gumbel(settings) => {
                let edges = self.tree.edges(ROOT);
                self.gumbel_root = Some(gumbel::Root::new(&edges, budget, settings, &mut self.rng));
            }
            PolicySettings::Puct(settings) => {
                puct::add_noise(self.tree.root_priors_mut(), settings, &mut self.rng);
            }
        }
    }

    /// Gives a root that is won at once its edges, so that the winning ones
    /// can be named.
    fn list_proven_root(&mut self, actions: &[G::Action]) {
        self.tree.expand(ROOT, actions, &vec![0.0; actions.len()], MoverValue::WIN);
        self.tree.open(ROOT);
        for (place, &action) in actions.iter().enumerate() {
            if self.game.wins_at_once(self.tree.state(ROOT), action) {
                self.tree.prove_root_edge(place, Proven::Win(1));
            }
        }
    }
}

/// A number from 0 (included) to 1 (excluded), with 24 random bits.
fn unit_interval(rng: &mut impl Rng) -> f32 {
    (rng.next_u32() >> 8) as f32 / (1 << 24) as f32
}
