//! A whole run at toy size through the binary: self-play, learning, stopping,
//! going on, the matches at the end, and what is refused.

mod toy;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cyvasse_env::Rules;
use cyvasse_selfplay::SetupSource;
use cyvasse_selfplay::replay::Shard;
use tempfile::TempDir;
use toy::{
    ONE_ROUND, ROUNDS, assert_trained, contents, cyvasse, error_of, gate, tiny_rules, toy_config,
    train, with_everything,
};

#[test]
fn a_run_learns_and_is_reproducible_however_often_it_is_stopped() {
    let folder = TempDir::new().unwrap();
    let config = with_everything(folder.path(), &[]);
    let (whole, stopped) = (folder.path().join("whole"), folder.path().join("stopped"));
    let output = train(&config, &whole, &[]);
    assert_trained(&output);
    let said = error_of(&output);
    assert!(said.contains("against the random player, 4 games: "), "{said}");
    assert!(said.contains("against the untrained network, 4 games: "), "{said}");
    let expected = contents(&whole);
    assert!(expected.iter().map(|(_, games)| games.len()).sum::<usize>() > 10);
    let [first, second, third] = [0, 1, 2].map(|round| &expected[round].0);
    assert!(first[0] != second[0], "the first round changed no weight");
    assert!(first[1] == second[1], "setups were learned in a round of uniform ones");
    assert!(second[1] != third[1], "the second round changed no weight of the setup network");
    let sources: HashSet<SetupSource> =
        expected.iter().flat_map(|(_, games)| games).flat_map(|game| game.sources).collect();
    assert_eq!(sources, HashSet::from(SetupSource::ALL));
    assert!(said.contains("round 3: setups in ") && said.contains("current "), "{said}");
    assert!(whole.join("log.txt").exists() && whole.join("metrics.jsonl").exists());

    // Neither workers nor what stays in memory of the shards makes a difference.
    let changes = [("workers = 1", "workers = 3"), ("memory_mb = 256", "memory_mb = 0")];
    let config = with_everything(folder.path(), &changes);
    interrupt_often(&config, &stopped);
    assert_eq!(contents(&stopped), expected, "a stopped run differs from a whole one");
}

/// Runs with an interruption at another moment each time, until it is done.
fn interrupt_often(config: &Path, run: &Path) {
    for attempt in 0..40u64 {
        let mut command = cyvasse();
        command.arg("train").arg(config).arg("--run-dir").arg(run);
        if run.exists() {
            command.arg("--resume");
        }
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let patience =
            Duration::from_millis(if attempt < 6 { 100 + 130 * attempt } else { 60_000 });
        let started = Instant::now();
        while started.elapsed() < patience && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        if child.try_wait().unwrap().is_none() {
            // Half of the stops are asked for, half are sudden.
            let signal = if attempt % 2 == 0 { "-INT" } else { "-KILL" };
            let pid = child.id().to_string();
            assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        }
        let status = child.wait().unwrap();
        let finished = run.join("checkpoints").join(format!("round-{ROUNDS:04}")).exists();
        if finished && status.success() {
            return;
        }
    }
    panic!("the run did not end in 40 attempts");
}

#[test]
fn a_network_that_fails_at_the_gate_does_not_play() {
    let folder = TempDir::new().unwrap();
    let bounds = [("passes", -400.0, -300.0), ("fails", 600.0, 700.0)];
    let [passes, fails] = bounds.map(|(name, elo0, elo1)| {
        let gate = gate(elo0, elo1);
        let config = toy_config(folder.path(), &[("kind = \"off\" ", &gate)]);
        let run = folder.path().join(name);
        let output = train(&config, &run, &[]);
        assert_trained(&output);
        let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
        let champions = metrics.lines().map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line["gate"]["champion"].as_u64().unwrap()
        });
        let champions: Vec<u64> = champions.collect();
        (champions, last_network_step(&run), error_of(&output))
    });
    assert_eq!(passes.0, [1, 2, 3]);
    assert!(passes.1 > 0 && passes.2.contains("round 3: promoted with "), "{}", passes.2);
    assert_eq!(fails.0, [0, 0, 0]);
    assert!(fails.1 == 0 && fails.2.contains("round 3: not promoted with "), "{}", fails.2);
}

