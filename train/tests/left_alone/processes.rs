//! A learner and workers in processes of their own.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cyvasse_env::Rules;
use cyvasse_selfplay::replay::Shard;
use serde_json::Value;
use tempfile::TempDir;

use crate::toy::{cyvasse, error_of, tiny_rules, toy_config};

const ROUNDS: u64 = 8;

/// A process, and the file of what it says.
struct Process {
    child: Child,
    said: PathBuf,
}

impl Process {
    fn start(said: PathBuf, arguments: &[&str]) -> Process {
        let file = fs::File::create(&said).unwrap();
        let mut command = cyvasse();
        let child = command.args(arguments).stdout(Stdio::null()).stderr(file).spawn().unwrap();
        Process { child, said }
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap()
    }

    /// Waits until the process has said something.
    fn wait_to_say(&mut self, what: &str) {
        let patience = Instant::now() + Duration::from_secs(60);
        while !self.said().contains(what) {
            assert!(Instant::now() < patience, "no word of `{what}` in: {}", self.said());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn end(mut self) -> (Option<i32>, String) {
        let patience = Instant::now() + Duration::from_secs(60);
        while self.child.try_wait().unwrap().is_none() {
            if Instant::now() > patience {
                self.child.kill().unwrap();
            }
            thread::sleep(Duration::from_millis(10));
        }
        (self.child.wait().unwrap().code(), self.said())
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }
}

/// A run that processes share, each of which has a file of its name for what it says.
struct Shared {
    folder: TempDir,
    config: PathBuf,
    run: PathBuf,
}

impl Shared {
    fn new(changes: &[(&str, &str)]) -> Shared {
        let folder = TempDir::new().unwrap();
        let config = toy_config(folder.path(), changes);
        let run = folder.path().join("run");
        Shared { folder, config, run }
    }

    fn trainer(&self, name: &str, more: &[&str]) -> Process {
        let [config, run] = [&self.config, &self.run].map(|path| path.to_str().unwrap());
        let arguments = ["train", config, "--run-dir", run];
        Process::start(self.folder.path().join(name), &[&arguments[..], more].concat())
    }

    fn worker(&self, name: &str) -> Process {
        let arguments = ["selfplay", "--run-dir", self.run.to_str().unwrap()];
        Process::start(self.folder.path().join(name), &arguments)
    }
}

#[test]
fn workers_and_a_learner_share_a_run_in_any_order() {
    let rounds = format!("rounds = {ROUNDS}");
    let shared = Shared::new(&[("rounds = 3", rounds.as_str()), ("games = 4", "games = 0")]);
    let (run, config) = (&shared.run, &shared.config);
    let worker = |name: &str| shared.worker(name);
    let learner =
        |name: &str, more: &[&str]| shared.trainer(name, &[&["--learner"], more].concat());

    // The worker comes first, and is killed while it waits.
    let mut early = worker("early");
    early.wait_to_say("waiting for a run in ");
    early.signal("-KILL");
    early.end();

    // The learner waits for workers, and is stopped cleanly.
    let mut first = learner("first", &[]);
    first.wait_to_say("round 1: waiting for 240 plies by workers");
    first.signal("-INT");
    let (code, said) = first.end();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("--resume --learner`"), "{said}");

    // Without a learner, workers play until enough lies there; one is killed.
    let mut alone = worker("alone");
    alone.wait_to_say("worker 1 of ");
    alone.wait_to_say("stint 2 ");
    let mut beside = worker("beside");
    beside.wait_to_say("worker 2 of ");
    beside.wait_to_say("stint 1 ");
    alone.signal("-KILL");
    alone.end();

    // The learner goes on and is killed; the killed worker's place is taken again.
    let mut second = learner("second", &["--resume"]);
    second.wait_to_say("round 2: ");
    second.signal("-KILL");
    second.end();
    let mut again = worker("again");
    again.wait_to_say("worker 1 of ");
    let (code, said) = learner("third", &["--resume"]).end();
    assert_eq!(code, Some(0), "{said}");
    for worker in [beside, again] {
        let (code, said) = worker.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("the run has all its rounds"), "{said}");
    }
    check_games(run);
    let status = cyvasse().arg("status").arg(run).arg("--json").output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    for worker in status["workers"].as_array().unwrap() {
        assert_eq!(worker["state"], "finished", "{status}");
    }
    assert_eq!(status["workers"].as_array().unwrap().len(), 2, "{status}");

