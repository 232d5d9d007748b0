//! Replay shards: what is written is read back, and nothing else is.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyvasse_env::{
    Action, DrawReason, DrawRules, Game, Outcome, Position, Rules, SetupSpace, Side,
};
use cyvasse_selfplay::replay::{
    GameProblem, PlyView, ReplayError, Shard, ShardHeader, ShardInfo, schema, write_shard,
};
use cyvasse_selfplay::{
    GameId, GameRecord, MoverOutcome, MoverValue, PlyKind, PlyRecord, SetupSource, WhiteValue,
};
use hdf5::types::VarLenUnicode;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

#[test]
fn games_are_read_back_as_they_were_written() {
    for (name, rules) in [("iron-throne", Rules::iron_throne()), ("tiny", variant("tiny"))] {
        let folder = tempfile::tempdir().unwrap();
        let games = random_games(&rules, 200, 1);
        let header = ShardHeader::new(&rules, 7, 3);
        let path = folder.path().join("games.h5");
        let info = write_shard(&path, &header, &games).unwrap();
        let shard = Shard::open(&path, &rules).unwrap();

        assert_eq!(shard.header(), &header);
        assert_eq!(ShardHeader::read(&path).unwrap(), header);
        assert_eq!((shard.path(), shard.game_count()), (path.as_path(), games.len()));
        let plies: usize = games.iter().map(|game| game.plies.len()).sum();
        let entries = games.iter().flat_map(|game| &game.plies).map(|ply| ply.policy.len()).sum();
        let bytes = fs::metadata(&path).unwrap().len();
        let expected =
            ShardInfo { path: path.clone(), games: 200, plies, policy_entries: entries, bytes };
        assert_eq!((info, shard.ply_count()), (expected, plies));
        for (index, game) in games.iter().enumerate() {
            assert_eq!(&shard.game(index).unwrap(), game, "{name}, game {index}");
            assert_eq!(shard.plies_of(index), game.plies.len());
            assert_eq!((shard.id(index), shard.outcome(index)), (game.id, game.outcome));
            assert_eq!(shard.sources(index), game.sources);
        }
    }
}

#[test]
fn every_way_to_end_a_game_is_stored() {
    let draws = DrawRules { no_progress_plies: 12, repetitions: 2, max_plies: 20 };
    let rules = Rules { draws, ..variant("tiny") };
    let (_folder, path, games, rules) = written(&rules, 300, 2);
    let shard = Shard::open(path, &rules).unwrap();
    let ends = [
        Outcome::Win(Side::White),
        Outcome::Win(Side::Black),
        Outcome::Draw(DrawReason::Repetition),
        Outcome::Draw(DrawReason::NoProgress),
        Outcome::Draw(DrawReason::Length),
    ];
    for end in ends {
        let game = games.iter().position(|game| game.outcome == end);
        let game = game.unwrap_or_else(|| panic!("no game ends with {end}"));
        assert_eq!(shard.game(game).unwrap().outcome, end);
    }
}

#[test]
fn resignations_are_stored_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (_folder, path, games, rules) = written(&variant("tiny"), 60, 2);
    let shard = Shard::open(path, &rules).unwrap();
    let (resigned, others): (Vec<_>, Vec<_>) =
        (0..games.len()).partition(|&game| games[game].resigned);
    assert!(resigned.len() > 2 && others.len() > 2);
    assert!(resigned.into_iter().all(|game| shard.game(game).unwrap() == games[game]));
    // Nobody resigns a game that is over.
    let over = GameRecord { resigned: true, ..games[others[0]].clone() };
    let header = ShardHeader::new(&rules, 0, 0);
    let error = write_shard(folder.path().join("shard.h5"), &header, &[over]).unwrap_err();
    assert!(matches!(error, ReplayError::Game { problem: GameProblem::Outcome { .. }, .. }));
}

