//! What the machine tells: memory and disk.

use std::fs;
use std::io;
use std::path::Path;

/// The memory of this process in bytes, as Linux tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What is held now.
    pub resident: u64,
    /// The most that was held.
    pub peak: u64,
}

impl Memory {
    /// Looks; `None` where the system does not tell.
    #[must_use]
    pub fn now() -> Option<Memory> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let bytes = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
            Some(1024 * kilobytes)
        };
        Some(Memory { resident: bytes("VmRSS:")?, peak: bytes("VmHWM:")? })
    }
}

/// Bytes that are free for this user where a path lies.
///
/// # Errors
/// A system that refuses.
pub fn disk_free(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail * stat.f_frsize)
}

/// Bytes of the files under a folder. What goes away meanwhile does not count.
#[must_use]
pub fn disk_used(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let used = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => disk_used(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(used).sum()
}
