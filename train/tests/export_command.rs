//! `cyvasse export` through the binary: what a bundle holds, and what is refused
//! without leaving anything behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use cyvasse_env::{Position, Rules, encode};
use cyvasse_models::checkpoint::{self, Saved};
use cyvasse_models::export::{OnnxReader, Reader};
use cyvasse_models::{Net, SetupNet, TensorFile};
use cyvasse_selfplay::replay::{ShardHeader, write_shard};
use cyvasse_train::checkpoints::{PLAY_NET, SETUP_NET, load_play_net, load_setup_net, made_for};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use tch::{Device, Tensor};
use tempfile::TempDir;

mod common;

use common::{random_games, untrained};

fn export(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cyvasse")).arg("export").args(arguments).output().unwrap()
}

/// Moves all weights away from their first values, which are zero for many.
fn disturb<N: Saved>(net: &N) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    tch::no_grad(|| {
        for (name, mut tensor) in net.tensors() {
            let mut number = || rng.random::<f32>() - 0.5;
            let noise: Vec<f32> = (0..tensor.numel()).map(|_| number()).collect();
            let noise = Tensor::from_slice(&noise).reshape(tensor.size());
            let of_norm = name.ends_with("running_var") || name.ends_with("norm.weight");
            tensor.copy_(&if of_norm {
                noise * 0.4 + 1.0
            } else {
                tensor.shallow_clone() + noise * 0.2
            });
        }
    });
}

/// A checkpoint directory with weights as training leaves them, somehow.
fn trained(rules: &Rules) -> TempDir {
    let folder = untrained(rules);
    let play: Net = load_play_net(folder.path(), rules, Device::Cpu).unwrap();
    let setup: SetupNet = load_setup_net(folder.path(), rules, Device::Cpu).unwrap();
    disturb(&play);
    disturb(&setup);
    checkpoint::save(&folder.path().join(PLAY_NET), &play, &made_for(rules), 7).unwrap();
    checkpoint::save(&folder.path().join(SETUP_NET), &setup, &made_for(rules), 7).unwrap();
    folder
}

