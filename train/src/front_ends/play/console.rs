//! Where a person types and reads: a terminal with an editor for the line, or a
//! pipe with a script.

use std::io::{self, BufRead, BufReader, IsTerminal, Write};

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};
use thiserror::Error;

use crate::front_ends::board::wants_colour;
use crate::front_ends::line_input::{line_text, read_line};

/// A console that cannot be used any more.
#[derive(Debug, Error)]
pub enum ConsoleError {
    /// Nothing can be read from it.
    #[error("cannot read what you type: {0}")]
    Input(String),
    /// Nothing can be written to it.
    #[error("cannot write to standard output")]
    Output(#[source] io::Error),
}

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A line.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the end of the pipe.
    End,
}

/// Where a person types and reads.
pub struct Console {
    source: Source,
    /// Whether to write in colour.
    pub(super) colour: bool,
}

enum Source {
    Editor(Box<Editor<Words, MemHistory>>),
    Pipe(BufReader<io::Stdin>),
}

impl Console {
    /// The console of this process.
    ///
    /// # Errors
    /// A terminal that cannot be asked what it can do.
    pub fn new() -> Result<Console, ConsoleError> {
        let source = if io::stdin().is_terminal() {
            let config = Config::builder().auto_add_history(true).build();
            let history = MemHistory::with_config(&config);
            let mut editor = Editor::with_history(config, history)
                .map_err(|error| ConsoleError::Input(error.to_string()))?;
            editor.set_helper(Some(Words { words: Vec::new(), files: FilenameCompleter::new() }));
            Source::Editor(Box::new(editor))
        } else {
            Source::Pipe(BufReader::new(io::stdin()))
        };
        Ok(Console { source, colour: wants_colour() })
    }

    /// Completes the first word from these, and further ones as names of files.
    pub(super) fn complete_with(&mut self, words: Vec<String>) {
        if let Source::Editor(editor) = &mut self.source
            && let Some(helper) = editor.helper_mut()
        {
            helper.words = words;
        }
    }

    /// Reads a line. In a terminal the prompt stands before it.
    pub(super) fn ask(&mut self, prompt: &str) -> Result<Typed, ConsoleError> {
        match &mut self.source {
            Source::Editor(editor) => match editor.readline(prompt) {
                Ok(line) => Ok(Typed::Line(line)),
                Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
                Err(ReadlineError::Eof) => Ok(Typed::End),
                Err(error) => Err(ConsoleError::Input(error.to_string())),
            },
            Source::Pipe(input) => read_piped(input),
        }
    }

    /// Writes lines.
    pub(super) fn tell(&mut self, text: &str) -> Result<(), ConsoleError> {
        let mut output = io::stdout();
        let written = output.write_all(format!("{text}\n").as_bytes());
        written.and_then(|()| output.flush()).map_err(ConsoleError::Output)
    }

    /// Whether somebody sits there who sees what is written at once.
    pub(super) fn is_watched(&self) -> bool {
        matches!(self.source, Source::Editor(_))
    }
}

fn read_piped(input: &mut impl BufRead) -> Result<Typed, ConsoleError> {
    let failed = |error: io::Error| ConsoleError::Input(error.to_string());
    let mut line = Vec::new();
    if !read_line(input, &mut line).map_err(failed)? {
        return Ok(Typed::End);
    }
    // What is no text means nothing to anybody, as a word that nobody knows.
    let text = line_text(&line).map_or_else(|error| error.to_string(), str::to_owned);
    Ok(Typed::Line(text))
}

/// What can be completed.
struct Words {
    words: Vec<String>,
    files: FilenameCompleter,
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        place: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = &line[..place];
        if typed.contains(' ') {
            return self.files.complete(line, place, context);
        }
        let words = self.words.iter().filter(|word| word.starts_with(typed));
        let pairs = words.map(|word| Pair { display: word.clone(), replacement: word.clone() });
        Ok((0, pairs.collect()))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Validator for Words {}

impl Helper for Words {}
