//! All ways to lay the mountains of a homeland, counted exactly.
//!
//! The squares are scanned file by file, so that whether one more mountain is
//! allowed depends on four squares only: the last one scanned on each rank,
//! and how large the groups are that they belong to. There are at most some
//! two thousand such states at a step, and for each of them it is tabulated in
//! how many ways a number of mountains can follow.

use std::collections::HashMap;

use crate::rules::TileCounts;
use crate::square::{Square, SquareSet};

/// The squares of a homeland in the order in which setups are built: a1, a2,
/// a3, a4, b1, ... h4.
pub(super) const SCAN: [Square; 32] = {
    let mut scan = [Square::new(0); 32];
    let mut step = 0;
    while step < 32 {
        scan[step] = Square::at(step / 4, step % 4);
        step += 1;
    }
    scan
};

/// A partial layout: what matters about the squares scanned so far.
pub(super) type Node = u32;

/// Stands for "no such node".
const NONE: Node = Node::MAX;

/// The graph of partial layouts and the counts of their completions.
#[derive(Clone, Debug)]
pub(super) struct Mountains {
    /// Mountains in a full layout.
    total: usize,
    /// By node: the node after an open square, and after a mountain.
    steps: Vec<[Node; 2]>,
    /// By node and number of mountains still to lay (0 to `total`): in how many
    /// ways that can be done. No more than C(32, 16), so they fit.
    completions: Vec<u32>,
}

impl Mountains {
    /// The partial layout before the first square.
    pub(super) const START: Node = 0;

    pub(super) fn new(tiles: &TileCounts) -> Mountains {
        let total = usize::from(tiles.mountain);
        // A group cannot be larger than all mountains together; saying so
        // leaves fewer states.
        let limit = tiles.largest_mountain_group.min(tiles.mountain);
        let steps = graph(limit);
        let completions = count_completions(&steps, total);
        Mountains { total, steps, completions }
    }

    /// The partial layout after one more square; `None` if its mountain would
    /// make too large a group. Nothing follows a layout of all 32 squares.
    #[inline]
    pub(super) fn step(&self, node: Node, mountain: bool) -> Option<Node> {
        let next = self.steps[node as usize][usize::from(mountain)];
        (next != NONE).then_some(next)
    }

    /// In how many ways `left` more mountains can follow.
    #[inline]
    pub(super) fn completions(&self, node: Node, left: u8) -> u32 {
        self.completions[node as usize * (self.total + 1) + usize::from(left)]
    }

    /// The number of layouts.
    pub(super) fn count(&self) -> u32 {
        self.completions(Self::START, self.total as u8)
    }

    /// The layout with this number, 0 to `count() - 1`.
    pub(super) fn layout(&self, mut number: u32) -> SquareSet {
        let mut node = Self::START;
        let mut left = self.total as u8;
        let mut mountains = SquareSet::EMPTY;
        for square in SCAN {
            // Layouts with this square open come first.
            let open = self.step(node, false).expect("a square may stay open");
            let open_count = self.completions(open, left);
            if number < open_count {
                node = open;
            } else {
                number -= open_count;
                node = self.step(node, true).expect("the number is of a layout");
                left -= 1;
                mountains |= square.set();
            }
        }
        mountains
    }

    #[cfg(test)]
    fn states(&self) -> usize {
        self.steps.len()
    }

    #[cfg(test)]
    fn bytes(&self) -> usize {
        size_of_val(&self.steps[..]) + size_of_val(&self.completions[..])
    }
}

/// The last square scanned on each rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Frontier {
    /// 0 where there is no mountain, else the number of its group. Groups are
    /// numbered from 1 in the order of the ranks, so that equal states are
    /// equal values.
    group: [u8; 4],
    /// The size of that group so far.
    size: [u8; 4],
}

impl Frontier {
    const EMPTY: Frontier = Frontier { group: [0; 4], size: [0; 4] };

    /// The frontier after an open square on `rank`.
    fn open(mut self, rank: usize) -> Frontier {
        self.group[rank] = 0;
        self.size[rank] = 0;
        self.renumbered()
    }