    // A run in one process goes by the same files: it plays the last round again.
    let last = format!("round-{ROUNDS:04}");
    fs::remove_dir_all(run.join("state").join(&last)).unwrap();
    let output = crate::toy::train(config, run, &["--resume"]);
    assert!(output.status.success(), "{}", error_of(&output));
    let rules = Rules::from_toml(&fs::read_to_string(tiny_rules()).unwrap()).unwrap();
    let shard = Shard::open(run.join("shards").join(last + ".h5"), &rules).unwrap();
    assert!((0..shard.game_count()).all(|game| shard.id(game).slot >> 16 == 0));
}

#[test]
fn a_lone_worker_plays_until_the_learner_has_a_round() {
    // Few games end within a stint of so few plies.
    let few = ("plies_per_slot = 40", "plies_per_slot = 2");
    let shared = Shared::new(&[("rounds = 3", "rounds = 2"), ("games = 4", "games = 0"), few]);
    let learner = shared.trainer("learner", &["--learner"]);
    let mut worker = shared.worker("worker");
    worker.wait_to_say("stint 3 (network of round 0)");
    for process in [learner, worker] {
        let (code, said) = process.end();
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn no_worker_plays_for_a_run_that_plays_its_own_games() {
    let shared = Shared::new(&[("rounds = 3", "rounds = 1000")]);
    let mut alone = shared.trainer("alone", &[]);
    alone.wait_to_say("round 1: ");
    let (code, said) = shared.worker("worker").end();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("on games that it plays itself and takes no others; stop it"), "{said}");
    alone.signal("-KILL");
    alone.end();
}

#[test]
fn a_worker_whose_games_are_damaged_or_of_another_stint_is_passed_over() {
    let shared = Shared::new(&[("rounds = 3", "rounds = 1000")]);
    let run = &shared.run;
    let mut learner = shared.trainer("learner", &["--learner"]);
    learner.wait_to_say("round 1: waiting for ");
    learner.signal("-KILL");
    learner.end();
    let mut first = shared.worker("first");
    first.wait_to_say("waiting for the learner to take 2 stints");
    first.signal("-KILL");
    first.end();
    let path = run.join("workers/worker-0001/stint-000002/unfinished.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    let mut second = shared.worker("second");
    second.wait_to_say("worker 1 is left as it is, for it cannot go on: ");
    second.wait_to_say("worker 2 of ");
    second.signal("-KILL");
    second.end();

    // Somebody has mixed up the files.
    let stints = run.join("workers/worker-0001");
    let games = |stint: &str| stints.join(stint).join("games.h5");
    fs::copy(games("stint-000002"), games("stint-000001")).unwrap();
    let mut learner = shared.trainer("again", &["--learner", "--resume"]);
    learner.wait_to_say("holds games of something else than stint 1 of worker 1 of this run");
    learner.wait_to_say("it is set aside as ");
    learner.signal("-KILL");
    learner.end();
    assert!(run.join("set-aside/workers-worker-0001-stint-000001-games.h5").exists());
}

/// No game is learned from twice, both workers have played, later games by newer
/// networks, and no position was trained on more often than the config allows.
fn check_games(run: &Path) {
    let rules = Rules::from_toml(&fs::read_to_string(tiny_rules()).unwrap()).unwrap();
    let mut ids = HashSet::new();
    let mut steps = HashSet::new();
    for round in 1..=ROUNDS {
        let path = run.join("shards").join(format!("round-{round:04}.h5"));
        let shard = Shard::open(path, &rules).unwrap();
        for game in (0..shard.game_count()).map(|game| shard.game(game).unwrap()) {
            assert!(ids.insert(game.id), "{:?} is there twice", game.id);
            steps.extend(game.plies.iter().map(|ply| ply.network_step));
        }
    }
    let workers: HashSet<u32> = ids.iter().map(|id| id.slot >> 16).collect();
    assert_eq!(workers, HashSet::from([1, 2]));
    assert!(steps.len() > 1 && steps.contains(&0), "{steps:?}");

    let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let lines: Vec<Value> =
        metrics.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len() as u64, ROUNDS);
    let positions: u64 = lines.iter().map(|line| line["positions"].as_u64().unwrap()).sum();
    let steps = lines.last().unwrap()["step"].as_u64().unwrap();
    let samples = steps as f64 * 16.0 / positions as f64;
    // 3 on each position that is not held out: a fifth of the games is.
    assert!((1.5..3.0).contains(&samples), "{samples} samples a position");
}
