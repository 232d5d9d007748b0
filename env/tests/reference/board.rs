//! Squares, directions and the rows of letters that the text forms share.

/// A direction: files to the right, ranks up.
pub(crate) type Direction = (i32, i32);

pub(crate) const ORTHOGONAL: [Direction; 4] = [(0, 1), (0, -1), (1, 0), (-1, 0)];
pub(crate) const DIAGONAL: [Direction; 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];

/// The eight directions, the orthogonal ones first.
pub(crate) fn all_directions() -> impl Iterator<Item = Direction> {
    ORTHOGONAL.into_iter().chain(DIAGONAL)
}

/// A place on the board. The order is that of the square numbers: a1, b1, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct At {
    pub(crate) rank: i32,
    pub(crate) file: i32,
}

impl At {
    /// The place called `name`, such as `e4`.
    pub(crate) fn named(name: &str) -> Option<At> {
        let &[file @ b'a'..=b'h', rank @ b'1'..=b'8'] = name.as_bytes() else {
            return None;
        };
        Some(At { rank: i32::from(rank - b'1'), file: i32::from(file - b'a') })
    }

    pub(crate) fn name(self) -> String {
        let file = b"abcdefgh"[self.file as usize] as char;
        format!("{file}{}", self.rank + 1)
    }

    /// The next place in a direction, unless the board ends there.
    pub(crate) fn step(self, (files, ranks): Direction) -> Option<At> {
        let next = At { rank: self.rank + ranks, file: self.file + files };
        let on_board = (0..8).contains(&next.rank) && (0..8).contains(&next.file);
        on_board.then_some(next)
    }

    /// The places in a direction, nearest first, up to the edge of the board.
    pub(crate) fn line(self, direction: Direction) -> Vec<At> {
        let mut line = Vec::new();
        let mut at = self;
        while let Some(next) = at.step(direction) {
            line.push(next);
            at = next;
        }
        line
    }
}

/// All places in the order of their square numbers.
pub(crate) fn everywhere() -> impl Iterator<Item = At> {
    (0..8).flat_map(|rank| (0..8).map(move |file| At { rank, file }))
}

/// A letter on every square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Letters([[char; 8]; 8]);

/// What stands on a square with nothing to write: grass, or no unit.
pub(crate) const BLANK: char = '.';

impl Letters {
    pub(crate) fn blank() -> Letters {
        Letters([[BLANK; 8]; 8])
    }

    pub(crate) fn on(&self, at: At) -> char {
        self.0[at.rank as usize][at.file as usize]
    }

    pub(crate) fn put(&mut self, at: At, letter: char) {
        self.0[at.rank as usize][at.file as usize] = letter;
    }

    /// The places that hold `letter`.
    pub(crate) fn find(&self, letter: char) -> Vec<At> {
        everywhere().filter(|&at| self.on(at) == letter).collect()
    }

    /// How many of the squares hold `letter`.
    pub(crate) fn count(&self, letter: char) -> usize {
        self.find(letter).len()
    }

    /// Reads the ranks from 8 to 1.
    pub(crate) fn parse(text: &str, allowed: &str) -> Result<Letters, String> {
        let rows = parse_rows(text, 8, allowed)?;
        let mut letters = Letters::blank();
        for at in everywhere() {
            letters.put(at, rows[7 - at.rank as usize][at.file as usize]);
        }
        Ok(letters)
    }

    /// The ranks from 8 to 1.
    pub(crate) fn text(&self) -> String {
        let rows: Vec<String> = self.0.iter().rev().map(|row| row_text(row)).collect();
        rows.join("/")
    }
}

/// Reads `count` rows of eight letters in which a digit is that many blanks.
pub(crate) fn parse_rows(
    text: &str,
    count: usize,
    allowed: &str,
) -> Result<Vec<Vec<char>>, String> {
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != count {
        return Err(format!("{} rows instead of {count}", rows.len()));
    }
    rows.into_iter().map(|row| parse_row(row, allowed)).collect()
}

fn parse_row(text: &str, allowed: &str) -> Result<Vec<char>, String> {
    let mut row = Vec::new();
    for letter in text.chars() {
        match letter {
            '1'..='8' => row.extend(vec![BLANK; letter as usize - '0' as usize]),
            _ if allowed.contains(letter) => row.push(letter),
            _ => return Err(format!("unknown letter {letter:?}")),
        }
    }
    if row.len() != 8 {
        return Err(format!("the row {text} is {} long", row.len()));
    }
    if row_text(&row) != text {
        return Err(format!("the row {text} does not have the longest runs"));
    }
    Ok(row)
}

/// A row with the longest possible runs of digits.
pub(crate) fn row_text(row: &[char]) -> String {
    let mut text = String::new();
    let mut blanks = 0;
    for &letter in row {
        if letter == BLANK {
            blanks += 1;
            continue;
        }
        if blanks > 0 {
            text += &blanks.to_string();
            blanks = 0;
        }
        text.push(letter);
    }
    if blanks > 0 {
        text += &blanks.to_string();
    }
    text
}
