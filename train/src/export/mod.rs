//! Exporting a checkpoint for other programs: a folder with the networks in open
//! formats, what they take and give, and test cases, made only if every file says
//! what the networks say.
//!
//! ```text
//! DIR/
//!   README.md                 for whoever writes a front end
//!   model.json                everything about the networks, for programs
//!   rules.toml                the rules file
//!   play.onnx, setup.onnx     the networks; play.fp16.onnx, play.int8.onnx if wanted
//!   play.pt, setup.pt         the same as TorchScript
//!   play.safetensors, ...     the same as tensors by name
//!   test_cases.json           positions and prefixes of setups with what is expected
//!   test_cases.safetensors    the same as tensors, with all logits
//! ```

mod actions;
mod agent;
mod bundle;
mod calibration;
mod cases;
mod contest;
mod description;
mod plan;
mod provenance;
mod tests_file;

pub use agent::Agent;
pub use bundle::{Exported, TOLERANCE};
pub use contest::{NumbersMatch, Worth};
pub use plan::{Format, Numbers, chosen};

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail, ensure};
use cyvasse_env::SetupSpace;
use cyvasse_models::export::{Network, OnnxReader};
use tch::Tensor;

use self::bundle::{Bundle, write};
use self::cases::{PlayCases, SetupCases};
use crate::checkpoints::find_setup_net;
use crate::evaluation::{Mixture, Setups};
use crate::pipeline::write_folder;

/// What is to be exported and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Formats, at least one.
    pub formats: Vec<Format>,
    /// What ONNX files calculate with, at least one.
    pub numbers: Vec<Numbers>,
    /// A run directory or shard with positions to choose the ranges of int8 by;
    /// `None` for the agent's own run.
    pub calibrate: Option<PathBuf>,
    /// Games of each match of smaller numbers against f32; an even number.
    pub games: u64,
    /// The seed of these matches.
    pub seed: u64,
}

/// What was exported.
#[derive(Debug, Default)]
pub struct Export {
    /// The networks' files.
    pub files: Vec<Exported>,
    /// What smaller numbers are worth.
    pub worth: Vec<Worth>,
}

/// Exports an agent to a folder that must not be there yet, or be empty. The folder
/// appears when all of it is written and was read back.
///
/// # Errors
/// A folder with something in it, a system that refuses, a file that does not say
/// what the networks say, a match that was stopped. Nothing is left behind then.
pub fn export(agent: &Agent, plan: &Plan, out: &Path, stop: &AtomicBool) -> anyhow::Result<Export> {
    check_out(out)?;
    let calibration = match plan.numbers.contains(&Numbers::Int8) {
        true => Some(calibration::planes(plan.calibrate.as_deref(), agent)?),
        false => None,
    };
    let play = PlayCases::new(&agent.play, &agent.rules);
    let setup = agent.setup.as_ref().map(|net| SetupCases::new(net, &agent.rules)).transpose()?;
    let mut export = Export::default();
    write_folder(out, |folder| {
        let bundle = Bundle { folder, agent, play: &play, setup: setup.as_ref() };
        export = fill(&bundle, plan, calibration.as_ref(), stop)?;
        tests_file::write(&bundle)?;
        write(&folder.join("rules.toml"), agent.rules.to_toml().as_bytes())?;
        write(&folder.join("README.md"), description::readme(&bundle, &export).as_bytes())?;
        let model = description::model(&bundle, &export)?;
        write(&folder.join("model.json"), model.as_bytes())?;
        sync_all(folder)
    })?;
    Ok(export)
}

fn check_out(out: &Path) -> anyhow::Result<()> {
    if !out.exists() {
        let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty());
        let there = parent.is_none_or(Path::is_dir);
        let parent = parent.unwrap_or(Path::new(".")).display();
        ensure!(there, "cannot make {}: {parent} is no folder; make it first", out.display());
        return Ok(());
    }
    let empty = out.is_dir() && out.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    ensure!(
        empty,
        "{} exists already; choose another folder, nothing is overwritten",
        out.display()
    );
    Ok(())
}

/// Waits until all files of a folder are on the disk.
fn sync_all(folder: &Path) -> anyhow::Result<()> {
    let sync = || -> std::io::Result<()> {
        for entry in folder.read_dir()? {
            File::open(entry?.path())?.sync_all()?;
        }
        Ok(())
    };
    sync().with_context(|| format!("cannot write {}", folder.display()))
}

/// Writes the networks.
fn fill(
    bundle: &Bundle<'_>,
    plan: &Plan,
    calibration: Option<&Tensor>,
    stop: &AtomicBool,
) -> anyhow::Result<Export> {
    let mut export = Export::default();
    for &format in &plan.formats {
        if format != Format::Onnx || plan.numbers.contains(&Numbers::Fp32) {
            export.files.push(bundle.write(Network::Play, format)?);
        }
        if bundle.setup.is_some() {
            export.files.push(bundle.write(Network::Setup, format)?);
        }
    }
    if !plan.formats.contains(&Format::Onnx) {
        return Ok(export);
    }
    let smaller = plan.numbers.iter().filter(|&&numbers| numbers != Numbers::Fp32);
    let smaller: Vec<Numbers> = smaller.copied().collect();
    if smaller.is_empty() {
        return Ok(export);
    }
    let agent = bundle.agent;
    let setups = setups_of(agent)?;
    let full = cyvasse_models::export::play_onnx(&agent.play);
    let full = Arc::new(OnnxReader::new(&full)?);
    for numbers in smaller {
        let (file, reader) = bundle.write_smaller(numbers, calibration)?;
        export.files.push(file);
        let contest = NumbersMatch {
            rules: agent.rules.clone(),
            setups: &setups,
            games: plan.games,
            seed: plan.seed,
            stop,
        };
        let planes = &bundle.play.planes;
        export.worth.push(contest.play(numbers.name(), reader, &full, planes)?);
        if stop.load(Ordering::Relaxed) {
            bail!("interrupted; nothing was exported");
        }
    }
    Ok(export)
}

/// Where setups come from in matches: from the agent's setup network, if it has one.
fn setups_of(agent: &Agent) -> anyhow::Result<Setups> {
    Ok(match find_setup_net(&agent.file) {
        Some(file) => Setups::Learned(Box::new(Mixture::load(&file, &agent.rules)?)),
        None => Setups::Uniform(SetupSpace::new(&agent.rules)),
    })
}
