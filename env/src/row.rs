//! One rank of a board field: letters, and runs of digits for what is left out.

use std::fmt::{self, Write};

/// Reads a rank; the answer holds a file (0 to 7) and an item for each letter.
/// Runs of digits must be the longest possible. The error is the reason.
pub(crate) fn read<T>(
    text: &str,
    item: impl Fn(char) -> Option<T>,
) -> Result<Vec<(usize, T)>, String> {
    let mut items = Vec::new();
    let mut files = 0;
    let mut after_run = false;
    for letter in text.chars() {
        if let Some(run @ 1..=8) = letter.to_digit(10) {
            if after_run {
                return Err(format!(
                    "`{text}` has two runs of digits side by side; write their sum"
                ));
            }
            files += run as usize;
        } else {
            let item = item(letter).ok_or_else(|| format!("unknown letter `{letter}`"))?;
            items.push((files, item));
            files += 1;
        }
        after_run = letter.is_ascii_digit();
        if files > 8 {
            return Err(format!(
                "more than 8 files in `{}`",
                text.chars().take(40).collect::<String>()
            ));
        }
    }
    if files != 8 {
        return Err(format!("expected 8 files, not {files}"));
    }
    Ok(items)
}

/// Writes a rank; `None` is left out by a run of digits.
pub(crate) fn write(
    f: &mut fmt::Formatter<'_>,
    letters: impl IntoIterator<Item = Option<char>>,
) -> fmt::Result {
    let mut run = 0;
    let flush = |f: &mut fmt::Formatter<'_>, run: &mut u32| match std::mem::take(run) {
        0 => Ok(()),
        length => write!(f, "{length}"),
    };
    for letter in letters {
        match letter {
            None => run += 1,
            Some(letter) => {
                flush(f, &mut run)?;
                f.write_char(letter)?;
            }
        }
    }
    flush(f, &mut run)
}
