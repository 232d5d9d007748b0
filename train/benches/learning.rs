//! What an option of the learning is worth: trains the network of each config from
//! its first weights on the games of a run that is over, and compares what they say
//! of games that none of them was trained on.
//!
//! ```sh
//! cargo bench --bench learning -- RUN CONFIG... --output FOLDER
//! ```
//!
//! Of a config, `[network]`, `[training]` and `run.seed` (first weights, samples)
//! count; the learning rate falls over the steps as it does over a run. Values are
//! measured against the same targets for all: those of the first config, and the
//! results of the games. Errors are standard errors over games. Differences are
//! those to the first config at the same positions: they leave out how much two
//! trainings with the same config differ, which a copy of the first config with
//! another `run.seed` shows. The networks are saved in `FOLDER/CONFIG`, to be
//! compared as players by `cyvasse evaluate match`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::{Context, anyhow, bail, ensure};
use clap::Parser;
use cyvasse_env::Rules;
use cyvasse_models::{Net, checkpoint};
use cyvasse_selfplay::replay::Shard;
use cyvasse_selfplay::{Purpose, derive};
use cyvasse_train::checkpoints::{PLAY_NET, made_for};
use cyvasse_train::config::{Config, read_rules};
use cyvasse_train::device;
use cyvasse_train::evaluation::statistics::Grouped;
use cyvasse_train::learning::{
    HeldOut, Losses, Sample, Trainer, TrainingConfig, TrainingRound, Window, losses_at,
};
use rayon::ThreadPoolBuilder;

/// Parts of a training, in each of which the learning rate is the same.
const PARTS: u64 = 20;

#[derive(Parser)]
#[command(name = "learning")]
struct Arguments {
    /// The directory of a run that is over
    run: PathBuf,
    /// Training configs; the others are compared with the first
    #[arg(required = true, value_name = "CONFIG")]
    configs: Vec<PathBuf>,
    /// Optimiser steps of each training
    #[arg(long, value_name = "N", default_value_t = 2000)]
    steps: u64,
    /// Use the games of the newest K rounds only
    #[arg(long, value_name = "K")]
    last_rounds: Option<usize>,
    /// Judge by held-out games of the newest K of these rounds only
    #[arg(long, value_name = "K")]
    judged_rounds: Option<usize>,
    /// Let the games come as they came in the run, into the window of each config, whose
    /// `window_` keys count then; without it, all are there from the first step on
    #[arg(long, conflicts_with = "last_rounds")]
    as_played: bool,
    /// Trainings at the same time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// libtorch's threads of each training
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: u16,
    /// The seed of the run: games that it held out are held out here
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// A new folder for the networks
    #[arg(long, value_name = "FOLDER")]
    output: PathBuf,
    /// Given by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

/// What all trainings share.
struct Lab {
    arguments: Arguments,
    rules: Arc<Rules>,
    shards: Vec<PathBuf>,
    held_out: HeldOut,
    /// Games that are held out, with the value targets of the first config.
    games: Vec<Vec<Sample>>,
    /// The same with the results of the games as value targets.
    results: Vec<Vec<Sample>>,
}

/// What is measured of a network: of each game the loss at each position.
struct Measured {
    trained: Losses,
    seconds: f64,
    policy: Vec<Vec<f64>>,
    value: Vec<Vec<f64>>,
    result: Vec<Vec<f64>>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let threads = arguments.threads.into();
    ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let configs = arguments.configs.iter().map(|path| Config::load(path));
    let configs: Vec<(Config, _)> = configs.collect::<Result<_, _>>()?;
    let configs: Vec<Config> = configs.into_iter().map(|(config, _)| config).collect();
    let names: Vec<String> = arguments.configs.iter().map(|path| name(path)).collect();
    for (at, name) in names.iter().enumerate() {
        ensure!(!names[..at].contains(name), "two configs have the name {name}");
    }
    let lab = Lab::new(arguments, &configs[0].training)?;
    let (positions, games) = (lab.games.iter().map(Vec::len).sum::<usize>(), lab.games.len());
    println!("{} shards, {positions} held-out positions of {games} games", lab.shards.len());
    fs::create_dir(&lab.arguments.output)
        .with_context(|| format!("cannot create {}", lab.arguments.output.display()))?;
    lab.measure_all(&configs, &names)
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

impl Lab {
    fn new(arguments: Arguments, first: &TrainingConfig) -> anyhow::Result<Lab> {
        let rules = Arc::new(read_rules(&arguments.run.join("rules.toml"))?);
        let shards = shards_of(&arguments.run, arguments.last_rounds)?;
        let held_out = HeldOut { share: first.held_out_games, seed: arguments.seed };
        let (mut games, mut results) = (Vec::new(), Vec::new());
        let judged = arguments.judged_rounds.unwrap_or(usize::MAX);
        for path in &shards[shards.len().saturating_sub(judged)..] {
            let shard = Shard::open(path, &rules)?;
            games.extend(held_out.samples_of(&shard, first.value_lambda)?);
            results.extend(held_out.samples_of(&shard, 1.0)?);
        }
        for games in [&mut games, &mut results] {
            games.retain(|game| !game.is_empty());
        }
        ensure!(games.len() > 1, "fewer than two games are held out; use more rounds");
        Ok(Lab { arguments, rules, shards, held_out, games, results })
    }

