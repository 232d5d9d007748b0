//! `cyvasse replay` through the binary, on shards of random games: what it counts,
//! shows, refuses and writes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use cyvasse_env::{Game, Outcome, Position, Rules, SetupSpace, Side};
use cyvasse_selfplay::replay::{ShardHeader, schema, write_shard};
use cyvasse_selfplay::{GameId, GameRecord, MoverValue, PlyKind, PlyRecord, SetupSource};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use tempfile::TempDir;

/// A run directory with two shards, and their games.
struct Fixture {
    folder: TempDir,
    rules: Rules,
    games: [Vec<GameRecord>; 2],
}

impl Fixture {
    fn new() -> Fixture {
        let folder = TempDir::new().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = fs::read_to_string(root.join("env/tests/data/variants/tiny.toml")).unwrap();
        let rules = Rules::from_toml(&text).unwrap();
        let config = fs::read_to_string(root.join("configs/quick.toml")).unwrap();
        let config = config.replacen("false_positives = 0.0", "false_positives = 0.9", 1);
        let config = config.replacen("played_on = 0.1", "played_on = 1.0", 1);
        fs::write(folder.path().join("rules.toml"), rules.to_toml()).unwrap();
        fs::write(folder.path().join("config.toml"), config).unwrap();
        fs::create_dir(folder.path().join("shards")).unwrap();
        let games = [1, 2].map(|seed| random_games(&rules, 40, seed));
        let fixture = Fixture { folder, rules, games };
        for (round, games) in (1..).zip(&fixture.games) {
            let header = ShardHeader::new(&fixture.rules, 1, round);
            write_shard(fixture.shard(round), &header, games).unwrap();
        }
        fixture
    }

    fn run(&self) -> &Path {
        self.folder.path()
    }

    fn shard(&self, round: u32) -> PathBuf {
        self.run().join(format!("shards/round-{round:04}.h5"))
    }

    fn all(&self) -> impl Iterator<Item = &GameRecord> {
        self.games.iter().flatten()
    }
}

fn random_games(rules: &Rules, count: u32, seed: u64) -> Vec<GameRecord> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let space = SetupSpace::new(rules);
    let ids = (0..count).map(|sequence| GameId { slot: seed as u32, sequence });
    ids.map(|id| random_game(rules, &space, id, &mut rng)).collect()
}

/// A random game; every fourth that lasts is resigned.
fn random_game(rules: &Rules, space: &SetupSpace, id: GameId, rng: &mut ChaCha8Rng) -> GameRecord {
    let setups = [space.sample(rng), space.sample(rng)];
    let start = Position::start(&setups[0], &setups[1]);
    let mut state = Game::new(Arc::new(rules.clone()), start);
    let mut plies = Vec::new();
    let mut actions = Vec::new();
    let mut outcome = None;
    while outcome.is_none() {
        state.legal_actions(&mut actions);
        let kind =
            if plies.len() < 2 { PlyKind::Opening } else { PlyKind::ALL[rng.random_range(0..2)] };
        let policy = match kind {
            PlyKind::Full => random_policy(&actions, rng),
            _ => Vec::new(),
        };
        let action = actions[rng.random_range(0..actions.len())];
        plies.push(PlyRecord {
            kind,
            action,
            policy,
            surprise: 0.0,
            root_value: MoverValue::new(rng.random_range(-1.0..=1.0)),
            proven: rng.random_range(0..4) == 0,
            simulations: rng.random_range(1..100),
            network_step: rng.random_range(0..1000),
        });
        state.play_unchecked(action);
        outcome = state.outcome();
    }
    let sources = [0; 2].map(|_| SetupSource::ALL[rng.random_range(0..4)]);
    let mut game =
        GameRecord { id, setups, sources, plies, outcome: outcome.unwrap(), resigned: false };
    if id.sequence % 4 == 3 && game.plies.len() > 4 {
        game.plies.pop();
        let loser = Side::ALL[game.plies.len() % 2];
        (game.outcome, game.resigned) = (Outcome::Win(loser.other()), true);
    }
    game
}

fn random_policy(
    actions: &[cyvasse_env::Action],
    rng: &mut ChaCha8Rng,
) -> Vec<(cyvasse_env::Action, f32)> {
    let weights: Vec<f32> = actions.iter().map(|_| rng.random_range(0.1..1.0)).collect();
    let sum: f32 = weights.iter().sum();
    actions.iter().copied().zip(weights.into_iter().map(|weight| weight / sum)).collect()
}

