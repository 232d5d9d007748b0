//! `cyvasse engine` through the binary, with networks that have learned nothing:
//! transcripts, and whatever may come in a line or not.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use cyvasse_env::{Rules, Setup};

use common::talk::{Talk, unheard};
use common::untrained;

const START: &str = "position setups 3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE \
                     w3fw1f/2m3m1/mwfmmc1f/f2fwm1w R4E2/3C1D2/1T4H1/L1XS3K";

fn command(checkpoint: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyvasse"));
    command.args(["engine", "--seed", "7", "--checkpoint"]).arg(checkpoint).args(more);
    command
}

fn engine(checkpoint: &Path, more: &[&str]) -> Talk {
    Talk::with(&mut command(checkpoint, more))
}

#[test]
fn the_conversation_of_the_documentation_goes_as_it_is_told() {
    let documentation = include_str!("../../docs/protocol.md");
    let (_, rest) = documentation.split_once("```transcript\n").unwrap();
    let (transcript, _) = rest.split_once("```").unwrap();
    let folder = untrained(&Rules::iron_throne());
    let mut engine = engine(folder.path(), &[]);
    engine.follow(transcript);
    let (rest, status) = engine.end();
    assert!(status.success() && rest.is_empty(), "{status}: {rest:?}");
}

#[test]
fn the_engine_listens_while_it_thinks() {
    let folder = untrained(&Rules::iron_throne());
    let mut engine = engine(folder.path(), &["--workers", "2"]);
    engine.say(START);
    engine.follow(
        "\
> go infinite
> isready
< readyok
> position text 8/8/8/8/8/8/8/8 3k4/3R4/8/8/8/8/8/3K4 w - 0 12
< error the engine is thinking: say `stop` first
> go simulations 10
< error the engine is thinking: say `stop` first
> setup black
< setup black * *
> stop
< bestmove *
> stop
> isready
< readyok",
    );
    // The king can be taken: there is nothing to find out, but nobody has said stop.
    engine.follow(
        "\
> position text 8/8/8/8/8/8/8/8 3k4/3R4/8/8/8/8/8/3K4 w - 0 12
> go infinite
< info time * simulations 0 visits 0 rate * value 1.0000 proven win 1
< info line 1 visits 0 prior * value 1.0000 proven win 1 pv d7d8
> isready
< readyok
> stop
< bestmove d7d8
> position text 8/8/8/8/8/8/8/8 3k4/3R4/8/8/8/8/8/3K4 w - 0 12 actions d7d8
> go simulations 5
< info over white wins
< bestmove none
> show
< position 8/8/8/8/8/8/8/8 3R4/8/8/8/8/8/8/3K4 b - 0 13
< over white wins",
    );
    // What has no limit is answered at the end of the input.
    engine.say(START);
    engine.say("go infinite");
    let (rest, status) = engine.end();
    assert!(status.success() && rest.last().unwrap().starts_with("bestmove "), "{rest:?}");
}

#[test]
fn what_makes_no_sense_is_told_and_changes_nothing() {
    let folder = untrained(&Rules::iron_throne());
    let mut engine = engine(folder.path(), &[]);
    engine.say(&format!("{START} actions g4g5"));
    engine.say("show");
    let before = [engine.hear(), engine.hear()];
    let long = format!("position {}", "x ".repeat(1 << 20));
    let nonsense: [&[u8]; 16] = [
        b"bogus",
        b"\xff\xfe\x00",
        long.as_bytes(),
        b"go",
        b"go simulations",
        b"go simulations 0",
        b"go time -3",
        b"go infinite 3",
        b"go simulations 5 simulations 5",
        b"setup green",
        b"setoption name lines value many",
        b"setoption name line value 3",
        b"position",
        b"position text 8/8/8/8/8/8/8/8 8/8/8/8/8/8/8/8 w - 0 0",
        b"position text 8/8/8/8/8/8/8/8 3k4/3R4/8/8/8/8/8/3K4 w - 0 12 actions d7d8 d1d2",
        b"newgame rules /nowhere/at all.toml",
    ];
    for line in nonsense {
        engine.say_bytes(line);
        engine.say("");
        let heard = engine.hear();
        assert!(heard.starts_with("error ") && heard.len() < 1000, "{heard}");
    }
    engine.say("show");
    assert_eq!([engine.hear(), engine.hear()], before);
    engine.say("quit");
    assert!(engine.end().1.success());
}

