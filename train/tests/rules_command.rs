//! `cyvasse rules` from the outside: what it prints to whom, and how it exits.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use assert_cmd::cargo::cargo_bin;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const POSITION: &str = "8/8/8/8/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w - 0 12";
const WON: &str = "8/8/8/8/8/8/8/8 8/8/8/4R3/8/8/8/3K4 b - 0 13";
const SETUP: &str = "3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE";
const RULES: [&str; 4] = ["iron-throne", "crowd", "flying", "tiny"];
const LONGEST_LINE: usize = 1 << 20;

/// `cyvasse rules` with `arguments`.
fn rules(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("cyvasse"));
    command.arg("rules").args(arguments).env_remove("NO_COLOR");
    command
}

/// What came of a command.
#[derive(Debug, PartialEq)]
struct Told {
    out: String,
    err: String,
    code: Option<i32>,
}

impl Told {
    fn of(output: Output) -> Told {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Told { out: text(output.stdout), err: text(output.stderr), code: output.status.code() }
    }

    fn lines(&self) -> Vec<&str> {
        self.out.lines().collect()
    }

    fn out(&self) -> &str {
        assert_eq!((self.err.as_str(), self.code), ("", Some(0)), "{}", self.out);
        &self.out
    }
}

fn told(arguments: &[&str]) -> Told {
    Told::of(rules(arguments).stdin(Stdio::null()).output().unwrap())
}

/// With `input` on standard input.
fn told_of(arguments: &[&str], input: impl Into<Vec<u8>>) -> Told {
    let mut command = rules(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.into());
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    // A command that refuses its arguments does not read.
    let _ = writer.join().unwrap();
    Told::of(output)
}

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../env/tests/data").join(path)
}

/// The arguments that choose the rules.
fn by(name: &str) -> Vec<String> {
    match name {
        "iron-throne" => Vec::new(),
        _ => vec!["--rules".into(), data(&format!("variants/{name}.toml")).display().to_string()],
    }
}

