//! An ONNX graph with f16 in place of f32; its inputs and outputs stay f32.

use half::f16;

use super::ExportError;
use super::graph::{GraphBuilder, Value};
use super::proto::{Graph, Model, data_type};

/// Turns a graph of f32 into one of f16.
///
/// # Errors
///
/// A weight too large for f16.
pub(super) fn to_half(mut model: Model) -> Result<Model, ExportError> {
    if let Some(graph) = &mut model.graph {
        for constant in &mut graph.initializer {
            if constant.data_type == data_type::FLOAT {
                constant.raw_data = halves(&constant.name, &constant.raw_data)?;
                constant.data_type = data_type::FLOAT16;
            }
        }
        cast_at_borders(graph);
    }
    Ok(model)
}

fn halves(name: &str, bytes: &[u8]) -> Result<Vec<u8>, ExportError> {
    let mut halves = Vec::with_capacity(bytes.len() / 2);
    for bytes in bytes.as_chunks::<4>().0 {
        let value = f32::from_le_bytes(*bytes);
        let half = f16::from_f32(value);
        if !half.is_finite() {
            return Err(ExportError::TooLarge { tensor: name.into(), value });
        }
        halves.extend(half.to_le_bytes());
    }
    Ok(halves)
}

/// Inserts a cast behind each input of f32 and before each output.
fn cast_at_borders(graph: &mut Graph) {
    let inside = |name: &str| format!("{name}.half");
    let mut casts = GraphBuilder::new("");
    let is_float = |kind: &Option<super::proto::Type>| {
        let tensor = kind.as_ref().and_then(|kind| kind.tensor.as_ref());
        tensor.is_some_and(|tensor| tensor.elem_type == data_type::FLOAT)
    };
    let inputs = graph.input.iter().filter(|input| is_float(&input.kind));
    let inputs: Vec<String> = inputs.map(|input| input.name.clone()).collect();
    let outputs: Vec<String> = graph.output.iter().map(|output| output.name.clone()).collect();
    for node in &mut graph.node {
        let of_input = node.input.iter_mut().filter(|name| inputs.contains(name));
        let of_output = node.output.iter_mut().filter(|name| outputs.contains(name));
        of_input.chain(of_output).for_each(|name| *name = inside(name));
    }
    let mut cast = |from: &str, to: &str, kind: i32| {
        casts.node("Cast", &[from], to, &[("to", Value::Int(kind.into()))]);
    };
    for name in &inputs {
        cast(name, &inside(name), data_type::FLOAT16);
    }
    for name in &outputs {
        cast(&inside(name), name, data_type::FLOAT);
    }
    let mut nodes = casts.into_nodes();
    // Not the names of the outputs, which tract gives to nodes of its own.
    nodes.iter_mut().for_each(|node| node.name.push_str(".cast"));
    let ending = nodes.split_off(inputs.len());
    nodes.append(&mut graph.node);
    nodes.extend(ending);
    graph.node = nodes;
}
