//! Checkpoints: a network's weights with everything that is needed to know
//! whether they fit the reader's rules and encodings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tch::{Device, Tensor};

use crate::config::{ConfigError, NetConfig};
use crate::net::Net;
use crate::setup_net::{SetupNet, SetupNetConfig};
use crate::tensor_file::{TensorFile, TensorFileError};

/// Version of the layout below; counted up when a reader must change.
const FORMAT_VERSION: u32 = 1;

/// What the weights of a network were made for. A network is of use only where
/// all of it is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compatibility {
    /// Name of the rules, for people.
    pub rules_name: String,
    /// Fingerprint of the rules' contents, compared as text.
    pub rules_fingerprint: String,
    /// Version of the encoding of positions as planes.
    pub planes_version: u32,
    /// Version of the numbering of actions.
    pub actions_version: u32,
}

/// A network that checkpoints hold.
pub trait Saved: Sized {
    /// What a checkpoint of it says under `format`.
    const FORMAT: &'static str;

    /// Its architecture as data.
    type Config: Clone + DeserializeOwned + Serialize;

    /// Checks that an architecture is within its bounds.
    ///
    /// # Errors
    ///
    /// Names the first field that is not.
    fn validate(config: &Self::Config) -> Result<(), ConfigError>;

    /// A network of this architecture, to be filled.
    ///
    /// # Errors
    ///
    /// As [`Saved::validate`].
    fn build(config: &Self::Config, device: Device) -> Result<Self, ConfigError>;

    /// Its architecture.
    fn architecture(&self) -> &Self::Config;

    /// Everything of it that is saved, by name; the tensors share its memory.
    fn tensors(&self) -> BTreeMap<String, Tensor>;
}

impl Saved for Net {
    const FORMAT: &'static str = "cyvasse-checkpoint";
    type Config = NetConfig;

    fn validate(config: &NetConfig) -> Result<(), ConfigError> {
        config.validate()
    }

    fn build(config: &NetConfig, device: Device) -> Result<Net, ConfigError> {
        Net::new(config, 0, device)
    }

    fn architecture(&self) -> &NetConfig {
        self.config()
    }

    fn tensors(&self) -> BTreeMap<String, Tensor> {
        self.variables()
    }
}

impl Saved for SetupNet {
    const FORMAT: &'static str = "cyvasse-setup-checkpoint";
    type Config = SetupNetConfig;

    fn validate(config: &SetupNetConfig) -> Result<(), ConfigError> {
        config.validate()
    }

    fn build(config: &SetupNetConfig, device: Device) -> Result<SetupNet, ConfigError> {
        SetupNet::new(config, 0, device)
    }

    fn architecture(&self) -> &SetupNetConfig {
        self.config()
    }

    fn tensors(&self) -> BTreeMap<String, Tensor> {
        self.variables()
    }
}

/// Everything in a checkpoint but the weights; `C` is the network's
/// [`Saved::Config`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointHeader<C = NetConfig> {
    /// The architecture.
    pub net: C,
    /// What the weights were made for.
    pub made_for: Compatibility,
    /// Optimiser steps that made these weights.
    pub step: u64,
    /// Version of the program that wrote the file.
    pub producer: String,
}

/// Why a checkpoint was refused.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file itself cannot be written or read.
    #[error(transparent)]
    File(#[from] TensorFileError),
    /// A metadata entry is absent: the file is something else.
    #[error("{} is no checkpoint: its metadata has no {key:?}", path.display())]
    MetadataMissing {
        /// The file.
        path: PathBuf,
        /// Key of the entry.
        key: &'static str,
    },
    /// A metadata entry does not have the value that it must have.
    #[error("{}: {key} is {found:?}, expected {expected}", path.display())]
    Metadata {
        /// The file.
        path: PathBuf,
        /// Key of the entry.
        key: &'static str,
        /// Its value.
        found: String,
        /// What is accepted here.
        expected: String,
    },
    /// The architecture in the file is outside its bounds.
    #[error("{}: {source}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The field at fault.
        source: ConfigError,
    },
    /// A tensor that the architecture needs is absent.
    #[error("{}: tensor {tensor} is missing, expected one of shape {shape:?}", path.display())]
    TensorMissing {
        /// The file.
        path: PathBuf,
        /// Its name.
        tensor: String,
        /// The shape it must have.
        shape: Vec<i64>,
    },
    /// A tensor that the architecture does not have.
    #[error("{}: tensor {tensor} belongs to no layer of this architecture", path.display())]
    TensorUnknown {
        /// The file.
        path: PathBuf,
        /// Its name.
        tensor: String,
    },
    /// A tensor's shape or kind is not the architecture's.
    #[error("{}: tensor {tensor} is {found}, expected {expected}", path.display())]
    TensorShape {
        /// The file.
        path: PathBuf,
        /// Its name.
        tensor: String,
        /// Its kind and shape.
        found: String,
        /// The kind and shape it must have.
        expected: String,
    },
    /// A tensor holds infinities, NaNs or a negative variance.
    #[error("{}: tensor {tensor} holds values that are {problem}", path.display())]
    TensorValues {
        /// The file.
        path: PathBuf,
        /// Its name.
        tensor: String,
        /// What is wrong with them.
        problem: &'static str,
    },
}

