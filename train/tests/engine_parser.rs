//! Whatever is said to the engine, its parser reads it or refuses it in one line.

use std::time::Duration;

use cyvasse_env::Side;
use cyvasse_train::front_ends::engine::{Command, Go, Options, Start};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// What is read is written and read again to be the same; what is refused, is
/// refused in one line.
fn check(line: &str) {
    match Command::parse(line) {
        Ok(Some(command)) => {
            assert_eq!(Command::parse(&command.to_string()), Ok(Some(command)), "{line}");
        }
        Ok(None) => assert!(line.split_ascii_whitespace().next().is_none(), "{line}"),
        Err(error) => {
            let error = error.to_string();
            assert!(
                !error.is_empty() && error.len() < 400 && error.lines().count() == 1,
                "{error}"
            );
        }
    }
}

/// Words that mean something somewhere.
const WORDS: [&str; 26] = [
    "cvp",
    "isready",
    "newgame",
    "rules",
    "setup",
    "white",
    "black",
    "setoption",
    "name",
    "value",
    "position",
    "text",
    "setups",
    "actions",
    "go",
    "simulations",
    "time",
    "infinite",
    "stop",
    "show",
    "quit",
    "8/8",
    "w",
    "-",
    "0",
    "4294967296",
];

fn command() -> impl Strategy<Value = Command> {
    let word = || "[!-~]{1,12}";
    let words = |count| vec(word(), count).prop_map(|words| words.join(" "));
    let start = prop_oneof![
        words(6).prop_map(Start::Position),
        (words(2), words(2)).prop_map(|(white, black)| Start::Setups([white, black])),
    ];
    let limits = (option::of(1..=10_000_000u32), option::of(1..2_678_400_000u64));
    let go = prop_oneof![
        Just(Go::Infinite),
        limits.prop_filter_map("a limit", |(simulations, time)| {
            let time = time.map(Duration::from_millis);
            (simulations.is_some() || time.is_some()).then_some(Go::Limited { simulations, time })
        }),
    ];
    prop_oneof![
        select(vec![
            Command::Hello,
            Command::IsReady,
            Command::Stop,
            Command::Show,
            Command::Quit,
            Command::Setup(Side::White),
            Command::Setup(Side::Black),
        ]),
        option::of(word()).prop_map(|rules| Command::NewGame { rules }),
        (word(), word()).prop_map(|(name, value)| Command::SetOption { name, value }),
        (start, vec(word(), 0..9))
            .prop_map(|(start, actions)| Command::Position { start, actions }),
        go.prop_map(Command::Go),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(line in any::<String>()) {
        check(&line);
    }

    #[test]
    fn any_words_are_read_or_refused(words in vec(select(&WORDS[..]), 0..12), spaces in "[ \t]{1,3}") {
        check(&words.join(&spaces));
    }

    #[test]
    fn commands_are_read_as_they_are_written(command in command()) {
        prop_assert_eq!(Command::parse(&command.to_string()), Ok(Some(command)));
    }

    #[test]
    fn options_are_set_or_refused_and_then_as_they_were(
        name in select(vec!["search", "threads", "nodes", "lines", "reuse", "seed", "what"]),
        value in prop_oneof![any::<i64>().prop_map(|n| n.to_string()), any::<String>(), "auto|puct|gumbel|true|false|[1-9]{1,5}"],
    ) {
        let before = Options::new(3);
        let mut options = before.clone();
        match options.set(name, &value) {
            Ok(()) => {
                // What is set is told.
                let told = options.list().into_iter().find(|line| line.contains(&format!(" {name} ")));
                let told = told.unwrap();
                let normal = value.parse::<u64>().map_or(value.clone(), |number| number.to_string());
                prop_assert!(told.contains(&format!(" default {normal} ")), "{}", told);
            }
            Err(error) => {
                prop_assert_eq!(&options, &before);
                prop_assert!(error.to_string().len() < 400);
            }
        }
    }
}
