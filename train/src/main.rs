//! The command `cyvasse`.
fn main() {}
