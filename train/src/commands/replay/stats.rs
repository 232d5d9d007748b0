//! `cyvasse replay stats`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use cyvasse_selfplay::play::Resignation;
use cyvasse_selfplay::{NORMAL_95, wilson};
use serde::Serialize;

use super::shards::ShardsArguments;
use crate::commands::rules::answers::tell;
use crate::config::Config;
use crate::pipeline::Reporter;
use crate::replay::{GameStatistics, Summary};

/// Arguments of `cyvasse replay stats`.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct StatsArguments {
    #[command(flatten)]
    shards: ShardsArguments,
    /// Print the numbers as JSON
    #[arg(long)]
    json: bool,
}

/// Everything that is told.
#[derive(Serialize)]
struct Told {
    shards: usize,
    rules: String,
    #[serde(flatten)]
    summary: Summary,
    /// `null` where it is not known which games were played on: of single shards,
    /// and in runs that never resign.
    resignation: Option<Resigning>,
}

/// What resigning would have done to the newest games that were played on.
#[derive(Serialize)]
struct Resigning {
    /// The threshold that these games give.
    threshold: f32,
    /// Players of games that were played on.
    players: usize,
    /// Those who would have resigned.
    would_resign: usize,
    /// Those among them who did not lose.
    wrong: usize,
    /// The share of these; `null` where nobody would have resigned.
    false_positives: Option<f64>,
    /// Its 95% interval.
    interval: Option<(f64, f64)>,
}

impl StatsArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let shards = self.shards.find()?;
        let mut resignation = match &shards.run {
            Some(run) => resignation_of(run)?,
            None => None,
        };
        let count = shards.files.len();
        let mut statistics = GameStatistics::default();
        let mut rules = String::new();
        let reporter = Reporter::new();
        let mut stage = reporter.stage("shards", count as u64);
        let mut done = 0;
        shards.for_each(|shard| {
            rules.clone_from(&shard.header().rules.name);
            for game in 0..shard.game_count() {
                let game = shard.game(game)?;
                statistics.add(&game);
                if let Some(resignation) = &mut resignation {
                    resignation.learn([&game]);
                }
            }
            done += 1;
            stage.update(done, "");
            Ok(())
        })?;
        stage.clear();
        let resignation = resignation.map(Resigning::from);
        let told = Told { shards: count, rules, summary: statistics.summary(), resignation };
        tell(&if self.json { serde_json::to_string(&told)? + "\n" } else { in_words(&told) })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Resignation in a run that resigns, before any game; `None` too where the run's config
/// is not one of this version.
fn resignation_of(run: &Path) -> anyhow::Result<Option<Resignation>> {
    let path = run.join("config.toml");
    let text = std::fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    let config = Config::parse(&path, &text).ok();
    Ok(config.and_then(|config| {
        let settings = config.games.resignation;
        let resigns = settings.false_positives > 0.0;
        resigns.then(|| Resignation::new(settings, config.run.seed))
    }))
}

impl From<Resignation> for Resigning {
    fn from(resignation: Resignation) -> Resigning {
        let threshold = resignation.threshold();
        let rates = resignation.rates(threshold);
        let (resigned, wrong) = (rates.resigned as f64, rates.wrong as f64);
        let some = rates.resigned > 0;
        Resigning {
            threshold: threshold.get(),
            players: rates.players,
            would_resign: rates.resigned,
            wrong: rates.wrong,
            false_positives: some.then(|| wrong / resigned),
            interval: some.then(|| wilson(wrong / resigned, resigned, NORMAL_95)),
        }
    }
}

fn in_words(told: &Told) -> String {
    let Told { shards, rules, summary, resignation } = told;
    let mut text = format!("{shards} shards, rules `{rules}`\n{summary}\n");
    let Some(resigning) = resignation else {
        return text
            + "wrong resignations: not known (of a run of this version that resigns, name the run)\n";
    };
    let Resigning { threshold, players, would_resign, wrong, .. } = resigning;
    text += &match (resigning.false_positives, resigning.interval) {
        (Some(rate), Some((low, high))) => format!(
            "wrong resignations: {:.1}% (95%: {:.1}% to {:.1}%): of {players} players of games that \
             were played on {would_resign} would have resigned below {threshold:.3}, {wrong} of them \
             without losing\n",
            100.0 * rate,
            100.0 * low,
            100.0 * high
        ),
        _ => format!(
            "wrong resignations: none; too little is known of {players} players of games that were \
             played on for anybody to resign\n"
        ),
    };
    text
}
