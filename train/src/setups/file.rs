//! Files of setups: one a line, with comments.

use std::path::{Path, PathBuf};

use cyvasse_env::{Rules, Setup, SetupError};
use thiserror::Error;

/// A file of setups that cannot be used.
#[derive(Debug, Error)]
pub enum SetupFileError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A line of it is no legal setup.
    #[error("{}, line {line}: {source}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: SetupError,
    },
    /// There is no setup in it.
    #[error("{} holds no setup; write one a line, as `cyvasse rules sample-setups` prints them", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Reads a file of setups: one a line in their text form; empty lines and lines
/// that begin with `#` say nothing.
///
/// # Errors
/// A file that cannot be read, a line that is no legal setup under `rules`, a
/// file without any.
pub fn read_setups(path: &Path, rules: &Rules) -> Result<Vec<Setup>, SetupFileError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| SetupFileError::Read { path: path.to_path_buf(), source })?;
    parse_setups(path, &text, rules)
}

/// Reads the text of such a file.
///
/// # Errors
/// As [`read_setups`].
pub fn parse_setups(path: &Path, text: &str, rules: &Rules) -> Result<Vec<Setup>, SetupFileError> {
    let mut setups = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let setup = Setup::parse(line, rules).map_err(|source| SetupFileError::Line {
            path: path.to_path_buf(),
            line: index + 1,
            source,
        })?;
        setups.push(setup);
    }
    if setups.is_empty() {
        return Err(SetupFileError::Empty { path: path.to_path_buf() });
    }
    Ok(setups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_illegal_line_is_named_with_its_reason() {
        let rules = Rules::iron_throne();
        let good = "3mwmfc/3mwmff/4mwff/4mwwf 5DHK/6LT/5RXC/6SE";
        let text = format!("# two setups\n\n{good}\n{}\n", good.replace("DHK", "D1K"));
        let error = parse_setups(Path::new("some.txt"), &text, &rules).unwrap_err().to_string();
        assert!(error.starts_with("some.txt, line 4: heavy horse"), "{error}");
        let text = format!("# one setup\r\n  # and no more\r\n {good} \r\n");
        let setups = parse_setups(Path::new("some.txt"), &text, &rules).unwrap();
        assert_eq!(setups[0].to_string(), good);
        let error =
            parse_setups(Path::new("some.txt"), "# none\n", &rules).unwrap_err().to_string();
        assert!(error.starts_with("some.txt holds no setup; write one a line"), "{error}");
    }
}
