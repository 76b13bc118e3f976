//! The end of stores and ledgers: their files are closed cleanly, each within a time limit.

use std::{sync::Arc, time::Duration};

use sequent_core::BoxFuture;
use tokio::{task::JoinSet, time::timeout};

use crate::config::Place;

/// How one is left.
pub(super) type Leave = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// What must be left: files cleanly, since whoever is the last takes their logs with it; servers by saying goodbye.
#[derive(Clone, Default)]
pub struct Files {
    stores: Vec<(Place, Leave)>,
    ledger: Option<(Place, Leave)>,
}

/// How long the stores have to be left, and then the ledger: to leave a file copies its log into it, at most a few
/// megabytes. One whose disk hangs would never be left.
const LEAVE_MAX: Duration = Duration::from_secs(2);

impl Files {
    pub(super) fn keep_store(&mut self, place: &Place, leave: Leave) {
        self.stores.push((place.clone(), leave));
    }

    pub(super) fn keep_ledger(&mut self, place: &Place, leave: Leave) {
        self.ledger = Some((place.clone(), leave));
    }

    /// Leaves every place; the ledger last, since it knows of the others. Names the files that could not be left in time.
    pub async fn leave(&self) -> Vec<String> {
        let mut leaving = JoinSet::new();
        for (place, leave) in self.stores.clone() {
            leaving.spawn(in_time(place, leave));
        }
        let mut unleft: Vec<String> = leaving.join_all().await.into_iter().flatten().collect();
        if let Some((place, leave)) = self.ledger.clone() {
            unleft.extend(in_time(place, leave).await);
        }
        unleft.sort();
        unleft
    }
}

/// The path of a file that can't be left in time: what was begun goes on, as long as the process runs. A server that
/// does not answer loses nothing by a connection that ends without a word.
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
