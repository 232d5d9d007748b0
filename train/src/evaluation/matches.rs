//! Matches: pairs of games with the seats swapped.
//!
//! Where both players take their setups from the same place, the two games of
//! a pair have the same start: the same setup for white and the same for
//! black, with the players changing seats; so neither profits from the luck of
//! the draw. Players that take them from different places bring their setups to
//! both seats: each game of a pair is then played with a setup of one player
//! against a setup of the other, and building them well is a part of what is
//! measured. Neither setup depends on anything of the other.
//!
//! What a pair plays depends on the seed and its number alone, not on the
//! workers (unless a player is given time).

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use cyvasse_env::{Action, Game, Outcome, Position, Rules, Setup, Side};
use cyvasse_models::SetupNetError;
use cyvasse_selfplay::players::{Player, PlayerError, Turn};
use cyvasse_selfplay::{Purpose, derive};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use super::setups::Setups;

/// What a match is to be.
#[derive(Clone, Debug)]
pub struct Match<'a> {
    /// The rules.
    pub rules: Arc<Rules>,
    /// Numbers of the pairs of games.
    pub pairs: Range<u64>,
    /// Where setups and the players' choices come from.
    pub seed: u64,
    /// Where the players' setups come from; `None` for the second player if it
    /// shares those of the first.
    pub setups: (&'a Setups, Option<&'a Setups>),
    /// Random plies that each game begins with, the same in both games of a
    /// pair as long as their starts are the same; fewer where the rules end
    /// games so early that none gets there.
    pub opening_plies: u16,
}

/// A match that cannot go on.
#[derive(Debug, Error)]
pub enum MatchError {
    /// A player failed to choose.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// A player failed to build.
    #[error(transparent)]
    Setups(#[from] SetupNetError),
}

/// A game of a match.
#[derive(Clone, Debug)]
pub struct PlayedGame {
    /// The side of the first player.
    pub first: Side,
    /// White's setup and black's.
    pub setups: [Setup; 2],
    /// All actions, the random ones of the opening included.
    pub actions: Vec<Action>,
    /// How it ended.
    pub outcome: Outcome,
    /// Actions that each player chose.
    pub chosen: [u32; 2],
    /// The time that each player took for them.
    pub time: [Duration; 2],
}

/// The two games of a pair: in the first one the first player is white.
#[derive(Clone, Debug)]
pub struct PlayedPair {
    /// The pair's number.
    pub number: u64,
    /// Its games.
    pub games: [PlayedGame; 2],
}

impl PlayedPair {
    /// The first player's half-points, 0 to 4.
    #[must_use]
    pub fn half_points(&self) -> usize {
        let points = self.games.iter().map(|game| match game.outcome.winner() {
            None => 1,
            Some(winner) if winner == game.first => 2,
            Some(_) => 0,
        });
        points.sum()
    }
}

/// Pairs that a worker plays at the same time, so that a network has a batch to
/// judge.
const PAIRS_IN_FLIGHT: u64 = 32;

/// Plays a match with a worker for each two players, and hands over the pairs
/// in the order of their numbers until all are played, `on_pair` breaks, or
/// `stop` is set.
///
/// # Errors
/// A player that fails.
pub fn play_match(
    players: Vec<[Box<dyn Player>; 2]>,
    settings: &Match<'_>,
    stop: &AtomicBool,
    mut on_pair: impl FnMut(PlayedPair) -> ControlFlow<()>,
) -> Result<(), MatchError> {
    let next = AtomicU64::new(settings.pairs.start);
    let enough = AtomicBool::new(false);
    let length = settings.pairs.end.saturating_sub(settings.pairs.start);
    let in_flight = length.div_ceil(players.len().max(1) as u64).clamp(1, PAIRS_IN_FLIGHT);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for players in players {
            let sender = sender.clone();
            let mut worker = Worker { players, settings, next: &next, in_flight, live: Vec::new() };
            let ended = || stop.load(Ordering::Relaxed) || enough.load(Ordering::Relaxed);
            scope.spawn(move || worker.work(&sender, ended));
        }
        drop(sender);
        // Pairs that ended before an earlier one did.
        let mut early = BTreeMap::new();
        let mut due = settings.pairs.start;
        let mut result = Ok(());
        for message in receiver {
            match message {
                Ok(pair) => _ = early.insert(pair.number, pair),
                Err(error) => {
                    result = Err(error);
                    enough.store(true, Ordering::Relaxed);
                }
            }
            while let Some(pair) = early.remove(&due).filter(|_| !enough.load(Ordering::Relaxed)) {
                due += 1;
                if on_pair(pair).is_break() {
                    enough.store(true, Ordering::Relaxed);
                }
            }
        }
        result
    })
}

/// Plays pairs, many at a time.
struct Worker<'a> {
    players: [Box<dyn Player>; 2],
    settings: &'a Match<'a>,
    /// The next pair that nobody plays.
    next: &'a AtomicU64,
    in_flight: u64,
    live: Vec<LivePair>,
}

struct LivePair {
    number: u64,
    games: [LiveGame; 2],
}

struct LiveGame {
    game: Game,
    seed: u64,
    played: PlayedGame,
    ended: bool,
}