#[test]
fn answers_depend_on_the_seed_and_not_on_the_threads() {
    let rules = Rules::iron_throne();
    let folder = untrained(&rules);
    let ask = |workers: &str| {
        let mut engine = engine(folder.path(), &["--workers", workers]);
        let mut said = Vec::new();
        for seat in ["white", "black"] {
            engine.say(&format!("setup {seat}"));
            let setup = engine.hear();
            let text = setup.strip_prefix(&format!("setup {seat} ")).unwrap().to_owned();
            Setup::parse(&text, &rules).unwrap();
            said.push(text);
        }
        engine.say(&format!("position setups {} {}", said[0], said[1]));
        engine.say("setoption name lines value 500");
        for search in ["gumbel", "puct"] {
            engine.say(&format!("setoption name search value {search}"));
            // Enough for many leaves at once.
            engine.say("go simulations 600");
            let (mut infos, answer) = engine.thoughts();
            let last = infos.iter().rposition(|line| line.starts_with("info time")).unwrap();
            let whole = infos.remove(last);
            assert!(whole.contains(" simulations 600 visits 600 "), "{whole}");
            said.extend(infos.drain(last..));
            said.push(answer);
        }
        assert!(engine.end().1.success());
        said
    };
    let one = ask("1");
    assert!(one.len() > 60, "{one:?}");
    assert_eq!(ask("3"), one);
}

#[test]
fn a_search_goes_on_with_what_is_known_and_forgets_when_told() {
    let folder = untrained(&Rules::iron_throne());
    let mut engine = engine(folder.path(), &[]);
    let visits = |engine: &mut Talk, go: &str| -> (u32, u32, Vec<String>) {
        engine.say(go);
        let (infos, answer) = engine.thoughts();
        let count = infos.iter().rposition(|line| line.starts_with("info time")).unwrap();
        let words: Vec<&str> = infos[count].split(' ').collect();
        let number = |name: &str| {
            let place = words.iter().position(|word| *word == name).unwrap();
            words[place + 1].parse().unwrap()
        };
        let line = infos[count + 1].split_once(" pv ").unwrap().1;
        assert!(
            answer.starts_with("bestmove ") && line.starts_with(&answer[9..]),
            "{answer}: {line}"
        );
        (number("simulations"), number("visits"), line.split(' ').map(String::from).collect())
    };
    engine.say("setoption name search value puct");
    engine.say(START);
    let (simulations, known, line) = visits(&mut engine, "go simulations 400");
    assert_eq!((simulations, known), (400, 400));
    let later = format!("{START} actions {} {}", line[0], line[1]);
    engine.say(&later);
    let (simulations, known, _) = visits(&mut engine, "go simulations 400");
    assert!((200..400).contains(&simulations) && known > simulations, "{simulations} of {known}");
    for forget in ["newgame", "setoption name reuse value false"] {
        engine.say(START);
        visits(&mut engine, "go simulations 400");
        engine.say(forget);
        engine.say(&later);
        let (simulations, known, _) = visits(&mut engine, "go simulations 400");
        assert_eq!((simulations, known), (400, 400), "{forget}");
    }
}

#[test]
fn checkpoints_and_rules_that_do_not_fit_are_refused() {
    let mut rules = Rules::iron_throne();
    rules.tiles.mountain = 5;
    let folder = untrained(&rules);
    let output = command(folder.path(), &[]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("rules_fingerprint is"), "{stderr}");

    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/rules/iron-throne.toml");
    let other = folder.path().join("other.toml");
    let text = fs::read_to_string(own).unwrap();
    fs::write(&other, text.replace("mountain = 6", "mountain = 5")).unwrap();
    let folder = untrained(&Rules::iron_throne());
    let mut engine = engine(folder.path(), &[]);
    engine.say(&format!("newgame rules {own}"));
    engine.say(&format!("newgame rules {}", other.display()));
    let heard = engine.hear();
    assert!(heard.contains("other.toml are ") && heard.contains("was made for"), "{heard}");
    let (rest, status) = engine.end();
    assert!(status.success() && rest.is_empty(), "{rest:?}");
}

#[test]
fn an_engine_that_nobody_listens_to_ends_quietly() {
    let folder = untrained(&Rules::iron_throne());
    // It finds out by itself, when it next has something to say.
    let output = unheard(&mut command(folder.path(), &[]), &format!("{START}\ngo infinite"));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
