//! Where the players of a match take their homelands from.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use cyvasse_env::{Rules, Setup, SetupBuilder, Side, Square, Tile};
use cyvasse_models::checkpoint;
use cyvasse_train::checkpoints::{SETUP_NET, made_for};
use cyvasse_train::evaluation::{Entrant, PlayedPair};
use tch::Device;
use tempfile::TempDir;

use common::{play, untrained, untrained_setup_net};

const MARKED: [Square; 2] = [SetupBuilder::SCAN[0], SetupBuilder::SCAN[0].mirror()];

/// A checkpoint whose setups have the fortress on the first square of the scan or its
/// mirror image for one seat and never there for the other.
fn with_mark(seat: Side) -> TempDir {
    let rules = Rules::iron_throne();
    let folder = untrained(&rules);
    let net = untrained_setup_net();
    // [64, 1, 11]: added at each step to each token for black, taken away for white.
    let bias = net.variables()["out.seat_bias"].shallow_clone();
    let sign = if seat == Side::Black { 1.0 } else { -1.0 };
    let places = (0..).zip(SetupBuilder::SCAN).filter(|(_, square)| MARKED.contains(square));
    tch::no_grad(|| {
        for (step, _) in places {
            let mut mark = bias.get(step).get(0).get(Tile::Fortress as i64);
            let _ = mark.fill_(sign * 40.0);
        }
    });
    let file = folder.path().join(SETUP_NET);
    fs::remove_file(&file).unwrap();
    checkpoint::save(&file, &net, &made_for(&rules), 0).unwrap();
    folder
}

fn is_marked(setup: &Setup) -> bool {
    MARKED.iter().any(|&square| setup.tile(square) == Tile::Fortress)
}

fn agent(checkpoint: &Path, options: &str) -> String {
    format!("agent:{}?search=policy{options}", checkpoint.display())
}

/// What was played, the time aside.
fn played(pairs: &[PlayedPair]) -> Vec<String> {
    let games = pairs.iter().flat_map(|pair| &pair.games);
    games.map(|game| format!("{:?} {:?}", game.setups, game.actions)).collect()
}

#[test]
fn an_agent_builds_for_its_seat_as_its_setup_network_says() {
    let (white, black) = (with_mark(Side::White), with_mark(Side::Black));
    for (folder, marked) in [(&white, Side::White), (&black, Side::Black)] {
        let own = agent(folder.path(), ",setups=own");
        let (_, pairs) = play(&own, "random", 6, |contest| {
            assert!(!contest.shares_setups());
        });
        for pair in &pairs {
            for game in &pair.games {
                let setup = &game.setups[game.first.index()];
                setup.check(&Rules::iron_throne()).unwrap();
                assert_eq!(is_marked(setup), game.first == marked);
            }
            // The opponent's are those that it would have against anybody.
            let [one, other] = &pair.games;
            assert_eq!(one.setups[1], other.setups[0]);
        }
        let distinct: std::collections::HashSet<Setup> = pairs
            .iter()
            .flat_map(|pair| &pair.games)
            .map(|game| game.setups[game.first.index()])
            .collect();
        assert_eq!(distinct.len(), 12, "each pair and seat has a draw of its own");

        // That is what an agent does unless told otherwise.
        let usual = agent(folder.path(), "");
        assert_eq!(played(&play(&usual, "random", 6, |_| ()).1), played(&pairs));
        let alone = play(&own, "random", 6, |contest| contest.workers = 1).1;
        assert_eq!(played(&alone), played(&pairs));
        let seed = play(&own, "random", 6, |contest| contest.seed = 8).1;
        assert_ne!(played(&seed), played(&pairs));
    }
}

#[test]
fn players_with_one_setup_network_swap_seats_on_the_same_start() {
    let (one, other) = (with_mark(Side::White), with_mark(Side::Black));
    let own = agent(one.path(), "");
    let (_, pairs) =
        play(&own, &format!("agent:{}?simulations=2", one.path().display()), 3, |contest| {
            assert!(contest.shares_setups());
        });
    for pair in &pairs {
        let [game, swapped] = &pair.games;
        assert_eq!(game.setups, swapped.setups);
        assert!(is_marked(&game.setups[0]) && !is_marked(&game.setups[1]));
    }
    // Two networks are two places, however alike the players' names.
    let (_, pairs) = play(&own, &agent(other.path(), ""), 2, |contest| {
        assert!(!contest.shares_setups());
    });
    for game in pairs.iter().flat_map(|pair| &pair.games) {
        let both = game.setups.iter().all(is_marked);
        let none = !game.setups.iter().any(is_marked);
        assert!(if game.first == Side::White { both } else { none });
    }
    // Play alone is measured on uniform setups, and these are the same for any player.
    let uniform = |path: &Path| agent(path, ",setups=uniform");
    let (_, agents) = play(&uniform(one.path()), &uniform(other.path()), 3, |_| ());
    let (_, others) = play("greedy", "random", 3, |_| ());
    let starts = |pairs: &[PlayedPair]| -> Vec<[[Setup; 2]; 2]> {
        pairs.iter().map(|pair| [pair.games[0].setups, pair.games[1].setups]).collect()
    };
    assert_eq!(starts(&agents), starts(&others));
}

#[test]
fn a_checkpoint_without_a_setup_network_builds_uniformly() {
    let rules = Arc::new(Rules::iron_throne());
    let folder = untrained(&rules);
    fs::remove_file(folder.path().join(SETUP_NET)).unwrap();
    let load = |options| {
        let spec = agent(folder.path(), options).parse().unwrap();
        Entrant::load(&spec, &rules, Device::Cpu)
    };
    let usual = load("").unwrap();
    assert_eq!(usual.spec.to_string(), agent(folder.path(), ",setups=uniform"));
    let output = Command::new(env!("CARGO_BIN_EXE_cyvasse"))
        .args(["evaluate", "match", &agent(folder.path(), ",setups=own"), "random", "--games", "2"])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    let expected = "has no `setup.safetensors`; expected setups=uniform";
    assert!(error.contains(expected) && error.trim().lines().count() == 1, "{error}");
}

#[test]
fn files_of_setups_may_have_comments() {
    let file: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../configs/setups/moat.txt"].iter().collect();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with('#'));
    let moat = text.lines().last().unwrap();
    let (_, pairs) = play(&format!("greedy:setups={}", file.display()), "random", 2, |_| ());
    for game in pairs.iter().flat_map(|pair| &pair.games) {
        assert_eq!(game.setups[game.first.index()].to_string(), moat);
    }
}
