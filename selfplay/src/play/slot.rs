//! A slot of self-play: a place where one game is played after another.

use std::sync::Arc;

use cyvasse_env::{Action, Game, IllegalAction, Outcome, Position, Rules, Setup};

use super::resignation::{is_played_on, resigns};
use super::settings::GameSettings;
use super::{Round, drawn, opening};
use crate::evaluator::{Evaluation, Request};
use crate::record::{GameId, GameRecord, PlyKind, PlyRecord, UnfinishedGame};
use crate::search::{Cyvasse, Gathered, Search, SearchResult, SearchSettings};
use crate::seeds::{Purpose, derive};
use crate::setups::SetupPool;
use crate::value::MoverValue;

/// Shares of a policy target below this are left out of the record.
const SMALLEST_SHARE: f32 = 1e-3;

/// What all slots of a run have in common.
pub(super) struct Common {
    pub(super) rules: Arc<Rules>,
    /// The search of most plies.
    pub(super) full: SearchSettings,
    /// The search of plies that are not learned from.
    pub(super) cheap: SearchSettings,
    pub(super) games: GameSettings,
    pub(super) seed: u64,
}

impl Common {
    pub(super) fn new(
        rules: Arc<Rules>,
        search: SearchSettings,
        games: GameSettings,
        seed: u64,
    ) -> Common {
        let simulations = games.playout_cap.cheap_simulations;
        let cheap = SearchSettings { simulations, ..search.without_noise() };
        Common { rules, full: search, cheap, games, seed }
    }
}

/// Plays games one after the other, each from a seed of its own.
pub(super) struct Slot {
    record: UnfinishedGame,
    game: Game,
    search: Search<Cyvasse>,
    /// Plies that are still to be played in this round.
    left: u32,
    /// Whether a search is under way for the position of the game.
    searching: bool,
    /// How that search is done.
    kind: PlyKind,
    /// Whether the search has the tree of the last ply.
    tree_is_current: bool,
}

/// What a slot did since it was last asked.
#[derive(Default)]
pub(super) struct Played {
    pub(super) plies: u64,
    pub(super) simulations: u64,
    pub(super) walked: u64,
    pub(super) finished: Vec<GameRecord>,
}

impl Slot {
    /// The first game of a slot.
    pub(super) fn new(common: &Common, setups: &SetupPool, slot: u32) -> Slot {
        let (record, game) = begin(common, setups, GameId { slot, sequence: 0 });
        Slot::with(common, record, game)
    }

    /// A slot that goes on with a game that was interrupted.
    pub(super) fn resume(common: &Common, record: UnfinishedGame) -> Result<Slot, IllegalAction> {
        let mut game = start(common, &record.setups);
        for ply in &record.plies {
            game.play(ply.action)?;
        }
        Ok(Slot::with(common, record, game))
    }

    fn with(common: &Common, record: UnfinishedGame, game: Game) -> Slot {
        let cyvasse = Cyvasse { rules: common.rules.clone() };
        let position = game.position().clone();
        let search = Search::new(cyvasse, common.full.clone(), position, &[], 0);
        let (kind, searching, tree_is_current) = (PlyKind::Full, false, false);
        Slot { record, game, search, left: 0, searching, kind, tree_is_current }
    }

    /// The game that is being played.
    pub(super) fn record(&self) -> &UnfinishedGame {
        &self.record
    }

    /// Allows so many plies more, with another network: the tree is of the old
    /// one.
    pub(super) fn allow(&mut self, plies: u32) {
        self.left += plies;
        self.tree_is_current = false;
    }

    /// Goes on until a leaf needs an evaluation (`true`) or the allowed plies
    /// are played (`false`).
    pub(super) fn gather(
        &mut self,
        common: &Common,
        round: Round<'_>,
        played: &mut Played,
    ) -> bool {
        loop {
            if self.left == 0 {
                return false;
            }
            if !self.searching {
                self.start_search(common);
            }
            match self.search.gather() {
                Gathered::Leaf | Gathered::Waiting => return true,
                Gathered::Done => self.play_ply(common, round, played),
            }
        }
    }

