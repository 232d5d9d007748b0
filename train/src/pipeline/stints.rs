//! What workers hand over to the learner: a folder for each stint of play.
//!
//! A stint's folder appears when all of it is on the disk. The number of a worker's
//! newest stint and the games in it that were not over are all that the worker needs
//! to go on; so its newest stint is never removed.

use std::path::{Path, PathBuf};

use super::files::entries;
use super::run_dir::RunDirError;

/// The games that ended in a stint; absent if none did.
pub(super) const GAMES: &str = "games.h5";

/// The games that did not.
pub(super) const UNFINISHED: &str = "unfinished.json";

/// The folder of a run's workers.
pub(super) fn workers_folder(run: &Path) -> PathBuf {
    run.join("workers")
}

/// The folder of a worker; they are numbered from 1.
pub(super) fn worker_folder(run: &Path, worker: u32) -> PathBuf {
    workers_folder(run).join(format!("worker-{worker:04}"))
}

/// The folder of a stint; they are numbered from 1.
pub(super) fn stint_folder(worker: &Path, stint: u32) -> PathBuf {
    worker.join(format!("stint-{stint:06}"))
}

/// The workers that a run has had, in their order.
pub(super) fn workers_of(run: &Path) -> Result<Vec<u32>, RunDirError> {
    let folder = workers_folder(run);
    if folder.exists() {
        numbered(&folder, |number| worker_folder(run, number))
    } else {
        Ok(Vec::new())
    }
}

/// The stints in a worker's folder, in their order; none where the folder is gone.
pub(super) fn stints_of(worker: &Path) -> Result<Vec<u32>, RunDirError> {
    if worker.exists() {
        numbered(worker, |number| stint_folder(worker, number))
    } else {
        Ok(Vec::new())
    }
}

/// The numbers of what lies in a folder under the path that `path` gives to a number.
fn numbered(folder: &Path, path: impl Fn(u32) -> PathBuf) -> Result<Vec<u32>, RunDirError> {
    let number = |entry: &PathBuf| {
        let number = entry.file_name()?.to_str()?.rsplit_once('-')?.1.parse().ok()?;
        (*entry == path(number)).then_some(number)
    };
    let mut numbers: Vec<u32> = entries(folder)?.iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}
