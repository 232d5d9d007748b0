//! Lines from somebody else, who may send anything.

use std::io::{self, BufRead, Read};

use thiserror::Error;

/// Room for a position with more actions than any game lasts; what is longer
/// is not kept in memory.
pub const LONGEST_LINE: usize = 1 << 20;

/// A line that is no text to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LineError {
    /// It is too long.
    #[error("the line is longer than {LONGEST_LINE} bytes")]
    TooLong,
    /// It is not UTF-8.
    #[error("the line is not UTF-8 text")]
    NotText,
}

/// Reads a line without its end; of one that is too long, just more than is
/// allowed. Whether there was one.
///
/// # Errors
/// Those of the input.
pub fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let limit = LONGEST_LINE as u64 + 1;
    if input.by_ref().take(limit).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.pop_if(|byte| *byte == b'\n').is_some() {
        line.pop_if(|byte| *byte == b'\r');
    } else if line.len() > LONGEST_LINE {
        input.skip_until(b'\n')?;
    }
    Ok(true)
}

/// The text of a line that [`read_line`] has read.
///
/// # Errors
/// A line that is too long or no UTF-8.
pub fn line_text(line: &[u8]) -> Result<&str, LineError> {
    if line.len() > LONGEST_LINE {
        return Err(LineError::TooLong);
    }
    str::from_utf8(line).map_err(|_| LineError::NotText)
}
