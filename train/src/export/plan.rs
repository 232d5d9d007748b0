//! What is to be exported, as raw text and as settings.

use anyhow::bail;

use crate::nearest::nearest;

/// A format that networks are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ONNX.
    Onnx,
    /// TorchScript.
    Torchscript,
    /// The tensors alone.
    Safetensors,
}

/// The numbers that an ONNX file calculates with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// f32: what the network itself calculates with.
    Fp32,
    /// f16.
    Fp16,
    /// i8 for the convolutions.
    Int8,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 3] = [Format::Onnx, Format::Torchscript, Format::Safetensors];

    /// Its name on the command line and in `model.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Onnx => "onnx",
            Format::Torchscript => "torchscript",
            Format::Safetensors => "safetensors",
        }
    }
}

impl Numbers {
    /// All of them.
    pub const ALL: [Numbers; 3] = [Numbers::Fp32, Numbers::Fp16, Numbers::Int8];

    /// Their name on the command line and in `model.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Numbers::Fp32 => "fp32",
            Numbers::Fp16 => "fp16",
            Numbers::Int8 => "int8",
        }
    }
}

/// The things with these names, in their own order, each once.
///
/// # Errors
/// A name that nothing has.
pub fn chosen<T: Copy + PartialEq>(
    option: &str,
    names: &[String],
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> anyhow::Result<Vec<T>> {
    let known: Vec<&str> = all.iter().map(|&thing| name_of(thing)).collect();
    for name in names {
        if !known.contains(&name.as_str()) {
            let hint = nearest(name, &known);
            let hint = hint.map_or(String::new(), |best| format!("; did you mean `{best}`?"));
            bail!("{option}: unknown `{name}`, expected {}{hint}", known.join(", "));
        }
    }
    Ok(all
        .iter()
        .copied()
        .filter(|&thing| names.iter().any(|name| name == name_of(thing)))
        .collect())
}
