//! Texts of every kind: what is read, what is refused, and nothing that breaks.

mod fast;
mod reference;

use cyvasse_env::{Action, Position, Rules};
use fast::{fast, fast_variant};
use rand::RngExt;
use rand::seq::IndexedRandom;
use reference::generate::{Random, random, random_position, random_rules_text};
use reference::{RefRules, Reference, VARIANTS, variant, variant_text, vectors};

/// A text with one to three random changes.
fn mutated(random: &mut Random, text: &str, letters: &str) -> String {
    let letters: Vec<char> = letters.chars().collect();
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..random.random_range(1..=3) {
        let at = random.random_range(0..=text.len());
        let letter = *letters.choose(random).unwrap();
        let other = random.random_range(0..=text.len());
        match random.random_range(0..6) {
            0 => text.insert(at, letter),
            1 if at < text.len() => drop(text.remove(at)),
            2 if at < text.len() && other < text.len() => text.swap(at, other),
            3 => text.truncate(if random.random_ratio(1, 4) { at } else { text.len() }),
            _ if at < text.len() => text[at] = letter,
            _ => {}
        }
    }
    text.into_iter().collect()
}

const POSITION_LETTERS: &str = "mwfcrRSXLHECTDKrsxlhectdk0123456789/- wb+.abcdefgh\u{e9}\u{2003}\t";

/// Mutants tend to be refused: changes that keep the rows' lengths are also
/// made, and some of those are legal.
fn shuffled(random: &mut Random, text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let (from, to) = (random.random_range(0..letters.len()), random.random_range(0..letters.len()));
    if letters[from].is_alphabetic() && letters[to].is_alphabetic() {
        letters.swap(from, to);
    }
    letters.into_iter().collect()
}

