//! Where homelands come from that nobody builds by hand.

use std::path::Path;

use cyvasse_env::{Rules, Setup};

use crate::evaluation::Setups;
use crate::setups::parse_setups;

/// What the opponent builds, and what a person is advised to build, without a network
/// that has learned it: most setups drawn at random lose their king within some plies.
const HAND_MADE: &str = concat!(
    include_str!("../../../../configs/setups/cavalry-wing.txt"),
    include_str!("../../../../configs/setups/corner-fortress.txt"),
    include_str!("../../../../configs/setups/dragon-raid.txt"),
    include_str!("../../../../configs/setups/forest-corner.txt"),
    include_str!("../../../../configs/setups/forest-hedge.txt"),
    include_str!("../../../../configs/setups/fortress-keep.txt"),
    include_str!("../../../../configs/setups/forward-shooters.txt"),
    include_str!("../../../../configs/setups/moat.txt"),
    include_str!("../../../../configs/setups/mountain-wall.txt"),
    include_str!("../../../../configs/setups/rear-artillery.txt"),
);

/// The hand-made setups and their mirror images; `None` under rules that they are not
/// legal under.
pub(super) fn hand_made(rules: &Rules) -> Option<Setups> {
    let setups = parse_setups(Path::new("configs/setups"), HAND_MADE, rules).ok()?;
    let mirrored: Vec<Setup> = setups.iter().map(Setup::mirror).collect();
    Some(Setups::Listed([setups, mirrored].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_made_setups_are_there_under_the_rules_they_were_made_for() {
        let mut rules = Rules::iron_throne();
        let Some(Setups::Listed(setups)) = hand_made(&rules) else { panic!("there are none") };
        assert_eq!(setups.len(), 20);
        rules.tiles.mountain = 5;
        assert!(hand_made(&rules).is_none());
    }
}
