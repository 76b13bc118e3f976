//! Range mapping: encoded numbers become the numbers that users see, up to the last of the sequence.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use sequent_core::{Blocks, ErrorKind, Layout, Reply, Source, SourceError, Span};

/// Turns a source of encoded numbers into a source of the numbers of a span, exhausted past its end.
///
/// ```
/// use std::sync::Arc;
/// use sequent_buffer::RangeMapping;
/// use sequent_core::{ErrorKind, Fits, Layout, Source, Span};
/// use sequent_testkit::ScriptedSource;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let (layout, span) = (Layout::new(0, 0).unwrap(), Span::new(100, 10, Some(130), Fits::Js).unwrap());
/// let numbers = RangeMapping::new(Arc::new(ScriptedSource::giving()), layout, span);
/// let blocks = numbers.take(9).await.unwrap();
/// assert_eq!(blocks.numbers().collect::<Vec<_>>(), [100, 110, 120, 130]);
/// assert_eq!(numbers.take(1).await.unwrap_err().kind(), ErrorKind::Exhausted);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct RangeMapping {
    encoded: Arc<dyn Source>,
    layout: Layout,
    span: Span,
    /// The highest encoded number seen. `remaining` counts from it.
    highest: AtomicU64,
}

impl std::fmt::Debug for RangeMapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RangeMapping").field("span", &self.span).finish_non_exhaustive()
    }
}

impl RangeMapping {
    /// Maps what `encoded` yields to the numbers of `span`.
    pub fn new(encoded: Arc<dyn Source>, layout: Layout, span: Span) -> Self {
        Self { encoded, layout, span, highest: AtomicU64::new(0) }
    }

    /// How many numbers of the span are above the highest one known to be taken. Used for warnings and by the refill
    /// policy.
    pub fn left(&self) -> u64 {
        let highest = self.highest.load(Ordering::Relaxed).max(self.encoded.position().unwrap_or(0));
        let taken = highest.saturating_add(1).saturating_sub(self.zero());
        self.span.capacity().saturating_sub(taken)
    }

    /// How many numbers of the span can still come at most, those below the highest one included; `None` if unknown.
    ///
    /// [`left`](Self::left) counts from the highest number; slots that lag have more below it.
    pub fn left_at_most(&self) -> Option<u64> {
        let limit = self.zero().checked_add(self.span.capacity() - 1)?;
        self.encoded.remaining_up_to(limit)
    }

    fn zero(&self) -> u64 {
        self.span.zero(self.layout)
    }

    fn numbers(&self, encoded: Blocks) -> Result<Blocks, SourceError> {
        self.highest.fetch_max(encoded.highest().unwrap_or(0), Ordering::Relaxed);
        let expires_at = encoded.expiry();
        let numbers: Vec<_> =
            encoded.into_iter().filter_map(|block| self.span.numbers(self.layout, block)).collect();
        if numbers.is_empty() {
            let text = format!("the sequence is past its last number, {}", self.span.limit());
            return Err(SourceError::new(ErrorKind::Exhausted, text));
        }
        Ok(Blocks::from_unsorted(numbers).until(expires_at))
    }
}

impl Source for RangeMapping {
    fn take(&self, want: u64) -> Reply<'_, Blocks> {
        Box::pin(async move { self.numbers(self.encoded.take(want).await?) })
    }

    fn lift(&self, floor: u64) -> Reply<'_, ()> {
        // A floor between two numbers of the span counts as the lower one.
        let steps = floor.checked_sub(self.span.start()).map(|above| above / self.span.step());
        match steps.and_then(|steps| steps.checked_add(self.zero())) {
            Some(encoded) => self.encoded.lift(encoded),
            None => Box::pin(std::future::ready(Ok(()))),
        }
    }

    fn position(&self) -> Option<u64> {
        let steps = self.encoded.position()?.checked_sub(self.zero())?;
        self.span.step().checked_mul(steps)?.checked_add(self.span.start())
    }

    fn remaining(&self) -> Option<u64> {
        Some(self.left())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::{Block, Fits};
    use sequent_testkit::ScriptedSource;

    #[tokio::test]
    async fn no_more_than_the_ids_up_to_the_end_can_come() {
        /// Ids above a position, each of them known to be left.
        struct Ids(u64);
        impl Source for Ids {
            fn take(&self, _: u64) -> Reply<'_, Blocks> {
                Box::pin(std::future::pending())
            }

            fn remaining_up_to(&self, limit: u64) -> Option<u64> {
                Some(limit.saturating_sub(self.0))
            }
        }
        // The first id is 1 and has the numbers 1 to 8; 100 is the fourth number of the thirteenth id.
        let (layout, span) = (Layout::new(0, 3).unwrap(), Span::new(1, 1, Some(100), Fits::Js).unwrap());
        for (taken, left) in [(0, 100), (1, 92), (12, 4), (13, 0), (99, 0)] {
            let numbers = super::super::bit_expansion::BitExpansion::new(Arc::new(Ids(taken)), layout);
            let numbers = RangeMapping::new(Arc::new(numbers), layout, span);
            assert_eq!(numbers.left_at_most(), Some(left), "{taken} ids taken");
        }
    }

    #[tokio::test]
    async fn left_is_known_before_the_first_take_and_ends_at_zero() {
        let (layout, span) = (Layout::new(2, 1).unwrap(), Span::new(1, 1, Some(100), Fits::Js).unwrap());
        let encoded = Arc::new(ScriptedSource::giving().above(layout.origin() + 39));
        let numbers = RangeMapping::new(encoded.clone(), layout, span);
        assert_eq!(numbers.left(), 60, "by the position of the source");
        assert_eq!(numbers.take(50).await.unwrap().as_slice(), [Block::new(41, 1, 50).unwrap()]);
        assert_eq!((numbers.left(), numbers.position()), (10, Some(90)));
        numbers.lift(95).await.unwrap();
        assert_eq!(encoded.lifts(), [layout.origin() + 94]);
        assert_eq!(numbers.take(50).await.unwrap().as_slice(), [Block::new(96, 1, 5).unwrap()]);
        assert_eq!(numbers.left(), 0);
        let error = numbers.take(1).await.unwrap_err().to_string();
        assert_eq!(error, "exhausted: the sequence is past its last number, 100");
    }
}
