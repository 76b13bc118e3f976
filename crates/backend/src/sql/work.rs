//! A verb as a piece of work that can be run again.

use std::future::Future;

use sequent_core::Incarnation;

use super::SqlSession;

/// How the statements of a piece of work are held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TxMode {
    /// Each statement by itself.
    Single,
    /// One view of the tables for all of them.
    Read,
    /// All or none.
    Write,
}

/// A verb, made so that it can be run again: where it failed because somebody else held a lock, it has done nothing.
pub(crate) trait Work<S: SqlSession>: Send + Sync {
    /// What it returns.
    type Out: Send;
    /// Its name, for errors, where it has one.
    const VERB: &'static str = "";
    /// How its statements are held together.
    const MODE: TxMode = TxMode::Single;
    /// Whether the connection looks again who speaks, before it runs; of engines whose connections may outlive that.
    #[cfg_attr(not(feature = "mysql"), allow(dead_code, reason = "one engine asks"))]
    const LOOKS_AGAIN: bool = false;

    /// Its name, for errors.
    fn verb(&self) -> &'static str {
        Self::VERB
    }

    /// How its statements are held together.
    fn mode(&self) -> TxMode {
        Self::MODE
    }

    /// The incarnation under which alone it may run; `None` where it finds that out itself.
    #[cfg_attr(not(feature = "mysql"), allow(dead_code, reason = "one engine asks"))]
    fn under(&self) -> Option<&Incarnation> {
        None
    }

    /// Runs it once.
    fn run(&self, session: &mut S) -> impl Future<Output = Result<Self::Out, S::Fault>> + Send;
}