/// The step of the network that chose the last action of the last shard.
fn last_network_step(run: &Path) -> u32 {
    let rules = Rules::from_toml(&fs::read_to_string(tiny_rules()).unwrap()).unwrap();
    let shard = Shard::open(run.join(format!("shards/round-{ROUNDS:04}.h5")), &rules).unwrap();
    let games = (0..shard.game_count()).map(|game| shard.game(game).unwrap());
    games.flat_map(|game| game.plies).map(|ply| ply.network_step).max().unwrap()
}

#[test]
fn a_run_that_is_there_is_not_overwritten() {
    let folder = TempDir::new().unwrap();
    let config = toy_config(folder.path(), &ONE_ROUND);
    let run = folder.path().join("run");
    assert_trained(&train(&config, &run, &[]));
    let before = fs::read(run.join("config.toml")).unwrap();
    let output = train(&config, &run, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error_of(&output).contains("exists already; continue it with `--resume`"));
    assert_eq!(fs::read(run.join("config.toml")).unwrap(), before);

    let changed = toy_config(folder.path(), &[("rounds = 3", "rounds = 2")]);
    let output = train(&changed, &run, &["--resume"]);
    assert_eq!(output.status.code(), Some(1));
    let said = error_of(&output);
    assert!(said.contains(" in `run.rounds` (2, there 1), `setups.uniform_rounds` (1, there 0): "));
}

#[test]
fn bad_configs_are_refused_in_one_line_that_names_the_key() {
    let cases: [(&str, &str, &str); 14] = [
        ("seed = 1 ", "sede = 1 ", "did you mean `seed`?"),
        ("batch_size = 16", "batch_size = \"many\"", "training.batch_size"),
        ("value_weight = 1.0", "value_weight = -1.0", "`training.value_weight` is -1"),
        (
            "precision = \"single\"     # numbers that",
            "precision = \"half\" # ",
            "training.precision",
        ),
        ("slots = 6", "slots = 0", "`selfplay.slots` is 0"),
        ("kind = \"gumbel\" ", "kind = \"minimax\" ", "minimax"),
        ("rules = ", "# rules = ", "missing field `rules`"),
        ("past = 0.2 ", "past = 0.3 ", "`setups.shares` is 0.2 + 0.6 + 0.3 + 0"),
        ("fixed_file = \"\"", "fixed_file = \"none.txt\"", "`setups.fixed_file` is"),
        ("kind = \"learned\" ", "kind = \"guessed\" ", "guessed"),
        ("average_decay = 0.98", "average_decay = 1.0", "`setups.average_decay` is 1"),
        ("uniform_rounds = 1", "uniform_rounds = 3", "`setups.uniform_rounds` is 3"),
        (
            "mirror = true            # mirror a homeland",
            "# ",
            "`setups`: `network`: missing field `mirror`",
        ),
        (
            "blocks = 2               # residual",
            "blokcs = 2 # ",
            "`setups`: `network.blokcs`: unknown field `blokcs`, expected one of `width`, `blocks`, \
             `mirror` in `network`; did you mean `blocks`?",
        ),
    ];
    for (from, to, expected) in cases {
        assert_refused(&[(from, to)], expected);
    }
    let nothing_of_its_own = [
        ("targets = \"value\" ", "targets = \"result\" "),
        ("uniform = 0.2", "uniform = 0.8"),
        ("current = 0.6", "current = 0.0"),
    ];
    assert_refused(&nothing_of_its_own, "`setups.shares.current` is 0");
    let many = [
        ("samples_per_seat = 12", "samples_per_seat = 65536"),
        ("opponents = 4", "opponents = 1000"),
    ];
    assert_refused(&many, "`setups.opponents` is 1000");
}