#[test]
fn mutated_positions_are_refused_exactly_where_the_reference_refuses_them() {
    let mut random = random(21);
    let (mut accepted, mut refused) = (0, 0);
    for name in VARIANTS {
        let (rules, slow_rules) = (fast_variant(name), variant(name));
        let mut texts: Vec<String> =
            vectors(name, "actions").into_iter().map(|line| line[0].clone()).collect();
        texts.extend((0..100).map(|_| random_position(&mut random, &slow_rules).text()));
        for text in &texts {
            for round in 0..60 {
                let mutant = match round % 3 {
                    0 => shuffled(&mut random, text),
                    _ => mutated(&mut random, text, POSITION_LETTERS),
                };
                let fast = Position::parse(&mutant, &rules);
                let slow = Reference::parse(&mutant, &slow_rules);
                assert_eq!(fast.is_ok(), slow.is_ok(), "{mutant:?}: {fast:?} but {slow:?}");
                if let Ok(position) = fast {
                    assert_eq!(position.to_string(), mutant);
                    accepted += 1;
                } else {
                    refused += 1;
                }
            }
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

#[test]
fn every_wrong_position_is_refused_with_a_reason() {
    let rules = fast_variant("iron-throne");
    let grass = "8/8/8/8/8/8/8/8";
    let kings = "4k3/8/8/8/8/8/8/4K3";
    let wrong = [
        format!("{grass} {kings} w - 0"),
        format!("{grass} {kings} w - 0 0 0"),
        format!("{grass}  {kings} w - 0 0"),
        format!(" {grass} {kings} w - 0 0"),
        format!("{grass} {kings} w - 0 0 "),
        format!("{grass} {kings} w - 0 0\n"),
        format!("{grass} {kings} W - 0 0"),
        format!("{grass} {kings} w  0 0"),
        format!("{grass} {kings} w - 65536 0"),
        format!("{grass} {kings} w - 0 65536"),
        format!("{grass} {kings} w - 0 18446744073709551616"),
        format!("{grass} {kings} w - -1 0"),
        format!("{grass} {kings} w - +1 0"),
        format!("{grass} {kings} w - 01 0"),
        format!("{grass} {kings} w e1 0 0"),
        format!("{grass} {kings} w i9 0 0"),
        format!("8/8/8/8/8/8/8 {kings} w - 0 0"),
        format!("8/8/8/8/8/8/8/8/8 {kings} w - 0 0"),
        format!("8/8/8/8/8/8/8/7 {kings} w - 0 0"),
        format!("8/8/8/8/8/8/8/9 {kings} w - 0 0"),
        format!("8/8/8/8/8/8/8/44 {kings} w - 0 0"),
        format!("8/8/8/8/8/8/8/08 {kings} w - 0 0"),
        format!("8/8/8/8/8/8/8/7R {kings} w - 0 0"),
        format!("8/8/8/8/8/8/8/4m3 {kings} w - 0 0"),
        format!("8/8/8/8/8/8/8/cc6 {kings} w - 0 0"),
        format!("{grass} 4k3/8/8/8/8/8/8/3KK3 w - 0 0"),
        format!("{grass} 4k3/4k3/8/8/8/8/8/8 w - 0 0"),
        format!("{grass} 8/8/8/8/8/8/8/3RR3 w - 0 0"),
        format!("8/8/8/8/8/8/8/4w2w {kings} w h1 0 0"),
        "8/8/8/8/8/8/8/4w2w 4k3/8/8/8/8/8/8/4K2D w h1 0 0".to_owned(),
        format!("4w3/8/8/8/8/8/8/4w3 {kings} w e8e1 0 0"),
        format!("8/8/8/8/8/8/8/4w3 {kings} w e1e1 0 0"),
        format!("8/8/8/8/8/8/8/4w3 {kings} w e1- 0 0"),
        String::new(),
    ];
    for text in wrong {
        let error = Position::parse(&text, &rules).expect_err(&text);
        assert!(!error.to_string().is_empty());
        assert!(Reference::parse(&text, &variant("iron-throne")).is_err(), "{text}");
    }
    let crowd = "8/8/8/8/8/8/8/c7 4k3/8/8/8/8/8/8/4K3 w - 0 0";
    assert!(Position::parse(crowd, &fast_variant("crowd")).is_err());
    assert!(Position::parse(crowd, &rules).is_ok());
}

#[test]
fn ruins_are_not_counted_as_fortresses() {
    let text = "rrrrrrrr/8/8/7c/c7/8/8/rrrrrrrr 4k3/8/8/8/8/8/8/4K3 w - 9 3";
    let rules = fast_variant("iron-throne");
    assert_eq!(fast(text, &rules).to_string(), text);
    let without = "r7/8/8/8/8/8/8/r7 4k3/8/8/8/8/8/8/4K3 w - 9 3";
    assert_eq!(fast(without, &fast_variant("crowd")).to_string(), without);
}

#[test]
fn mutated_actions_are_read_back_or_refused() {
    let mut random = random(22);
    let texts = ["e2e4", "e2xe4", "e2e4@e3", "a1h8", "h8xa1", "a1a2@a1", "pass"];
    for _ in 0..20_000 {
        let text = *texts.choose(&mut random).unwrap();
        let mutant = mutated(&mut random, text, "abcdefghi0123456789x@pas \u{e9}A");
        if let Ok(action) = Action::parse(&mutant) {
            assert_eq!(action.to_string(), mutant);
        }
    }
}

#[test]
fn mutated_rules_are_refused_exactly_where_the_reference_refuses_them() {
    let mut random = random(23);
    let (mut accepted, mut refused) = (0, 0);
    let mut texts: Vec<String> = VARIANTS.iter().map(|name| variant_text(name)).collect();
    texts.extend((0..20).map(|_| random_rules_text(&mut random)));
    for text in &texts {
        for _ in 0..60 {
            let mutant = mutated(&mut random, text, "0123456789=\"[]{},.-_ \nmwfcrany#");
            let fast = Rules::from_toml(&mutant);
            let slow = RefRules::parse(&mutant);
            assert_eq!(fast.is_ok(), slow.is_ok(), "{mutant}\n{fast:?} but {slow:?}");
            match fast.is_ok() {
                true => accepted += 1,
                false => refused += 1,
            }
        }
    }
    assert!(accepted > 50 && refused > 500, "{accepted} accepted, {refused} refused");
}

/// The numbers of the default rules, set one by one to values at and beyond
/// their bounds.
#[test]
fn rules_at_their_bounds_are_refused_exactly_where_the_reference_refuses_them() {
    let text = variant_text("iron-throne");
    let mut accepted = 0;
    for (number, line) in text.lines().enumerate() {
        let Some((key, _)) = line.split_once(" = ") else { continue };
        for value in VALUES {
            let changed: Vec<String> = text
                .lines()
                .enumerate()
                .map(|(other, old)| match other == number {
                    true => format!("{key} = {value}"),
                    false => old.to_owned(),
                })
                .collect();
            let changed = changed.join("\n");
            let fast = Rules::from_toml(&changed);
            let slow = RefRules::parse(&changed);
            assert_eq!(fast.is_ok(), slow.is_ok(), "{key} = {value}: {fast:?} but {slow:?}");
            accepted += usize::from(fast.is_ok());
            if let Err(error) = fast {
                // Numbers that are too large together are their table's fault.
                let names = [key, "`tiles`", "`units`"];
                let error = error.to_string();
                assert!(names.iter().any(|name| error.contains(name)), "{key} = {value}: {error}");
            }
        }
    }
    assert!(accepted > 100, "{accepted} accepted");
}

const VALUES: [&str; 42] = [
    "-1",
    "0",
    "1",
    "2",
    "4",
    "13",
    "14",
    "16",
    "17",
    "20",
    "21",
    "22",
    "23",
    "24",
    "27",
    "28",
    "32",
    "33",
    "255",
    "256",
    "65535",
    "65536",
    "9223372036854775807",
    "1.0",
    "true",
    "\"1\"",
    "[]",
    "{}",
    "[\"rabble\"]",
    "[\"Rabble\"]",
    "[1]",
    "\"blocked\"",
    "\"over-units\"",
    "\"over\"",
    "[{ steps = \"any\", reach = 3 }]",
    "[{ steps = \"any\", reach = 4 }]",
    "[{ steps = \"any\", reach = 0 }]",
    "[{ steps = \"any\", reach = 1 }, { steps = \"any\", reach = 1 }]",
    "[{ steps = \"any\", reach = 1 }, { steps = \"any\", reach = 1 }, { steps = \"any\", reach = 1 }]",
    "{ orthogonal = 4, diagonal = 3, over_mountains = true }",
    "{ orthogonal = 0, diagonal = 0, over_mountains = true }",
    "{ orthogonal = 5, diagonal = 0, over_mountains = true }",
];

/// For each limit as many mountains as fit, and one more.
#[test]
fn as_many_mountains_as_can_be_laid_are_allowed() {
    let text = variant_text("tiny");
    for limit in 1..=32 {
        for mountains in 0..=30 {
            let changed = text
                .replace("mountain = 2\n", &format!("mountain = {mountains}\n"))
                .replace("water = 2\n", "water = 0\n")
                .replace("forest = 3\n", "forest = 0\n")
                .replace("fortress = 1\n", "fortress = 0\n")
                .replace(
                    "largest_mountain_group = 1\n",
                    &format!("largest_mountain_group = {limit}\n"),
                );
            let fast = Rules::from_toml(&changed);
            let slow = RefRules::parse(&changed);
            assert_eq!(fast.is_ok(), slow.is_ok(), "{mountains} in groups of {limit}: {slow:?}");
        }
    }
}

#[test]
fn random_bytes_are_read_as_nothing_and_break_nothing() {
    let mut random = random(24);
    let rules = fast_variant("iron-throne");
    for _ in 0..5_000 {
        let bytes: Vec<u8> = (0..random.random_range(0..80)).map(|_| random.random()).collect();
        let text = String::from_utf8_lossy(&bytes);
        assert!(Position::parse(&text, &rules).is_err());
        assert!(Rules::from_toml(&text).is_err());
        let action = Action::parse(&text);
        assert!(action.is_err() || action.unwrap().to_string() == text);
    }
}
