//! The slow reference reproduces every vector.

mod reference;

use reference::generate::{
    choose_action, homeland_text, random, random_position, random_rules_text, random_setup,
    random_start,
};
use reference::layout::most_mountains;
use reference::setup::check_setup;
use reference::{RefRules, Reference, VARIANTS, variant, vectors};
use std::rc::Rc;

/// Larger counts than this would take the reference too long.
const LARGEST_COUNT: u64 = 1_000_000;

#[test]
fn the_reference_lists_the_actions_of_the_vectors() {
    for name in VARIANTS {
        let rules = variant(name);
        for line in vectors(name, "actions") {
            let position = Reference::parse(&line[0], &rules).unwrap();
            assert_eq!(position.text(), line[0]);
            assert_eq!(position.actions().join(" "), line[1], "{name}: {}", line[0]);
        }
    }
}

#[test]
fn the_reference_counts_the_sequences_of_the_vectors() {
    for name in VARIANTS {
        let rules = variant(name);
        for line in vectors(name, "perft") {
            let position = Reference::parse(&line[0], &rules).unwrap();
            let depth: u32 = line[1].parse().unwrap();
            let count: u64 = line[2].parse().unwrap();
            if count <= LARGEST_COUNT {
                assert_eq!(position.perft(depth), count, "{name}: {} at depth {depth}", line[0]);
            }
        }
    }
}

#[test]
fn the_reference_plays_the_games_of_the_vectors() {
    for name in VARIANTS {
        let rules = variant(name);
        for line in vectors(name, "playouts") {
            let mut position = Reference::parse(&line[0], &rules).unwrap();
            for action in line[1].split(' ') {
                let legal = position.actions();
                assert!(legal.iter().any(|other| other == action), "{action} in {legal:?}");
                position = position.apply(action);
            }
            assert_eq!(position.text(), line[2], "{name}: {}", line[0]);
        }
    }
}

#[test]
fn the_mountains_that_fit_are_counted_right() {
    // Every other square; all but one; all.
    assert_eq!(most_mountains(1), 16);
    assert_eq!(most_mountains(31), 31);
    assert_eq!(most_mountains(32), 32);
    assert!((1..32).all(|limit| most_mountains(limit) <= most_mountains(limit + 1)));
}

#[test]
fn generated_setups_are_legal_and_changed_ones_are_not() {
    let mut random = random(1);
    for _ in 0..40 {
        let rules = RefRules::parse(&random_rules_text(&mut random)).unwrap();
        let (tiles, units) = random_setup(&mut random, &rules);
        let (tiles, units) = (homeland_text(&tiles), homeland_text(&units));
        assert_eq!(check_setup(&format!("{tiles} {units}"), &rules), Ok(()));
        let without_king = units.replace('K', "1");
        assert!(check_setup(&format!("{tiles} {without_king}"), &rules).is_err());
        assert!(check_setup(&format!("{units} {tiles}"), &rules).is_err());
        assert!(check_setup(&tiles, &rules).is_err());
    }
}

#[test]
fn setups_against_the_rules_are_refused() {
    let rules = variant("iron-throne");
    let check = |tiles: &str, units: &str| check_setup(&format!("{tiles} {units}"), &rules);
    let tiles = "mm1mm1m1/wwwwwfff/fffc3m/8";
    let units = "8/8/RSXLHEC1/5TDK";
    assert_eq!(check(tiles, units), Ok(()));
    assert!(check("mmm1m1m1/wwwwwfff/fffc3m/8", units).is_err(), "three mountains together");
    assert!(check("mm1mm1m1/wwwwwfff/ffff3m/8", units).is_err(), "no fortress");
    assert!(check(tiles, "8/8/RSXLHEC1/4RTDK").is_err(), "two rabbles");
    assert!(check(tiles, "8/8/RSXLHECT/6DK").is_err(), "a trebuchet on a mountain");
    assert_eq!(check(tiles, "8/8/RSXLHECD/6TK"), Ok(()), "a dragon on a mountain");
}

#[test]
fn generated_positions_are_read_back_and_keep_the_symmetries() {
    let mut random = random(2);
    for _ in 0..60 {
        let rules = Rc::new(RefRules::parse(&random_rules_text(&mut random)).unwrap());
        for mut position in
            [random_start(&mut random, &rules), random_position(&mut random, &rules)]
        {
            for _ in 0..10 {
                let read = Reference::parse(&position.text(), &rules).unwrap();
                assert_eq!(read.text(), position.text());
                let count = position.perft(1);
                assert_eq!(position.mirrored().perft(1), count, "{}", position.text());
                assert_eq!(position.with_sides_exchanged().perft(1), count, "{}", position.text());
                let actions = position.actions();
                if actions.is_empty() {
                    break;
                }
                position = position.apply(&choose_action(&mut random, &position, &actions));
            }
        }
    }
}
