//! The board for a person.
//!
//! A square is three characters wide: the tile fills it, the unit stands in the
//! middle. A mark stands on both sides of a square. Colour repeats what the
//! characters say, nothing more. There is no empty line in a drawing, so that one
//! can stand between two.

use std::env;
use std::io::{self, IsTerminal};

use cyvasse_env::{Position, Rules, Setup, Side, Square, SquareSet, Tile, Unit};

/// Whether standard output is for eyes that want colour (see no-color.org).
#[must_use]
pub fn wants_colour() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    io::stdout().is_terminal() && !refused && !dumb
}

/// Squares that stand out of a board.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    /// Where the last action came from and went to: `>e4<`.
    pub last: SquareSet,
    /// Where an action can go: `(e4)`.
    pub targets: SquareSet,
}

/// Draws a position with all that is known of it, without a line end after the
/// last line.
#[must_use]
pub fn draw(position: &Position, rules: &Rules, colour: bool) -> String {
    let brush = Brush { colour };
    let mut lines = vec![draw_board(position, Side::White, Marks::default(), colour)];
    lines.push(state(position));
    lines.extend(frozen(position));
    // One look at a position cannot know how often it has occurred before.
    let outcome = position.outcome(rules, || 1);
    lines.extend(outcome.map(|outcome| brush.paint(BOLD, &format!("game over: {outcome}"))));
    lines.push(legend(colour));
    lines.join("\n")
}

/// Draws the squares alone, the home rank of `bottom` in the lowest line.
#[must_use]
pub fn draw_board(position: &Position, bottom: Side, marks: Marks, colour: bool) -> String {
    let ranks = match bottom {
        Side::White => [7, 6, 5, 4, 3, 2, 1, 0],
        Side::Black => [0, 1, 2, 3, 4, 5, 6, 7],
    };
    draw_ranks(position, &ranks, marks, colour)
}

/// Draws a setup in its builder's own view, without a line end after the last line.
#[must_use]
pub fn draw_setup(setup: &Setup, colour: bool) -> String {
    // White's half of a position is what white sees of its own setup.
    let position = Position::start(setup, setup);
    draw_ranks(&position, &[3, 2, 1, 0], Marks::default(), colour)
}

/// What the letters of a board mean.
#[must_use]
pub fn legend(colour: bool) -> String {
    Brush { colour }.legend().join("\n")
}

fn draw_ranks(position: &Position, ranks: &[usize], marks: Marks, colour: bool) -> String {
    const FILES: &str = "    a   b   c   d   e   f   g   h";
    let brush = Brush { colour };
    let mut lines = vec![FILES.to_owned()];
    lines.extend(ranks.iter().map(|&rank| brush.rank(position, rank, marks)));
    lines.push(FILES.to_owned());
    lines.join("\n")
}

fn state(position: &Position) -> String {
    let (turn, plies, quiet) = (position.turn(), position.plies(), position.quiet_plies());
    format!("{turn} to move; plies: {plies}, since the last capture or ruin: {quiet}")
}

/// The frozen squares in a line, if there are any.
#[must_use]
pub fn frozen(position: &Position) -> Option<String> {
    let squares: Vec<String> = position.frozen().into_iter().map(|s| s.to_string()).collect();
    (!squares.is_empty()).then(|| format!("frozen: {}", squares.join(" ")))
}

/// A terminal's code for a colour or a weight.
type Code = &'static str;

const BOLD: Code = "1";
const FROZEN: Code = "1;35";

/// The characters of a tile (in the middle when it is empty) and its colour.
fn look(tile: Tile) -> ([char; 3], Code) {
    match tile {
        Tile::Grass => ([' ', '.', ' '], "2"),
        Tile::Mountain => (['^', '^', '^'], "0"),
        Tile::Water => (['~', '~', '~'], "36"),
        Tile::Forest => (['&', '&', '&'], "32"),
        Tile::Fortress => (['[', ' ', ']'], "33"),
        Tile::Ruin => ([':', ' ', ':'], "33"),
    }
}

/// White's units in upper case, black's in lower case.
fn unit_look((side, unit): (Side, Unit)) -> (char, Code) {
    match side {
        Side::White => (unit.letter(), BOLD),
        Side::Black => (unit.letter().to_ascii_lowercase(), "1;31"),
    }
}

#[derive(Clone, Copy)]
enum Mark {
    Last,
    Target,
}

impl Mark {
    fn of(square: Square, marks: Marks) -> Option<Mark> {
        if marks.targets.contains(square) {
            Some(Mark::Target)
        } else {
            marks.last.contains(square).then_some(Mark::Last)
        }
    }

    fn brackets(self) -> (char, char) {
        match self {
            Mark::Last => ('>', '<'),
            Mark::Target => ('(', ')'),
        }
    }

