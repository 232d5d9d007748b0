//! Small files of the run as JSON behind a checksum.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::files::{io_error, write_file};

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub(super) struct SealedError {
    pub(super) path: PathBuf,
    pub(super) reason: String,
}

/// Writes a value and waits until it is on the disk.
pub(super) fn save(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string(value)?;
    Ok(write_file(path, &format!("{}\n{text}\n", seal(&text)))?)
}

/// Reads a value that [`save`] wrote.
pub(super) fn load<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let bytes = fs::read(path).map_err(io_error("read", path))?;
    let refuse = |reason: String| SealedError { path: path.to_path_buf(), reason };
    // What damage has made of the text fails the checksum.
    let text = String::from_utf8_lossy(&bytes);
    let (sealed, text) = text.trim_end().split_once('\n').unwrap_or_default();
    if seal(text) != sealed {
        return Err(refuse("the file is damaged (its checksum is another)".into()).into());
    }
    Ok(serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?)
}

/// The checksum that stands before the text.
fn seal(text: &str) -> String {
    format!("crc32 {:08x}", crc32fast::hash(text.as_bytes()))
}
