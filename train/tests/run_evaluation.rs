//! The ladder of a run and the report on it, at toy size.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

mod toy;

use toy::toy_config;

fn cyvasse(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cyvasse")).args(arguments).output().unwrap()
}

fn json_of(arguments: &[&str]) -> Value {
    let output = cyvasse(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A run of two rounds on the tiny rules.
fn toy_run(folder: &Path) -> PathBuf {
    let changes = [("rounds = 3", "rounds = 2"), ("games = 4", "games = 0")];
    let (config, run) = (toy_config(folder, &changes), folder.join("run"));
    let paths = [&config, &run].map(|path| path.to_str().unwrap());
    let output = cyvasse(&["train", paths[0], "--run-dir", paths[1]]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    run
}

#[test]
fn a_ladder_plays_what_is_missing_and_a_report_tells_of_the_run() {
    let folder = TempDir::new().unwrap();
    let run = toy_run(folder.path());
    let path = run.to_str().unwrap();
    let ladder = |games: &str| {
        let pool = ["--baseline", "greedy", "--every", "2", "--simulations", "4"];
        json_of(&[&["evaluate", "ladder", path, "--json", "--games", games][..], &pool].concat())
    };
    let file = || fs::read_to_string(run.join("evaluation/ladder.jsonl")).unwrap();

    let report = ladder("20");
    let players = report["players"].as_array().unwrap();
    let names: Vec<&str> = players.iter().map(|player| player["name"].as_str().unwrap()).collect();
    let checkpoint = |round| format!("agent:checkpoints/round-000{round}?simulations=4,setups=own");
    assert_eq!(names, ["random", "greedy", &checkpoint(0), &checkpoint(2)]);
    assert_eq!(players[0]["elo"], 0.0);
    assert!(players.iter().all(|player| player["pairs"].as_u64().unwrap() >= 10));
    let shares: f64 = players.iter().map(|player| player["nash_share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-6);
    assert!(report["shares"][1][0].as_f64().unwrap() > 0.5, "greedy does not beat random");

    let first = file();
    assert_eq!(ladder("20"), report);
    assert_eq!(file(), first, "a second call played again what was there");
    ladder("40");
    assert!(file().starts_with(&first) && file().len() > first.len());

    // A run among the baselines stands for its newest checkpoint, by name;
    // results of another version stay in the file and do not count.
    let played = file();
    let old = played.replace("\"producer\":\"", "\"producer\":\"0.0.");
    let ladder_file = run.join("evaluation/ladder.jsonl");
    fs::write(&ladder_file, &old).unwrap();
    let other = format!("agent:{path}?search=policy");
    let arguments = ["--json", "--games", "2", "--every", "2", "--simulations", "4"];
    let command = ["evaluate", "ladder", path, "--baseline", &other];
    let output = cyvasse(&[&command[..], &arguments].concat());
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(warned.contains("another version of the program"), "{warned}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let newest = format!("agent:{path}/checkpoints/round-0002?search=policy,setups=own");
    assert_eq!(report["players"][1]["name"], newest);
    // Every new line is of ten pairs, each of two players.
    let new_lines = file().strip_prefix(&old).unwrap().lines().count() as u64;
    let pairs = report["players"].as_array().unwrap().iter().map(|player| player["pairs"].as_u64());
    assert_eq!(pairs.map(Option::unwrap).sum::<u64>(), 20 * new_lines, "old results count");
    fs::write(&ladder_file, played).unwrap();

    let told = json_of(&["report", path, "--json"]);
    assert_eq!(told["rounds"].as_array().unwrap().len(), 2);
    assert!(told["rounds"][1]["hours"].as_f64().unwrap() > 0.0);
    let games = |round: usize| told["rounds"][round]["games"].as_u64().unwrap();
    assert!(games(1) > games(0) && games(0) > 0);
    assert_eq!(told["ladder"]["players"].as_array().unwrap().len(), 4);
    let results = &told["rounds"][1]["results"];
    let ends = ["white", "black", "repetition", "no_progress", "length"];
    let sum: f64 = ends.iter().map(|end| results[end].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9);
    let king = told["marginals"].as_array().unwrap().iter().find(|board| board["name"] == "king");
    let shares = king.unwrap()["shares"].as_array().unwrap();
    assert!((shares.iter().map(|share| share.as_f64().unwrap()).sum::<f64>() - 1.0).abs() < 1e-9);

    // Play alone is another rating of the same checkpoint, and another curve.
    let uniform = ["evaluate", "ladder", path, "--json", "--games", "2", "--every", "2"];
    let more = ["--baseline", "greedy", "--simulations", "4", "--setups", "uniform"];
    let uniform = json_of(&[&uniform[..], &more].concat());
    let name = "agent:checkpoints/round-0002?simulations=4,setups=uniform";
    assert_eq!(uniform["players"][3]["name"], name);

    assert!(cyvasse(&["report", path]).status.success());
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.matches("<svg").count() >= 6 && !page.contains("{{"));
    for text in [
        "Elo",
        "Pay-off matrix",
        "id=\"board\"",
        "round-0002",
        "perfect",
        "setups=own",
        "setups=uniform",
    ] {
        assert!(page.contains(text), "the page has no {text}");
    }
    let elsewhere = folder.path().join("page.html");
    let elsewhere = elsewhere.to_str().unwrap();
    assert!(cyvasse(&["report", path, "--output", elsewhere]).status.success());
    let again = cyvasse(&["report", path, "--output", elsewhere]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("nothing is overwritten"));
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), page);
    let nowhere = cyvasse(&["report", path, "--output", "/nowhere/page.html"]);
    let error = String::from_utf8_lossy(&nowhere.stderr);
    assert!(error.contains("cannot create /nowhere/page.html") && !error.contains("overwritten"));
    assert!(!cyvasse(&["report", path, "--json", "--output", "/nowhere/x"]).status.success());
    let left = fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.filter(|name| name.to_string_lossy().contains("partial")).count(), 0);

    // That nobody reads the answer is no failure.
    for arguments in [
        &["report", path, "--json"][..],
        &["report", path],
        &[
            "evaluate",
            "ladder",
            path,
            "--games",
            "20",
            "--baseline",
            "greedy",
            "--every",
            "2",
            "--simulations",
            "4",
        ],
        &["evaluate", "match", "random", "random", "--games", "2"],
        &["evaluate", "suite", "random"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_cyvasse"))
            .args(arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !error.contains("panicked"), "{arguments:?}: {error}");
    }

    // Checkpoints of other rules are refused by name.
    let other = cyvasse(&["evaluate", "match", &format!("agent:{path}"), "random", "--games", "2"]);
    assert!(String::from_utf8_lossy(&other.stderr).contains("rules"), "{other:?}");
}

#[test]
fn what_is_no_run_is_refused_in_one_line() {
    for arguments in [&["evaluate", "ladder", "nowhere"][..], &["report", "nowhere"]] {
        let output = cyvasse(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1));
        assert!(error.contains("nowhere") && error.trim().lines().count() == 1, "{error}");
    }
}
