//! Files and folders that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, ErrorKind::NotFound};
use std::path::{Path, PathBuf};

use super::run_dir::RunDirError;

/// Makes a folder that is whole or not there: `fill` writes into a temporary one
/// beside it, which takes its name in the end and is removed if `fill` fails.
///
/// # Errors
/// What `fill` returns, a folder with something in it, or a system that refuses.
pub fn write_folder<E: From<RunDirError>>(
    folder: &Path,
    fill: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let temporary = temporary(folder);
    fs::create_dir(&temporary).map_err(io_error("create", &temporary))?;
    let made = fill(&temporary).and_then(|()| Ok(commit(&temporary, folder)?));
    if made.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_dir_all(&temporary);
    }
    made
}

/// Locks a file until it is dropped or the process ends, however it does; `None` if
/// another process has it.
///
/// # Errors
/// A system that refuses.
pub(super) fn try_lock(path: &Path) -> Result<Option<File>, RunDirError> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.map_err(io_error("open", path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(source)) => Err(io_error("lock", path)(source)),
    }
}

/// Where a folder or file is filled before it takes its name. A process that was killed
/// may have left something there, and in a container have had the same number.
pub(super) fn temporary(of: &Path) -> PathBuf {
    let name = of.file_name().unwrap_or_default().to_string_lossy();
    let path =
        |number: u32| of.with_file_name(format!("{name}.{}-{number}.partial", std::process::id()));
    (0..u32::MAX).map(path).find(|path| !path.exists()).unwrap_or_else(|| path(u32::MAX))
}

/// Gives a whole file or folder its name, once it is on the disk.
pub(super) fn commit(temporary: &Path, path: &Path) -> Result<(), RunDirError> {
    sync(temporary)?;
    fs::rename(temporary, path).map_err(io_error("rename to", path))?;
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => sync(parent),
        None => Ok(()),
    }
}

fn sync(path: &Path) -> Result<(), RunDirError> {
    let file = File::open(path).map_err(io_error("open", path))?;
    file.sync_all().map_err(io_error("sync", path))
}

/// What lies in a folder.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, RunDirError> {
    let entries = fs::read_dir(folder).map_err(io_error("read", folder))?;
    entries.map(|entry| Ok(entry.map_err(io_error("read", folder))?.path())).collect()
}

/// Removes what was being written into a folder when a process ended, if it is `own`.
pub(super) fn remove_partial(
    folder: &Path,
    own: impl Fn(&Path) -> bool,
) -> Result<(), RunDirError> {
    for path in entries(folder)? {
        if path.extension().is_some_and(|extension| extension == "partial") && own(&path) {
            let removed = if path.is_dir() { remove_dir(&path) } else { remove_file(&path) };
            match removed {
                Err(RunDirError::Io { source, .. }) if source.kind() == NotFound => {}
                removed => removed?,
            }
        }
    }
    Ok(())
}

pub(super) fn remove_file(path: &Path) -> Result<(), RunDirError> {
    fs::remove_file(path).map_err(io_error("remove", path))
}

pub(super) fn remove_dir(folder: &Path) -> Result<(), RunDirError> {
    fs::remove_dir_all(folder).map_err(io_error("remove", folder))
}

/// Writes a file and waits until it is on the disk.
///
/// # Errors
/// A system that refuses.
pub(super) fn write_file(path: &Path, text: &str) -> Result<(), RunDirError> {
    fs::write(path, text).map_err(io_error("write", path))?;
    sync(path)
}

/// Writes a file that readers see with its old contents or its new ones.
///
/// # Errors
/// A system that refuses.
pub(super) fn replace_file(path: &Path, text: &str) -> Result<(), RunDirError> {
    let temporary = temporary(path);
    write_file(&temporary, text)?;
    commit(&temporary, path)
}

pub(super) fn io_error<'a>(
    action: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> RunDirError + 'a {
    move |source| RunDirError::Io { action, path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_whole_or_not_there() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("folder");
        let failed = write_folder(&folder, |folder| -> anyhow::Result<()> {
            fs::write(folder.join("first"), "1")?;
            anyhow::bail!("the second cannot be written")
        });
        assert_eq!(failed.unwrap_err().to_string(), "the second cannot be written");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
        let fill = |folder: &Path| -> anyhow::Result<()> { Ok(fs::write(folder.join("x"), "1")?) };
        write_folder(&folder, fill).unwrap();
        assert!(folder.join("x").exists());
        write_folder(&folder, fill).unwrap_err();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}