    /// The frontier after a mountain on `rank`, unless its group is then larger
    /// than `limit`.
    fn mountain(mut self, rank: usize, limit: u8) -> Option<Frontier> {
        const JOINED: u8 = 9;
        let left = self.group[rank];
        let below = if rank > 0 { self.group[rank - 1] } else { 0 };
        let mut size = 1;
        if left != 0 {
            size += self.size[rank];
        }
        if below != 0 && below != left {
            size += self.size[rank - 1];
        }
        if size > limit {
            return None;
        }
        for i in 0..4 {
            let joins = self.group[i] != 0 && (self.group[i] == left || self.group[i] == below);
            if joins || i == rank {
                self.group[i] = JOINED;
                self.size[i] = size;
            }
        }
        Some(self.renumbered())
    }

    fn renumbered(mut self) -> Frontier {
        let old = self.group;
        let mut groups = 0;
        for i in 0..4 {
            self.group[i] = match old[..i].iter().position(|&group| group == old[i]) {
                _ if old[i] == 0 => 0,
                Some(first) => self.group[first],
                None => {
                    groups += 1;
                    groups
                }
            };
        }
        self
    }
}

/// The steps from each node, the nodes in the order of their squares. All full
/// layouts are one node, the last.
fn graph(limit: u8) -> Vec<[Node; 2]> {
    let mut steps = Vec::new();
    let mut level = vec![Frontier::EMPTY];
    for (index, square) in SCAN.iter().enumerate() {
        let rank = square.rank();
        let last = index + 1 == SCAN.len();
        let first_of_next = (steps.len() + level.len()) as Node;
        let mut next = Vec::new();
        let mut numbers = HashMap::new();
        let mut number = |frontier: Frontier| {
            let frontier = if last { Frontier::EMPTY } else { frontier };
            *numbers.entry(frontier).or_insert_with(|| {
                next.push(frontier);
                first_of_next + next.len() as Node - 1
            })
        };
        for frontier in level {
            let open = number(frontier.open(rank));
            let mountain = frontier.mountain(rank, limit).map_or(NONE, &mut number);
            steps.push([open, mountain]);
        }
        level = next;
    }
    steps.push([NONE, NONE]);
    steps
}