impl Worker<'_> {
    fn work(
        &mut self,
        sender: &mpsc::Sender<Result<PlayedPair, MatchError>>,
        ended: impl Fn() -> bool,
    ) {
        if let Err(error) = self.play(sender, ended) {
            // Nobody listens any more when another worker has failed.
            let _ = sender.send(Err(error));
        }
    }

    fn play(
        &mut self,
        sender: &mpsc::Sender<Result<PlayedPair, MatchError>>,
        ended: impl Fn() -> bool,
    ) -> Result<(), MatchError> {
        while !ended() {
            self.fill()?;
            if self.live.is_empty() {
                break;
            }
            for player in 0..2 {
                self.advance(player)?;
                for pair in self.take_ended() {
                    let _ = sender.send(Ok(pair));
                }
            }
        }
        Ok(())
    }

    /// Begins pairs until as many as allowed are under way.
    fn fill(&mut self) -> Result<(), SetupNetError> {
        while (self.live.len() as u64) < self.in_flight {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.settings.pairs.end {
                break;
            }
            self.live.push(begin(self.settings, number)?);
        }
        Ok(())
    }

    /// Lets a player move in every game in which it is to move.
    fn advance(&mut self, player: usize) -> Result<(), PlayerError> {
        let due = |game: &LiveGame| {
            let turn = usize::from(game.game.position().turn() != game.played.first);
            !game.ended && turn == player
        };
        let games = self.live.iter_mut().flat_map(|pair| &mut pair.games);
        let mut games: Vec<&mut LiveGame> = games.filter(|game| due(game)).collect();
        if games.is_empty() {
            return Ok(());
        }
        let turns: Vec<Turn<'_>> =
            games.iter().map(|game| Turn { game: &game.game, seed: game.seed }).collect();
        let started = Instant::now();
        let actions = self.players[player].choose(&turns)?;
        drop(turns);
        let share = started.elapsed() / actions.len().max(1) as u32;
        for (game, action) in games.iter_mut().zip(actions) {
            game.played.chosen[player] += 1;
            game.played.time[player] += share;
            game.play(action);
        }
        Ok(())
    }

    fn take_ended(&mut self) -> Vec<PlayedPair> {
        let over = |pair: &mut LivePair| pair.games.iter().all(|game| game.ended);
        let ended = self.live.extract_if(.., over);
        ended
            .map(|pair| PlayedPair {
                number: pair.number,
                games: pair.games.map(|game| game.played),
            })
            .collect()
    }
}

impl LiveGame {
    fn play(&mut self, action: Action) {
        self.played.actions.push(action);
        self.game.play_unchecked(action);
        if let Some(outcome) = self.game.outcome() {
            self.played.outcome = outcome;
            self.ended = true;
        }
    }
}

/// The games of a pair behind their openings.
fn begin(settings: &Match<'_>, number: u64) -> Result<LivePair, SetupNetError> {
    let seed = derive(settings.seed, Purpose::Match, &[number]);
    let game = |first: Side| -> Result<LiveGame, SetupNetError> {
        let setups = draw_setups(settings, seed, first)?;
        let mut live = open(settings, seed, first, setups);
        live.seed = derive(settings.seed, Purpose::Match, &[number, first.index() as u64]);
        Ok(live)
    };
    Ok(LivePair { number, games: [game(Side::White)?, game(Side::Black)?] })
}

/// White's setup and black's, when the first player sits at `first`.
fn draw_setups(settings: &Match<'_>, seed: u64, first: Side) -> Result<[Setup; 2], SetupNetError> {
    let [white, black] = match settings.setups {
        (shared, None) => {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            Side::ALL.map(|seat| shared.draw(seat, &mut rng))
        }
        (of_first, Some(of_second)) => Side::ALL.map(|seat| {
            let (player, setups) = if seat == first { (0, of_first) } else { (1, of_second) };
            let seed = derive(seed, Purpose::Setups, &[player]);
            setups.draw(seat, &mut ChaCha8Rng::seed_from_u64(seed))
        }),
    };
    Ok([white?, black?])
}

/// Openings of one length that are tried before a shorter one will do.
const OPENING_ATTEMPTS: u64 = 100;

/// A game behind its random plies. Those take no king, and an opening that ends
/// the game is drawn again; after many attempts in vain it may be a ply
/// shorter. `pair` is the seed of the pair: both its games have the same
/// opening.
fn open(settings: &Match<'_>, pair: u64, first: Side, setups: [Setup; 2]) -> LiveGame {
    let mut attempt = 0;
    loop {
        let plies = u64::from(settings.opening_plies).saturating_sub(attempt / OPENING_ATTEMPTS);
        let [white, black] = &setups;
        let game = Game::new(settings.rules.clone(), Position::start(white, black));
        let played = PlayedGame {
            first,
            setups,
            actions: Vec::new(),
            outcome: Outcome::Win(first), // until it has ended
            chosen: [0; 2],
            time: [Duration::ZERO; 2],
        };
        let mut live = LiveGame { game, seed: pair, played, ended: false };
        let mut rng = ChaCha8Rng::seed_from_u64(derive(pair, Purpose::Opening, &[attempt]));
        for _ in 0..plies {
            let mut actions = Vec::new();
            live.game.legal_actions(&mut actions);
            actions.retain(|&action| !live.game.position().captures_king(action));
            if live.ended || actions.is_empty() {
                break;
            }
            live.play(actions[rng.random_range(0..actions.len())]);
        }
        if live.played.actions.len() as u64 == plies && !live.ended {
            return live;
        }
        attempt += 1;
    }
}