    /// The question of the leaf in flight.
    pub(super) fn request(&self) -> Option<Request<'_, Cyvasse>> {
        self.search.requests().next()
    }

    /// The answer to it.
    pub(super) fn apply(&mut self, evaluation: &Evaluation) {
        self.search.apply(evaluation);
    }

    /// Drops a search that is under way.
    pub(super) fn interrupt(&mut self) {
        self.searching = false;
        self.left = 0;
    }

    fn start_search(&mut self, common: &Common) {
        let GameId { slot, sequence } = self.record.id;
        let ply = self.record.plies.len() as u64;
        let parts = [u64::from(slot), u64::from(sequence), ply];
        let full_share = common.games.playout_cap.full_share;
        let full = drawn(common.seed, Purpose::PlayoutCap, &parts, full_share);
        self.kind = if full { PlyKind::Full } else { PlyKind::Cheap };
        self.search.set_settings(if full { &common.full } else { &common.cheap });
        let seed = derive(common.seed, Purpose::Search, &parts);
        let (position, earlier) = (self.game.position().clone(), self.game.earlier());
        match self.record.plies.last() {
            Some(last) if common.games.reuse_tree && self.tree_is_current => {
                self.search.advance(last.action, position, earlier, seed);
            }
            _ => self.search.restart(position, earlier, seed),
        }
        self.searching = true;
    }

    fn play_ply(&mut self, common: &Common, round: Round<'_>, played: &mut Played) {
        let result = self.search.result(self.game.position().plies());
        self.searching = false;
        self.left -= 1;
        played.simulations += u64::from(result.simulations);
        played.walked += result.walked;
        if self.resigns(common, &result, round.resign_below) {
            let outcome = Outcome::Win(self.game.position().turn().other());
            played.finished.push(self.finish(common, round.setups, outcome, true));
            return;
        }
        played.plies += 1;
        self.game.play_unchecked(result.best);
        self.record.plies.push(ply_record(result, self.kind, round.network_step));
        self.tree_is_current = true;
        if let Some(outcome) = self.game.outcome() {
            played.finished.push(self.finish(common, round.setups, outcome, false));
        }
    }

    fn resigns(
        &self,
        common: &Common,
        result: &SearchResult<Action>,
        threshold: MoverValue,
    ) -> bool {
        resigns(&self.record.plies, result.value, threshold)
            && !is_played_on(&common.games.resignation, common.seed, self.record.id)
    }

    /// Hands out the finished game and starts the next one.
    fn finish(
        &mut self,
        common: &Common,
        setups: &SetupPool,
        outcome: Outcome,
        resigned: bool,
    ) -> GameRecord {
        let GameId { slot, sequence } = self.record.id;
        let (next, game) = begin(common, setups, GameId { slot, sequence: sequence + 1 });
        (self.game, self.tree_is_current) = (game, false);
        std::mem::replace(&mut self.record, next).finish(outcome, resigned)
    }
}

/// A new game after its random opening, if it has one.
fn begin(common: &Common, setups: &SetupPool, id: GameId) -> (UnfinishedGame, Game) {
    let (setups, sources) = setups.for_game(common.seed, id);
    let mut game = start(common, &setups);
    let plies = opening::play(&mut game, id, common.seed, &common.games.opening);
    (UnfinishedGame { id, setups, sources, plies }, game)
}

fn start(common: &Common, [white, black]: &[Setup; 2]) -> Game {
    Game::new(common.rules.clone(), Position::start(white, black))
}

/// What is written down of a ply; only a search in full has a policy target.
fn ply_record(result: SearchResult<Action>, kind: PlyKind, network_step: u32) -> PlyRecord {
    let mut policy = if kind == PlyKind::Full { result.policy } else { Vec::new() };
    policy.retain(|&(_, share)| share >= SMALLEST_SHARE);
    let sum: f32 = policy.iter().map(|&(_, share)| share).sum();
    policy.iter_mut().for_each(|(_, share)| *share /= sum);
    let surprise = if policy.is_empty() { 0.0 } else { result.surprise };
    PlyRecord {
        kind,
        action: result.best,
        policy,
        surprise,
        root_value: result.value,
        proven: result.proven.is_some(),
        simulations: result.simulations,
        network_step,
    }
}
