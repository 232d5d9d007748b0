//! A game against a person in the terminal.
//!
//! The person builds a homeland, then plays; the opponent is any
//! player, by level or by name. All of it works in a pipe, too, so that a game can be
//! scripted.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cyvasse_env::{Position, Rules, Setup, Side};
use cyvasse_models::SetupNetError;
use cyvasse_selfplay::players::{Player, PlayerError};
use cyvasse_selfplay::{EvaluatorError, Purpose, derive};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tch::Device;
use thiserror::Error;

mod build;
mod console;
mod homelands;
mod levels;
mod plan;
mod saved;
mod table;
mod view;
mod words;

pub use console::{Console, ConsoleError};
pub use levels::{Level, LevelError};
pub use saved::SavedError;

use super::course::Course;
use crate::evaluation::{Entrant, EntrantError, PlayerKind, PlayerSpec, SetupChoice};
use build::Builder;
use homelands::hand_made;
use saved::Saved;
use table::Table;

/// Why a game cannot go on.
#[derive(Debug, Error)]
pub enum PlayError {
    /// The console fails.
    #[error(transparent)]
    Console(#[from] ConsoleError),
    /// The opponent cannot be loaded.
    #[error(transparent)]
    Entrant(#[from] EntrantError),
    /// The opponent fails to build.
    #[error(transparent)]
    Setups(#[from] SetupNetError),
    /// The opponent fails to choose.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// The adviser fails.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    /// A saved game cannot be loaded.
    #[error(transparent)]
    Saved(#[from] SavedError),
    /// A saved game names an opponent that is none.
    #[error("the saved game's opponent: {0}")]
    Opponent(#[from] crate::evaluation::SpecError),
}

/// Who plays against the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opponent {
    /// Somebody of this level.
    Level(Level),
    /// Somebody by name.
    Named(PlayerSpec),
}

/// What a game is to be.
pub struct Settings {
    /// The rules.
    pub rules: Arc<Rules>,
    /// Where networks are computed.
    pub device: Device,
    /// A trained agent: the opponent at a level, and the adviser.
    pub checkpoint: Option<PathBuf>,
    /// Who plays against the person.
    pub opponent: Opponent,
    /// The person's seat.
    pub seat: Side,
    /// The person's homeland; asked for if there is none.
    pub setup: Option<Setup>,
    /// A saved game to go on with; it says all of the above but rules and device.
    pub saved: Option<PathBuf>,
    /// Where the opponent's choices come from.
    pub seed: u64,
    /// Set by Ctrl-C while the opponent thinks, which it does to the end.
    pub interrupted: Arc<AtomicBool>,
}

/// Somebody loaded, with the text that stands for it in a saved game.
pub(super) struct Seated {
    pub(super) entrant: Entrant,
    pub(super) player: Box<dyn Player>,
    pub(super) level: Option<Level>,
}

impl Settings {
    /// Loads an opponent.
    fn load_opponent(&self, opponent: &Opponent) -> Result<Seated, PlayError> {
        let (spec, level) = match opponent {
            Opponent::Level(level) => (level.player(self.checkpoint.as_deref()), Some(*level)),
            Opponent::Named(spec) => (spec.clone(), None),
        };
        let mut entrant = Entrant::load(&spec, &self.rules, self.device)?;
        let chosen = matches!(spec.setups, SetupChoice::Usual);
        let learned = matches!(entrant.setups, crate::evaluation::Setups::Learned(_));
        if let Some(setups) = hand_made(&self.rules).filter(|_| chosen && !learned) {
            entrant.setups = setups;
        }
        Ok(Seated { player: entrant.player(), entrant, level })
    }

    fn rng(&self, seat: Side, purpose: Purpose) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(derive(self.seed, purpose, &[seat.index() as u64]))
    }
}

/// Plays a game until the person leaves. Each seat's homeland is drawn or built without a
/// look at the other's.
///
/// # Errors
/// Whatever keeps the game from going on; what is wrong with what the person types is
/// told.
pub fn play(settings: &mut Settings, console: &mut Console) -> Result<(), PlayError> {
    if let Some(file) = &settings.saved {
        let saved = Saved::read(file, &settings.rules)?;
        let file = file.clone();
        return Table::resume(settings, saved, file)?.play(console);
    }
    let seated = settings.load_opponent(&settings.opponent)?;
    let other = settings.seat.other();
    let theirs = seated.entrant.setups.draw(other, &mut settings.rng(other, Purpose::Setups))?;
    let own = match settings.setup {
        Some(setup) => setup,
        None => {
            let mut builder = Builder {
                rules: &settings.rules,
                seat: settings.seat,
                setups: &seated.entrant.setups,
                rng: settings.rng(settings.seat, Purpose::SetupSupply),
            };
            match builder.build(console)? {
                Some(setup) => setup,
                None => return Ok(()),
            }
        }
    };
    let setups = match settings.seat {
        Side::White => [own, theirs],
        Side::Black => [theirs, own],
    };
    let course = Course::new(settings.rules.clone(), Position::start(&setups[0], &setups[1]));
    Table::new(settings, seated, setups, course).play(console)
}

/// An opponent as a saved game names it.
fn opponent_of(saved: &Saved) -> Result<(Opponent, Option<PathBuf>), PlayError> {
    let spec: PlayerSpec = saved.opponent.parse()?;
    let checkpoint = match &spec.kind {
        PlayerKind::Agent { path, .. } => Some(path.clone()),
        _ => None,
    };
    let level = saved.level.and_then(|number| number.to_string().parse().ok());
    Ok((level.map_or(Opponent::Named(spec), Opponent::Level), checkpoint))
}