/// Writes `net` to `path`; see [`TensorFile::save`] for what a crash leaves.
///
/// # Errors
///
/// When the file cannot be written, or when a weight is not finite: such a
/// network is never saved over a sound one.
pub fn save<N: Saved>(
    path: &Path,
    net: &N,
    made_for: &Compatibility,
    step: u64,
) -> Result<(), CheckpointError> {
    let tensors = net.tensors();
    check_values(path, &tensors)?;
    let header = CheckpointHeader {
        net: net.architecture().clone(),
        made_for: made_for.clone(),
        step,
        producer: env!("CARGO_PKG_VERSION").into(),
    };
    TensorFile { metadata: header.to_metadata(N::FORMAT), tensors }.save(path)?;
    Ok(())
}

/// Reads the network at `path` onto `device`.
///
/// # Errors
///
/// When anything about the file is not as it must be, or when it was made for
/// something else than `needed`. Rules are compared by their fingerprint only.
pub fn load<N: Saved>(
    path: &Path,
    needed: &Compatibility,
    device: Device,
) -> Result<(N, CheckpointHeader<N::Config>), CheckpointError> {
    let file = TensorFile::load(path)?;
    let header = CheckpointHeader::from_metadata::<N>(path, &file.metadata)?;
    header.made_for.check(path, needed)?;
    let net = N::build(&header.net, device)
        .map_err(|source| CheckpointError::Config { path: path.to_path_buf(), source })?;
    fill(path, &net, &file.tensors)?;
    Ok((net, header))
}

/// Reads only what a play network's checkpoint says about itself, whatever it was
/// made for.
/// The whole file is read and its checksum compared.
///
/// # Errors
///
/// When the file is not a sound checkpoint.
pub fn read_header(path: &Path) -> Result<CheckpointHeader, CheckpointError> {
    CheckpointHeader::from_metadata::<Net>(path, &TensorFile::load(path)?.metadata)
}

impl Compatibility {
    fn check(&self, path: &Path, needed: &Self) -> Result<(), CheckpointError> {
        let fields = [
            ("planes_version", self.planes_version.to_string(), needed.planes_version.to_string()),
            (
                "actions_version",
                self.actions_version.to_string(),
                needed.actions_version.to_string(),
            ),
            ("rules_fingerprint", self.rules_fingerprint.clone(), needed.rules_fingerprint.clone()),
        ];
        for (key, found, expected) in fields {
            if found != expected {
                let rules = format!(
                    "{expected:?} (made for rules {:?}, needed for {:?})",
                    self.rules_name, needed.rules_name
                );
                return Err(metadata_error(path, key, found, rules));
            }
        }
        Ok(())
    }
}

impl<C: DeserializeOwned + Serialize> CheckpointHeader<C> {
    fn to_metadata(&self, format: &str) -> BTreeMap<String, String> {
        let net = serde_json::to_string(&self.net).expect("a plain struct of numbers");
        [
            ("format", format.to_string()),
            ("format_version", FORMAT_VERSION.to_string()),
            ("net", net),
            ("rules_name", self.made_for.rules_name.clone()),
            ("rules_fingerprint", self.made_for.rules_fingerprint.clone()),
            ("planes_version", self.made_for.planes_version.to_string()),
            ("actions_version", self.made_for.actions_version.to_string()),
            ("step", self.step.to_string()),
            ("producer", self.producer.clone()),
        ]
        .map(|(key, value)| (key.to_string(), value))
        .into()
    }

