//! Training runs at toy size.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The program.
pub(crate) fn cyvasse() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cyvasse"))
}

/// The quick config at toy size, with some lines changed.
pub(crate) fn toy_config(folder: &Path, changes: &[(&str, &str)]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut text = fs::read_to_string(root.join("configs/quick.toml")).unwrap();
    let rules = root.join("env/tests/data/variants/tiny.toml");
    let rules = format!("rules = {:?}", rules.display().to_string());
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
        ("uniform_rounds = 2", "uniform_rounds = 1"),
        ("samples_per_seat = 256", "samples_per_seat = 12"),
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
