//! A play network as an ONNX graph.

use super::graph::{GraphBuilder, Value};
use super::plain::count;
use super::proto::{Model, data_type};
use super::weights::{Weights, of_play_net};
use crate::config::{BOARD_SIDE, OUTCOMES};
use crate::inference::folded::values;
use crate::net::Net;

/// The graph in f32. Its parts have the names that its tensors have in
/// [`of_play_net`].
pub(super) fn play_graph(net: &Net) -> Model {
    let weights = of_play_net(net);
    let mut writer = Writer { graph: GraphBuilder::new("cyvasse play network"), weights: &weights };
    let planes = writer.begin(net.config().input_planes);
    let stem = writer.conv("stem", &planes);
    let mut map = writer.relu("stem.relu", &stem);
    for block in 0..count(&weights, "tower") {
        let name = format!("tower.{block}");
        let first = writer.conv(&format!("{name}.first"), &map);
        let inner = writer.relu(&format!("{name}.first.relu"), &first);
        let second = writer.conv(&format!("{name}.second"), &inner);
        let sum = writer.graph.node("Add", &[&second, &map], &format!("{name}.sum"), &[]);
        map = writer.relu(&format!("{name}.relu"), &sum);
    }
    let mixed = writer.conv("policy.mix", &map);
    let mixed = writer.relu("policy.mix.relu", &mixed);
    writer.policy(&mixed, net.config().policy_size());
    let mixed = writer.conv("value.mix", &map);
    let mixed = writer.relu("value.mix.relu", &mixed);
    writer.value(&mixed);
    writer.graph.finish("Policy and value logits of positions, each in its mover's view")
}

/// A graph that is being written, and what its constants are.
pub(super) struct Writer<'a> {
    pub(super) graph: GraphBuilder,
    pub(super) weights: &'a Weights,
}

impl Writer<'_> {
    /// The input, with the planes moved before ranks and files.
    pub(super) fn begin(&mut self, input_planes: usize) -> String {
        let side = BOARD_SIDE as i64;
        let shape = [side, side, input_planes as i64];
        let doc = "positions: rank, file, plane";
        let planes = self.graph.input("planes", data_type::FLOAT, &shape, doc);
        self.graph.node("Transpose", &[&planes], "map", &[("perm", Value::Ints(&[0, 3, 1, 2]))])
    }

    /// A convolution that keeps the map's size.
    fn conv(&mut self, name: &str, x: &str) -> String {
        let weight = self.constant(&format!("{name}.weight"));
        let bias = self.constant(&format!("{name}.bias"));
        let kernel = self.weights[&weight].size()[3];
        self.graph.node("Conv", &[x, &weight, &bias], &format!("{name}.out"), &same_size(kernel))
    }

    fn relu(&mut self, output: &str, x: &str) -> String {
        self.graph.node("Relu", &[x], output, &[])
    }

    /// A product with a weight and a bias, over the last dimension. Not `Gemm`, which
    /// not every reader computes in f16.
    fn linear(&mut self, name: &str, x: &str, output: &str) -> String {
        let weight = &self.weights[&format!("{name}.weight")];
        let shape = [weight.size()[1], weight.size()[0]];
        let transposed = values(&weight.transpose(0, 1));
        let weight = self.graph.floats(&format!("{name}.weight"), &shape, &transposed);
        let bias = self.constant(&format!("{name}.bias"));
        let product = format!("{name}.product");
        let product = self.graph.node("MatMul", &[x, &weight], &product, &[]);
        self.graph.node("Add", &[&product, &bias], output, &[])
    }

    /// The policy of a mixed map: a matrix product over the channels of each tile.
    pub(super) fn policy(&mut self, mixed: &str, size: usize) {
        let perm = [("perm", Value::Ints(&[0, 2, 3, 1]))];
        let tiles = self.graph.node("Transpose", &[mixed], "policy.tiles", &perm);
        let logits = self.linear("policy.out", &tiles, "policy.out.logits");
        self.graph.node("Flatten", &[&logits], "policy", &[("axis", Value::Int(1))]);
        let doc = "a logit for each action: from-square, plane; only those of legal actions count";
        self.graph.output("policy", &[size as i64], doc);
    }

    /// The value of a mixed map: from the mean and maximum of each channel.
    pub(super) fn value(&mut self, mixed: &str) {
        let mean = self.graph.node("GlobalAveragePool", &[mixed], "value.mean", &[]);
        let most = self.graph.node("GlobalMaxPool", &[mixed], "value.max", &[]);
        let axis = [("axis", Value::Int(1))];
        let both = self.graph.node("Concat", &[&mean, &most], "value.both", &axis);
        let pooled = self.graph.node("Flatten", &[&both], "value.pooled", &axis);
        let hidden = self.linear("value.hidden", &pooled, "value.hidden.out");
        let hidden = self.relu("value.hidden.relu", &hidden);
        self.linear("value.out", &hidden, "value");
        let doc = "logits of win, draw and loss for the side to move";
        self.graph.output("value", &[OUTCOMES as i64], doc);
    }

    /// A constant with the name and contents of a weight.
    fn constant(&mut self, name: &str) -> String {
        let weight = &self.weights[name];
        self.graph.floats(name, &weight.size(), &values(weight))
    }
}

/// The attributes of a convolution with an odd square kernel.
pub(super) fn same_size(kernel: i64) -> [(&'static str, Value<'static>); 2] {
    let (shape, pads): (&[i64], &[i64]) = match kernel {
        1 => (&[1, 1], &[0; 4]),
        _ => (&[3, 3], &[1; 4]),
    };
    [("kernel_shape", Value::Ints(shape)), ("pads", Value::Ints(pads))]
}
