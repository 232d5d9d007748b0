//! Runs at toy size through the binary.
#![allow(dead_code)] // not every test uses all of it

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use cyvasse_env::{Rules, SetupSpace};
use cyvasse_selfplay::GameRecord;
use cyvasse_selfplay::replay::Shard;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub(crate) const ROUNDS: u32 = 3;

/// A single round, in which setups are learned: they must be in one at least.
pub(crate) const ONE_ROUND: [(&str, &str); 2] =
    [("rounds = 3", "rounds = 1"), ("uniform_rounds = 1", "uniform_rounds = 0")];

pub(crate) fn cyvasse() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cyvasse"))
}

pub(crate) fn tiny_rules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../env/tests/data/variants/tiny.toml")
}

/// The quick config at toy size, with some lines changed.
pub(crate) fn toy_config(folder: &Path, changes: &[(&str, &str)]) -> PathBuf {
    let quick = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/quick.toml");
    let mut text = fs::read_to_string(quick).unwrap();
    let rules = format!("rules = {:?}", tiny_rules().display().to_string());
    let toy = [
        ("rules = \"iron-throne\"", rules.as_str()),
        ("rounds = 12", "rounds = 3"),
        ("blocks = 3", "blocks = 1"),
        ("channels = 32", "channels = 8"),
        ("workers = 2", "workers = 1"),
        ("slots = 128", "slots = 6"),
        ("plies_per_slot = 64", "plies_per_slot = 40"),
        ("simulations = 32", "simulations = 4"),
        ("batch_size = 256", "batch_size = 16"),
        ("window_positions = 50000", "window_positions = 300"),
        ("window_growth = 0.0 ", "window_growth = 0.4 "),
        ("held_out_games = 0.05", "held_out_games = 0.2"),
        ("uniform_rounds = 2", "uniform_rounds = 1"),
        ("samples_per_seat = 768", "samples_per_seat = 12"),
        ("opponents = 32", "opponents = 4"),
        ("batch_setups = 128", "batch_setups = 8"),
        ("width = 128", "width = 16"),
        ("games = 200", "games = 4"),
    ];
    for (from, to) in toy.iter().chain(changes) {
        assert!(text.contains(from), "the config has no line `{from}`");
        text = text.replacen(from, to, 1);
    }
    let path = folder.join("toy.toml");
    fs::write(&path, text).unwrap();
    path
}

pub(crate) fn train(config: &Path, run: &Path, more: &[&str]) -> Output {
    let output = cyvasse().arg("train").arg(config).arg("--run-dir").arg(run).args(more).output();
    output.unwrap()
}

pub(crate) fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn assert_trained(output: &Output) {
    assert!(output.status.success(), "{}", error_of(output));
}

/// With all that a config can switch on: what resuming has to restore. A file of
/// fixed setups is written beside the config.
pub(crate) fn with_everything(folder: &Path, changes: &[(&str, &str)]) -> PathBuf {
    let rules = Rules::from_toml(&fs::read_to_string(tiny_rules()).unwrap()).unwrap();
    let setup = SetupSpace::new(&rules).sample(&mut ChaCha8Rng::seed_from_u64(1));
    fs::write(folder.join("fixed.txt"), format!("# one\n{setup}\n")).unwrap();
    let fixed = [
        ("fixed_file = \"\"", "fixed_file = \"fixed.txt\""),
        ("uniform = 0.2", "uniform = 0.1"),
        ("fixed = 0.0", "fixed = 0.1"),
        ("policy_surprise = 0.0 ", "policy_surprise = 0.5 "),
        ("reuse_tree = false", "reuse_tree = true"),
        ("remembered_evaluations = 0 ", "remembered_evaluations = 50 "),
        ("full_share = 1.0", "full_share = 0.6"),
        ("cheap_simulations = 8", "cheap_simulations = 2"),
        ("share = 0.0              # share of games that do", "share = 0.5"),
        ("false_positives = 0.0", "false_positives = 0.5"),
        ("played_on = 0.1", "played_on = 0.5"),
        ("kind = \"off\" ", &gate(-400.0, -300.0)),
    ];
    toy_config(folder, &[&fixed, changes].concat())
}

/// Everything that a run teaches and knows: the weights of both networks and the
/// games, round by round.
pub(crate) fn contents(run: &Path) -> Vec<([Vec<u8>; 2], Vec<GameRecord>)> {
    let rules = Rules::from_toml(&fs::read_to_string(tiny_rules()).unwrap()).unwrap();
    (0..=ROUNDS)
        .map(|round| {
            let name = format!("round-{round:04}");
            let checkpoint = run.join("checkpoints").join(&name);
            let weights = ["play.safetensors", "setup.safetensors"]
                .map(|file| fs::read(checkpoint.join(file)).unwrap());
            let shard = run.join("shards").join(name + ".h5");
            let games = if shard.exists() {
                let shard = Shard::open(shard, &rules).unwrap();
                (0..shard.game_count()).map(|game| shard.game(game).unwrap()).collect()
            } else {
                Vec::new()
            };
            (weights, games)
        })
        .collect()
}

/// A gate at these bounds.
pub(crate) fn gate(elo0: f64, elo1: f64) -> String {
    let rest = "rounds = 1\npairs = 20\nalpha = 0.05\nbeta = 0.05";
    format!("kind = \"sprt\"\n{rest}\nelo0 = {elo0:?}\nelo1 = {elo1:?}\n# ")
}

/// Starts a run, waits until its first round lies behind, and asks it to stop.
pub(crate) fn interrupt(config: &Path, run: &Path) {
    let mut child = begin(config, run);
    send(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// Starts a run and waits until its first round lies behind.
pub(crate) fn begin(config: &Path, run: &Path) -> Child {
    let mut command = cyvasse();
    command.arg("train").arg(config).arg("--run-dir").arg(run).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while !fs::read_to_string(run.join("metrics.jsonl")).is_ok_and(|text| text.contains('\n')) {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before its first round");
        thread::sleep(Duration::from_millis(5));
    }
    child
}

/// Sends a signal.
pub(crate) fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}
