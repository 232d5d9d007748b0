//! Setups: their text and bytes, what is refused, and the space of all of them
//! against brute force.

use std::collections::HashMap;

use cyvasse_env::{
    IllegalToken, Rules, Setup, SetupBuilder, SetupError, SetupSpace, Square, Tile, Unit,
};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Legal under the default rules.
const TEXT: &str = "m1w2f1m/1f1w1m2/m1w1fcwf/1m1f1wfm D7/1RSX4/2LHE3/C1T2K2";

/// The default rules with other counts: mountains, water, forests, fortresses,
/// the group limit; and the units by rank but for the king, of which there is
/// one.
fn rules(tiles: [u8; 5], units: [u8; 9]) -> Rules {
    let mut rules = Rules::iron_throne();
    let [mountain, water, forest, fortress, limit] = tiles;
    rules.tiles.mountain = mountain;
    rules.tiles.water = water;
    rules.tiles.forest = forest;
    rules.tiles.fortress = fortress;
    rules.tiles.largest_mountain_group = limit;
    for (unit, count) in rules.units.iter_mut().zip(units) {
        unit.count = count;
    }
    rules
}

/// Whether a rules file may say this.
fn allowed(rules: &Rules) -> bool {
    Rules::from_toml(&rules.to_toml()).is_ok()
}

const NO_UNITS: [u8; 9] = [0; 9];

/// Rules with few enough setups to look at all of them.
fn small_rules() -> Vec<Rules> {
    let dragons = |count| [0, 0, 0, 0, 0, 0, 0, 0, count];
    vec![
        rules([0, 0, 0, 0, 1], NO_UNITS),
        rules([1, 0, 0, 0, 1], NO_UNITS),
        rules([2, 0, 0, 0, 1], NO_UNITS),
        rules([2, 0, 0, 0, 2], NO_UNITS),
        rules([0, 1, 0, 1, 1], NO_UNITS),
        rules([1, 0, 0, 0, 1], dragons(1)),
        rules([16, 0, 0, 0, 1], dragons(1)),
        rules([16, 0, 0, 0, 2], NO_UNITS),
        rules([16, 16, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0, 0, 1]),
        rules([16, 0, 16, 0, 1], [15, 0, 0, 0, 0, 0, 0, 0, 2]),
        rules([16, 0, 16, 0, 1], [15, 0, 0, 0, 0, 0, 0, 0, 16]),
        rules([31, 0, 1, 0, 31], dragons(31)),
        rules([31, 0, 0, 1, 31], dragons(30)),
        rules([30, 0, 1, 1, 30], [1, 0, 0, 0, 0, 0, 0, 0, 30]),
        rules([28, 0, 0, 0, 14], NO_UNITS),
        rules([28, 1, 1, 1, 15], NO_UNITS),
        rules([0, 31, 1, 0, 1], NO_UNITS),
    ]
}

/// All ways to give each of `len` squares one of the `items`, of each as many as
/// there are and only where `may` says so (of the squares before and the item):
/// by plain recursion over the squares.
fn arrangements<T: Copy>(
    items: &mut [(T, u8)],
    len: usize,
    may: &impl Fn(&[T], T) -> bool,
    done: &mut Vec<T>,
    visit: &mut impl FnMut(&[T]),
) {
    if done.len() == len {
        return visit(done);
    }
    for i in 0..items.len() {
        let (item, left) = items[i];
        if left > 0 && may(done, item) {
            items[i].1 -= 1;
            done.push(item);
            arrangements(items, len, may, done, visit);
            done.pop();
            items[i].1 += 1;
        }
    }
}

/// The size of the group of the mountain that comes next after `tiles`.
fn group_of_next(tiles: &[Tile]) -> usize {
    let mut group = vec![Square::new(tiles.len())];
    let mut seen = 0;
    while seen < group.len() {
        for (files, ranks) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
            let next = group[seen].offset(files, ranks);
            let mountain = |square: Square| tiles.get(square.index()) == Some(&Tile::Mountain);
            group.extend(next.filter(|square| mountain(*square) && !group.contains(square)));
        }
        seen += 1;
    }
    group.len()
}