    fn from_metadata<N: Saved<Config = C>>(
        path: &Path,
        metadata: &BTreeMap<String, String>,
    ) -> Result<Self, CheckpointError> {
        let entries = Entries { path, metadata };
        entries.exactly("format", N::FORMAT)?;
        entries.exactly("format_version", &FORMAT_VERSION.to_string())?;
        let net = entries.text("net")?;
        let net: C = serde_json::from_str(net)
            .map_err(|error| metadata_error(path, "net", net.into(), error.to_string()))?;
        N::validate(&net)
            .map_err(|source| CheckpointError::Config { path: path.to_path_buf(), source })?;
        Ok(Self {
            net,
            made_for: Compatibility {
                rules_name: entries.text("rules_name")?.into(),
                rules_fingerprint: entries.text("rules_fingerprint")?.into(),
                planes_version: entries.number("planes_version")?,
                actions_version: entries.number("actions_version")?,
            },
            step: entries.number("step")?,
            producer: entries.text("producer")?.into(),
        })
    }
}

/// Metadata being taken apart, and the file to name in errors.
struct Entries<'a> {
    path: &'a Path,
    metadata: &'a BTreeMap<String, String>,
}

impl<'a> Entries<'a> {
    fn text(&self, key: &'static str) -> Result<&'a str, CheckpointError> {
        self.metadata
            .get(key)
            .map(String::as_str)
            .ok_or_else(|| CheckpointError::MetadataMissing { path: self.path.to_path_buf(), key })
    }

    fn exactly(&self, key: &'static str, expected: &str) -> Result<(), CheckpointError> {
        let found = self.text(key)?;
        if found == expected {
            return Ok(());
        }
        Err(metadata_error(self.path, key, found.into(), format!("{expected:?}")))
    }

    fn number<T: std::str::FromStr>(&self, key: &'static str) -> Result<T, CheckpointError> {
        let found = self.text(key)?;
        found
            .parse()
            .map_err(|_| metadata_error(self.path, key, found.into(), "a whole number".into()))
    }
}

fn metadata_error(
    path: &Path,
    key: &'static str,
    found: String,
    expected: String,
) -> CheckpointError {
    CheckpointError::Metadata { path: path.to_path_buf(), key, found, expected }
}

/// Copies `tensors` into the variables of `net`, which must be the same set.
fn fill<N: Saved>(
    path: &Path,
    net: &N,
    tensors: &BTreeMap<String, Tensor>,
) -> Result<(), CheckpointError> {
    let mut variables = net.tensors();
    for (name, variable) in &variables {
        check_shape(path, name, variable, tensors.get(name))?;
    }
    let known: BTreeSet<&String> = variables.keys().collect();
    if let Some(name) = tensors.keys().find(|name| !known.contains(name)) {
        return Err(CheckpointError::TensorUnknown {
            path: path.to_path_buf(),
            tensor: name.clone(),
        });
    }
    check_values(path, tensors)?;
    tch::no_grad(|| {
        for (name, variable) in &mut variables {
            variable.copy_(&tensors[name]);
        }
    });
    Ok(())
}

fn check_shape(
    path: &Path,
    name: &str,
    variable: &Tensor,
    found: Option<&Tensor>,
) -> Result<(), CheckpointError> {
    let Some(found) = found else {
        return Err(CheckpointError::TensorMissing {
            path: path.to_path_buf(),
            tensor: name.into(),
            shape: variable.size(),
        });
    };
    let describe = |tensor: &Tensor| format!("{:?} {:?}", tensor.kind(), tensor.size());
    if describe(found) == describe(variable) {
        return Ok(());
    }
    Err(CheckpointError::TensorShape {
        path: path.to_path_buf(),
        tensor: name.into(),
        found: describe(found),
        expected: describe(variable),
    })
}

fn check_values(path: &Path, tensors: &BTreeMap<String, Tensor>) -> Result<(), CheckpointError> {
    for (name, tensor) in tensors {
        let finite = tensor.isfinite().all().int64_value(&[]) != 0;
        let sound = !name.ends_with("running_var") || tensor.ge(0.0).all().int64_value(&[]) != 0;
        if !(finite && sound) {
            return Err(CheckpointError::TensorValues {
                path: path.to_path_buf(),
                tensor: name.clone(),
                problem: if finite { "negative" } else { "not finite" },
            });
        }
    }
    Ok(())
}