/// Exports, which must succeed, and reads `model.json`.
fn exported(checkpoint: &Path, out: &Path, more: &[&str]) -> (Value, String) {
    let mut arguments =
        vec!["--checkpoint", checkpoint.to_str().unwrap(), "--out", out.to_str().unwrap()];
    arguments.extend(more);
    let output = export(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let model = fs::read_to_string(out.join("model.json")).unwrap();
    (serde_json::from_str(&model).unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_bundle_holds_what_a_front_end_needs() {
    let rules = Rules::iron_throne();
    let (checkpoint, folder) = (trained(&rules), TempDir::new().unwrap());
    let out = folder.path().join("bundle");
    let all = ["--format", "safetensors,onnx,torchscript"];
    let (model, told) = exported(checkpoint.path(), &out, &all);
    let files = [
        "README.md",
        "model.json",
        "play.onnx",
        "play.pt",
        "play.safetensors",
        "rules.toml",
        "setup.onnx",
        "setup.pt",
        "setup.safetensors",
        "test_cases.json",
        "test_cases.safetensors",
    ];
    assert_eq!(names(&out), files);
    assert_eq!(names(folder.path()), ["bundle"]);
    assert_eq!(told.lines().count(), 7, "{told}");

    assert_eq!(model["training"]["step"], 7);
    assert_eq!(model["play"]["architecture"]["channels"], 8);
    assert_eq!(model["play"]["input"]["planes"].as_array().unwrap().len(), 32);
    assert_eq!(model["actions"]["planes"].as_array().unwrap().len(), 124);
    assert_eq!(model["setup"]["unit_tokens"][10], "king");
    assert_eq!(model["format_version"], 2);
    assert_eq!(model["setup"]["architecture"]["mirror"], true);
    assert_eq!(model["networks"].as_array().unwrap().len(), 6);
    let differences = model["networks"].as_array().unwrap().iter();
    assert!(
        differences.map(|file| &file["largest_difference"]).all(|d| d.as_f64().unwrap() <= 1e-4)
    );
    let copy = Rules::from_toml(&fs::read_to_string(out.join("rules.toml")).unwrap()).unwrap();
    assert_eq!(copy.fingerprint(), rules.fingerprint());
}

/// The test cases are compared with the rules and with the network itself, and the
/// ONNX file with the test cases.
#[test]
fn test_cases_are_what_the_rules_and_the_network_say() {
    let rules = Rules::iron_throne();
    let (checkpoint, folder) = (trained(&rules), TempDir::new().unwrap());
    let out = folder.path().join("bundle");
    let (_, _) = exported(checkpoint.path(), &out, &[]);
    let text = fs::read_to_string(out.join("test_cases.json")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let numbers = |value: &Value| -> Vec<f32> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap() as f32).collect()
    };
    let net = load_play_net(checkpoint.path(), &rules, Device::Cpu).unwrap();
    let reader = OnnxReader::new(&fs::read(out.join("play.onnx")).unwrap()).unwrap();
    let play = cases["play"].as_array().unwrap();
    assert_eq!(play.len(), 32);
    let mut sides = [0; 2];
    for case in play {
        let position = Position::parse(case["position"].as_str().unwrap(), &rules).unwrap();
        sides[position.turn().index()] += 1;
        let mut planes = vec![0.0; 2048];
        encode(&position, case["occurrences"].as_u64().unwrap() as usize, &rules, &mut planes);
        assert_eq!(numbers(&case["planes"]), planes);
        let planes = Tensor::from_slice(&planes).reshape([1, 8, 8, 32]);
        let outputs = net.forward(&planes);
        let read = reader.run(&[planes]).unwrap();
        let mut legal = Vec::new();
        position.legal_actions(&rules, &mut legal);
        let actions = case["actions"].as_array().unwrap();
        assert_eq!(actions.len(), legal.len());
        for (told, action) in actions.iter().zip(legal) {
            let index = action.index(position.turn());
            assert_eq!(told["action"], action.to_string());
            assert_eq!(told["index"], index);
            for policy in [&outputs.policy, &read[0]] {
                let logit = policy.double_value(&[0, index as i64]);
                assert!((told["logit"].as_f64().unwrap() - logit).abs() < 1e-4);
            }
        }
        let value = Tensor::from_slice(&numbers(&case["value"]));
        assert!((outputs.value.squeeze() - value).abs().max().double_value(&[]) < 1e-4);
    }
    assert!(sides[0] > 4 && sides[1] > 4, "{sides:?}");
    assert_eq!(cases["setup"].as_array().unwrap().len(), 32);
    let tensors = TensorFile::load(&out.join("test_cases.safetensors")).unwrap().tensors;
    assert_eq!(tensors["play.policy"].size(), [32, 7936]);
}

/// A run directory with one round: a checkpoint without a setup network, and a shard.
fn run(rules: &Arc<Rules>) -> TempDir {
    let (run, networks) = (TempDir::new().unwrap(), trained(rules));
    let round = run.path().join("checkpoints/round-0001");
    fs::create_dir_all(&round).unwrap();
    fs::create_dir(run.path().join("shards")).unwrap();
    fs::copy(networks.path().join(PLAY_NET), round.join(PLAY_NET)).unwrap();
    fs::write(run.path().join("config.toml"), "").unwrap();
    fs::write(run.path().join("rules.toml"), rules.to_toml()).unwrap();
    fs::write(run.path().join("log.txt"), "[ 3.0s] against the random player, 2 games: 50.0%\n")
        .unwrap();
    let shard = run.path().join("shards/round-0001.h5");
    write_shard(&shard, &ShardHeader::new(rules, 1, 1), &random_games(rules, 6)).unwrap();
    run
}

#[test]
fn smaller_numbers_are_calibrated_and_measured() {
    let rules = Arc::new(Rules::iron_throne());
    let (run, folder) = (run(&rules), TempDir::new().unwrap());
    let more = ["--precision", "int8,fp16,fp32", "--games", "4"];
    let out = folder.path().join("bundle");
    let (model, told) = exported(run.path(), &out, &more);
    let onnx: Vec<String> =
        names(&out).into_iter().filter(|name| name.ends_with(".onnx")).collect();
    assert_eq!(onnx, ["play.fp16.onnx", "play.int8.onnx", "play.onnx"]);
    assert_eq!(told.matches("against fp32, 4 games").count(), 2, "{told}");
    let worth = model["smaller_numbers"].as_array().unwrap();
    assert_eq!(worth.len(), 2);
    for worth in worth {
        let share = worth["share"].as_f64().unwrap();
        let interval = |place: usize| worth["share_interval"][place].as_f64().unwrap();
        assert!(interval(0) <= share && share <= interval(1));
        assert!(worth["evaluations_per_second"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(model["training"]["run"]["round"], 1);
    let end = &model["strength"]["end_of_run"];
    assert_eq!(end[0], "against the random player, 2 games: 50.0%");

    // The same from a shard by its path; without a run there are no positions.
    let checkpoint = trained(&rules);
    let shard = run.path().join("shards/round-0001.h5");
    let from_shard =
        ["--precision", "int8", "--games", "2", "--calibrate", shard.to_str().unwrap()];
    let out = folder.path().join("other");
    exported(checkpoint.path(), &out, &from_shard);
    assert!(out.join("play.int8.onnx").exists() && out.join("setup.onnx").exists());
    assert!(!out.join("play.onnx").exists());
    let refused = ["--precision", "int8"];
    let line = refusal(checkpoint.path(), &folder.path().join("third"), &refused);
    assert!(line.contains("int8 needs positions of games"), "{line}");
}

/// Exports, which must fail in one line and leave nothing where `out` was to be.
fn refusal(checkpoint: &Path, out: &Path, more: &[&str]) -> String {
    // In /proc processes come and go.
    let beside = || {
        let parent = out.parent().filter(|parent| parent.is_dir() && *parent != Path::new("/proc"));
        parent.map(names)
    };
    let before = beside();
    let mut arguments =
        vec!["--checkpoint", checkpoint.to_str().unwrap(), "--out", out.to_str().unwrap()];
    arguments.extend(more);
    let output = export(&arguments);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.starts_with("error: ") && output.stdout.is_empty(), "{line}");
    assert_eq!(beside(), before);
    line
}

#[test]
fn what_cannot_be_exported_is_refused_in_a_line() {
    let rules = Rules::iron_throne();
    let (checkpoint, folder) = (trained(&rules), TempDir::new().unwrap());
    let checkpoint = checkpoint.path();
    let out = folder.path().join("bundle");
    let line = refusal(checkpoint, &out, &["--format", "onnx,torchskript"]);
    assert!(line.contains("unknown `torchskript`") && line.contains("did you mean `torchscript`?"));
    let line = refusal(checkpoint, &out, &["--precision", "fp8"]);
    assert!(line.contains("expected fp32, fp16, int8"), "{line}");
    let line = refusal(checkpoint, &out, &["--precision", "fp16", "--format", "torchscript"]);
    assert!(line.contains("for ONNX only"), "{line}");
    let line = refusal(checkpoint, &out, &["--games", "3"]);
    assert!(line.contains("even number"), "{line}");
    let line = refusal(&folder.path().join("nowhere"), &out, &[]);
    assert!(line.contains("has no checkpoint"), "{line}");

    let other =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../env/tests/data/variants/tiny.toml");
    let line = refusal(checkpoint, &out, &["--rules", other.to_str().unwrap()]);
    assert!(line.contains("rules_fingerprint"), "{line}");

    // What is there stays as it is.
    fs::create_dir(&out).unwrap();
    fs::write(out.join("mine"), "mine").unwrap();
    let line = refusal(checkpoint, &out, &[]);
    assert!(line.contains("exists already"), "{line}");
    let line = refusal(checkpoint, &out.join("mine"), &[]);
    assert!(line.contains("exists already"), "{line}");
    assert_eq!(fs::read_to_string(out.join("mine")).unwrap(), "mine");
    // Where nobody can write, not even root.
    let line = refusal(checkpoint, Path::new("/proc/bundle"), &[]);
    assert!(line.contains("cannot create /proc/bundle"), "{line}");
    let line = refusal(checkpoint, &folder.path().join("no/bundle"), &[]);
    assert!(line.contains("is no folder; make it first"), "{line}");
}

#[test]
fn a_damaged_checkpoint_is_refused_in_a_line() {
    let rules = Rules::iron_throne();
    let folder = TempDir::new().unwrap();
    for file in [PLAY_NET, SETUP_NET] {
        let checkpoint = trained(&rules);
        let path = checkpoint.path().join(file);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() * 3 / 4;
        bytes[middle] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let line = refusal(checkpoint.path(), &folder.path().join("bundle"), &[]);
        assert!(line.contains(file) && line.contains("is damaged"), "{line}");
        fs::write(&path, &bytes[..100]).unwrap();
        let line = refusal(checkpoint.path(), &folder.path().join("bundle"), &[]);
        assert!(line.contains("is not a whole safetensors file"), "{line}");
    }
}

/// Reads bundles with onnx, onnxruntime and numpy.
#[test]
#[ignore = "needs the Python packages of `scripts/setup --tests`; `scripts/test` runs it"]
fn python_reads_the_same() {
    let rules = Arc::new(Rules::iron_throne());
    let (checkpoint, run, folder) = (trained(&rules), run(&rules), TempDir::new().unwrap());
    let (both, play) = (folder.path().join("both"), folder.path().join("play"));
    exported(checkpoint.path(), &both, &["--format", "onnx,torchscript,safetensors"]);
    exported(run.path(), &play, &["--precision", "fp32,fp16,int8", "--games", "2"]);
    let check = || {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/check_export");
        Command::new(script).arg(&both).arg(&play).output().unwrap()
    };
    let output = check();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(told.matches("when read by onnxruntime").count(), 5, "{told}");
    assert_eq!(told.matches("when read by numpy").count(), 3, "{told}");

    // Nothing would be proven by a check that cannot fail.
    let path = both.join("test_cases.safetensors");
    let whole = fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, bytes).unwrap();
    let output = check();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("is not the file"), "{error}");
}
