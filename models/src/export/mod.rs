//! Networks for other programs: ONNX, TorchScript and safetensors, and how they
//! are read back.
//!
//! All formats take and give the same:
//!
//! * the play network takes `planes` f32 `[B, 8, 8, 32]` (rank, file, plane) and gives
//!   `policy` f32 `[B, 7936]` and `value` f32 `[B, 3]`;
//! * the setup network takes `features` f32 `[B, 529]` ([`encode_prefix`]) and `step`
//!   i64 `[B]` and gives `logits` f32 `[B, 11]`.
//!
//! Batch normalisation is folded into the convolutions. A safetensors file holds
//! tensors only, under the names told in `weights.rs`; what to compute with them is
//! told by `plain.rs`.
//!
//! [`encode_prefix`]: crate::encode_prefix

mod graph;
mod half;
mod int8;
mod plain;
mod play_graph;
mod proto;
mod read;
mod setup_graph;
mod weights;

use std::collections::BTreeMap;
use std::path::Path;

use tch::{CModule, Device, Kind, TchError, Tensor};

use crate::config::BOARD_SIDE;
use crate::net::Net;
use crate::setup_net::{SETUP_FEATURES, SetupNet};
use crate::tensor_file::{TensorFile, TensorFileError};

pub use graph::{OPSET, QUANTIZED_OPSET};
pub use read::{Network, OnnxReader, Reader, ScriptReader, TensorsReader, largest_difference};

/// A network that cannot be exported, or is not what it was when read back.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A weight that numbers of half precision cannot hold.
    #[error("{tensor} holds {value}, which is too large for fp16")]
    TooLarge {
        /// Its name.
        tensor: String,
        /// The first such number.
        value: f32,
    },
    /// libtorch cannot trace or save the network.
    #[error("libtorch cannot write TorchScript: {0}")]
    Script(#[source] TchError),
    /// A file cannot be written.
    #[error(transparent)]
    Tensors(#[from] TensorFileError),
    /// A reader cannot read or compute what was written.
    #[error("the {format} file cannot be read back: {reason}")]
    Reader {
        /// The format.
        format: &'static str,
        /// The reader's words.
        reason: String,
    },
    /// The outputs of a network that was read back are not those that it should have.
    #[error("its outputs have shapes {found:?}, expected {expected:?}")]
    Shapes {
        /// What there is.
        found: Vec<Vec<i64>>,
        /// What there should be.
        expected: Vec<Vec<i64>>,
    },
}

/// A play network as the bytes of an ONNX file, f32.
#[must_use]
pub fn play_onnx(net: &Net) -> Vec<u8> {
    graph::bytes(&play_graph::play_graph(net))
}

/// A play network as the bytes of an ONNX file that calculates in f16; inputs and
/// outputs are f32.
///
/// # Errors
///
/// A weight too large for f16.
pub fn play_onnx_fp16(net: &Net) -> Result<Vec<u8>, ExportError> {
    Ok(graph::bytes(&half::to_half(play_graph::play_graph(net))?))
}

/// A play network as the bytes of an ONNX file that calculates in i8; inputs and
/// outputs are f32. Ranges are chosen by f32 planes `[B, 8, 8, P]` of positions such
/// as it will be asked, some hundreds of them.
#[must_use]
pub fn play_onnx_int8(net: &Net, planes: &Tensor) -> Vec<u8> {
    graph::bytes(&int8::int8_graph(net, planes))
}

/// A setup network as the bytes of an ONNX file, f32.
#[must_use]
pub fn setup_onnx(net: &SetupNet) -> Vec<u8> {
    graph::bytes(&setup_graph::setup_graph(net))
}

/// Writes a play network as TorchScript. It gives policy and value as one tensor
/// `[B, 7936 + 3]`.
///
/// # Errors
///
/// libtorch's own.
pub fn save_play_script(net: &Net, path: &Path) -> Result<(), ExportError> {
    let weights = weights::of_play_net(net);
    let side = BOARD_SIDE as i64;
    let planes = zeros(&[2, side, side, net.config().input_planes as i64], Kind::Float);
    save_script(path, &[planes], |inputs| {
        // libtorch exports no function with two results.
        vec![Tensor::cat(&plain::play(&weights, &inputs[0]), 1)]
    })
}

/// Writes a setup network as TorchScript.
///
/// # Errors
///
/// libtorch's own.
pub fn save_setup_script(net: &SetupNet, path: &Path) -> Result<(), ExportError> {
    let weights = weights::of_setup_net(net);
    let inputs = [zeros(&[2, SETUP_FEATURES as i64], Kind::Float), zeros(&[2], Kind::Int64)];
    save_script(path, &inputs, |inputs| plain::setup(&weights, &inputs[0], &inputs[1]))
}

/// Records what `compute` does with `inputs`. Nothing in it depends on the size of
/// the batch, so that the recording holds for any.
fn save_script(
    path: &Path,
    inputs: &[Tensor],
    mut compute: impl FnMut(&[Tensor]) -> Vec<Tensor>,
) -> Result<(), ExportError> {
    let module =
        tch::no_grad(|| CModule::create_by_tracing("Network", "forward", inputs, &mut compute));
    module.and_then(|module| module.save(path)).map_err(ExportError::Script)
}

/// Writes the tensors of a play network, with `metadata`.
///
/// # Errors
///
/// A file that cannot be written.
pub fn save_play_tensors(
    net: &Net,
    metadata: BTreeMap<String, String>,
    path: &Path,
) -> Result<(), ExportError> {
    Ok(TensorFile { metadata, tensors: weights::of_play_net(net) }.save(path)?)
}

/// Writes the tensors of a setup network, with `metadata`.
///
/// # Errors
///
/// A file that cannot be written.
pub fn save_setup_tensors(
    net: &SetupNet,
    metadata: BTreeMap<String, String>,
    path: &Path,
) -> Result<(), ExportError> {
    Ok(TensorFile { metadata, tensors: weights::of_setup_net(net) }.save(path)?)
}

fn zeros(shape: &[i64], kind: Kind) -> Tensor {
    Tensor::zeros(shape, (kind, Device::Cpu))
}
