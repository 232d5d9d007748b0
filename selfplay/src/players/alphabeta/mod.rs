//! Alpha-beta: a player that knows the game by hand-written rules, as a
//! yardstick for those that learn it.
//!
//! Iterative deepening over a principal variation search (Marsland and
//! Campbell 1982) with a transposition table, killers and history (Schaeffer
//! 1989) for the order of actions, and a quiescence search of captures at the
//! horizon, where a side whose king is attacked looks at all its actions.
//! Nothing is cut off that could change the value at depths up to
//! [`EXACT_DEPTH`]: there the value is plain minimax's. Beyond, late quiet
//! actions are searched less deeply at first ("late move reductions").

use std::sync::Arc;

use cyvasse_env::{Action, Game, Position, Rules};

mod evaluate;
mod limit;
mod order;
mod table;

pub use evaluate::{evaluate, unit_value};
pub use limit::Limit;

use super::{Player, PlayerError, Turn};
use limit::Budget;
use order::{Order, bring_best, is_noisy};
use table::{Bound, Table};

/// The value of a won game, less the plies to the end of it.
pub const WIN: i32 = 1_000_000;

/// Values beyond this, either way, are wins and losses.
pub const SURE: i32 = WIN - 10_000;

/// The deepest search.
pub const MOST_DEPTH: u32 = 60;

/// The greatest depth at which the value is that of plain minimax.
pub const EXACT_DEPTH: u32 = 3;

/// Plies of captures that are looked at beyond the horizon.
pub const QUIESCENCE_PLIES: u32 = 6;

/// The longest line: depth and quiescence.
const MOST_PLIES: usize = (MOST_DEPTH + QUIESCENCE_PLIES + 2) as usize;

const INFINITE: i32 = WIN + 1;

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thought {
    /// The action to play.
    pub best: Action,
    /// The value for the side to move, in points or near [`WIN`].
    pub value: i32,
    /// The depth of the last whole iteration.
    pub depth: u32,
    /// Positions looked at.
    pub nodes: u64,
}

/// The alpha-beta player.
#[derive(Debug)]
pub struct AlphaBeta {
    rules: Arc<Rules>,
    limit: Limit,
    table: Table,
    order: Order,
    budget: Budget,
    /// Scratch room of each ply.
    lines: Vec<Line>,
    /// The actions of whoever is not to move.
    replies: Vec<Action>,
    /// Hashes from the last capture before the game's position to the node
    /// that is being searched.
    path: Vec<u64>,
    /// How many of them belong to the game.
    played: usize,
}

#[derive(Debug, Default)]
struct Line {
    actions: Vec<Action>,
    scores: Vec<i32>,
}

impl Player for AlphaBeta {
    fn choose(&mut self, turns: &[Turn<'_>]) -> Result<Vec<Action>, PlayerError> {
        Ok(turns.iter().map(|turn| self.think(turn.game).best).collect())
    }
}

impl AlphaBeta {
    /// A player under these rules.
    #[must_use]
    pub fn new(rules: Arc<Rules>, limit: Limit) -> AlphaBeta {
        AlphaBeta {
            rules,
            limit,
            table: Table::new(),
            order: Order::new(),
            budget: Budget::new(limit),
            lines: (0..MOST_PLIES).map(|_| Line::default()).collect(),
            replies: Vec::new(),
            path: Vec::new(),
            played: 0,
        }
    }

    /// Thinks about a game that goes on.
    pub fn think(&mut self, game: &Game) -> Thought {
        self.table.start();
        self.order.start();
        self.budget = Budget::new(self.limit);
        self.path.clear();
        self.path.extend_from_slice(game.earlier());
        self.played = self.path.len();
        let position = game.position();
        let mut actions = Vec::new();
        game.legal_actions(&mut actions);
        let mut thought = Thought { best: actions[0], value: 0, depth: 0, nodes: 0 };
        if let Some(&win) = actions.iter().find(|&&action| position.captures_king(action)) {
            return Thought { best: win, value: WIN - 1, depth: 1, nodes: 1 };
        }
        for depth in 1..=self.budget.depth() {
            let found = self.iterate(position, &mut actions, depth);
            if let Some((best, value)) = found {
                (thought.best, thought.value) = (best, value);
            }
            if self.budget.spent {
                break;
            }
            thought.depth = depth;
            let decided = thought.value.abs() > SURE && WIN - thought.value.abs() <= depth as i32;
            if decided || (actions.len() == 1 && !matches!(self.limit, Limit::Depth(_))) {
                break;
            }
        }
        thought.nodes = self.budget.nodes;
        thought
    }