    /// Trains and measures the networks of all configs, several at the same time, and
    /// tells of each, in the order of the configs, as soon as it can.
    fn measure_all(&self, configs: &[Config], names: &[String]) -> anyhow::Result<()> {
        let next = AtomicUsize::new(0);
        let measured: Mutex<Vec<Option<Measured>>> = Mutex::default();
        measured.lock().expect("no thread has it yet").resize_with(configs.len(), || None);
        let work = || -> anyhow::Result<()> {
            tch::set_num_threads(self.arguments.threads.into());
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(config) = configs.get(at) else { return Ok(()) };
                let this = self.measure(config, &names[at])?;
                let mut all = measured.lock().map_err(|_| anyhow!("another training failed"))?;
                let told = all.iter().take_while(|done| done.is_some()).count();
                all[at] = Some(this);
                for (name, done) in names.iter().zip(&*all).skip(told) {
                    let (Some(done), Some(first)) = (done, &all[0]) else { break };
                    done.tell(name, first);
                }
            }
        };
        std::thread::scope(|scope| {
            let jobs = 0..self.arguments.jobs.max(1);
            let threads: Vec<_> = jobs.map(|_| scope.spawn(work)).collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().map_err(|_| anyhow!("a training panicked"))?)
        })
    }

    fn measure(&self, config: &Config, name: &str) -> anyhow::Result<Measured> {
        let started = Instant::now();
        let (net, trained) = self.train(config).with_context(|| name.to_owned())?;
        let seconds = started.elapsed().as_secs_f64();
        println!("{name}: trained in {seconds:.0} s");
        let folder = self.arguments.output.join(name);
        fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let steps = self.arguments.steps;
        checkpoint::save(&folder.join(PLAY_NET), &net, &made_for(&self.rules), steps)?;
        let of = |games: &[Vec<Sample>], of: fn(&Losses) -> f64| {
            let mut losses = losses_at(&net, &self.rules, games.iter().flatten()).into_iter();
            let game = |game: &Vec<Sample>| -> Vec<f64> {
                losses.by_ref().take(game.len()).map(|losses| of(&losses)).collect()
            };
            games.iter().map(game).collect()
        };
        Ok(Measured {
            trained,
            seconds,
            policy: of(&self.games, |losses| losses.policy),
            value: of(&self.games, |losses| losses.value),
            result: of(&self.results, |losses| losses.value),
        })
    }

    /// The averaged network after all steps, and the losses of the last part.
    fn train(&self, config: &Config) -> anyhow::Result<(Net, Losses)> {
        let device = device::find(config.run.device)?;
        let mut trainer = Trainer::untrained(config, &self.rules, device)?;
        let mut settings = config.training.clone();
        if !self.arguments.as_played {
            (settings.window_positions, settings.window_growth) = (u32::MAX, 0.0);
        }
        let mut window = Window::new(&settings, self.held_out, self.rules.clone());
        let mut to_come = self.shards.iter();
        let (steps, stop) = (self.arguments.steps, AtomicBool::new(false));
        let mut losses = Losses::default();
        for part in 0..PARTS {
            for path in to_come.by_ref().take(self.new_shards(part)) {
                window.add(Shard::open(path, &self.rules)?);
            }
            ensure!(!window.is_empty(), "there is nothing to learn from");
            let round = TrainingRound {
                steps: (part + 1) * steps / PARTS - part * steps / PARTS,
                run_share: part as f64 / (PARTS - 1) as f64,
                seed: derive(config.run.seed, Purpose::Samples, &[part]),
                stop: &stop,
            };
            losses = trainer.train(&mut window, round, |_| ())?;
        }
        Ok((trainer.average, losses))
    }

    /// How many shards come before a part of the training.
    fn new_shards(&self, part: u64) -> usize {
        if !self.arguments.as_played {
            return self.shards.len();
        }
        let by = |part: u64| (part as usize * self.shards.len()).div_ceil(PARTS as usize);
        by(part + 1) - by(part)
    }
}

/// The newest shards of a run, oldest first.
fn shards_of(run: &Path, newest: Option<usize>) -> anyhow::Result<Vec<PathBuf>> {
    let folder = run.join("shards");
    let entries = fs::read_dir(&folder);
    let entries = entries.with_context(|| format!("cannot read {}", folder.display()))?;
    let mut shards = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    shards.retain(|path| path.extension().is_some_and(|extension| extension == "h5"));
    shards.sort();
    if shards.is_empty() {
        bail!("{} has no shards", run.display());
    }
    let older = shards.len().saturating_sub(newest.unwrap_or(usize::MAX));
    Ok(shards.split_off(older))
}

impl Measured {
    /// Prints the losses, and where it is another training the differences.
    fn tell(&self, name: &str, first: &Measured) {
        let Losses { policy, value, .. } = self.trained;
        let seconds = self.seconds;
        println!("\n{name}: trained in {seconds:.0} s to policy {policy:.4}, value {value:.4}");
        let parts = [
            ("policy", &self.policy, &first.policy),
            ("value", &self.value, &first.value),
            ("result", &self.result, &first.result),
        ];
        for (what, all, of_first) in parts {
            let starts = |games: &[Vec<f64>]| -> Vec<Vec<f64>> {
                games.iter().map(|game| vec![game[0]]).collect()
            };
            print!(
                "  {what:6}  {}; first positions {}",
                Grouped::of(all),
                Grouped::of(&starts(all))
            );
            if !std::ptr::eq(self, first) {
                let difference: Vec<Vec<f64>> = all
                    .iter()
                    .zip(of_first)
                    .map(|(game, first)| game.iter().zip(first).map(|(a, b)| a - b).collect())
                    .collect();
                let (all, starts) = (Grouped::of(&difference), Grouped::of(&starts(&difference)));
                print!("; differences {all}; first positions {starts}");
            }
            println!();
        }
    }
}