    /// The code of its background, after another code.
    fn ground(self) -> Code {
        match self {
            Mark::Last => ";48;5;238",
            Mark::Target => ";48;5;22",
        }
    }
}

#[derive(Clone, Copy)]
struct Brush {
    colour: bool,
}

impl Brush {
    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn rank(self, position: &Position, rank: usize, marks: Marks) -> String {
        let number = rank + 1;
        let mut line = format!("{number} ");
        let mut closing = None;
        for square in (0..8).map(|file| Square::at(file, rank)) {
            let mark = Mark::of(square, marks);
            line += &self.between(closing, mark.map(|mark| mark.brackets().0));
            line += &self.square(position, square, mark);
            closing = mark.map(|mark| mark.brackets().1);
        }
        line + &self.between(closing, None) + &format!(" {number}")
    }

    /// The character between two squares, of which the left one or the right one
    /// may be marked.
    fn between(self, closing: Option<char>, opening: Option<char>) -> String {
        let letter = match (closing, opening) {
            (None, None) => return " ".to_owned(),
            (Some(_), Some(_)) => '|',
            (Some(letter), None) | (None, Some(letter)) => letter,
        };
        self.paint(BOLD, &letter.to_string())
    }

    fn square(self, position: &Position, square: Square, mark: Option<Mark>) -> String {
        let ([left, middle, right], code) = look(position.tile(square));
        let ([left, right], edge_code) = match position.frozen().contains(square) {
            true => (['*', '*'], FROZEN),
            false => ([left, right], code),
        };
        let (middle, middle_code) = position.unit(square).map_or((middle, code), unit_look);
        let parts = [(left, edge_code), (middle, middle_code), (right, edge_code)];
        let ground = mark.map_or("", Mark::ground);
        let paint = |(letter, code): (char, Code)| {
            self.paint(&format!("{code}{ground}"), &letter.to_string())
        };
        parts.map(paint).concat()
    }

    fn legend(self) -> [String; 4] {
        let tiles = Tile::LAID.into_iter().chain([Tile::Ruin]).map(|tile| {
            let (letters, code) = look(tile);
            let sample = String::from_iter(letters);
            format!("{} {tile}", self.paint(code, sample.trim()))
        });
        let units = Unit::ALL.map(|unit| format!("{} {unit}", unit.letter()));
        let (first, second) = units.split_at(5);
        [
            format!("tiles: {}", tiles.collect::<Vec<_>>().join("  ")),
            format!("units: {}", first.join("  ")),
            format!("       {}", second.join("  ")),
            "upper case: white; lower case: black; *s*: frozen".to_owned(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text without its `ESC [ ... m`.
    fn without_codes(text: &str) -> String {
        let mut parts = text.split("\x1b[");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
    }

    #[test]
    fn colour_adds_nothing_but_colour() {
        let rules = Rules::iron_throne();
        let text = "c2m1r2/8/w7/4w3/8/8/f7/8 4k3/8/8/4R3/8/8/8/3K4 w e5 100 120";
        let position = Position::parse(text, &rules).unwrap();
        let plain = draw(&position, &rules, false);
        let coloured = draw(&position, &rules, true);
        assert!(!plain.contains('\x1b'));
        assert!(coloured.contains("\x1b[1;35m*\x1b[0m\x1b[1mR\x1b[0m\x1b[1;35m*\x1b[0m"));
        assert_eq!(without_codes(&coloured), plain);
    }

    #[test]
    fn marks_stand_beside_their_squares_from_either_side() {
        let rules = Rules::iron_throne();
        let text = "8/8/8/4w3/8/8/8/8 4k3/8/8/4R3/8/8/8/3K4 w - 0 1";
        let position = Position::parse(text, &rules).unwrap();
        let (e4, f4, e5) = (Square::at(4, 3), Square::at(5, 3), Square::at(4, 4));
        let marks = Marks { last: e5.set(), targets: e4.set() | f4.set() };
        for bottom in Side::ALL {
            let plain = draw_board(&position, bottom, marks, false);
            let lines: Vec<&str> = plain.lines().collect();
            let fourth = lines.iter().position(|line| line.starts_with('4')).unwrap();
            assert_eq!(fourth, if bottom == Side::White { 5 } else { 4 });
            assert_eq!(lines[fourth], "4   .   .   .   . ( . | . ) .   .   4");
            assert!(plain.contains("5   .   .   .   . >~R~< .   .   .   5"), "{plain}");
            let coloured = draw_board(&position, bottom, marks, true);
            assert_eq!(without_codes(&coloured), plain);
            assert!(coloured.contains("\x1b[36;48;5;238m~\x1b[0m"));
        }
    }
}