    /// Searches the root to a depth; brings the best action to the front of the
    /// list. `None` when the budget did not last for one action. Of a search
    /// that was cut short the best so far counts: its first action is the best
    /// of the iteration before.
    fn iterate(
        &mut self,
        root: &Position,
        actions: &mut [Action],
        depth: u32,
    ) -> Option<(Action, i32)> {
        let mut best = None;
        let mut alpha = -INFINITE;
        for place in 0..actions.len() {
            let child = self.enter(root, actions[place]);
            let late = place >= LATE && !is_noisy(root, actions[place]);
            let value = self.child_value(&child, depth, 0, (alpha, INFINITE), place > 0, late);
            self.path.pop();
            if self.budget.spent {
                break;
            }
            if value > alpha {
                (alpha, best) = (value, Some((actions[place], value)));
                actions[..=place].rotate_right(1);
            }
        }
        best
    }

    /// Plays an action on a copy, and notes where it came from.
    fn enter(&mut self, position: &Position, action: Action) -> Position {
        let mut child = position.clone();
        child.play_unchecked(action);
        self.path.push(position.hash());
        child
    }

    /// The value of a child for the side that moved there, searched so that it
    /// is right within the window: actions after the first one are only asked
    /// whether they are better, and late ones less deeply at first.
    fn child_value(
        &mut self,
        child: &Position,
        depth: u32,
        ply: usize,
        (alpha, beta): (i32, i32),
        doubtful: bool,
        late: bool,
    ) -> i32 {
        if doubtful {
            if late && depth > EXACT_DEPTH {
                let reduced = -self.search(child, depth - 2, ply + 1, -alpha - 1, -alpha);
                if reduced <= alpha || self.budget.spent {
                    return reduced;
                }
            }
            let value = -self.search(child, depth - 1, ply + 1, -alpha - 1, -alpha);
            if value <= alpha || value >= beta || self.budget.spent {
                return value;
            }
        }
        -self.search(child, depth - 1, ply + 1, -beta, -alpha)
    }

    /// The value of a position for the side to move: right inside the window,
    /// a bound outside it.
    fn search(
        &mut self,
        position: &Position,
        depth: u32,
        ply: usize,
        mut alpha: i32,
        beta: i32,
    ) -> i32 {
        if depth == 0 {
            return self.quiesce(position, 0, ply, alpha, beta);
        }
        if self.budget.count() {
            return 0;
        }
        if self.is_drawn(position) {
            return 0;
        }
        let key = self.key(position, depth);
        let known = self.table.get(key);
        if let Some(entry) = known.filter(|entry| u32::from(entry.depth) == depth) {
            let value = from_here(entry.value, ply);
            match entry.bound {
                Bound::Exact => return value,
                Bound::AtLeast if value >= beta => return value,
                Bound::AtMost if value <= alpha => return value,
                _ => {}
            }
        }
        let mut line = std::mem::take(&mut self.lines[ply]);
        position.legal_actions(&self.rules, &mut line.actions);
        let value = if line.actions.iter().any(|&action| position.captures_king(action)) {
            WIN - 1 - ply as i32
        } else {
            let first = known.map(|entry| entry.best);
            self.order.score(position, &line.actions, first, ply, &mut line.scores);
            let window = alpha;
            let (value, best) = self.best_of(position, depth, ply, (&mut alpha, beta), &mut line);
            if !self.budget.spent {
                let bound = match value {
                    _ if value >= beta => Bound::AtLeast,
                    _ if value > window => Bound::Exact,
                    _ => Bound::AtMost,
                };
                self.table.put(key, depth, bound, from_there(value, ply), best);
            }
            value
        };
        self.lines[ply] = line;
        value
    }

    /// The best of the actions in `line`, with its value.
    fn best_of(
        &mut self,
        position: &Position,
        depth: u32,
        ply: usize,
        (alpha, beta): (&mut i32, i32),
        line: &mut Line,
    ) -> (i32, Action) {
        let mut best = (-INFINITE, line.actions[0]);
        for place in 0..line.actions.len() {
            bring_best(&mut line.actions, &mut line.scores, place);
            let action = line.actions[place];
            let quiet = !is_noisy(position, action);
            let child = self.enter(position, action);
            let late = quiet && place >= LATE;
            let value = self.child_value(&child, depth, ply, (*alpha, beta), place > 0, late);
            self.path.pop();
            if self.budget.spent {
                break;
            }
            if value > best.0 {
                best = (value, action);
            }
            *alpha = (*alpha).max(value);
            if *alpha >= beta {
                if quiet {
                    self.order.refuted(action, ply, depth);
                }
                break;
            }
        }
        best
    }

