//! `cyvasse setup` and `cyvasse evaluate setups` through the binary, with networks
//! that have learned nothing, and what is refused.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use cyvasse_env::{Rules, Setup, SetupSpace};
use cyvasse_train::checkpoints::SETUP_NET;
use tempfile::TempDir;

use common::untrained;

fn cyvasse(arguments: &[&str], checkpoint: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cyvasse"))
        .args(arguments)
        .arg("--checkpoint")
        .arg(checkpoint)
        .args(more)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn answer(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn setups_are_sampled_scored_and_shown() {
    let rules = Rules::iron_throne();
    let folder = untrained(&rules);
    let sampled = answer(&cyvasse(&["setup", "sample"], folder.path(), &["--count", "3"]));
    assert_eq!(sampled.lines().count(), 3);
    for line in sampled.lines() {
        Setup::parse(line, &rules).unwrap();
    }
    let again = answer(&cyvasse(&["setup", "sample"], folder.path(), &["--count", "3"]));
    assert_eq!(again, sampled);

    // A network that has learned nothing is uniform.
    let setup = sampled.lines().next().unwrap();
    let scored = answer(&cyvasse(&["setup", "score", "--seat", "black"], folder.path(), &[setup]));
    let uniform = -SetupSpace::new(&rules).log_count();
    let expected = format!("log-probability {uniform:.2} (uniform {uniform:.2}) value ");
    assert!(scored.starts_with(&expected), "{scored}");

    let more = ["--samples", "50", "--count", "1"];
    let shown = answer(&cyvasse(&["setup", "show"], folder.path(), &more));
    assert!(shown.contains("50 of 50 samples for white are distinct; entropy 68.9 nats, 100%"));
    assert!(shown.contains("king, percent of setups") && shown.contains("fortress, percent"));

    // A run stands for its newest checkpoint.
    let run = TempDir::new().unwrap();
    fs::create_dir_all(run.path().join("checkpoints/round-0000")).unwrap();
    fs::rename(folder.keep(), run.path().join("checkpoints/round-0001")).unwrap();
    let of_run = answer(&cyvasse(&["setup", "sample"], run.path(), &["--count", "3"]));
    assert_eq!(of_run, sampled);
}

#[test]
fn checkpoints_of_other_rules_and_without_setups_are_refused() {
    let mut rules = Rules::iron_throne();
    rules.tiles.mountain = 5;
    let folder = untrained(&rules);
    for command in [&["setup", "sample"][..], &["evaluate", "setups"]] {
        let output = cyvasse(command, folder.path(), &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("rules_fingerprint is"), "{}", text(&output.stderr));
    }
    fs::remove_file(folder.path().join(SETUP_NET)).unwrap();
    let output = cyvasse(&["setup", "sample"], folder.path(), &[]);
    assert!(text(&output.stderr).contains("has no setup.safetensors"), "{}", text(&output.stderr));
}

/// The arguments of a small evaluation in JSON, the steps of its climbs aside.
const SMALL: [&str; 18] = [
    "--hand-made",
    concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/setups"),
    "--simulations",
    "2",
    "--games",
    "4",
    "--hand-made-games",
    "2",
    "--response-games",
    "4",
    "--samples",
    "50",
    "--climb-starts",
    "2",
    "--workers",
    "1",
    "--json",
    "--climb-steps",
];

#[test]
fn an_evaluation_that_is_stopped_in_a_climb_says_so() {
    let folder = untrained(&Rules::iron_throne());
    let mut child = Command::new(env!("CARGO_BIN_EXE_cyvasse"))
        .args(["evaluate", "setups", "--checkpoint"])
        .arg(folder.path())
        .args(SMALL)
        .arg("1000000")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A line for the games against uniform setups and against each of ten made by
    // hand; the climb comes next and would take hours.
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(said.by_ref().take(11).map(Result::unwrap).count(), 11);
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let rest = said.map(Result::unwrap).collect::<Vec<String>>().join("\n");
    let mut report = String::new();
    child.stdout.take().unwrap().read_to_string(&mut report).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(rest.contains("stopped before all games were over"), "{rest}");
    assert!(report.is_empty(), "{report}");
}

#[test]
fn an_evaluation_reports_what_falls_short() {
    let folder = untrained(&Rules::iron_throne());
    let small = [&SMALL[..], &["1"]].concat();
    let output = cyvasse(&["evaluate", "setups"], folder.path(), &small);
    assert_eq!(output.status.code(), Some(1), "uniform setups are no learned mixture");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["hand_made"].as_array().unwrap().len(), 10);
    assert_eq!(report["against_uniform"]["games"], 4);
    let entropy = report["diversity"][0]["entropy_share"].as_f64().unwrap();
    assert!((entropy - 1.0).abs() < 1e-3, "{entropy}");
    let verdicts = report["verdicts"].as_array().unwrap();
    let of = |start: &str| {
        let found = verdicts.iter().find(|verdict| {
            verdict["requirement"].as_str().is_some_and(|text| text.starts_with(start))
        });
        found.unwrap()["met"].clone()
    };
    assert_eq!(of("joint entropy"), false);
    assert_eq!(of("at least 99%"), true);
    assert_eq!(of("against uniform setups with another pilot"), serde_json::Value::Null);
}
