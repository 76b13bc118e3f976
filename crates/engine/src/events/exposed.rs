//! What left without a witness while the ledger was away: a block at a time, which is told once when it begins, and in
//! all when it is over.

use std::sync::atomic::{AtomicU64, Ordering};

use sequent_core::Event;

/// Raw ids that left above their ceilings since the ledger was lost.
#[derive(Debug, Default)]
pub(crate) struct Exposed(AtomicU64);

impl Exposed {
    /// Whether the event is to be told, as well as counted.
    pub(crate) fn is_news(&self, event: &Event) -> bool {
        match event {
            Event::Unwitnessed { count, .. } => self.0.fetch_add(*count, Ordering::Relaxed) == 0,
            Event::LedgerBack { .. } => {
                let raw_ids = self.0.swap(0, Ordering::Relaxed);
                if raw_ids > 0 {
                    tracing::warn!(
                        raw_ids,
                        "so many raw ids left above their ceilings while the ledger was away"
                    );
                }
                true
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_the_first_block_of_each_loss_is_news() {
        let exposed = Exposed::default();
        let block = |count| Event::Unwitnessed { slot: 1, count };
        for _ in 0..2 {
            let news = [block(5), block(7), Event::LedgerBack { away: Duration::ZERO }]
                .map(|event| exposed.is_news(&event));
            assert_eq!(news, [true, false, true]);
        }
    }
}
