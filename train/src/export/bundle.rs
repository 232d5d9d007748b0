//! Writing the files of a bundle and reading each of them back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use cyvasse_models::export::{
    self, Network, OnnxReader, Reader, ScriptReader, TensorsReader, largest_difference,
};
use serde::Serialize;
use tch::Tensor;

use super::agent::Agent;
use super::cases::{PlayCases, SetupCases};
use super::plan::{Format, Numbers};

/// The largest difference between a network and what is read back of it, in any
/// output of any test case.
pub const TOLERANCE: f64 = 1e-4;

/// A network's file, and how far it was from the network when it was read back.
#[derive(Clone, Debug, Serialize)]
pub struct Exported {
    /// Its name in the bundle.
    pub file: String,
    /// "play" or "setup".
    pub network: &'static str,
    /// "onnx", "torchscript" or "safetensors".
    pub format: &'static str,
    /// "fp32", "fp16" or "int8".
    pub numbers: &'static str,
    /// What read it back.
    pub reader: &'static str,
    /// In any output of any test case; over [`TOLERANCE`] for fp16 and int8 only.
    pub largest_difference: f64,
}

/// A bundle that is being written into a folder.
pub(super) struct Bundle<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// What is exported.
    pub agent: &'a Agent,
    /// Positions with what the play network says.
    pub play: &'a PlayCases,
    /// Prefixes with what the setup network says.
    pub setup: Option<&'a SetupCases>,
}

impl Bundle<'_> {
    /// Writes a network in a format, in f32.
    ///
    /// # Errors
    /// A file that cannot be written or read back, or that says something else than
    /// the network does.
    pub(super) fn write(&self, network: Network, format: Format) -> anyhow::Result<Exported> {
        let file = file_name(network, format, Numbers::Fp32);
        let path = self.folder.join(&file);
        let metadata = || BTreeMap::from([("format".to_string(), "cyvasse-export".to_string())]);
        match (network, &self.agent.setup, format) {
            (Network::Play, _, Format::Onnx) => {
                write(&path, &export::play_onnx(&self.agent.play))?;
            }
            (Network::Play, _, Format::Torchscript) => {
                export::save_play_script(&self.agent.play, &path)?;
            }
            (Network::Play, _, Format::Safetensors) => {
                export::save_play_tensors(&self.agent.play, metadata(), &path)?;
            }
            (Network::Setup, Some(net), Format::Onnx) => write(&path, &export::setup_onnx(net))?,
            (Network::Setup, Some(net), Format::Torchscript) => {
                export::save_setup_script(net, &path)?;
            }
            (Network::Setup, Some(net), Format::Safetensors) => {
                export::save_setup_tensors(net, metadata(), &path)?;
            }
            (Network::Setup, None, _) => {}
        }
        let (reader, by): (Box<dyn Reader>, _) = match format {
            Format::Onnx => (Box::new(read_onnx(&path)?), "tract"),
            Format::Torchscript => (Box::new(ScriptReader::open(network, &path)?), "libtorch"),
            Format::Safetensors => {
                (Box::new(TensorsReader::new(network, &read(&path)?)?), "safetensors")
            }
        };
        let difference = self.difference(network, &*reader, &file)?;
        agrees(&file, by, difference)?;
        Ok(exported(file, network, format, Numbers::Fp32, by, difference))
    }

    /// Writes the play network as ONNX with smaller numbers. How far it is from the
    /// network is told and no reason to refuse it: a match tells what it is worth.
    ///
    /// # Errors
    /// A file that cannot be written or read back, a network that does not fit.
    pub(super) fn write_smaller(
        &self,
        numbers: Numbers,
        calibration: Option<&Tensor>,
    ) -> anyhow::Result<(Exported, OnnxReader)> {
        let file = file_name(Network::Play, Format::Onnx, numbers);
        let bytes = match (numbers, calibration) {
            (Numbers::Int8, Some(planes)) => export::play_onnx_int8(&self.agent.play, planes),
            (Numbers::Fp16, _) => export::play_onnx_fp16(&self.agent.play)?,
            _ => export::play_onnx(&self.agent.play),
        };
        let path = self.folder.join(&file);
        write(&path, &bytes)?;
        let reader = read_onnx(&path)?;
        let difference = self.difference(Network::Play, &reader, &file)?;
        ensure!(difference.is_finite(), "{file} answers with numbers that are not finite");
        let exported = exported(file, Network::Play, Format::Onnx, numbers, "tract", difference);
        Ok((exported, reader))
    }

    fn difference(&self, network: Network, reader: &dyn Reader, file: &str) -> anyhow::Result<f64> {
        let difference = match (network, self.setup) {
            (Network::Setup, Some(cases)) => {
                largest_difference(reader, &cases.inputs, &cases.expected)
            }
            _ => {
                largest_difference(reader, &[self.play.planes.shallow_clone()], &self.play.expected)
            }
        };
        difference.with_context(|| file.to_string())
    }
}

