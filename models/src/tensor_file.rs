//! Named tensors with text metadata in one safetensors file, written so that a
//! crash leaves either the old file or the new one, and read so that a damaged
//! file is refused with its reason.
//!
//! The metadata of every file holds a checksum over all the rest under
//! [`CHECKSUM_KEY`]. Equal contents give equal bytes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensors};
use serde_json::{Value, json};
use tch::{Device, Kind, TchError, Tensor};

/// Metadata key of the checksum; not a key of [`TensorFile::metadata`].
pub const CHECKSUM_KEY: &str = "crc32";

/// Contents of a file: metadata and tensors by name.
#[derive(Debug, Default)]
pub struct TensorFile {
    /// Free text by key. [`CHECKSUM_KEY`] is reserved.
    pub metadata: BTreeMap<String, String>,
    /// Tensors by name, f32, f64 or i64. Loading puts them on the CPU.
    pub tensors: BTreeMap<String, Tensor>,
}

/// Why a file of tensors was not written or not read.
#[derive(Debug, thiserror::Error)]
pub enum TensorFileError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: "read", "write", ...
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// Not a safetensors file, or one that was cut short or damaged.
    #[error("{} is not a whole safetensors file: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// The contents are not those that were written.
    #[error(
        "{} is damaged: its checksum is {found}, its header says {expected}; \
         take another copy", path.display()
    )]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The checksum in the header, or "none".
        expected: String,
        /// The checksum of what is there.
        found: String,
    },
    /// A tensor's elements are of a kind that such files do not hold.
    #[error("{}: tensor {tensor} holds {kind}, expected F32, F64 or I64", path.display())]
    UnsupportedKind {
        /// The file.
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
        /// Kind of its elements.
        kind: String,
    },
    /// libtorch refused to copy a tensor.
    #[error("{}: tensor {tensor}: {source}", path.display())]
    Torch {
        /// The file.
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
        /// libtorch's answer.
        source: TchError,
    },
}

impl TensorFile {
    /// Writes the file at `path`, replacing what is there only once all of it
    /// is on the disk.
    ///
    /// # Errors
    ///
    /// When the file cannot be written or a tensor is not f32, f64 or i64.
    pub fn save(&self, path: &Path) -> Result<(), TensorFileError> {
        let tensors = self
            .tensors
            .iter()
            .map(|(name, tensor)| RawTensor::from_tensor(path, name, tensor))
            .collect::<Result<Vec<_>, _>>()?;
        write_atomically(path, &encode(&self.metadata, &tensors))
    }

    /// Reads and checks the file at `path`. The tensors are on the CPU.
    ///
    /// # Errors
    ///
    /// When the file is missing, unreadable, malformed or damaged.
    pub fn load(path: &Path) -> Result<Self, TensorFileError> {
        let bytes = fs::read(path).map_err(|source| io_error("read", path, source))?;
        decode(path, &bytes)
    }
}

/// A tensor as it lies in a file.
struct RawTensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl RawTensor {
    fn from_tensor(path: &Path, name: &str, tensor: &Tensor) -> Result<Self, TensorFileError> {
        let dtype = match tensor.kind() {
            Kind::Float => Dtype::F32,
            Kind::Double => Dtype::F64,
            Kind::Int64 => Dtype::I64,
            other => return Err(unsupported(path, name, format!("{other:?}"))),
        };
        let flat = tensor.detach().to_device(Device::Cpu).contiguous();
        let mut bytes = vec![0; flat.numel() * tensor.kind().elt_size_in_bytes()];
        flat.f_copy_data_u8(&mut bytes, flat.numel())
            .map_err(|source| torch_error(path, name, source))?;
        let shape = tensor.size().iter().map(|&n| n as usize).collect();
        Ok(Self { name: name.to_string(), dtype, shape, bytes })
    }

    fn to_tensor(&self, path: &Path) -> Result<Tensor, TensorFileError> {
        let kind = match self.dtype {
            Dtype::F32 => Kind::Float,
            Dtype::F64 => Kind::Double,
            Dtype::I64 => Kind::Int64,
            other => return Err(unsupported(path, &self.name, format!("{other:?}"))),
        };
        let shape: Vec<i64> = self.shape.iter().map(|&n| n as i64).collect();
        Tensor::f_from_data_size(&self.bytes, &shape, kind)
            .map_err(|source| torch_error(path, &self.name, source))
    }
}