fn count_completions(steps: &[[Node; 2]], total: usize) -> Vec<u32> {
    let width = total + 1;
    let mut completions = vec![0; steps.len() * width];
    let end = steps.len() - 1;
    completions[end * width] = 1;
    for node in (0..end).rev() {
        let [open, mountain] = steps[node];
        for left in 0..width {
            let mut count = completions[open as usize * width + left];
            if left > 0 && mountain != NONE {
                count += completions[mountain as usize * width + left - 1];
            }
            completions[node * width + left] = count;
        }
    }
    completions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mountains(mountain: u8, largest_mountain_group: u8) -> Mountains {
        let tiles =
            TileCounts { mountain, water: 0, forest: 0, fortress: 0, largest_mountain_group };
        Mountains::new(&tiles)
    }

    fn largest_group(mountains: SquareSet) -> usize {
        let mut largest = 0;
        let mut rest = mountains;
        while let Some(square) = rest.first() {
            let mut group = square.set();
            for _ in 0..32 {
                group |= group.orthogonal() & mountains;
            }
            largest = largest.max(SquareSet::len(group));
            rest &= !group;
        }
        largest
    }

    /// Calls `visit` with all sets of `count` squares of a homeland (Gosper's
    /// hack: the next larger number with as many bits).
    fn all_sets(count: u32, mut visit: impl FnMut(SquareSet)) {
        let mut set = (1u64 << count) - 1;
        while set < 1 << 32 {
            visit(SquareSet(set));
            if set == 0 {
                return;
            }
            let lowest = set & set.wrapping_neg();
            let ripple = set + lowest;
            set = ripple | (((set ^ ripple) >> 2) / lowest);
        }
    }

    #[test]
    fn counts_agree_with_all_sets_of_few_or_nearly_all_squares() {
        for count in (0..=5).chain(27..=32) {
            let mut by_largest = [0; 33];
            all_sets(count, |set| by_largest[largest_group(set)] += 1);
            for limit in 1..=32 {
                let expected: u32 = by_largest[..=limit].iter().sum();
                let counted = mountains(count as u8, limit as u8).count();
                assert_eq!(counted, expected, "{count} mountains, groups of {limit}");
            }
        }
    }

    #[test]
    fn six_mountains_in_pairs_agree_with_all_sets() {
        let mut expected = 0;
        all_sets(6, |set| expected += u32::from(largest_group(set) <= 2));
        assert_eq!(mountains(6, 2).count(), expected);
    }

    /// For all numbers of mountains: in groups of at most two, each mountain has
    /// at most one neighbour. So it is enough to look at three files at a time.
    #[test]
    fn pairs_agree_with_a_count_by_files() {
        let fits = |[a, b, c]: [u32; 3]| {
            (0..4).filter(|rank| b >> rank & 1 == 1).all(|rank| {
                let beside = (a >> rank & 1) + (c >> rank & 1);
                beside + (b << 1 >> rank & 1) + (b >> 1 >> rank & 1) <= 1
            })
        };
        // By the last two files and the number of mountains.
        let mut counts = HashMap::from([([0, 0], vec![1u32])]);
        for file in 0..9 {
            let mut next: HashMap<[u32; 2], Vec<u32>> = HashMap::new();
            for (&[a, b], count) in &counts {
                // The ninth file is beyond the edge: empty.
                for c in (0..if file < 8 { 16u32 } else { 1 }).filter(|&c| fits([a, b, c])) {
                    let sum = next.entry([b, c]).or_insert_with(|| vec![0; 33]);
                    for (i, count) in count.iter().enumerate().filter(|(_, count)| **count > 0) {
                        sum[i + c.count_ones() as usize] += count;
                    }
                }
            }
            counts = next;
        }
        for total in 0..=32 {
            let expected: u32 = counts.values().map(|count| count[total]).sum();
            assert_eq!(mountains(total as u8, 2).count(), expected, "{total} mountains");
        }
    }

    #[test]
    fn rules_files_know_how_many_mountains_fit() {
        for limit in 1..=32 {
            let most = (0..=32).rev().find(|&total| mountains(total, limit).count() > 0).unwrap();
            let tiles = TileCounts {
                mountain: most,
                water: 0,
                forest: 0,
                fortress: 0,
                largest_mountain_group: limit,
            };
            let mut rules = crate::rules::Rules::iron_throne();
            rules.tiles = tiles;
            rules.units.iter_mut().for_each(|unit| unit.count = 0);
            assert!(rules.check_setups().is_ok(), "{most} in groups of {limit}");
            rules.tiles.mountain += 1;
            assert!(rules.check_setups().is_err(), "{most} + 1 in groups of {limit}");
        }
    }

    #[test]
    fn extremes() {
        assert_eq!(mountains(0, 1).count(), 1);
        assert_eq!(mountains(16, 1).count(), 2);
        assert_eq!(mountains(17, 1).count(), 0);
        assert_eq!(mountains(32, 31).count(), 0);
        assert_eq!(mountains(32, 32).count(), 1);
        assert_eq!(mountains(16, 16).count(), 601_080_390);
    }

    #[test]
    fn layouts_are_all_different_and_legal() {
        let mountains = mountains(4, 2);
        let layouts: std::collections::HashSet<SquareSet> =
            (0..mountains.count()).map(|number| mountains.layout(number)).collect();
        assert_eq!(layouts.len(), mountains.count() as usize);
        assert!(layouts.iter().all(|&set| SquareSet::len(set) == 4 && largest_group(set) <= 2));
    }

    #[test]
    fn no_limit_makes_the_tables_large() {
        for (total, limit) in [(6, 2), (20, 15), (28, 28), (32, 32)] {
            let mountains = mountains(total, limit);
            assert!(mountains.states() < 50_000, "{}", mountains.states());
            assert!(mountains.bytes() < 8 << 20, "{}", mountains.bytes());
        }
    }
}
