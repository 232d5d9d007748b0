//! Exported networks say what the networks say, and readers notice when they do not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cyvasse_models::export::{
    self, ExportError, Network, OnnxReader, Reader, ScriptReader, TensorsReader, largest_difference,
};
use cyvasse_models::{Net, SETUP_ENCODING_VERSION, SETUP_FEATURES, SetupNet, SetupNetConfig};
use tch::{Device, Kind, Tensor};

use crate::common::{disturb, noise, small_net};

fn net() -> Net {
    let net = small_net(3);
    disturb(&net, 1);
    net
}

fn setup_net() -> SetupNet {
    let config =
        SetupNetConfig { encoding: SETUP_ENCODING_VERSION, width: 12, blocks: 2, mirror: true };
    let net = SetupNet::new(&config, 1, Device::Cpu).unwrap();
    tch::no_grad(|| {
        for (seed, mut tensor) in net.variables().into_values().enumerate() {
            tensor.copy_(&(noise(&tensor.size(), seed as u64) * 0.3));
        }
    });
    net
}

/// Planes from 0 to 1, as positions have them.
fn planes(batch: i64, seed: u64) -> Tensor {
    (noise(&[batch, 8, 8, 6], seed) + 1.0) * 0.5
}

fn outputs(net: &Net, planes: &Tensor) -> Vec<Tensor> {
    let outputs = net.forward(planes);
    vec![outputs.policy, outputs.value]
}

/// Compares on batches of several sizes.
fn play_difference(net: &Net, reader: &dyn Reader) -> f64 {
    let differences = [1, 3, 8].map(|batch| {
        let planes = planes(batch, batch as u64);
        largest_difference(reader, &[planes.shallow_clone()], &outputs(net, &planes)).unwrap()
    });
    differences.into_iter().fold(0.0, f64::max)
}

