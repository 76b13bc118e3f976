//! Fork detection: a forked child must not use the numbers that its parent holds.

/// Detects whether the process is a forked child of the one that made this value. A check costs one atomic load,
/// since the system notifies a child when it starts.
#[derive(Debug, Clone)]
pub(crate) struct ForkGuard(Option<SystemGuard>);

#[cfg(unix)]
type SystemGuard = forkguard::Guard;

#[cfg(not(unix))]
type SystemGuard = ();

impl ForkGuard {
    /// Guard of this process. If the system has no such notification, the process id is still compared at each lease.
    #[cfg(unix)]
    pub(crate) fn new() -> Self {
        Self(forkguard::Guard::try_new().ok())
    }

    /// Guard on a system without `fork`.
    #[cfg(not(unix))]
    pub(crate) fn new() -> Self {
        Self(None)
    }

    /// Whether this process is a child of the one that made the guard.
    #[cfg(unix)]
    #[inline]
    pub(crate) fn is_forked_child(&self) -> bool {
        match &self.0 {
            Some(guard) => guard.clone().detected_fork(),
            None => false,
        }
    }

    /// Always false.
    #[cfg(not(unix))]
    #[inline]
    pub(crate) fn is_forked_child(&self) -> bool {
        self.0.is_some()
    }
}