/// The bytes of a file. `tensors` are sorted by name.
fn encode(metadata: &BTreeMap<String, String>, tensors: &[RawTensor]) -> Vec<u8> {
    let mut texts = metadata.clone();
    texts.insert(CHECKSUM_KEY.into(), checksum(metadata, tensors));
    let mut header = serde_json::Map::new();
    header.insert("__metadata__".into(), json!(texts));
    let mut end = 0;
    for tensor in tensors {
        let start = end;
        end += tensor.bytes.len();
        let entry = json!({
            "dtype": dtype_name(tensor.dtype),
            "shape": tensor.shape,
            "data_offsets": [start, end],
        });
        header.insert(tensor.name.clone(), entry);
    }
    let mut head = Value::Object(header).to_string().into_bytes();
    head.resize(head.len().next_multiple_of(8), b' ');
    let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
    bytes.extend(head);
    tensors.iter().for_each(|tensor| bytes.extend(&tensor.bytes));
    bytes
}

fn decode(path: &Path, bytes: &[u8]) -> Result<TensorFile, TensorFileError> {
    let malformed =
        |reason: String| TensorFileError::Malformed { path: path.to_path_buf(), reason };
    let (_, header) =
        SafeTensors::read_metadata(bytes).map_err(|error| malformed(error.to_string()))?;
    let file = SafeTensors::deserialize(bytes).map_err(|error| malformed(error.to_string()))?;
    let mut tensors: Vec<RawTensor> = file
        .iter()
        .map(|(name, view)| RawTensor {
            name: name.to_string(),
            dtype: view.dtype(),
            shape: view.shape().to_vec(),
            bytes: view.data().to_vec(),
        })
        .collect();
    tensors.sort_by(|a, b| a.name.cmp(&b.name));
    let mut metadata: BTreeMap<String, String> =
        header.metadata().clone().unwrap_or_default().into_iter().collect();
    let expected = metadata.remove(CHECKSUM_KEY).unwrap_or_else(|| "none".into());
    let found = checksum(&metadata, &tensors);
    if expected != found {
        return Err(TensorFileError::Checksum { path: path.to_path_buf(), expected, found });
    }
    let tensors = tensors
        .iter()
        .map(|tensor| Ok((tensor.name.clone(), tensor.to_tensor(path)?)))
        .collect::<Result<_, TensorFileError>>()?;
    Ok(TensorFile { metadata, tensors })
}

/// CRC-32 over the metadata and the tensors' names, kinds, shapes and bytes,
/// each in the order of names, as eight hexadecimal digits.
fn checksum(metadata: &BTreeMap<String, String>, tensors: &[RawTensor]) -> String {
    let mut hasher = crc32fast::Hasher::new();
    let mut field = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    for (key, value) in metadata {
        field(key.as_bytes());
        field(value.as_bytes());
    }
    for tensor in tensors {
        field(tensor.name.as_bytes());
        field(dtype_name(tensor.dtype).as_bytes());
        field(format!("{:?}", tensor.shape).as_bytes());
        field(&tensor.bytes);
    }
    format!("{:08x}", hasher.finalize())
}

fn dtype_name(dtype: Dtype) -> String {
    dtype.to_string()
}

/// Writes to a temporary file beside `path`, then renames: readers see the old
/// contents or the new ones, never a part.
fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), TensorFileError> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = folder.join(name);
    let written = write_and_sync(&temporary, bytes)
        .map_err(|source| io_error("write", &temporary, source))
        .and_then(|()| {
            fs::rename(&temporary, path).map_err(|source| io_error("rename to", path, source))
        });
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        return written;
    }
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|source| io_error("sync", folder, source))
}

fn write_and_sync(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> TensorFileError {
    TensorFileError::Io { action, path: path.to_path_buf(), source }
}

fn unsupported(path: &Path, tensor: &str, kind: String) -> TensorFileError {
    TensorFileError::UnsupportedKind { path: path.to_path_buf(), tensor: tensor.into(), kind }
}

fn torch_error(path: &Path, tensor: &str, source: TchError) -> TensorFileError {
    TensorFileError::Torch { path: path.to_path_buf(), tensor: tensor.into(), source }
}
