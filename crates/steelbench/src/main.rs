//! Steelbench.
fn main() {}
