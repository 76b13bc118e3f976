//! The lock under which a cluster is created. Of several processes that find none, one creates it.

use std::{
    fs::{File, OpenOptions},
    path::Path,
    time::Duration,
};

use sequent_core::Env;

use super::version_file::LOCK_FILE;

/// The longest pause between two looks at the lock; each is drawn between half of it and all of it.
const PAUSE_MAX: Duration = Duration::from_millis(10);

/// The turn to make a cluster in a directory, until it is dropped; whoever had it before may have made one.
pub(crate) struct Turn {
    _lock: File,
}

/// Waits for the turn, `patience` at most: without it a process that finds no cluster makes one all the same, since two
/// that make one together end with one.
pub(crate) async fn turn_to_make(data: &Path, patience: Duration, env: &Env) -> Option<Turn> {
    // The lock of the marker file, which nobody holds for long: a directory then has one file less to explain.
    let lock = OpenOptions::new().create(true).append(true).open(data.join(LOCK_FILE)).ok()?;
    let tries = async {
        while lock.try_lock().is_err() {
            tokio::time::sleep(PAUSE_MAX.mul_f64(f64::midpoint(1.0, env.entropy.fraction()))).await;
        }
    };
    tokio::time::timeout(patience, tries).await.ok()?;
    Some(Turn { _lock: lock })
}