/// The rows of a file of vectors.
fn vectors(rules: &str, file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(data(&format!("vectors/{rules}/{file}.tsv"))).unwrap();
    let rows = text.lines().map(|line| line.split('\t').map(str::to_owned).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    assert!(!rows.is_empty());
    rows
}

/// Asks the questions, one a line, and expects an answer to each.
fn check(rules: &str, arguments: &[&str], rows: &[(String, &String)]) {
    let choice = by(rules);
    let arguments: Vec<&str> =
        arguments.iter().copied().chain(choice.iter().map(String::as_str)).collect();
    let questions: Vec<&str> = rows.iter().map(|(question, _)| question.as_str()).collect();
    let answers = told_of(&arguments, questions.join("\n"));
    assert_eq!(answers.out().lines().count(), rows.len());
    for ((question, expected), answer) in rows.iter().zip(answers.lines()) {
        assert_eq!(answer, *expected, "{rules}: {question}");
    }
}

#[test]
fn actions_are_those_of_the_vectors() {
    for rules in RULES {
        let rows = vectors(rules, "actions");
        let rows: Vec<_> = rows.iter().map(|row| (row[0].clone(), &row[1])).collect();
        check(rules, &["actions", "-"], &rows);
    }
}

#[test]
fn perft_is_that_of_the_vectors() {
    for rules in RULES {
        let rows = vectors(rules, "perft");
        let mut by_depth: BTreeMap<&String, Vec<(String, &String)>> = BTreeMap::new();
        for row in &rows {
            by_depth.entry(&row[1]).or_default().push((row[0].clone(), &row[2]));
        }
        for (depth, rows) in by_depth {
            check(rules, &["perft", "--depth", depth, "-"], &rows);
        }
    }
}

#[test]
fn playouts_are_those_of_the_vectors() {
    for rules in RULES {
        let rows = vectors(rules, "playouts");
        let rows: Vec<_> =
            rows.iter().map(|row| (format!("{}\t{}", row[0], row[1]), &row[2])).collect();
        check(rules, &["apply", "-"], &rows);
    }
}

#[test]
fn one_question_as_an_argument_gets_the_same_answer() {
    let actions = "d1c1 d1c2 d1d2 d1e1 d1e2 e5d5 e5e4 e5e6 e5f5\n";
    assert_eq!(told(&["actions", POSITION]).out(), actions);
    assert_eq!(told(&["actions", WON]).out(), "\n");
    assert_eq!(told(&["perft", "--depth", "2", POSITION]).out(), "45\n");
    assert_eq!(told(&["perft", "--depth", "0", WON]).out(), "1\n");
    assert_eq!(told(&["perft", "--depth", "1", WON]).out(), "0\n");
    let after = "8/8/8/8/8/8/8/8 8/4k3/4R3/8/8/8/8/3K4 w - 2 14\n";
    assert_eq!(told(&["apply", POSITION, "e5e6", "d8e7"]).out(), after);
    assert_eq!(told(&["apply", POSITION, "e5e6 d8e7"]).out(), after);
    assert_eq!(told(&["apply", POSITION]).out(), format!("{POSITION}\n"));
    assert_eq!(told(&["check-setup", SETUP]).out(), "ok\n");
}

#[test]
fn perft_divides_by_first_action() {
    let divided = told(&["perft", "--depth", "2", "--divide", POSITION]);
    let expected = "d1c1 5\nd1c2 5\nd1d2 5\nd1e1 5\nd1e2 5\n\
        e5d5 5\ne5e4 5\ne5e6 5\ne5f5 5\ntotal 45\n";
    assert_eq!(divided.out(), expected);
    let on_a_line = told_of(&["perft", "--depth", "2", "--divide", "-"], POSITION);
    assert_eq!(on_a_line.lines(), [expected.replace(' ', "=").trim_end().replace('\n', " ")]);
    assert_eq!(told(&["perft", "--depth", "0", "--divide", POSITION]).out(), "total 1\n");
    assert_eq!(told(&["perft", "--depth", "3", "--divide", WON]).out(), "total 0\n");
}

#[test]
fn perft_is_deep_where_there_is_little_to_count() {
    // Both kings are shut in by mountains: all that is ever legal is to pass.
    let passing = "1m6/mm6/8/8/8/8/mm6/1m6 k7/8/8/8/8/8/8/K7 w - 0 0";
    assert_eq!(told(&["perft", "--depth", "1000", passing]).out(), "1\n");
}

#[test]
fn sampled_setups_are_legal_and_depend_on_the_seed_alone() {
    for rules in RULES {
        let choice = by(rules);
        let with_rules = |arguments: &[&'static str]| -> Vec<String> {
            arguments.iter().map(|&s| s.to_owned()).chain(choice.clone()).collect()
        };
        let sample = |seed, count| {
            let arguments = with_rules(&["sample-setups", "--seed", seed, "--count", count]);
            told(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let setups = sample("7", "50");
        assert_eq!(setups.out().lines().count(), 50);
        assert_eq!(sample("7", "50"), setups);
        assert!(setups.out.starts_with(sample("7", "3").out()));
        assert_ne!(sample("8", "50"), setups);

        let ask = |command, input: String| {
            let arguments = with_rules(&[command, "-"]);
            told_of(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), input)
        };
        assert_eq!(ask("check-setup", setups.out.clone()).out(), "ok\n".repeat(50));
        let pairs: Vec<String> =
            setups.lines().chunks(2).map(|pair| pair.join("\t") + "\n").collect();
        let starts = ask("start", pairs.concat());
        assert_eq!(starts.out().lines().count(), 25);
        // The positions are read again, and are as they were.
        assert_eq!(ask("apply", starts.out.clone()), starts);
    }
    let first = "w3fw1f/2m3m1/mwfmmc1f/f2fwm1w R4E2/3C1D2/1T4H1/L1XS3K\n";
    assert_eq!(told(&["sample-setups"]).out(), first);
    let greatest = u64::MAX.to_string();
    assert_eq!(told(&["sample-setups", "--seed", &greatest]).out().lines().count(), 1);
    assert_eq!(told(&["sample-setups", "--count", "0"]).out(), "");
}

#[test]
fn a_game_starts_from_two_setups() {
    let black = "w3fw1f/2m3m1/mwfmmc1f/f2fwm1w R4E2/3C1D2/1T4H1/L1XS3K";
    let start = "f2fwm1w/mwfmmc1f/2m3m1/w3fw1f/3mwmfc/3mwmff/4mwff/4mwwf \
        l1xs3k/1t4h1/3c1d2/r4e2/5DHK/6LT/5RXC/6SE w - 0 0\n";
    assert_eq!(told(&["start", SETUP, black]).out(), start);
    let lines = format!("{SETUP}\t{black}\n{SETUP}\n");
    let answers = told_of(&["start", "-"], lines);
    let missing = "error: expected white's setup, a tab and black's setup";
    assert_eq!(answers.lines(), [start.trim_end(), missing]);
    assert_eq!(answers.code, Some(1));
}

#[test]
fn a_board_is_drawn_for_people() {
    let text = "c2m1r2/1m6/w7/4w3/8/8/f6c/8 4k3/1D6/5s2/4R3/8/8/l6T/3K4 w e5 100 120";
    let drawing = "    a   b   c   d   e   f   g   h
8  [ ]  .   .  ^^^  k  : :  .   .   8
7   .  ^D^  .   .   .   .   .   .   7
6  ~~~  .   .   .   .   s   .   .   6
5   .   .   .   .  *R*  .   .   .   5
4   .   .   .   .   .   .   .   .   4
3   .   .   .   .   .   .   .   .   3
2  &l&  .   .   .   .   .   .  [T]  2
1   .   .   .   K   .   .   .   .   1
    a   b   c   d   e   f   g   h
white to move; plies: 120, since the last capture or ruin: 100
frozen: e5
game over: draw by no progress
tiles: . grass  ^^^ mountain  ~~~ water  &&& forest  [ ] fortress  : : ruin
units: R rabble  S spearmen  X crossbowmen  L light horse  H heavy horse
       E elephant  C catapult  T trebuchet  D dragon  K king
upper case: white; lower case: black; *s*: frozen
";
    assert_eq!(told(&["show", text]).out(), drawing);
    assert!(told(&["show", WON]).out().contains("\ngame over: white wins\n"));
    assert!(!told(&["show", POSITION]).out().contains("game over"));

    let answers = told_of(&["show", "-"], format!("{text}\nnonsense\n{text}"));
    let drawings: Vec<&str> = answers.out.split("\n\n").collect();
    assert_eq!(drawings.len(), 3);
    assert_eq!(drawings[0], drawing.trim_end());
    assert!(drawings[1].starts_with("error: "));
    assert_eq!(drawings[2], drawing);
    assert_eq!(answers.code, Some(1));
}

#[test]
fn a_bad_line_is_answered_and_the_next_ones_too() {
    let long = "8".repeat(LONGEST_LINE + 1);
    let longest = "8".repeat(LONGEST_LINE);
    let mut input = format!("{POSITION}\r\n\r\n\n{long}\n{longest}\n").into_bytes();
    input.extend(b"8/8/\xff\n");
    input.extend(POSITION.replace("3k4", "3\u{2028}\u{1b}[1m").bytes());
    input.extend(b"\n");
    input.extend(POSITION.bytes());
    let answers = told_of(&["perft", "--depth", "1", "-"], input);
    assert_eq!((answers.err.as_str(), answers.code), ("", Some(1)));
    let expected = [
        "9",
        "error: the line is empty",
        "error: the line is empty",
        "error: the line is longer than 1048576 bytes",
        "error: a position has 6 fields separated by one space \
         (tiles units side frozen quiet-plies plies), not 1",
        "error: the line is not UTF-8 text",
        "error: units: rank 8: unknown letter `\\u{2028}`",
        "9",
    ];
    assert_eq!(answers.lines(), expected);
    assert_eq!(told_of(&["perft", "--depth", "1", "-"], "").out(), "");
}

#[test]
fn an_action_that_cannot_be_played_is_named_with_its_number() {
    let second = "action 2: `d8d5` is not legal in \
        `8/8/8/8/8/8/8/8 3k4/8/4R3/8/8/8/8/3K4 b - 1 13`";
    let first = "action 1: `E5e6` is no action; \
        expected a move `e2e4`, a shot `e2xe4`, an assault `e2e4@e3` or `pass`";
    let over = format!("action 1: `d1d2` is not legal in `{WON}`");
    let told_once = told(&["apply", POSITION, "e5e6", "d8d5", "pass"]);
    assert_eq!(told_once, failure(second));
    assert_eq!(told(&["apply", POSITION, "E5e6"]), failure(first));
    let lines = format!(
        "{POSITION}\te5e6 d8d5 pass\n{POSITION}\tE5e6\n{WON}\td1d2\n{POSITION}\n{POSITION}\t\n"
    );
    let answers = told_of(&["apply", "-"], lines);
    let errors = [second, first, &over].map(|error| format!("error: {error}"));
    assert_eq!(answers.lines()[..3], errors);
    assert_eq!(answers.lines()[3..], [POSITION, POSITION]);
    assert_eq!(answers.code, Some(1));
}

/// A failure told on standard error, with nothing on standard output.
fn failure(error: &str) -> Told {
    Told { out: String::new(), err: format!("error: {error}\n"), code: Some(1) }
}

#[test]
fn what_fails_is_told_on_one_line() {
    let fields = "a position has 6 fields separated by one space \
        (tiles units side frozen quiet-plies plies), not 1";
    assert_eq!(told(&["show", "8/8/8/8/8/8/8/8"]), failure(fields));
    let letter = "units: rank 8: unknown letter `\\n`";
    assert_eq!(told(&["actions", &POSITION.replace("3k4", "3\nk3")]), failure(letter));
    let white = "white's setup: water: 6 instead of 5";
    let wet = SETUP.replace("4mwwf", "3wmwwf");
    assert_eq!(told(&["start", &wet, SETUP]), failure(white));
    assert_eq!(told(&["start", SETUP, &wet]), failure(&white.replace("white", "black")));
    // The verdict on a setup is an answer.
    let verdict =
        Told { out: "error: water: 6 instead of 5\n".into(), err: String::new(), code: Some(1) };
    assert_eq!(told(&["check-setup", &wet]), verdict);
    assert_eq!(told_of(&["check-setup", "-"], wet), verdict);
}

#[test]
fn a_rules_file_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    let name = path.to_str().unwrap();
    let ask = || told(&["actions", "--rules", name, POSITION]);
    let missing =
        format!("cannot read the rules file `{name}`: No such file or directory (os error 2)");
    assert_eq!(ask(), failure(&missing));
    fs::write(&path, b"\xff").unwrap();
    let bytes = format!("cannot read the rules file `{name}`: stream did not contain valid UTF-8");
    assert_eq!(ask(), failure(&bytes));
    fs::write(&path, "name = \"mine\"\nboard = 9\n").unwrap();
    let told = ask();
    assert_eq!((told.out.as_str(), told.code, told.err.lines().count()), ("", Some(1), 1));
    let start = format!("error: the rules file `{name}`: `board` is not a key of a rules file");
    assert!(told.err.starts_with(&start), "{}", told.err);
}

#[test]
fn wrong_usage_exits_with_2() {
    let usages: [(&[&str], &str); 10] = [
        (&[], "Usage: cyvasse rules [OPTIONS] <COMMAND>"),
        (&["perft", POSITION], "--depth <N>"),
        (&["perft", "--depth", "1001", POSITION], "1001 is not in 0..=1000"),
        (&["perft", "--depth", "99999999999999999999", POSITION], "invalid value"),
        (&["perft", "--depth", "-1", POSITION], "'-1'"),
        (&["sample-setups", "--count", "99999999999999999999"], "invalid value"),
        (&["sample-setups", "--seed", "seven"], "invalid value 'seven'"),
        (&["start", SETUP], "error: black's setup is missing\n"),
        (&["start", "-", SETUP], "error: with `-` each line has black's setup too, after a tab\n"),
        (&["apply", "-", "e2e4"], "error: with `-` each line has its own actions, after a tab\n"),
    ];
    for (arguments, message) in usages {
        let told = told(arguments);
        assert_eq!((told.out.as_str(), told.code), ("", Some(2)), "{arguments:?}");
        assert!(told.err.contains(message), "{arguments:?}: {}", told.err);
    }
    let fields: Vec<&str> = POSITION.split(' ').collect();
    for command in [&["actions"][..], &["apply"], &["show"], &["perft", "--depth", "1"]] {
        let told = told(&[command, &fields].concat());
        assert_eq!(told.code, Some(2));
        assert!(told.err.contains("put it in quotes"), "{}", told.err);
    }
}

#[test]
fn each_command_helps_with_an_example() {
    let help = told(&["--help"]);
    for command in ["perft", "actions", "apply", "sample-setups", "check-setup", "start", "show"] {
        assert!(help.out().contains(&format!("\n  cyvasse rules {command} ")), "{command}");
        let help = told(&[command, "--help"]);
        let usage = format!("Usage: cyvasse rules {command} [OPTIONS]");
        assert!(help.out().contains(&usage), "{}", help.out);
        assert!(!help.out.contains("UNQUOTED"), "{}", help.out);
    }
}

/// Programs talk with us line by line: they wait for an answer before they
/// write the next line, or only a part of it.
#[test]
fn each_line_is_answered_before_the_next_one_is_written() {
    let mut command = rules(&["actions", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    let mut answer = || {
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        line
    };
    let actions = "d1c1 d1c2 d1d2 d1e1 d1e2 e5d5 e5e4 e5e6 e5f5\n";
    let (part, rest) = POSITION.split_at(20);
    writeln!(questions, "{POSITION}").unwrap();
    assert_eq!(answer(), actions);
    write!(questions, "{POSITION}\n{WON}\n{part}").unwrap();
    assert_eq!(answer(), actions);
    assert_eq!(answer(), "\n");
    writeln!(questions, "{rest}").unwrap();
    assert_eq!(answer(), actions);
    drop(questions);
    assert_eq!(answer(), "");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let many = format!("{POSITION}\n").repeat(50_000);
    for arguments in [&["sample-setups", "--count", "100000000"][..], &["actions", "-"]] {
        let mut command = rules(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut stdin, many) = (child.stdin.take().unwrap(), many.clone());
        let writer = std::thread::spawn(move || stdin.write_all(many.as_bytes()));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains('\n'));
        let told = Told::of(child.wait_with_output().unwrap());
        let _ = writer.join().unwrap();
        assert_eq!(told, Told { out: String::new(), err: String::new(), code: Some(0) });
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_failure() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = rules(&["actions", POSITION]);
    let told = Told::of(command.stdout(full).stderr(Stdio::piped()).output().unwrap());
    let full = "cannot write to standard output: No space left on device (os error 28)";
    assert_eq!(told, failure(full));
}

/// Texts that are almost right: mistakes made in right ones.
fn fuzzed(right: &[&str], rng: &mut ChaCha8Rng) -> Vec<u8> {
    const LETTERS: &[u8] = b"mwfcrRSXLHECTDKk019/- \t@xabh\x00\xff\xc3\xa9\r";
    let mut pick = |count: usize| rng.next_u32() as usize % count;
    let mut text = right[pick(right.len())].as_bytes().to_vec();
    for _ in 0..pick(4) {
        let (place, other) = (pick(text.len()), pick(text.len()));
        let letter = LETTERS[pick(LETTERS.len())];
        match pick(4) {
            0 => text[place] = letter,
            1 => text.insert(place, letter),
            2 if text.len() > 1 => drop(text.remove(place)),
            _ => text.swap(place, other),
        }
    }
    text
}

#[test]
fn every_line_gets_one_answer_whatever_is_on_it() {
    let playout = &vectors("iron-throne", "playouts")[0];
    let right = [
        POSITION,
        WON,
        SETUP,
        &format!("{POSITION}\te5e6 d8e7"),
        &format!("{}\t{}", playout[0], playout[1]),
        &format!("{SETUP}\t{SETUP}"),
        &playout[2],
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let lines: Vec<Vec<u8>> = (0..3000).map(|_| fuzzed(&right, &mut rng)).collect();
    let commands: [&[&str]; 6] = [
        &["actions"],
        &["apply"],
        &["perft", "--depth", "1", "--divide"],
        &["check-setup"],
        &["start"],
        &["show"],
    ];
    for command in commands {
        let told = told_of(&[command, &["-"]].concat(), lines.join(&b'\n'));
        assert_eq!((told.err.as_str(), told.code), ("", Some(1)), "{command:?}");
        let answers = match command {
            ["show"] => told.out.split("\n\n").count(),
            _ => told.out.lines().count(),
        };
        assert_eq!(answers, lines.len(), "{command:?}");
        let refused = told.out.lines().filter(|line| line.starts_with("error: ")).count();
        assert!(refused < lines.len(), "{command:?} has refused all");
    }
}
