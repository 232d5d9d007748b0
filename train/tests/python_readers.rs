//! What users open in Python: shards with h5py, read by the script that shows how,
//! and event files with TensorBoard's own reader. Both are compared with what the
//! program itself says of the same files.
//!
//! `scripts/setup --tests` fetches the Python packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

mod toy;

use toy::{cyvasse, interrupt, toy_config};

/// Prints a JSON object of all scalars of a folder: `[step, value]` by their tags.
const READ_EVENTS: &str = "
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={'scalars': 0})
events.Reload()
scalars = {tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in events.Tags()['scalars']}
print(json.dumps(scalars))
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn python(arguments: &[&std::ffi::OsStr]) -> String {
    let packages = root().join(".deps/python-replay");
    assert!(packages.is_dir(), "no {}: run `scripts/setup --tests`", packages.display());
    let mut command = Command::new("python3");
    command.arg("-B").args(arguments).env("PYTHONPATH", packages);
    succeeded(&command.stderr(Stdio::inherit()).output().unwrap())
}

fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn train(config: &Path, run: &Path, more: &[&str]) {
    let mut command = cyvasse();
    succeeded(
        &command.arg("train").arg(config).arg("--run-dir").arg(run).args(more).output().unwrap(),
    );
}

#[test]
fn h5py_and_tensorboard_read_what_a_run_writes() {
    let folder = TempDir::new().unwrap();
    let config = toy_config(folder.path(), &[("games = 4", "games = 0")]);
    let (whole, run) = (folder.path().join("whole"), folder.path().join("run"));
    train(&config, &whole, &[]);
    interrupt(&config, &run);
    train(&config, &run, &["--resume"]);

    for round in 1..=3 {
        compare_shard(&run.join(format!("shards/round-{round:04}.h5")));
    }
    // As if the run had once been further, and what it did then had been lost: the
    // steps of this file are void from the beginning of the next one on.
    let of = |run: &Path| event_files(&run.join("tensorboard"));
    let void = run.join("tensorboard/events.out.tfevents.0000000001.0000.cyvasse");
    fs::copy(&of(&whole)[0], void).unwrap();
    assert!(of(&run).len() >= 3, "the run was not resumed");
    compare_events(&run);
}

fn event_files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Compares the script's games with those of `replay export`.
fn compare_shard(shard: &Path) {
    let script = root().join("scripts/read_shard.py");
    let theirs = python(&[script.as_os_str(), shard.as_os_str()]);
    let ours = cyvasse().args(["replay", "export", "--targets"]).arg(shard).output().unwrap();
    let ours = succeeded(&ours);
    assert_eq!(ours.lines().count(), theirs.lines().count());
    for (ours, theirs) in ours.lines().zip(theirs.lines()) {
        let [ours, theirs]: [Value; 2] =
            [ours, theirs].map(|line| serde_json::from_str(line).unwrap());
        for key in [
            "game",
            "rules_fingerprint",
            "slot",
            "sequence",
            "setups",
            "sources",
            "result",
            "resigned",
            "plies",
        ] {
            assert_eq!(ours[key], theirs[key], "{key}");
        }
        let targets = |game: &Value| game["targets"].as_array().unwrap().clone();
        let (ours, theirs) = (targets(&ours), targets(&theirs));
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            for key in ["kind", "index", "proven", "simulations", "network_step"] {
                assert_eq!(ours[key], theirs[key], "{key}");
            }
            assert_eq!(single(&ours["root_value"]), single(&theirs["root_value"]));
            let ours = ours["policy"].as_array().unwrap().iter();
            let theirs = theirs["policy"].as_array().unwrap().iter();
            let ours = ours.map(|entry| (entry[1].as_u64(), single(&entry[2])));
            assert!(ours.eq(theirs.map(|entry| (entry[0].as_u64(), single(&entry[1])))));
        }
    }
}

fn single(number: &Value) -> f32 {
    number.as_f64().unwrap() as f32
}

/// Compares the scalars with the metrics: the tag of each is its place in the line.
fn compare_events(run: &Path) {
    let folder = run.join("tensorboard");
    let scalars = python(&["-c".as_ref(), READ_EVENTS.as_ref(), folder.as_os_str()]);
    let scalars: Value = serde_json::from_str(&scalars).unwrap();
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let metrics: Vec<Value> =
        metrics.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(metrics.len(), 3);
    let mut compared = 0;
    for (tag, events) in scalars.as_object().unwrap() {
        let place = format!("/{tag}");
        // A number that a round does not tell of is not in its event either.
        let told = metrics.iter().filter_map(|line| {
            let number = line.pointer(&place).filter(|number| number.is_number())?;
            Some((line["round"].as_u64().unwrap(), single(number)))
        });
        let events = events.as_array().unwrap().iter();
        let events: Vec<_> =
            events.map(|event| (event[0].as_u64().unwrap(), single(&event[1]))).collect();
        let told: Vec<_> = told.collect();
        let same = |(event, told): (&(u64, f32), &(u64, f32))| {
            // Read from a text, a number may have been rounded twice.
            event.0 == told.0 && (event.1 - told.1).abs() <= told.1.abs() * 1e-6
        };
        assert_eq!(events.len(), told.len(), "{tag}");
        assert!(events.iter().zip(&told).all(same), "{tag}: {events:?} {told:?}");
        compared += events.len();
    }
    let numbers: usize = metrics.iter().map(count_numbers).sum();
    assert_eq!(compared, numbers, "some numbers are not in the event files");
    for tag in ["policy_loss", "value_loss", "play/evaluations_per_s", "results/policy_entropy"] {
        assert!(scalars.get(tag).is_some(), "no {tag}");
    }
}

fn count_numbers(value: &Value) -> usize {
    match value {
        Value::Number(_) => 1,
        Value::Array(entries) => entries.iter().map(count_numbers).sum(),
        Value::Object(entries) => entries.values().map(count_numbers).sum(),
        _ => 0,
    }
}
