//! Tests of the package from outside, in one executable: each one that links
//! libtorch takes long to build.

mod checkpoint;
mod common;
mod export;
mod inference;
mod optimizer;
mod parity;
mod server;
mod setups;
mod training;
