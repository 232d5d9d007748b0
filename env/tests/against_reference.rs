//! The crate against the vectors and against the slow reference.

mod fast;
mod reference;

use cyvasse_env::{ACTION_COUNT, Action, DrawReason, Game, Outcome, Position, Rules, Side, Square};
use cyvasse_env::{perft, perft_by_playing, perft_divide};
use fast::{action, fast, fast_variant, legal_actions, sorted_actions};
use rand::RngExt;
use reference::board::{At, BLANK, everywhere};
use reference::events::Tally;
use reference::game::Ending;
use reference::generate::{
    Random, choose_action, random, random_position, random_rules_text, random_start,
};
use reference::play::Deed;
use reference::{RefRules, Reference, ReferenceGame, VARIANTS, variant_text, vectors};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// How many random rules files are compared.
const RANDOM_RULES: u64 = 80;

/// Every rare event has to be met at least this often.
const OFTEN: usize = 50;

/// One rules file as both sides read it.
struct Both {
    fast: Rules,
    slow: Rc<RefRules>,
}

impl Both {
    fn new(text: &str) -> Both {
        let fast = Rules::from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Both { fast, slow: Rc::new(RefRules::parse(text).unwrap()) }
    }

    fn variants() -> impl Iterator<Item = Both> {
        VARIANTS.iter().map(|name| Both::new(&variant_text(name)))
    }

    fn random(seed: u64) -> Both {
        Both::new(&random_rules_text(&mut random(seed)))
    }
}

/// A start now and then, mostly a position strewn at random.
fn some_position(random: &mut Random, rules: &Rc<RefRules>) -> Reference {
    match random.random_ratio(1, 4) {
        true => random_start(random, rules),
        false => random_position(random, rules),
    }
}

// The vectors.

#[test]
fn the_legal_actions_are_those_of_the_vectors() {
    for name in VARIANTS {
        let rules = fast_variant(name);
        for line in vectors(name, "actions") {
            let position = fast(&line[0], &rules);
            assert_eq!(position.to_string(), line[0]);
            assert_eq!(sorted_actions(&position, &rules).join(" "), line[1], "{name}: {}", line[0]);
        }
    }
}

#[test]
fn the_counted_sequences_are_those_of_the_vectors() {
    for name in VARIANTS {
        let rules = fast_variant(name);
        for line in vectors(name, "perft") {
            let position = fast(&line[0], &rules);
            let depth = line[1].parse().unwrap();
            let count: u64 = line[2].parse().unwrap();
            assert_eq!(perft(&position, &rules, depth), count, "{name}: {line:?}");
            assert_eq!(perft_by_playing(&position, &rules, depth), count, "{name}: {line:?}");
        }
    }
}

#[test]
fn the_games_end_as_those_of_the_vectors() {
    for name in VARIANTS {
        let rules = fast_variant(name);
        for line in vectors(name, "playouts") {
            let mut position = fast(&line[0], &rules);
            for text in line[1].split(' ') {
                position = position.play(action(text), &rules).unwrap();
            }
            assert_eq!(position.to_string(), line[2], "{name}: {}", line[0]);
        }
    }
}

// The reference, position by position.

/// Plays the same actions on both sides and compares all that they say.
struct Playout<'r> {
    rules: &'r Both,
    slow: Reference,
    fast: Position,
}

