//! The parts that are measured, each for a slice of a turn.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use cyvasse_env::{ENCODED_LEN, Position, Rules, encode, perft, perft_by_playing};
use cyvasse_models::NetEvaluator;
use cyvasse_selfplay::play::{Progress, Round, SelfPlay};
use cyvasse_selfplay::replay::{Shard, ShardHeader, write_shard};
use cyvasse_selfplay::search::{Cyvasse, Gathered, Search, SearchSettings};
use cyvasse_selfplay::{
    Evaluation, Evaluator, MoverValue, Remembering, Request, SetupPool, Uniform, middlegames,
};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tch::{Device, Kind, Tensor};
use tempfile::TempDir;

use super::{SelfPlayRates, Turn};
use crate::config::Config;
use crate::learning::{HeldOut, Trainer, TrainingRound, Window};

/// The seed of all that is random here.
const SEED: u64 = 1;

/// Side of the matrices that are multiplied.
const SGEMM_SIDE: i64 = 512;

/// Simulations of the search that is measured without a network.
const SEARCH_SIMULATIONS: u32 = 800;

/// Depth of perft.
const PERFT_DEPTH: u32 = 3;

/// Middlegames to measure on.
const POSITIONS: usize = 64;

/// Plies that every slot plays, without a network, before self-play is
/// measured, so that its games are at all stages.
const WARM_UP_PLIES: u32 = 100;

/// Simulations of these plies: they only have to be of all kinds.
const WARM_UP_SIMULATIONS: u32 = 8;

/// Time for a part in a turn.
const SLICE: Duration = Duration::from_millis(500);

/// Time for self-play, whose searches begin anew in every turn.
const SELFPLAY_SLICE: Duration = Duration::from_millis(3000);

/// Everything that a turn needs, made before the first.
pub(super) struct Meters {
    config: Config,
    rules: Arc<Rules>,
    pool: ThreadPool,
    positions: Vec<Position>,
    evaluators: Vec<NetEvaluator>,
    selfplay: SelfPlay,
    setups: SetupPool,
    trainer: Trainer,
    window: Window,
    /// Where the window's shard lies.
    folder: TempDir,
}

impl Meters {
    pub(super) fn new(
        config: &Config,
        rules: Arc<Rules>,
        device: Device,
    ) -> anyhow::Result<Meters> {
        let (config, threads) = (config.clone(), config.selfplay.workers);
        let trainer = Trainer::untrained(&config, &rules, device)?;
        let setups = SetupPool::uniform(&rules);
        let positions = middlegames(&rules, POSITIONS, SEED);
        if positions.is_empty() {
            bail!("the rules `{}` have no middlegame to measure on", rules.name);
        }
        let selfplay = SelfPlay::new(
            rules.clone(),
            SearchSettings { simulations: WARM_UP_SIMULATIONS, ..config.search.clone() },
            config.games.clone(),
            0..config.selfplay.slots,
            SEED,
        );
        let mut meters = Meters {
            pool: ThreadPoolBuilder::new().num_threads(threads as usize).build()?,
            positions,
            evaluators: config.selfplay.evaluators(&trainer.average, &rules),
            trainer,
            window: Window::new(
                &config.training,
                HeldOut { share: 0.0, seed: SEED },
                rules.clone(),
            ),
            config,
            rules,
            selfplay,
            setups,
            folder: tempfile::tempdir()?,
        };
        meters.warm_up()?;
        Ok(meters)
    }

    /// Floating-point operations of one evaluation.
    pub(super) fn flops(&self) -> f64 {
        self.trainer.net.config().flops() as f64
    }

    /// Measures every part once.
    pub(super) fn turn(&mut self) -> anyhow::Result<Turn> {
        Ok(Turn {
            sgemm: self.sgemm(),
            network: self.network()?,
            selfplay: self.selfplay()?,
            trainer: self.trainer()?,
            search: self.search(),
            perft_leaves: self.perft(perft),
            perft_plays: self.perft(perft_by_playing),
            encodings: self.encodings(),
        })
    }