/// Refuses a file that says something else than the network.
fn agrees(file: &str, reader: &str, difference: f64) -> anyhow::Result<()> {
    ensure!(
        difference <= TOLERANCE,
        "{file}, read by {reader}, differs from the network by {difference:.1e} on the test cases, expected at most {TOLERANCE:.0e}; nothing was exported"
    );
    Ok(())
}

fn exported(
    file: String,
    network: Network,
    format: Format,
    numbers: Numbers,
    reader: &'static str,
    largest_difference: f64,
) -> Exported {
    let network = name_of(network);
    let (format, numbers) = (format.name(), numbers.name());
    Exported { file, network, format, numbers, reader, largest_difference }
}

fn name_of(network: Network) -> &'static str {
    match network {
        Network::Play => "play",
        Network::Setup => "setup",
    }
}

/// `play.onnx`, `play.int8.onnx`, `setup.pt`, ...
fn file_name(network: Network, format: Format, numbers: Numbers) -> String {
    let ending = match format {
        Format::Onnx => "onnx",
        Format::Torchscript => "pt",
        Format::Safetensors => "safetensors",
    };
    match numbers {
        Numbers::Fp32 => format!("{}.{ending}", name_of(network)),
        _ => format!("{}.{}.{ending}", name_of(network), numbers.name()),
    }
}

fn read_onnx(path: &Path) -> anyhow::Result<OnnxReader> {
    Ok(OnnxReader::new(&read(path)?)?)
}

/// Writes a file of the bundle.
pub(super) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use cyvasse_env::{ACTION_PLANES, PLANES, Rules};
    use cyvasse_models::checkpoint::CheckpointHeader;
    use cyvasse_models::{Net, NetConfig};
    use tch::Device;

    use super::*;
    use crate::checkpoints::made_for;

    fn agent() -> Agent {
        let config = NetConfig {
            input_planes: PLANES,
            policy_planes: ACTION_PLANES,
            blocks: 1,
            channels: 4,
            policy_channels: 4,
            value_channels: 4,
            value_hidden: 4,
            batch_norm_epsilon: 1e-5,
            batch_norm_momentum: 0.1,
            output_init_std: 0.1,
        };
        let rules = Arc::new(Rules::iron_throne());
        let made_for = made_for(&rules);
        let header =
            CheckpointHeader { net: config.clone(), made_for, step: 0, producer: "1".into() };
        let play = Net::new(&config, 1, Device::Cpu).unwrap();
        Agent { rules, file: PathBuf::new(), run: None, play, header, setup: None }
    }

    #[test]
    fn a_file_that_says_something_else_than_the_network_is_refused() {
        let agent = agent();
        let folder = tempfile::tempdir().unwrap();
        let cases = PlayCases::new(&agent.play, &agent.rules);
        let write = |cases: &PlayCases, format| {
            let bundle = Bundle { folder: folder.path(), agent: &agent, play: cases, setup: None };
            bundle.write(Network::Play, format)
        };
        for format in Format::ALL {
            assert!(write(&cases, format).unwrap().largest_difference < 1e-5);
        }
        // One logit of one position, as if a weight had been written wrongly.
        let _ = cases.expected[0].narrow(0, 17, 1).narrow(1, 4000, 1).g_add_scalar_(2e-4);
        for format in Format::ALL {
            let error = write(&cases, format).unwrap_err().to_string();
            assert!(error.contains("differs from the network by 2.0e-4"), "{error}");
        }
    }
}
