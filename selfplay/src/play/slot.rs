//! A slot of self-play: a place where one game is played after another.

use std::sync::Arc;

use cyvasse_env::{Game, IllegalAction, Outcome, Position, Rules};

use super::Round;
use crate::evaluator::{Evaluation, Request};
use crate::record::{GameId, GameRecord, PlyRecord, UnfinishedGame};
use crate::search::{Cyvasse, Gathered, Search, SearchResult, SearchSettings};
use crate::seeds::{Purpose, derive};
use crate::setups::SetupPool;

/// Shares of a policy target below this are left out of the record.
const SMALLEST_SHARE: f32 = 1e-3;

/// What all slots of a run have in common.
pub(super) struct Common {
    pub(super) rules: Arc<Rules>,
    pub(super) search: SearchSettings,
    pub(super) seed: u64,
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
}

/// What a slot did since it was last asked.
#[derive(Default)]
pub(super) struct Played {
    pub(super) plies: u64,
    pub(super) simulations: u64,
    pub(super) finished: Vec<GameRecord>,
}

impl Slot {
    /// The first game of a slot.
    pub(super) fn new(common: &Common, setups: &SetupPool, slot: u32) -> Slot {
        let record = first_record(common, setups, GameId { slot, sequence: 0 });
        let game = start(common, &record);
        Slot::with(common, record, game)
    }

    /// A slot that goes on with a game that was interrupted.
    pub(super) fn resume(common: &Common, record: UnfinishedGame) -> Result<Slot, IllegalAction> {
        let mut game = start(common, &record);
        for ply in &record.plies {
            game.play(ply.action)?;
        }
        Ok(Slot::with(common, record, game))
    }

    fn with(common: &Common, record: UnfinishedGame, game: Game) -> Slot {
        let cyvasse = Cyvasse { rules: common.rules.clone() };
        let position = game.position().clone();
        let search = Search::new(cyvasse, common.search.clone(), position, &[], 0);
        Slot { record, game, search, left: 0, searching: false }
    }

    /// The game that is being played.
    pub(super) fn record(&self) -> &UnfinishedGame {
        &self.record
    }

    /// Allows so many plies more.
    pub(super) fn allow(&mut self, plies: u32) {
        self.left += plies;
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
        let seed = derive(common.seed, Purpose::Search, &parts);
        self.search.restart(self.game.position().clone(), self.game.earlier(), seed);
        self.searching = true;
    }

    fn play_ply(&mut self, common: &Common, round: Round<'_>, played: &mut Played) {
        let result = self.search.result(self.game.position().plies());
        self.searching = false;
        self.left -= 1;
        played.plies += 1;
        played.simulations += u64::from(result.simulations);
        self.game.play_unchecked(result.best);
        self.record.plies.push(ply_record(result, round.network_step));
        if let Some(outcome) = self.game.outcome() {
            played.finished.push(self.finish(common, round.setups, outcome));
        }
    }

    /// Hands out the finished game and starts the next one.
    fn finish(&mut self, common: &Common, setups: &SetupPool, outcome: Outcome) -> GameRecord {
        let GameId { slot, sequence } = self.record.id;
        let next = first_record(common, setups, GameId { slot, sequence: sequence + 1 });
        self.game = start(common, &next);
        std::mem::replace(&mut self.record, next).finish(outcome)
    }
}

fn first_record(common: &Common, setups: &SetupPool, id: GameId) -> UnfinishedGame {
    let (setups, sources) = setups.for_game(common.seed, id);
    UnfinishedGame { id, setups, sources, plies: Vec::new() }
}

fn start(common: &Common, record: &UnfinishedGame) -> Game {
    let [white, black] = &record.setups;
    Game::new(common.rules.clone(), Position::start(white, black))
}

fn ply_record(result: SearchResult<cyvasse_env::Action>, network_step: u32) -> PlyRecord {
    let mut policy = result.policy;
    policy.retain(|&(_, share)| share >= SMALLEST_SHARE);
    let sum: f32 = policy.iter().map(|&(_, share)| share).sum();
    policy.iter_mut().for_each(|(_, share)| *share /= sum);
    PlyRecord {
        action: result.best,
        policy,
        root_value: result.value,
        proven: result.proven.is_some(),
        simulations: result.simulations,
        network_step,
    }
}
