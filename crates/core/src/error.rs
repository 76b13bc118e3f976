//! Failures below the ring: kind, context, condition and source.

use std::{error::Error, fmt, sync::Arc};

use crate::{BlockError, Condition, ErrorKind, SlotFailure, Why, line_of};

/// Failure to yield numbers: its kind, what was being done, and the underlying error. Cheap to clone.
///
/// ```
/// use sequent_core::{ErrorKind, Scope, SourceError};
/// let error = SourceError::new(ErrorKind::Unavailable, "connect to shard").because("connection refused");
/// assert_eq!(error.to_string(), "unavailable: connect to shard: connection refused");
/// assert_eq!(error.kind().verdict().scope, Scope::Slot);
/// ```
#[derive(Clone)]
pub struct SourceError(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    context: String,
    why: Option<Why>,
    condition: Option<Condition>,
    source: Option<Arc<dyn Error + Send + Sync>>,
    slots: Vec<SlotFailure>,
}

impl SourceError {
    /// A failure of `kind` while doing `context` (lower case, no full stop).
    pub fn new(kind: ErrorKind, context: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            context: context.into(),
            why: None,
            condition: None,
            source: None,
            slots: Vec::new(),
        }))
    }

    /// A counter at the end of its range.
    pub fn exhausted(error: BlockError) -> Self {
        Self::new(ErrorKind::Exhausted, "counter is at the end of its range").because(error)
    }

    /// No slot could serve: each slot with its cause, ascending by slot.
    pub fn no_shard(mut slots: Vec<SlotFailure>) -> Self {
        slots.sort_by_key(|failure| failure.slot);
        let causes = line_of(&slots, SlotFailure::cause, |slots, cause| format!("{slots} {cause}"), ", ");
        let context = if slots.is_empty() { "the ring is empty".to_owned() } else { causes };
        let Self(inner) = Self::new(ErrorKind::NoShard, context);
        Self(Arc::new(Inner { slots, ..Arc::unwrap_or_clone(inner) }))
    }

    /// Adds the underlying error.
    #[must_use]
    pub fn because(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let inner = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(Inner { source: Some(Arc::from(source.into())), ..inner }))
    }

    /// Prefixes the context with `outer`, the operation during which it happened.
    #[must_use]
    pub fn during(self, outer: impl fmt::Display) -> Self {
        let inner = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(Inner { context: format!("{outer}: {}", inner.context), ..inner }))
    }

    /// Sets the cause that callers are shown.
    #[must_use]
    pub fn told(self, why: impl Into<Option<Why>>) -> Self {
        let inner = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(Inner { why: why.into(), ..inner }))
    }

    /// Sets what was found, for code that decides by it.
    #[must_use]
    pub fn with(self, condition: impl Into<Option<Condition>>) -> Self {
        let inner = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(Inner { condition: condition.into(), ..inner }))
    }

    /// What callers match on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What was being done.
    pub fn context(&self) -> &str {
        &self.0.context
    }

    /// The cause that callers are shown, if it is known.
    pub fn why(&self) -> Option<Why> {
        self.0.why.or_else(|| self.inner_error()?.why())
    }

    /// What was found where the failure arose, in a form that code can decide by.
    pub fn condition(&self) -> Option<Condition> {
        self.0.condition.or_else(|| self.inner_error()?.condition())
    }

    /// The underlying error, if it is a [`SourceError`].
    fn inner_error(&self) -> Option<&Self> {
        self.0.source.as_ref()?.downcast_ref()
    }

    /// Each slot with its cause, for [`ErrorKind::NoShard`]; otherwise empty.
    pub fn slots(&self) -> &[SlotFailure] {
        &self.0.slots
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.kind, self.0.context)?;
        match &self.0.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shard_lists_slots_in_order_and_hides_details() {
        let failure =
            |slot, kind| SlotFailure::of(slot, &SourceError::new(kind, "take").because("10.0.0.1 refused"));
        let error =
            SourceError::no_shard(vec![failure(2, ErrorKind::Timeout), failure(0, ErrorKind::Unavailable)]);
        assert_eq!(error.to_string(), "no-shard: slot 0 unavailable, slot 2 timed out");
    }

    #[test]
    fn equal_causes_are_named_once() {
        let failure = |slot, kind| SlotFailure::of(slot, &SourceError::new(kind, "take"));
        let (gone, slow) = (ErrorKind::Unavailable, ErrorKind::Timeout);
        let error = SourceError::no_shard(vec![
            failure(5, gone),
            failure(0, gone),
            failure(3, slow),
            failure(2, gone),
            failure(1, gone),
        ]);
        assert_eq!(error.context(), "slots 0-2, 5 unavailable, slot 3 timed out");
    }
    #[test]
    fn a_cause_that_was_told_is_not_lost_on_the_way_up() {
        let met = SourceError::new(ErrorKind::Unavailable, "connect").told(Why::LoginRefused);
        let passed_on = met.clone().during("open").because("the password is wrong");
        let wrapped = SourceError::new(ErrorKind::Unavailable, "take").because(met);
        assert_eq!((passed_on.why(), wrapped.why()), (Some(Why::LoginRefused), Some(Why::LoginRefused)));
        assert_eq!(
            SourceError::no_shard(vec![SlotFailure::of(1, &wrapped)]).context(),
            "slot 1 login refused"
        );
    }
}
