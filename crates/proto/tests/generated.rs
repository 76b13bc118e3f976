//! The committed code and descriptors are what `proto/` generates.
//!
//! `SEQUENT_GENERATE=1` writes them instead of comparing.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its input fails at that place")]

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use prost::Message;
use protox::prost_reflect::prost_types::FieldDescriptorProto;

const FILES: [&str; 2] = ["sequent/v1/sequences.proto", "sequent/v1/definitions.proto"];

/// The code, and the descriptors.
const GENERATED: [&str; 2] = ["sequent.v1.rs", "sequent.v1.bin"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Generates both files. `protox` is a compiler in Rust: no `protoc` is needed.
fn generate() -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("proto");
    fs::create_dir_all(&out).unwrap();
    let descriptors = protox::compile(FILES, [root().join("../../proto")]).unwrap();
    fs::write(out.join(GENERATED[1]), descriptors.encode_to_vec()).unwrap();
    // Whoever connects brings a transport of its own.
    let builder = tonic_prost_build::configure().build_transport(false).out_dir(&out);
    builder.compile_fds(descriptors).unwrap();
    out
}

#[test]
fn what_is_committed_is_what_is_generated() {
    let (out, committed) = (generate(), root().join("src/generated"));
    for file in GENERATED {
        let generated = fs::read(out.join(file)).unwrap();
        if env::var_os("SEQUENT_GENERATE").is_some() {
            fs::write(committed.join(file), generated).unwrap();
            continue;
        }
        let is_same = fs::read(committed.join(file)).is_ok_and(|found| found == generated);
        assert!(is_same, "{file} is stale: SEQUENT_GENERATE=1 cargo test -p sequent-proto");
    }
}

#[test]
fn each_file_has_the_options_that_generators_of_other_languages_ask_for() {
    let descriptors = protox::compile(FILES, [root().join("../../proto")]).unwrap();
    for file in descriptors.file.iter().filter(|file| file.package() == "sequent.v1") {
        let options = file.options.as_ref().unwrap();
        let said = (options.go_package(), options.java_package(), options.csharp_namespace());
        assert_eq!(said, ("sequent/v1;sequentv1", "sequent.v1", "Sequent.V1"), "{}", file.name());
        assert!(options.java_multiple_files(), "{}", file.name());
    }
}

#[test]
fn no_field_is_a_reserved_word_of_python() {
    // protoc leaves such a field out of the constructor's type, and `Request(with=…)` does not parse.
    const WORDS: &str = "and as assert async await break class continue def del elif else except finally for from global \
                         if import in is lambda nonlocal not or pass raise return try while with yield";
    let descriptors = protox::compile(FILES, [root().join("../../proto")]).unwrap();
    let fields =
        descriptors.file.iter().flat_map(|file| &file.message_type).flat_map(|message| &message.field);
    let names: Vec<&str> = fields.map(FieldDescriptorProto::name).collect();
    assert!(names.contains(&"values"), "the check would be empty");
    let reserved: Vec<&&str> =
        names.iter().filter(|name| WORDS.split(' ').any(|word| word == **name)).collect();
    assert!(reserved.is_empty(), "{reserved:?}");
}
