//! `cyvasse replay export`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use super::shards::{ShardsArguments, name_of};
use crate::commands::new_file::NewFile;
use crate::commands::rules::answers::{Output, is_closed_pipe};
use crate::commands::signal::{INTERRUPTED, stop_flag};
use crate::pipeline::Reporter;
use crate::replay::GameLine;

/// Arguments of `cyvasse replay export`.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct ExportArguments {
    #[command(flatten)]
    shards: ShardsArguments,
    /// Write to a new file [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// With each ply what the search found: value, simulations, policy target
    #[arg(long)]
    targets: bool,
}

/// Where the lines go.
enum Sink {
    File(NewFile),
    Standard(Output),
}

/// Someone asked for an end.
#[derive(Debug, thiserror::Error)]
#[error("stopped; nothing was written")]
struct Stopped;

impl ExportArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.export() {
            Err(error) if is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
            Err(error) if error.is::<Stopped>() => Ok(ExitCode::from(INTERRUPTED)),
            result => result.map(|()| ExitCode::SUCCESS),
        }
    }

    fn export(self) -> anyhow::Result<()> {
        let shards = self.shards.find()?;
        let stop = stop_flag()?;
        let mut sink = match self.output {
            Some(path) => Sink::File(NewFile::create(path)?),
            None => Sink::Standard(Output::new()),
        };
        let reporter = Reporter::new();
        let mut stage = reporter.stage("shards", shards.files.len() as u64);
        let (mut done, mut games) = (0, 0);
        shards.for_each(|shard| {
            let (name, fingerprint) = (name_of(&shard), shard.header().rules.fingerprint());
            for game in 0..shard.game_count() {
                if stop.load(Ordering::Relaxed) {
                    return Err(Stopped.into());
                }
                let record = shard.game(game)?;
                let line = GameLine::new(&name, game, fingerprint, &record, self.targets);
                sink.line(&serde_json::to_string(&line)?)?;
                games += 1;
            }
            done += 1;
            stage.update(done, &format!("{games} games"));
            Ok(())
        })?;
        stage.clear();
        match sink {
            Sink::Standard(mut output) => output.flush(),
            Sink::File(file) => {
                let path = file.keep()?;
                reporter.say(&format!("{games} games in {}", path.display()));
                Ok(())
            }
        }
    }
}

impl Sink {
    fn line(&mut self, line: &str) -> anyhow::Result<()> {
        match self {
            Sink::File(file) => {
                file.write_all(line.as_bytes())?;
                file.write_all(b"\n")
            }
            Sink::Standard(output) => output.line(line),
        }
    }
}
