//! Writing an ONNX graph node by node.

use prost::Message;

use super::proto::{
    Attribute, Dimension, Graph, Model, Node, OperatorSet, Shape, Tensor, TensorType, Type,
    ValueInfo, attribute_type, data_type,
};

/// The operator set: the newest that all readers in use know (onnxruntime since
/// 1.20). Later ones change none of the operators that we use but for the kinds of
/// number that they take.
pub const OPSET: i64 = 22;

/// The version of the file format that belongs to [`OPSET`].
const IR_VERSION: i64 = 10;

/// The operator set of graphs with quantised tensors: from 21 on onnxruntime (1.32) moves a
/// transposition before the conversion from i8, and then refuses what it has made.
pub const QUANTIZED_OPSET: i64 = 20;
const QUANTIZED_IR_VERSION: i64 = 9;

/// The name of the first dimension of every input and output.
const BATCH: &str = "batch";

/// A graph that is being written. Nodes are named after their outputs.
pub(super) struct GraphBuilder {
    graph: Graph,
}

/// Attributes of a node.
pub(super) enum Value<'a> {
    Int(i64),
    Ints(&'a [i64]),
}

impl GraphBuilder {
    pub(super) fn new(name: &str) -> Self {
        Self { graph: Graph { name: name.into(), ..Graph::default() } }
    }

    /// An input `[batch, shape...]`.
    pub(super) fn input(&mut self, name: &str, kind: i32, shape: &[i64], doc: &str) -> String {
        self.graph.input.push(value_info(name, kind, shape, doc));
        name.into()
    }

    /// Declares the result of a node to be an output `[batch, shape...]` of f32.
    pub(super) fn output(&mut self, name: &str, shape: &[i64], doc: &str) {
        self.graph.output.push(value_info(name, data_type::FLOAT, shape, doc));
    }

    /// A node with one output, whose name is given and returned.
    pub(super) fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        output: &str,
        attributes: &[(&str, Value<'_>)],
    ) -> String {
        self.graph.node.push(Node {
            input: inputs.iter().map(ToString::to_string).collect(),
            output: vec![output.into()],
            name: output.into(),
            op_type: operator.into(),
            attribute: attributes.iter().map(|(name, value)| attribute(name, value)).collect(),
        });
        output.into()
    }

    /// A constant of f32.
    pub(super) fn floats(&mut self, name: &str, dims: &[i64], values: &[f32]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, data_type::FLOAT, dims, bytes)
    }

    /// A constant of i64.
    pub(super) fn integers(&mut self, name: &str, values: &[i64]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, data_type::INT64, &[values.len() as i64], bytes)
    }

    /// A constant of any kind, little-endian.
    pub(super) fn constant(
        &mut self,
        name: &str,
        kind: i32,
        dims: &[i64],
        bytes: Vec<u8>,
    ) -> String {
        self.graph.initializer.push(Tensor {
            dims: dims.to_vec(),
            data_type: kind,
            name: name.into(),
            raw_data: bytes,
        });
        name.into()
    }

    /// The nodes alone.
    pub(super) fn into_nodes(self) -> Vec<Node> {
        self.graph.node
    }

    /// The whole file of a graph with quantised tensors.
    pub(super) fn finish_quantized(self, doc: &str) -> Model {
        let mut model = self.finish(doc);
        model.ir_version = QUANTIZED_IR_VERSION;
        model.opset_import[0].version = QUANTIZED_OPSET;
        model
    }

    /// The whole file.
    pub(super) fn finish(self, doc: &str) -> Model {
        Model {
            ir_version: IR_VERSION,
            producer_name: "cyvasse".into(),
            producer_version: env!("CARGO_PKG_VERSION").into(),
            doc_string: doc.into(),
            graph: Some(self.graph),
            opset_import: vec![OperatorSet { domain: String::new(), version: OPSET }],
        }
    }
}

/// The bytes of the file.
pub(super) fn bytes(model: &Model) -> Vec<u8> {
    model.encode_to_vec()
}

fn attribute(name: &str, value: &Value<'_>) -> Attribute {
    let blank = Attribute { name: name.into(), ..Attribute::default() };
    match value {
        Value::Int(i) => Attribute { i: Some(*i), kind: attribute_type::INT, ..blank },
        Value::Ints(ints) => Attribute { ints: ints.to_vec(), kind: attribute_type::INTS, ..blank },
    }
}

fn value_info(name: &str, kind: i32, shape: &[i64], doc: &str) -> ValueInfo {
    let batch = Dimension { value: None, param: Some(BATCH.into()) };
    let fixed = shape.iter().map(|&value| Dimension { value: Some(value), param: None });
    let shape = Shape { dim: std::iter::once(batch).chain(fixed).collect() };
    let tensor = TensorType { elem_type: kind, shape: Some(shape) };
    ValueInfo {
        name: name.into(),
        kind: Some(Type { tensor: Some(tensor) }),
        doc_string: doc.into(),
    }
}
