//! What happens on the board, in words, and what a person may mean by an action.

use cyvasse_env::{Action, Position, Side, Square, SquareSet, Tile, Unit};

/// A legal action in words, such as `heavy horse d3e5 takes the spearmen`.
pub(super) fn describe(before: &Position, action: Action) -> String {
    let unit = |square| before.unit(square).map_or("nobody".into(), |(_, unit)| unit.to_string());
    match action {
        Action::Pass => "pass: there is nothing to do".into(),
        Action::Move { from, to } => {
            let taken = before.unit(to).map(|(_, unit)| format!(" takes the {unit}"));
            format!("{} {action}{}", unit(from), taken.unwrap_or_default())
        }
        Action::Shot { from, to } if before.tile(to) == Tile::Fortress => {
            format!("{} {action} shoots the fortress on {to} to ruins", unit(from))
        }
        Action::Shot { from, to } => format!("{} {action} shoots the {}", unit(from), unit(to)),
        Action::Assault { from, to, .. } => {
            format!("{} {action} lays the fortress on {to} in ruins", unit(from))
        }
    }
}

/// The squares that an action is seen by.
pub(super) fn squares(action: Action) -> SquareSet {
    match action {
        Action::Pass => SquareSet::EMPTY,
        Action::Move { from, to } | Action::Shot { from, to } => from.set() | to.set(),
        Action::Assault { from, to, rest } => from.set() | to.set() | rest.set(),
    }
}

/// Where an action comes from and what it is aimed at.
pub(super) fn ends(action: Action) -> Option<(Square, Square)> {
    match action {
        Action::Pass => None,
        Action::Move { from, to }
        | Action::Shot { from, to }
        | Action::Assault { from, to, .. } => Some((from, to)),
    }
}

/// The units that a side has lost since the start, as letters.
pub(super) fn lost(side: Side, start: &Position, now: &Position) -> String {
    let count =
        |position: &Position, unit: Unit| (position.units(unit) & position.side(side)).len();
    let mut letters = Vec::new();
    for unit in Unit::ALL {
        let letter = match side {
            Side::White => unit.letter(),
            Side::Black => unit.letter().to_ascii_lowercase(),
        };
        let gone = count(start, unit).saturating_sub(count(now, unit));
        letters.extend(std::iter::repeat_n(letter.to_string(), gone));
    }
    if letters.is_empty() { "nobody".into() } else { letters.join(" ") }
}

/// The legal action that somebody means who types `e2e4`, `e2 e4`, `E2-E4`, `e2xe4`,
/// `e2e4@e3` or `pass`: whatever goes from the one square to the other.
///
/// # Errors
/// In words, why there is none, or which there are.
pub(super) fn understand(
    text: &str,
    position: &Position,
    legal: &[Action],
) -> Result<Action, String> {
    let typed: String = text
        .chars()
        .filter(|letter| !letter.is_whitespace() && *letter != '-')
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    let exact = Action::parse(&typed);
    if let Ok(action) = exact
        && legal.contains(&action)
    {
        return Ok(action);
    }
    let letters: Vec<u8> = typed.bytes().filter(|&letter| letter != b'x').collect();
    let square = |pair: Option<&[u8]>| pair.and_then(|pair| Square::from_text(pair[0], pair[1]));
    let squares = (letters.len() == 4 || exact.is_ok())
        .then(|| square(letters.get(..2)).zip(square(letters.get(2..4))))
        .flatten();
    let (from, to) = match (squares, exact) {
        (Some(squares), _) => squares,
        (None, Ok(_)) => return Err("there is something to do: passing is not allowed".into()),
        (None, Err(error)) => return Err(error.to_string()),
    };
    let meant: Vec<Action> =
        legal.iter().copied().filter(|&action| ends(action) == Some((from, to))).collect();
    match meant[..] {
        [action] => Ok(action),
        [] => Err(why_not(position, from, to)),
        _ => {
            let mut texts: Vec<String> = meant.iter().map(Action::to_string).collect();
            texts.sort_unstable();
            Err(format!(
                "where is the attacker to rest before the fortress? Say {}",
                texts.join(" or ")
            ))
        }
    }
}

fn why_not(position: &Position, from: Square, to: Square) -> String {
    match position.unit(from) {
        None => format!("there is nobody on {from}"),
        Some((side, unit)) if side != position.turn() => {
            format!("the {unit} on {from} is not yours to move")
        }
        Some((_, unit)) if position.frozen().contains(from) => {
            format!("the {unit} on {from} is frozen: it has just entered the water")
        }
        Some((_, unit)) => {
            format!("the {unit} on {from} cannot go to {to}; `moves {from}` shows what it can do")
        }
    }
}

#[cfg(test)]
mod tests {
    use cyvasse_env::Rules;

    use super::*;

    /// White's elephant on e2 may storm the fortress on e4, where black's rabble is.
    fn position() -> (Position, Vec<Action>) {
        let rules = Rules::iron_throne();
        let text = "8/8/8/8/4c3/8/8/w7 3k4/8/8/8/4r3/8/4E3/R2K4 w a1 3 12";
        let position = Position::parse(text, &rules).unwrap();
        let mut legal = Vec::new();
        position.legal_actions(&rules, &mut legal);
        (position, legal)
    }

    #[test]
    fn actions_are_understood_as_people_type_them() {
        let (position, legal) = position();
        let meant =
            |text: &str| understand(text, &position, &legal).map(|action| action.to_string());
        for text in ["d1d2", "d1 d2", "D1-D2"] {
            assert_eq!(meant(text), Ok("d1d2".into()));
        }
        assert_eq!(meant("e2e4@e3"), Ok("e2e4@e3".into()));
        let several = meant("e2e4").unwrap_err();
        assert!(several.contains("e2e4@e3 or e2e4@f3"), "{several}");
        assert!(meant("a1a2").unwrap_err().contains("is frozen"));
        assert!(meant("d8d7").unwrap_err().contains("not yours"));
        assert!(meant("c5c6").unwrap_err().contains("nobody on c5"));
        assert!(meant("d1d4").unwrap_err().contains("`moves d1`"));
        assert!(meant("pass").unwrap_err().contains("not allowed"));
        assert!(meant("e2").unwrap_err().contains("no action"));
        assert!(meant("übel").unwrap_err().contains("no action"));
    }

    #[test]
    fn actions_are_told_in_words() {
        let (position, _) = position();
        let told = |text: &str| describe(&position, Action::parse(text).unwrap());
        assert_eq!(told("d1d2"), "king d1d2");
        assert_eq!(told("e2e4@e3"), "elephant e2e4@e3 lays the fortress on e4 in ruins");
        let mut later = position.clone();
        assert_eq!(lost(Side::Black, &position, &later), "nobody");
        later.play_unchecked(Action::parse("e2e4@e3").unwrap());
        assert_eq!(lost(Side::Black, &position, &later), "nobody");
        later.play_unchecked(Action::Pass);
        later.play_unchecked(Action::parse("e3e4").unwrap());
        assert_eq!(lost(Side::Black, &position, &later), "r");
    }
}
