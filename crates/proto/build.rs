//! Generates the wire types. `protox` is a compiler in Rust: no build needs `protoc`.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message;

const ROOT: &str = "../../proto";
const FILES: [&str; 2] = ["sequent/v1/sequences.proto", "sequent/v1/definitions.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={ROOT}");
    let descriptors = protox::compile(FILES, [ROOT])?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    fs::write(out.join("sequent.v1.bin"), descriptors.encode_to_vec())?;
    // Whoever connects brings a transport of its own.
    tonic_prost_build::configure().build_transport(false).compile_fds(descriptors)?;
    Ok(())
}
