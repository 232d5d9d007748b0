//! Evaluation on one core by kernels of our own, several times faster than
//! libtorch's for boards of this size.

use std::cell::RefCell;
use std::sync::Arc;

use super::Evaluation;
use super::dense::{Activation, Dense};
use super::folded::{Affine, Folded};
use super::lanes::{at_least, dot, padded};
use super::winograd::{Conv3x3, Scratch, Skip};
use crate::config::{OUTCOMES, TILES};

/// A network laid out for the kernels, with memory for one thread's calls.
#[derive(Debug)]
pub(super) struct CpuNet {
    layers: Arc<Layers>,
    buffers: RefCell<Buffers>,
}

/// Maps are `[boards, 64, channels]` with channels padded.
#[derive(Debug)]
struct Layers {
    input_planes: usize,
    channels: usize,
    stem: Conv3x3,
    tower: Vec<[Conv3x3; 2]>,
    policy: PolicyHead,
    value: ValueHead,
}

/// Memory that is kept from call to call.
#[derive(Debug, Default)]
struct Buffers {
    scratch: Scratch,
    /// Planes with padding, if they need it.
    planes: Vec<f32>,
    /// The tower's map, and that inside a block.
    trunk: Vec<f32>,
    inner: Vec<f32>,
}

#[derive(Debug)]
struct PolicyHead {
    planes: usize,
    width: usize,
    mix: Dense,
    out: Dense,
    /// The weights of `out` again, a row of `width` for each plane.
    rows: Vec<f32>,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct ValueHead {
    /// Channels that are pooled, and with padding.
    channels: usize,
    width: usize,
    hidden_width: usize,
    mix: Dense,
    hidden: Dense,
    out: Dense,
}

impl CpuNet {
    pub(super) fn new(net: &Folded) -> Self {
        let layers = Layers {
            input_planes: net.stem.inputs,
            channels: padded(net.stem.outputs),
            stem: Conv3x3::new(&net.stem),
            tower: net.tower.iter().map(|block| block.each_ref().map(Conv3x3::new)).collect(),
            policy: PolicyHead::new(&net.policy_mix, &net.policy_out),
            value: ValueHead::new(&net.value_mix, &net.value_hidden, &net.value_out),
        };
        Self { layers: Arc::new(layers), buffers: RefCell::default() }
    }

    /// The same network for another thread; the weights are not copied.
    pub(super) fn share(&self) -> Self {
        Self { layers: Arc::clone(&self.layers), buffers: RefCell::default() }
    }

    /// Logits of all actions and of outcomes, positions one after the other.
    pub(super) fn forward(&self, planes: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let Layers { policy, value, .. } = &*self.layers;
        self.with_trunk(planes, |trunk| (policy.all(trunk), value.forward(trunk)))
    }

    /// Logits of the actions that are asked for.
    pub(super) fn evaluate<A: AsRef<[u16]>>(&self, planes: &[f32], actions: &[A]) -> Evaluation {
        let Layers { channels, policy: head, value, .. } = &*self.layers;
        self.with_trunk(planes, |trunk| {
            let mut policy = Vec::with_capacity(actions.iter().map(|a| a.as_ref().len()).sum());
            let mut row = vec![0.0; head.width];
            for (board, actions) in trunk.chunks_exact(TILES * channels).zip(actions) {
                head.some(board, actions.as_ref(), &mut row, &mut policy);
            }
            let value = value.forward(trunk).as_chunks::<OUTCOMES>().0.to_vec();
            Evaluation { policy, value }
        })
    }

