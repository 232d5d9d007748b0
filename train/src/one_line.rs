//! Errors and other texts in one line each, whatever they are about.

/// The most characters of an error that quotes what it was given.
const LONGEST_QUOTATION: usize = 400;

/// A text whose line breaks are layout, such as a parser's drawing of the place
/// of an error: any white space becomes one space.
#[must_use]
pub fn flattened(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An error and its causes, less those that the error's own words tell.
#[must_use]
pub fn told(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !line.contains(&cause) {
            let link = if line.is_empty() { "" } else { ": " };
            line = line + link + &cause;
        }
    }
    flattened(&line)
}

/// An error that quotes what it was given, which may be anything: what would
/// break the line is escaped, and what is too long is cut.
#[must_use]
pub fn quoted(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let mut line = String::new();
    for letter in text.chars().take(LONGEST_QUOTATION) {
        // The last two end lines although they are no control characters.
        if letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}') {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    if text.chars().nth(LONGEST_QUOTATION).is_some() {
        line.push_str("...");
    }
    line
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn an_error_tells_of_each_cause_once() {
        let error = anyhow!("no\n   file").context("cannot read x: no\n   file");
        assert_eq!(told(&error), "cannot read x: no file");
        assert_eq!(told(&error.context("failed")), "failed: cannot read x: no file");
    }

    #[test]
    fn what_is_quoted_stays_recognisable() {
        let error = anyhow!("found `a\n\u{2028}b  c`");
        assert_eq!(quoted(&error), "found `a\\n\\u{2028}b  c`");
        assert_eq!(quoted(&anyhow!("x".repeat(401))), "x".repeat(400) + "...");
    }
}