fn replay(arguments: &[&str], paths: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyvasse"));
    command.arg("replay").arg(arguments[0]).args(paths).args(&arguments[1..]);
    command.output().unwrap()
}

fn told(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The single line of a failure.
fn refused(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.trim().lines().count() == 1 && error.starts_with("error: "), "{error}");
    error
}

fn close(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("no number but {found}"));
    assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
}

#[test]
fn statistics_are_those_of_the_games() {
    let fixture = Fixture::new();
    let output = replay(&["stats", "--json"], &[fixture.run()]);
    let stats: Value = serde_json::from_str(&told(&output)).unwrap();
    assert_eq!((&stats["shards"], &stats["games"]), (&2.into(), &80.into()));
    let plies = || fixture.all().flat_map(|game| &game.plies);
    assert_eq!(stats["plies"], plies().count());
    let mut lengths: Vec<usize> = fixture.all().map(|game| game.plies.len()).collect();
    lengths.sort_unstable();
    let told_lengths =
        ["least", "median", "ninth_decile", "most"].map(|name| &stats["lengths"][name]);
    assert_eq!(told_lengths, [lengths[0], lengths[40], lengths[72], lengths[79]]);
    assert_eq!(stats["resigned"], fixture.all().filter(|game| game.resigned).count());
    let mut ends = BTreeMap::<String, usize>::new();
    fixture.all().for_each(|game| *ends.entry(game.outcome.to_string()).or_default() += 1);
    let names = ["white", "black", "repetition", "no_progress", "length"];
    let words =
        ["white wins", "black wins", "draw by repetition", "draw by no progress", "draw by length"];
    for (name, words) in names.into_iter().zip(words) {
        assert_eq!(stats["ends"][name], ends.get(words).copied().unwrap_or(0), "{name}");
    }
    for (side, seat) in Side::ALL.into_iter().zip(["white", "black"]) {
        for source in SetupSource::ALL {
            let games = fixture.all().filter(|game| game.sources[side.index()] == source);
            let points: Vec<f64> = games
                .map(|game| match game.outcome.winner() {
                    None => 0.5,
                    Some(winner) => f64::from(u8::from(winner == side)),
                })
                .collect();
            let found = &stats["sources"][seat][source.name()];
            assert_eq!(found["games"], points.len());
            close(&found["score"], points.iter().sum::<f64>() / points.len() as f64);
        }
    }
    let targets: Vec<&PlyRecord> = plies().filter(|ply| !ply.policy.is_empty()).collect();
    let entropy = |ply: &&PlyRecord| -> f64 {
        ply.policy.iter().map(|&(_, share)| -f64::from(share) * f64::from(share).ln()).sum()
    };
    assert_eq!(stats["targets"], targets.len());
    close(
        &stats["policy_entropy"],
        targets.iter().map(entropy).sum::<f64>() / targets.len() as f64,
    );
    let searched: Vec<&PlyRecord> = plies().filter(|ply| ply.kind != PlyKind::Opening).collect();
    let proven = searched.iter().filter(|ply| ply.proven).count();
    close(&stats["proven"], proven as f64 / searched.len() as f64);
    check_resignation(&stats["resignation"], fixture.all());

    // Which games were played on stands in the config of the run.
    let output = replay(&["stats", "--json"], &[&fixture.shard(1), &fixture.shard(2)]);
    let of_files: Value = serde_json::from_str(&told(&output)).unwrap();
    assert_eq!((&of_files["resignation"], &of_files["games"]), (&Value::Null, &80.into()));
    let words = told(&replay(&["stats"], &[fixture.run()]));
    assert!(
        words.contains("games: 80, with ") && words.contains("wrong resignations: "),
        "{words}"
    );
}

/// All games were played on: everybody would have resigned who was below the
/// threshold at two searches in a row.
fn check_resignation<'a>(told: &Value, games: impl Iterator<Item = &'a GameRecord>) {
    let threshold = told["threshold"].as_f64().unwrap();
    let (mut players, mut resigned, mut wrong) = (0, 0, 0);
    for game in games {
        for side in Side::ALL {
            let own = game.plies.iter().skip(side.index()).step_by(2);
            let own = own.filter(|ply| ply.kind != PlyKind::Opening);
            let low: Vec<bool> =
                own.map(|ply| f64::from(ply.root_value.get()) < threshold).collect();
            players += 1;
            if low.windows(2).any(|pair| pair[0] && pair[1]) {
                resigned += 1;
                wrong += usize::from(game.outcome.winner() != Some(side.other()));
            }
        }
    }
    assert!(resigned > 0 && wrong > 0, "nothing is tested");
    let found = ["players", "would_resign", "wrong"].map(|name| &told[name]);
    assert_eq!(found, [players, resigned, wrong]);
    close(&told["false_positives"], wrong as f64 / resigned as f64);
}

