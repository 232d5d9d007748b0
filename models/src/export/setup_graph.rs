//! A setup network as an ONNX graph: one step of building.

use super::graph::{GraphBuilder, Value};
use super::plain::count;
use super::proto::{Model, data_type};
use super::weights::{Weights, of_setup_net};
use crate::inference::folded::values;
use crate::setup_net::{SETUP_FEATURES, SetupNet};

/// The graph in f32. Its parts have the names that its tensors have in
/// [`of_setup_net`].
pub(super) fn setup_graph(net: &SetupNet) -> Model {
    let weights = of_setup_net(net);
    let mut writer =
        Writer { graph: GraphBuilder::new("cyvasse setup network"), weights: &weights };
    let features = [SETUP_FEATURES as i64];
    let doc = "what has been placed, what is left, the seat";
    writer.graph.input("features", data_type::FLOAT, &features, doc);
    writer.graph.input("step", data_type::INT64, &[], "tokens placed so far, 0 to 63");
    writer.seat();
    let input = writer.linear("input", "features");
    let bias = writer.of_step_and_seat("step.bias", "seat.bias", "bias");
    let sum = writer.graph.node("Add", &[&input, &bias], "input.sum", &[]);
    let mut hidden = writer.graph.node("Relu", &[&sum], "input.relu", &[]);
    for block in 0..count(&weights, "blocks") {
        let name = format!("blocks.{block}");
        let first = writer.linear(&format!("{name}.first"), &hidden);
        let inner = writer.graph.node("Relu", &[&first], &format!("{name}.relu"), &[]);
        let second = writer.linear(&format!("{name}.second"), &inner);
        hidden = writer.graph.node("Add", &[&hidden, &second], &format!("{name}.sum"), &[]);
    }
    writer.logits(&hidden);
    writer.graph.finish("Logits of the next token of a setup")
}

struct Writer<'a> {
    graph: GraphBuilder,
    weights: &'a Weights,
}

impl Writer<'_> {
    /// `seat`: -1 for white and 1 for black, `[batch, 1]`.
    fn seat(&mut self) {
        let last = SETUP_FEATURES as i64 - 1;
        let from = self.graph.integers("seat.from", &[last]);
        let to = self.graph.integers("seat.to", &[last + 1]);
        let axis = self.graph.integers("seat.axis", &[1]);
        let feature =
            self.graph.node("Slice", &["features", &from, &to, &axis], "seat.feature", &[]);
        let two = self.graph.floats("seat.two", &[], &[2.0]);
        let one = self.graph.floats("seat.one", &[], &[1.0]);
        let doubled = self.graph.node("Mul", &[&feature, &two], "seat.doubled", &[]);
        self.graph.node("Sub", &[&doubled, &one], "seat", &[]);
    }

    /// The rows of a weight that belong to the steps.
    fn of_step(&mut self, weight: &str) -> String {
        let table = self.constant(weight);
        let axis = [("axis", Value::Int(0))];
        self.graph.node("Gather", &[&table, "step"], &format!("{weight}.of_step"), &axis)
    }

    /// A bias of the step and one that is added for black and subtracted for white.
    fn of_step_and_seat(&mut self, step: &str, seat: &str, output: &str) -> String {
        let of_step = self.of_step(step);
        let of_seat = self.of_step(seat);
        let signed = self.graph.node("Mul", &["seat", &of_seat], &format!("{seat}.signed"), &[]);
        self.graph.node("Add", &[&of_step, &signed], output, &[])
    }

    fn linear(&mut self, name: &str, x: &str) -> String {
        let weight = self.constant(&format!("{name}.weight"));
        let bias = self.constant(&format!("{name}.bias"));
        let transposed = [("transB", Value::Int(1))];
        self.graph.node("Gemm", &[x, &weight, &bias], &format!("{name}.out"), &transposed)
    }

    fn logits(&mut self, hidden: &str) {
        let axis = self.graph.integers("out.axis", &[1]);
        let row = self.graph.node("Unsqueeze", &[hidden, &axis], "out.row", &[]);
        let weight = self.of_step("out.weight");
        let product = self.graph.node("MatMul", &[&row, &weight], "out.products", &[]);
        let product = self.graph.node("Squeeze", &[&product, &axis], "out.product", &[]);
        let bias = self.of_step_and_seat("out.bias", "out.seat_bias", "out.biases");
        self.graph.node("Add", &[&product, &bias], "logits", &[]);
        let tokens = self.weights["out.bias"].size()[1];
        let doc = "a logit for each token, before what the builder adds; only legal ones count";
        self.graph.output("logits", &[tokens], doc);
    }

    /// A constant with the name and contents of a weight.
    fn constant(&mut self, name: &str) -> String {
        let weight = &self.weights[name];
        self.graph.floats(name, &weight.size(), &values(weight))
    }
}
