//! Helpers that several tests share.
#![allow(dead_code)] // not every test uses all of them

pub(crate) mod talk;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cyvasse_env::{Game, Position, Rules, SetupSpace};
use cyvasse_models::{
    Net, NetConfig, SETUP_ENCODING_VERSION, SetupNet, SetupNetConfig, checkpoint,
};
use cyvasse_selfplay::{GameId, GameRecord, MoverValue, PlyKind, PlyRecord, SetupSource};
use cyvasse_train::checkpoints::{PLAY_NET, SETUP_NET, made_for};
use cyvasse_train::evaluation::{Contest, Entrant, MatchError, PlayedPair, Tally};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tch::Device;
use tempfile::TempDir;

/// A setup network that has learned nothing.
pub(crate) fn untrained_setup_net() -> SetupNet {
    let config =
        SetupNetConfig { encoding: SETUP_ENCODING_VERSION, width: 8, blocks: 1, mirror: true };
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

/// Random games with a policy target on a few legal actions of each ply.
pub(crate) fn random_games(rules: &Arc<Rules>, count: u32) -> Vec<GameRecord> {
    let space = SetupSpace::new(rules);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    (0..count)
        .map(|slot| {
            let setups = [space.sample(&mut rng), space.sample(&mut rng)];
            let mut game = Game::new(rules.clone(), Position::start(&setups[0], &setups[1]));
            let mut plies = Vec::new();
            while game.outcome().is_none() {
                let mut actions = Vec::new();
                game.legal_actions(&mut actions);
                let action = actions[rng.random_range(0..actions.len())];
                let share = 1.0 / actions.len().min(4) as f32;
                plies.push(PlyRecord {
                    kind: PlyKind::Full,
                    action,
                    policy: actions.iter().take(4).map(|&action| (action, share)).collect(),
                    surprise: 0.0,
                    root_value: MoverValue::new(0.5),
                    proven: false,
                    simulations: 1,
                    network_step: 0,
                });
                game.play(action).unwrap();
            }
            let outcome = game.outcome().unwrap();
            let id = GameId { slot, sequence: 0 };
            GameRecord {
                id,
                setups,
                sources: [SetupSource::Uniform; 2],
                plies,
                outcome,
                resigned: false,
            }
        })
        .collect()
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
