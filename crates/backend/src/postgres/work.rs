//! A verb as a piece of work that can be run again.

use std::future::Future;

use sequent_core::ErrorKind;
use sqlx::query;

use super::{fault::Fault, link::Link};

/// How a verb's statements are held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// Each statement by itself.
    Bare,
    /// One view of the tables for all of them.
    Read,
    /// All or none.
    Write,
}

/// A verb, made so that it can be run again: after `Busy` and `Stale` it has done nothing.
pub(super) trait Work: Sync {
    /// What it returns.
    type Out: Send;
    /// Its name, for errors, where it has one.
    const VERB: &'static str = "";
    /// How its statements are held together.
    const FRAME: Frame = Frame::Write;
    /// How its statements are held together.
    fn frame(&self) -> Frame {
        Self::FRAME
    }

    /// Its name, for errors.
    fn verb(&self) -> &'static str {
        Self::VERB
    }

    /// Runs it once.
    fn run(&self, link: &mut Link) -> impl Future<Output = Result<Self::Out, Fault>> + Send;
}

/// Once: within its frame, and out of it again whatever happens.
pub(super) async fn attempt<W: Work>(link: &mut Link, work: &W) -> Result<W::Out, Fault> {
    let begin = match work.frame() {
        Frame::Bare => return work.run(link).await,
        Frame::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        Frame::Write => "BEGIN",
    };
    link.session().run(query(begin)).await?;
    let done = match work.run(link).await {
        Ok(out) => link.session().run(query("COMMIT")).await.map(|_| out),
        Err(fault) => Err(fault),
    };
    if matches!(done, Err(Fault::Answer(_) | Fault::Busy(_))) {
        link.session()
            .run(query("ROLLBACK"))
            .await
            .map_err(|_| Fault::broken(ErrorKind::Unavailable, "a transaction could not be rolled back"))?;
    }
    done
}
