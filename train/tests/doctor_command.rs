//! `cyvasse doctor` through the binary.

use std::process::{Command, Output};

fn doctor(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyvasse"));
    command.arg("doctor").args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_sound_machine_is_described() {
    let output = doctor(&[]);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    for name in
        ["libtorch: 2.", "devices: CPU", "threads: ", "hdf5: ", "rules: `iron-throne`", "disk: "]
    {
        assert!(said.contains(name), "no `{name}` in\n{said}");
    }
}

#[test]
fn a_gpu_that_is_asked_for_and_not_there_is_a_problem() {
    if tch::Cuda::is_available() {
        return; // such a machine cannot show it
    }
    let output = doctor(&["--device", "cuda"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("devices: PROBLEM: "), "{}", text(&output));
}

#[test]
fn a_bad_rules_file_is_a_problem() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "name = 1\n").unwrap();
    let output = doctor(&["--rules", file.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("rules: PROBLEM: "), "{}", text(&output));
}
