//! The source under a reservoir: its takes are refills, each counted, and none asks for more than the key may give now.

use std::sync::Arc;

use sequent_core::{Blocks, Reply, Source};

use super::BurnLimit;
use crate::telemetry::Refills;

/// The numbers of a source, as many as the burn limit allows.
pub(crate) struct LimitedSource {
    source: Arc<dyn Source>,
    limit: Arc<BurnLimit>,
    refills: Arc<Refills>,
}

impl LimitedSource {
    pub(crate) fn of(
        source: Arc<dyn Source>,
        limit: &Arc<BurnLimit>,
        refills: &Arc<Refills>,
    ) -> Arc<dyn Source> {
        Arc::new(Self { source, limit: Arc::clone(limit), refills: Arc::clone(refills) })
    }
}

#[deny(clippy::missing_trait_methods)]
impl Source for LimitedSource {
    fn take(&self, want: u64) -> Reply<'_, Blocks> {
        Box::pin(async move {
            let want = self.limit.refill(want, self.source.remaining().unwrap_or(u64::MAX))?;
            let outcome = self.refills.counted(self.source.take(want)).await;
            self.limit.correct(want, outcome.as_ref().map_or(0, Blocks::count));
            outcome
        })
    }

    fn lift(&self, floor: u64) -> Reply<'_, ()> {
        self.source.lift(floor)
    }

    fn position(&self) -> Option<u64> {
        self.source.position()
    }

    fn remaining(&self) -> Option<u64> {
        self.source.remaining()
    }

    fn remaining_up_to(&self, limit: u64) -> Option<u64> {
        self.source.remaining_up_to(limit)
    }
}
