//! Questions in, answers out: one text given as an argument, or one from each
//! line of standard input.

use std::io::{self, BufReader, BufWriter, StdoutLock, Write};
use std::process::ExitCode;

use anyhow::{Context, anyhow};

use crate::front_ends::line_input::{line_text, read_line};
use crate::one_line;

const BUFFER: usize = 1 << 16;

/// Answers a text, or the lines of standard input if it is `-`. What is wrong
/// with the text is an error; what is wrong with a line is its answer.
pub(in crate::commands) fn answer(
    text: &str,
    answer: impl Fn(&str) -> anyhow::Result<String>,
) -> anyhow::Result<ExitCode> {
    if text == "-" {
        return answer_lines("", answer);
    }
    let answer = answer(text).map_err(|error| anyhow!(one_line::quoted(&error)))?;
    let mut output = Output::new();
    output.line(&answer)?;
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The same, but what is wrong with the text is an answer too.
pub(super) fn verdict(
    text: &str,
    verdict: impl Fn(&str) -> anyhow::Result<String>,
) -> anyhow::Result<ExitCode> {
    if text == "-" {
        return answer_lines("", verdict);
    }
    let mut output = Output::new();
    let code = output.answer(verdict(text))?;
    output.flush()?;
    Ok(code)
}

/// Answers each line of standard input, with `between` between two answers.
pub(super) fn answer_lines(
    between: &str,
    answer: impl Fn(&str) -> anyhow::Result<String>,
) -> anyhow::Result<ExitCode> {
    let mut input = BufReader::with_capacity(BUFFER, io::stdin().lock());
    let mut output = Output::new();
    let mut line = Vec::new();
    let mut code = ExitCode::SUCCESS;
    let mut separator = "";
    while read_line(&mut input, &mut line).context("cannot read standard input")? {
        output.text(separator)?;
        separator = between;
        let answer = match line_text(&line) {
            Ok("") => Err(anyhow!("the line is empty")),
            Ok(text) => answer(text),
            Err(error) => Err(error.into()),
        };
        if answer.is_err() {
            code = ExitCode::FAILURE;
        }
        output.answer(answer)?;
        // A program that waits for this answer before it writes the next line
        // must get it; one that has written more lines need not yet.
        if !input.buffer().contains(&b'\n') {
            output.flush()?;
        }
    }
    output.flush()?;
    Ok(code)
}

/// Writes a text to standard output. That nobody reads it any more, as in
/// `... | head`, is no error: whoever did has enough of it.
pub(in crate::commands) fn tell(text: &str) -> anyhow::Result<()> {
    let mut output = Output::new();
    match output.text(text).and_then(|()| output.flush()) {
        Err(error) if is_closed_pipe(&error) => Ok(()),
        result => result,
    }
}

/// Standard output, which keeps what it can until [`Output::flush`].
pub(in crate::commands) struct Output(BufWriter<StdoutLock<'static>>);

impl Output {
    pub(in crate::commands) fn new() -> Output {
        Output(BufWriter::with_capacity(BUFFER, io::stdout().lock()))
    }

    fn text(&mut self, text: &str) -> anyhow::Result<()> {
        self.0.write_all(text.as_bytes()).context(CANNOT_WRITE)
    }

    pub(in crate::commands) fn line(&mut self, text: &str) -> anyhow::Result<()> {
        self.text(text)?;
        self.text("\n")
    }

    fn answer(&mut self, answer: anyhow::Result<String>) -> anyhow::Result<ExitCode> {
        match answer {
            Ok(answer) => self.line(&answer).map(|()| ExitCode::SUCCESS),
            Err(error) => {
                let error = format!("error: {}", one_line::quoted(&error));
                self.line(&error).map(|()| ExitCode::FAILURE)
            }
        }
    }

    /// Must be called in the end, so that nothing is lost without a word.
    pub(in crate::commands) fn flush(&mut self) -> anyhow::Result<()> {
        self.0.flush().context(CANNOT_WRITE)
    }
}

const CANNOT_WRITE: &str = "cannot write to standard output";

/// Whether an error is that nobody reads standard output any more.
pub(in crate::commands) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io_errors = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.into_iter().any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
