//! The network, its losses and its gradients against the same network written
//! in PyTorch (`scripts/make_torch_vectors.py`).

use crate::common::{assert_close, data};
use cyvasse_models::{InferenceNet, Net, NetConfig, Precision, TensorFile, loss};
use tch::{Device, Kind};

fn net_and_numbers() -> (Net, TensorFile) {
    let file = data("parity.safetensors");
    let config: NetConfig = serde_json::from_str(&file.metadata["net"]).unwrap();
    let net = Net::new(&config, 0, Device::Cpu).unwrap();
    tch::no_grad(|| {
        for (name, mut tensor) in net.variables() {
            tensor.copy_(&file.tensors[&format!("initial/{name}")]);
        }
    });
    (net, file)
}

#[test]
fn evaluates_as_pytorch_does() {
    let (net, file) = net_and_numbers();
    let planes = &file.tensors["planes"];
    let all = [
        net.forward(planes),
        InferenceNet::new(&net).forward(planes),
        InferenceNet::with_libtorch(&net, Precision::Single).forward(planes),
    ];
    for outputs in all {
        assert_close("policy", &outputs.policy, &file.tensors["eval/policy"], 2e-5);
        assert_close("value", &outputs.value, &file.tensors["eval/value"], 2e-5);
    }
}

#[test]
fn trains_as_pytorch_does() {
    let (net, file) = net_and_numbers();
    let outputs = net.forward_train(&file.tensors["planes"]);
    assert_close("policy", &outputs.policy, &file.tensors["train/policy"], 2e-5);
    assert_close("value", &outputs.value, &file.tensors["train/value"], 2e-5);

    let policy =
        loss::policy_loss(&outputs.policy, &file.tensors["legal"], &file.tensors["targets"]);
    let value = loss::value_loss(&outputs.value, &file.tensors["outcomes"]);
    assert_close("policy loss", &policy, &file.tensors["loss/policy"], 2e-5);
    assert_close("value loss", &value, &file.tensors["loss/value"], 2e-5);

    (policy.mean(Kind::Float) + value.mean(Kind::Float)).backward();
    for (name, tensor) in net.variables() {
        if tensor.requires_grad() {
            let expected = &file.tensors[&format!("gradient/{name}")];
            assert_close(&name, &tensor.grad(), expected, 2e-5);
        } else {
            assert_close(&name, &tensor, &file.tensors[&format!("after/{name}")], 2e-5);
        }
    }
}
