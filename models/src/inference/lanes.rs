//! Arithmetic on fixed-size groups of f32, in the form that the compiler turns
//! into vector instructions: plain arrays, no bounds checks inside loops.
//!
//! `.cargo/config.toml` builds for AVX2 with FMA, where a [`Lane`] is one
//! register. Elsewhere the results are the same to rounding, and slower.

/// Values handled by one instruction.
pub(super) const LANE: usize = 8;

/// Values of as many channels at the same place.
pub(super) type Lane = [f32; LANE];

/// Outputs that one pass over the inputs computes: two lanes.
pub(super) const WIDTH: usize = 16;

/// Values of [`WIDTH`] outputs; also one row of a weight panel.
pub(super) type Wide = [f32; WIDTH];

/// Channel counts are rounded up to this, so that all loops are whole.
pub(super) fn padded(channels: usize) -> usize {
    channels.next_multiple_of(WIDTH)
}

/// `a * b + c`, fused where the machine can do so in one instruction.
#[inline(always)]
pub(super) fn fused(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

#[inline(always)]
pub(super) fn add(a: Lane, b: Lane) -> Lane {
    std::array::from_fn(|i| a[i] + b[i])
}

#[inline(always)]
pub(super) fn sub(a: Lane, b: Lane) -> Lane {
    std::array::from_fn(|i| a[i] - b[i])
}

/// `a + factor * b`.
#[inline(always)]
pub(super) fn add_scaled(a: Lane, factor: f32, b: Lane) -> Lane {
    std::array::from_fn(|i| fused(b[i], factor, a[i]))
}

#[inline(always)]
pub(super) fn relu(a: Lane) -> Lane {
    a.map(|x| at_least(0.0, x))
}

/// The larger one, NaN if `x` is: a broken network must not look sound. One
/// instruction, unlike [`f32::max`], which leaves NaN out.
#[inline(always)]
pub(super) fn at_least(floor: f32, x: f32) -> f32 {
    if x < floor { floor } else { x }
}

/// The first lane of `values`.
///
/// # Panics
///
/// When there are fewer values than that.
#[inline(always)]
pub(super) fn lane(values: &[f32]) -> Lane {
    *values.first_chunk().expect("padded to whole lanes")
}

/// Writes to the first lane of `values`; panics as [`lane`] does.
#[inline(always)]
pub(super) fn store(values: &mut [f32], lane: Lane) {
    *values.first_chunk_mut().expect("padded to whole lanes") = lane;
}

/// Products of `T` rows with one panel of weights: `sum_k rows[t][k] *
/// panel[k]`. Rows are as long as the panel, a multiple of [`LANE`].
///
/// With `T = 4` all sums and operands stay in AVX2's sixteen registers.
#[inline(always)]
pub(super) fn multiply<const T: usize>(rows: [&[f32]; T], panel: &[Wide]) -> [Wide; T] {
    let mut sums = [[0.0; WIDTH]; T];
    let rows = rows.map(|row| row[..panel.len()].as_chunks::<LANE>().0);
    for (k, weights) in panel.as_chunks::<LANE>().0.iter().enumerate() {
        let inputs: [&Lane; T] = std::array::from_fn(|t| &rows[t][k]);
        for i in 0..LANE {
            for t in 0..T {
                for j in 0..WIDTH {
                    sums[t][j] = fused(inputs[t][i], weights[i][j], sums[t][j]);
                }
            }
        }
    }
    sums
}

/// `sum_k a[k] * b[k]` of rows of the same length, a multiple of [`LANE`].
#[inline(always)]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANE];
    for (a, b) in a.as_chunks::<LANE>().0.iter().zip(b.as_chunks::<LANE>().0) {
        sums = std::array::from_fn(|i| fused(a[i], b[i], sums[i]));
    }
    sums.iter().sum()
}