fn setup_difference(net: &SetupNet, reader: &dyn Reader) -> f64 {
    let steps = [0, 63, 31, 32, 5];
    let features = noise(&[steps.len() as i64, SETUP_FEATURES as i64], 9);
    let logits: Vec<f32> = steps
        .iter()
        .enumerate()
        .flat_map(|(row, &step)| {
            let row = Vec::<f32>::try_from(features.get(row as i64)).unwrap();
            net.outputs_at(step, &row)
        })
        .collect();
    let expected = Tensor::from_slice(&logits).reshape([-1, 11]);
    let steps = Tensor::from_slice(&steps.map(|step| step as i64));
    largest_difference(reader, &[features, steps], &[expected]).unwrap()
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

#[test]
fn every_format_says_what_the_play_network_says() {
    let net = net();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    export::save_play_script(&net, &file("play.pt")).unwrap();
    export::save_play_tensors(&net, BTreeMap::new(), &file("play.safetensors")).unwrap();
    let tensors = TensorsReader::new(Network::Play, &read(&file("play.safetensors"))).unwrap();
    let readers: [Box<dyn Reader>; 3] = [
        Box::new(OnnxReader::new(&export::play_onnx(&net)).unwrap()),
        Box::new(ScriptReader::open(Network::Play, &file("play.pt")).unwrap()),
        Box::new(tensors),
    ];
    for reader in &readers {
        let difference = play_difference(&net, &**reader);
        assert!(difference < 1e-5, "{difference:e}");
    }
}

#[test]
fn every_format_says_what_the_setup_network_says() {
    let net = setup_net();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    export::save_setup_script(&net, &file("setup.pt")).unwrap();
    export::save_setup_tensors(&net, BTreeMap::new(), &file("setup.safetensors")).unwrap();
    let tensors = TensorsReader::new(Network::Setup, &read(&file("setup.safetensors"))).unwrap();
    let readers: [Box<dyn Reader>; 3] = [
        Box::new(OnnxReader::new(&export::setup_onnx(&net)).unwrap()),
        Box::new(ScriptReader::open(Network::Setup, &file("setup.pt")).unwrap()),
        Box::new(tensors),
    ];
    for reader in &readers {
        let difference = setup_difference(&net, &**reader);
        assert!(difference < 1e-5, "{difference:e}");
    }
}

/// One weight of a file is changed, in its bytes.
#[test]
fn a_single_weight_that_is_another_is_noticed() {
    let net = net();
    let bytes = export::play_onnx(&net);
    for name in ["tower.1.second.conv.weight", "policy.out.bias", "value.out.bias"] {
        // Folding leaves biases and linear maps as they are; of a convolution the
        // first folded weight is computed here.
        let variables = net.variables();
        let first = |name: &str| variables[name].flatten(0, -1).double_value(&[0]);
        let value = match name.strip_suffix("conv.weight") {
            Some(layer) => {
                let norm = |part: &str| first(&format!("{layer}norm.{part}"));
                first(name) * norm("weight") / (norm("running_var") + 1e-5).sqrt()
            }
            None => first(name),
        };
        let wanted = (value as f32).to_le_bytes();
        let place = bytes.windows(4).position(|window| window == wanted).unwrap();
        let mut changed = bytes.clone();
        changed[place..place + 4].copy_from_slice(&(value as f32 + 0.01).to_le_bytes());
        let difference = play_difference(&net, &OnnxReader::new(&changed).unwrap());
        assert!(difference > 1e-4, "{name}: {difference:e}");
    }
}

#[test]
fn what_is_no_network_is_refused() {
    let net = net();
    let bytes = export::play_onnx(&net);
    for bytes in [&b"rubbish"[..], &bytes[..bytes.len() / 2], &[]] {
        assert!(matches!(OnnxReader::new(bytes), Err(ExportError::Reader { .. })));
        let tensors = TensorsReader::new(Network::Play, bytes);
        assert!(matches!(tensors, Err(ExportError::Reader { .. })));
    }
    // The setup network in place of the play network takes other inputs.
    let setup = OnnxReader::new(&export::setup_onnx(&setup_net())).unwrap();
    let planes = planes(1, 1);
    let expected = outputs(&net, &planes);
    assert!(largest_difference(&setup, &[planes.shallow_clone()], &expected).is_err());
    // Outputs of another shape, and numbers that are none.
    let reader = OnnxReader::new(&bytes).unwrap();
    let fewer = [expected[0].shallow_clone()];
    let shapes = largest_difference(&reader, &[planes.shallow_clone()], &fewer);
    assert!(matches!(shapes, Err(ExportError::Shapes { .. })));
    let nan = [&expected[0] * f64::NAN, expected[1].shallow_clone()];
    assert_eq!(largest_difference(&reader, &[planes], &nan).unwrap(), f64::INFINITY);
}

#[test]
fn smaller_numbers_are_near_the_network() {
    let net = net();
    let half = OnnxReader::new(&export::play_onnx_fp16(&net).unwrap()).unwrap();
    let difference = play_difference(&net, &half);
    assert!((1e-6..0.02).contains(&difference), "{difference:e}");
    let bytes = export::play_onnx_int8(&net, &planes(64, 5));
    let difference = play_difference(&net, &OnnxReader::new(&bytes).unwrap());
    assert!((1e-4..0.2).contains(&difference), "{difference:e}");
    assert!(bytes.len() < export::play_onnx(&net).len() * 3 / 4);
    // Values that f16 cannot hold.
    tch::no_grad(|| {
        let _ = net.variables()["value.out.bias"].shallow_clone().fill_(1e6);
    });
    let refused = export::play_onnx_fp16(&net).unwrap_err().to_string();
    assert_eq!(refused, "value.out.bias holds 1000000, which is too large for fp16");
}

/// What ranges are chosen for depends on the positions: with maps that are never
/// larger than in those, nothing is cut off.
#[test]
fn ranges_come_from_the_positions_given() {
    let net = net();
    let typical = planes(64, 5);
    let fitting = export::play_onnx_int8(&net, &typical);
    let narrow = export::play_onnx_int8(&net, &(&typical * 0.01));
    let error = |bytes: &[u8]| {
        let reader = OnnxReader::new(bytes).unwrap();
        let found = reader.run(&[typical.shallow_clone()]).unwrap();
        let squares = (&found[0] - net.forward(&typical).policy).square();
        squares.mean(Kind::Double).double_value(&[])
    };
    assert!(error(&narrow) > 4.0 * error(&fitting), "{} {}", error(&narrow), error(&fitting));
}
