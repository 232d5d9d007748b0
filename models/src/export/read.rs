//! Reading exported networks back, each format by a reader that knows nothing of
//! its writer, to see whether they say what the network says.

use std::io::Cursor;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};
use tch::{CModule, Device, Kind, Tensor};
use tract_onnx::prelude::{
    Framework, InferenceModelExt, Tensor as TractTensor, TypedModel, TypedRunnableModel,
};

use super::weights::Weights;
use super::{ExportError, plain};
use crate::config::OUTCOMES;

/// A network that was read from a file.
pub trait Reader {
    /// Its outputs, f32 `[B, ..]`, for inputs f32 or i64 `[B, ..]`, all on the CPU and
    /// in the order of the file.
    ///
    /// # Errors
    ///
    /// Inputs that it does not take, or a reader that fails.
    fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, ExportError>;
}

/// An ONNX file, read and computed by `tract`.
#[derive(Debug)]
pub struct OnnxReader {
    plan: TypedRunnableModel<TypedModel>,
}

impl OnnxReader {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    ///
    /// Bytes that are no network.
    pub fn new(bytes: &[u8]) -> Result<OnnxReader, ExportError> {
        let plan = tract_onnx::onnx()
            .model_for_read(&mut Cursor::new(bytes))
            .and_then(|model| model.into_optimized())
            .and_then(|model| model.into_runnable());
        Ok(OnnxReader { plan: plan.map_err(|error| unreadable("onnx", format!("{error:#}")))? })
    }
}

impl Reader for OnnxReader {
    fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, ExportError> {
        let inputs = inputs.iter().map(|input| Ok(tract_tensor(input)?.into()));
        let inputs = inputs.collect::<Result<_, ExportError>>()?;
        let outputs = self.plan.run(inputs);
        let outputs = outputs.map_err(|error| unreadable("onnx", format!("{error:#}")))?;
        let tensor = |output: &TractTensor| {
            let values = output.as_slice::<f32>();
            let values = values.map_err(|error| unreadable("onnx", format!("{error:#}")))?;
            let shape: Vec<i64> = output.shape().iter().map(|&size| size as i64).collect();
            Ok(Tensor::from_slice(values).reshape(shape))
        };
        outputs.iter().map(|output| tensor(output)).collect()
    }
}

fn tract_tensor(tensor: &Tensor) -> Result<TractTensor, ExportError> {
    let shape: Vec<usize> = tensor.size().iter().map(|&size| size as usize).collect();
    let flat = tensor.contiguous().view(-1);
    let converted = match tensor.kind() {
        Kind::Int64 => {
            let values = Vec::<i64>::try_from(&flat).map_err(torch("onnx"))?;
            TractTensor::from_shape(&shape, &values)
        }
        _ => {
            let values = Vec::<f32>::try_from(&flat).map_err(torch("onnx"))?;
            TractTensor::from_shape(&shape, &values)
        }
    };
    converted.map_err(|error| unreadable("onnx", format!("{error:#}")))
}

/// Which of an agent's networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// The play network.
    Play,
    /// The setup network.
    Setup,
}

/// A TorchScript file, read and computed by libtorch.
#[derive(Debug)]
pub struct ScriptReader {
    network: Network,
    module: CModule,
}

impl ScriptReader {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// A file that is no network.
    pub fn open(network: Network, path: &Path) -> Result<ScriptReader, ExportError> {
        let module = CModule::load_on_device(path, Device::Cpu).map_err(torch("torchscript"))?;
        Ok(ScriptReader { network, module })
    }
}

impl Reader for ScriptReader {
    fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, ExportError> {
        let output = tch::no_grad(|| self.module.forward_ts(inputs));
        let output = output.map_err(torch("torchscript"))?;
        Ok(match self.network {
            Network::Setup => vec![output],
            Network::Play => {
                let value = OUTCOMES as i64;
                let policy = output.size()[1] - value;
                vec![output.narrow(1, 0, policy), output.narrow(1, policy, value)]
            }
        })
    }
}

/// A safetensors file, read by the crate of that name and computed by libtorch's
/// operations one by one.
#[derive(Debug)]
pub struct TensorsReader {
    network: Network,
    weights: Weights,
}

impl TensorsReader {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    ///
    /// Bytes that are no tensors of f32.
    pub fn new(network: Network, bytes: &[u8]) -> Result<TensorsReader, ExportError> {
        let file = SafeTensors::deserialize(bytes);
        let file = file.map_err(|error| unreadable("safetensors", error.to_string()))?;
        let tensor = |(name, view): (&str, safetensors::tensor::TensorView<'_>)| {
            if view.dtype() != Dtype::F32 {
                return Err(unreadable("safetensors", format!("{name} is {:?}", view.dtype())));
            }
            let shape: Vec<i64> = view.shape().iter().map(|&size| size as i64).collect();
            let tensor = Tensor::f_from_data_size(view.data(), &shape, Kind::Float);
            Ok((name.to_string(), tensor.map_err(torch("safetensors"))?))
        };
        let weights = file.iter().map(tensor).collect::<Result<_, _>>()?;
        Ok(TensorsReader { network, weights })
    }
}

impl Reader for TensorsReader {
    fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, ExportError> {
        tch::no_grad(|| match (self.network, inputs) {
            (Network::Play, [planes]) => Ok(plain::play(&self.weights, planes)),
            (Network::Setup, [features, step]) => Ok(plain::setup(&self.weights, features, step)),
            _ => Err(unreadable("safetensors", format!("{} inputs", inputs.len()))),
        })
    }
}

/// The largest difference between what was expected and what a reader says.
///
/// # Errors
///
/// Another number or shape of outputs.
pub fn largest_difference(
    reader: &dyn Reader,
    inputs: &[Tensor],
    expected: &[Tensor],
) -> Result<f64, ExportError> {
    let found = reader.run(inputs)?;
    let shapes = |tensors: &[Tensor]| tensors.iter().map(Tensor::size).collect::<Vec<_>>();
    if shapes(&found) != shapes(expected) {
        let (found, expected) = (shapes(&found), shapes(expected));
        return Err(ExportError::Shapes { found, expected });
    }
    let difference = |(a, b): (&Tensor, &Tensor)| {
        let difference = (a.to_kind(Kind::Double) - b.to_kind(Kind::Double)).abs();
        // Where a number is none, the comparison has failed as well.
        difference.nan_to_num(f64::INFINITY, f64::INFINITY, f64::INFINITY).max().double_value(&[])
    };
    Ok(found.iter().zip(expected).map(difference).fold(0.0, f64::max))
}

fn unreadable(format: &'static str, reason: String) -> ExportError {
    ExportError::Reader { format, reason }
}

fn torch(format: &'static str) -> impl Fn(tch::TchError) -> ExportError {
    move |error| unreadable(format, error.to_string())
}
