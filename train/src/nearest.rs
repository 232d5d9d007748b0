//! What somebody may have meant who wrote something unknown.

/// The known word most like the unknown one, if any is like it (Jaro and
/// Winkler's measure; Winkler 1990).
pub(crate) fn nearest<'a>(unknown: &str, known: &[&'a str]) -> Option<&'a str> {
    let likeness = |word: &&str| strsim::jaro_winkler(unknown, word);
    let best = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    best.filter(|best| likeness(best) > 0.6)
}