#[test]
fn a_game_is_shown_and_stepped_through() {
    let fixture = Fixture::new();
    let number = fixture.games[1].iter().position(|game| game.plies.len() > 6).unwrap();
    let game = &fixture.games[1][number];
    let positions: Vec<String> = {
        let mut position = Position::start(&game.setups[0], &game.setups[1]);
        let start = position.to_string();
        let rest = game.plies.iter().map(|ply| {
            position.play_unchecked(ply.action);
            position.to_string()
        });
        [start].into_iter().chain(rest).collect()
    };
    let number = number.to_string();
    let show =
        |more: &[&str]| replay(&[&["show", "--game", &number], more].concat(), &[fixture.run()]);
    // The newest shard of a run is meant.
    let list = told(&show(&[]));
    assert!(list.contains("round-0002.h5"), "{list}");
    assert_eq!(list.lines().count(), 4 + game.plies.len());
    let ply = game.plies.iter().position(|ply| !ply.policy.is_empty()).unwrap();
    let board = told(&show(&["--ply", &ply.to_string()]));
    let target = &game.plies[ply];
    assert!(board.contains(&positions[ply]) && !board.contains('\u{1b}'), "{board}");
    let best = target.policy.iter().max_by(|one, other| one.1.total_cmp(&other.1)).unwrap();
    let shown = format!("policy target: {} {:.3}", best.0, best.1);
    assert!(board.contains(&shown), "{board} without {shown}");
    assert!(board.contains(&format!("played: {}", target.action)), "{board}");
    let last = game.plies.len();
    assert!(told(&show(&["--ply", &last.to_string()])).contains(&positions[last]));

    let mut child = Command::new(env!("CARGO_BIN_EXE_cyvasse"))
        .args(["replay", "show", "--step", "--game", &number])
        .arg(fixture.run())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"\n4\nb\n999\nq\n\n").unwrap();
    let steps = told(&child.wait_with_output().unwrap());
    let seen: Vec<&str> = steps.lines().filter(|line| line.starts_with("before ply ")).collect();
    assert_eq!(seen.len(), 4, "{steps}");
    for (line, ply) in seen.into_iter().zip([0, 1, 4, 3]) {
        assert!(line.starts_with(&format!("before ply {ply} of {last}: ")), "{line}");
        assert!(line.ends_with(&positions[ply]), "{line}");
    }
    assert!(steps.contains("there is no such ply"));

    let out_of_range = refused(&show(&["--ply", "1000"]));
    assert!(out_of_range.contains("--ply is 1000, expected 0 to "), "{out_of_range}");
    let out_of_range = refused(&replay(&["show", "--game", "40"], &[&fixture.shard(1)]));
    assert!(out_of_range.contains("--game is 40, expected 0 to 39"), "{out_of_range}");
    let missing = refused(&replay(&["show", "--round", "3"], &[fixture.run()]));
    assert!(missing.contains("round-0003.h5"), "{missing}");
}

