//! A whole run at toy size through the binary: self-play, learning, stopping,
//! going on, the matches at the end, and what is refused.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use cyvasse_env::{Rules, SetupSpace};
use cyvasse_selfplay::replay::Shard;
use cyvasse_selfplay::{GameRecord, SetupSource};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

const ROUNDS: u32 = 3;

/// A single round, in which setups are learned: they must be in one at least.
const ONE_ROUND: [(&str, &str); 2] =
    [("rounds = 3", "rounds = 1"), ("uniform_rounds = 1", "uniform_rounds = 0")];

fn cyvasse() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cyvasse"))
}

fn tiny_rules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../env/tests/data/variants/tiny.toml")
}

/// The quick config at toy size, with some lines changed.
fn toy_config(folder: &Path, changes: &[(&str, &str)]) -> PathBuf {
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

fn train(config: &Path, run: &Path, more: &[&str]) -> Output {
    let output = cyvasse().arg("train").arg(config).arg("--run-dir").arg(run).args(more).output();
    output.unwrap()
}

fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn assert_trained(output: &Output) {
    assert!(output.status.success(), "{}", error_of(output));
}

/// With all that a config can switch on: what resuming has to restore. A file of
/// fixed setups is written beside the config.
fn with_everything(folder: &Path, changes: &[(&str, &str)]) -> PathBuf {
    let rules = Rules::from_toml(&fs::read_to_string(tiny_rules()).unwrap()).unwrap();
    let setup = SetupSpace::new(&rules).sample(&mut ChaCha8Rng::seed_from_u64(1));
    fs::write(folder.join("fixed.txt"), format!("# one\n{setup}\n")).unwrap();
    let fixed = [
        ("fixed_file = \"\"", "fixed_file = \"fixed.txt\""),
        ("uniform = 0.2", "uniform = 0.1"),
        ("fixed = 0.0", "fixed = 0.1"),
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
fn contents(run: &Path) -> Vec<([Vec<u8>; 2], Vec<GameRecord>)> {
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

    let config = with_everything(folder.path(), &[("workers = 1", "workers = 3")]);
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

/// A gate at these bounds.
fn gate(elo0: f64, elo1: f64) -> String {
    let rest = "rounds = 1\npairs = 20\nalpha = 0.05\nbeta = 0.05";
    format!("kind = \"sprt\"\n{rest}\nelo0 = {elo0:?}\nelo1 = {elo1:?}\n# ")
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
    assert!(error_of(&output).contains("a run goes on as it began"), "{}", error_of(&output));
}

#[test]
fn bad_configs_are_refused_in_one_line_that_names_the_key() {
    let cases: [(&str, &str, &str); 11] = [
        ("seed = 1 ", "sede = 1 ", "did you mean `seed`?"),
        ("batch_size = 16", "batch_size = \"many\"", "training.batch_size"),
        ("value_weight = 1.0", "value_weight = -1.0", "`training.value_weight` is -1"),
        ("slots = 6", "slots = 0", "`selfplay.slots` is 0"),
        ("kind = \"gumbel\" ", "kind = \"minimax\" ", "minimax"),
        ("rules = ", "# rules = ", "missing field `rules`"),
        ("past = 0.2 ", "past = 0.3 ", "`setups.shares` is 0.2 + 0.6 + 0.3 + 0"),
        ("fixed_file = \"\"", "fixed_file = \"none.txt\"", "`setups.fixed_file` is"),
        ("kind = \"learned\" ", "kind = \"guessed\" ", "guessed"),
        ("average_decay = 0.98", "average_decay = 1.0", "`setups.average_decay` is 1"),
        ("uniform_rounds = 1", "uniform_rounds = 3", "`setups.uniform_rounds` is 3"),
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

    // The run has its own copy, so the file may go; a network of another round may
    // not come.
    fs::remove_file(&file).unwrap();
    assert_trained(&train(&config, &run, &["--resume"]));
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