impl<'r> Playout<'r> {
    fn new(slow: Reference, rules: &'r Both) -> Playout<'r> {
        let fast = fast(&slow.text(), &rules.fast);
        Playout { rules, slow, fast }
    }

    /// The actions of the position, after a comparison of everything in it.
    fn compare(&self) -> Vec<String> {
        let text = self.slow.text();
        assert_eq!(self.fast.to_string(), text);
        compare_squares(&self.slow, &self.fast);
        assert_eq!(fast(&text, &self.rules.fast), self.fast, "{text}");
        let actions = self.slow.actions();
        assert_eq!(sorted_actions(&self.fast, &self.rules.fast), actions, "{text}");
        assert_eq!(self.fast.count_actions(&self.rules.fast), actions.len(), "{text}");
        let winner = self.fast.winner().map(Side::letter);
        assert_eq!(winner, self.slow.winner(), "{text}");
        actions
    }

    fn play(&mut self, text: &str) {
        let action = action(text);
        assert_eq!(action.to_string(), text);
        let mut unchecked = self.fast.clone();
        unchecked.play_unchecked(action);
        self.fast = self.fast.play(action, &self.rules.fast).unwrap();
        assert_eq!(self.fast, unchecked, "{text} in {}", self.slow.text());
        self.slow = self.slow.apply(text);
    }
}

/// What the accessors say, square by square.
fn compare_squares(slow: &Reference, fast: &Position) {
    assert_eq!(fast.turn().letter(), slow.turn);
    assert_eq!(u32::from(fast.quiet_plies()), slow.quiet_plies);
    assert_eq!(u32::from(fast.plies()), slow.plies);
    for (square, at) in Square::all().zip(everywhere()) {
        let tile = fast.tile(square).letter().unwrap_or(BLANK);
        let unit = fast.unit(square).map_or(BLANK, |(side, unit)| match side {
            Side::White => unit.letter(),
            Side::Black => unit.letter().to_ascii_lowercase(),
        });
        assert_eq!((tile, unit), (slow.tiles.on(at), slow.units.on(at)), "{square} of {fast}");
        assert_eq!(fast.frozen().contains(square), slow.frozen.contains(&at), "{square} of {fast}");
    }
}

/// Counts the positions that were compared.
fn compare_playouts(
    rules: &Both,
    random: &mut Random,
    playouts: usize,
    tally: &mut Tally,
) -> usize {
    let mut compared = 0;
    for _ in 0..playouts {
        let mut playout = Playout::new(some_position(random, &rules.slow), rules);
        for _ in 0..60 {
            let actions = playout.compare();
            compared += 1;
            tally.look_at(&playout.slow, &actions);
            if actions.is_empty() {
                break;
            }
            let action = choose_action(random, &playout.slow, &actions);
            let before = playout.slow.clone();
            playout.play(&action);
            tally.look_back(&before, &action, &playout.slow);
        }
    }
    compared
}

#[test]
fn playouts_agree_with_the_reference_action_by_action() {
    let mut tally = Tally::default();
    let mut random = random(1);
    let mut compared = 0;
    for rules in Both::variants() {
        compared += compare_playouts(&rules, &mut random, 100, &mut tally);
    }
    for seed in 0..RANDOM_RULES {
        compared += compare_playouts(&Both::random(seed), &mut random, 30, &mut tally);
    }
    println!("{compared} positions compared\n{tally}");
    assert_eq!(tally.rarer_than(OFTEN), [], "these were hardly compared at all\n{tally}");
}

#[test]
fn sequences_counted_from_random_positions_agree_with_the_reference() {
    let mut random = random(2);
    let many = Both::variants().chain((0..RANDOM_RULES).map(Both::random));
    for rules in many {
        for _ in 0..3 {
            let slow = some_position(&mut random, &rules.slow);
            let fast = fast(&slow.text(), &rules.fast);
            let count = slow.perft(2);
            assert_eq!(perft(&fast, &rules.fast, 2), count, "{}", slow.text());
            assert_eq!(perft_by_playing(&fast, &rules.fast, 2), count, "{}", slow.text());
            let divided: Vec<(String, u64)> = perft_divide(&fast, &rules.fast, 2)
                .into_iter()
                .map(|(action, count)| (action.to_string(), count))
                .collect();
            let slowly: Vec<(String, u64)> = slow
                .actions()
                .into_iter()
                .map(|action| (action.clone(), slow.apply(&action).perft(1)))
                .collect();
            assert_eq!(divided, slowly, "{}", slow.text());
        }
    }
}

// Action numbers and single actions.

/// Positions of all kinds under many rules, with their rules.
fn for_positions(seed: u64, of_each: usize, mut check: impl FnMut(&Reference, &Both)) {
    let mut random = random(seed);
    for rules in Both::variants().chain((0..RANDOM_RULES / 2).map(Both::random)) {
        for _ in 0..of_each {
            let mut slow = some_position(&mut random, &rules.slow);
            for _ in 0..random.random_range(0..20) {
                let actions = slow.actions();
                if actions.is_empty() {
                    break;
                }
                slow = slow.apply(&choose_action(&mut random, &slow, &actions));
            }
            check(&slow, &rules);
        }
    }
}

#[test]
fn exactly_the_numbers_of_legal_actions_are_decoded() {
    for_positions(3, 5, |slow, rules| {
        let position = fast(&slow.text(), &rules.fast);
        let mut decoded = BTreeSet::new();
        for index in 0..ACTION_COUNT {
            if let Some(action) = position.decode(index, &rules.fast) {
                assert_eq!(action.index(position.turn()), index, "{action} in {position}");
                assert!(decoded.insert(action.to_string()), "{action} twice in {position}");
            }
        }
        let actions: BTreeSet<String> = slow.actions().into_iter().collect();
        assert_eq!(decoded, actions, "{position}");
        for index in [ACTION_COUNT, ACTION_COUNT + 1, 1 << 16, 1 << 32, usize::MAX] {
            assert_eq!(position.decode(index, &rules.fast), None, "{index} in {position}");
        }
    });
}

#[test]
fn legal_actions_have_numbers_of_their_own() {
    for_positions(4, 20, |slow, rules| {
        let position = fast(&slow.text(), &rules.fast);
        let mut numbers = HashMap::new();
        for action in legal_actions(&position, &rules.fast) {
            let index = action.index(position.turn());
            assert!(index < ACTION_COUNT, "{action} is number {index}");
            assert_eq!(numbers.insert(index, action), None, "{index} twice in {position}");
            assert_eq!(position.decode(index, &rules.fast), Some(action), "{position}");
        }
    });
}

#[test]
fn the_actions_that_capture_the_king_are_those_that_win() {
    let mut wins = 0;
    for_positions(7, 20, |slow, rules| {
        let position = fast(&slow.text(), &rules.fast);
        for text in slow.actions() {
            let won = slow.apply(&text).winner().is_some();
            assert_eq!(position.captures_king(action(&text)), won, "{text} in {position}");
            wins += usize::from(won);
        }
    });
    assert!(wins >= OFTEN);
}

/// All texts of moves, shots and assaults from one square.
fn all_texts_from(from: &str, squares: &[String]) -> Vec<String> {
    let mut texts = Vec::new();
    for to in squares {
        texts.push(format!("{from}{to}"));
        texts.push(format!("{from}x{to}"));
        texts.extend(squares.iter().map(|rest| format!("{from}{to}@{rest}")));
    }
    texts
}

#[test]
fn only_the_listed_actions_are_legal() {
    let squares: Vec<String> = everywhere().map(At::name).collect();
    let mut random = random(5);
    let mut refused = 0;
    for_positions(5, 2, |slow, rules| {
        let position = fast(&slow.text(), &rules.fast);
        let listed = slow.actions();
        let from = &squares[random.random_range(0..64)];
        for text in all_texts_from(from, &squares).into_iter().chain(["pass".to_owned()]) {
            // Some of these name no action of any position.
            let Ok(action) = Action::parse(&text) else {
                assert!(!listed.contains(&text), "{text} in {position}");
                continue;
            };
            let legal = listed.contains(&text);
            assert_eq!(position.is_legal(action, &rules.fast), legal, "{text} in {position}");
            assert_eq!(position.play(action, &rules.fast).is_ok(), legal, "{text} in {position}");
            refused += usize::from(!legal);
        }
        for text in &listed {
            assert!(position.is_legal(action(text), &rules.fast), "{text} in {position}");
        }
    });
    assert!(refused > 10_000);
}

// Games.

fn ending_of(outcome: Outcome) -> Ending {
    match outcome {
        Outcome::Win(side) => Ending::Win(side.letter()),
        Outcome::Draw(DrawReason::Repetition) => Ending::Repetition,
        Outcome::Draw(DrawReason::NoProgress) => Ending::NoProgress,
        Outcome::Draw(DrawReason::Length) => Ending::Length,
    }
}

/// A game on both sides.
struct BothGames<'r> {
    fast: Game,
    slow: ReferenceGame,
    random: &'r mut Random,
    /// What would take back the last action of each side.
    ways_back: [Option<String>; 2],
}

