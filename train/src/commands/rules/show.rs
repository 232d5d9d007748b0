//! The board for a person.
//!
//! A square is three characters wide: the tile fills it, the unit stands in the
//! middle. Colour repeats what the characters say, nothing more. There is no
//! empty line in a drawing, so that one can stand between two.

use std::env;
use std::io::{self, IsTerminal};

use cyvasse_env::{Position, Rules, Setup, Side, Square, Tile, Unit};

const FILES: &str = "    a   b   c   d   e   f   g   h";

/// Whether standard output is for eyes that want colour (see no-color.org).
pub(in crate::commands) fn wants_colour() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    io::stdout().is_terminal() && !refused && !dumb
}

/// Draws a position, without a line end after the last line.
pub(in crate::commands) fn draw(position: &Position, rules: &Rules, colour: bool) -> String {
    let brush = Brush { colour };
    let mut lines = vec![FILES.to_owned()];
    lines.extend((0..8).rev().map(|rank| brush.rank(position, rank)));
    lines.push(FILES.to_owned());
    lines.push(state(position));
    lines.extend(frozen(position));
    // One look at a position cannot know how often it has occurred before.
    let outcome = position.outcome(rules, || 1);
    lines.extend(outcome.map(|outcome| brush.paint(BOLD, &format!("game over: {outcome}"))));
    lines.extend(brush.legend());
    lines.join("\n")
}

/// Draws a setup in its builder's own view, without a line end after the last line.
pub(in crate::commands) fn draw_setup(setup: &Setup, colour: bool) -> String {
    let brush = Brush { colour };
    // White's half of a position is what white sees of its own setup.
    let position = Position::start(setup, setup);
    let ranks = (0..4).rev().map(|rank| brush.rank(&position, rank));
    let files = || FILES.to_owned();
    [files()].into_iter().chain(ranks).chain([files()]).collect::<Vec<_>>().join("\n")
}

fn state(position: &Position) -> String {
    let (turn, plies, quiet) = (position.turn(), position.plies(), position.quiet_plies());
    format!("{turn} to move; plies: {plies}, since the last capture or ruin: {quiet}")
}

fn frozen(position: &Position) -> Option<String> {
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
struct Brush {
    colour: bool,
}

impl Brush {
    fn paint(self, code: Code, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn rank(self, position: &Position, rank: usize) -> String {
        let squares = (0..8).map(|file| self.square(position, Square::at(file, rank)));
        let squares: Vec<String> = squares.collect();
        let number = rank + 1;
        format!("{number}  {}  {number}", squares.join(" "))
    }

    fn square(self, position: &Position, square: Square) -> String {
        let ([left, middle, right], code) = look(position.tile(square));
        let ([left, right], edge_code) = match position.frozen().contains(square) {
            true => (['*', '*'], FROZEN),
            false => ([left, right], code),
        };
        let (middle, middle_code) = position.unit(square).map_or((middle, code), unit_look);
        let parts = [(left, edge_code), (middle, middle_code), (right, edge_code)];
        parts.map(|(letter, code)| self.paint(code, &letter.to_string())).concat()
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
}