    /// The value of a position at the horizon, when captures have been played
    /// out. Whoever has a better way than to capture need not do it, but at the
    /// horizon itself (`beyond` 0) a side whose king is attacked must find an
    /// action against that.
    fn quiesce(
        &mut self,
        position: &Position,
        beyond: u32,
        ply: usize,
        mut alpha: i32,
        beta: i32,
    ) -> i32 {
        if self.budget.count() {
            return 0;
        }
        if self.is_drawn(position) {
            return 0;
        }
        let mut line = std::mem::take(&mut self.lines[ply]);
        position.legal_actions(&self.rules, &mut line.actions);
        let value = if line.actions.iter().any(|&action| position.captures_king(action)) {
            WIN - 1 - ply as i32
        } else {
            self.play_out(position, beyond, ply, (&mut alpha, beta), &mut line)
        };
        self.lines[ply] = line;
        value
    }

    fn play_out(
        &mut self,
        position: &Position,
        beyond: u32,
        ply: usize,
        (alpha, beta): (&mut i32, i32),
        line: &mut Line,
    ) -> i32 {
        let mut passed = position.clone();
        passed.play_unchecked(Action::Pass);
        passed.legal_actions(&self.rules, &mut self.replies);
        let attacked = self.replies.iter().any(|&action| passed.captures_king(action));
        let mut best = -INFINITE;
        if !(attacked && beyond == 0) {
            best = evaluate(position, &line.actions, &self.replies);
            *alpha = (*alpha).max(best);
            if best >= beta || beyond >= QUIESCENCE_PLIES {
                return best;
            }
            line.actions.retain(|&action| is_noisy(position, action));
        }
        self.order.score(position, &line.actions, None, ply, &mut line.scores);
        for place in 0..line.actions.len() {
            bring_best(&mut line.actions, &mut line.scores, place);
            let child = self.enter(position, line.actions[place]);
            let value = -self.quiesce(&child, beyond + 1, ply + 1, -beta, -*alpha);
            self.path.pop();
            if self.budget.spent {
                break;
            }
            best = best.max(value);
            *alpha = (*alpha).max(best);
            if best >= beta {
                break;
            }
        }
        best
    }

    /// Whether a position is drawn by the rules, or occurs again within the
    /// search: whoever could do better would not come back.
    fn is_drawn(&self, position: &Position) -> bool {
        let reversible = usize::from(position.quiet_plies());
        let hash = position.hash();
        let in_tree = self.path.len() - self.played;
        let again = |plies: usize| {
            self.path.iter().rev().take(plies).filter(|&&earlier| earlier == hash).count()
        };
        again(reversible.min(in_tree)) > 0
            || position.outcome(&self.rules, || 1 + again(reversible)).is_some()
    }

    /// What positions share whose value at this depth is the same: their hash,
    /// and near a draw by the counters those too.
    fn key(&self, position: &Position, depth: u32) -> u64 {
        let draws = &self.rules.draws;
        let horizon = depth + QUIESCENCE_PLIES + 1;
        let near = |count: u16, most: u16| u32::from(count) + horizon >= u32::from(most);
        let quiet = near(position.quiet_plies(), draws.no_progress_plies);
        let length = near(position.plies(), draws.max_plies);
        let counter = |near: bool, count: u16| if near { u64::from(count) + 1 } else { 0 };
        let counters =
            counter(quiet, position.quiet_plies()) << 20 | counter(length, position.plies());
        position.hash() ^ counters.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// How many actions of a node are searched to the full depth at once.
const LATE: usize = 6;

/// A value whose wins are counted from the root, for wins counted from a
/// position `ply` plies later; [`from_here`] is the way back.
fn from_there(value: i32, ply: usize) -> i32 {
    match value {
        _ if value > SURE => value + ply as i32,
        _ if value < -SURE => value - ply as i32,
        _ => value,
    }
}

fn from_here(value: i32, ply: usize) -> i32 {
    match value {
        _ if value > SURE => value - ply as i32,
        _ if value < -SURE => value + ply as i32,
        _ => value,
    }
}
