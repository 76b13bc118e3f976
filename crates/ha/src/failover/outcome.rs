//! The outcome of one request to an endpoint.

use sequent_core::SourceError;

/// What one endpoint said.
#[derive(Debug)]
pub enum Outcome<T> {
    /// An answer, good or bad: the call ends with it.
    Answer(T),
    /// The endpoint is not at fault, and another one may know better. The call returns this if none does.
    TryNext(T),
    /// A fault of the endpoint. It counts against its health, by the error's verdict.
    Fault(SourceError),
}
