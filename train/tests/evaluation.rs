//! Matches between players whose order is known, and what the command does.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cyvasse_env::Rules;
use cyvasse_train::evaluation::statistics::Sprt;
use cyvasse_train::evaluation::{Contest, Entrant, MatchError, read_games};
use tempfile::TempDir;

use common::play;

fn lower_bound(first: &str, second: &str, pairs: u64) -> f64 {
    play(first, second, pairs, |_| ()).0.pairs.interval().0
}

#[test]
fn the_yardstick_has_marks() {
    for (stronger, weaker, pairs) in [
        ("greedy", "random", 50),
        ("alphabeta:depth=1", "greedy", 100),
        ("alphabeta:depth=3", "alphabeta:depth=1", 150),
    ] {
        let bound = lower_bound(stronger, weaker, pairs);
        assert!(bound > 0.6, "{stronger} against {weaker}: at least {bound}");
    }
}

#[test]
fn identical_players_score_a_half() {
    for player in ["greedy", "random"] {
        let (tally, played) = play(player, player, 200, |_| ());
        let (low, high) = tally.pairs.interval();
        assert!(low < 0.5 && high > 0.5, "{player}: {low} to {high}");
        assert!(high - low > 0.03 && high - low < 0.15, "{player}: {low} to {high}");
        assert_eq!((tally.score().games(), tally.repeats, played.len()), (400, 0, 200));
    }
}

#[test]
fn the_score_is_the_same_seen_from_the_other_side() {
    let (one, other) = ("alphabeta:depth=1", "alphabeta:nodes=150");
    let (there, _) = play(one, other, 20, |contest| contest.opening_plies = 4);
    let (back, _) = play(other, one, 20, |contest| contest.opening_plies = 4);
    assert_eq!(there.pairs, back.pairs.reversed());
    assert!(there.pairs.counts[2] < 20, "every pair was even");
    // Players that draw lots agree within the interval.
    let there = play("greedy", "random", 60, |_| ()).0.pairs;
    let back = play("random", "greedy", 60, |_| ()).0.pairs.reversed();
    assert!(there.interval().0 < back.interval().1 && back.interval().0 < there.interval().1);
}

#[test]
fn results_do_not_depend_on_the_workers() {
    let games = |workers: usize| {
        let change = |contest: &mut Contest<'_>| {
            contest.workers = workers;
            contest.sprt = Some(Sprt::new(0.0, 200.0, 0.05, 0.05).unwrap());
        };
        let (tally, played) = play("rollouts:simulations=16", "greedy", 200, change);
        let games = played.iter().flat_map(|pair| &pair.games);
        let games: Vec<_> = games.map(|game| (game.setups, game.actions.clone())).collect();
        (tally.pairs, games)
    };
    let alone = games(1);
    assert!(alone.0.count() < 200, "the test never stopped the match");
    assert_eq!(games(3), alone);
}

#[test]
fn setups_of_ones_own_come_to_both_seats() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("setups.txt");
    let text = "m1w2f1m/1f1w1m2/m1w1fcwf/1m1f1wfm D7/1RSX4/2LHE3/C1T2K2";
    fs::write(&file, format!("{text}\n")).unwrap();
    let (_, played) = play(&format!("greedy:setups={}", file.display()), "greedy", 5, |_| ());
    for pair in played {
        let [white, black] = pair.games;
        assert_eq!(white.setups[0].to_string(), text);
        assert_eq!(black.setups[1].to_string(), text);
        assert_eq!(white.setups[1], black.setups[0], "the opponent's setup changes seats too");
        assert_ne!(white.setups[1].to_string(), text);
    }
    // One setup for both, and no lots: after the first pair nothing is new.
    let name = format!("alphabeta:depth=1,setups={}", file.display());
    let (tally, played) = play(&name, &name, 5, |_| ());
    assert_eq!((tally.repeats, tally.pairs.count(), played.len()), (4, 1, 5));
}

fn evaluate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cyvasse")).arg("evaluate").args(arguments).output().unwrap()
}

