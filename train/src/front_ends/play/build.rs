//! Building a homeland together with a person.

use std::path::Path;

use cyvasse_env::{Rules, Setup, Side, Square};
use rand_chacha::ChaCha8Rng;

use super::PlayError;
use super::console::{Console, Typed};
use super::plan::{Piece, Plan};
use super::saved::write_whole;
use crate::evaluation::Setups;
use crate::front_ends::board::{draw_setup, legend};
use crate::nearest::nearest;
use crate::setups::read_setups;

const HELP: &str = "\
You see your homeland from your side: rank 4 is the front, a1 the left end of your home rank.
  suggest              a homeland as the opponent would build it; again for another one
  m a4 b4 c2           put something on squares: a tile (m mountain, w water, f forest, c fortress,
                       g grass), a unit by its capital letter (K d1), or - for nobody; names work too
  swap a4 b2           exchange two squares with all that is on them
  fill                 put what is left somewhere at random
  mirror, clear        turn it left to right; begin anew
  load FILE [N]        the first (or Nth) homeland of a file with one a line
  save FILE            write it into a new file
  show, legend         draw it again; what the letters mean
  done                 lift the screen and begin
  quit                 leave
A homeland in its text form (tiles, a space, units) may be typed as it is.";

const COMMANDS: [&str; 14] = [
    "suggest", "swap", "fill", "mirror", "clear", "load", "save", "show", "legend", "done", "quit",
    "exit", "help", "put",
];

/// Somebody who builds.
pub(super) struct Builder<'a> {
    pub(super) rules: &'a Rules,
    pub(super) seat: Side,
    /// Where suggestions come from.
    pub(super) setups: &'a Setups,
    pub(super) rng: ChaCha8Rng,
}

/// What a command did.
enum Done {
    /// The plan has changed and wants to be looked at.
    Drawn,
    /// There is something to tell.
    Told(String),
    Finished(Setup),
    Left,
}

impl Builder<'_> {
    /// Asks until the homeland is done; `None` if the person leaves.
    pub(super) fn build(&mut self, console: &mut Console) -> Result<Option<Setup>, PlayError> {
        console.complete_with(COMMANDS.map(str::to_owned).to_vec());
        let seat = self.seat;
        console.tell(&format!(
            "Build your homeland; you are {seat}. `suggest` builds one for you, `help` tells more."
        ))?;
        let mut plan = Plan::EMPTY;
        self.draw(&plan, console)?;
        loop {
            let line = match console.ask(&format!("{seat}'s homeland> "))? {
                Typed::Line(line) => line,
                Typed::Interrupt => continue,
                Typed::End => return Ok(None),
            };
            match self.obey(&line, &mut plan) {
                Ok(Done::Drawn) => self.draw(&plan, console)?,
                Ok(Done::Told(text)) => console.tell(&text)?,
                Ok(Done::Finished(setup)) => return Ok(Some(setup)),
                Ok(Done::Left) => return Ok(None),
                Err(reason) => console.tell(&reason)?,
            }
        }
    }

    fn draw(&self, plan: &Plan, console: &mut Console) -> Result<(), PlayError> {
        console.tell(&draw_setup(&plan.setup(), console.colour))?;
        let state = match (plan.left(self.rules), plan.done(self.rules)) {
            (Some(left), _) => format!("to be placed: {left}"),
            (None, Ok(setup)) => format!("complete: {setup}\n`done` lifts the screen"),
            (None, Err(error)) => format!("not allowed yet: {error}"),
        };
        Ok(console.tell(&state)?)
    }

    /// Does what a line says; an error is what to tell the person.
    fn obey(&mut self, line: &str, plan: &mut Plan) -> Result<Done, String> {
        if let Ok(setup) = Setup::parse(line.trim(), self.rules) {
            *plan = Plan::of(&setup);
            return Ok(Done::Drawn);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] | ["show"] => {}
            ["help" | "?"] => return Ok(Done::Told(HELP.into())),
            ["legend"] => return Ok(Done::Told(legend(false))),
            ["quit" | "exit"] => return Ok(Done::Left),
            ["done"] => {
                let wrong = |error| format!("not done yet: {error}; `fill` completes it");
                return plan.done(self.rules).map(Done::Finished).map_err(wrong);
            }
            ["suggest"] => {
                let setup = self.setups.draw(self.seat, &mut self.rng);
                *plan = Plan::of(&setup.map_err(|error| error.to_string())?);
            }
            ["fill"] => {
                let full = plan.completed(self.rules, &mut self.rng);
                *plan = full.ok_or("no way was found to place what is left; move something")?;
            }
            ["mirror"] => *plan = Plan::of(&plan.setup().mirror()),
            ["clear"] => *plan = Plan::EMPTY,
            ["swap", a, b] => plan.swap(square(a)?, square(b)?),
            ["load", file] => *plan = self.load(file, 1)?,
            ["load", file, number] => {
                let wrong = |_| format!("`{number}` is no number");
                *plan = self.load(file, number.parse().map_err(wrong)?)?;
            }
            ["save", file] => {
                let setup = plan.done(self.rules).map_err(|error| error.to_string())?;
                write_whole(Path::new(file), &format!("{setup}\n"), false)
                    .map_err(|error| error.to_string())?;
                return Ok(Done::Told(format!("saved in {file}")));
            }
            ["put", name, ref squares @ ..] | [name, ref squares @ ..] => {
                self.put(name, squares, plan)?;
            }
        }
        Ok(Done::Drawn)
    }

    /// Puts something on all the squares, or on none of them.
    fn put(&self, name: &str, squares: &[&str], plan: &mut Plan) -> Result<(), String> {
        let Some(piece) = Piece::named(name).filter(|_| !squares.is_empty()) else {
            let hint = nearest(name, &COMMANDS);
            let hint = hint.map_or(String::new(), |best| format!(" (did you mean `{best}`?)"));
            let name: String = name.chars().take(40).collect();
            return Err(format!(
                "`{name}` is nothing to do here{hint}; `help` tells what there is"
            ));
        };
        let mut changed = *plan;
        for text in squares {
            changed.put(piece, square(text)?, self.rules)?;
        }
        *plan = changed;
        Ok(())
    }

    fn load(&self, file: &str, number: usize) -> Result<Plan, String> {
        let setups = read_setups(Path::new(file), self.rules).map_err(|error| error.to_string())?;
        let count = setups.len();
        let setup = number.checked_sub(1).and_then(|place| setups.get(place));
        setup.map(Plan::of).ok_or_else(|| format!("{file} has homelands 1 to {count}"))
    }
}

/// A square of the homeland.
fn square(text: &str) -> Result<Square, String> {
    let square = match *text.to_ascii_lowercase().as_bytes() {
        [file, rank] => Square::from_text(file, rank).filter(|square| square.rank() < 4),
        _ => None,
    };
    let text: String = text.chars().take(40).collect();
    square.ok_or_else(|| format!("`{text}` is no square of your homeland: expected a1 to h4"))
}
