//! How many mountains a homeland holds.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The four squares of a file of the homeland from bottom to top, each with
/// the number of its mountain group, or 0. Two groups at most meet a file.
type FileOfGroups = [usize; 4];

/// One file and the sizes of its groups 1 and 2.
type Edge = (FileOfGroups, [usize; 2]);

/// The most mountains that can be laid on 8 files of 4 squares so that no
/// orthogonally connected group holds more than `limit`, which is 1 to 32.
pub(crate) fn most_mountains(limit: usize) -> usize {
    // Found once for each limit: tests read thousands of rules files.
    static MOST: [OnceLock<usize>; 33] = [const { OnceLock::new() }; 33];
    *MOST[limit].get_or_init(|| find_most_mountains(limit))
}

/// Lays file after file and remembers only the last one with the sizes of the
/// groups that reach it: nothing else can grow.
fn find_most_mountains(limit: usize) -> usize {
    let mut best: HashMap<Edge, usize> = HashMap::from([(([0; 4], [0; 2]), 0)]);
    for _ in 0..8 {
        let mut next: HashMap<Edge, usize> = HashMap::new();
        for (edge, laid) in &best {
            for file in all_files() {
                let Some(grown) = lay(edge, file, limit) else { continue };
                let laid = laid + file.iter().filter(|&&mountain| mountain).count();
                let entry = next.entry(grown).or_insert(0);
                *entry = laid.max(*entry);
            }
        }
        best = next;
    }
    best.into_values().max().expect("no mountain at all is a layout")
}

fn all_files() -> impl Iterator<Item = [bool; 4]> {
    (0..16).map(|bits| std::array::from_fn(|row| bits >> row & 1 == 1))
}

/// The edge after one more file, or nothing where a group grows too large.
fn lay((before, sizes): &Edge, file: [bool; 4], limit: usize) -> Option<Edge> {
    // Each run of mountains is a group of its own until an old group joins it.
    let mut groups = [0; 4];
    let mut runs = 0;
    for row in 0..4 {
        if file[row] {
            let continues = row > 0 && file[row - 1];
            runs += usize::from(!continues);
            groups[row] = runs;
        }
    }
    if touching(before, &groups, 1).iter().any(|&old| touching(before, &groups, 2).contains(&old)) {
        groups = groups.map(|group| group.min(1));
    }
    let grown = [1, 2].map(|group| {
        let laid = groups.iter().filter(|&&of| of == group).count();
        let joined = touching(before, &groups, group).into_iter().map(|old| sizes[old - 1]);
        laid + joined.sum::<usize>()
    });
    if grown.into_iter().any(|size| size > limit) {
        return None;
    }
    Some((groups, grown))
}

/// The groups of the file before that touch the given group of this file.
fn touching(before: &FileOfGroups, groups: &FileOfGroups, group: usize) -> Vec<usize> {
    let mut touching: Vec<usize> = (0..4)
        .filter(|&row| groups[row] == group && before[row] != 0)
        .map(|row| before[row])
        .collect();
    touching.sort_unstable();
    touching.dedup();
    touching
}