fn error_of(arguments: &[&str]) -> String {
    let output = evaluate(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A file of games in which the first game of more than three plies has its
/// first action as its third one too, and the number of its line.
fn with_another_action(file: &str) -> (String, usize) {
    let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
    for (index, line) in lines.iter_mut().enumerate().skip(1) {
        let mut game: serde_json::Value = serde_json::from_str(line).unwrap();
        let mut actions: Vec<&str> = game["actions"].as_str().unwrap().split(' ').collect();
        if actions.len() > 3 {
            actions[2] = actions[0];
            game["actions"] = actions.join(" ").into();
            *line = game.to_string();
            return (lines.join("\n") + "\n", index + 1);
        }
    }
    panic!("all games are short");
}

#[test]
fn openings_that_no_game_survives_are_shorter() {
    let mut rules = Rules::iron_throne();
    rules.draws.max_plies = 6;
    let rules = Arc::new(rules);
    let random = Entrant::load(&"random".parse().unwrap(), &rules, tch::Device::Cpu).unwrap();
    for (opening_plies, longest) in [(5, 5), (9, 5)] {
        let contest = Contest {
            entrants: [&random, &random],
            rules: rules.clone(),
            pairs: 0..2,
            seed: 3,
            opening_plies,
            workers: 1,
            sprt: None,
        };
        let mut chosen = Vec::new();
        let played = contest.play(&AtomicBool::new(false), |pair, _| {
            chosen.extend(pair.games.iter().map(|game| game.chosen.iter().sum::<u32>()));
            Ok::<(), MatchError>(())
        });
        assert_eq!(played.unwrap().0.pairs.count(), 2);
        assert_eq!(chosen, [6 - longest; 4], "{opening_plies} random plies");
    }
    let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/../env/tests/data/variants/tiny.toml");
    let short = fs::read_to_string(tiny).unwrap().replacen("max_plies = 60", "max_plies = 30", 1);
    let folder = TempDir::new().unwrap();
    let file = text(&folder.path().join("short.toml"));
    fs::write(&file, short).unwrap();
    let opening = |plies| ["match", "random", "random", "--rules", &file, "--opening-plies", plies];
    assert!(error_of(&opening("30")).contains("fewer than the 30 plies"));
    assert!(evaluate(&[&opening("29")[..], &["--games", "2"]].concat()).status.success());
}

#[test]
fn a_match_is_reported_saved_and_replayed() {
    let folder = TempDir::new().unwrap();
    let (file, again) =
        (text(&folder.path().join("games.jsonl")), text(&folder.path().join("2.jsonl")));
    let command = ["match", "greedy", "random", "--games", "12", "--json", "--save"];
    let output = evaluate(&[&command[..], &[&file]].concat());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["games"], 12);
    assert_eq!(report["players"], serde_json::json!(["greedy", "random"]));
    assert!(report["share"].as_f64().unwrap() > 0.5);
    evaluate(&[&command[..], &[&again, "--workers", "3"]].concat());
    assert_eq!(fs::read(&file).unwrap(), fs::read(&again).unwrap());

    let rules = Arc::new(Rules::iron_throne());
    let (_, games) = read_games(Path::new(&file), &rules).unwrap();
    assert_eq!(games.len(), 12);
    let shown = evaluate(&["replay", &file, "--game", "2", "--ply", "1"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("white: random\nblack: greedy\n"));
    // A result or an action that is not the game's is found out.
    let tampered = fs::read_to_string(&file).unwrap().replacen("wins", "loses", 1);
    fs::write(&again, tampered).unwrap();
    assert!(error_of(&["replay", &again]).contains("line 2: the game ends with"));
    let (tampered, line) = with_another_action(&fs::read_to_string(&file).unwrap());
    fs::write(&again, tampered).unwrap();
    assert!(error_of(&["replay", &again]).contains(&format!("line {line}: ply 3: ")));
    assert!(error_of(&["replay", &file, "--game", "13"]).contains("expected 1 to 12"));
    assert!(error_of(&[&command[..], &[&file]].concat()).contains("nothing is overwritten"));
}

#[test]
fn what_cannot_be_played_is_refused_in_one_line() {
    for (arguments, expected) in [
        (&["match", "greedy", "randm"][..], "did you mean `random`?"),
        (&["match", "greedy", "random", "--games", "0"], "expected an even number from 2"),
        (&["match", "greedy", "random", "--games", "3"], "expected an even number from 2"),
        (&["match", "greedy", "random", "--sprt", "5", "5"], "the smaller one first"),
        (&["match", "greedy", "random", "--sprt", "0", "5", "--alpha", "1"], "error rate 1"),
        (&["match", "greedy", "agent:nowhere"], "nowhere has no checkpoint"),
        (&["match", "greedy:setups=own", "random"], "greedy has no setup network"),
        (&["match", "greedy:setups=nowhere.txt", "random"], "cannot read nowhere.txt"),
        (&["match", "greedy", "random", "--rules", "nowhere.toml"], "cannot read nowhere.toml"),
        (&["match", "greedy", "random", "--save", "/nowhere/x"], "cannot create /nowhere/x"),
        (&["replay", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
    ] {
        let error = error_of(arguments);
        assert!(error.contains(expected), "{arguments:?}: {error}");
        assert!(error.starts_with("error: "), "{error}");
    }
}
