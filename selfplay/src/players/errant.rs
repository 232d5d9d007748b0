//! A player that makes mistakes, for people who want to win.

use cyvasse_env::Action;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Player, PlayerError, Random, Turn};
use crate::seeds::{Purpose, derive};

/// Plays any legal action now and then, and as another player does otherwise.
pub struct Errant {
    player: Box<dyn Player>,
    percent: u8,
}

impl Errant {
    /// A player that plays at random in so many of a hundred turns.
    #[must_use]
    pub fn new(player: Box<dyn Player>, percent: u8) -> Errant {
        Errant { player, percent }
    }

    fn errs(&self, turn: &Turn<'_>) -> bool {
        let ply = u64::from(turn.game.position().plies());
        let mut rng = ChaCha8Rng::seed_from_u64(derive(turn.seed, Purpose::Mistake, &[ply]));
        rng.random_range(0..100) < self.percent
    }
}

impl Player for Errant {
    fn choose(&mut self, turns: &[Turn<'_>]) -> Result<Vec<Action>, PlayerError> {
        let errs: Vec<bool> = turns.iter().map(|turn| self.errs(turn)).collect();
        let those = |wanted: bool| -> Vec<Turn<'_>> {
            let turns = turns.iter().zip(&errs).filter(|(_, errs)| **errs == wanted);
            turns.map(|(turn, _)| *turn).collect()
        };
        let mut random = Random.choose(&those(true))?.into_iter();
        let mut chosen = self.player.choose(&those(false))?.into_iter();
        let next = |errs: &bool| if *errs { random.next() } else { chosen.next() };
        Ok(errs.iter().filter_map(next).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cyvasse_env::{Game, Position, Rules};

    use super::*;

    /// Always plays the same.
    struct Stubborn(Action);

    impl Player for Stubborn {
        fn choose(&mut self, turns: &[Turn<'_>]) -> Result<Vec<Action>, PlayerError> {
            Ok(vec![self.0; turns.len()])
        }
    }

    #[test]
    fn mistakes_are_as_frequent_as_they_are_said_to_be() {
        let rules = Arc::new(Rules::iron_throne());
        let text = "8/8/8/8/8/8/8/8 3k4/8/8/4R3/8/8/8/3K4 w - 0 12";
        let game = Game::new(rules.clone(), Position::parse(text, &rules).unwrap());
        let usual = Action::parse("e5e6").unwrap();
        let turns: Vec<Turn<'_>> = (0..2000).map(|seed| Turn { game: &game, seed }).collect();
        let others = |percent| {
            let mut player = Errant::new(Box::new(Stubborn(usual)), percent);
            let chosen = player.choose(&turns).unwrap();
            assert_eq!(chosen.len(), turns.len());
            chosen.iter().filter(|&&action| action != usual).count()
        };
        // Of 9 legal actions, at random, 8 are others.
        let mut actions = Vec::new();
        game.legal_actions(&mut actions);
        assert_eq!(actions.len(), 9);
        assert_eq!(others(0), 0);
        let expected = 2000 * 30 / 100 * 8 / 9;
        assert!(others(30).abs_diff(expected) < 80, "{}", others(30));
        assert!(others(100).abs_diff(2000 * 8 / 9) < 60, "{}", others(100));
    }
}
