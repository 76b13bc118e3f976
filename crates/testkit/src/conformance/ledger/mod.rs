//! What a ledger owes. The macro [`ledger_conformance!`](crate::ledger_conformance) makes one test of each check.

mod batches;
mod crowd;
mod dense;
mod dense_locked;
mod dense_over;
mod desk;
mod examine;
mod identity;
mod jumps;
mod layouts;
mod over;
mod pages;
mod passes;
mod recovery;
mod rows;

use std::sync::Arc;

use sequent_core::{BoxFuture, ledger::Ledger};

pub use batches::*;
pub use crowd::*;
pub use dense::*;
pub use dense_locked::*;
pub use dense_over::*;
pub use examine::*;
pub use identity::*;
pub use jumps::*;
pub use layouts::*;
pub use over::*;
pub use pages::*;
pub use passes::*;
pub use recovery::*;
pub use rows::*;

/// Fresh data of one ledger, and the handles to it.
///
/// What a fixture can't do it answers with `false`, as the defaults do; the checks that need it then say `skipped`.
pub trait LedgerFixture: Send + Sync {
    /// Another handle to the data, as another process would have it: nothing shared with the handles before.
    fn open(&self) -> BoxFuture<'_, Arc<dyn Ledger>>;

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

    /// Puts the copy back so that the instance stays: what only nonces can find.
    fn restore_in_place(&self) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(false))
    }

    /// Holds the row of a dense counter for some seconds, as another client of the database would. It is held once this returns.
    fn hold_dense<'a>(&'a self, key: &'a str) -> BoxFuture<'a, bool> {
        let _ = key;
        Box::pin(std::future::ready(false))
    }

    /// Makes the row of a dense counter, as another client of the database would, and commits it after some seconds. It is made, and not
    /// committed, once this returns.
    fn begin_dense<'a>(&'a self, key: &'a str, value: u64) -> BoxFuture<'a, bool> {
        let _ = (key, value);
        Box::pin(std::future::ready(false))
    }

    /// By how much the crowded checks are multiplied: 1 is about a hundred calls each.
    fn effort(&self) -> usize {
        1
    }
}

/// One test for each check of a ledger: `ledger_conformance!(fixture)`, where the expression makes a fresh fixture.
///
/// It stands in the body of an async test, so that it may `return` where a real server is not to be had.
///
/// ```text
/// sequent_testkit::ledger_conformance!(MemoryFixture::new());
/// ```
#[macro_export]
macro_rules! ledger_conformance {
    ($fixture:expr) => {
        $crate::conformance_tests! { ledger, $fixture;
            a_new_ledger_is_empty, an_inspection_is_sane, records_are_kept_by_slot,
            what_was_written_outlives_a_restart, a_restored_ledger_speaks_as_another,
            an_open_writes_the_row, the_next_epoch_begins_at_the_old_ceiling,
            a_value_above_the_ceiling_is_the_base, a_claim_writes_where_there_is_no_row, an_announcement_yields_to_whoever_begins, an_open_is_not_behind_the_other_slots, an_epoch_is_opened_over_the_row_that_was_read, ended_epochs_are_kept_in_order, what_moved_is_told_by_version, a_ceiling_is_never_lowered,
            seen_only_grows, a_raise_needs_the_epoch, the_version_counts_calls_that_opened_or_raised, the_version_counts_calls_that_reported,
            the_edge_of_the_range_never_wraps, no_asks_are_an_answer, a_batch_of_4096_keeps_its_order,
            a_counter_twice_in_a_batch_is_raised_twice, odd_keys_are_kept_apart, a_list_is_cut_and_ascending,
            a_raise_jumps_beyond_jump_max, an_open_jumps_beyond_ahead_and_jump_max,
            a_ceiling_far_above_what_was_seen_is_a_jump, a_jump_stops_one_counter_of_a_batch,
            another_instance_writes_nothing, a_server_without_a_row_is_reborn,
            a_nonce_is_good_once, calls_of_unknown_outcome_are_accepted, servers_do_not_share_nonces,
            a_restore_in_place_is_found_by_the_nonce, one_of_many_makes_it_speak_anew,
            another_generation_is_refused, another_run_on_record_is_refused, a_dropped_call_disturbs_nobody,
            a_page_is_turned_by_who_has_read_it, a_rebase_replaces_the_rows_of_its_keys,
            a_rebase_of_a_wide_ring, a_settled_layout_turns_the_floor,
            an_advance_goes_forward, counters_behind_a_fence_are_forgotten, many_counters_are_forgotten_at_once,
            the_first_layout_stays, definitions_go_forward, of_many_definitions_one_stands,
            the_latest_word_counts, words_expire_by_the_ledgers_clock, a_heartbeat_brings_the_news,
            openers_at_once_never_share_a_stretch, raises_at_once_leave_the_greatest,
            a_moved_ledger_goes_on_as_another, a_bump_widens_every_row, a_bump_is_no_jump,
            a_bump_covers_counters_without_a_row,
            a_dense_counter_counts_from_one_without_gaps, a_dense_ask_is_answered_whole_or_not_at_all,
            a_dense_counter_behind_its_caller_gives_nothing, dense_counters_raced_have_no_gap_and_no_repeat,
            dense_counters_ask_for_a_pass, dense_counters_move_the_version,
            dense_counters_outlive_a_restart, a_dropped_count_disturbs_nobody,
            dense_counters_of_odd_keys_are_kept_apart, a_bump_moves_dense_counters,
            dense_counters_behind_a_fence_are_forgotten_and_begin_no_more, many_dense_counters_are_forgotten_at_once,
            a_dense_row_that_a_stranger_holds_keeps_no_other_waiting, a_dense_row_that_a_stranger_makes_is_not_written_over,
            a_look_changes_nothing_and_sees_every_row,
        }
    };
}

/// One test a rule of the ledger: the check that is there for it is green over an engine with all rules, and red without this one.
///
/// It is given what makes a fixture of some rules: `|rules| async move { … }`. Needs the feature `mutation` of `sequent-core`.
#[macro_export]
macro_rules! ledger_mutations {
    ($fixture:expr) => {
        mod mutations {
            use super::*;

            $crate::ledger_mutations! { $fixture;
                same_ledger: SameLedger, another_instance_writes_nothing;
                open_counts_value: OpenCountsValue, a_value_above_the_ceiling_is_the_base;
                open_atomic: OpenAtomic, openers_at_once_never_share_a_stretch;
                raise_needs_epoch: RaiseNeedsEpoch, a_raise_needs_the_epoch;
                raise_needs_epoch_raced: RaiseNeedsEpoch, openers_at_once_never_share_a_stretch;
                ledger_forward: LedgerForward, a_ceiling_is_never_lowered;
                record_compared: RecordCompared, another_run_on_record_is_refused;
            }
        }
    };
    ($fixture:expr; $($test:ident: $rule:ident, $check:ident;)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                use sequent_core::{Rule, Rules};
                let run = async |rules: Rules| {
                    let fixture = $fixture(rules).await;
                    let check = async move { $crate::conformance::ledger::$check(&fixture).await };
                    matches!(tokio::spawn(check).await, Ok(Ok(())))
                };
                assert!(run(Rules::ALL).await, "the check is red with every rule kept");
                let text = Rule::$rule.as_str();
                assert!(!run(Rules::ALL.without(Rule::$rule)).await, "nobody missed the rule: {text}");
            }
        )*
    };
}