    /// Games without a network: they leave the slots at all stages of a game,
    /// and the trainer something to learn from.
    fn warm_up(&mut self) -> anyhow::Result<()> {
        let mut evaluators = vec![Uniform::new(); self.evaluators.len()];
        let progress = Progress::default();
        let stop = AtomicBool::new(false);
        let mut games = Vec::new();
        while games.is_empty() {
            let round = Round {
                plies_per_slot: WARM_UP_PLIES,
                network_step: 0,
                setups: &self.setups,
                resign_below: MoverValue::LOSS,
                progress: &progress,
                stop: &stop,
            };
            games = self.pool.install(|| self.selfplay.play(&mut evaluators, round))?;
        }
        self.selfplay = SelfPlay::resume(
            self.rules.clone(),
            self.config.search.clone(),
            self.config.games.clone(),
            self.selfplay.unfinished(),
            SEED,
        )?;
        let path = self.folder.path().join("bench.h5");
        write_shard(&path, &ShardHeader::new(&self.rules, SEED, 0), &games)?;
        let shard = Shard::open(&path, &self.rules)?;
        self.window.add(shard);
        Ok(())
    }

    /// Operations a second of matrix products on all threads.
    fn sgemm(&self) -> f64 {
        let matrix = || Tensor::rand([SGEMM_SIDE; 2], (Kind::Float, Device::Cpu));
        let products: f64 = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.evaluators.len())
                .map(|_| {
                    scope.spawn(|| {
                        let (one, other) = (matrix(), matrix());
                        rate(SLICE, || {
                            let _ = black_box(one.matmul(&other));
                            1
                        })
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or(0.0)).sum()
        });
        products * 2.0 * (SGEMM_SIDE as f64).powi(3)
    }

    /// Evaluations a second of the network on all threads, in self-play's
    /// batches.
    fn network(&mut self) -> anyhow::Result<f64> {
        let batch = self.config.selfplay.batch() as usize;
        let positions: Vec<&Position> = self.positions.iter().cycle().take(batch).collect();
        let batch = Batch::new(&positions, &self.rules);
        let rates = thread::scope(|scope| {
            let threads: Vec<_> = self
                .evaluators
                .iter_mut()
                .map(|evaluator| scope.spawn(|| batch.rate(evaluator)))
                .collect();
            threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
        });
        let mut sum = 0.0;
        for rate in rates {
            sum += rate.map_err(|_| anyhow::anyhow!("evaluating the network failed"))??;
        }
        Ok(sum)
    }

    /// Simulations a second of the search on one thread.
    fn search(&self) -> f64 {
        let settings = SearchSettings {
            simulations: SEARCH_SIMULATIONS,
            max_nodes: SEARCH_SIMULATIONS + 1,
            ..self.config.search.clone()
        };
        let game = Cyvasse { rules: self.rules.clone() };
        let mut search = Search::new(game, settings, self.positions[0].clone(), &[], SEED);
        let mut positions = self.positions.iter().cycle();
        let mut answer = Evaluation::blank();
        rate(SLICE, || match positions.next() {
            Some(position) => search_through(&mut search, position, &mut answer),
            None => 0,
        })
    }

