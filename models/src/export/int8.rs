//! A play network as an ONNX graph that calculates with bytes.
//!
//! Convolutions, nearly all of the work, take and give i8 (`QLinearConv`): weights
//! are quantised by output channel, maps as a whole, in ranges that are chosen on
//! positions of games. Sums around skip connections, pooling and the last layers of
//! both heads are f32. ReLU costs nothing: the least number of a map that has
//! passed it stands for 0.

use std::collections::BTreeMap;

use tch::{Kind, Tensor};

use super::graph::GraphBuilder;
use super::plain::{count, play_watched};
use super::play_graph::{Writer, same_size};
use super::proto::{Model, data_type};
use super::weights::{Weights, of_play_net};
use crate::inference::folded::values;
use crate::net::Net;

/// Ranges that are tried for a map, as shares of the largest number in it.
const RANGES: [f64; 15] =
    [1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3];

/// How a map becomes bytes: `number = scale * (byte - zero)`.
#[derive(Clone, Copy, Debug)]
struct Quantization {
    scale: f32,
    zero: i8,
}

/// The graph of `net`, with ranges for f32 planes `[B, 8, 8, P]` of typical
/// positions.
pub(super) fn int8_graph(net: &Net, planes: &Tensor) -> Model {
    let weights = of_play_net(net);
    let maps = calibrate(&weights, planes);
    let writer = Writer { graph: GraphBuilder::new("cyvasse play network"), weights: &weights };
    let mut writer = ByteWriter { writer, maps };
    let map = writer.writer.begin(net.config().input_planes);
    let planes = writer.quantize("planes", &map);
    let mut map = writer.conv("stem", &planes, "planes");
    let mut name = "stem".to_string();
    for block in 0..count(&weights, "tower") {
        let [whole, first, second] =
            ["", ".first", ".second"].map(|part| format!("tower.{block}{part}"));
        let inner = writer.conv(&first, &map, &name);
        let outer = writer.conv(&second, &inner, &first);
        let (outer, skipped) = (writer.dequantize(&second, &outer), writer.dequantize(&name, &map));
        let graph = &mut writer.writer.graph;
        let sum = graph.node("Add", &[&outer, &skipped], &format!("{whole}.sum"), &[]);
        let sum = graph.node("Relu", &[&sum], &format!("{whole}.relu"), &[]);
        map = writer.quantize(&whole, &sum);
        name = whole;
    }
    let mixed = writer.conv("policy.mix", &map, &name);
    let mixed = writer.dequantize("policy.mix", &mixed);
    writer.writer.policy(&mixed, net.config().policy_size());
    let mixed = writer.conv("value.mix", &map, &name);
    let mixed = writer.dequantize("value.mix", &mixed);
    writer.writer.value(&mixed);
    let doc = "Policy and value logits of positions, each in its mover's view; i8 inside";
    writer.writer.graph.finish_quantized(doc)
}

struct ByteWriter<'a> {
    writer: Writer<'a>,
    maps: BTreeMap<String, Quantization>,
}

