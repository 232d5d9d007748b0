//! `cyvasse analyze` through the binary, with a network that has learned nothing:
//! the answers are those of a search made here, leaf by leaf.

mod common;

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use cyvasse_env::{Action, Game, Position, Rules, SetupSpace};
use cyvasse_models::{InferenceNet, Net, NetEvaluator, checkpoint};
use cyvasse_selfplay::search::{
    Cyvasse, Gathered, GumbelSettings, PolicySettings, Search, SearchResult, SearchSettings,
};
use cyvasse_selfplay::{Evaluation, Evaluator};
use cyvasse_train::checkpoints::{PLAY_NET, made_for};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tch::Device;

use common::talk::{Talk, unheard};
use common::untrained;

fn command(checkpoint: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyvasse"));
    command.args(["analyze", "--checkpoint"]).arg(checkpoint).args(more);
    command
}

fn analyze(checkpoint: &Path, more: &[&str], requests: &[String]) -> (Vec<Value>, ExitStatus) {
    let mut talk = Talk::with(&mut command(checkpoint, more));
    requests.iter().for_each(|request| talk.say(request));
    let (answers, status) = talk.end();
    (answers.iter().map(|answer| serde_json::from_str(answer).unwrap()).collect(), status)
}

/// Games that go on, after some random plies from random starts.
fn games(rules: &Arc<Rules>, count: usize) -> Vec<(Position, Vec<Action>, Game)> {
    let space = SetupSpace::new(rules);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut games = Vec::new();
    while games.len() < count {
        let start = Position::start(&space.sample(&mut rng), &space.sample(&mut rng));
        let mut game = Game::new(rules.clone(), start.clone());
        let (mut played, mut actions) = (Vec::new(), Vec::new());
        for _ in 0..rng.random_range(0..12) {
            game.legal_actions(&mut actions);
            let Some(&action) = actions.get(rng.random_range(0..actions.len().max(1))) else {
                break;
            };
            game.play(action).unwrap();
            played.push(action);
        }
        if game.outcome().is_none() {
            games.push((start, played, game));
        }
    }
    games
}

/// What a search finds that has one leaf judged at a time.
fn search(game: &Game, simulations: u32, evaluator: &mut NetEvaluator) -> SearchResult<Action> {
    let policy = PolicySettings::Gumbel(GumbelSettings {
        max_considered: 16,
        c_visit: 50.0,
        c_scale: 1.0,
        noise: 0.0,
    });
    let settings = SearchSettings { simulations, max_nodes: 1_000_000, policy };
    let cyvasse = Cyvasse { rules: game.rules().clone() };
    let mut search = Search::new(cyvasse, settings, game.position().clone(), game.earlier(), 12345);
    let mut answer = [Evaluation::blank()];
    while search.gather() != Gathered::Done {
        let request = search.requests().next().unwrap();
        evaluator.evaluate(&[request], &mut answer).unwrap();
        search.apply(&answer[0]);
    }
    search.result(0)
}

fn request(id: usize, start: &Position, actions: &[Action], simulations: u32) -> String {
    let actions: Vec<String> = actions.iter().map(Action::to_string).collect();
    let request = json!({
        "id": id, "position": start.to_string(), "actions": actions, "simulations": simulations,
    });
    request.to_string()
}

#[test]
fn answers_are_those_of_a_search_and_come_in_order() {
    let rules = Arc::new(Rules::iron_throne());
    let folder = untrained(&rules);
    let file = folder.path().join(PLAY_NET);
    let (net, _): (Net, _) = checkpoint::load(&file, &made_for(&rules), Device::Cpu).unwrap();
    let mut evaluator = NetEvaluator::new(InferenceNet::new(&net), rules.clone());
    let games = games(&rules, 100);
    let simulations = |id: usize| [48, 1, 17][id % 3];
    let requests: Vec<String> = games
        .iter()
        .enumerate()
        .map(|(id, (start, actions, _))| request(id, start, actions, simulations(id)))
        .collect();
    let (answers, status) = analyze(folder.path(), &["--workers", "2"], &requests);
    assert!(status.success());
    assert_eq!(answers.len(), games.len());
    for (id, ((_, _, game), answer)) in games.iter().zip(&answers).enumerate() {
        let found = search(game, simulations(id), &mut evaluator);
        assert_eq!(answer["id"], id);
        assert_eq!(answer["position"], game.position().to_string());
        assert_eq!(answer["best"], found.best.to_string());
        assert_eq!(answer["lines"][0]["actions"][0], found.best.to_string());
        assert_eq!(answer["value"].as_f64().unwrap() as f32, found.value.get());
        assert_eq!(answer["proven"]["plies"].as_u64(), found.proven.map(|p| p.plies().into()));
        assert_eq!(answer["visits"], found.simulations);
        assert_eq!(answer["evaluations"], found.evaluations);
        let policy = answer["policy"].as_array().unwrap();
        assert_eq!(policy.len(), found.policy.len());
        for share in policy {
            let of = |action: &Action| share["action"] == action.to_string();
            let expected = found.policy.iter().find(|(action, _)| of(action)).unwrap().1;
            assert_eq!(share["share"].as_f64().unwrap() as f32, expected);
            let expected = found.visits.iter().find(|(action, _)| of(action)).unwrap().1;
            assert_eq!(share["visits"], expected);
        }
        // A line is a line of play.
        for line in answer["lines"].as_array().unwrap() {
            let mut game = game.clone();
            for action in line["actions"].as_array().unwrap() {
                assert_eq!(game.outcome(), None);
                game.play(Action::parse(action.as_str().unwrap()).unwrap()).unwrap();
            }
        }
    }
}

