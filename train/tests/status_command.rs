//! `cyvasse status` on runs in every state, what a quiet run leaves unsaid, and
//! whether colours are left out where nobody wants them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

mod toy;

use toy::{begin, cyvasse, send, toy_config};

fn status(run: &Path) -> (Value, Option<i32>) {
    let output = cyvasse().arg("status").arg(run).arg("--json").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let told = serde_json::from_str(&text);
    (told.unwrap_or_else(|_| panic!("{}", error_of(&output.stderr))), output.status.code())
}

fn error_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn words(run: &Path) -> String {
    String::from_utf8(cyvasse().arg("status").arg(run).output().unwrap().stdout).unwrap()
}

fn train(config: &Path, run: &Path, more: &[&str]) -> Output {
    cyvasse().arg("train").arg(config).arg("--run-dir").arg(run).args(more).output().unwrap()
}

#[test]
fn a_run_is_told_of_while_it_runs_and_after_it_ended() {
    let folder = TempDir::new().unwrap();
    // Far more rounds than are played here, so that it is still at work when asked.
    let many = [("rounds = 3", "rounds = 500")];
    let config = toy_config(folder.path(), &many);
    let run = folder.path().join("run");
    let mut child = begin(&config, &run);
    let (told, code) = status(&run);
    assert_eq!((&told["state"], code), (&"running".into(), Some(0)), "{told}");
    assert_eq!((&told["now"]["pid"], &told["rounds"]), (&child.id().into(), &500.into()));
    assert!(words(&run).contains("running (process "), "{}", words(&run));

    // Once would do; twice must not wait for anything.
    send(&child, "-INT");
    send(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));

    let mut child = {
        let mut command = cyvasse();
        command.arg("train").arg(&config).arg("--run-dir").arg(&run).arg("--resume");
        command.stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    let (pid, before) = (child.id(), status(&run).0["rounds_done"].as_u64().unwrap());
    while status(&run).0["rounds_done"].as_u64().unwrap() <= before {
        assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
    }
    send(&child, "-KILL");
    child.wait().unwrap();
    let (told, code) = status(&run);
    assert_eq!((&told["state"], code), (&"killed".into(), Some(1)), "{told}");
    assert_eq!(told["now"]["pid"], pid);
    assert!(words(&run).contains("WRONG    it is gone without a word"), "{}", words(&run));

    let noted = |changes: &[(&str, Value)]| {
        let path = run.join("progress.json");
        let mut note: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for (key, value) in changes {
            note[*key] = value.clone();
        }
        fs::write(&path, note.to_string()).unwrap();
        let (told, code) = status(&run);
        (told["state"].as_str().unwrap().to_owned(), told["problems"].to_string(), code)
    };
    let (state, problems, code) = noted(&[("end", json!({ "failed": "the disk is full" }))]);
    assert_eq!((state.as_str(), code), ("failed", Some(1)));
    assert!(problems.contains("the disk is full"), "{problems}");
    let (state, ..) = noted(&[("end", json!("stopped"))]);
    assert_eq!(state, "stopped");
    // A process that is there, this one, but has not got on for long.
    let own = |field: usize| -> u64 {
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let (_, rest) = stat.rsplit_once(')').unwrap();
        rest.split_whitespace().nth(field - 3).unwrap().parse().unwrap()
    };
    let (pid, start) = (std::process::id(), own(22));
    let stuck = [
        ("end", Value::Null),
        ("pid", pid.into()),
        ("process_start", start.into()),
        ("advanced", 5.into()),
    ];
    let (state, problems, code) = noted(&stuck);
    assert_eq!((state.as_str(), code), ("stalled", Some(1)), "{problems}");
    assert!(problems.contains("has made no progress for "), "{problems}");
    let (state, ..) = noted(&[("host", "elsewhere".into())]);
    assert_eq!(state, "silent");
    // A run of a version that did not write any.
    fs::remove_file(run.join("progress.json")).unwrap();
    assert_eq!(status(&run).0["state"], "unknown");
}

#[test]
fn a_quiet_run_says_nothing_but_in_its_log() {
    let folder = TempDir::new().unwrap();
    let one = [("rounds = 3", "rounds = 1"), ("uniform_rounds = 1", "uniform_rounds = 0")];
    let config = toy_config(folder.path(), &one);
    let run = folder.path().join("run");
    let output = train(&config, &run, &["--quiet"]);
    assert!(output.status.success());
    assert_eq!((error_of(&output.stderr).as_str(), output.stdout.len()), ("", 0));
    let log = fs::read_to_string(run.join("log.txt")).unwrap();
    assert!(log.contains("round 1: ") && log.contains("against the random player"), "{log}");

    let (told, code) = status(&run);
    assert_eq!((&told["state"], code), (&"finished".into(), Some(0)), "{told}");
    assert_eq!((&told["rounds_done"], &told["now"]["end"]), (&1.into(), &"finished".into()));
    let matches = told["final_matches"].as_array().unwrap();
    assert_eq!(matches.len(), 3);
    assert!(matches.iter().all(|one| one["score"]["games"] == 4), "{matches:?}");
    let page = words(&run);
    assert!(page.lines().count() <= 24, "more than a screen: {page}");
    for expected in ["finished", "1 of 1 lie behind", "against the random player: ", "disk "] {
        assert!(page.contains(expected), "{page} without {expected}");
    }
    // What is wrong is still told.
    let refused = train(&config, &run, &["--quiet"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(error_of(&refused.stderr).contains("exists already"));

    let nowhere = cyvasse().arg("status").arg(folder.path()).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(error_of(&nowhere.stderr).contains("is no run directory"));
}

/// On a terminal, which python3 has a stand-in for.
#[test]
fn colours_are_left_out_where_nobody_wants_them() {
    let drawn = |environment: &[(&str, &str)]| {
        let position = "8/8/8/4w3/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w e5 0 12";
        let script = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
        let mut command = Command::new("python3");
        command.args(["-c", script, env!("CARGO_BIN_EXE_cyvasse"), "rules", "show", position]);
        command.env_remove("NO_COLOR").env("TERM", "xterm").envs(environment.iter().copied());
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", error_of(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(drawn(&[]).contains("\u{1b}["), "no colour on a terminal");
    assert!(!drawn(&[("NO_COLOR", "1")]).contains('\u{1b}'));
    assert!(!drawn(&[("TERM", "dumb")]).contains('\u{1b}'));
}
