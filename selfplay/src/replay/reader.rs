//! Reading of shards: HDF5 on one side, checked columns on the other.

use std::fmt::Display;
use std::path::Path;

use cyvasse_env::{ACTION_INDEX_VERSION, Rules};
use hdf5::types::VarLenUnicode;
use hdf5::{Container, Dataset, H5Type};

use super::columns::{BadEntry, Columns, SETUP_BYTES};
use super::error::ReplayError;
use super::schema;
use super::seal;
use super::shard::ShardHeader;

/// Reads and checks the header alone.
pub(super) fn read_header(path: &Path) -> Result<ShardHeader, ReplayError> {
    Source::open(path)?.header()
}

/// Reads and checks everything but whether the games follow the rules.
pub(super) fn read_shard(
    path: &Path,
    rules: &Rules,
) -> Result<(ShardHeader, Columns), ReplayError> {
    let source = Source::open(path)?;
    let header = source.header()?;
    let (found, expected) = (header.rules.fingerprint(), rules.fingerprint());
    if found != expected {
        return Err(ReplayError::OtherRules {
            path: path.to_owned(),
            found_name: header.rules.name,
            found,
            expected_name: rules.name.clone(),
            expected,
        });
    }
    let columns = source.columns()?;
    columns.check().map_err(|entry| entry.in_file(path))?;
    Ok((header, columns))
}

impl BadEntry {
    /// The error that this entry is in the file.
    pub(super) fn in_file(self, path: &Path) -> ReplayError {
        misfit(path, self.place, self.found, self.expected)
    }
}

fn misfit(
    path: &Path,
    place: impl Into<String>,
    found: impl Into<String>,
    expected: impl Into<String>,
) -> ReplayError {
    ReplayError::Misfit {
        path: path.to_owned(),
        place: place.into(),
        found: found.into(),
        expected: expected.into(),
    }
}

/// An open file whose seal is intact.
struct Source<'a> {
    path: &'a Path,
    file: hdf5::File,
}

