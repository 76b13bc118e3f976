//! The wire types of the gRPC API, generated from `proto/` at the top of the repository, and their descriptors.
//!
//! The generated code is committed: a build needs neither a compiler of `.proto` files nor the files themselves. After a
//! change of `proto/`, `SEQUENT_GENERATE=1 cargo test -p sequent-proto` writes it again.
//!
//! ```
//! use sequent_proto::v1::NextRequest;
//! let request = NextRequest { sequence: "order".to_owned(), ..NextRequest::default() };
//! assert_eq!(request.count, None, "absent: one number");
//! ```

/// Package `sequent.v1`.
#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "generated; its comments are those of the .proto file"
)]
pub mod v1 {
    include!("generated/sequent.v1.rs");

    /// The descriptors of the package and all that it imports, for the reflection service.
    pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("generated/sequent.v1.bin");
}