impl ByteWriter<'_> {
    /// The names of a map's scale and zero point.
    fn parameters(&mut self, map: &str, use_: &str) -> [String; 2] {
        let Quantization { scale, zero } = self.maps[map];
        let graph = &mut self.writer.graph;
        let name = |what: &str| format!("{use_}.{what}");
        let zero = graph.constant(&name("zero"), data_type::INT8, &[], vec![zero as u8]);
        [graph.floats(&name("scale"), &[], &[scale]), zero]
    }

    fn quantize(&mut self, map: &str, x: &str) -> String {
        let output = format!("{map}.bytes");
        let [scale, zero] = self.parameters(map, &output);
        self.writer.graph.node("QuantizeLinear", &[x, &scale, &zero], &output, &[])
    }

    fn dequantize(&mut self, map: &str, x: &str) -> String {
        let output = format!("{map}.floats");
        let [scale, zero] = self.parameters(map, &output);
        self.writer.graph.node("DequantizeLinear", &[x, &scale, &zero], &output, &[])
    }

    /// A convolution of a map of bytes, which is called `input`.
    fn conv(&mut self, name: &str, x: &str, input: &str) -> String {
        let output = format!("{name}.out");
        let [x_scale, x_zero] = self.parameters(input, &format!("{name}.input"));
        let [y_scale, y_zero] = self.parameters(name, &format!("{name}.output"));
        let weight = &self.writer.weights[&format!("{name}.weight")];
        let bias = values(&self.writer.weights[&format!("{name}.bias")]);
        let shape = weight.size();
        let layer = QuantizedLayer::new(&values(weight), &bias, self.maps[input].scale);
        let graph = &mut self.writer.graph;
        let named = |what: &str| format!("{name}.{what}");
        let weight = graph.constant(&named("weight"), data_type::INT8, &shape, layer.weight);
        let w_scale = graph.floats(&named("weight.scale"), &[shape[0]], &layer.scales);
        let w_zero = graph.constant(&named("weight.zero"), data_type::INT8, &[], vec![0]);
        let bias = graph.constant(&named("bias"), data_type::INT32, &[shape[0]], layer.bias);
        let inputs = [x, &x_scale, &x_zero, &weight, &w_scale, &w_zero, &y_scale, &y_zero, &bias];
        graph.node("QLinearConv", &inputs, &output, &same_size(shape[3]))
    }
}

/// A convolution's weights in bytes, by output channel.
struct QuantizedLayer {
    /// i8.
    weight: Vec<u8>,
    /// One for each output channel.
    scales: Vec<f32>,
    /// i32, little-endian, in units of the weight's and the input's scale.
    bias: Vec<u8>,
}

impl QuantizedLayer {
    fn new(weight: &[f32], bias: &[f32], input_scale: f32) -> QuantizedLayer {
        let mut layer = QuantizedLayer { weight: vec![], scales: vec![], bias: vec![] };
        for (row, &bias) in weight.chunks(weight.len() / bias.len()).zip(bias) {
            let most = row.iter().fold(0.0f32, |most, value| most.max(value.abs()));
            // Large enough for the bias to be an i32, and for a channel of zeros.
            let least = (bias.abs() / input_scale / (1 << 30) as f32).max(1e-12);
            let scale = (most / 127.0).max(least);
            layer.weight.extend(row.iter().map(|value| (value / scale).round() as i8 as u8));
            layer.scales.push(scale);
            layer.bias.extend(((bias / scale / input_scale).round() as i32).to_le_bytes());
        }
        layer
    }
}

/// Ranges for all maps of a network.
fn calibrate(weights: &Weights, planes: &Tensor) -> BTreeMap<String, Quantization> {
    // Planes are from 0 to 1 by definition.
    let of_planes = Quantization { scale: 1.0 / 255.0, zero: i8::MIN };
    let mut maps = BTreeMap::from([("planes".to_string(), of_planes)]);
    tch::no_grad(|| {
        play_watched(weights, planes, |name, map| {
            maps.insert(name.into(), best_range(map, name.ends_with(".second")));
        });
    });
    maps
}

/// The range with the least squared error: what is beyond it is cut off, what is
/// within it is told apart the better the smaller it is.
fn best_range(map: &Tensor, signed: bool) -> Quantization {
    let (zero, steps) = if signed { (0, 127.0) } else { (i8::MIN, 255.0) };
    let most = map.abs().max().double_value(&[]).max(1e-6);
    let (low, high) = if signed { (-128.0, 127.0) } else { (0.0, 255.0) };
    let error = |scale: f64| {
        let rounded = (map / scale).round().clamp(low, high) * scale;
        (rounded - map).square().mean(Kind::Double).double_value(&[])
    };
    let scales = RANGES.map(|share| most * share / steps);
    let errors = scales.map(error);
    let best = (0..RANGES.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b]));
    Quantization { scale: scales[best.unwrap_or(0)] as f32, zero }
}
