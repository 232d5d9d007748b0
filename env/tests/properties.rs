//! What holds of every position, whatever the rules.

mod fast;
mod reference;

use cyvasse_env::{
    ACTION_COUNT, PLANES, Position, Rules, Square, encode, mirror_index, mirror_planes, perft,
    perft_by_playing,
};
use fast::{fast, fast_variant, legal_actions, sorted_actions};
use rand::RngExt;
use rand::seq::IndexedRandom;
use reference::board::everywhere;
use reference::generate::{
    Random, choose_action, random, random_position, random_rules_text, random_start,
};
use reference::{RefRules, Reference, VARIANTS, variant_text};
use std::collections::HashMap;
use std::rc::Rc;

/// How many random rules files are tried.
const RANDOM_RULES: u64 = 60;

/// Playouts under all kinds of rules; `check` sees the positions of each in
/// order.
fn for_playouts(seed: u64, of_each: usize, mut check: impl FnMut(&[Reference], &Rules)) {
    let mut random = random(seed);
    let mut texts: Vec<String> = VARIANTS.iter().map(|name| variant_text(name)).collect();
    texts.extend((0..RANDOM_RULES).map(|_| random_rules_text(&mut random)));
    for text in texts {
        let rules = Rules::from_toml(&text).unwrap();
        let slow_rules = Rc::new(RefRules::parse(&text).unwrap());
        for _ in 0..of_each {
            check(&playout(&mut random, &slow_rules), &rules);
        }
    }
}

fn playout(random: &mut Random, rules: &Rc<RefRules>) -> Vec<Reference> {
    let mut position = match random.random_ratio(1, 4) {
        true => random_start(random, rules),
        false => random_position(random, rules),
    };
    let mut positions = vec![position.clone()];
    for _ in 0..40 {
        let actions = position.actions();
        if actions.is_empty() {
            break;
        }
        position = position.apply(&choose_action(random, &position, &actions));
        positions.push(position.clone());
    }
    positions
}

// Hashes.

#[test]
fn the_hash_kept_while_playing_is_the_hash_from_scratch() {
    let mut random = random(11);
    for_playouts(11, 5, |positions, rules| {
        let mut position = fast(&positions[0].text(), rules);
        for _ in 0..60 {
            assert_eq!(position.hash(), position.computed_hash(), "{position}");
            let read = fast(&position.to_string(), rules);
            assert_eq!(read.hash(), position.hash(), "{position}");
            let actions = legal_actions(&position, rules);
            let Some(&action) = actions.choose(&mut random) else { break };
            position = position.play(action, rules).unwrap();
        }
    });
}

#[test]
fn hashes_are_equal_exactly_where_the_positions_are_the_same() {
    for_playouts(12, 5, |positions, rules| {
        let mut hashes: HashMap<u64, String> = HashMap::new();
        let mut identities: HashMap<String, u64> = HashMap::new();
        for slow in positions {
            let hash = fast(&slow.text(), rules).hash();
            let identity = slow.identity();
            assert_eq!(*hashes.entry(hash).or_insert(identity.clone()), identity);
            assert_eq!(*identities.entry(identity).or_insert(hash), hash, "{}", slow.text());
        }
    });
}

#[test]
fn the_counters_are_no_part_of_the_hash() {
    for_playouts(19, 1, |positions, rules| {
        let position = fast(&positions[0].text(), rules);
        let later = Reference { quiet_plies: 7, plies: 65535, ..positions[0].clone() };
        let later = fast(&later.text(), rules);
        assert_eq!(position.hash(), later.hash(), "{position}");
        assert_ne!(position, later, "{position}");
    });
}

#[test]
fn counters_stay_at_the_largest_number_that_a_text_can_hold() {
    let rules = fast_variant("iron-throne");
    let text = "8/8/8/8/8/8/8/8 4k3/8/8/8/8/8/8/4K3 w - 65535 65535";
    let after = fast(text, &rules).play(fast::action("e1e2"), &rules).unwrap();
    assert_eq!(after.to_string(), "8/8/8/8/8/8/8/8 4k3/8/8/8/8/8/4K3/8 b - 65535 65535");
}

// Symmetry.

#[test]
fn what_is_legal_is_legal_in_the_mirror() {
    for_playouts(13, 2, |positions, rules| {
        for slow in positions {
            let position = fast(&slow.text(), rules);
            let mirror = position.mirror();
            assert_eq!(mirror.to_string(), slow.mirrored().text());
            assert_eq!(mirror.mirror(), position);
            assert_eq!(position.swap_sides().to_string(), slow.with_sides_exchanged().text());
            assert_eq!(position.swap_sides().hash(), position.swap_sides().computed_hash());
            assert_eq!(mirror.hash(), mirror.computed_hash(), "{mirror}");
            let mut mirrored: Vec<String> = Vec::new();
            for action in legal_actions(&position, rules) {
                let image = action.mirror();
                let index = action.index(position.turn());
                assert_eq!(image.mirror(), action);
                assert_eq!(mirror_index(index), image.index(position.turn()), "{action}");
                assert_eq!(mirror_index(mirror_index(index)), index, "{action}");
                mirrored.push(image.to_string());
            }
            mirrored.sort_unstable();
            assert_eq!(mirrored, sorted_actions(&mirror, rules), "{position}");
        }
    });
}

