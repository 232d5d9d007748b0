//! A conversation with a program, line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// A program that is talked to.
pub(crate) struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
}

/// Runs a program that nobody listens to, while its input stays open; its end and
/// what it wrote to standard error.
pub(crate) fn unheard(command: &mut Command, said: &str) -> Output {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{said}").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(input);
    output
}

impl Talk {
    pub(crate) fn with(command: &mut Command) -> Talk {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, output) = channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Talk { input: child.stdin.take(), child, output }
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.say_bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn say_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// The next line; waits so long that only a program that has nothing to say does
    /// not say it.
    pub(crate) fn hear(&self) -> String {
        self.output.recv_timeout(Duration::from_secs(300)).expect("an answer")
    }

    /// The next line that is no `info`.
    pub(crate) fn answer(&self) -> String {
        loop {
            let line = self.hear();
            if !line.starts_with("info") {
                return line;
            }
        }
    }

    /// All `info` lines up to the answer, and the answer.
    pub(crate) fn thoughts(&self) -> (Vec<String>, String) {
        let mut infos = Vec::new();
        loop {
            let line = self.hear();
            if !line.starts_with("info") {
                return (infos, line);
            }
            infos.push(line);
        }
    }

    /// Ends the input; what is said until the program ends, and how it does.
    pub(crate) fn end(mut self) -> (Vec<String>, ExitStatus) {
        drop(self.input.take());
        let rest = self.output.iter().collect();
        (rest, self.child.wait().unwrap())
    }

    /// Goes through a transcript: `> ` is said, `< ` must be heard, `*` being any word
    /// and `...` any rest; `info` lines that the transcript does not have are passed
    /// over, for how many there are depends on the machine.
    pub(crate) fn follow(&mut self, transcript: &str) {
        for line in transcript.lines() {
            if let Some(said) = line.strip_prefix("> ") {
                self.say(said);
                continue;
            }
            let expected = line.strip_prefix("< ").unwrap_or_else(|| panic!("{line}"));
            loop {
                let heard = self.hear();
                if fits(expected, &heard) {
                    break;
                }
                assert!(heard.starts_with("info"), "heard {heard}\nexpected {expected}");
            }
        }
    }
}

fn fits(expected: &str, heard: &str) -> bool {
    let mut heard = heard.split(' ');
    for word in expected.split(' ') {
        match (word, heard.next()) {
            ("...", Some(_)) => return true,
            ("*", Some(_)) => {}
            (word, Some(heard)) if word == heard => {}
            _ => return false,
        }
    }
    heard.next().is_none()
}
