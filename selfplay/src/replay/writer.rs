//! Writing of shards.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyvasse_env::{ACTION_INDEX_VERSION, Rules};
use hdf5::types::VarLenUnicode;
use hdf5::{File, H5Type, filters};
use tempfile::NamedTempFile;

use super::columns::{Columns, SETUP_BYTES};
use super::error::{GameProblem, ReplayError};
use super::reader::refusal;
use super::schema;
use super::shard::ShardHeader;
use super::{game, seal};
use crate::record::GameRecord;

/// zlib's level: higher ones take longer and gain little here.
const DEFLATE_LEVEL: u8 = 4;

/// The most that a shard has beside its columns: attributes, rules, tables of chunks.
const HDF5_BYTES: usize = 1 << 17;

/// What has been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardInfo {
    /// The shard.
    pub path: PathBuf,
    /// Games in it.
    pub games: usize,
    /// Plies of all games.
    pub plies: usize,
    /// Entries of all policy targets.
    pub policy_entries: usize,
    /// Length of the file.
    pub bytes: u64,
}

/// Writes games into a new shard: all of them or none.
///
/// The games are checked first, so that what is written can be read. They go
/// into a file whose name begins with a dot and ends with `.partial`, in the same
/// directory, which gets the shard's name when it is complete and on the disk; a
/// process that is killed may leave that file, never half a shard.
///
/// # Errors
/// A path that is taken, no games or too many, a game that does not follow the
/// rules of the header, values outside the ranges of [`schema`], or a refusal of
/// the operating system or HDF5. Nothing is left behind then.
pub fn write_shard(
    path: impl AsRef<Path>,
    header: &ShardHeader,
    games: &[GameRecord],
) -> Result<ShardInfo, ReplayError> {
    let path = path.as_ref();
    let exists = path.try_exists().map_err(|reason| io_error("look for", path, reason))?;
    if exists {
        return Err(ReplayError::Exists { path: path.to_owned() });
    }
    let columns = Columns::of(games);
    columns.check().map_err(|entry| entry.in_file(path))?;
    check_games(path, header, games, &columns)?;

    let mut partial = create_partial(path)?;
    reserve(partial.as_file_mut(), &columns).map_err(|reason| io_error("write", path, reason))?;
    fill(partial.path(), header, &columns)
        .map_err(|(attempt, error)| refusal(path, &attempt, error))?;
    let bytes = finish(partial.as_file_mut()).map_err(|reason| io_error("write", path, reason))?;
    partial.persist_noclobber(path).map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => ReplayError::Exists { path: path.to_owned() },
        _ => io_error("name", path, error.error),
    })?;
    sync_directory(path);
    Ok(ShardInfo {
        path: path.to_owned(),
        games: games.len(),
        plies: columns.action.len(),
        policy_entries: columns.policy_action.len(),
        bytes,
    })
}

fn io_error(attempt: &'static str, path: &Path, reason: io::Error) -> ReplayError {
    ReplayError::Io { attempt, path: path.to_owned(), reason }
}

/// Checks that the games are read back as they are.
fn check_games(
    path: &Path,
    header: &ShardHeader,
    games: &[GameRecord],
    columns: &Columns,
) -> Result<(), ReplayError> {
    let rules = Arc::new(header.rules.clone());
    for (game, record) in games.iter().enumerate() {
        check_game(game, record, columns, &rules).map_err(|(ply, problem)| ReplayError::Game {
            path: path.to_owned(),
            game,
            ply,
            problem,
        })?;
    }
    Ok(())
}

fn check_game(
    game: usize,
    record: &GameRecord,
    columns: &Columns,
    rules: &Arc<Rules>,
) -> Result<(), game::AtPly> {
    let again = game::record(columns, game, rules)?;
    if again == *record {
        return Ok(());
    }
    // An illegal action that shares its index with a legal one.
    let plies = record.plies.iter().zip(&again.plies);
    let ply = plies.take_while(|(one, other)| one == other).count();
    Err((ply, GameProblem::Unfaithful))
}

/// The directory that a shard is in.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// An empty file beside the shard, deleted when it is dropped.
fn create_partial(path: &Path) -> Result<NamedTempFile, ReplayError> {
    let create =
        |path: &Path| fs::File::options().read(true).write(true).create_new(true).open(path);
    tempfile::Builder::new()
        .prefix(".")
        .suffix(".partial")
        .make_in(directory(path), create)
        .map_err(|reason| io_error("create", path, reason))
}

/// Fails where there is no room for a shard, by writing as many zeros as it can need,
/// which HDF5 then begins with removing. The library itself must not find out: it
/// crashes when it closes a file that it could not write.
fn reserve(file: &mut fs::File, columns: &Columns) -> io::Result<()> {
    let most = HDF5_BYTES + columns.memory() / 8 * 9;
    let copied = io::copy(&mut io::repeat(0).take(most as u64), file)?;
    debug_assert_eq!(copied, most as u64);
    Ok(())
}

