//! 3x3 convolutions of 8x8 boards by Winograd's minimal filtering F(4x4, 3x3):
//! a board is four tiles of 4x4 outputs, each computed from 6x6 inputs with 36
//! multiplications a channel pair instead of 144 (Lavin and Gray 2015).
//!
//! Tiles are transformed, multiplied channel-wise for each of the 36 places,
//! and transformed back with bias, skip connection and ReLU on the way. In f32
//! this is within some 1e-5 of the direct sum, relative to the largest output.

use super::dense::panels_of;
use super::folded::Affine;
use super::lanes::{
    LANE, Lane, WIDTH, Wide, add, add_scaled, lane, multiply, padded, relu, store, sub,
};
use crate::config::{BOARD_SIDE, TILES};

/// Tiles of 4x4 outputs on a board, two by two.
const PARTS: usize = 4;

/// Side of a tile's outputs and of its inputs.
const OUT: usize = 4;
const IN: usize = 6;

/// Places of a transformed tile.
const PLACES: usize = IN * IN;

/// Boards that go through the steps together: weights are then fetched once
/// for all of them, and their transformed tiles still fit the second cache.
const GROUP: usize = 4;

/// Weights of a 3x3 convolution in the transformed domain.
#[derive(Debug)]
pub(super) struct Conv3x3 {
    /// Padded channels of input and output maps.
    inputs: usize,
    outputs: usize,
    /// For each [`WIDTH`] outputs, for each place, `inputs` rows.
    weights: Vec<Wide>,
    bias: Vec<Wide>,
}

/// What the convolution's ReLU is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skip {
    /// The convolution alone; the output map is overwritten.
    None,
    /// The sum of the convolution and what is in the output map.
    Add,
}

/// Memory for one group of boards; any [`Conv3x3`] can use it.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Transformed inputs: for each place, for each tile, all channels.
    inputs: Vec<f32>,
    /// Products: for each place, for each tile.
    products: Vec<Wide>,
}

/// Tiles of a group.
const GROUP_TILES: usize = GROUP * PARTS;

/// Distance of two places in [`Scratch::products`]; odd, so that the places of
/// a tile do not all fall into the same few cache sets.
const PRODUCT_PITCH: usize = GROUP_TILES + 1;

/// The same in [`Scratch::inputs`]: a cache line more than the tiles fill.
fn input_pitch(channels: usize) -> usize {
    GROUP_TILES * channels + 16
}

impl Conv3x3 {
    /// `layer.weight` is `[outputs, inputs, 3, 3]`.
    pub(super) fn new(layer: &Affine) -> Self {
        let (inputs, outputs) = (padded(layer.inputs), padded(layer.outputs));
        let mut weights = vec![[0.0; WIDTH]; outputs / WIDTH * PLACES * inputs];
        for (pair, kernel) in layer.weight.as_chunks::<9>().0.iter().enumerate() {
            let (o, i) = (pair / layer.inputs, pair % layer.inputs);
            for (place, value) in transform_kernel(kernel).into_iter().enumerate() {
                weights[(o / WIDTH * PLACES + place) * inputs + i][o % WIDTH] = value;
            }
        }
        Self { inputs, outputs, weights, bias: panels_of(&layer.bias) }
    }

    /// Convolves maps `[boards, 8, 8, inputs]` into `[boards, 8, 8, outputs]`,
    /// channels padded, with ReLU.
    pub(super) fn forward(&self, x: &[f32], out: &mut [f32], skip: Skip, scratch: &mut Scratch) {
        scratch.inputs.resize(PLACES * input_pitch(self.inputs), 0.0);
        scratch.products.resize(PLACES * PRODUCT_PITCH, [0.0; WIDTH]);
        let (x_board, out_board) = (TILES * self.inputs, TILES * self.outputs);
        for (x, out) in x.chunks(GROUP * x_board).zip(out.chunks_mut(GROUP * out_board)) {
            for (b, board) in x.chunks_exact(x_board).enumerate() {
                self.transform_board(board, b, &mut scratch.inputs);
            }
            let boards = x.len() / x_board;
            for panel in 0..self.outputs / WIDTH {
                self.multiply_panel(panel, boards, scratch);
                for (b, board) in out.chunks_exact_mut(out_board).enumerate() {
                    self.finish_board(panel, b, board, skip, &scratch.products);
                }
            }
        }
    }

    fn transform_board(&self, board: &[f32], b: usize, inputs: &mut [f32]) {
        transform_inputs::<0>(board, self.inputs, b, inputs);
        transform_inputs::<1>(board, self.inputs, b, inputs);
        transform_inputs::<2>(board, self.inputs, b, inputs);
        transform_inputs::<3>(board, self.inputs, b, inputs);
    }

    fn multiply_panel(&self, panel: usize, boards: usize, scratch: &mut Scratch) {
        let weights = &self.weights[panel * PLACES * self.inputs..][..PLACES * self.inputs];
        let inputs = scratch.inputs.chunks_exact(input_pitch(self.inputs));
        let products = scratch.products.chunks_exact_mut(PRODUCT_PITCH);
        for ((weights, inputs), products) in
            weights.chunks_exact(self.inputs).zip(inputs).zip(products)
        {
            let inputs = inputs.chunks_exact(PARTS * self.inputs);
            let products = products.as_chunks_mut::<PARTS>().0;
            for (inputs, products) in inputs.zip(products).take(boards) {
                let rows = std::array::from_fn(|t| &inputs[t * self.inputs..][..self.inputs]);
                *products = multiply::<PARTS>(rows, weights);
            }
        }
    }