    /// Computes the tower's map and hands it to `heads`.
    fn with_trunk<R>(&self, planes: &[f32], heads: impl FnOnce(&[f32]) -> R) -> R {
        let (layers, buffers) = (&*self.layers, &mut *self.buffers.borrow_mut());
        let Buffers { scratch, planes: wide, trunk, inner } = buffers;
        let boards = planes.len() / (TILES * layers.input_planes);
        let planes = widen(planes, layers.input_planes, wide);
        trunk.resize(boards * TILES * layers.channels, 0.0);
        inner.resize(trunk.len(), 0.0);
        layers.stem.forward(planes, trunk, Skip::None, scratch);
        for [first, second] in &layers.tower {
            first.forward(trunk, inner, Skip::None, scratch);
            second.forward(inner, trunk, Skip::Add, scratch);
        }
        heads(trunk)
    }
}

impl PolicyHead {
    fn new(mix: &Affine, out: &Affine) -> Self {
        let width = padded(out.inputs);
        Self {
            planes: out.outputs,
            width,
            mix: Dense::new(mix, Activation::Relu),
            out: Dense::new(out, Activation::None),
            rows: widen(&out.weight, out.inputs, &mut Vec::new()).to_vec(),
            bias: out.bias.clone(),
        }
    }

    fn all(&self, trunk: &[f32]) -> Vec<f32> {
        let rows = trunk.len() / self.mix.inputs();
        let mut mixed = vec![0.0; rows * self.width];
        self.mix.forward(trunk, &mut mixed, self.width);
        let mut logits = vec![0.0; rows * self.planes];
        self.out.forward(&mixed, &mut logits, self.planes);
        logits
    }

    /// Appends the logits of `actions`. Actions with the same from-square are
    /// best neighbours: `row` is then computed once for them.
    fn some(&self, board: &[f32], actions: &[u16], row: &mut [f32], logits: &mut Vec<f32>) {
        let mut row_of = None;
        for &action in actions {
            let (from, plane) =
                (usize::from(action) / self.planes, usize::from(action) % self.planes);
            if row_of != Some(from) {
                let inputs = self.mix.inputs();
                self.mix.forward(&board[from * inputs..][..inputs], row, self.width);
                row_of = Some(from);
            }
            let weights = &self.rows[plane * self.width..][..self.width];
            logits.push(dot(row, weights) + self.bias[plane]);
        }
    }
}

impl ValueHead {
    fn new(mix: &Affine, hidden: &Affine, out: &Affine) -> Self {
        Self {
            channels: mix.outputs,
            width: padded(mix.outputs),
            hidden_width: padded(hidden.outputs),
            mix: Dense::new(mix, Activation::Relu),
            hidden: Dense::new(hidden, Activation::Relu),
            out: Dense::new(out, Activation::None),
        }
    }

    fn forward(&self, trunk: &[f32]) -> Vec<f32> {
        let boards = trunk.len() / (TILES * self.mix.inputs());
        let pooled_width = self.hidden.inputs();
        let mut mixed = vec![0.0; TILES * self.width];
        let mut pooled = vec![0.0; boards * pooled_width];
        let maps = trunk.chunks_exact(TILES * self.mix.inputs());
        for (map, pooled) in maps.zip(pooled.chunks_exact_mut(pooled_width)) {
            self.mix.forward(map, &mut mixed, self.width);
            self.pool(&mixed, pooled);
        }
        let mut hidden = vec![0.0; boards * self.hidden_width];
        self.hidden.forward(&pooled, &mut hidden, self.hidden_width);
        let mut logits = vec![0.0; boards * OUTCOMES];
        self.out.forward(&hidden, &mut logits, OUTCOMES);
        logits
    }

    /// Means over the board, then maxima; `mixed` is not negative.
    fn pool(&self, mixed: &[f32], pooled: &mut [f32]) {
        let (means, maxima) = pooled.split_at_mut(self.channels);
        for row in mixed.chunks_exact(self.width) {
            for (c, &value) in row[..self.channels].iter().enumerate() {
                means[c] += value / TILES as f32;
                maxima[c] = at_least(maxima[c], value);
            }
        }
    }
}

/// Rows of `length` values as rows of `padded(length)`, copied to `wide` only
/// if that is more.
fn widen<'a>(rows: &'a [f32], length: usize, wide: &'a mut Vec<f32>) -> &'a [f32] {
    let width = padded(length);
    if width == length {
        return rows;
    }
    wide.clear();
    wide.resize(rows.len() / length * width, 0.0);
    for (row, wide) in rows.chunks_exact(length).zip(wide.chunks_exact_mut(width)) {
        wide[..length].copy_from_slice(row);
    }
    wide
}
