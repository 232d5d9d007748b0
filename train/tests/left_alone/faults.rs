//! What goes wrong with disks, files, numbers, clocks and processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use cyvasse_models::TensorFile;
use cyvasse_selfplay::replay::schema;
use tempfile::TempDir;

use crate::toy::{assert_trained, contents, cyvasse, error_of, toy_config, train, with_everything};

const NO_MATCH: (&str, &str) = ("games = 4", "games = 0");

/// Waits for a file that another process is to make.
fn wait_for(path: &Path) {
    for _ in 0..6000 {
        if path.exists() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{} does not come", path.display());
}

fn flip_a_byte(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let place = bytes.len() * 2 / 3;
    bytes[place] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

fn truncate(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

fn set_aside(run: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(run.join("set-aside")) else { return Vec::new() };
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

#[test]
fn a_full_disk_ends_the_run_with_a_word_and_the_run_goes_on_later() {
    let folder = TempDir::new().unwrap();
    let config = with_everything(folder.path(), &[NO_MATCH]);
    let (whole, full) = (folder.path().join("whole"), folder.path().join("full"));
    assert_trained(&train(&config, &whole, &[]));
    // Killed once it has begun, so that the first file to be written is a shard.
    let mut command = cyvasse();
    command.arg("train").arg(&config).arg("--run-dir").arg(&full).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_for(&full.join("state/round-0000"));
    child.kill().unwrap();
    child.wait().unwrap();
    // No file may grow beyond so many blocks of 512 bytes: a shard takes up to about 320, the
    // optimiser of setups 385.
    let refused = [60, 370].map(|blocks: u32| {
        let mut shell = Command::new("sh");
        let script = "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"";
        shell.args(["-c", script, "sh", &blocks.to_string(), env!("CARGO_BIN_EXE_cyvasse")]);
        shell.arg("train").arg(&config).arg("--run-dir").arg(&full).arg("--resume");
        let output = shell.output().unwrap();
        let said = error_of(&output);
        assert_eq!(output.status.code(), Some(1), "{blocks} blocks: {said}");
        let error = said.lines().find(|line| line.starts_with("error: ")).unwrap();
        assert!(error.contains(&full.display().to_string()), "{blocks} blocks: {error}");
        error.to_string()
    });
    let refused_at = |what: &str| refused.iter().any(|error| error.contains(what));
    assert!(refused_at(".safetensors") && refused_at(".h5"), "{refused:#?}");
    assert!(refused_at("File too large"), "{refused:#?}");
    assert_trained(&train(&config, &full, &["--resume"]));
    assert_eq!(contents(&full), contents(&whole));
}

#[test]
fn damaged_shards_are_set_aside_by_name_and_training_goes_on() {
    let folder = TempDir::new().unwrap();
    // Nothing stays in memory, so that the damage is met while training.
    let changes = [
        NO_MATCH,
        ("rounds = 3", "rounds = 8"),
        ("window_positions = 300", "window_positions = 30000"),
        ("window_memory_mb = 256", "window_memory_mb = 0"),
    ];
    let config = toy_config(folder.path(), &changes);
    let run = folder.path().join("run");
    let mut command = cyvasse();
    command.arg("train").arg(&config).arg("--run-dir").arg(&run).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for(&run.join("state/round-0001"));
    flip_a_byte(&run.join("shards/round-0001.h5"));
    let output = child.wait_with_output().unwrap();
    assert_trained(&output);
    let said = error_of(&output);
    assert!(said.contains("round-0001.h5` is damaged: "), "{said}");
    assert!(said.contains("training goes on without it"), "{said}");
    assert_eq!(set_aside(&run), ["shards-round-0001.h5"]);

    // And when the run is resumed: cut short, and gone.
    truncate(&run.join("shards/round-0003.h5"));
    fs::remove_file(run.join("shards/round-0004.h5")).unwrap();
    let output = train(&config, &run, &["--resume"]);
    assert_trained(&output);
    let said = error_of(&output);
    assert!(said.contains("round-0003.h5` is damaged: "), "{said}");
    assert!(said.contains("round-0004.h5") && said.contains("is gone"), "{said}");
    assert_eq!(set_aside(&run), ["shards-round-0001.h5", "shards-round-0003.h5"]);
}

#[test]
fn a_lost_shard_is_told_of_once() {
    let folder = TempDir::new().unwrap();
    let window = ("window_positions = 300", "window_positions = 30000");
    let config = toy_config(folder.path(), &[NO_MATCH, window]);
    let run = folder.path().join("run");
    assert_trained(&train(&config, &run, &[]));
    undo_the_last_round(&run);
    fs::remove_file(run.join("shards/round-0001.h5")).unwrap();
    let mut told = Vec::new();
    for _ in 0..2 {
        let output = train(&config, &run, &["--resume"]);
        assert_trained(&output);
        told.push(error_of(&output).contains("round-0001.h5"));
    }
    assert_eq!(told, [true, false]);
}

/// Gives a shard another version of its schema, and a seal that fits.
fn make_version(path: &Path, version: u32) {
    let file = hdf5::File::open_rw(path).unwrap();
    file.attr("schema_version").unwrap().write_scalar(&version).unwrap();
    file.close().unwrap();
    let mut bytes = fs::read(path).unwrap();
    let (seal, rest) = bytes.split_at_mut(schema::SEAL_BYTES);
    let sum = crc32fast::hash(rest);
    let text = format!("cyvasse replay shard\nbytes {}\ncrc32 {sum:08x}\n", rest.len());
    seal.fill(0);
    seal[..text.len()].copy_from_slice(text.as_bytes());
    fs::write(path, bytes).unwrap();
}

/// Nothing is wrong with such a shard but that this program is too old for it: it
/// stays where it is, for one that can read it.
#[test]
fn a_shard_of_another_schema_ends_the_run_and_stays() {
    let folder = TempDir::new().unwrap();
    let config = toy_config(folder.path(), &[NO_MATCH]);
    let run = folder.path().join("run");
    assert_trained(&train(&config, &run, &[]));
    let shard = run.join("shards/round-0003.h5");
    make_version(&shard, 99);
    undo_the_last_round(&run);
    make_version(&run.join("shards/round-0002.h5"), 99);
    let before = fs::read(run.join("shards/round-0002.h5")).unwrap();
    for _ in 0..2 {
        let output = train(&config, &run, &["--resume"]);
        let said = error_of(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let error = said.lines().find(|line| line.starts_with("error: ")).unwrap();
        assert!(error.contains("round-0002.h5") && error.contains("schema_version"), "{error}");
        assert!(error.contains("is 99; it must be 2 or 3"), "{error}");
        assert!(set_aside(&run).is_empty());
        assert_eq!(fs::read(run.join("shards/round-0002.h5")).unwrap(), before);
    }
    make_version(&run.join("shards/round-0002.h5"), 3);
    assert_trained(&train(&config, &run, &["--resume"]));
}

/// Removes what was saved after the last round, so that it is played again.
fn undo_the_last_round(run: &Path) {
    fs::remove_dir_all(run.join("checkpoints/round-0003")).unwrap();
    fs::remove_dir_all(run.join("state/round-0003")).unwrap();
}

#[test]
fn old_checkpoints_may_be_gone_or_damaged() {
    let folder = TempDir::new().unwrap();
    let past = [("current = 0.6", "current = 0.2"), ("past = 0.2", "past = 0.6")];
    let config = toy_config(folder.path(), &past);
    let run = folder.path().join("run");
    assert_trained(&train(&config, &run, &[]));
    undo_the_last_round(&run);
    fs::remove_dir_all(run.join("checkpoints/round-0000")).unwrap();
    truncate(&run.join("checkpoints/round-0001/setup.safetensors"));
    assert_trained(&train(&config, &run, &["--resume"]));
}

#[test]
fn what_cannot_be_gone_on_from_is_not_thrown_away() {
    let folder = TempDir::new().unwrap();
    let config = toy_config(folder.path(), &[NO_MATCH]);
    let run = folder.path().join("run");
    assert_trained(&train(&config, &run, &[]));
    let expected = contents(&run);

    // The states are gone.
    fs::rename(run.join("state"), run.join("elsewhere")).unwrap();
    fs::create_dir(run.join("state")).unwrap();
    let output = train(&config, &run, &["--resume"]);
    let said = error_of(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("no round of the run is saved there, but `shards/round-0003` is"),
        "{said}"
    );
    assert_eq!(contents(&run), expected);
    fs::remove_dir(run.join("state")).unwrap();
    fs::rename(run.join("elsewhere"), run.join("state")).unwrap();

    // Something of somebody else's, and lines that are no numbers.
    let strange = run.join("shards/round-0009.h5");
    fs::copy(run.join("shards/round-0001.h5"), &strange).unwrap();
    let metrics = run.join("metrics.jsonl");
    let lines = fs::read(&metrics).unwrap();
    fs::write(&metrics, [&lines[..], b"\xff\xfe\0nothing\n"].concat()).unwrap();
    let output = train(&config, &run, &["--resume"]);
    assert_trained(&output);
    assert!(error_of(&output).contains("round-0009.h5 is no part of this run"));
    assert_eq!(set_aside(&run), ["shards-round-0009.h5"]);
    assert_eq!(fs::read(&metrics).unwrap(), lines);
    assert_eq!(contents(&run), expected);
}

/// Nothing is wrong with such a state but that this program does not know its form.
#[test]
fn a_state_by_another_version_ends_the_run_and_stays() {
    let folder = TempDir::new().unwrap();
    let config = toy_config(folder.path(), &[NO_MATCH]);
    let run = folder.path().join("run");
    assert_trained(&train(&config, &run, &[]));
    let path = run.join("state/round-0003/play.json");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.split_once('\n').unwrap().1.trim_end().replacen('{', "{\"later\":1,", 1);
    let sealed = format!("crc32 {:08x}\n{text}\n", crc32fast::hash(text.as_bytes()));
    fs::write(&path, &sealed).unwrap();
    let output = train(&config, &run, &["--resume"]);
    let said = error_of(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("`later`") && said.contains("another version of this program"), "{said}");
    assert!(set_aside(&run).is_empty());
    assert_eq!(fs::read_to_string(&path).unwrap(), sealed);
}

/// What happens to a file.
type Damage = fn(&Path);

#[test]
fn a_damaged_round_is_done_again_and_gives_the_same() {
    let folder = TempDir::new().unwrap();
    let config = with_everything(folder.path(), &[NO_MATCH]);
    let run = folder.path().join("run");
    assert_trained(&train(&config, &run, &[]));
    let expected = contents(&run);
    let damage: [(&str, Damage); 6] = [
        ("checkpoints/round-0003/play.safetensors", truncate),
        ("checkpoints/round-0003/setup.safetensors", flip_a_byte),
        ("state/round-0003/optimizer.safetensors", flip_a_byte),
        ("state/round-0003/setup-optimizer.safetensors", truncate),
        ("state/round-0003/gate.json", truncate),
        ("state/round-0003/play.json", truncate),
    ];
    for (number, (file, damage)) in (1..).zip(damage) {
        damage(&run.join(file));
        let output = train(&config, &run, &["--resume"]);
        assert_trained(&output);
        let said = error_of(&output);
        assert!(said.contains("of round 3 is set aside, and the round done again"), "{said}");
        assert!(said.contains(file) && said.contains("resuming after round 2"), "{said}");
        assert_eq!(set_aside(&run).len(), 2 * number, "{file}");
        assert_eq!(contents(&run), expected, "{file}");
    }

    // Where no round is sound, nothing is moved.
    for round in ["round-0002", "round-0003"] {
        truncate(&run.join("state").join(round).join("play.json"));
    }
    let output = train(&config, &run, &["--resume"]);
    let said = error_of(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no round of the run is saved undamaged"), "{said}");
    assert!(said.contains("state/round-0003/play.json"), "{said}");
    assert_eq!(set_aside(&run).len(), 12);
}

#[test]
fn a_run_belongs_to_one_process_at_a_time() {
    let folder = TempDir::new().unwrap();
    let config = toy_config(folder.path(), &[("rounds = 3", "rounds = 1000")]);
    let run = folder.path().join("run");
    let mut command = cyvasse();
    command.arg("train").arg(&config).arg("--run-dir").arg(&run).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_for(&run.join("state/round-0000"));
    for more in [&["--resume"][..], &["--resume", "--learner"]] {
        let output = train(&config, &run, more);
        let said = error_of(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("another process is training the run"), "{said}");
    }
    assert!(child.try_wait().unwrap().is_none(), "the first process has ended");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_exploding_loss_ends_the_run_and_leaves_its_batch() {
    let folder = TempDir::new().unwrap();
    let rate = ("learning_rate = 0.003", "learning_rate = 1000000.0");
    let config =
        toy_config(folder.path(), &[NO_MATCH, rate, ("warmup_steps = 50", "warmup_steps = 0")]);
    let run = folder.path().join("run");
    let output = train(&config, &run, &[]);
    let said = error_of(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("training step ") && said.contains(" so the run ends"), "{said}");
    let name = said.split_whitespace().find(|word| word.contains("failed-batch-")).unwrap();
    let batch = TensorFile::load(&PathBuf::from(name)).unwrap();
    assert_eq!(batch.tensors["planes"].size(), [16, 8, 8, cyvasse_env::PLANES as i64]);
    assert_eq!(batch.tensors["wdl"].size(), [16, 3]);
    assert!(said.contains(&batch.metadata["failure"]), "{said}");
    // What was saved before is sound: the run goes on from it, and meets the same again.
    assert!(run.join("state/round-0000").exists());
    let again = error_of(&train(&config, &run, &["--resume"]));
    assert!(
        again.contains("resuming after round 0") && again.contains(" so the run ends"),
        "{again}"
    );
}

#[test]
fn a_clock_that_jumps_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let config = with_everything(folder.path(), &[NO_MATCH]);
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/left_alone/data/jumping_clock.c");
    let library = folder.path().join("jumping_clock.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
    assert!(compiler.status().unwrap().success(), "the clock cannot be compiled");
    let (steady, jumping) = (folder.path().join("steady"), folder.path().join("jumping"));
    assert_trained(&train(&config, &steady, &[]));
    let year = |library: Option<&Path>| {
        let mut date = Command::new("date");
        date.arg("+%Y").envs(library.map(|library| ("LD_PRELOAD", library)));
        String::from_utf8(date.output().unwrap().stdout).unwrap()
    };
    assert_ne!(year(None), year(Some(&library)), "the clock does not jump");

    let start = |more: &[&str]| {
        let mut command = cyvasse();
        command.arg("train").arg(&config).arg("--run-dir").arg(&jumping).args(more);
        command.env("LD_PRELOAD", &library).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut child = start(&[]);
    wait_for(&jumping.join("state/round-0001"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_trained(&start(&["--resume"]).wait_with_output().unwrap());
    assert_eq!(contents(&jumping), contents(&steady));
}