    fn finish_board(
        &self,
        panel: usize,
        b: usize,
        board: &mut [f32],
        skip: Skip,
        products: &[Wide],
    ) {
        for part in 0..PARTS {
            let corner = part / 2 * OUT * BOARD_SIDE + part % 2 * OUT;
            for half in 0..WIDTH / LANE {
                let first = half * LANE;
                let at = corner * self.outputs + panel * WIDTH + first;
                let tile = transform_outputs(&products[b * PARTS + part..], first);
                let bias = lane(&self.bias[panel][first..]);
                match skip {
                    Skip::None => write_tile::<false>(tile, bias, &mut board[at..], self.outputs),
                    Skip::Add => write_tile::<true>(tile, bias, &mut board[at..], self.outputs),
                }
            }
        }
    }
}

/// Transforms the inputs of part `PART` of a board, a tile with a border of
/// one that is zero outside the board, and puts them where tile `PART` of the
/// `b`-th board of the group has its place.
fn transform_inputs<const PART: usize>(
    board: &[f32],
    channels: usize,
    b: usize,
    inputs: &mut [f32],
) {
    let (rank, file) = (PART / 2 * OUT, PART % 2 * OUT);
    let pitch = input_pitch(channels);
    let (board, inputs) = (&board[..TILES * channels], &mut inputs[..PLACES * pitch]);
    let at = (b * PARTS + PART) * channels;
    for first in (0..channels).step_by(LANE) {
        let mut rows = [[[0.0; LANE]; IN]; IN];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = transform_inputs_1d(std::array::from_fn(|f| {
                // Off the board on any side wraps or runs over: no tile there.
                let (rank, file) = ((rank + r).wrapping_sub(1), (file + f).wrapping_sub(1));
                if rank >= BOARD_SIDE || file >= BOARD_SIDE {
                    return [0.0; LANE];
                }
                lane(&board[(rank * BOARD_SIDE + file) * channels + first..])
            }));
        }
        for f in 0..IN {
            let column = transform_inputs_1d(std::array::from_fn(|r| rows[r][f]));
            for (r, &value) in column.iter().enumerate() {
                store(&mut inputs[(r * IN + f) * pitch + at + first..], value);
            }
        }
    }
}

/// Transforms a tile's products back, as columns of outputs: `[file][rank]`.
#[inline(always)]
fn transform_outputs(products: &[Wide], first: usize) -> [[Lane; OUT]; OUT] {
    let products = &products[..(PLACES - 1) * PRODUCT_PITCH + 1];
    let mut rows = [[[0.0; LANE]; OUT]; IN];
    for (r, row) in rows.iter_mut().enumerate() {
        *row = transform_outputs_1d(std::array::from_fn(|f| {
            lane(&products[(r * IN + f) * PRODUCT_PITCH][first..])
        }));
    }
    std::array::from_fn(|f| transform_outputs_1d(std::array::from_fn(|r| rows[r][f])))
}

#[inline(always)]
fn write_tile<const ADD: bool>(
    tile: [[Lane; OUT]; OUT],
    bias: Lane,
    board: &mut [f32],
    channels: usize,
) {
    for (f, column) in tile.into_iter().enumerate() {
        for (r, value) in column.into_iter().enumerate() {
            let out = &mut board[(r * BOARD_SIDE + f) * channels..];
            let mut sum = add(value, bias);
            if ADD {
                sum = add(sum, lane(out));
            }
            store(out, relu(sum));
        }
    }
}

/// `B^T d`: the interpolation points are 0, 1, -1, 2, -2 and infinity.
#[inline(always)]
fn transform_inputs_1d(d: [Lane; IN]) -> [Lane; IN] {
    let even = add_scaled(d[4], -4.0, d[2]);
    let odd = add_scaled(d[3], -4.0, d[1]);
    let even_2 = sub(d[4], d[2]);
    let odd_2 = sub(d[3], d[1]);
    [
        add_scaled(add_scaled(d[4], 4.0, d[0]), -5.0, d[2]),
        add(even, odd),
        sub(even, odd),
        add_scaled(even_2, 2.0, odd_2),
        add_scaled(even_2, -2.0, odd_2),
        add_scaled(add_scaled(d[5], 4.0, d[1]), -5.0, d[3]),
    ]
}

/// `A^T m` at the same points.
#[inline(always)]
fn transform_outputs_1d(m: [Lane; IN]) -> [Lane; OUT] {
    let (sum, difference) = (add(m[1], m[2]), sub(m[1], m[2]));
    let (sum_2, difference_2) = (add(m[3], m[4]), sub(m[3], m[4]));
    [
        add(add(m[0], sum), sum_2),
        add_scaled(difference, 2.0, difference_2),
        add_scaled(sum, 4.0, sum_2),
        add(add_scaled(difference, 8.0, difference_2), m[5]),
    ]
}

/// `G g G^T` at the same points, in f64 since it is done once.
fn transform_kernel(kernel: &[f32; 9]) -> [f32; PLACES] {
    const G: [[f64; 3]; IN] = [
        [1.0 / 4.0, 0.0, 0.0],
        [-1.0 / 6.0, -1.0 / 6.0, -1.0 / 6.0],
        [-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
        [1.0 / 24.0, 1.0 / 12.0, 1.0 / 6.0],
        [1.0 / 24.0, -1.0 / 12.0, 1.0 / 6.0],
        [0.0, 0.0, 1.0],
    ];
    std::array::from_fn(|place| {
        let (row, column) = (G[place / IN], G[place % IN]);
        let term = |k: usize| row[k / 3] * column[k % 3] * f64::from(kernel[k]);
        (0..9).map(term).sum::<f64>() as f32
    })
}