impl BothGames<'_> {
    fn compare(&self) {
        let text = self.slow.position.text();
        assert_eq!(self.fast.position().to_string(), text);
        assert_eq!(self.fast.occurrences(), self.slow.occurrences(), "{text}");
        assert_eq!(self.fast.outcome().map(ending_of), self.slow.ending(), "{text}");
    }

    /// Goes back and forth often: random games would hardly ever repeat.
    fn play_on(&mut self, actions: &[String]) {
        let back = self.ways_back[0].take().filter(|back| actions.contains(back));
        let chosen = match back {
            Some(back) if self.random.random_ratio(1, 2) => back,
            _ => choose_action(self.random, &self.slow.position, actions),
        };
        self.ways_back[0] = Deed::parse(&chosen).map(|deed| deed.to.name() + &deed.from.name());
        self.ways_back.swap(0, 1);
        self.fast.play(action(&chosen)).unwrap();
        self.slow.play(&chosen);
    }
}

/// Plays a game on both sides to its end and a little beyond (a draw stops
/// nobody from playing on) and returns the reference's game at its end.
fn play_to_the_end(start: Reference, rules: &Both, random: &mut Random) -> ReferenceGame {
    let position = fast(&start.text(), &rules.fast);
    let mut games = BothGames {
        fast: Game::new(Arc::new(rules.fast.clone()), position),
        slow: ReferenceGame::new(start),
        random,
        ways_back: [None, None],
    };
    let mut ended: Option<ReferenceGame> = None;
    let mut more = 15;
    while more > 0 {
        games.compare();
        if ended.is_none() && games.slow.ending().is_some() {
            ended = Some(games.slow.clone());
        }
        more -= usize::from(ended.is_some());
        let actions = games.slow.position.actions();
        if actions.is_empty() {
            break;
        }
        games.play_on(&actions);
    }
    ended.expect("every game ends by its length")
}

#[test]
fn games_end_when_and_as_the_reference_says() {
    let mut random = random(6);
    let mut endings: BTreeMap<String, usize> = BTreeMap::new();
    for rules in Both::variants().chain((0..RANDOM_RULES).map(Both::random)) {
        for _ in 0..20 {
            let start = some_position(&mut random, &rules.slow);
            let game = play_to_the_end(start, &rules, &mut random);
            let draws = game.draws();
            let ending = format!("{:?}", game.ending().unwrap());
            *endings.entry(ending).or_insert(0) += 1;
            if draws.len() > 1 {
                *endings.entry("coincidence".to_owned()).or_insert(0) += 1;
            }
            if game.position.winner().is_some() && !draws.is_empty() {
                *endings.entry("win that comes before a draw".to_owned()).or_insert(0) += 1;
            }
        }
    }
    println!("{endings:#?}");
    let met = |ending: &str| endings.get(ending).copied().unwrap_or(0);
    for ending in ["Win('w')", "Win('b')", "Repetition", "NoProgress", "Length", "coincidence"] {
        assert!(met(ending) >= OFTEN, "{ending} only {} times", met(ending));
    }
}
