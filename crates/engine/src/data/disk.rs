//! Calls to a disk that may hang. They run on a thread of their own, and are abandoned after a time limit.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use sequent_core::sync;

use crate::error::OpenError;

/// The path in use, so that the error can say which disk does not respond.
#[derive(Clone)]
pub(super) struct Asking(Arc<Mutex<PathBuf>>);

impl Asking {
    /// Sets the path in use.
    pub(super) fn about<'a>(&self, path: &'a Path) -> &'a Path {
        path.clone_into(&mut sync::lock(&self.0));
        path
    }
}

/// Does `work` within `limit`, or fails with the path whose disk does not respond. A start does this a few times and
/// ends if it fails, so few threads hang with a disk.
pub(super) async fn asked<T: Send + 'static>(
    first: &Path,
    limit: Duration,
    work: impl FnOnce(&Asking) -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    let asking = Asking(Arc::new(Mutex::new(first.to_owned())));
    let at = asking.clone();
    let working = tokio::task::spawn_blocking(move || work(&at));
    match tokio::time::timeout(limit, working).await {
        Ok(Ok(done)) => done,
        Ok(Err(error)) => {
            Err(OpenError::Unavailable(format!("look at {}: {error}", sync::lock(&asking.0).display())))
        }
        Err(_) => Err(OpenError::Unavailable(format!(
            "the disk under {} does not answer: no word within {} ms",
            sync::lock(&asking.0).display(),
            limit.as_millis()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[tokio::test]
    async fn who_hangs_is_named() {
        let (release, until) = mpsc::channel::<()>();
        let work = move |asking: &Asking| {
            asking.about(Path::new("/well"));
            asking.about(Path::new("/hangs"));
            until.recv().unwrap_err();
            Ok(())
        };
        let error = asked(Path::new("/first"), Duration::from_millis(50), work).await.unwrap_err();
        assert_eq!(error.exit_code(), 4, "it may be tried again");
        assert_eq!(error.to_string(), "the disk under /hangs does not answer: no word within 50 ms");
        drop(release);
    }
}
