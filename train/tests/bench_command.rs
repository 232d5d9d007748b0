//! `cyvasse bench` through the binary: its keys, and what is refused.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The keys that scripts rely on.
const KEYS: [&str; 18] = [
    "threads",
    "batch",
    "network",
    "sgemm_gflops",
    "network_evals_per_s",
    "network_of_sgemm",
    "search_sims_per_s",
    "selfplay_evals_per_s",
    "selfplay_sims_per_s",
    "selfplay_positions_per_s",
    "selfplay_games_per_hour",
    "selfplay_of_network",
    "trainer_samples_per_s",
    "trainer_of_sgemm",
    "perft_leaf_nodes_per_s",
    "perft_play_nodes_per_s",
    "encode_ns",
    "peak_rss_mb",
];

fn cyvasse() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cyvasse"))
}

#[test]
fn numbers_come_under_their_keys_and_hang_together() {
    let quick = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/quick.toml");
    let text = fs::read_to_string(quick).unwrap();
    let text =
        text.replacen("blocks = 3", "blocks = 1", 1).replacen("slots = 128", "slots = 34", 1);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("small.toml");
    fs::write(&config, text).unwrap();
    let output = cyvasse().args(["bench", "--quick", "--json", "--config"]).arg(config).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |key: &str| report[key].as_f64().unwrap_or_else(|| panic!("no number `{key}`"));
    for key in KEYS.into_iter().filter(|&key| key != "network") {
        assert!(number(key) > 0.0, "`{key}` is {}", number(key));
    }
    assert_eq!((number("threads"), number("batch")), (2.0, 17.0));
    assert_eq!(report["network"], serde_json::json!({ "blocks": 1, "channels": 32 }));
    // Every simulation asks for at most one evaluation, every position for more
    // than one simulation on average.
    assert!(number("selfplay_evals_per_s") <= 1.5 * number("selfplay_sims_per_s"));
    assert!(number("selfplay_sims_per_s") > number("selfplay_positions_per_s"));
    assert!(number("selfplay_batch_fill") > 0.5 && number("selfplay_batch_fill") <= 1.0);
}

#[test]
fn a_config_that_cannot_be_used_is_refused_in_a_line() {
    let output = cyvasse().args(["bench", "--config", "missing.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.starts_with("error: cannot read missing.toml"), "{error}");
    assert_eq!(error.lines().count(), 1);
    assert!(output.stdout.is_empty());
}
