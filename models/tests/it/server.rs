//! A server's clients are told what the network would have told them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::{disturb, noise, small_config};
use cyvasse_env::{ACTION_PLANES, PLANES, Rules};
use cyvasse_models::{InferenceNet, Net, NetConfig, NetEvaluator, Precision, serve};
use cyvasse_selfplay::play::{GameSettings, Progress, Round, SelfPlay};
use cyvasse_selfplay::search::{GumbelSettings, PolicySettings, SearchSettings};
use cyvasse_selfplay::{GameRecord, MoverValue, SetupPool};
use tch::Device;

fn net(config: &NetConfig) -> Net {
    let net = Net::new(config, 4, Device::Cpu).unwrap();
    disturb(&net, 4);
    net
}

#[test]
fn every_client_gets_its_own_answers() {
    let net = InferenceNet::new(&net(&small_config()));
    let size = net.config().policy_size();
    let clients = serve(net.share(), 4, 8);
    thread::scope(|scope| {
        for (number, client) in clients.iter().enumerate() {
            let net = net.share();
            scope.spawn(move || {
                for turn in 0..40 {
                    // From 1 to 11 positions: more than a batch, too.
                    let batch = 1 + (3 * number + turn) % 11;
                    let seed = (100 * number + turn) as u64;
                    let planes: Vec<f32> = noise(&[batch as i64 * 384], seed).try_into().unwrap();
                    let actions: Vec<Vec<u16>> = (0..batch)
                        .map(|i| (0..i).map(|a| (a * 37 % size) as u16).collect())
                        .collect();
                    let expected = net.evaluate(&planes, &actions);
                    assert_eq!(client.evaluate(planes, actions), Ok(expected));
                }
            });
        }
    });
    let served = clients[0].served();
    let (positions, batches) =
        (served.positions.load(Ordering::Relaxed), served.batches.load(Ordering::Relaxed));
    let asked: usize = (0..4).flat_map(|n| (0..40).map(move |t| 1 + (3 * n + t) % 11)).sum();
    assert_eq!(positions, asked as u64);
    assert!(batches <= 160, "{batches} batches for 160 questions");
}

#[test]
fn a_failure_reaches_the_clients() {
    let clients = serve(InferenceNet::new(&net(&small_config())), 1, 8);
    // An action that no network knows ends the server's thread.
    let error = clients[0].evaluate(vec![0.5; 384], vec![vec![u16::MAX]]).unwrap_err();
    assert!(error.reason.contains("an action's index is not below"), "{error}");
    let error = clients[0].evaluate(vec![0.5; 384], vec![vec![1]]).unwrap_err();
    assert_eq!(error.to_string(), "the inference thread failed: it has ended");
}

#[test]
fn half_precision_is_close_to_single() {
    let net = net(&small_config());
    let planes = noise(&[5, 8, 8, 6], 9);
    let single = InferenceNet::with_libtorch(&net, Precision::Single).forward(&planes);
    let half = InferenceNet::with_libtorch(&net, Precision::Half).forward(&planes);
    for (single, half) in [(single.policy, half.policy), (single.value, half.value)] {
        assert_eq!(half.kind(), tch::Kind::Float);
        let error = (&single - &half).abs().max().double_value(&[]);
        let scale = single.abs().max().double_value(&[]);
        assert!(error > 0.0 && error < 0.02 * scale, "{error} of {scale}");
    }
}

#[test]
fn games_are_the_same_with_and_without_a_server() {
    let rules = Arc::new(Rules::iron_throne());
    let config = NetConfig { input_planes: PLANES, policy_planes: ACTION_PLANES, ..small_config() };
    let net = InferenceNet::new(&net(&config));
    let own = (0..2).map(|_| NetEvaluator::new(net.share(), rules.clone())).collect();
    let served = serve(net.share(), 2, 6).into_iter();
    let served = served.map(|client| NetEvaluator::served(client, rules.clone())).collect();
    let games = play(&rules, own);
    assert!(games.len() > 3);
    assert_eq!(play(&rules, served), games);
}

fn play(rules: &Arc<Rules>, mut evaluators: Vec<NetEvaluator>) -> Vec<GameRecord> {
    let policy = GumbelSettings { max_considered: 8, c_visit: 50.0, c_scale: 1.0, noise: 1.0 };
    let search =
        SearchSettings { simulations: 6, max_nodes: 100, policy: PolicySettings::Gumbel(policy) };
    let mut selfplay = SelfPlay::new(rules.clone(), search, GameSettings::plain(), 0..6, 1);
    let round = Round {
        plies_per_slot: 60,
        network_step: 0,
        setups: &SetupPool::uniform(rules),
        resign_below: MoverValue::LOSS,
        progress: &Progress::default(),
        stop: &AtomicBool::new(false),
    };
    selfplay.play(&mut evaluators, round).unwrap()
}
