//! Seeds derived from seeds, so that no generator has to be carried along.

/// What a derived seed is for; two purposes never share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// The setups of a game.
    Setups = 1,
    /// The search before a ply.
    Search = 2,
    /// The initial weights of a network.
    Weights = 3,
    /// The samples of a training round.
    Samples = 4,
    /// The games of a match.
    Match = 5,
    /// The choices of a player that draws lots.
    Player = 6,
    /// The random opening of a game.
    Opening = 7,
    /// Whether a ply is searched in full.
    PlayoutCap = 8,
    /// Whether a game is played on where a player would resign.
    PlayedOn = 9,
    /// The random game by which a position is judged.
    Rollout = 10,
    /// The setups that a network or file supplies for a round.
    SetupSupply = 20,
    /// The samples and steps of a setup network's round.
    SetupLearning = 21,
    /// The opponents that setups are valued against.
    SetupOpponents = 22,
    /// The initial weights of a setup network.
    SetupWeights = 23,
    /// The search for a best answer to a mixture of setups.
    BestResponse = 24,
    /// Whether a player that makes mistakes makes one.
    Mistake = 30,
    /// Whether a game is held out from training.
    HeldOut = 31,
}

/// A seed that depends on all the numbers, on their order and on nothing else.
#[must_use]
pub fn derive(seed: u64, purpose: Purpose, parts: &[u64]) -> u64 {
    let start = mix(seed ^ mix(purpose as u64));
    parts.iter().fold(start, |state, &part| mix(state ^ mix(part)))
}

/// One step of SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) const fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_differ_by_every_part() {
        let seeds = [
            derive(1, Purpose::Setups, &[0, 0]),
            derive(1, Purpose::Setups, &[0, 1]),
            derive(1, Purpose::Setups, &[1, 0]),
            derive(1, Purpose::Search, &[0, 0]),
            derive(2, Purpose::Setups, &[0, 0]),
            derive(1, Purpose::Setups, &[0]),
        ];
        let distinct: std::collections::HashSet<u64> = seeds.into_iter().collect();
        assert_eq!(distinct.len(), seeds.len());
    }
}
