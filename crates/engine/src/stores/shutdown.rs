//! The end of stores and ledgers: their files are closed cleanly, each within a time limit.

use std::{sync::Arc, time::Duration};

use sequent_core::BoxFuture;
use tokio::{task::JoinSet, time::timeout};

use crate::config::Place;

/// The function that closes one place.
pub(super) type Leave = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// The stores and ledgers to be closed. Files are closed cleanly, since the last process removes their logs; servers
/// are disconnected properly.
#[derive(Clone, Default)]
pub struct Files {
    stores: Vec<(Place, Leave)>,
    ledger: Option<(Place, Leave)>,
}

/// Time for closing the stores, and then the ledger. Closing a file copies its log into it, a few megabytes at most. A
/// file on a disk that hangs would never be closed.
const LEAVE_MAX: Duration = Duration::from_secs(2);

impl Files {
    pub(super) fn keep_store(&mut self, place: &Place, leave: Leave) {
        self.stores.push((place.clone(), leave));
    }

    pub(super) fn keep_ledger(&mut self, place: &Place, leave: Leave) {
        self.ledger = Some((place.clone(), leave));
    }

    /// Closes every place; the ledger last, since it has the state of the others. Returns the files that could not be
    /// closed in time.
    pub async fn leave(&self) -> Vec<String> {
        let leaving = self.stores.clone().into_iter().map(|(place, leave)| in_time(place, leave));
        let left = leaving.collect::<JoinSet<_>>().join_all().await;
        let mut unleft: Vec<String> = left.into_iter().flatten().collect();
        if let Some((place, leave)) = self.ledger.clone() {
            unleft.extend(in_time(place, leave).await);
        }
        unleft.sort();
        unleft
    }
}

/// The path of a file that can't be closed in time. The close goes on as long as the process runs. A server that does
/// not respond loses nothing if its connection is dropped.
async fn in_time(place: Place, leave: Leave) -> Option<String> {
    if timeout(LEAVE_MAX, leave()).await.is_ok() {
        return None;
    }
    let limit_s = LEAVE_MAX.as_secs();
    match place {
        Place::Sqlite(path) => {
            let file = path.display().to_string();
            tracing::warn!(file, limit_s, "could not be left cleanly: its disk does not answer");
            Some(file)
        }
        place => {
            tracing::info!(%place, limit_s, "its connections end without a word: the server does not answer");
            None
        }
    }
}
