//! The gate under loom: every order of its loads and stores that the memory model allows, for a few callers.
//!
//! Run with `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test --release -p sequent-buffer --lib`.