#[test]
fn samples_are_the_plies_as_the_mover_sees_them() {
    let (_folder, path, games, rules) = written(&variant("tiny"), 20, 3);
    let shard = Shard::open(path, &rules).unwrap();
    let mut number = 0;
    for (index, record) in games.iter().enumerate() {
        let mut state = start(record, &rules);
        let mut shown = 0;
        let visit = |view: PlyView<'_>| {
            let ply = &record.plies[view.ply];
            let turn = state.position().turn();
            let sample = shard.sample(index, view.ply).unwrap();
            assert_eq!(shard.locate(number), (index, view.ply));
            assert_eq!((shown, view.action), (view.ply, ply.action));

            assert_eq!((view.position, view.occurrences), (state.position(), state.occurrences()));
            let outcome = WhiteValue::of(record.outcome).for_mover(turn);
            assert_eq!(view.outcome.value().get(), outcome.get());
            assert_eq!((view.root_value, view.proven), (ply.root_value, ply.proven));
            assert_eq!(view.plies_left as usize, record.plies.len() - view.ply);
            let policy = ply.policy.iter().map(|&(action, share)| (action.index(turn), share));
            let seen = view.policy_actions.iter().map(|&index| usize::from(index));
            assert!(policy.eq(seen.zip(view.policy_shares.iter().copied())));

            assert_eq!((&sample.position, sample.occurrences), (view.position, view.occurrences));
            assert_eq!((sample.outcome, sample.root_value), (view.outcome, view.root_value));
            assert_eq!(sample.plies_left, view.plies_left);
            let (actions, shares): (Vec<u16>, Vec<f32>) = sample.policy.into_iter().unzip();
            assert_eq!((&actions[..], &shares[..]), (view.policy_actions, view.policy_shares));

            state.play_unchecked(ply.action);
            shown += 1;
            number += 1;
        };
        shard.for_each_ply(index, visit).unwrap();
        assert_eq!(shown, record.plies.len());
    }
    assert_eq!(number, shard.ply_count());
    let won = games.iter().position(|game| game.outcome == Outcome::Win(Side::Black)).unwrap();
    assert_eq!(shard.sample(won, 0).unwrap().outcome, MoverOutcome::Loss);
}

#[test]
fn the_same_games_give_the_same_bytes() {
    let (_one, first, ..) = written(&variant("tiny"), 30, 4);
    let (_two, second, ..) = written(&variant("tiny"), 30, 4);
    assert_eq!(fs::read(first).unwrap(), fs::read(second).unwrap());
}