    /// What self-play does in a slice.
    fn selfplay(&mut self) -> anyhow::Result<SelfPlayRates> {
        let before = served(&self.evaluators).unwrap_or_default();
        let progress = Progress::default();
        let stop = AtomicBool::new(false);
        let remembered = self.config.games.remembered_evaluations;
        let mut evaluators: Vec<_> = self
            .evaluators
            .iter_mut()
            .map(|evaluator| Remembering::new(evaluator, remembered, &progress.remembered))
            .collect();
        let round = Round {
            plies_per_slot: u32::MAX,
            network_step: 0,
            setups: &self.setups,
            resign_below: MoverValue::LOSS,
            progress: &progress,
            stop: &stop,
        };
        let start = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(SELFPLAY_SLICE);
                stop.store(true, Ordering::Relaxed);
            });
            self.pool.install(|| self.selfplay.play(&mut evaluators, round))
        })?;
        let seconds = start.elapsed().as_secs_f64();
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64;
        let asked = count(&progress.evaluations);
        let own = (asked, count(&progress.batches), self.config.selfplay.batch());
        let (positions, batches, full) = served(&self.evaluators)
            .map_or(own, |now| (now.0 - before.0, now.1 - before.1, self.config.selfplay.slots));
        Ok(SelfPlayRates {
            evaluations: (asked - count(&progress.remembered)) / seconds,
            simulations: count(&progress.simulations) / seconds,
            positions: count(&progress.plies) / seconds,
            games: count(&progress.games) / seconds,
            fill: positions / batches.max(1.0) / f64::from(full),
        })
    }

    /// Positions a second that the trainer learns from.
    fn trainer(&mut self) -> anyhow::Result<f64> {
        if self.window.is_empty() {
            bail!(
                "no ply of the first games was searched in full: raise `games.playout_cap.full_share`"
            );
        }
        tch::set_num_threads(self.config.training.threads as i32);
        let stop = AtomicBool::new(false);
        let batch = u64::from(self.config.training.batch_size);
        let mut failure = None;
        let rate = rate(SLICE, || {
            let round = TrainingRound { steps: 1, run_share: 0.0, seed: SEED, stop: &stop };
            failure = self.trainer.train(&mut self.window, round, |_| ()).err();
            batch
        });
        tch::set_num_threads(1);
        failure.map_or(Ok(rate), |failure| Err(failure.into()))
    }

    /// Leaves a second of a perft.
    fn perft(&self, perft: fn(&Position, &Rules, u32) -> u64) -> f64 {
        let mut positions = self.positions.iter().cycle();
        rate(SLICE / 2, || positions.next().map_or(0, |p| perft(p, &self.rules, PERFT_DEPTH)))
    }

    /// Positions encoded a second.
    fn encodings(&self) -> f64 {
        let mut planes = vec![0.0; ENCODED_LEN];
        rate(SLICE / 4, || {
            for position in &self.positions {
                encode(black_box(position), 1, &self.rules, black_box(&mut planes));
            }
            self.positions.len() as u64
        })
    }
}

/// Positions and batches that the evaluators' server has evaluated, if they
/// have one.
fn served(evaluators: &[NetEvaluator]) -> Option<(f64, f64)> {
    let served = evaluators.first()?.served_batches()?;
    let count = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64;
    Some((count(&served.positions), count(&served.batches)))
}

/// Positions to be evaluated together.
struct Batch<'a> {
    positions: &'a [&'a Position],
    actions: Vec<Vec<cyvasse_env::Action>>,
}

impl<'a> Batch<'a> {
    fn new(positions: &'a [&'a Position], rules: &Rules) -> Batch<'a> {
        let legal = |position: &&Position| {
            let mut actions = Vec::new();
            position.legal_actions(rules, &mut actions);
            actions
        };
        Batch { positions, actions: positions.iter().map(legal).collect() }
    }

    /// Evaluations a second.
    fn rate(&self, evaluator: &mut NetEvaluator) -> anyhow::Result<f64> {
        let pairs = self.positions.iter().zip(&self.actions);
        let requests: Vec<Request<'_, Cyvasse>> =
            pairs.map(|(&state, actions)| Request { state, actions, occurrences: 1 }).collect();
        let mut answers = vec![Evaluation::blank(); requests.len()];
        let mut failure = None;
        let rate = rate(SLICE, || {
            failure = evaluator.evaluate(&requests, &mut answers).err();
            requests.len() as u64
        });
        failure.map_or(Ok(rate), |failure| Err(failure.into()))
    }
}

/// Searches a position to the end and returns the simulations.
fn search_through(
    search: &mut Search<Cyvasse>,
    position: &Position,
    answer: &mut Evaluation,
) -> u64 {
    search.restart(position.clone(), &[], SEED);
    while search.gather() != Gathered::Done {
        let Some(request) = search.requests().next() else { break };
        // It cannot fail.
        let _ = Uniform::new().evaluate(&[request], std::slice::from_mut(answer));
        search.apply(answer);
    }
    u64::from(search.result(0).simulations)
}

/// What `work` counts in a second, over about this time.
fn rate(time: Duration, mut work: impl FnMut() -> u64) -> f64 {
    let start = Instant::now();
    let mut count = 0;
    loop {
        count += work();
        let elapsed = start.elapsed();
        if elapsed >= time {
            return count as f64 / elapsed.as_secs_f64();
        }
    }
}
