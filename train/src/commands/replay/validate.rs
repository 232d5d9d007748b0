//! `cyvasse replay validate`.

use std::path::Path;
use std::process::ExitCode;

use cyvasse_selfplay::replay::Shard;
use serde::Serialize;

use super::shards::{Shards, ShardsArguments, name_of};
use crate::commands::rules::answers::{Output, is_closed_pipe};
use crate::one_line;
use crate::pipeline::Reporter;

/// Bad games of a shard that are named; more tell little more.
const NAMED: usize = 20;

/// Arguments of `cyvasse replay validate`.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct ValidateArguments {
    #[command(flatten)]
    shards: ShardsArguments,
    /// Print a line of JSON for each shard
    #[arg(long)]
    json: bool,
}

/// What was found of a shard.
#[derive(Serialize)]
struct Finding {
    shard: String,
    /// Games that follow the rules; 0 in a shard that cannot be opened.
    good_games: usize,
    plies: usize,
    problems: Vec<String>,
    /// Bad games beyond the problems that are named.
    more_problems: usize,
}

impl ValidateArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.validate() {
            // Whoever read the findings has enough of them, as in `... | head`.
            Err(error) if is_closed_pipe(&error) => Ok(ExitCode::FAILURE),
            result => result,
        }
    }

    fn validate(self) -> anyhow::Result<ExitCode> {
        let shards = self.shards.find()?;
        let mut output = Output::new();
        let mut bad = 0;
        let reporter = Reporter::new();
        let mut stage = reporter.stage("shards", shards.files.len() as u64);
        for (done, path) in (1..).zip(&shards.files) {
            let finding = look_at(&shards, path);
            bad += usize::from(!finding.problems.is_empty());
            let line =
                if self.json { serde_json::to_string(&finding)? } else { in_words(&finding) };
            output.line(&line)?;
            output.flush()?;
            stage.update(done, &format!("{bad} bad"));
        }
        stage.clear();
        if !self.json {
            output.line(&format!("{} shards, {bad} of them bad", shards.files.len()))?;
            output.flush()?;
        }
        Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Checks a shard and all of its games; what is wrong with one game does not keep
/// the others from being looked at.
fn look_at(shards: &Shards, path: &Path) -> Finding {
    let mut finding = Finding {
        shard: path.display().to_string(),
        good_games: 0,
        plies: 0,
        problems: Vec::new(),
        more_problems: 0,
    };
    let shard = match shards.open(path) {
        Ok(shard) => shard,
        Err(error) => {
            finding.problems.push(one_line::told(&error));
            return finding;
        }
    };
    finding.plies = shard.ply_count();
    finding.problems.extend(wrong_number(&shard, shards.run.is_some()));
    for game in 0..shard.game_count() {
        match shard.game(game) {
            Ok(_) => finding.good_games += 1,
            Err(error) if finding.problems.len() < NAMED => {
                finding.problems.push(error.to_string());
            }
            Err(_) => finding.more_problems += 1,
        }
    }
    finding
}

/// In a run, a shard has the number of its round.
fn wrong_number(shard: &Shard, in_run: bool) -> Option<String> {
    let number = shard.header().shard;
    let expected = format!("round-{number:04}.h5");
    (in_run && name_of(shard) != expected)
        .then(|| format!("`{}` is the shard of round {number}", shard.path().display()))
}

fn in_words(finding: &Finding) -> String {
    let Finding { shard, good_games, plies, problems, more_problems } = finding;
    if problems.is_empty() {
        return format!("good: {shard}: {good_games} games, {plies} plies");
    }
    let mut text = format!("BAD:  {shard}: {good_games} good games");
    problems.iter().for_each(|problem| text += &format!("\n      {problem}"));
    if *more_problems > 0 {
        text += &format!("\n      and {more_problems} more bad games");
    }
    text
}