impl Source<'_> {
    fn open(path: &Path) -> Result<Source<'_>, ReplayError> {
        seal::check(path)?;
        hdf5::silence_errors(true);
        // Without a lock: the seal has been checked and nobody writes to a shard. Locks
        // fail on some network file systems, and a writer's lives on in a process that
        // the writer has forked meanwhile.
        let file = hdf5::File::with_options()
            .with_fapl(|access| access.file_locking(false))
            .open(path)
            .map_err(|error| refusal(path, "open the file", error))?;
        Ok(Source { path, file })
    }

    fn header(&self) -> Result<ShardHeader, ReplayError> {
        self.version()?;
        self.require(schema::ATTRIBUTE_INDEX, ACTION_INDEX_VERSION)?;
        let text = self.text(schema::ATTRIBUTE_RULES)?;
        let rules = Rules::from_toml(&text).map_err(|error| {
            let found = format!("refused ({error})");
            misfit(self.path, schema::ATTRIBUTE_RULES, found, "a rules file")
        })?;
        self.require(schema::ATTRIBUTE_FINGERPRINT, rules.fingerprint())?;
        Ok(ShardHeader {
            rules,
            producer: self.text(schema::ATTRIBUTE_PRODUCER)?,
            run_seed: self.number(schema::ATTRIBUTE_SEED)?,
            shard: self.number(schema::ATTRIBUTE_SHARD)?,
        })
    }

    /// The version of the schema, one that is read.
    fn version(&self) -> Result<u32, ReplayError> {
        let name = schema::ATTRIBUTE_SCHEMA;
        let found: u32 = self.attribute(name)?;
        let known = schema::OLDEST_VERSION..=schema::SCHEMA_VERSION;
        if known.contains(&found) {
            return Ok(found);
        }
        let expected = format!("{} or {}", known.start(), known.end());
        Err(misfit(self.path, name, found.to_string(), expected))
    }

    fn columns(&self) -> Result<Columns, ReplayError> {
        let games = self.length(schema::OUTCOME)?;
        let plies = self.length(schema::ACTION)?;
        let entries = self.length(schema::POLICY_ACTION)?;
        Ok(Columns {
            slot: self.read(schema::SLOT, &[games])?,
            sequence: self.read(schema::SEQUENCE, &[games])?,
            setups: self.read(schema::SETUPS, &[games, 2, SETUP_BYTES])?,
            sources: self.read(schema::SOURCES, &[games, 2])?,
            outcome: self.read(schema::OUTCOME, &[games])?,
            resigned: self.read(schema::RESIGNED, &[games])?,
            first_ply: self.read(schema::FIRST_PLY, &[games + 1])?,
            kind: self.read(schema::KIND, &[plies])?,
            action: self.read(schema::ACTION, &[plies])?,
            root_value: self.read(schema::ROOT_VALUE, &[plies])?,
            surprise: if self.version()? == schema::OLDEST_VERSION {
                vec![0.0; plies]
            } else {
                self.read(schema::SURPRISE, &[plies])?
            },
            proven: self.read(schema::PROVEN, &[plies])?,
            simulations: self.read(schema::SIMULATIONS, &[plies])?,
            network_step: self.read(schema::NETWORK_STEP, &[plies])?,
            first_policy: self.read(schema::FIRST_POLICY, &[plies + 1])?,
            policy_action: self.read(schema::POLICY_ACTION, &[entries])?,
            policy_share: self.read(schema::POLICY_SHARE, &[entries])?,
        })
    }

    /// The number of rows of a dataset that others are measured by.
    fn length(&self, name: &str) -> Result<usize, ReplayError> {
        match self.dataset(name)?.shape()[..] {
            [length] if length <= schema::MAX_ENTRIES => Ok(length),
            ref shape => {
                let expected = format!("of one dimension, up to {}", schema::MAX_ENTRIES);
                Err(misfit(self.path, name, format!("of shape {shape:?}"), expected))
            }
        }
    }

    fn dataset(&self, name: &str) -> Result<Dataset, ReplayError> {
        self.file
            .dataset(name)
            .map_err(|error| refusal(self.path, &format!("open `{name}`"), error))
    }

    fn read<T: H5Type>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>, ReplayError> {
        let dataset = self.dataset(name)?;
        self.check_type::<T>(name, &dataset)?;
        let found = dataset.shape();
        if found != shape {
            let expected = format!("of shape {shape:?}");
            return Err(misfit(self.path, name, format!("of shape {found:?}"), expected));
        }
        dataset.read_raw().map_err(|error| refusal(self.path, &format!("read `{name}`"), error))
    }

    fn check_type<T: H5Type>(&self, name: &str, place: &Container) -> Result<(), ReplayError> {
        let found = place
            .dtype()
            .map_err(|error| refusal(self.path, &format!("read the type of `{name}`"), error))?;
        if found.is::<T>() {
            return Ok(());
        }
        let found = found.to_descriptor().map_or("of an unknown type".to_owned(), |found| {
            format!("of type {found}") //
        });
        let expected = format!("of type {}", T::type_descriptor());
        Err(misfit(self.path, name, found, expected))
    }

    /// Reads an attribute that is a single value.
    fn attribute<T: H5Type>(&self, name: &str) -> Result<T, ReplayError> {
        let refusal = |error| refusal(self.path, &format!("read the attribute `{name}`"), error);
        let attribute = self.file.attr(name).map_err(refusal)?;
        self.check_type::<T>(name, &attribute)?;
        attribute.read_scalar().map_err(refusal)
    }

    fn number<T: H5Type>(&self, name: &str) -> Result<T, ReplayError> {
        self.attribute(name)
    }

    fn text(&self, name: &str) -> Result<String, ReplayError> {
        let text: VarLenUnicode = self.attribute(name)?;
        String::from_utf8(text.as_bytes().to_vec())
            .map_err(|_| misfit(self.path, name, "no UTF-8", "UTF-8"))
    }

    /// Checks an attribute that can have one value only.
    fn require<T>(&self, name: &str, expected: T) -> Result<(), ReplayError>
    where
        T: H5Type + Display + PartialEq,
    {
        let found: T = self.attribute(name)?;
        if found == expected {
            return Ok(());
        }
        Err(misfit(self.path, name, found.to_string(), expected.to_string()))
    }
}

/// The error that HDF5 refused an attempt.
pub(super) fn refusal(path: &Path, attempt: &str, error: hdf5::Error) -> ReplayError {
    let reason = error.to_string().replace('\n', " ");
    ReplayError::Hdf5 { attempt: attempt.to_owned(), path: path.to_owned(), reason }
}
