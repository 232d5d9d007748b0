//! The edges of a tree, as parallel arrays.
//!
//! A choice of action reads four numbers of each edge of a node. They stand in
//! arrays of their own, one number beside the next edge's, so that the
//! processor takes eight edges at a time. What a choice seldom reads stands in
//! [`Edge`].

use std::ops::Range;

use crate::value::{MoverValue, Proven};

/// No node.
const NONE: u32 = u32::MAX;

/// All edges of a tree; those of a node stand side by side.
pub(super) struct Edges<A> {
    logits: Vec<f32>,
    priors: Vec<f32>,
    values: Vec<f32>,
    begun: Vec<u32>,
    rest: Vec<Edge<A>>,
}

/// What a choice seldom reads of an edge.
#[derive(Clone)]
pub(super) struct Edge<A> {
    pub(super) action: A,
    /// The sum of the priors from this edge to the node's last.
    pub(super) prior_left: f32,
    /// Finished simulations.
    pub(super) visits: u32,
    pub(super) proven: Option<Proven>,
    child: u32,
    value_sum: f64,
}

/// Some edges of a node, as slices of one length.
pub(super) struct EdgeView<'a, A> {
    /// Logarithms of the priors.
    pub(super) logits: &'a [f32],
    pub(super) priors: &'a [f32],
    /// The mean value of an action for the side that takes it, exact where it
    /// is proven; NaN before its first finished simulation.
    pub(super) values: &'a [f32],
    /// Simulations finished and under way.
    pub(super) begun: &'a [u32],
    pub(super) rest: &'a [Edge<A>],
}

impl<A> Edge<A> {
    const fn new(action: A) -> Edge<A> {
        Edge { action, prior_left: 0.0, visits: 0, proven: None, child: NONE, value_sum: 0.0 }
    }

    /// The node that the action leads to, if it is there already.
    #[inline]
    pub(super) fn child(&self) -> Option<u32> {
        (self.child != NONE).then_some(self.child)
    }

    #[inline]
    pub(super) fn loses(&self) -> bool {
        matches!(self.proven, Some(Proven::Loss(_)))
    }
}

impl<A: Copy> Edges<A> {
    pub(super) const fn new() -> Edges<A> {
        Edges {
            logits: Vec::new(),
            priors: Vec::new(),
            values: Vec::new(),
            begun: Vec::new(),
            rest: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.logits.clear();
        self.priors.clear();
        self.values.clear();
        self.begun.clear();
        self.rest.clear();
    }

    /// Adds the edges of a node for these actions and logits, and returns where
    /// they stand.
    pub(super) fn extend(&mut self, choices: impl Iterator<Item = (A, f32)>) -> Range<usize> {
        let first = self.rest.len();
        for (action, logit) in choices {
            self.logits.push(logit);
            self.rest.push(Edge::new(action));
        }
        let end = self.rest.len();
        self.priors.resize(end, 0.0);
        self.values.resize(end, f32::NAN);
        self.begun.resize(end, 0);
        log_softmax(&mut self.logits[first..], &mut self.priors[first..]);
        let mut left = 0.0;
        for (edge, prior) in self.rest[first..].iter_mut().zip(&self.priors[first..]).rev() {
            left += prior;
            edge.prior_left = left;
        }
        first..end
    }

    /// Adds copies of edges of another tree, without their children.
    pub(super) fn extend_from(&mut self, other: &Edges<A>, range: Range<usize>) -> Range<usize> {
        let first = self.rest.len();
        self.logits.extend_from_slice(&other.logits[range.clone()]);
        self.priors.extend_from_slice(&other.priors[range.clone()]);
        self.values.extend_from_slice(&other.values[range.clone()]);
        self.begun.extend_from_slice(&other.begun[range.clone()]);
        self.rest.extend(other.rest[range].iter().map(|edge| Edge { child: NONE, ..*edge }));
        first..self.rest.len()
    }

    #[inline]
    pub(super) fn view(&self, range: Range<usize>) -> EdgeView<'_, A> {
        EdgeView {
            logits: &self.logits[range.clone()],
            priors: &self.priors[range.clone()],
            values: &self.values[range.clone()],
            begun: &self.begun[range.clone()],
            rest: &self.rest[range],
        }
    }

    pub(super) fn priors_mut(&mut self, range: Range<usize>) -> &mut [f32] {
        &mut self.priors[range]
    }

    #[inline]
    pub(super) fn get(&self, edge: u32) -> &Edge<A> {
        &self.rest[edge as usize]
    }

    pub(super) fn set_child(&mut self, edge: u32, child: u32) {
        self.rest[edge as usize].child = child;
    }

