//! What a store owes. The macro [`store_conformance!`](crate::store_conformance) makes one test of each check.
//!
//! # Which case is tested where
//!
//! Each check of the suite runs on each store. What is particular to an engine stands beside its fixture, in
//! `crates/backend/tests/<engine>`; the column says which test, or why there is none.
//!
//! | case | the suite's check | beside it |
//! |---|---|---|
//! | many tasks at once | [`many_tasks_at_once_get_every_id_once`], [`many_keys_at_once_stay_dense`] | |
//! | two processes at once | [`two_handles_at_once_get_every_id_once`] | processes, some killed: `processes::processes_at_once_some_killed_never_get_a_number_twice` of sqlite, mysql (three kinds), postgres; memory has one process |
//! | reopening | [`what_was_acknowledged_outlives_a_restart`] | mysql: `mishaps::a_server_restored_from_an_old_copy_of_its_files_speaks_as_another`; postgres: `instances` |
//! | a server killed mid-call | [`a_server_killed_amid_takes_gives_nothing_twice`] | sqlite has no server: its processes are killed, above; memory: skipped |
//! | a server hung mid-call | [`a_server_that_hangs_keeps_no_reply_for_the_next`] | sqlite: a disk that hangs, `database::tests` in its sources; postgres: `network`, `dropped`; mysql: `reach`; memory: skipped |
//! | a caller that goes away | [`a_dropped_future_disturbs_nobody`] | sqlite: `severed`; postgres: `dropped` |
//! | close and install racing takes | [`takers_race_closers`], [`of_many_closers_one_may_install`] | |
//! | a late install | [`an_install_of_a_superseded_epoch_is_refused`], [`an_install_done_twice_is_done_once`] and the race | |
//! | the row or key deleted | [`a_deleted_cell_is_not_created_again`], [`a_removed_cell_is_not_created_again`] | mysql-auto-increment, each of its two alone: `a_deleted_fence_alone_keeps_what_the_table_knows`, `a_dropped_table_alone_gives_nothing_until_a_new_epoch_begins` |
//! | the table truncated | [`a_truncated_table_gives_nothing_until_a_new_epoch_begins`] | mysql-auto-increment: `a_truncated_table_is_named`; postgres: `instances::tables_that_are_replaced_under_connections_are_noticed_by_the_next_verb` |
//! | the edge of the range | [`the_edge_of_the_range_never_wraps`], [`values_beyond_the_range_are_refused`] | |
//! | login refused | [`a_login_that_is_none_is_refused`] | what is said of it: `refusals` of mysql, postgres; sqlite, memory: no login |
//! | schema missing | [`a_missing_schema_is_refused_and_not_made`], [`tables_taken_away_are_not_made_anew`] | `refusals` of mysql, postgres; sqlite: `files`, `gone`; memory: skipped |
//! | looked into by `doctor` | [`a_look_changes_nothing_and_sees_what_is_there`] | memory: skipped; `tests/tests/stores/doctor.rs` |
//! | keys that can't be held | [`odd_keys_are_kept_apart`] | mysql-auto-increment: `keys_without_a_table_are_told_which_store_can` |
//! | another run, an old copy | [`another_instance_touches_nothing`], [`a_restored_copy_speaks_as_another`] | `mishaps`, `instances`, `gone` |
//! | settings that repeat ids | | mysql-auto-increment: `another_increment_is_refused`, `a_server_that_forgets_at_a_restart_is_refused` |
//! | proxies that multiplex | | mysql: `refusals::a_proxy_that_multiplexes_is_refused`; postgres: `proxies` |

mod cells;
mod crowd;
mod edges;
mod examine;
mod faults;
mod identity;
mod mishaps;
mod race;

use std::sync::Arc;

use sequent_core::{
    Block, BoxFuture, Cell, Epoch, ErrorKind, Inspection, InstanceId, Key, SourceError, Stamp, Store,
};

