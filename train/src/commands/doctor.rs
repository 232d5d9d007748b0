//! `cyvasse doctor`: what the program finds on this machine, and the remedy
//! for what is wrong.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use cyvasse_env::Rules;
use cyvasse_selfplay::replay;
use tch::{Device, Kind, Tensor};

use crate::config::{DeviceName, read_rules};
use crate::{device, machine};

/// Disk space below which a run is likely to end early.
const LEAST_DISK_BYTES: u64 = 2 << 30;

/// Arguments of `cyvasse doctor`.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArguments {
    /// Ask for a device as a config would: its absence is then an error
    #[arg(long, value_enum, value_name = "DEVICE")]
    device: Option<DeviceName>,
    /// Check a rules file in place of the built-in rules
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// The folder in which runs are to be kept
    #[arg(long, value_name = "DIR", default_value = ".")]
    run_dir: PathBuf,
}

/// What was found, or what is wrong and the remedy.
type Finding = Result<String, String>;

pub(super) fn run(arguments: DoctorArguments) -> anyhow::Result<ExitCode> {
    let findings = [
        ("cyvasse", Ok(env!("CARGO_PKG_VERSION").to_string())),
        ("libtorch", libtorch()),
        ("devices", devices(arguments.device)),
        ("threads", threads()),
        ("hdf5", Ok(replay::hdf5_version())),
        ("rules", rules(arguments.rules.as_deref())),
        ("disk", disk(&arguments.run_dir)),
    ];
    let mut out = std::io::stdout().lock();
    for (name, finding) in &findings {
        match finding {
            Ok(found) => writeln!(out, "{name:>9}: {found}")?,
            Err(problem) => writeln!(out, "{name:>9}: PROBLEM: {problem}")?,
        }
    }
    let sound = findings.iter().all(|(_, finding)| finding.is_ok());
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The libtorch that this process uses, after a calculation with it.
fn libtorch() -> Finding {
    let sum =
        Tensor::f_ones([8], (Kind::Float, Device::Cpu)).and_then(|ones| ones.f_sum(Kind::Float));
    match sum {
        Ok(sum) if sum.double_value(&[]) == 8.0 => {}
        _ => return Err("libtorch does not add up; run scripts/setup again".into()),
    }
    let Some(library) = loaded_library("libtorch_cpu") else {
        return Ok("works (its path is not known on this system)".into());
    };
    let folder = library.parent().unwrap_or(Path::new("/"));
    let version = version(folder).unwrap_or_else(|| "of unknown version".into());
    Ok(format!("{version} in {}", folder.display()))
}

/// Where a library of this process was loaded from.
fn loaded_library(name: &str) -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps
        .lines()
        .find_map(|line| line.find('/').map(|at| &line[at..]).filter(|p| p.contains(name)))?;
    Some(PathBuf::from(path))
}

/// The version that libtorch's headers, beside its libraries, tell.
fn version(libraries: &Path) -> Option<String> {
    let include = libraries.join("../include/torch");
    let text = ["headeronly/version.h", "csrc/api/include/torch/version.h"]
        .iter()
        .filter_map(|header| fs::read_to_string(include.join(header)).ok())
        .find(|text| text.contains("#define TORCH_VERSION_MAJOR "))?;
    let number = |part: &str| {
        let name = format!("#define TORCH_VERSION_{part} ");
        text.lines().find_map(|line| line.strip_prefix(&name)).map(str::to_string)
    };
    Some([number("MAJOR")?, number("MINOR")?, number("PATCH")?].join("."))
}

fn devices(asked: Option<DeviceName>) -> Finding {
    if let Some(name) = asked {
        device::find(name).map_err(|error| error.to_string())?;
    }
    let cuda = tch::Cuda::device_count();
    Ok(match cuda {
        0 => "CPU (no CUDA device; `scripts/setup --cuda` installs the CUDA build)".into(),
        count => format!("CPU, {count} CUDA"),
    })
}

fn threads() -> Finding {
    let cores = thread::available_parallelism()
        .map_err(|error| format!("the number of processors is not known: {error}"))?;
    Ok(format!("{cores} processors; `selfplay.workers` up to that number pays"))
}

fn rules(file: Option<&Path>) -> Finding {
    let rules = match file {
        Some(path) => read_rules(path).map_err(|error| error.to_string())?,
        None => Rules::iron_throne(),
    };
    let origin = file.map_or("built in".into(), |path| path.display().to_string());
    Ok(format!("`{}` ({origin}), fingerprint {:016x}", rules.name, rules.fingerprint()))
}

/// Whether runs can be kept in a folder, or where it would be made.
fn disk(folder: &Path) -> Finding {
    let place = folder.ancestors().find(|place| place.exists() || place.as_os_str().is_empty());
    let place = place.filter(|place| !place.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::tempfile_in(place)
        .map_err(|error| format!("cannot write into {}: {error}", place.display()))?;
    let free = machine::disk_free(place)
        .map_err(|error| format!("cannot look at {}: {error}", place.display()))?;
    let gib = free as f64 / f64::from(1 << 30);
    if free < LEAST_DISK_BYTES {
        return Err(format!(
            "only {gib:.1} GiB free in {}; make room, or keep runs elsewhere with --run-dir",
            place.display()
        ));
    }
    Ok(format!("{gib:.1} GiB free in {}", place.display()))
}
