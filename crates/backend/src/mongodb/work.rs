//! A verb as a piece of work that can be run again.

use std::future::Future;

use super::{fault::Fault, link::Link};

/// A verb, made so that it can be run again: after `Busy` and `Stale` it has done nothing.
pub(super) trait Work: Sync {
    /// What it returns.
    type Out: Send;
    /// Its name, for errors.
    const VERB: &'static str;
    /// Runs it once.
    fn run(&self, link: &Link) -> impl Future<Output = Result<Self::Out, Fault>> + Send;
}