#[test]
fn a_shard_is_never_overwritten() {
    let (folder, path, games, rules) = written(&variant("tiny"), 3, 5);
    let before = fs::read(&path).unwrap();
    let error = write_shard(&path, &ShardHeader::new(&rules, 0, 0), &games[..1]).unwrap_err();
    assert!(matches!(error, ReplayError::Exists { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(names(folder.path()), ["shard.h5"]);
}

#[test]
fn of_writers_of_one_path_a_single_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let rules = variant("tiny");
    let games = random_games(&rules, 20, 6);
    let path = folder.path().join("shard.h5");
    let write = |number| write_shard(&path, &ShardHeader::new(&rules, 0, number), &games);
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|number| scope.spawn(move || write(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let refused = |result: &Result<_, _>| matches!(result, Err(ReplayError::Exists { .. }));
    assert_eq!(results.iter().filter(|result| refused(result)).count(), 3, "{results:?}");
    let winner = results.iter().position(Result::is_ok).unwrap();
    assert_eq!(Shard::open(&path, &rules).unwrap().header().shard as usize, winner);
    assert_eq!(names(folder.path()), ["shard.h5"]);
}

#[test]
fn what_fails_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let rules = variant("tiny");
    let games = random_games(&rules, 2, 7);
    let header = ShardHeader::new(&rules, 0, 0);
    let refusal = |path: &Path, games: &[GameRecord]| {
        let error = write_shard(path, &header, games).unwrap_err();
        assert!(!error.to_string().contains('\n'), "{error}");
        error.to_string()
    };
    fs::write(folder.path().join("file"), "").unwrap();
    let nowhere = refusal(&folder.path().join("missing/shard.h5"), &games);
    assert!(nowhere.starts_with("cannot create `"), "{nowhere}");
    refusal(&folder.path().join("file/shard.h5"), &games);

    let path = folder.path().join("shard.h5");
    let misfit = refusal(&path, &[]);
    assert!(misfit.contains("`games/outcome, length`"), "{misfit}");
    type Spoil = fn(&mut GameRecord);
    let spoils: [(&str, Spoil); 11] = [
        ("must be from -1 to 1", |game| game.plies[1].root_value = MoverValue::new(f32::NAN)),
        ("must be from -1 to 1", |game| game.plies[1].root_value = MoverValue::new(1.5)),
        ("policy/share[", |game| game.plies[0].policy[0].1 = f32::NAN),
        ("policy/share[", |game| game.plies[0].policy[0].1 = 0.0),
        ("sum of ply", |game| game.plies[0].policy[0].1 *= 0.5),
        ("twice", |game| {
            let (action, share) = game.plies[0].policy[0];
            game.plies[0].policy = vec![(action, share / 2.0); 2];
            game.plies[0].policy[1].1 = 1.0 - share / 2.0;
        }),
        ("ply 0: the policy has a share", |game| game.plies[0].policy = vec![(Action::Pass, 1.0)]),
        ("ply 1: the played action has the index 7936", |game| {
            game.plies[1].action = Action::Pass;
        }),
        ("ply 0: the setup of black is not legal", |game| {
            game.setups[1] = cyvasse_env::Setup::new([cyvasse_env::Tile::Grass; 32], [None; 32]);
        }),
        ("but the plies lead to no end", |game| drop(game.plies.pop())),
        ("the outcome is `draw by ", |game| {
            game.outcome = match game.outcome {
                Outcome::Draw(DrawReason::Length) => Outcome::Draw(DrawReason::NoProgress),
                _ => Outcome::Draw(DrawReason::Length),
            };
        }),
    ];
    for (expected, spoil) in spoils {
        let mut games = games.clone();
        spoil(&mut games[1]);
        let message = refusal(&path, &games);
        assert!(message.contains(expected), "{message}: {expected}");
    }
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn a_game_ends_where_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let rules = variant("tiny");
    let game = random_games(&rules, 100, 8)
        .into_iter()
        .find(|game| matches!(game.outcome, Outcome::Draw(_)))
        .unwrap();
    let mut longer = game.clone();
    let mut state = start(&game, &rules);
    game.plies.iter().for_each(|ply| state.play_unchecked(ply.action));
    let mut actions = Vec::new();
    state.legal_actions(&mut actions);
    longer.plies.push(PlyRecord { action: actions[0], policy: vec![], ..game.plies[0].clone() });
    let path = folder.path().join("shard.h5");
    let error = write_shard(path, &ShardHeader::new(&rules, 0, 0), &[longer]).unwrap_err();
    let ReplayError::Game { game: 0, ply, problem: GameProblem::Over { outcome }, .. } = error
    else {
        panic!("{error}");
    };
    assert_eq!((ply, outcome), (game.plies.len(), game.outcome));
}

#[test]
fn other_rules_are_refused_and_another_name_is_not() {
    let (_folder, path, _, rules) = written(&variant("tiny"), 2, 9);
    let error = Shard::open(&path, &Rules::iron_throne()).unwrap_err();
    assert!(matches!(error, ReplayError::OtherRules { .. }));
    assert!(error.to_string().contains("by the rules `tiny` (fingerprint "), "{error}");
    let renamed = Rules { name: "another".to_owned(), ..rules };
    assert!(Shard::open(&path, &renamed).is_ok());
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rules = variant("tiny");
    let missing = Shard::open(folder.path().join("missing.h5"), &rules).unwrap_err();
    assert!(matches!(missing, ReplayError::Io { .. }), "{missing}");
    assert!(Shard::open(folder.path(), &rules).is_err());
    for contents in [&b""[..], b"\x89HDF\r\n\x1a\n", b"cyvasse replay", &[0; 4096]] {
        let path = folder.path().join("other");
        fs::write(&path, contents).unwrap();
        let error = Shard::open(&path, &rules).unwrap_err();
        assert!(matches!(error, ReplayError::NotAShard { .. }), "{error}");
    }
}

#[test]
fn any_damage_is_found() {
    let (folder, path, _, rules) = written(&variant("tiny"), 3, 10);
    let whole = fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.h5");
    let check = |contents: &[u8], what: &str| {
        fs::write(&damaged, contents).unwrap();
        let error = Shard::open(&damaged, &rules).expect_err(what);
        assert!(error.to_string().contains("damaged.h5"), "{what}: {error}");
        assert!(!error.to_string().contains('\n'), "{what}: {error}");
    };
    let step = (whole.len() / 300).max(1);
    for length in (0..whole.len()).step_by(step).chain(whole.len() - 20..whole.len()) {
        check(&whole[..length], &format!("cut to {length}"));
    }
    check(&[&whole[..], &[0]].concat(), "longer");
    for place in (0..600).chain((600..whole.len()).step_by(step)) {
        let mut contents = whole.clone();
        contents[place] ^= 1 << (place % 8);
        check(&contents, &format!("flipped at {place}"));
    }
}

/// A file that is sealed and yet wrong was not damaged, but made wrong.
#[test]
fn sealed_files_that_break_the_schema_are_refused() {
    let scalar = |file: &hdf5::File, name: &str, value: u32| {
        let _ = file.delete_attr(name);
        file.new_attr::<u32>().create(name).unwrap().write_scalar(&value).unwrap();
    };
    let version = rewritten(|file| scalar(file, "schema_version", 1));
    assert!(
        version.contains("`schema_version` in `") && version.contains("is 1; it must be 2 or 3")
    );
    assert!(rewritten(|file| scalar(file, "action_index_version", 9)).contains("must be 1"));
    assert!(rewritten(|file| scalar(file, "run_seed", 9)).contains("must be of type uint64"));
    assert!(rewritten(|file| drop(file.delete_attr("shard"))).contains("attribute `shard`"));
    let rules = rewritten(|file| {
        file.delete_attr("rules_toml").unwrap();
        let text: VarLenUnicode = "name = 1".parse().unwrap();
        let attribute = file.new_attr::<VarLenUnicode>().create("rules_toml").unwrap();
        attribute.write_scalar(&text).unwrap();
    });
    assert!(rules.contains("must be a rules file"), "{rules}");

    let offsets = rewritten(|file| {
        let dataset = file.dataset("games/first_ply").unwrap();
        let mut offsets: Vec<u32> = dataset.read_raw().unwrap();
        offsets[1] = u32::MAX;
        dataset.write_raw(&offsets).unwrap();
    });
    assert!(offsets.contains("`games/first_ply[2]`"), "{offsets}");
    for bad in [-0.5, f32::NAN, f32::INFINITY] {
        let surprise = rewritten(|file| {
            let dataset = file.dataset("plies/surprise").unwrap();
            let mut surprises: Vec<f32> = dataset.read_raw().unwrap();
            surprises[2] = bad;
            dataset.write_raw(&surprises).unwrap();
        });
        assert!(surprise.contains("`plies/surprise[2]`"), "{surprise}");
    }
    let missing = rewritten(|file| file.unlink("plies/proven").unwrap());
    assert!(missing.contains("open `plies/proven`"), "{missing}");
    let short = rewritten(|file| replace(file, "plies/proven", &[0u8, 1]));
    assert!(short.contains("is of shape [2]; it must be of shape ["), "{short}");
    let wide = rewritten(|file| replace(file, "policy/action", &[0u32, 1]));
    assert!(wide.contains("`policy/action` in `"), "{wide}");
    let outcome = rewritten(|file| replace(file, "games/outcome", &[0u8, 5, 0]));
    assert!(outcome.contains("`games/outcome[1]` in `") && outcome.contains("is 5"), "{outcome}");
    let huge = rewritten(|file| {
        file.unlink("plies/action").unwrap();
        let builder = file.new_dataset::<u16>().chunk(1024).shape(1usize << 60);
        builder.create("plies/action").unwrap();
    });
    assert!(huge.contains("up to 268435456"), "{huge}");
}

#[test]
fn stored_games_that_break_the_rules_are_named() {
    let passes = |file: &hdf5::File| {
        let dataset = file.dataset("plies/action").unwrap();
        let mut actions: Vec<u16> = dataset.read_raw().unwrap();
        let first: Vec<u32> = file.dataset("games/first_ply").unwrap().read_raw().unwrap();
        actions[first[1] as usize + 1] = 7936;
        dataset.write_raw(&actions).unwrap();
    };
    let (_folder, path, rules) = rewrite(passes);
    let shard = Shard::open(path, &rules).unwrap();
    let message = shard.game(1).unwrap_err().to_string();
    assert!(message.starts_with("game 1 in `") && message.contains(", ply 1: "), "{message}");
    assert_eq!(shard.sample(1, 2).unwrap_err().to_string(), message);
    assert!(shard.sample(1, 1).is_ok());
    let mut seen = 0;
    assert_eq!(shard.for_each_ply(1, |_| seen += 1).unwrap_err().to_string(), message);
    assert_eq!(seen, 1);
    assert!(shard.game(0).is_ok() && shard.game(2).is_ok());

    let (_folder, path, rules) = rewrite(|file| {
        let dataset = file.dataset("games/setups").unwrap();
        let mut setups: Vec<u8> = dataset.read_raw().unwrap();
        setups[32] = 255;
        dataset.write_raw(&setups).unwrap_or_else(|error| panic!("{error}"));
    });
    let shard = Shard::open(path, &rules).unwrap();
    for error in [shard.game(0).unwrap_err(), shard.sample(0, 0).unwrap_err()] {
        assert!(error.to_string().contains("ply 0: the setup of black is not legal: byte 0"));
    }
}

#[test]
fn shards_from_before_surprises_were_stored_are_read() {
    let (_folder, path, rules) = rewrite(|file| {
        file.delete_attr("schema_version").unwrap();
        file.new_attr::<u32>().create("schema_version").unwrap().write_scalar(&2u32).unwrap();
        file.unlink("plies/surprise").unwrap();
    });
    let old = Shard::open(path, &rules).unwrap();
    let (_folder, _, games, _) = written(&variant("tiny"), 3, 11);
    for (number, game) in games.iter().enumerate() {
        assert!(game.plies.iter().any(|ply| ply.surprise > 0.0));
        let mut expected = game.clone();
        expected.plies.iter_mut().for_each(|ply| ply.surprise = 0.0);
        assert_eq!(old.game(number).unwrap(), expected);
        assert!(old.surprises(number).iter().all(|&surprise| surprise == 0.0));
    }
}

/// What `Shard::open` says of a shard of three games after a change to its
/// contents.
fn rewritten(change: impl FnOnce(&hdf5::File)) -> String {
    let (_folder, path, rules) = rewrite(change);
    let message = Shard::open(path, &rules).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

/// A shard of three games, changed and sealed anew by the words of the schema.
fn rewrite(change: impl FnOnce(&hdf5::File)) -> (TempDir, PathBuf, Rules) {
    let (folder, path, _, rules) = written(&variant("tiny"), 3, 11);
    let file = hdf5::File::open_rw(&path).unwrap();
    change(&file);
    file.close().unwrap();
    let mut contents = fs::read(&path).unwrap();
    let (seal, rest) = contents.split_at_mut(schema::SEAL_BYTES);
    let (length, checksum) = (rest.len(), crc32fast::hash(rest));
    let text = format!("cyvasse replay shard\nbytes {length}\ncrc32 {checksum:08x}\n");
    seal.fill(0);
    seal[..text.len()].copy_from_slice(text.as_bytes());
    fs::write(&path, contents).unwrap();
    (folder, path, rules)
}

fn replace<T: hdf5::H5Type>(file: &hdf5::File, name: &str, data: &[T]) {
    file.unlink(name).unwrap();
    file.new_dataset_builder().with_data(data).create(name).unwrap();
}

/// Random games in a new shard.
fn written(rules: &Rules, games: u32, seed: u64) -> (TempDir, PathBuf, Vec<GameRecord>, Rules) {
    let folder = tempfile::tempdir().unwrap();
    let games = random_games(rules, games, seed);
    let path = folder.path().join("shard.h5");
    write_shard(&path, &ShardHeader::new(rules, 1, 2), &games).unwrap();
    (folder, path, games, rules.clone())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn variant(name: &str) -> Rules {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../env/tests/data/variants");
    let text = fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
    Rules::from_toml(&text).unwrap()
}

fn start(record: &GameRecord, rules: &Rules) -> Game {
    let position = Position::start(&record.setups[0], &record.setups[1]);
    Game::new(Arc::new(rules.clone()), position)
}

fn random_games(rules: &Rules, count: u32, seed: u64) -> Vec<GameRecord> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let space = SetupSpace::new(rules);
    let id = |sequence| GameId { slot: 5, sequence };
    // Games of a ply or two would test little.
    let games = (0..).map(|sequence| random_game(rules, &space, id(sequence), &mut rng));
    let games = games.map(|game| if game.id.sequence % 10 == 9 { shortened(game) } else { game });
    games.filter(|game| game.plies.len() > 3).take(count as usize).collect()
}

fn random_game(rules: &Rules, space: &SetupSpace, id: GameId, rng: &mut ChaCha8Rng) -> GameRecord {
    let setups = [space.sample(rng), space.sample(rng)];
    let position = Position::start(&setups[0], &setups[1]);
    let mut state = Game::new(Arc::new(rules.clone()), position);
    let mut plies = Vec::new();
    let mut actions = Vec::new();
    let outcome = loop {
        if let Some(outcome) = state.outcome() {
            break outcome;
        }
        state.legal_actions(&mut actions);
        let action = actions[rng.random_range(0..actions.len())];
        plies.push(PlyRecord {
            kind: PlyKind::ALL[rng.random_range(0..PlyKind::ALL.len())],
            action,
            // The first ply always has a policy, for tests that spoil it.
            policy: random_policy(&actions, plies.is_empty(), rng),
            surprise: rng.random_range(0.0..3.0),
            root_value: MoverValue::new(rng.random_range(-1.0..=1.0)),
            proven: rng.random(),
            simulations: rng.random_range(0..100),
            network_step: rng.random(),
        });
        state.play_unchecked(action);
    };
    let sources = [0; 2].map(|_| SetupSource::ALL[rng.random_range(0..SetupSource::ALL.len())]);
    GameRecord { id, setups, sources, plies, outcome, resigned: false }
}

/// The game, resigned before its last ply.
fn shortened(mut game: GameRecord) -> GameRecord {
    game.plies.pop();
    let loser = if game.plies.len().is_multiple_of(2) { Side::White } else { Side::Black };
    GameRecord { outcome: Outcome::Win(loser.other()), resigned: true, ..game }
}

/// Shares of some of the actions, in any order; sometimes of none.
fn random_policy(
    actions: &[Action],
    never_empty: bool,
    rng: &mut ChaCha8Rng,
) -> Vec<(Action, f32)> {
    let mut policy: Vec<(Action, f32)> = Vec::new();
    for &action in actions {
        if rng.random_range(0..4) == 0 {
            let place = rng.random_range(0..=policy.len());
            policy.insert(place, (action, rng.random_range(0.1..1.0)));
        }
    }
    if policy.is_empty() && never_empty {
        policy.push((actions[0], 1.0));
    }
    let sum: f32 = policy.iter().map(|(_, weight)| weight).sum();
    policy.iter_mut().for_each(|(_, weight)| *weight /= sum);
    policy
}
