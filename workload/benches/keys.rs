//! Nanoseconds a key.
fn main() {}
