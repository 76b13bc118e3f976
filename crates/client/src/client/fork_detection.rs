//! Which process this is: numbers that a parent holds are its own, not its children's.

/// The process that something was made in. Asking costs one load: the system tells a child when it begins.
#[derive(Debug, Clone)]
pub(crate) struct ForkGuard(Option<SystemGuard>);

#[cfg(unix)]
type SystemGuard = forkguard::Guard;

#[cfg(not(unix))]
type SystemGuard = ();

impl ForkGuard {
    /// This one. Where the system can't tell of forks, the process's id is still compared at each lease.
    #[cfg(unix)]
    pub(crate) fn new() -> Self {
        Self(forkguard::Guard::try_new().ok())
    }

    /// This one, where none is ever forked.
    #[cfg(not(unix))]
    pub(crate) fn new() -> Self {
        Self(None)
    }

    /// Whether this is a child of that process.
    #[cfg(unix)]
    #[inline]
    pub(crate) fn is_forked_child(&self) -> bool {
        match &self.0 {
            Some(guard) => guard.clone().detected_fork(),
            None => false,
        }
    }

    /// Never.
    #[cfg(not(unix))]
    #[inline]
    pub(crate) fn is_forked_child(&self) -> bool {
        self.0.is_some()
    }
}