    pub(super) fn set_proven(&mut self, edge: u32, proven: Proven) {
        self.rest[edge as usize].proven = Some(proven);
        self.values[edge as usize] = proven.value().get();
    }

    #[inline]
    pub(super) fn begin(&mut self, edge: u32) {
        self.begun[edge as usize] += 1;
    }

    /// Takes the value of a simulation that was begun. Returns the edge's
    /// finished simulations.
    #[inline]
    pub(super) fn finish(&mut self, edge: u32, value: MoverValue) -> u32 {
        let rest = &mut self.rest[edge as usize];
        rest.visits += 1;
        rest.value_sum += f64::from(value.get());
        if rest.proven.is_none() {
            self.values[edge as usize] = (rest.value_sum / f64::from(rest.visits)) as f32;
        }
        rest.visits
    }
}

impl<A> EdgeView<'_, A> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    /// The place of the edge with the greatest key, the first of equals; 0 when
    /// there is none.
    pub(super) fn best_by<K: PartialOrd>(&self, key: impl Fn(usize) -> K) -> usize {
        let mut best = 0;
        for place in 1..self.len() {
            if key(place) > key(best) {
                best = place;
            }
        }
        best
    }
}

/// Makes logits log-priors, and sets the priors: their softmax.
fn log_softmax(logits: &mut [f32], priors: &mut [f32]) {
    priors.copy_from_slice(logits);
    let (highest, sum) = exponentials(priors);
    let (shift, scale) = (highest + sum.ln(), sum.recip());
    logits.iter_mut().for_each(|logit| *logit -= shift);
    priors.iter_mut().for_each(|prior| *prior *= scale);
}

/// Replaces numbers by the exponentials of their distances to the highest;
/// returns the highest and the sum of the exponentials.
#[inline]
pub(super) fn exponentials(numbers: &mut [f32]) -> (f32, f32) {
    let highest = fold_lanes(numbers, f32::NEG_INFINITY, |a, b| if b > a { b } else { a });
    for number in numbers.iter_mut() {
        *number = exp_of_negative(*number - highest);
    }
    (highest, fold_lanes(numbers, 0.0, |a, b| a + b))
}

/// Folds numbers in eight lanes, and then the lanes, always in the same order.
#[inline]
pub(super) fn fold_lanes(numbers: &[f32], start: f32, fold: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [start; 8];
    let (chunks, rest) = numbers.as_chunks::<8>();
    for chunk in chunks {
        for (lane, &number) in lanes.iter_mut().zip(chunk) {
            *lane = fold(*lane, number);
        }
    }
    for (lane, &number) in lanes.iter_mut().zip(rest) {
        *lane = fold(*lane, number);
    }
    lanes.into_iter().fold(start, fold)
}

/// The exponential of a number that is not above 0, to a relative error of
/// 2e-7; never less than 1e-38. Unlike `f32::exp` it has no branch and no call,
/// so that a loop over it runs eight lanes at a time.
#[inline]
fn exp_of_negative(number: f32) -> f32 {
    /// Adding it rounds to an integer, which then stands in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts, the first with few bits.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let number = if number < -87.0 { -87.0 } else { number };
    let rounded = number * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let rest = (number - whole * LN_2[0]) - whole * LN_2[1];
    // The Taylor series to the seventh power: the rest is within ln 2 / 2.
    let mut sum = 1.0 / 5040.0;
    for factor in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * rest + factor;
    }
    // The integer becomes the exponent of 2.
    sum * f32::from_bits(rounded.to_bits().wrapping_add(127) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_those_of_the_standard_library() {
        for step in 0..=870_000 {
            let number = -(step as f32) * 1e-4;
            let expected = f64::from(number).exp();
            let error = (f64::from(exp_of_negative(number)) / expected - 1.0).abs();
            assert!(error < 2e-7, "exp({number}) is off by {error}");
        }
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert!((0.0..1e-37).contains(&exp_of_negative(f32::NEG_INFINITY)));
    }

    #[test]
    fn priors_are_the_softmax_of_the_logits() {
        let logits: Vec<f32> = (0..37).map(|i| ((i * 7919) % 101) as f32 / 9.0 - 4.0).collect();
        let mut edges = Edges::new();
        let range = edges.extend(logits.iter().map(|&logit| ((), logit)));
        let sum: f64 = logits.iter().map(|&logit| f64::from(logit).exp()).sum();
        let view = edges.view(range);
        for (place, &logit) in logits.iter().enumerate() {
            let expected = f64::from(logit).exp() / sum;
            assert!((f64::from(view.priors[place]) / expected - 1.0).abs() < 1e-6);
            assert!((f64::from(view.logits[place]) - expected.ln()).abs() < 1e-5);
        }
    }
}
