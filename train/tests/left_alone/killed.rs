//! A run whose process is killed at random moments, again and again.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::toy::{assert_trained, contents, cyvasse, train, with_everything};

/// How often the process is killed.
const KILLS: u32 = 52;

/// The smallest games, so that saving is most of what there is to be killed in.
const SMALL: [(&str, &str); 4] = [
    ("plies_per_slot = 40", "plies_per_slot = 8"),
    ("simulations = 4", "simulations = 2"),
    ("games = 4", "games = 0"),
    ("samples_per_seat = 12", "samples_per_seat = 4"),
];

#[test]
fn a_run_that_is_killed_at_any_moment_goes_on_as_if_it_had_not_been() {
    let folder = TempDir::new().unwrap();
    let config = with_everything(folder.path(), &SMALL);
    let whole = folder.path().join("whole");
    let started = Instant::now();
    assert_trained(&train(&config, &whole, &[]));
    let length = started.elapsed();
    let expected = contents(&whole);

    // Moments from the start of a process to the end of the whole run, which becomes
    // shorter with every kill.
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut kills, mut runs) = (0, 0);
    while kills < KILLS {
        let run = folder.path().join(format!("killed-{runs}"));
        runs += 1;
        kills += kill_until_done(&config, &run, || length.mul_f64(rng.random_range(0.0..1.0)));
        assert_eq!(contents(&run), expected, "a killed run differs from a whole one");
    }
    assert!(runs > 1, "no run came to its end between kills");
}

/// Starts the run and kills it after some time, until it is done; how often it was
/// killed.
fn kill_until_done(config: &Path, run: &Path, mut time: impl FnMut() -> Duration) -> u32 {
    for kills in 0.. {
        let mut command = cyvasse();
        command.arg("train").arg(config).arg("--run-dir").arg(run);
        if run.exists() {
            command.arg("--resume");
        }
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let (started, time) = (Instant::now(), time());
        while started.elapsed() < time && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // SIGKILL, as by `kill -9`.
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        if let Some(code) = output.status.code() {
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(code, 0, "a killed run cannot go on: {said}");
            return kills;
        }
    }
    unreachable!("the loop has no end")
}