/// All legal setups, by recursion over the tiles and then over the units.
fn brute_force(rules: &Rules) -> Vec<Setup> {
    let limit = usize::from(rules.tiles.largest_mountain_group);
    let mut tiles = Tile::LAID.map(|tile| (tile, rules.tiles.count(tile)));
    let may_lie = |before: &[Tile], tile| tile != Tile::Mountain || group_of_next(before) <= limit;
    let mut layouts: Vec<[Tile; 32]> = Vec::new();
    arrangements(&mut tiles, 32, &may_lie, &mut Vec::new(), &mut |tiles| {
        layouts.push(tiles.try_into().unwrap());
    });
    let empty = 32 - rules.unit_count() as u8;
    let mut units: Vec<(Option<Unit>, u8)> = vec![(None, empty)];
    units.extend(Unit::ALL.map(|unit| (Some(unit), rules.unit(unit).count)));
    let mut setups = Vec::new();
    for tiles in layouts {
        let may_stand = |before: &[Option<Unit>], unit| {
            matches!(unit, None | Some(Unit::Dragon)) || tiles[before.len()] != Tile::Mountain
        };
        arrangements(&mut units, 32, &may_stand, &mut Vec::new(), &mut |units| {
            setups.push(Setup::new(tiles, units.try_into().unwrap()));
        });
    }
    setups
}

/// All setups that a builder can build.
fn walk(builder: &SetupBuilder, found: &mut Vec<Setup>) {
    let legal = builder.legal_tokens();
    if let Some(setup) = builder.finish() {
        assert_eq!(legal, 0);
        return found.push(setup);
    }
    assert_ne!(legal, 0, "dead end: {builder:?}");
    for token in 0..17 {
        let mut next = builder.clone();
        if next.place(token).is_ok() {
            assert_eq!(legal >> token & 1, 1);
            walk(&next, found);
        } else {
            assert!(token == 16 || legal >> token & 1 == 0);
        }
    }
}

/// That the builder's masks are exact follows: each setup is found, so no token
/// is missing, and no walk ends early, so none is too many.
#[test]
fn counts_and_builders_agree_with_brute_force() {
    for rules in small_rules() {
        assert!(allowed(&rules), "{rules:?}");
        let space = SetupSpace::new(&rules);
        let mut expected: Vec<[u8; 32]> = brute_force(&rules).iter().map(Setup::to_bytes).collect();
        let mut found = Vec::new();
        walk(&space.builder(), &mut found);
        let mut found: Vec<[u8; 32]> = found.iter().map(Setup::to_bytes).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(space.count(), Some(expected.len() as u128), "{:?}", rules.tiles);
        assert!((space.log_count() - (expected.len() as f64).ln()).abs() < 1e-9);
        assert!(found == expected, "{:?}", rules.tiles);
    }
}

/// Pearson's statistic of counts that should be alike, in standard deviations
/// from its mean.
fn deviation(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    let squares = counts.iter().map(|&count| (f64::from(count) - expected).powi(2));
    let statistic = squares.sum::<f64>() / expected;
    let freedom = (counts.len() - 1) as f64;
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

/// How often each legal setup comes up in `each` times their number of tries.
fn frequencies(rules: &Rules, each: usize, mut next: impl FnMut() -> Setup) -> Vec<u32> {
    let setups = brute_force(rules);
    let number: HashMap<Setup, usize> = setups.into_iter().zip(0..).collect();
    let mut counts = vec![0; number.len()];
    for _ in 0..each * number.len() {
        counts[number[&next()]] += 1;
    }
    counts
}

#[test]
fn samples_are_uniform() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for rules in small_rules().into_iter().step_by(2) {
        let space = SetupSpace::new(&rules);
        let counts = frequencies(&rules, 10, || space.sample(&mut rng));
        assert!(deviation(&counts).abs() < 4.0, "{:?}: {}", rules.tiles, deviation(&counts));
    }
}

