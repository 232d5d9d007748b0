//! Helpers that several tests share.
#![allow(dead_code)] // not every test uses all of them

pub(crate) mod talk;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cyvasse_env::Rules;
use cyvasse_models::{
    Net, NetConfig, SETUP_ENCODING_VERSION, SetupNet, SetupNetConfig, checkpoint,
};
use cyvasse_train::checkpoints::{PLAY_NET, SETUP_NET, made_for};
use cyvasse_train::evaluation::{Contest, Entrant, MatchError, PlayedPair, Tally};
use tch::Device;
use tempfile::TempDir;

pub(crate) mod toy;

/// A setup network that has learned nothing.
pub(crate) fn untrained_setup_net() -> SetupNet {
    let config = SetupNetConfig { encoding: SETUP_ENCODING_VERSION, width: 8, blocks: 1 };
    SetupNet::new(&config, 1, Device::Cpu).unwrap()
}

/// A checkpoint directory of untrained networks for these rules.
pub(crate) fn untrained(rules: &Rules) -> TempDir {
    let folder = TempDir::new().unwrap();
    let play = NetConfig {
        input_planes: cyvasse_env::PLANES,
        policy_planes: cyvasse_env::ACTION_PLANES,
        blocks: 1,
        channels: 8,
        policy_channels: 8,
        value_channels: 8,
        value_hidden: 8,
        batch_norm_epsilon: 1e-5,
        batch_norm_momentum: 0.1,
        output_init_std: 0.01,
    };
    let play = Net::new(&play, 1, Device::Cpu).unwrap();
    let setup = untrained_setup_net();
    checkpoint::save(&folder.path().join(PLAY_NET), &play, &made_for(rules), 0).unwrap();
    checkpoint::save(&folder.path().join(SETUP_NET), &setup, &made_for(rules), 0).unwrap();
    folder
}

/// Plays a match of so many pairs.
pub(crate) fn play(
    first: &str,
    second: &str,
    pairs: u64,
    change: impl Fn(&mut Contest<'_>),
) -> (Tally, Vec<PlayedPair>) {
    let rules = Arc::new(Rules::iron_throne());
    let load =
        |text: &str| Entrant::load(&text.parse().unwrap(), &rules, tch::Device::Cpu).unwrap();
    let (first, second) = (load(first), load(second));
    let mut contest = Contest {
        entrants: [&first, &second],
        rules: rules.clone(),
        pairs: 0..pairs,
        seed: 7,
        opening_plies: 0,
        workers: 2,
        sprt: None,
    };
    change(&mut contest);
    let mut played = Vec::new();
    let result = contest.play(&AtomicBool::new(false), |pair, _| {
        played.push(pair.clone());
        Ok::<(), MatchError>(())
    });
    (result.unwrap().0, played)
}
