//! What the network is trained on: positions with their targets.

use cyvasse_env::{Position, Side};
use cyvasse_selfplay::replay::{PlyView, ReplayError, Shard};
use cyvasse_selfplay::{MoverValue, PlyKind, WhiteValue};

/// A position of a finished game, and what is to be learned from it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The position.
    pub position: Position,
    /// How often it had occurred in its game, itself included.
    pub occurrences: u16,
    /// Shares of legal actions by their action index; empty where the ply
    /// teaches no policy.
    pub policy: Box<[(u16, f32)]>,
    /// Target chances of win, draw and loss for the side to move.
    pub wdl: [f32; 3],
}

/// The samples of a shard, one for each ply that was searched in full, in the
/// order of its games.
///
/// The value target is the return of TD(lambda) (Sutton 1988), from the last ply
/// backwards: `lambda` times the target of the next ply (after the last one the
/// game's result) and the rest what the search of this ply said; a proven value
/// counts in full. 1 is the result alone. All positions of a game show the same
/// tiles, so that a network taught results learns them by heart from the tiles,
/// while what the searches said was said before it had seen the game.
///
/// # Errors
/// A game that does not follow the rules.
pub fn samples_of(shard: &Shard, lambda: f32) -> Result<Vec<Sample>, ReplayError> {
    let drawn = drawn_share(shard);
    let mut samples = Vec::with_capacity(shard.ply_count());
    for game in 0..shard.game_count() {
        samples.extend(samples_of_game(shard, game, drawn, lambda)?);
    }
    Ok(samples)
}

/// The samples of one game of a shard that has this [`drawn_share`].
///
/// # Errors
/// As [`samples_of`].
pub(super) fn samples_of_game(
    shard: &Shard,
    game: usize,
    drawn: f32,
    lambda: f32,
) -> Result<Vec<Sample>, ReplayError> {
    let mut plies = Vec::new();
    shard.for_each_ply(game, |ply| plies.push(Ply::new(&ply, drawn)))?;
    set_targets(&mut plies, WhiteValue::of(shard.outcome(game)), lambda);
    let taught = plies.into_iter().filter(|ply| ply.kind == PlyKind::Full);
    Ok(taught.map(|ply| ply.sample).collect())
}

/// A ply of a game whose value target is being made.
struct Ply {
    sample: Sample,
    kind: PlyKind,
    proven: bool,
}

impl Ply {
    /// The ply with what its search said of its value.
    fn new(ply: &PlyView<'_>, drawn: f32) -> Ply {
        let shares = ply.policy_actions.iter().zip(ply.policy_shares);
        let sample = Sample {
            position: ply.position.clone(),
            occurrences: ply.occurrences as u16,
            policy: shares.map(|(&action, &share)| (action, share)).collect(),
            wdl: if ply.proven {
                result_chances(ply.root_value)
            } else {
                search_chances(ply.root_value, drawn)
            },
        };
        Ply { sample, kind: ply.kind, proven: ply.proven }
    }
}

/// Turns what the searches of a game said into targets.
fn set_targets(plies: &mut [Ply], result: WhiteValue, lambda: f32) {
    // White's chances, as the later plies see them.
    let mut later = result_chances(result.for_mover(Side::White));
    for Ply { sample, kind, proven } in plies.iter_mut().rev() {
        let turn = sample.position.turn();
        let search = for_white(sample.wdl, turn);
        if *proven {
            later = search;
        } else if *kind != PlyKind::Opening {
            // An action by lot had no search.
            later = std::array::from_fn(|i| lambda * later[i] + (1.0 - lambda) * search[i]);
        }
        sample.wdl = for_white(later, turn);
    }
}

/// Chances of the side to move as white's, or the other way round.
fn for_white([win, draw, loss]: [f32; 3], turn: Side) -> [f32; 3] {
    match turn {
        Side::White => [win, draw, loss],
        Side::Black => [loss, draw, win],
    }
}

/// Share of a shard's games that were drawn.
pub(super) fn drawn_share(shard: &Shard) -> f32 {
    let games = shard.game_count();
    let drawn = (0..games).filter(|&game| shard.outcome(game).winner().is_none()).count();
    drawn as f32 / games.max(1) as f32
}

/// Chances of win, draw and loss for a result that is certain.
fn result_chances(value: MoverValue) -> [f32; 3] {
    let value = value.get();
    [f32::from(value > 0.5), f32::from(value.abs() <= 0.5), f32::from(value < -0.5)]
}

/// Chances of win, draw and loss for an expected result. A search tells no
/// chance of a draw: it is taken to be `drawn`, as far as the value leaves room.
fn search_chances(value: MoverValue, drawn: f32) -> [f32; 3] {
    let value = value.get().clamp(-1.0, 1.0);
    let draw = drawn.min(1.0 - value.abs());
    let win = (1.0 - draw + value) / 2.0;
    [win, draw, 1.0 - draw - win]
}
