//! Small files of the run as JSON behind a checksum.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::files::{io_error, write_file};

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SealedError {
    /// The file is not as it was written.
    #[error("{}: the file is damaged (its checksum is another)", .0.display())]
    Damaged(PathBuf),
    /// The file is as it was written, by another version of this program.
    #[error(
        "{}: {reason}; another version of this program wrote it (see version.txt there; this \
         is {}), which can go on with it", path.display(), env!("CARGO_PKG_VERSION")
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What cannot be understood.
        reason: String,
    },
}

impl SealedError {
    /// What a sound file holds that this version does not understand.
    pub(super) fn foreign(path: &Path, reason: impl ToString) -> SealedError {
        SealedError::Foreign { path: path.to_path_buf(), reason: reason.to_string() }
    }
}

/// Writes a value and waits until it is on the disk.
pub(super) fn save(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string(value)?;
    Ok(write_file(path, &format!("{}\n{text}\n", seal(&text)))?)
}

/// Reads a value that [`save`] wrote.
pub(super) fn load<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let bytes = fs::read(path).map_err(io_error("read", path))?;
    // What damage has made of the text fails the checksum.
    let text = String::from_utf8_lossy(&bytes);
    let (sealed, text) = text.trim_end().split_once('\n').unwrap_or_default();
    if seal(text) != sealed {
        return Err(SealedError::Damaged(path.to_path_buf()).into());
    }
    Ok(serde_json::from_str(text).map_err(|error| SealedError::foreign(path, error))?)
}

/// The checksum that stands before the text.
fn seal(text: &str) -> String {
    format!("crc32 {:08x}", crc32fast::hash(text.as_bytes()))
}
