//! Linear maps of rows: 1x1 convolutions and fully connected layers.

use super::folded::Affine;
use super::lanes::{WIDTH, Wide, at_least, multiply, padded};

/// Rows that are computed together.
const ROWS: usize = 4;

/// What follows the linear map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activation {
    None,
    Relu,
}

/// Weights of a linear map, laid out for [`multiply`].
#[derive(Debug)]
pub(super) struct Dense {
    /// Length of an input row: the inputs, padded with zero weights.
    inputs: usize,
    /// Panels of [`WIDTH`] outputs each, `inputs` rows a panel.
    weights: Vec<Wide>,
    bias: Vec<Wide>,
    activation: Activation,
}

impl Dense {
    /// `layer.weight` is `[outputs, inputs]` or `[outputs, inputs, 1, 1]`.
    pub(super) fn new(layer: &Affine, activation: Activation) -> Self {
        let inputs = padded(layer.inputs);
        let panels = padded(layer.outputs) / WIDTH;
        let mut weights = vec![[0.0; WIDTH]; panels * inputs];
        for (o, row) in layer.weight.chunks(layer.inputs).enumerate() {
            for (i, &weight) in row.iter().enumerate() {
                weights[o / WIDTH * inputs + i][o % WIDTH] = weight;
            }
        }
        Self { inputs, weights, bias: panels_of(&layer.bias), activation }
    }

    /// Length of an input row, padding included.
    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Maps `rows.len() / inputs` rows (padded) to rows of `pitch` values each
    /// in `out`. Outputs beyond `pitch` are left out: padding of the last row.
    pub(super) fn forward(&self, rows: &[f32], out: &mut [f32], pitch: usize) {
        let inputs = rows.chunks(ROWS * self.inputs);
        for (rows, out) in inputs.zip(out.chunks_mut(ROWS * pitch)) {
            if rows.len() == ROWS * self.inputs {
                self.some_rows::<ROWS>(rows, out, pitch);
            } else {
                let single = rows.chunks(self.inputs).zip(out.chunks_mut(pitch));
                single.for_each(|(row, out)| self.some_rows::<1>(row, out, pitch));
            }
        }
    }

    #[inline(always)]
    fn some_rows<const T: usize>(&self, rows: &[f32], out: &mut [f32], pitch: usize) {
        let rows: [&[f32]; T] = std::array::from_fn(|t| &rows[t * self.inputs..][..self.inputs]);
        for (p, panel) in self.weights.chunks_exact(self.inputs).enumerate() {
            let sums = multiply(rows, panel);
            let count = WIDTH.min(pitch.saturating_sub(p * WIDTH));
            for (t, sums) in sums.iter().enumerate() {
                let done = self.finish(sums, &self.bias[p]);
                out[t * pitch + p * WIDTH..][..count].copy_from_slice(&done[..count]);
            }
        }
    }

    #[inline(always)]
    fn finish(&self, sums: &Wide, bias: &Wide) -> Wide {
        let floor = if self.activation == Activation::Relu { 0.0 } else { f32::NEG_INFINITY };
        std::array::from_fn(|j| at_least(floor, sums[j] + bias[j]))
    }
}

/// `values` in groups of [`WIDTH`], padded with zeros.
pub(super) fn panels_of(values: &[f32]) -> Vec<Wide> {
    let wide = |chunk: &[f32]| std::array::from_fn(|j| chunk.get(j).copied().unwrap_or(0.0));
    values.chunks(WIDTH).map(wide).collect()
}
