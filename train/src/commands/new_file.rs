//! Files that commands write: whole, or not there.

use std::fs::Permissions;
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::NamedTempFile;

/// A file under a temporary name beside its own, which it takes when it is whole.
/// One that is dropped before leaves nothing behind.
pub(super) struct NewFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    replaces: bool,
}

impl NewFile {
    /// Begins a file at a path where nothing may lie.
    pub(super) fn create(path: PathBuf) -> anyhow::Result<NewFile> {
        if path.exists() {
            bail!(exists(&path));
        }
        NewFile::begin(path, false)
    }

    /// Begins a file that takes the place of one that may be there.
    pub(super) fn replace(path: PathBuf) -> anyhow::Result<NewFile> {
        NewFile::begin(path, true)
    }

    fn begin(path: PathBuf, replaces: bool) -> anyhow::Result<NewFile> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let created = tempfile::Builder::new()
            .prefix(".cyvasse")
            .suffix(".partial")
            // Less what the user's mask takes away, as for any new file.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder.unwrap_or(Path::new(".")));
        let file = created.with_context(|| format!("cannot create {}", path.display()))?;
        Ok(NewFile { path, file: BufWriter::new(file), replaces })
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.file.write_all(bytes).with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Gives the file its name, which is returned.
    pub(super) fn keep(self) -> anyhow::Result<PathBuf> {
        let NewFile { path, file, replaces } = self;
        let context = || format!("cannot write {}", path.display());
        let file = file.into_inner().map_err(|error| error.into_error()).with_context(context)?;
        let kept = if replaces { file.persist(&path) } else { file.persist_noclobber(&path) };
        match kept {
            Ok(_) => Ok(path),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => bail!(exists(&path)),
            Err(error) => Err(error.error).with_context(context),
        }
    }
}

fn exists(path: &Path) -> String {
    format!("{} exists already; choose another name, nothing is overwritten", path.display())
}