#[test]
fn long_thoughts_do_not_depend_on_the_workers() {
    let rules = Arc::new(Rules::iron_throne());
    let folder = untrained(&rules);
    let games = games(&rules, 12);
    let requests: Vec<String> = games
        .iter()
        .enumerate()
        .map(|(id, (start, actions, _))| request(id, start, actions, 150 + 60 * id as u32))
        .collect();
    let one = analyze(folder.path(), &["--workers", "1"], &requests);
    assert_eq!(analyze(folder.path(), &["--workers", "3"], &requests), one);
    // Alone as in company.
    let alone = analyze(folder.path(), &["--workers", "1"], &requests[11..]);
    assert_eq!(alone.0[0], one.0[11]);
}

#[test]
fn requests_that_make_no_sense_are_answered_in_their_place() {
    let folder = untrained(&Rules::iron_throne());
    let text = "8/8/8/8/8/8/8/8 3k4/3R4/8/8/8/8/8/3K4 w - 0 12";
    let requests = [
        format!(r#"{{"id":"a","position":"{text}"}}"#),
        "nonsense".into(),
        "[1, 2]".into(),
        format!(r#"{{"id":3,"position":"{text}","actions":["d7d8"]}}"#),
        format!(r#"{{"id":4,"position":"{text}","actions":["d7c7","d1e3"]}}"#),
        format!(r#"{{"id":5,"position":"{text}","simulation":5}}"#),
        format!(r#"{{"id":6,"position":"{text}","simulations":0}}"#),
        r#"{"id":7}"#.into(),
        String::new(),
        format!(r#"{{"position":"{text}"}}"#),
        format!(r#"{{"id":"z","position":"{text}","actions":["d7d6"],"lines":1,"search":"puct"}}"#),
    ];
    let (answers, status) = analyze(folder.path(), &["--simulations", "20"], &requests);
    assert_eq!(status.code(), Some(1));
    assert_eq!(answers.len(), requests.len());
    assert_eq!((&answers[0]["id"], &answers[0]["best"]), (&json!("a"), &json!("d7d8")));
    assert_eq!(answers[0]["proven"], json!({"result": "win", "plies": 1}));
    assert_eq!(
        (&answers[3]["outcome"], &answers[3]["value"]),
        (&json!("white wins"), &json!(-1.0))
    );
    assert_eq!(answers[3].get("best"), None);
    let expected = [
        (1, Value::Null, "one JSON object a line"),
        (2, Value::Null, "needs an `id`"),
        (4, json!(4), "action 2: "),
        (5, json!(5), "unknown field `simulation`"),
        (6, json!(6), "`simulations` is 0, expected 1 to"),
        (7, json!(7), "either `position` or `setups`"),
        (8, Value::Null, "one JSON object a line"),
        (9, Value::Null, "needs an `id`"),
    ];
    for (place, id, error) in expected {
        assert_eq!(answers[place]["id"], id);
        let told = answers[place]["error"].as_str().unwrap();
        assert!(told.contains(error), "{told}");
    }
    assert_eq!((&answers[10]["id"], &answers[10]["visits"]), (&json!("z"), &json!(20)));
    assert_eq!(answers[10]["lines"].as_array().unwrap().len(), 1);
}

#[test]
fn an_answer_comes_before_the_next_question() {
    let folder = untrained(&Rules::iron_throne());
    let mut talk = Talk::with(&mut command(folder.path(), &["--simulations", "5"]));
    for id in 0..3 {
        let setups = [
            "3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE",
            "w3fw1f/2m3m1/mwfmmc1f/f2fwm1w R4E2/3C1D2/1T4H1/L1XS3K",
        ];
        talk.say(&json!({"id": id, "setups": setups}).to_string());
        let answer: Value = serde_json::from_str(&talk.hear()).unwrap();
        assert_eq!((&answer["id"], &answer["turn"]), (&json!(id), &json!("white")));
    }
    assert!(talk.end().1.success());
}

#[test]
fn an_analysis_that_nobody_reads_ends_quietly() {
    let folder = untrained(&Rules::iron_throne());
    let output = unheard(&mut command(folder.path(), &[]), "nonsense");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
