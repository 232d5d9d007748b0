//! `cyvasse export`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::ensure;

use super::rules::answers::tell;
use super::signal::{INTERRUPTED, stop_flag};
use crate::export::{Agent, Export, Format, Numbers, Plan, chosen, export};

const EXAMPLES: &str = "\
Writes a folder with the play network and the setup network (where there is one) in each format,
model.json (planes, action map, outputs, hashes, where it comes from), a README for whoever writes
a front end, the rules and 32 test cases for each network. Every file is read back and must say what
the networks say to 1e-4, or nothing is exported. Smaller numbers (fp16, int8) are for the ONNX file
of the play network; a match against fp32 tells what they cost.

Examples:
  cyvasse export --checkpoint runs/quick --out quick-model
  cyvasse export --checkpoint runs/quick --out quick-model --format onnx
  cyvasse export --checkpoint runs/quick --out quick-model --precision fp32,int8 --games 1000";

/// Arguments of `cyvasse export`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArguments {
    /// A checkpoint directory or its file; of a run directory the newest checkpoint
    #[arg(long, value_name = "C")]
    checkpoint: PathBuf,
    /// The folder to make; nothing is overwritten
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Any of onnx, torchscript and safetensors, with commas between
    #[arg(
        long,
        value_name = "FORMATS",
        value_delimiter = ',',
        default_value = "onnx,torchscript,safetensors"
    )]
    format: Vec<String>,
    /// What ONNX files calculate with: any of fp32, fp16 and int8, with commas between
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "fp32")]
    precision: Vec<String>,
    /// Positions of games to choose the ranges of int8 by [default: those of the run that the
    /// checkpoint is of]
    #[arg(long, value_name = "RUN_OR_SHARD")]
    calibrate: Option<PathBuf>,
    /// Games of fp16 or int8 against fp32, an even number
    #[arg(long, value_name = "N", default_value_t = 200)]
    games: u64,
    /// Any number: the same seed plays the same games
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The rules that the checkpoint was made for [default: those of its run, or else
    /// those of iron-throne.toml]
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
}

pub(super) fn run(arguments: ExportArguments) -> anyhow::Result<ExitCode> {
    let plan = arguments.plan()?;
    tch::set_num_threads(1);
    let stop = stop_flag()?;
    let agent = Agent::load(&arguments.checkpoint, arguments.rules.as_deref())?;
    match export(&agent, &plan, &arguments.out, &stop) {
        Err(error) if stop.load(Ordering::Relaxed) => {
            // The terminal may be gone.
            let _ = writeln!(std::io::stderr(), "{error}");
            Ok(ExitCode::from(INTERRUPTED))
        }
        made => {
            tell(&in_words(&arguments, &made?)?)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

impl ExportArguments {
    fn plan(&self) -> anyhow::Result<Plan> {
        let games = self.games;
        ensure!(
            games >= 2 && games.is_multiple_of(2) && games <= 1_000_000,
            "--games is {games}, expected an even number from 2 to 1000000: every start is played from both seats"
        );
        let formats = chosen("--format", &self.format, &Format::ALL, Format::name)?;
        let numbers = chosen("--precision", &self.precision, &Numbers::ALL, Numbers::name)?;
        let smaller = numbers.iter().any(|&numbers| numbers != Numbers::Fp32);
        ensure!(
            !smaller || formats.contains(&Format::Onnx),
            "--precision is {}, which is for ONNX only: expected --format with onnx",
            self.precision.join(",")
        );
        let calibrate = self.calibrate.clone();
        Ok(Plan { formats, numbers, calibrate, games, seed: self.seed })
    }
}

/// What was exported, for a person.
fn in_words(arguments: &ExportArguments, export: &Export) -> anyhow::Result<String> {
    let mut text = String::new();
    writeln!(text, "{}", arguments.out.display())?;
    for file in &export.files {
        writeln!(
            text,
            "  {}: {} network in {}, at most {:.1e} from it when read by {}",
            file.file, file.network, file.numbers, file.largest_difference, file.reader
        )?;
    }
    for worth in &export.worth {
        let ratio = worth.evaluations_per_second / worth.evaluations_per_second_fp32;
        writeln!(
            text,
            "  {} against fp32, {} games without search: {}; {:.2} times as fast in tract ({:.0} against {:.0} evaluations/s)",
            worth.numbers,
            worth.games,
            worth.summary,
            ratio,
            worth.evaluations_per_second,
            worth.evaluations_per_second_fp32
        )?;
    }
    Ok(text)
}
