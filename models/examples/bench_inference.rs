//! Measures evaluation on one core, as a part of `scripts/bench_inference`,
//! which adds the same for onnxruntime:
//!
//! ```text
//! cargo run --release -p cyvasse-models --example bench_inference -- BLOCKS CHANNELS BATCH REPEATS [EXPORT]
//! ```
//!
//! Prints one JSON object. Times are processor time of the measuring thread,
//! so that other work on the machine disturbs them less; every kind of
//! evaluation is measured once a round, and medians and best rounds over all
//! rounds are given. With EXPORT, writes the network, some positions and its
//! answers there.

use std::hint::black_box;
use std::path::Path;

use cyvasse_models::{InferenceNet, Net, NetConfig, Precision, TensorFile};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use tch::{Device, Kind, Tensor};

/// Legal actions of a position, about as many as in a game.
const ACTIONS: usize = 45;

/// Side of the matrices for the machine's own rate.
const SGEMM_SIDE: i64 = 1024;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| arguments[i].parse::<usize>().expect("a whole number");
    let (blocks, channels, batch, repeats) = (number(0), number(1), number(2), number(3));
    tch::set_num_threads(1);
    let config = config(blocks, channels);
    let net = Net::new(&config, 1, Device::Cpu).expect("a sound configuration");
    disturb(&net);
    if let Some(path) = arguments.get(4) {
        export(Path::new(path), &net);
    }
    println!("{}", measure(&net, batch, repeats));
}

fn config(blocks: usize, channels: usize) -> NetConfig {
    NetConfig {
        input_planes: 32,
        policy_planes: 124,
        blocks,
        channels,
        policy_channels: channels,
        value_channels: channels,
        value_hidden: 64,
        batch_norm_epsilon: 1e-5,
        batch_norm_momentum: 0.1,
        output_init_std: 0.01,
    }
}

/// Moves what starts as zero or one away from there, as training does.
fn disturb(net: &Net) {
    tch::manual_seed(1);
    tch::no_grad(|| {
        for (name, mut tensor) in net.variables() {
            if name.ends_with("norm.weight") || name.ends_with("running_var") {
                let _ = tensor.uniform_(0.5, 1.5);
            } else if name.ends_with("out.weight") || tensor.dim() == 1 {
                let _ = tensor.uniform_(-0.3, 0.3);
            }
        }
    });
}

/// Writes the network with some positions and what it says about them.
fn export(path: &Path, net: &Net) {
    let planes = random_planes(net.config(), 5);
    let outputs = net.forward(&planes);
    let mut file = TensorFile { tensors: net.variables(), ..TensorFile::default() };
    file.metadata.insert("net".into(), json!(net.config()).to_string());
    for (name, tensor) in [("planes", planes), ("policy", outputs.policy), ("value", outputs.value)]
    {
        file.tensors.insert(name.into(), tensor);
    }
    file.save(path).expect("a writable path");
}

/// Zeros and ones, as sparse as encoded positions are.
fn random_planes(config: &NetConfig, batch: usize) -> Tensor {
    let shape = [batch as i64, 8, 8, config.input_planes as i64];
    Tensor::rand(shape, (Kind::Float, Device::Cpu)).lt(0.15).to_kind(Kind::Float)
}

fn measure(net: &Net, batch: usize, repeats: usize) -> serde_json::Value {
    let config = net.config();
    let planes = random_planes(config, batch);
    let values = Vec::<f32>::try_from(planes.flatten(0, 3)).expect("f32");
    let actions = actions(batch, config);
    let (fast, libtorch) =
        (InferenceNet::new(net), InferenceNet::with_libtorch(net, Precision::Single));
    let matrix = Tensor::rand([SGEMM_SIDE, SGEMM_SIDE], (Kind::Float, Device::Cpu));
    let mut times: [Vec<f64>; 4] = Default::default();
    for _ in 0..repeats {
        times[0].push(seconds(|| drop(black_box(matrix.matmul(&matrix)))));
        times[1].push(seconds(|| drop(black_box(fast.evaluate(&values, &actions)))));
        times[2].push(seconds(|| drop(black_box(fast.forward(&planes)))));
        times[3].push(seconds(|| drop(black_box(libtorch.forward(&planes)))));
    }
    let difference = largest_difference(&fast, &libtorch, &planes);
    let [sgemm, evaluate, forward, libtorch] = times.map(summary);
    json!({
        "blocks": config.blocks, "channels": config.channels, "batch": batch,
        "flops_a_position": config.flops(),
        "largest_difference": difference,
        "sgemm_flops": 2.0 * (SGEMM_SIDE as f64).powi(3),
        "seconds": {
            "sgemm": sgemm, "evaluate": evaluate, "forward": forward, "libtorch": libtorch,
        },
    })
}

/// Some actions for each position, from a dozen of its squares.
fn actions(batch: usize, config: &NetConfig) -> Vec<Vec<u16>> {
    let action = |i: usize| (i / 4 * 5 % 64 * config.policy_planes + i * 29 % 124) as u16;
    vec![(0..ACTIONS).map(action).collect(); batch]
}

/// Between the logits of the two, relative to the largest of the batch.
fn largest_difference(fast: &InferenceNet, libtorch: &InferenceNet, planes: &Tensor) -> f64 {
    let (a, b) = (fast.forward(planes), libtorch.forward(planes));
    let relative = |a: Tensor, b: Tensor| ((&a - &b).abs().max() / b.abs().max()).double_value(&[]);
    relative(a.policy, b.policy).max(relative(a.value, b.value))
}

/// Processor time of this thread while `work` runs.
fn seconds(work: impl FnOnce()) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    };
    let start = now();
    work();
    now() - start
}

fn summary(mut times: Vec<f64>) -> serde_json::Value {
    times.sort_by(f64::total_cmp);
    json!({ "median": times[times.len() / 2], "best": times[0] })
}
