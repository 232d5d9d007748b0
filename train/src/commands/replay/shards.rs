//! The shards that a command is about.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use cyvasse_env::Rules;
use cyvasse_selfplay::replay::{Shard, ShardHeader};

use crate::config::read_rules;

/// Where shards are.
#[derive(Debug, clap::Args)]
pub(super) struct ShardsArguments {
    /// Run directories, or shards
    #[arg(required = true, value_name = "RUN|SHARD")]
    paths: Vec<PathBuf>,
    /// The rules that the games must be by [default: the run's; of single shards their own]
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
}

/// Shards, and the rules that their games must be by.
pub(super) struct Shards {
    pub(super) files: Vec<PathBuf>,
    /// `None`: those of the shard itself.
    rules: Option<Rules>,
    /// The run directory, where nothing else was named.
    pub(super) run: Option<PathBuf>,
}

impl ShardsArguments {
    pub(super) fn find(&self) -> anyhow::Result<Shards> {
        find(&self.paths, self.rules.as_deref())
    }
}

/// The shards at some paths, those of a run in the order of their rounds.
pub(super) fn find(paths: &[PathBuf], rules: Option<&Path>) -> anyhow::Result<Shards> {
    let mut rules = rules.map(|path| read_rules(path).context("--rules")).transpose()?;
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        if rules.is_none() {
            let named = read_rules(&path.join("rules.toml"));
            rules = Some(named.with_context(|| {
                format!("{} is no run directory; name a run or shards", path.display())
            })?);
        }
        files.append(&mut shards_of(path)?);
    }
    let run = match paths {
        [path] if path.is_dir() => Some(path.clone()),
        _ => None,
    };
    Ok(Shards { files, rules, run })
}

/// The whole shards of a run; the run may be going on.
fn shards_of(run: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = run.join("shards");
    let cannot = || format!("cannot read {}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.extension().is_some_and(|extension| extension == "h5") {
            files.push(path);
        }
    }
    if files.is_empty() {
        bail!("{} has no shards yet: no round with a finished game lies behind", run.display());
    }
    files.sort();
    Ok(files)
}

impl Shards {
    /// Reads a shard and checks it, but for its games.
    pub(super) fn open(&self, path: &Path) -> anyhow::Result<Shard> {
        let own;
        let rules = match &self.rules {
            Some(rules) => rules,
            None => {
                own = ShardHeader::read(path)?.rules;
                &own
            }
        };
        Ok(Shard::open(path, rules)?)
    }

    /// Reads the shards one after the other, all by the rules of the first one.
    pub(super) fn for_each(
        mut self,
        mut visit: impl FnMut(Shard) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        for path in std::mem::take(&mut self.files) {
            let shard = self.open(&path)?;
            self.rules.get_or_insert_with(|| shard.header().rules.clone());
            visit(shard)?;
        }
        Ok(())
    }
}

/// The name of a shard's file.
pub(super) fn name_of(shard: &Shard) -> String {
    shard.path().file_name().unwrap_or_default().to_string_lossy().into_owned()
}
