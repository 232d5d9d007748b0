//! When self-play resigns, and what that costs in wrong results.

use std::collections::VecDeque;

use cyvasse_env::Side;

use super::settings::ResignationSettings;
use crate::record::{GameId, GameRecord, PlyKind, PlyRecord};
use crate::seeds::Purpose;
use crate::value::MoverValue;
use crate::wilson::{NORMAL_95, wilson};

/// Players must have resigned at a threshold this often, before it counts.
const LEAST_EVIDENCE: usize = 50;

/// The threshold of resignation, learned from games that were played on.
///
/// For every threshold it is known how many players of those games would have
/// resigned, and how many of them would have been wrong. The threshold is the
/// highest one at which the upper end of the 95% confidence interval (Wilson
/// 1927) of the wrong share is within the bound, and [`MoverValue::LOSS`], at
/// which nobody resigns, while there is none.
#[derive(Clone, Debug)]
pub struct Resignation {
    settings: ResignationSettings,
    seed: u64,
    /// Players of games that were played on, oldest first.
    players: VecDeque<Player>,
}

/// What happened to a player whose game was played on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Player {
    /// The least threshold at which it would not have resigned.
    lowest: MoverValue,
    lost: bool,
}

/// What resignation would have done to the games that were played on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResignationRates {
    /// Players of games that were played on.
    pub players: usize,
    /// Those who would have resigned at the threshold.
    pub resigned: usize,
    /// Those among them who did not lose.
    pub wrong: usize,
}

impl Resignation {
    /// Players whose games count for the threshold: the newest.
    pub const REMEMBERED: usize = 4000;

    /// Resignation in a run with this seed, before any game.
    #[must_use]
    pub fn new(settings: ResignationSettings, seed: u64) -> Resignation {
        Resignation { settings, seed, players: VecDeque::new() }
    }

    /// Learns from finished games, in the order of their playing.
    pub fn learn<'a>(&mut self, games: impl IntoIterator<Item = &'a GameRecord>) {
        if self.settings.false_positives == 0.0 {
            return;
        }
        for game in games {
            if !self.is_played_on(game.id) {
                continue;
            }
            for side in Side::ALL {
                let lowest = lowest_pair(&game.plies, side);
                let lost = game.outcome.winner() == Some(side.other());
                self.players.push_back(Player { lowest, lost });
            }
        }
        let excess = self.players.len().saturating_sub(Self::REMEMBERED);
        self.players.drain(..excess);
    }

    /// Whether nobody resigns in a game, whatever the threshold.
    #[must_use]
    pub fn is_played_on(&self, id: GameId) -> bool {
        is_played_on(&self.settings, self.seed, id)
    }

    /// The value below which a player resigns.
    #[must_use]
    pub fn threshold(&self) -> MoverValue {
        let mut players: Vec<Player> = self.players.iter().copied().collect();
        players.sort_by(|a, b| a.lowest.get().total_cmp(&b.lowest.get()));
        let bound = f64::from(self.settings.false_positives);
        let (mut threshold, mut wrong) = (MoverValue::LOSS, 0);
        for (place, player) in players.iter().enumerate() {
            // At this player's lowest value all the ones before it resign.
            if place >= LEAST_EVIDENCE && upper_end(wrong, place) <= bound {
                threshold = player.lowest;
            }
            wrong += usize::from(!player.lost);
        }
        threshold
    }

    /// What a threshold would have done to the games that were played on.
    #[must_use]
    pub fn rates(&self, threshold: MoverValue) -> ResignationRates {
        let resigned = self.players.iter().filter(|player| player.lowest < threshold);
        let wrong = resigned.clone().filter(|player| !player.lost).count();
        ResignationRates { players: self.players.len(), resigned: resigned.count(), wrong }
    }
}

/// Whether a game is played on to its end.
pub(super) fn is_played_on(settings: &ResignationSettings, seed: u64, id: GameId) -> bool {
    let parts = [u64::from(id.slot), u64::from(id.sequence)];
    super::drawn(seed, Purpose::PlayedOn, &parts, settings.played_on)
}

/// Whether the side to move resigns: its value, and that before its last ply,
/// are below the threshold.
pub(super) fn resigns(plies: &[PlyRecord], value: MoverValue, threshold: MoverValue) -> bool {
    let last = plies.len().checked_sub(2).map(|ply| &plies[ply]);
    let last = last.filter(|ply| ply.kind != PlyKind::Opening);
    value < threshold && last.is_some_and(|ply| ply.root_value < threshold)
}

/// The least, over two plies of a side in a row, of the greater value of both:
/// the side resigns at every threshold above it.
fn lowest_pair(plies: &[PlyRecord], side: Side) -> MoverValue {
    let own = plies.iter().skip(side.index()).step_by(2);
    let own: Vec<&PlyRecord> = own.filter(|ply| ply.kind != PlyKind::Opening).collect();
    let greater = own.windows(2).map(|pair| pair[0].root_value.get().max(pair[1].root_value.get()));
    MoverValue::new(greater.fold(1.0, f32::min))
}

/// The upper end of the 95% confidence interval of a share.
fn upper_end(count: usize, total: usize) -> f64 {
    wilson(count as f64 / total as f64, total as f64, NORMAL_95).1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resignation(
        false_positives: f32,
        players: impl Iterator<Item = (f32, bool)>,
    ) -> Resignation {
        let settings = ResignationSettings { false_positives, played_on: 1.0 };
        let mut resignation = Resignation::new(settings, 1);
        let player = |(lowest, lost)| Player { lowest: MoverValue::new(lowest), lost };
        resignation.players = players.map(player).collect();
        resignation
    }

    #[test]
    fn the_threshold_keeps_the_wrong_share_within_the_bound() {
        // Players down to -1 always lose, those above -0.5 half of the time.
        let players = (0..1000).map(|i| {
            let lowest = -1.0 + 0.001 * i as f32;
            (lowest, lowest < -0.5 || i % 2 == 0)
        });
        let resignation = resignation(0.05, players);
        let threshold = resignation.threshold();
        let ResignationRates { resigned, wrong, players } = resignation.rates(threshold);
        assert_eq!(players, 1000);
        assert!(resigned > 500 && upper_end(wrong, resigned) <= 0.05, "{resigned} {wrong}");
        // One step further would be too far.
        let further = resignation.rates(MoverValue::new(threshold.get() + 0.05));
        assert!(upper_end(further.wrong, further.resigned) > 0.05);
    }

    #[test]
    fn nobody_resigns_without_evidence() {
        let few = resignation(0.05, (0..40).map(|_| (-0.99, true)));
        assert_eq!(few.threshold(), MoverValue::LOSS);
        let wrong = resignation(0.05, (0..400).map(|i| (-0.9, i % 2 == 0)));
        assert_eq!(wrong.threshold(), MoverValue::LOSS);
    }
}
