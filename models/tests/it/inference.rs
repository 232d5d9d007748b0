//! Inference networks say what the network that they were made of says.

use crate::common::{assert_close, disturb, noise, small_config};
use cyvasse_models::{InferenceNet, Net, NetConfig, Outputs, Precision};
use tch::{Device, Tensor};

/// Compares both ways of evaluation with the network that they are made of.
fn check(config: &NetConfig, seed: u64, batch: i64) {
    let net = Net::new(config, seed, Device::Cpu).unwrap();
    disturb(&net, seed);
    let planes = noise(&[batch, 8, 8, config.input_planes as i64], seed);
    let expected = net.forward(&planes);
    for inference in [InferenceNet::new(&net), InferenceNet::with_libtorch(&net, Precision::Single)]
    {
        let found = inference.forward(&planes);
        assert_eq!(found.policy.size(), [batch, config.policy_size() as i64]);
        assert_eq!(found.value.size(), [batch, 3]);
        assert!(!found.policy.requires_grad() && !found.value.requires_grad());
        assert_close("policy", &found.policy, &expected.policy, 1e-4);
        assert_close("value", &found.value, &expected.value, 1e-4);
        check_evaluate(&inference, &planes, &found);
    }
}

/// Asks for some actions of each position and looks them up in `full`.
fn check_evaluate(inference: &InferenceNet, planes: &Tensor, full: &Outputs) {
    let batch = planes.size()[0];
    let size = inference.config().policy_size();
    // The first position has no action, the others have more and more.
    let actions: Vec<Vec<u16>> =
        (0..batch as usize).map(|i| (0..5 * i).map(|a| (a * 37 % size) as u16).collect()).collect();
    let values = Vec::try_from(planes.flatten(0, 3)).unwrap();
    let evaluation = inference.evaluate(&values, &actions);
    let mut policy = evaluation.policy.iter();
    for (i, actions) in actions.iter().enumerate() {
        for &action in actions {
            let expected = full.policy.double_value(&[i as i64, i64::from(action)]);
            assert!((f64::from(*policy.next().unwrap()) - expected).abs() < 1e-4);
        }
        for (outcome, &value) in evaluation.value[i].iter().enumerate() {
            let expected = full.value.double_value(&[i as i64, outcome as i64]);
            assert!((f64::from(value) - expected).abs() < 1e-4);
        }
    }
    assert_eq!(policy.next(), None);
}

#[test]
fn equals_the_network_with_its_statistics() {
    for seed in 0..5 {
        check(&small_config(), seed, 1 + 3 * seed as i64);
    }
}

#[test]
fn equals_the_network_in_other_shapes() {
    let plain = small_config();
    let shapes = [
        NetConfig { blocks: 0, ..plain.clone() },
        NetConfig {
            channels: 32,
            blocks: 4,
            input_planes: 32,
            policy_planes: 124,
            ..plain.clone()
        },
        NetConfig { channels: 24, policy_channels: 20, value_channels: 9, ..plain.clone() },
        NetConfig { channels: 1, policy_channels: 1, value_channels: 1, value_hidden: 1, ..plain },
    ];
    for (seed, config) in shapes.iter().enumerate() {
        check(config, seed as u64, 5);
    }
}

#[test]
fn stays_as_it_is_while_training_goes_on() {
    let net = Net::new(&small_config(), 3, Device::Cpu).unwrap();
    disturb(&net, 3);
    let inference = InferenceNet::new(&net);
    let planes = noise(&[2, 8, 8, 6], 3);
    let before = inference.forward(&planes);
    disturb(&net, 4);
    let after = inference.forward(&planes);
    assert_close("policy", &after.policy, &before.policy, 0.0);
    assert_close("value", &after.value, &before.value, 0.0);
}

#[test]
fn is_shared_between_threads() {
    let net = Net::new(&small_config(), 3, Device::Cpu).unwrap();
    disturb(&net, 3);
    for inference in [InferenceNet::new(&net), InferenceNet::with_libtorch(&net, Precision::Single)]
    {
        let evaluate = |net: InferenceNet| {
            move || {
                let planes: Vec<f32> = noise(&[2, 8, 8, 6], 3).flatten(0, 3).try_into().unwrap();
                net.evaluate(&planes, &[[1u16, 2], [3, 4]])
            }
        };
        let threads = [0, 1].map(|_| std::thread::spawn(evaluate(inference.share())));
        let expected = evaluate(inference)();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), expected);
        }
    }
}

#[test]
#[should_panic(expected = "expected [B, 8, 8, 6]")]
fn names_the_shape_that_it_needs() {
    let net = Net::new(&small_config(), 3, Device::Cpu).unwrap();
    InferenceNet::new(&net).forward(&noise(&[2, 6, 8, 8], 3));
}

#[test]
fn evaluates_nothing_and_the_same_twice() {
    let net = Net::new(&small_config(), 3, Device::Cpu).unwrap();
    disturb(&net, 3);
    let inference = InferenceNet::new(&net);
    let none: [&[u16]; 0] = [];
    assert_eq!(inference.evaluate(&[], &none).value, [[0.0; 3]; 0]);
    // Memory is kept between calls; what is left in it must not matter.
    let planes: Vec<f32> = Vec::try_from(noise(&[7, 8, 8, 6], 3).flatten(0, 3)).unwrap();
    let actions = vec![vec![0u16, 319, 5]; 7];
    let first = inference.evaluate(&planes, &actions);
    inference.evaluate(&planes[..384], &actions[..1]);
    assert_eq!(inference.evaluate(&planes, &actions), first);
    let alone = inference.evaluate(&planes[5 * 384..6 * 384], &actions[..1]);
    assert_eq!(alone.policy, first.policy[15..18], "company does not matter");
    assert_eq!(alone.value[0], first.value[5]);
}

#[test]
#[should_panic(expected = "not below 320")]
fn refuses_actions_that_there_are_not() {
    let net = Net::new(&small_config(), 3, Device::Cpu).unwrap();
    InferenceNet::new(&net).evaluate(&[0.0; 384], &[[320u16]]);
}

#[test]
#[should_panic(expected = "planes of 2 positions")]
fn refuses_planes_of_another_number_of_positions() {
    let net = Net::new(&small_config(), 3, Device::Cpu).unwrap();
    InferenceNet::new(&net).evaluate(&[0.0; 384], &[[1u16], [2]]);
}

#[test]
fn does_not_hide_a_broken_weight() {
    for name in ["stem.norm.bias", "tower.0.first.norm.bias", "policy.mix.norm.bias"] {
        let net = Net::new(&small_config(), 3, Device::Cpu).unwrap();
        disturb(&net, 3);
        tch::no_grad(|| drop(net.variables()[name].shallow_clone().fill_(f64::NAN)));
        let evaluation = InferenceNet::new(&net).evaluate(&[0.5; 384], &[[3u16]]);
        assert!(evaluation.policy[0].is_nan(), "{name}");
    }
}
