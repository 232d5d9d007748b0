//! `cyvasse play` in a pipe: whole games, typed as a person would.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use cyvasse_env::{Action, Game, Position, Rules, Setup, Side};
use cyvasse_selfplay::players::AlphaBeta;
use cyvasse_selfplay::players::alphabeta::Limit;
use tempfile::TempDir;

use common::talk::Talk;
use common::untrained;

const SETUP: &str = "1f1m2fm/2wwwww1/m1f1f1m1/m1fcf1m1 1S2XH2/1R5E/2C1T1D1/1L1K4";

fn command(more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyvasse"));
    command.args(["play", "--seed", "3"]).args(more);
    command
}

fn script(more: &[&str], lines: &[&str]) -> (Vec<String>, ExitStatus) {
    let mut talk = Talk::with(&mut command(more));
    lines.iter().for_each(|line| talk.say(line));
    talk.end()
}

/// Asks for the position; all that was told before is passed over.
fn position(talk: &mut Talk, rules: &Rules) -> Position {
    talk.say("position");
    loop {
        if let Ok(position) = Position::parse(&talk.hear(), rules) {
            return position;
        }
    }
}

/// The next line that begins so.
fn hear(talk: &Talk, start: &str) -> String {
    loop {
        let line = talk.hear();
        if line.starts_with(start) {
            return line;
        }
    }
}

fn legal(position: &Position, rules: &Rules) -> Vec<Action> {
    let mut actions = Vec::new();
    position.legal_actions(rules, &mut actions);
    actions.sort_by_cached_key(Action::to_string);
    actions
}

#[test]
fn a_game_is_played_taken_back_saved_resigned_and_loaded() {
    let rules = Rules::iron_throne();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("game.json");
    let file = file.to_str().unwrap();
    let mut talk = Talk::with(&mut command(&["--opponent", "greedy", "--setup", SETUP]));
    let start = position(&mut talk, &rules);
    assert_eq!((start.turn(), start.plies()), (Side::White, 0));
    let first = legal(&start, &rules)[0];
    talk.say(&first.to_string());
    let later = position(&mut talk, &rules);
    assert_eq!((later.turn(), later.plies()), (Side::White, 2));
    talk.say("undo");
    assert_eq!(position(&mut talk, &rules), start);
    talk.say("undo");
    hear(&talk, "there is nothing to take back");
    talk.say("e9e4");
    hear(&talk, "`e9e4` is neither an action nor a command");
    talk.say("a1a8");
    assert_eq!(position(&mut talk, &rules), start);

    // The answer to the same action is the same, however it is typed.
    let text = first.to_string();
    talk.say(&format!("{} {}", &text[..2], &text[text.len() - 2..]));
    assert_eq!(position(&mut talk, &rules), later);
    talk.say("save");
    hear(&talk, "the game has no file yet");
    talk.say(&format!("save {file}"));
    hear(&talk, "saved in ");
    talk.say("resign");
    assert!(hear(&talk, "You have").starts_with("You have resigned: black wins."));
    talk.say(&text);
    hear(&talk, "the game is over");
    talk.say("undo");
    assert_eq!(position(&mut talk, &rules), later);
    let second = legal(&later, &rules)[0].to_string();
    talk.say(&second);
    let last = position(&mut talk, &rules);
    talk.say("save");
    hear(&talk, "saved in ");
    talk.say("undo");
    talk.say(&format!("load {file}"));
    assert_eq!(position(&mut talk, &rules), last);
    talk.say("quit");
    let (_, status) = talk.end();
    assert!(status.success());

    // Another process goes on, and answers as this one would.
    let mut talk = Talk::with(&mut command(&["--load", file]));
    hear(&talk, "You are white, against greedy.");
    assert_eq!(position(&mut talk, &rules), last);
    talk.say("actions");
    let actions = talk.hear();
    assert_eq!(actions.split(' ').count(), usize::from(last.plies()));
    assert!(actions.starts_with(&text), "{actions}");
    let other = folder.path().join("other.json");
    fs::write(&other, "{}").unwrap();
    talk.say(&format!("save {}", other.display()));
    assert!(hear(&talk, folder.path().to_str().unwrap()).contains("nothing is overwritten"));
    talk.say(&format!("load {}", other.display()));
    hear(&talk, other.to_str().unwrap());
    assert_eq!(position(&mut talk, &rules), last);
    assert!(talk.end().1.success());
    assert_eq!(fs::read_to_string(&other).unwrap(), "{}");
}

