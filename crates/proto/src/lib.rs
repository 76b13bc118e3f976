//! The wire types of the gRPC door, generated from `proto/` at the top of the repository, and their descriptors.
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
    tonic::include_proto!("sequent.v1");

    /// The descriptors of the package and all that it imports, for the reflection service.
    pub const FILE_DESCRIPTOR_SET: &[u8] = tonic::include_file_descriptor_set!("sequent.v1");
}
