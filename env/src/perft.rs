//! Counting action sequences: the usual check of a move generator.

use crate::action::Action;
use crate::position::Position;
use crate::rules::Rules;

/// The number of action sequences of exactly `depth` plies. A position whose
/// game has ended has none; the draw rules are not applied. The actions of
/// the last ply are counted, not played.
#[must_use]
pub fn perft(position: &Position, rules: &Rules, depth: u32) -> u64 {
    sum(position, rules, &mut lists(depth), true)
}

/// The same number as [`perft`], found by playing every action.
#[must_use]
pub fn perft_by_playing(position: &Position, rules: &Rules, depth: u32) -> u64 {
    sum(position, rules, &mut lists(depth), false)
}

/// The actions of a position in ascending text order, each with the number of
/// sequences of `depth` plies that begin with it.
#[must_use]
pub fn perft_divide(position: &Position, rules: &Rules, depth: u32) -> Vec<(Action, u64)> {
    let mut actions = Vec::new();
    if depth > 0 {
        position.legal_actions(rules, &mut actions);
    }
    actions.sort_by_cached_key(Action::to_string);
    let count = |action: Action| {
        let mut next = position.clone();
        next.play_unchecked(action);
        (action, perft(&next, rules, depth - 1))
    };
    actions.into_iter().map(count).collect()
}

/// One list of actions a ply, so that nothing is allocated on the way.
fn lists(depth: u32) -> Vec<Vec<Action>> {
    (0..depth).map(|_| Vec::with_capacity(128)).collect()
}

fn sum(position: &Position, rules: &Rules, lists: &mut [Vec<Action>], bulk: bool) -> u64 {
    let Some((actions, rest)) = lists.split_first_mut() else { return 1 };
    if bulk && rest.is_empty() {
        return position.count_actions(rules) as u64;
    }
    position.legal_actions(rules, actions);
    let mut total = 0;
    for &action in actions.iter() {
        let mut next = position.clone();
        next.play_unchecked(action);
        total += sum(&next, rules, rest, bulk);
    }
    total
}