#[test]
fn a_game_goes_on_until_a_king_is_taken() {
    let rules = Arc::new(Rules::iron_throne());
    let mut talk = Talk::with(&mut command(&["--level", "full", "--setup", SETUP, "--seat", "b"]));
    talk.say("level 1");
    hear(&talk, "the opponent is level 1 (random) now");
    let mut player = AlphaBeta::new(rules.clone(), Limit::Depth(2));
    let last = loop {
        let now = position(&mut talk, &rules);
        assert!(now.turn() == Side::Black && now.plies() < 300, "{now}");
        let action = player.think(&Game::new(rules.clone(), now.clone())).best;
        talk.say(&action.to_string());
        if now.captures_king(action) {
            break now;
        }
    };
    hear(&talk, "You have taken the king: you win!");
    talk.say("hint");
    hear(&talk, "the game is over");
    talk.say("undo");
    assert_eq!(position(&mut talk, &rules), last);
    talk.say("hint");
    assert!(hear(&talk, "hint: ").ends_with(" the king"));
    assert!(talk.end().1.success());
}

#[test]
fn a_homeland_is_built_in_many_ways() {
    let rules = Rules::iron_throne();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("home.txt");
    let save = format!("save {}", file.display());
    let load = format!("load {}", file.display());
    let lines = [
        "done",
        "suggest",
        "mirror",
        &save,
        &save,
        "clear",
        "K c1",
        "c c1",
        "m c1",
        "m a9",
        "dance",
        "put mountain a4 b4",
        "fill",
        "swap h4 g4",
        "swap h4 g4",
        "done",
        "position",
        "quit",
    ];
    let (told, status) = script(&["--level", "1"], &lines);
    assert!(status.success());
    let told_at = |text: &str| {
        told.iter()
            .position(|line| line.contains(text))
            .unwrap_or_else(|| panic!("{text}: {told:#?}"))
    };
    assert!(told_at("not done yet: ") < told_at("`done` lifts the screen"));
    assert!(told_at("saved in ") < told_at("nothing is overwritten"));
    told_at("the king on c1 cannot stand on a mountain");
    told_at("`a9` is no square of your homeland");
    told_at("`dance` is nothing to do here");
    assert!(told.iter().all(|line| !line.contains('\x1b')), "colour in a pipe");
    let position = told.iter().find_map(|line| Position::parse(line, &rules).ok()).expect("a game");
    let text = position.to_string();
    // White's home ranks come last in both fields.
    let fields: Vec<&str> = text.split(' ').collect();
    let half = |field: &str| field.split('/').skip(4).collect::<Vec<_>>().join("/");
    let built = Setup::parse(&format!("{} {}", half(fields[0]), half(fields[1])), &rules).unwrap();
    assert!(half(fields[0]).starts_with("mm") && half(fields[1]).contains('K'), "{built}");

    // What was saved is a homeland that can be loaded, and given as an argument.
    let saved = fs::read_to_string(&file).unwrap();
    Setup::parse(saved.trim(), &rules).unwrap();
    let (told, _) = script(&["--level", "1", "--seat", "b"], &[&load, "done", "position"]);
    let (again, _) =
        script(&["--level", "1", "--seat", "b", "--setup", file.to_str().unwrap()], &["position"]);
    let position =
        |told: &[String]| told.iter().find_map(|line| Position::parse(line, &rules).ok());
    assert_eq!(position(&told), position(&again));
    assert_eq!(position(&told).unwrap().turn(), Side::Black);
    // Black sits at its own side of the board.
    let ranks: Vec<&String> = again.iter().filter(|line| line.ends_with(" 8")).collect();
    let last = again.iter().rposition(|line| line == ranks[0]).unwrap();
    assert!(again[last + 1].starts_with("    a   b"), "{again:#?}");
}

#[test]
fn an_agent_plays_builds_and_advises() {
    let folder = untrained(&Rules::iron_throne());
    let checkpoint = folder.path().to_str().unwrap();
    let lines = ["suggest", "done", "hint", "moves", "level", "quit"];
    let (told, status) = script(&["--checkpoint", checkpoint, "--level", "5"], &lines);
    assert!(status.success());
    let has = |text: &str| assert!(told.iter().any(|line| line.contains(text)), "{told:#?}");
    has("against level 5 (agent:");
    has("hint: ");
    has("expected: ");
    has("* 5 agent:");
    has("8 agent:");
    let output = command(&["--checkpoint", "/nowhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere has no checkpoint"));
    // Nothing typed at all.
    let (_, status) = script(&[], &[]);
    assert!(status.success() && Path::new(checkpoint).is_dir());
}
