//! `cyvasse setup`: what a setup network builds.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum, value_parser};
use cyvasse_env::{Rules, Setup, SetupSpace, Side, Tile, Unit};
use cyvasse_models::SetupNet;
use cyvasse_selfplay::{Purpose, derive};
use rayon::ThreadPoolBuilder;
use tch::Device;

use super::rules::RulesArgument;
use super::rules::answers::{Output, answer, is_closed_pipe};
use crate::checkpoints::{find_checkpoint, load_play_net, load_setup_net};
use crate::evaluation::setup_quality::{Diversity, Marginals};
use crate::front_ends::board::{draw_setup, wants_colour};
use crate::setups::{Critic, NetCritic, Start, seated};

const EXAMPLES: &str = "\
Examples:
  cyvasse setup sample --checkpoint runs/quick --count 5
  cyvasse setup score --checkpoint runs/quick/checkpoints/round-0012 \\
      \"3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE\"
  cyvasse setup score --checkpoint runs/quick/checkpoints/round-0012 - < setups.txt
  cyvasse setup show --checkpoint runs/quick/checkpoints/round-0012 --seat black";

/// The commands about setups.
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(super) enum Command {
    /// Sample setups, one a line
    Sample(SampleArguments),
    /// Say how likely a setup is, as a logarithm, and what the play network thinks it is worth to
    /// its builder, -1 (lost) to 1 (won)
    Score(ScoreArguments),
    /// Draw a few setups, and how often which tile and unit stands where
    Show(ShowArguments),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Seat {
    White,
    Black,
}

#[derive(Debug, Args)]
struct Common {
    /// The checkpoint, such as `--checkpoint runs/quick/checkpoints/round-0012`; of a run
    /// directory the newest
    #[arg(long, value_name = "DIR")]
    checkpoint: PathBuf,
    /// The seat that the setup is for; white moves first
    #[arg(long, value_name = "SEAT", default_value = "white")]
    seat: Seat,
    /// Any number: the same seed gives the same samples
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    rules: RulesArgument,
}

/// Arguments of `cyvasse setup sample`.
#[derive(Debug, Args)]
pub(super) struct SampleArguments {
    /// How many
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u32,
    #[command(flatten)]
    common: Common,
}

/// Arguments of `cyvasse setup score`.
#[derive(Debug, Args)]
pub(super) struct ScoreArguments {
    /// Samples of the other seat that the setup is valued against
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = value_parser!(u32).range(1..=100_000))]
    opponents: u32,
    #[command(flatten)]
    common: Common,
    /// In quotes: "3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE"; or `-` for one a line
    setup: String,
}

/// Arguments of `cyvasse setup show`.
#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    /// Setups to draw
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u32).range(0..=1000))]
    count: u32,
    /// Samples that the tables are made from
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = value_parser!(u32).range(1..=100_000))]
    samples: u32,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(command: Command) -> anyhow::Result<ExitCode> {
    tch::set_num_threads(1);
    let result = match command {
        Command::Sample(arguments) => arguments.run(),
        Command::Score(arguments) => arguments.run(),
        Command::Show(arguments) => arguments.run(),
    };
    match result {
        // Whoever read the answers has enough of them, as in `... | head`.
        Err(error) if is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
        result => result,
    }
}

/// A setup network and what it is for.
struct Builder {
    checkpoint: PathBuf,
    rules: Rules,
    space: SetupSpace,
    net: SetupNet,
    seat: Side,
    seed: u64,
}

impl Common {
    fn load(&self) -> anyhow::Result<Builder> {
        let rules = self.rules.load()?;
        let checkpoint = find_checkpoint(&self.checkpoint);
        let net = load_setup_net(&checkpoint, &rules, Device::Cpu)?;
        let seat = match self.seat {
            Seat::White => Side::White,
            Seat::Black => Side::Black,
        };
        let space = SetupSpace::new(&rules);
        Ok(Builder { checkpoint, space, rules, net, seat, seed: self.seed })
    }
}

impl Builder {
    fn seed_for(&self, seat: Side) -> u64 {
        derive(self.seed, Purpose::SetupSupply, &[seat.index() as u64])
    }
}

impl SampleArguments {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let builder = self.common.load()?;
        let (seat, count) = (builder.seat, self.count as usize);
        let mut output = Output::new();
        // There may be more than there is memory for.
        for setups in builder.net.sample_chunks(&builder.space, seat, count, builder.seed_for(seat))
        {
            for setup in setups? {
                output.line(&setup.to_string())?;
            }
        }
        output.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

impl ScoreArguments {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let builder = self.common.load()?;
        let play = load_play_net(&builder.checkpoint, &builder.rules, Device::Cpu)?;
        let pool = ThreadPoolBuilder::new().num_threads(1).build()?;
        let rules = std::sync::Arc::new(builder.rules.clone());
        let critic = std::cell::RefCell::new(NetCritic::new(&play, rules, &pool));
        let (seat, count) = (builder.seat.other(), self.opponents as usize);
        let seed = builder.seed_for(seat);
        let opponents = builder.net.sample_setups(&builder.space, seat, count, seed)?;
        let uniform = builder.space.log_count();
        answer(&self.setup, |text| {
            let setup = Setup::parse(text, &builder.rules)?;
            let score = builder.net.score(&builder.space, builder.seat, &[setup])?[0];
            let starts: Vec<Start> =
                opponents.iter().map(|&opponent| seated(builder.seat, setup, opponent)).collect();
            let chances = critic.borrow_mut().chances(&starts)?;
            let white: f32 = chances.iter().map(|chances| chances.value().get()).sum();
            let white = white / chances.len() as f32;
            let value = if builder.seat == Side::White { white } else { -white };
            Ok(format!("log-probability {score:.2} (uniform {:.2}) value {value:+.3}", -uniform))
        })
    }
}

impl ShowArguments {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let builder = self.common.load()?;
        let (seat, count) = (builder.seat, self.samples.max(self.count) as usize);
        let samples = builder.net.sample(&builder.space, seat, count, builder.seed_for(seat))?;
        let mut output = Output::new();
        let colour = wants_colour();
        for sample in &samples[..self.count as usize] {
            output.line(&draw_setup(&sample.setup, colour))?;
            output.line(&format!(
                "log-probability {:.2}: {}\n",
                sample.log_probability, sample.setup
            ))?;
        }
        let setups: Vec<Setup> = samples.iter().map(|sample| sample.setup).collect();
        let diversity = Diversity::of(&samples, builder.space.log_count());
        output.line(&format!(
            "{} of {} samples for {} are distinct; entropy {:.1} nats, {:.0}% of the uniform's",
            (diversity.distinct * samples.len() as f64).round(),
            samples.len(),
            builder.seat,
            diversity.entropy,
            100.0 * diversity.entropy_share
        ))?;
        let marginals = Marginals::of(&setups);
        for tile in [Tile::Mountain, Tile::Water, Tile::Forest, Tile::Fortress] {
            if builder.rules.tiles.count(tile) > 0 {
                let table = Marginals::table(&marginals.tiles[tile as usize]);
                output.line(&format!("\n{tile}, percent of setups\n{}", table.trim_end()))?;
            }
        }
        for unit in Unit::ALL.into_iter().rev() {
            if builder.rules.unit(unit).count > 0 {
                let table = Marginals::table(&marginals.units[unit.index()]);
                output.line(&format!("\n{unit}, percent of setups\n{}", table.trim_end()))?;
            }
        }
        output.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}