/// What was attempted, and why it failed.
type Attempt<T> = Result<T, (String, hdf5::Error)>;

fn fill(path: &Path, header: &ShardHeader, columns: &Columns) -> Attempt<()> {
    hdf5::silence_errors(true);
    let at = |attempt: &str| {
        let attempt = attempt.to_owned();
        move |error| (attempt, error)
    };
    let mut options = File::with_options();
    options.with_fcpl(|plist| plist.userblock(schema::SEAL_BYTES as u64));
    // The name is temporary and this process's own: nobody is to be kept out.
    options.with_fapl(|access| access.file_locking(false));
    let file = options.create(path).map_err(at("create the file"))?;
    write_header(&file, header)?;
    write_columns(&file, columns)?;
    file.flush().map_err(at("flush the file"))?;
    file.close().map_err(at("close the file"))
}

fn write_header(file: &File, header: &ShardHeader) -> Attempt<()> {
    write_attribute(file, schema::ATTRIBUTE_SCHEMA, schema::SCHEMA_VERSION)?;
    write_attribute(file, schema::ATTRIBUTE_INDEX, ACTION_INDEX_VERSION)?;
    write_text(file, schema::ATTRIBUTE_RULES_NAME, &header.rules.name)?;
    write_text(file, schema::ATTRIBUTE_RULES, &header.rules.to_toml())?;
    write_attribute(file, schema::ATTRIBUTE_FINGERPRINT, header.rules.fingerprint())?;
    write_text(file, schema::ATTRIBUTE_PRODUCER, &header.producer)?;
    write_attribute(file, schema::ATTRIBUTE_SEED, header.run_seed)?;
    write_attribute(file, schema::ATTRIBUTE_SHARD, header.shard)
}

fn write_text(file: &File, name: &str, text: &str) -> Attempt<()> {
    // HDF5's strings end with a zero byte, so that a text cannot have one.
    let text: VarLenUnicode = text
        .replace('\0', " ")
        .parse()
        .map_err(|_| (format!("write `{name}`"), hdf5::Error::from("it is no text")))?;
    write_attribute(file, name, text)
}

fn write_attribute<T: H5Type>(file: &File, name: &str, value: T) -> Attempt<()> {
    let attribute = file.new_attr::<T>().create(name);
    attribute
        .and_then(|attribute| attribute.write_scalar(&value))
        .map_err(|error| (format!("write the attribute `{name}`"), error))
}

fn write_columns(file: &File, columns: &Columns) -> Attempt<()> {
    let (games, plies) = (columns.games(), columns.action.len());
    let entries = columns.policy_action.len();
    write(file, schema::SLOT, &columns.slot, &[games])?;
    write(file, schema::SEQUENCE, &columns.sequence, &[games])?;
    write(file, schema::SETUPS, &columns.setups, &[games, 2, SETUP_BYTES])?;
    write(file, schema::SOURCES, &columns.sources, &[games, 2])?;
    write(file, schema::OUTCOME, &columns.outcome, &[games])?;
    write(file, schema::RESIGNED, &columns.resigned, &[games])?;
    write(file, schema::FIRST_PLY, &columns.first_ply, &[games + 1])?;
    write(file, schema::KIND, &columns.kind, &[plies])?;
    write(file, schema::ACTION, &columns.action, &[plies])?;
    write(file, schema::ROOT_VALUE, &columns.root_value, &[plies])?;
    write(file, schema::SURPRISE, &columns.surprise, &[plies])?;
    write(file, schema::PROVEN, &columns.proven, &[plies])?;
    write(file, schema::SIMULATIONS, &columns.simulations, &[plies])?;
    write(file, schema::NETWORK_STEP, &columns.network_step, &[plies])?;
    write(file, schema::FIRST_POLICY, &columns.first_policy, &[plies + 1])?;
    write(file, schema::POLICY_ACTION, &columns.policy_action, &[entries])?;
    write(file, schema::POLICY_SHARE, &columns.policy_share, &[entries])
}

fn write<T: H5Type>(file: &File, name: &str, data: &[T], shape: &[usize]) -> Attempt<()> {
    let mut builder = file.new_dataset::<T>().shape(shape);
    if !data.is_empty() {
        let mut chunk = shape.to_vec();
        chunk[0] = chunk[0].min(schema::CHUNK_ROWS);
        builder = builder.chunk(chunk);
        if filters::deflate_available() {
            builder = builder.shuffle().deflate(DEFLATE_LEVEL);
        }
    }
    let written = builder.create(name).and_then(|dataset| dataset.write_raw(data));
    written.map_err(|error| (format!("write `{name}`"), error))
}

/// Seals a complete file and waits until it is on the disk; its length.
fn finish(file: &mut fs::File) -> io::Result<u64> {
    seal::stamp(file)?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

/// Puts a new name on the disk. Not all file systems can; the name is there all
/// the same unless the power fails.
fn sync_directory(path: &Path) {
    if let Ok(directory) = fs::File::open(directory(path)) {
        let _ = directory.sync_all();
    }
}