#[test]
fn validation_finds_damage_other_rules_and_illegal_targets() {
    let fixture = Fixture::new();
    let good = told(&replay(&["validate"], &[fixture.run()]));
    assert!(good.ends_with("2 shards, 0 of them bad\n"), "{good}");

    let validated = |expected: &[&str]| {
        let output = replay(&["validate", "--json"], &[fixture.run()]);
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8(output.stdout).unwrap();
        let findings: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let problems: Vec<&str> = findings
            .iter()
            .flat_map(|finding| finding["problems"].as_array().unwrap())
            .map(|problem| problem.as_str().unwrap())
            .collect();
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.contains(expected), "{problem} without {expected}");
        }
        findings
    };

    // An entry of a policy target of game 1 becomes a pass, which is not legal.
    let path = fixture.shard(2);
    let whole = fs::read(&path).unwrap();
    rewrite(&path, |file| {
        let first_ply: Vec<u32> = file.dataset("games/first_ply").unwrap().read_raw().unwrap();
        let first: Vec<u32> = file.dataset("plies/first_policy").unwrap().read_raw().unwrap();
        let dataset = file.dataset("policy/action").unwrap();
        let mut actions: Vec<u16> = dataset.read_raw().unwrap();
        let game = first_ply[1] as usize..first_ply[2] as usize;
        let ply = game.clone().find(|&ply| first[ply] < first[ply + 1]);
        actions[first[ply.expect("a ply with a target")] as usize] = 7936;
        dataset.write_raw(&actions).unwrap();
    });
    let findings = validated(&["game 1 in `"]);
    assert!(findings[1]["problems"][0].as_str().unwrap().contains("the policy has a share"));
    let good_games = |finding: &Value| finding["good_games"].as_u64().unwrap();
    assert_eq!(findings.iter().map(good_games).collect::<Vec<_>>(), [40, 39]);
    let error = refused(&replay(&["export"], &[fixture.run()]));
    assert!(error.contains("game 1 in `"), "{error}");

    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    fs::write(&path, damaged).unwrap();
    validated(&["is damaged"]);
    assert!(refused(&replay(&["stats"], &[fixture.run()])).contains("is damaged"));

    // A shard of other rules, and one in the place of another round.
    fs::write(&path, whole).unwrap();
    let foreign = Rules::iron_throne();
    let games = random_games(&foreign, 3, 3);
    write_shard(fixture.shard(3), &ShardHeader::new(&foreign, 1, 3), &games).unwrap();
    fs::copy(fixture.shard(1), fixture.shard(4)).unwrap();
    validated(&["holds games by the rules `iron-throne`", "is the shard of round 1"]);
    // By itself it is good; beside others it is not.
    assert!(replay(&["validate"], &[&fixture.shard(3)]).status.success());
    let mixed = refused(&replay(&["stats"], &[&fixture.shard(1), &fixture.shard(3)]));
    assert!(mixed.contains("they must be by `tiny`"), "{mixed}");
}

/// Changes a shard and seals it anew, by the words of the schema.
fn rewrite(path: &Path, change: impl FnOnce(&hdf5::File)) {
    let file = hdf5::File::open_rw(path).unwrap();
    change(&file);
    file.close().unwrap();
    let mut contents = fs::read(path).unwrap();
    let (seal, rest) = contents.split_at_mut(schema::SEAL_BYTES);
    let (length, checksum) = (rest.len(), crc32fast::hash(rest));
    let text = format!("cyvasse replay shard\nbytes {length}\ncrc32 {checksum:08x}\n");
    seal.fill(0);
    seal[..text.len()].copy_from_slice(text.as_bytes());
    fs::write(path, contents).unwrap();
}

#[test]
fn exported_lines_are_the_games() {
    let fixture = Fixture::new();
    let file = fixture.run().join("games.jsonl");
    let arguments = ["export", "--targets", "--output", file.to_str().unwrap()];
    told(&replay(&arguments, &[fixture.run()]));
    let text = fs::read_to_string(&file).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    for (shard, games) in (1..).zip(&fixture.games) {
        for (number, game) in games.iter().enumerate() {
            let line = lines.next().unwrap();
            assert_eq!(line["shard"], format!("round-{shard:04}.h5"));
            assert_eq!((&line["game"], &line["slot"]), (&number.into(), &game.id.slot.into()));
            assert_eq!(line["result"], game.outcome.to_string());
            assert_eq!(line["resigned"], game.resigned);
            for seat in 0..2 {
                assert_eq!(line["setups"][seat], game.setups[seat].to_string());
                assert_eq!(line["sources"][seat], game.sources[seat].name());
            }
            let actions: Vec<String> =
                game.plies.iter().map(|ply| ply.action.to_string()).collect();
            assert_eq!(line["actions"], actions.join(" "));
            let targets = line["targets"].as_array().unwrap();
            assert_eq!(targets.len(), game.plies.len());
            for (target, ply) in targets.iter().zip(&game.plies) {
                assert_eq!(target["root_value"].as_f64().unwrap() as f32, ply.root_value.get());
                let shares = target["policy"].as_array().unwrap().iter();
                let shares = shares.map(|entry| {
                    (entry[0].as_str().unwrap().to_owned(), entry[2].as_f64().unwrap() as f32)
                });
                let expected =
                    ply.policy.iter().map(|(action, share)| (action.to_string(), *share));
                assert!(shares.eq(expected));
            }
        }
    }
    assert!(lines.next().is_none());

    let error = refused(&replay(&arguments, &[fixture.run()]));
    assert!(error.contains("exists already"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let standard = told(&replay(&["export"], &[&fixture.shard(1)]));
    assert_eq!(standard.lines().count(), 40);
    assert!(!standard.contains("targets"));
    let nowhere = refused(&replay(&["export"], &[&fixture.run().join("shards")]));
    assert!(nowhere.contains("is no run directory"), "{nowhere}");
}