pub use cells::*;
pub use crowd::*;
pub use edges::*;
pub use examine::*;
pub use faults::*;
pub use identity::*;
pub use mishaps::*;
pub use race::*;

/// Fresh data of one store, and the handles to it.
///
/// What a fixture can't do it answers with `false`, as the defaults do; the checks that need it then say `skipped`.
pub trait StoreFixture: Send + Sync {
    /// Another handle to the data, as another process would have it: nothing shared with the handles before.
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>>;

    /// Ends the engine and starts it on the same data. The check holds no handle meanwhile.
    fn restart(&self) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(false))
    }

    /// Takes a copy of the data, as a backup would.
    fn copy(&self) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(false))
    }

    /// Puts the copy back: the engine then has another instance id. Handles opened before are still held.
    fn restore(&self) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(false))
    }

    /// Deletes a cell behind the store's back; the instance stays.
    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, bool> {
        let _ = key;
        Box::pin(std::future::ready(false))
    }

    /// Lets something befall the engine behind the store's back.
    fn befall<'a>(&'a self, mishap: Mishap<'a>) -> BoxFuture<'a, bool> {
        let _ = mishap;
        Box::pin(std::future::ready(false))
    }

    /// Another handle, such as the engine or its operator may not want.
    fn open_oddly(&self, how: Odd) -> BoxFuture<'_, Option<Arc<dyn Store>>> {
        let _ = how;
        Box::pin(std::future::ready(None))
    }

    /// Whether cells of this key can be held; the store must say the same.
    fn holds(&self, key: &Key) -> bool {
        let _ = key;
        true
    }

    /// By how much the crowded checks are multiplied: 1 is about a thousand takes each.
    fn effort(&self) -> usize {
        1
    }
}

/// What may befall an engine.
#[derive(Debug, Clone, Copy)]
pub enum Mishap<'a> {
    /// It is killed, amid whatever it does; [`StoreFixture::restart`] starts it again.
    Killed,
    /// It stands still: connections stay open, and nobody answers.
    Hung,
    /// It goes on after that.
    Resumed,
    /// What counts this key is emptied by the engine's own short way.
    Truncated(&'a Key),
    /// All tables go while handles are open.
    TablesGone,
}

/// What is odd about a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    /// It names itself with a password that is not its own.
    WrongPassword,
    /// It may make no table, nor anything else.
    MakesNothing,
}

/// One test for each check of a store: `store_conformance!(fixture)`, where the expression makes a fresh fixture.
///
/// It stands in the body of an async test, so that it may `return` where a real server is not to be had.
///
/// ```text
/// sequent_testkit::store_conformance!(MemoryFixture::new());
/// ```
#[macro_export]
macro_rules! store_conformance {
    ($fixture:expr) => {
        $crate::conformance_tests! { store, $fixture;
            a_take_never_creates, a_lift_never_creates, an_install_never_creates,
            a_close_writes_its_mark_on_nothing, a_close_returns_the_value_and_ends_the_epoch,
            a_second_close_keeps_the_value, an_install_opens_at_the_greater_of_value_and_base,
            an_install_done_twice_is_done_once, an_install_of_a_superseded_epoch_is_refused,
            a_removed_cell_is_not_created_again,
            a_lift_goes_forward_only, a_lift_to_nothing_only_reads, takes_go_on_where_the_last_ended, keys_share_nothing,
            odd_keys_are_kept_apart, epochs_are_compared_to_the_last_bit, the_edge_of_the_range_never_wraps,
            values_beyond_the_range_are_refused,
            a_stamp_is_compared_and_set, of_many_first_stamps_one_stands, a_mark_only_grows,
            marks_at_once_leave_the_greatest, marks_and_stamps_are_no_cells, an_inspection_is_sane,
            many_tasks_at_once_get_every_id_once, two_handles_at_once_get_every_id_once,
            many_keys_at_once_stay_dense, of_many_closers_one_may_install, takers_race_closers,
            another_instance_touches_nothing, what_was_acknowledged_outlives_a_restart,
            a_restored_copy_speaks_as_another, a_deleted_cell_is_not_created_again,
            a_dropped_future_disturbs_nobody,
            a_server_killed_amid_takes_gives_nothing_twice, a_server_that_hangs_keeps_no_reply_for_the_next,
            a_truncated_table_gives_nothing_until_a_new_epoch_begins, tables_taken_away_are_not_made_anew,
            a_missing_schema_is_refused_and_not_made, a_login_that_is_none_is_refused,
            a_look_changes_nothing_and_sees_what_is_there,
        }
    };
}