#[test]
fn an_action_and_its_mirror_lead_to_mirrored_positions() {
    for_playouts(14, 1, |positions, rules| {
        for slow in positions.iter().take(8) {
            let position = fast(&slow.text(), rules);
            for action in legal_actions(&position, rules) {
                let after = position.play(action, rules).unwrap();
                let image = position.mirror().play(action.mirror(), rules).unwrap();
                assert_eq!(image, after.mirror(), "{action} in {position}");
            }
        }
    });
}

#[test]
fn the_mirror_of_numbers_is_a_permutation() {
    let mut images: Vec<usize> = (0..ACTION_COUNT).map(mirror_index).collect();
    images.sort_unstable();
    assert!(images.into_iter().eq(0..ACTION_COUNT));
}

#[test]
fn the_game_tree_is_the_same_in_the_mirror_and_for_the_other_side() {
    for_playouts(15, 1, |positions, rules| {
        for slow in positions.iter().step_by(10) {
            let position = fast(&slow.text(), rules);
            let count = perft(&position, rules, 2);
            assert_eq!(perft(&position.mirror(), rules, 2), count, "{position}");
            let exchanged = fast(&slow.with_sides_exchanged().text(), rules);
            assert_eq!(perft(&exchanged, rules, 2), count, "{position}");
            assert_eq!(perft_by_playing(&exchanged, rules, 2), count, "{position}");
        }
    });
}

#[test]
fn an_action_has_one_number_for_both_sides_in_their_own_view() {
    for_playouts(16, 2, |positions, rules| {
        for slow in positions.iter().step_by(4) {
            let numbers = |text: &str| {
                let position = fast(text, rules);
                let actions = legal_actions(&position, rules);
                let mut numbers: Vec<usize> =
                    actions.iter().map(|action| action.index(position.turn())).collect();
                numbers.sort_unstable();
                numbers
            };
            let exchanged = slow.with_sides_exchanged().text();
            assert_eq!(numbers(&slow.text()), numbers(&exchanged), "{exchanged}");
        }
    });
}

// Planes.

fn planes(position: &Position, repetitions: usize, rules: &Rules) -> Vec<f32> {
    // Filled with nonsense first: every value has to be written.
    let mut planes = vec![f32::NAN; Square::COUNT * PLANES];
    encode(position, repetitions, rules, &mut planes);
    planes
}

/// The planes of the mirrored board: the squares change places.
fn mirrored(planes: &[f32]) -> Vec<f32> {
    Square::all()
        .flat_map(|square| {
            let start = square.mirror().index() * PLANES;
            planes[start..start + PLANES].to_vec()
        })
        .collect()
}

#[test]
fn planes_are_within_bounds_and_mirrored_for_mirrored_positions() {
    for_playouts(17, 1, |positions, rules| {
        for (slow, repetitions) in positions.iter().step_by(4).zip((1..5).cycle()) {
            let position = fast(&slow.text(), rules);
            let seen = planes(&position, repetitions, rules);
            assert!(seen.iter().all(|value| (0.0..=1.0).contains(value)), "{position}");
            assert_eq!(planes(&position.mirror(), repetitions, rules), mirrored(&seen));
            let mut turned = seen.clone();
            mirror_planes(&mut turned);
            assert_eq!(turned, mirrored(&seen));
        }
    });
}

/// The planes as their table describes them, read off the reference.
fn planes_by_the_table(slow: &Reference, occurrences: usize) -> Vec<f32> {
    let seat = if slow.turn == 'b' { 1.0 } else { 0.0 };
    let own = if slow.turn == 'w' { slow.clone() } else { slow.with_sides_exchanged() };
    let share = |number: u32, limit: u32| (number as f32 / limit as f32).min(1.0);
    let uniform = [
        share(slow.quiet_plies, slow.rules.no_progress_plies),
        share(slow.plies, slow.rules.max_plies),
        share(occurrences as u32 - 1, slow.rules.repetitions as u32 - 1),
        seat,
        1.0,
    ];
    let mut planes = Vec::new();
    for at in everywhere() {
        let (unit, tile) = (own.units.on(at), own.tiles.on(at));
        let frozen = own.frozen.contains(&at);
        let mut marks: Vec<bool> = "RSXLHECTDKrsxlhectdk".chars().map(|of| of == unit).collect();
        marks.extend("mwfcr".chars().map(|of| of == tile));
        marks.extend([frozen && unit.is_uppercase(), frozen && unit.is_lowercase()]);
        planes.extend(marks.into_iter().map(|mark| if mark { 1.0 } else { 0.0 }));
        planes.extend(uniform);
    }
    planes
}

#[test]
fn planes_are_what_their_table_says() {
    for_playouts(20, 2, |positions, rules| {
        for (slow, occurrences) in positions.iter().step_by(3).zip((1..5).cycle()) {
            let position = fast(&slow.text(), rules);
            let expected = planes_by_the_table(slow, occurrences);
            assert_eq!(planes(&position, occurrences, rules), expected, "{position}");
        }
    });
}