/// A setup built by drawing each token from `probabilities` of the builder.
fn draw(
    space: &SetupSpace,
    rng: &mut impl Rng,
    probabilities: impl Fn(&SetupBuilder) -> [f64; 11],
) -> Setup {
    let mut builder = space.builder();
    while builder.square().is_some() {
        let mut point = rng.next_u32() as f64 / 4_294_967_296.0;
        let mut last = 0;
        for (token, probability) in probabilities(&builder).into_iter().enumerate() {
            if probability > 0.0 {
                last = token;
                if point < probability {
                    break;
                }
                point -= probability;
            }
        }
        builder.place(last).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn tokens_drawn_with_uniform_probabilities_make_uniform_setups() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for rules in small_rules().into_iter().skip(2).step_by(3).take(3) {
        let space = SetupSpace::new(&rules);
        let next = || draw(&space, &mut rng, |builder| builder.uniform_probabilities());
        let counts = frequencies(&rules, 10, next);
        assert!(deviation(&counts).abs() < 4.0, "{:?}: {}", rules.tiles, deviation(&counts));
    }
}

/// Random rules of all sorts, crowded ones among them.
fn any_rules() -> impl Strategy<Value = Rules> {
    let tiles = (0..=20u8, 0..=12u8, 0..=12u8, 0..=1u8, 1..=20u8);
    let units = prop::collection::vec(prop_oneof![4 => 0..=2u8, 1 => 0..=12u8], 9);
    (tiles, units)
        .prop_map(|((mountain, water, forest, fortress, limit), units)| {
            rules([mountain, water, forest, fortress, limit], units.try_into().unwrap())
        })
        .prop_filter("no legal setup", allowed)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn random_walks_never_end_early(rules in any_rules(), seed in any::<u64>()) {
        let space = SetupSpace::new(&rules);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..5 {
            let setup = draw(&space, &mut rng, |builder| {
                let legal = builder.legal_tokens();
                let share = 1.0 / f64::from(legal.count_ones());
                std::array::from_fn(|token| if legal >> token & 1 == 1 { share } else { 0.0 })
            });
            prop_assert_eq!(setup.check(&rules), Ok(()));
        }
    }

    #[test]
    fn samples_are_legal_and_survive_text_bytes_tokens_and_mirror(
        rules in any_rules(), seed in any::<u64>()
    ) {
        let space = SetupSpace::new(&rules);
        let setup = space.sample(&mut ChaCha8Rng::seed_from_u64(seed));
        prop_assert_eq!(setup.check(&rules), Ok(()));
        prop_assert_eq!(Setup::parse(&setup.to_string(), &rules), Ok(setup));
        prop_assert_eq!(Setup::from_bytes(&setup.to_bytes()), Ok(setup));
        prop_assert_eq!(setup.mirror().check(&rules), Ok(()));
        prop_assert_eq!(setup.mirror().mirror(), setup);

        // Along the setup's own tokens the uniform probabilities multiply to
        // one over the count, and are positive exactly where tokens are legal.
        let mut builder = space.builder();
        let mut log_probability = 0.0;
        for token in SetupBuilder::tokens(&setup).map(usize::from) {
            let probabilities = builder.uniform_probabilities();
            let positive = (0..11).filter(|&token| probabilities[token] > 0.0);
            prop_assert_eq!(positive.fold(0, |mask, token| mask | 1 << token), builder.legal_tokens());
            prop_assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            log_probability += probabilities[token].ln();
            prop_assert_eq!(builder.place(token), Ok(()));
        }
        prop_assert_eq!(builder.finish(), Some(setup));
        prop_assert!((log_probability + space.log_count()).abs() < 1e-8);
    }

    #[test]
    fn damaged_text_never_panics(
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[mwfcrRSXDK0-9/ é]{0,2}", 0..3usize), 0..4)
    ) {
        let mut text: Vec<char> = TEXT.chars().collect();
        for (place, insert, remove) in edits {
            let start = place.index(text.len());
            let end = (start + remove).min(text.len());
            text.splice(start..end, insert.chars());
        }
        reads_only_what_it_writes(&text.into_iter().collect::<String>());
    }

    #[test]
    fn random_text_never_panics(text in "\\PC{0,80}") {
        reads_only_what_it_writes(&text);
    }

    #[test]
    fn bytes_are_read_only_as_written(bytes in prop::array::uniform32(prop_oneof![9 => 0..96u8, 1 => any::<u8>()])) {
        if let Ok(setup) = Setup::from_bytes(&bytes) {
            prop_assert_eq!(setup.to_bytes(), bytes);
        }
    }
}

fn reads_only_what_it_writes(text: &str) {
    match Setup::parse(text, &Rules::iron_throne()) {
        Ok(setup) => assert_eq!(setup.to_string(), text),
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
}

#[test]
fn the_same_seed_gives_the_same_setup_everywhere() {
    let space = SetupSpace::new(&Rules::iron_throne());
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let setups = [(); 3].map(|()| space.sample(&mut rng).to_string());
    assert_eq!(setups, GOLDEN_SAMPLES);
}

const GOLDEN_SAMPLES: [&str; 3] = [
    "ww1f1mf1/f3mw1m/1ffw1f1c/m3w1mm 6E1/X1SL2C1/KD1R2H1/3T4",
    "mwwmw1fm/ff3mff/m3f3/mw2cw2 2L3K1/T2SE2C/5D1R/4XH2",
    "w1f1ff2/1mw1fmcm/2m1m3/wf1wm1wf L6S/3TE3/1C2D1R1/1K3HX1",
];

#[test]
fn tokens_are_refused_without_a_trace() {
    let space = SetupSpace::new(&rules([16, 0, 0, 0, 1], NO_UNITS));
    let mut builder = space.builder();
    builder.place(1).unwrap();
    for token in [1, 2, 5, 16, usize::MAX] {
        assert_eq!(builder.place(token), Err(IllegalToken { step: 1, token }));
    }
    assert_eq!(builder.legal_tokens(), 1);
    assert_eq!(builder.step(), 1);
    assert_eq!(builder.tiles_left(), &[16, 15, 0, 0, 0]);
    assert_eq!(builder.square(), Some(Square::at(0, 1)));
    assert_eq!(builder.finish(), None);
}

#[test]
fn each_refusal_says_why() {
    let cases = [
        ("", "a setup is two fields, tiles and units, with one space between; here are 1"),
        ("a  b", "a setup is two fields, tiles and units, with one space between; here are 3"),
        ("8/8/8 8/8/8/8", "the tiles have 3 ranks instead of 4"),
        ("8/8/8/8 8/8/8/8/8", "the units have 5 ranks instead of 4"),
        ("8/8/7/8 8/8/8/8", "rank 2 of the tiles has 7 squares instead of 8"),
        ("8/8/8/8 8/8/8/8K", "rank 1 of the units has 9 squares instead of 8"),
        ("8/8/8/8 //8/8", "rank 4 of the units has 0 squares instead of 8"),
        (
            "44/8/8/8 8/8/8/8",
            "rank 4 of the tiles has one digit beside another instead of their sum",
        ),
        ("8/8/8/8 8/8/8/9", "'9' on a1 is none of the units, nor a digit from 1 to 8"),
        ("8/3M4/8/8 8/8/8/8", "'M' on d3 is none of the tiles, nor a digit from 1 to 8"),
        ("8/8/8/8 8/8/8/7k", "'k' on h1 is none of the units, nor a digit from 1 to 8"),
        ("8/8/8/8 8/8/8/8", "mountain: 0 instead of 6"),
        ("8/8/8/r7 8/8/8/8", "a ruin lies on a1; a setup has none"),
    ];
    for (text, expected) in cases {
        let refused = Setup::parse(text, &Rules::iron_throne()).unwrap_err();
        assert_eq!(refused.to_string(), expected);
    }
    let changes = [
        ("1wfm ", "2fm ", "water: 4 instead of 5"),
        ("cwf", "1wf", "fortress: 0 instead of 1"),
        ("1m1f1wfm D", "m2f1wfm D", "catapult on a1 stands on a mountain; only a dragon may"),
        (
            "1f1w1m2/m1w1fcwf/1m1f1wfm",
            "mf1w4/m1w1fcwf/1m1f1wfm",
            "the mountain on a2 is in a group of 3; at most 2 may be connected",
        ),
        ("K2", "KK1", "king: 2 instead of 1"),
        ("D7", "8", "dragon: 0 instead of 1"),
        ("D7/1R", "R7/1D", "rabble on a4 stands on a mountain; only a dragon may"),
    ];
    for (from, to, expected) in changes {
        assert!(TEXT.contains(from), "{from}");
        let read = Setup::parse(&TEXT.replacen(from, to, 1), &Rules::iron_throne());
        assert_eq!(
            read.map_or_else(|error| error.to_string(), |_| String::new()),
            expected,
            "{to}"
        );
    }
    let byte = Setup::from_bytes(&[0x7D; 32]).unwrap_err();
    assert_eq!(byte, SetupError::Byte { index: 0, byte: 0x7D });
    assert_eq!(byte.to_string(), "byte 0 is 0x7d, which is no tile with or without a unit");
}
