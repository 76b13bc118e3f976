//! The lock under which a cluster is created. Of several processes that find none, one creates it.

use std::{fs::File, path::Path, time::Duration};

use sequent_core::Env;

use super::version_file::lock_file;

/// The longest pause between two attempts at the lock; each pause is random between half of it and all of it.
const PAUSE_MAX: Duration = Duration::from_millis(10);

/// The exclusive right to create a cluster in a directory, until it is dropped. The holder before may have created
/// one.
pub(crate) struct Turn {
    _lock: File,
}

/// Waits for the lock, for `patience` at most. Without the lock a process that finds no cluster creates one all the
/// same: concurrent creation ends with one cluster.
pub(crate) async fn turn_to_make(data: &Path, patience: Duration, env: &Env) -> Option<Turn> {
    // The version file's lock, which is never held for long: so the directory needs no further file.
    let lock = lock_file(data).ok()?;
    let tries = async {
        while lock.try_lock().is_err() {
            tokio::time::sleep(PAUSE_MAX.mul_f64(f64::midpoint(1.0, env.entropy.fraction()))).await;
        }
    };
    tokio::time::timeout(patience, tries).await.ok()?;
    Some(Turn { _lock: lock })
}