/// One test for each name, calling the check of that name with a fresh fixture.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    ($suite:ident, $fixture:expr; $($check:ident),* $(,)?) => {
        $(
            #[tokio::test]
            async fn $check() -> $crate::conformance::Checked {
                let fixture = $fixture;
                $crate::conformance::$suite::$check(&fixture).await
            }
        )*
    };
}

/// A handle with the instance under which it was opened, as a server holds it.
#[derive(Clone)]
struct Hand {
    store: Arc<dyn Store>,
    under: InstanceId,
}

impl Hand {
    async fn of(fixture: &dyn StoreFixture) -> Result<Self, SourceError> {
        let store = fixture.open().await;
        let under = store.inspect().await?.instance;
        Ok(Self { store, under })
    }

    fn cell<'a>(&'a self, key: &'a Key) -> Cell<'a> {
        Cell { key, under: &self.under }
    }

    async fn inspect(&self) -> Result<Inspection, SourceError> {
        self.store.inspect().await
    }

    async fn take(&self, key: &Key, epoch: Epoch, want: u64) -> Result<Block, SourceError> {
        self.store.take(self.cell(key), epoch, want).await
    }

    async fn close(&self, key: &Key, next: Epoch) -> Result<u64, SourceError> {
        self.store.close(self.cell(key), next).await
    }

    async fn install(&self, key: &Key, epoch: Epoch, base: u64) -> Result<(), SourceError> {
        self.store.install(self.cell(key), epoch, base).await
    }

    async fn lift(&self, key: &Key, epoch: Epoch, floor: u64) -> Result<u64, SourceError> {
        self.store.lift(self.cell(key), epoch, floor).await
    }

    async fn remove(&self, key: &Key) -> Result<bool, SourceError> {
        self.store.remove(self.cell(key)).await
    }

    async fn stamp(&self, expected: Option<&Stamp>, new: &Stamp) -> Result<(), SourceError> {
        self.store.stamp(&self.under, expected, new).await
    }

    async fn mark(&self, version: u64) -> Result<u64, SourceError> {
        self.store.mark(&self.under, version).await
    }

    /// Close and install: the cell counts for `epoch`, above `base`.
    async fn begin(&self, key: &Key, epoch: Epoch, base: u64) -> Result<(), SourceError> {
        self.close(key, epoch).await?;
        self.install(key, epoch, base).await
    }
}

fn key(text: &str) -> Key {
    Key::from_stored(text)
}

fn epoch(bits: i64) -> Epoch {
    Epoch::from_stored(bits)
}

/// Asserts that a verb was refused for this reason.
#[track_caller]
fn refused<T: std::fmt::Debug>(answer: Result<T, SourceError>, kind: ErrorKind, what: &str) {
    match answer {
        Err(error) => assert_eq!(error.kind(), kind, "{what}: {error}"),
        Ok(value) => panic!("{what}: expected {kind}, found {value:?}"),
    }
}

/// Asserts that a verb was refused because the cell is missing, or another epoch's.
#[track_caller]
fn regressed<T: std::fmt::Debug>(answer: Result<T, SourceError>, what: &str) {
    refused(answer, ErrorKind::Regressed, what);
}
