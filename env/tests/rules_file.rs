//! Rules files: what is read, what is refused and with which words.

use cyvasse_env::{Movement, Rules, Shots, Steps, Unit, Walk};
use proptest::prelude::*;

const IRON_THRONE: &str = include_str!("../../configs/rules/iron-throne.toml");
const VARIANTS: [&str; 3] = [
    include_str!("data/variants/crowd.toml"),
    include_str!("data/variants/flying.toml"),
    include_str!("data/variants/tiny.toml"),
];

fn canonical() -> String {
    Rules::iron_throne().to_toml()
}

/// The refusal of the default rules with the first `from` replaced by `to`.
fn refusal(from: &str, to: &str) -> String {
    let text = canonical();
    assert!(text.contains(from), "{from}");
    Rules::from_toml(&text.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn the_default_file_holds_the_numbers_of_the_game() {
    let rules = Rules::iron_throne();
    assert_eq!(rules.name, "iron-throne");
    assert_eq!(rules.tiles.grass(), 14);
    assert_eq!(rules.draws.max_plies, 500);
    assert_eq!(rules.unit_count(), 10);
    let crossbowmen = rules.unit(Unit::Crossbowmen);
    let first = Walk { steps: Steps::Orthogonal, reach: 2 };
    let second = Walk { steps: Steps::Diagonal, reach: 1 };
    assert_eq!(crossbowmen.movement, Movement::Walk(first, Some(second)));
    let shots = Shots { orthogonal: 2, diagonal: 1, over_mountains: false };
    assert_eq!(crossbowmen.shots, Some(shots));
    assert!(crossbowmen.captures.contains(Unit::Dragon));
    assert!(!crossbowmen.captures.contains(Unit::HeavyHorse));
    assert_eq!(rules.unit(Unit::Dragon).movement, Movement::Flight { over_units: false });
}

#[test]
fn every_file_survives_its_canonical_form() {
    for text in VARIANTS.into_iter().chain([IRON_THRONE]) {
        let rules = Rules::from_toml(text).unwrap();
        assert_eq!(Rules::from_toml(&rules.to_toml()), Ok(rules.clone()));
        let mut renamed = rules.clone();
        renamed.name = "a \"name\"\n\u{7f} of another kind".to_owned();
        assert_eq!(Rules::from_toml(&renamed.to_toml()), Ok(renamed));
    }
}

/// Checkpoints and replay files store this number: if it changes, they are
/// refused.
#[test]
fn the_fingerprint_stays_what_it_was() {
    assert_eq!(Rules::iron_throne().fingerprint(), GOLDEN);
    let mut renamed = Rules::iron_throne();
    renamed.name = "another name".to_owned();
    assert_eq!(renamed.fingerprint(), GOLDEN);
    for (from, to) in
        [("water = 5", "water = 4"), ("blocked", "over-units"), ("reach = 2", "reach = 3")]
    {
        let other = Rules::from_toml(&canonical().replacen(from, to, 1)).unwrap();
        assert_ne!(other.fingerprint(), GOLDEN);
    }
}

const GOLDEN: u64 = 0xCDE20C0E0B3890A6;

#[test]
fn each_refusal_names_the_key_and_what_would_be_right() {
    let cases = [
        // Unknown keys and the nearest known one.
        (
            "water = 5",
            "watr = 5",
            "`tiles.watr` is not a key of a rules file; did you mean `tiles.water`?",
        ),
        (
            "[tiles]",
            "mountains = 6\n[tiles]",
            "`mountains` is not a key of a rules file; did you mean `tiles.mountain`?",
        ),
        (
            "[units.elephant]",
            "[units.elefant]",
            "`units.elefant` is not a key of a rules file; did you mean `units.elephant`?",
        ),
        (
            "reach = 1",
            "reach = 1, \"odd\\nkey\" = 1",
            "`units.rabble.moves[0].\"odd\\nkey\"` is not a key of a rules file; \
             did you mean `name`?",
        ),
        // Keys of other units.
        (
            "flight = \"blocked\"",
            "moves = []",
            "`units.dragon.moves` is out of place: the dragon has `flight` instead",
        ),
        (
            "flight = \"blocked\"",
            "shots = {}",
            "`units.dragon.shots` is out of place: the dragon cannot shoot",
        ),
        (
            "[units.king]",
            "[units.king]\nflight = 1",
            "`units.king.flight` is out of place: only the dragon flies; \
             this unit has `moves` instead",
        ),
        // Missing keys.
        (
            "repetitions = 3\n",
            "",
            "`draws.repetitions` is missing; it must be a whole number from 2 to 255",
        ),
        ("[units.rabble]\n", "[x]\n", "`x` is not a key of a rules file; did you mean `name`?"),
        (
            "flight = \"blocked\"\n",
            "",
            "`units.dragon.flight` is missing; it must be one of \"blocked\", \"over-units\"",
        ),
        // Wrong types.
        (
            "water = 5",
            "water = 5.0",
            "`tiles.water` is 5.0; it must be a whole number from 0 to 32",
        ),
        (
            "water = 5",
            "water = \"5\"",
            "`tiles.water` is \"5\"; it must be a whole number from 0 to 32",
        ),
        (
            "name = \"iron-throne\"",
            "name = 1979-05-27",
            "`name` is a date or time; it must be a string",
        ),
        (
            "over_mountains = false",
            "over_mountains = 0",
            "`units.crossbowmen.shots.over_mountains` is 0; it must be true or false",
        ),
        (
            "moves = [{ steps = \"orthogonal\", reach = 1 }]",
            "moves = [7]",
            "`units.rabble.moves[0]` is 7; it must be a table",
        ),
        (
            "\"spearmen\", \"crossbowmen\", \"king\"",
            "\"spearman\"",
            "`units.spearmen.captures[1]` is \"spearman\"; it must be one of \"rabble\", \
             \"spearmen\", \"crossbowmen\", \"light_horse\", \"heavy_horse\", \"elephant\", \
             \"catapult\", \"trebuchet\", \"dragon\", \"king\"",
        ),
        // Bounds.
        ("water = 5", "water = -1", "`tiles.water` is -1; it must be a whole number from 0 to 32"),
        (
            "water = 5",
            "water = 99999999999999999999999",
            "`tiles.water` is 99999999999999999999999; it must be a whole number from 0 to 32",
        ),
        (
            "max_plies = 500",
            "max_plies = 65_536",
            "`draws.max_plies` is 65536; it must be a whole number from 1 to 65535",
        ),
        (
            "reach = 1",
            "reach = 0",
            "`units.rabble.moves[0].reach` is 0; it must be a whole number from 1 to 3",
        ),
        (
            "steps = \"diagonal\", reach = 1",
            "steps = \"straight\", reach = 1",
            "`units.crossbowmen.moves[1].steps` is \"straight\"; \
             it must be one of \"orthogonal\", \"diagonal\", \"any\"",
        ),
        (
            "moves = [{ steps = \"orthogonal\", reach = 1 }]",
            "moves = []",
            "`units.rabble.moves` is an empty array; it must be an array of one or two tables \
             like { steps = \"any\", reach = 1 }",
        ),
        (
            "orthogonal = 2, diagonal = 1",
            "orthogonal = 0, diagonal = 0",
            "`units.crossbowmen.shots` is 0 both ways; \
             it must be at least 1 one way or the other, or left out",
        ),
        (
            "[units.king]\ncount = 1",
            "[units.king]\ncount = 2",
            "`units.king.count` is 2; it must be 1",
        ),
        // Tiles and units that do not fit.
        ("water = 5", "water = 20", "`tiles` is 33 tiles in all; it must be at most 32"),
        (
            "mountain = 6",
            "mountain = 17",
            "`tiles.mountain` is 17; \
             it must be at most 16 when `tiles.largest_mountain_group` is 2",
        ),
        (
            "[units.rabble]\ncount = 1",
            "[units.rabble]\ncount = 19",
            "`units` is 27 units other than dragons; \
             it must be at most 26, the tiles that are not mountains",
        ),
        (
            "[units.dragon]\ncount = 1",
            "[units.dragon]\ncount = 24",
            "`units` is 33 units in all; it must be at most 32, the tiles of a homeland",
        ),
        // Not TOML.
        ("water = 5", "water = 5 5", "line 4 is not TOML: "),
        ("water = 5", "water = 5\nwater = 5", "line 5 is not TOML: duplicate key"),
    ];
    for (from, to, expected) in cases {
        let found = refusal(from, to);
        assert!(found.starts_with(expected), "{to}\n{found}\n{expected}");
        assert!(found == expected || found.contains("TOML"), "{found}\n{expected}");
        assert!(!found.contains('\n'));
    }
}

#[test]
fn files_at_their_bounds_are_read() {
    let cases = [
        ("water = 5", "water = 19"),
        ("[units.rabble]\ncount = 1", "[units.rabble]\ncount = 18"),
        ("[units.dragon]\ncount = 1", "[units.dragon]\ncount = 23"),
        ("[units.dragon]\ncount = 1", "[units.dragon]\ncount = 0"),
        ("mountain = 6", "mountain = 16"),
        ("max_plies = 500", "max_plies = 0xFFFF"),
        ("repetitions = 3", "repetitions = 255"),
        ("captures = [\"rabble\", \"spearmen\", \"king\"]", "captures = []"),
        (
            "moves = [{ steps = \"orthogonal\", reach = 1 }]",
            "moves = [{ steps = \"any\", reach = 3 }, { steps = \"any\", reach = 3 }]",
        ),
    ];
    for (from, to) in cases {
        let text = canonical();
        assert!(text.contains(from), "{from}");
        let rules = Rules::from_toml(&text.replacen(from, to, 1)).unwrap();
        assert_eq!(Rules::from_toml(&rules.to_toml()), Ok(rules));
    }
}

#[test]
fn each_key_of_the_default_file_is_mandatory_but_shots() {
    let text = canonical();
    for (number, line) in text.lines().enumerate() {
        let without: Vec<&str> =
            text.lines().enumerate().filter(|(i, _)| *i != number).map(|(_, line)| line).collect();
        let read = Rules::from_toml(&without.join("\n"));
        assert_eq!(read.is_ok(), line.starts_with("shots"), "{line}");
    }
}

/// Reads a text that may be anything; an accepted one must be in bounds, which
/// its canonical form shows by being read again.
fn survives(text: &str) {
    match Rules::from_toml(text) {
        Ok(rules) => assert_eq!(Rules::from_toml(&rules.to_toml()), Ok(rules)),
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
}

/// What may stand in place of a value.
fn strange_value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        (0..40i64).prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number:?}")),
        "[0-9]{1,60}",
        "\"[a-z\\\\\"é]{0,9}\"",
        "\\PC{0,12}",
        Just("[[[[]]]]".to_owned()),
        Just("{ a = { a = [{ a = 1 }] } }".to_owned()),
        Just("[{ steps = \"any\", reach = 2 }, { steps = \"any\", reach = 2 }]".to_owned()),
        Just("1979-05-27T07:32:00Z".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn random_text_never_panics(text in "(\\PC|[\\[\\]=\"'{}\n.,#0-9a-z ]){0,200}") {
        survives(&text);
    }

    #[test]
    fn a_strange_value_never_panics(line in 0..60usize, value in strange_value()) {
        let text = canonical();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = line % lines.len();
        if let Some((key, _)) = lines[line].split_once(" = ") {
            lines[line] = format!("{key} = {value}");
        }
        survives(&lines.join("\n"));
    }

    #[test]
    fn a_damaged_file_never_panics(
        edits in prop::collection::vec((any::<prop::sample::Index>(), "\\PC{0,3}", 0..6usize), 1..5)
    ) {
        let mut text: Vec<char> = canonical().chars().collect();
        for (place, insert, remove) in edits {
            let start = place.index(text.len());
            let end = (start + remove).min(text.len());
            text.splice(start..end, insert.chars());
        }
        survives(&text.into_iter().collect::<String>());
    }
}

#[test]
fn deep_nesting_is_refused_and_overflows_nothing() {
    for (open, close) in [("[", "]"), ("{a=", "}"), ("[", "")] {
        survives(&format!("name = {}1{}", open.repeat(20_000), close.repeat(20_000)));
    }
    survives(&format!("{} = 1", vec!["a"; 20_000].join(".")));
    survives(&format!("[{}]", vec!["a"; 20_000].join(".")));
}
