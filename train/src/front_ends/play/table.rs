//! The table at which a game is played: the person's commands and the opponent's
//! answers.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cyvasse_env::{Action, Outcome, Setup, Square};
use cyvasse_models::NetEvaluator;
use cyvasse_selfplay::players::alphabeta::Limit;
use cyvasse_selfplay::players::{AlphaBeta, Turn};

use super::console::{Console, Typed};
use super::levels::Level;
use super::saved::Saved;
use super::view::View;
use super::words::{describe, understand};
use super::{Opponent, PlayError, Seated, Settings, opponent_of};
use crate::front_ends::board::legend;
use crate::front_ends::course::Course;
use crate::front_ends::thinking::{Limits, Manner, Rule, Thinker};
use crate::nearest::nearest;

const HELP: &str = "\
  e2e4           move, shoot or storm from e2 to e4; e2e4@e3 says where to rest before a fortress
  moves [e2]     what can be done, all or with one unit; a square alone does the same
  hint           what an adviser would do
  undo           take back your last action and the answer to it
  board, legend  draw the board again; what its letters mean
  lost, actions  the units that are gone; all actions so far
  position       the text form, for `cyvasse rules`, `engine` and `analyze`
  level [1-8]    how strong the opponent is; it changes at once
  save [FILE]    save the game, in the same file again if none is named
  load FILE      go on with a saved game
  resign         give up
  quit           leave";

const COMMANDS: [&str; 15] = [
    "moves", "hint", "undo", "board", "legend", "lost", "actions", "position", "level", "save",
    "load", "resign", "quit", "exit", "help",
];

/// Simulations, or positions for alpha-beta, that the adviser takes.
const ADVICE: u32 = 800;
const ADVICE_NODES: u64 = 200_000;

pub(super) struct Table<'a> {
    settings: &'a mut Settings,
    opponent: Seated,
    setups: [Setup; 2],
    course: Course,
    resigned: bool,
    /// The file that the game was saved in or loaded from.
    file: Option<PathBuf>,
    /// The actions that it holds, or those that the table began with.
    kept: Vec<Action>,
    adviser: Option<Thinker<NetEvaluator>>,
    /// Whether the person was told that the game is not saved.
    warned: bool,
}

/// What a command did.
enum Done {
    /// The board has changed.
    Played,
    Told(String),
    Left,
}

