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
    /// What auxiliary heads learn; `None` where there are none.
    pub auxiliary: Option<Box<AuxiliaryTargets>>,
}

/// What auxiliary heads learn of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct AuxiliaryTargets {
    /// Plies to the end of the game or to a resignation: 1 or more.
    pub plies_left: u32,
    /// The policy target of the next ply: shares by action index in the view of who
    /// plays it; empty after the last ply and where the next one teaches no policy.
    pub reply: Box<[(u16, f32)]>,
    /// Chances of win, draw and loss for the side to move that the searches of this
    /// and the next plies say: TD(lambda) with [`SHORT_TERM`].
    pub short_term: [f32; 3],
}

/// The lambda of the short-term value: what weighs in it is on average 5 plies away
/// (the nearest of the three horizons, of about 6 turns, of "Short-term value and
/// score targets" in KataGo's `docs/KataGoMethods.md`).
pub const SHORT_TERM: f32 = 5.0 / 6.0;

/// Which targets samples have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Targets {
    /// The lambda of the value target.
    pub lambda: f32,
    /// Whether they have those of auxiliary heads.
    pub auxiliary: bool,
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
pub fn samples_of(shard: &Shard, targets: Targets) -> Result<Vec<Sample>, ReplayError> {
    let drawn = drawn_share(shard);
    let mut samples = Vec::with_capacity(shard.ply_count());
    for game in 0..shard.game_count() {
        samples.extend(samples_of_game(shard, game, drawn, targets)?);
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
    targets: Targets,
) -> Result<Vec<Sample>, ReplayError> {
    let mut plies = Vec::new();
    shard.for_each_ply(game, |ply| plies.push(Ply::new(&ply, drawn)))?;
    let result = WhiteValue::of(shard.outcome(game));
    if targets.auxiliary {
        set_auxiliary_targets(&mut plies, result);
    }
    let values = returns(&plies, result, targets.lambda);
    plies.iter_mut().zip(values).for_each(|(ply, value)| ply.sample.wdl = value);
    let taught = plies.into_iter().filter(|ply| ply.kind == PlyKind::Full);
    Ok(taught.map(|ply| ply.sample).collect())
}

/// A ply of a game whose targets are being made.
struct Ply {
    /// With what the search said as its value target.
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
            auxiliary: None,
        };
        Ply { sample, kind: ply.kind, proven: ply.proven }
    }
}

fn set_auxiliary_targets(plies: &mut [Ply], result: WhiteValue) {
    let short_term = returns(plies, result, SHORT_TERM);
    for (at, short_term) in short_term.into_iter().enumerate() {
        let reply = plies.get(at + 1).map(|next| next.sample.policy.clone());
        plies[at].sample.auxiliary = Some(Box::new(AuxiliaryTargets {
            plies_left: (plies.len() - at) as u32,
            reply: reply.unwrap_or_default(),
            short_term,
        }));
    }
}

/// The returns of TD(lambda) of what the searches of a game said: of each ply the
/// chances of win, draw and loss for the side to move.
fn returns(plies: &[Ply], result: WhiteValue, lambda: f32) -> Vec<[f32; 3]> {
    // White's chances, as the later plies see them.
    let mut later = result_chances(result.for_mover(Side::White));
    let mut returns = vec![[0.0; 3]; plies.len()];
    for (of_ply, Ply { sample, kind, proven }) in returns.iter_mut().zip(plies).rev() {
        let turn = sample.position.turn();
        let search = for_white(sample.wdl, turn);
        if *proven {
            later = search;
        } else if *kind != PlyKind::Opening {
            // An action by lot had no search.
            later = std::array::from_fn(|i| lambda * later[i] + (1.0 - lambda) * search[i]);
        }
        *of_ply = for_white(later, turn);
    }
    returns
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