fn assert_refused(changes: &[(&str, &str)], expected: &str) {
    let folder = TempDir::new().unwrap();
    let run = folder.path().join("run");
    let output = train(&toy_config(folder.path(), changes), &run, &[]);
    let said = error_of(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(expected) && said.trim().lines().count() == 1, "{said}");
    assert!(!run.exists(), "a refused config left a run directory");
}

#[test]
fn resuming_with_other_setups_is_refused() {
    let folder = TempDir::new().unwrap();
    let no_match = [("games = 4", "games = 0")];
    let config = with_everything(folder.path(), &[&ONE_ROUND[..], &no_match].concat());
    let run = folder.path().join("run");
    assert_trained(&train(&config, &run, &[]));
    let refused = |expected: &str| {
        let output = train(&config, &run, &["--resume"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(error_of(&output).contains(expected), "{}", error_of(&output));
    };
    let file = folder.path().join("fixed.txt");
    let text = fs::read_to_string(&file).unwrap();
    let setup = text.lines().last().unwrap();
    fs::write(&file, format!("{text}{setup}\n")).unwrap();
    refused("fixed.txt differs from ");

    // The run has its own copy, so the file may go.
    fs::remove_file(&file).unwrap();
    assert_trained(&train(&config, &run, &["--resume"]));

    // Neither may a network be told to be another, nor one of another round come.
    let own = run.join("config.toml");
    let [theirs, ours] = [&config, &own].map(|path| fs::read_to_string(path).unwrap());
    let comment = "mirror = true            # mirror a homeland";
    fs::write(&config, theirs.replace(comment, "mirror = false #")).unwrap();
    let (start, network) = ours.split_once("[setups.network]").unwrap();
    let network = network.replacen("mirror = true", "mirror = false", 1);
    fs::write(&own, format!("{start}[setups.network]{network}")).unwrap();
    refused("setup.safetensors is a network of another shape than `setups.network`");
    fs::write(&config, theirs).unwrap();
    fs::write(&own, ours).unwrap();
    let network = |round: &str| run.join("checkpoints").join(round).join("setup.safetensors");
    fs::copy(network("round-0000"), network("round-0001")).unwrap();
    refused("setup.safetensors is of step 0, the run's state of step ");
}

#[test]
fn resuming_nothing_is_refused() {
    let folder = TempDir::new().unwrap();
    let config = toy_config(folder.path(), &[]);
    let output = train(&config, &folder.path().join("nowhere"), &["--resume"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error_of(&output).contains("is no run directory"));
}

#[test]
fn an_illegal_fixed_setup_is_refused_by_its_line() {
    let folder = TempDir::new().unwrap();
    let config = with_everything(folder.path(), &[]);
    let file = folder.path().join("fixed.txt");
    let text = fs::read_to_string(&file).unwrap() + "8/8/8/8 8/8/8/8\n";
    fs::write(&file, text).unwrap();
    let run = folder.path().join("run");
    let output = train(&config, &run, &[]);
    let said = error_of(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("fixed.txt, line 3: mountain: 0 instead of 2"), "{said}");
    assert!(!run.exists());
}

#[test]
fn uniform_setups_need_no_setup_network() {
    let folder = TempDir::new().unwrap();
    let config = toy_config(folder.path(), &ONE_ROUND);
    let text = fs::read_to_string(&config).unwrap();
    let (before, rest) = text.split_once("[setups]").unwrap();
    let (_, after) = rest.split_once("[gate]").unwrap();
    let text = format!("{before}[setups]\nkind = \"uniform\"\n\n[gate]{after}");
    fs::write(&config, text).unwrap();
    let run = folder.path().join("run");
    assert_trained(&train(&config, &run, &[]));
    assert!(run.join("checkpoints/round-0001/play.safetensors").exists());
    assert!(!run.join("checkpoints/round-0001/setup.safetensors").exists());
}