impl<'a> Table<'a> {
    pub(super) fn new(
        settings: &'a mut Settings,
        opponent: Seated,
        setups: [Setup; 2],
        course: Course,
    ) -> Table<'a> {
        let (file, adviser) = (None, None);
        let kept = course.actions().to_vec();
        Table {
            settings,
            opponent,
            setups,
            course,
            resigned: false,
            file,
            kept,
            adviser,
            warned: false,
        }
    }

    /// A table at which a saved game goes on.
    pub(super) fn resume(
        settings: &'a mut Settings,
        saved: Saved,
        file: PathBuf,
    ) -> Result<Table<'a>, PlayError> {
        let (opponent, checkpoint) = opponent_of(&saved)?;
        // Nothing is changed before everything is there.
        let before = std::mem::replace(&mut settings.checkpoint, checkpoint);
        let seated = match settings.load_opponent(&opponent) {
            Ok(seated) => seated,
            Err(error) => {
                settings.checkpoint = before;
                return Err(error);
            }
        };
        (settings.seat, settings.seed, settings.opponent) = (saved.seat, saved.seed, opponent);
        let mut table = Table::new(settings, seated, saved.setups, saved.course);
        (table.resigned, table.file) = (saved.resigned, Some(file));
        Ok(table)
    }

    /// Plays until the person leaves.
    pub(super) fn play(mut self, console: &mut Console) -> Result<(), PlayError> {
        let (seat, opponent) = (self.settings.seat, self.name());
        console.tell(&format!("You are {seat}, against {opponent}. `help` tells what to type."))?;
        self.answer(console)?;
        loop {
            console.complete_with(self.completions());
            let line = match console.ask(&self.prompt())? {
                Typed::Line(line) => line,
                Typed::Interrupt => continue,
                Typed::End => "quit".into(),
            };
            // Nobody is there to be asked again at the end of a pipe.
            self.warned |= !console.is_watched();
            match self.obey(line.trim(), console) {
                Ok(Done::Played) => self.answer(console)?,
                Ok(Done::Told(text)) => console.tell(&text)?,
                Ok(Done::Left) => return Ok(()),
                Err(Wrong::Input(reason)) => console.tell(&reason)?,
                Err(Wrong::Game(error)) => return Err(error),
            }
        }
    }

    fn name(&self) -> String {
        match self.opponent.level {
            Some(level) => format!("level {} ({})", level.number(), self.opponent.entrant.spec),
            None => self.opponent.entrant.spec.to_string(),
        }
    }

    fn view(&self) -> View<'_> {
        View { course: &self.course, seat: self.settings.seat, resigned: self.resigned }
    }

    fn outcome(&self) -> Option<Outcome> {
        self.view().outcome()
    }

    fn prompt(&self) -> String {
        match self.outcome() {
            Some(_) => "game over> ".into(),
            None => format!("{} {}> ", self.settings.seat, self.course.position().plies() + 1),
        }
    }

    fn completions(&self) -> Vec<String> {
        let actions = self.course.legal_actions().into_iter().map(|action| action.to_string());
        COMMANDS.into_iter().map(str::to_owned).chain(actions).collect()
    }

    /// Has the opponent play, if it is its turn, and shows the board.
    fn answer(&mut self, console: &mut Console) -> Result<(), PlayError> {
        if self.outcome().is_none() && self.course.turn() != self.settings.seat {
            if console.is_watched() {
                console.tell(&format!("{} thinks ...", self.course.turn()))?;
            }
            let turn = Turn { game: self.course.game(), seed: self.settings.seed };
            let action = self.opponent.player.choose(&[turn])?[0];
            // A Ctrl-C was meant for this thought, not for a later one.
            self.settings.interrupted.store(false, Ordering::Relaxed);
            self.course.play(action).expect("players play by the rules");
        }
        console.tell(&self.view().scene(console.colour))?;
        if self.outcome().is_none() && self.course.legal_actions() == [Action::Pass] {
            console.tell("Nothing can be done: `pass`.")?;
        }
        Ok(())
    }

    fn obey(&mut self, line: &str, console: &mut Console) -> Result<Done, Wrong> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let told = |text: String| Ok(Done::Told(text));
        if words != ["quit"] && words != ["exit"] {
            self.warned &= !console.is_watched();
        }
        match words[..] {
            [] => told(String::new()),
            ["help" | "?"] => told(HELP.into()),
            ["board" | "show"] => told(self.view().scene(console.colour)),
            ["legend"] => told(legend(console.colour)),
            ["lost" | "captured"] => told(self.view().losses()),
            ["position"] => told(self.course.position().to_string()),
            ["actions"] => {
                let actions = self.course.actions().iter().map(Action::to_string);
                told(actions.collect::<Vec<_>>().join(" "))
            }
            ["moves"] => told(self.view().all_moves()),
            ["moves", text] => self.moves_of(text, console.colour),
            ["hint"] => self.hint(),
            ["undo"] => self.undo(),
            ["level"] => told(self.levels()),
            ["level", level] => {
                let level: Level =
                    level.parse().map_err(|error: super::LevelError| input(&error))?;
                let opponent = Opponent::Level(level);
                self.opponent =
                    self.settings.load_opponent(&opponent).map_err(|error| input(&error))?;
                self.settings.opponent = opponent;
                told(format!("the opponent is {} now", self.name()))
            }
            ["save"] => match self.file.clone() {
                Some(file) => self.save(&file),
                None => Err(Wrong::Input("the game has no file yet: `save FILE`".into())),
            },
            ["save", file] => self.save(Path::new(file)),
            ["load", file] => self.load(Path::new(file), console),
            ["resign"] => {
                self.goes_on()?;
                self.resigned = true;
                Ok(Done::Played)
            }
            ["quit" | "exit"] => {
                let safe = self.outcome().is_some() || self.course.actions() == self.kept;
                if safe || self.warned {
                    return Ok(Done::Left);
                }
                self.warned = true;
                told("the game is not saved: `save FILE`, or `quit` once more".into())
            }
            [text] if square(text).is_ok() => self.moves_of(text, console.colour),
            [first, ..] if is_action_like(first) => {
                self.goes_on()?;
                let legal = self.course.legal_actions();
                let action =
                    understand(line, self.course.position(), &legal).map_err(Wrong::Input)?;
                self.course.play(action).map_err(|error| input(&error))?;
                Ok(Done::Played)
            }
            [first, ..] => {
                let hint = nearest(first, &COMMANDS);
                let hint = hint.map_or(String::new(), |best| format!(" (did you mean `{best}`?)"));
                let first: String = first.chars().take(40).collect();
                Err(Wrong::Input(format!(
                    "`{first}` is neither an action nor a command{hint}; `help` tells what there is"
                )))
            }
        }
    }

    /// Whether the person may act.
    fn goes_on(&self) -> Result<(), Wrong> {
        match self.outcome() {
            Some(_) => Err(Wrong::Input("the game is over; `undo` takes back".into())),
            None => Ok(()),
        }
    }

    fn moves_of(&self, text: &str, colour: bool) -> Result<Done, Wrong> {
        let moves = self.view().moves_of(square(text)?, colour);
        moves.map(Done::Told).map_err(Wrong::Input)
    }

    /// Asks the network, or alpha-beta where there is none.
    fn hint(&mut self) -> Result<Done, Wrong> {
        self.goes_on()?;
        if self.adviser.is_none() {
            self.adviser = self.evaluator()?.map(Thinker::new);
        }
        let position = self.course.position();
        let Some(adviser) = &mut self.adviser else {
            let limit = Limit::Nodes(ADVICE_NODES);
            let mut adviser = AlphaBeta::new(self.settings.rules.clone(), limit);
            let thought = adviser.think(self.course.game());
            return Ok(Done::Told(format!("hint: {}", describe(position, thought.best))));
        };
        let limits = Limits { simulations: Some(ADVICE), time: None };
        let seed = self.settings.seed;
        let manner = Manner { limits, rule: Rule::Auto, max_nodes: 4 * ADVICE, seed };
        let stop = AtomicBool::new(false);
        let thought = adviser.think(&self.course, &manner, 1, &stop, |_| {});
        let thought = thought.map_err(|error| Wrong::Game(error.into()))?;
        let line: Vec<String> =
            thought.lines[0].actions.iter().take(6).map(Action::to_string).collect();
        Ok(Done::Told(format!(
            "hint: {}\nexpected: {}; worth {:+.2} to you (1: won, -1: lost)",
            describe(position, thought.result.best),
            line.join(" "),
            thought.result.value.get()
        )))
    }

    /// The network of the opponent, or of the checkpoint that it could be.
    fn evaluator(&self) -> Result<Option<NetEvaluator>, Wrong> {
        if let Some(evaluator) = self.opponent.entrant.evaluator() {
            return Ok(Some(evaluator));
        }
        if self.settings.checkpoint.is_none() {
            return Ok(None);
        }
        let full =
            self.settings.load_opponent(&Opponent::Level(Level::FULL)).map_err(Wrong::Game)?;
        Ok(full.entrant.evaluator())
    }

    fn undo(&mut self) -> Result<Done, Wrong> {
        if self.resigned {
            self.resigned = false;
            return Ok(Done::Played);
        }
        let count = if self.course.turn() == self.settings.seat { 2 } else { 1 };
        if self.course.actions().len() < count {
            return Err(Wrong::Input("there is nothing to take back".into()));
        }
        self.course.take_back(count);
        Ok(Done::Played)
    }

    fn levels(&self) -> String {
        let checkpoint = self.settings.checkpoint.as_deref();
        let now = self.opponent.level;
        let levels = Level::all().map(|level| {
            let mark = if now == Some(level) { "*" } else { " " };
            format!("{mark} {} {}", level.number(), level.player(checkpoint))
        });
        levels.collect::<Vec<_>>().join("\n")
    }

    fn save(&mut self, file: &Path) -> Result<Done, Wrong> {
        let saved = Saved {
            seat: self.settings.seat,
            opponent: self.opponent.entrant.spec.to_string(),
            level: self.opponent.level.map(Level::number),
            seed: self.settings.seed,
            setups: self.setups,
            course: self.course.clone(),
            resigned: self.resigned,
        };
        let own = self.file.as_deref() == Some(file);
        saved.write(file, own).map_err(|error| input(&error))?;
        (self.file, self.kept) = (Some(file.into()), self.course.actions().to_vec());
        Ok(Done::Told(format!("saved in {}", file.display())))
    }

    fn load(&mut self, file: &Path, console: &mut Console) -> Result<Done, Wrong> {
        let saved = Saved::read(file, &self.settings.rules).map_err(|error| input(&error))?;
        let loaded = Table::resume(self.settings, saved, file.into());
        let Table { opponent, setups, course, resigned, file, kept, .. } =
            loaded.map_err(|error| input(&error))?;
        (self.opponent, self.setups, self.course, self.resigned) =
            (opponent, setups, course, resigned);
        (self.file, self.kept, self.adviser) = (file, kept, None);
        let (seat, name) = (self.settings.seat, self.name());
        console
            .tell(&format!("You are {seat}, against {name}."))
            .map_err(|error| Wrong::Game(error.into()))?;
        Ok(Done::Played)
    }
}

/// What went wrong with a command.
enum Wrong {
    /// What was typed: the person is told and tries again.
    Input(String),
    /// The game cannot go on.
    Game(PlayError),
}

fn input(error: &dyn std::fmt::Display) -> Wrong {
    Wrong::Input(error.to_string())
}

fn square(text: &str) -> Result<Square, Wrong> {
    let square = match *text.to_ascii_lowercase().as_bytes() {
        [file, rank] => Square::from_text(file, rank),
        _ => None,
    };
    let text: String = text.chars().take(40).collect();
    square.ok_or_else(|| Wrong::Input(format!("`{text}` is no square")))
}

/// Whether a word begins as an action does.
fn is_action_like(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let begins = word.as_bytes().get(..2).and_then(|pair| Square::from_text(pair[0], pair[1]));
    begins.is_some() || word == "pass"
}
