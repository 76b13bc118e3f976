//! Table of findings: the id, the severity, what it means and what to do. `docs/operating/doctor.md` lists
//! the same rows.

use serde::{Serialize, Serializer};

use super::report::Severity;

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableRow {
    /// The id, for scripts and for searches.
    pub id: &'static str,
    /// The severity.
    pub severity: Severity,
    /// What it means. A finding may put a more exact cause before it.
    pub means: &'static str,
    /// What to do. SLOT stands for the finding's slot. A finding may replace it by more exact advice.
    pub advice: &'static str,
}

macro_rules! findings {
    ($($kind:ident $id:literal $severity:ident: $means:literal, $advice:literal;)+) => {
        /// The kinds of findings, the gravest counters first.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            $(#[doc = $means] $kind,)+
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// The row of the table.
            pub const fn row(self) -> TableRow {
                match self {
                    $(Self::$kind => {
                        TableRow { id: $id, severity: Severity::$severity, means: $means, advice: $advice }
                    })+
                }
            }
        }
    };
}

findings! {
    CounterFarAhead "counter_far_ahead" Error:
        "The row, its ceiling or the cell was set by hand or by a broken disk. A server that notices puts the counter in quarantine; an \
         epoch above such a value skips all ids below it for good.",
        "Set right what is far ahead, as the finding says; then `sequent rescue SLOT --why TEXT`.";
    CounterBehind "counter_behind" Error:
        "The counter goes on below ids that were given: numbers are given twice. Its row or cell was lowered by hand, or a store or the \
         ledger was restored from a copy.",
        "Before anything is given: `sequent advance NAME TO`, TO above the highest number that any caller has. Find out who wrote there.";
    CounterWithoutRow "counter_without_row" Error:
        "The row was deleted, or the ledger was restored from a copy. Only the cell shows how far the counter is: if the store loses it, \
         its numbers are given again.",
        "Stop every server. Restore the ledger's newest backup and `sequent recover`; or `sequent advance NAME TO`, TO above the highest \
         number that any caller has, which writes the rows again.";
    CounterAboveCeiling "counter_above_ceiling" Error:
        "The ledger does not know of ids that the store has counted. If the store loses the cell or is restored from a copy, they are \
         given again. If a server died while it took them, nobody was given them.",
        "If the row was lowered or the ledger restored: `sequent advance NAME TO`, TO above the highest number that any caller has. \
         Otherwise take numbers of the sequence until this is no longer found: each server that takes raises the ceiling.";
    CounterBehindOtherSlots "counter_behind_other_slots" Warning:
        "The counter is far below the key's counters in all other slots. If its row or cell was lowered or deleted, numbers that it gave \
         may be given again.",
        "Nothing, if the slot was drained, out of the ring or added later, and was not used since. Otherwise, before anything is given: \
         `sequent advance NAME TO`, TO above the highest number that any caller has.";
    CounterUnreadable "counter_unreadable" Warning:
        "Nothing repeats: at its next use the counter begins a new epoch above its ceiling.",
        "Find out who wrote to the cell.";
    CounterExpires "counter_expires" Warning:
        "Nothing repeats: once the cell has expired, the counter begins a new epoch above its ceiling, and skips numbers.",
        "`PERSIST` the key, and find out who set the time to live: Sequent never does.";
    CounterNewEpoch "counter_new_epoch" Info:
        "Nothing repeats: at its next use the counter begins a new epoch above its ceiling.",
        "Nothing, if the store is volatile, was restarted, or a server is at work on the counter. Otherwise find out who deleted the \
         cell, or restored the store from a copy.";
    NotExamined "not_examined" Info:
        "A fault in what was not examined is not found here.",
        "Nothing.";
    GivenTwice "given_twice" Error:
        "Numbers up to there may have been given twice: the ledger lost a ceiling that it had acknowledged, for example by a failover \
         without its last commits. The counters go on above them.",
        "Compare what callers hold. Put the ledger on an engine that keeps what it acknowledges. Then `sequent advance` the sequence, \
         which ends this finding.";
    WrongLedger "wrong_ledger" Error:
        "No server gives numbers on this ledger (`RECOVERY_REQUIRED`). If they were counted on from it, all numbers would be given again.",
        "Stop every process. Put the newest ledger back, or name the right one in the configuration.";
    LedgerBehind "ledger_behind" Error:
        "The ledger was restored from a copy, or lost commits: ceilings are missing. Nothing is given before an operator names the loss.",
        "If a copy of the ledger is at work over the same shards, stop the servers of all but one of the two. Put the newest ledger back; \
         or `sequent recover --bump N`, N at least how far the numbers have come since the copy, not how many were given. `sequent \
         recover` prints the least N, and its help says how to tell.";
    LedgerBeforeResize "ledger_before_resize" Error:
        "The ledger is a copy from before a resize. No server starts on it: it would give numbers of a layout that the ring has left.",
        "Leave the configuration as it is, and put the newest ledger back. If there is none: stop every process, put an empty ledger in \
         its place, and `sequent recover --bump N` with the configuration of the later layout.";
    LayoutDiffers "layout_differs" Error:
        "Servers refuse to start: with another layout, numbers would be given twice.",
        "Give the configuration the ledger's values, or `sequent resize`.";
    CopiedOrRestored "copied_or_restored" Error:
        "Servers refuse to start. If the original is in use, or this is an older state of it, numbers would be given twice.",
        "`sequent recover` prints which number each answer would give next, and changes nothing. The safe one is `sequent recover \
         --bump N`, N at least how far the numbers have come since (`sequent recover --help` says how to tell). Only if nothing was given \
         since the copy, and no other copy is in use: `sequent recover --moved`.";
    WrongStore "wrong_store" Error:
        "Servers refuse the store: if they counted in it, numbers of another cluster, layout or slot would be given twice.",
        "Put this slot's own store back, or give the slot a database of its own; then `sequent rescue SLOT --why TEXT`.";
    SharedStore "shared_store" Error:
        "Servers refuse to start: both slots would give the numbers of one counter.",
        "Give each slot a store of its own. Compare their addresses, and where links lead.";
    NothingDurable "nothing_durable" Error:
        "After a crash of their machines nothing shows which numbers were given: they are given again.",
        "Make the ledger durable.";
    SettingRepeats "setting_repeats" Error:
        "Numbers can be given twice.",
        "Set it as expected.";
    LedgerLosesCommits "ledger_loses_commits" Error:
        "Ceilings that the ledger acknowledged are lost then. If a shard's mark shows it, nothing is given before `sequent recover`; \
         otherwise numbers are given again.",
        "Set it as expected.";
    SecretReadable "secret_readable" Error:
        "Other users of the machine can read a secret. With the password of a store or of the ledger they can set counters back: numbers \
         are given twice.",
        "`chmod go= FILE`, and change the secret. If the configuration holds the password, put it into a file (`password_file`).";
    SettingsWritable "settings_writable" Error:
        "Other users of the machine can change the configuration or the certificates, or put other files in their place. Then they say \
         who may do what, and which stores are used.",
        "`chmod go-w FILE`, and the same for its directory.";
    StoreLosesCommits "store_loses_commits" Warning:
        "Nothing repeats: the counters go on above their ceilings. Each time they skip at most twice the consumption of `ledger.outage_s`.",
        "Set it as expected.";
    SettingUnusable "setting_unusable" Warning:
        "The place does not serve.",
        "Set it as expected.";
    PrivilegeMissing "privilege_missing" Warning:
        "The place does not serve.",
        "Grant what is expected.";
    PrivilegeExcess "privilege_excess" Warning:
        "The user may do more than Sequent needs.",
        "Revoke what is not expected.";
    SettingNote "setting_note" Info:
        "The setting could not be read, or is worth knowing.",
        "Nothing.";
    LedgerUnreachable "ledger_unreachable" Warning:
        "No server starts. Those that run go on up to their ceilings, for about `ledger.outage_s`. Settings and ceilings were not examined.",
        "Repair what the finding says, and run `sequent doctor` again.";
    StoreUnreachable "store_unreachable" Warning:
        "The slot does not serve; the others do. Its stamp, settings and counters were not examined.",
        "Repair what the finding says, and run `sequent doctor` again.";
    StoreEmptied "store_emptied" Warning:
        "Nothing repeats: the store is stamped again, and each counter begins above its ceiling.",
        "Find out what emptied it.";
    ResizeUnfinished "resize_unfinished" Warning:
        "Nothing repeats, but no server gives numbers before the resize is done: they refuse with `layout changed`. Counters are not \
         compared with their rows meanwhile.",
        "Finish it: `sequent resize --go` with the configuration of the next layout, which repeats no step. Then restart every server \
         with that configuration.";
    ServerWaits "server_waits" Warning:
        "The server opens no counter and gives no dense number. It gives at most what it holds grants for.",
        "If doctor finds no fault of the ledger, and it was recovered while that server ran: restart the server, and do not name the loss \
         again. Otherwise do what the server says.";
    DataReadable "data_readable" Warning:
        "Other users of the machine can read or change the data. A user who can only read can stop a SQLite shard or ledger by a lock.",
        "`chmod -R go= DIR`, DIR the data directory. New files are their owner's alone.";
    Plaintext "plaintext" Warning:
        "Whoever reads the network has the password, if there is one, and can change counters on the way.",
        "Set `tls` of the store or ledger, or keep both in a network that nobody else reads. Sequent speaks no TLS to memcached.";
    AutoCreateOpen "auto_create_open" Warning:
        "Each new name is a definition and counters that stay. Whoever reaches the listener can fill memory and ledger.",
        "Name patterns in `auto_create`, such as `order-*`, or listen on loopback.";
    PrincipalExpires "principal_expires" Warning:
        "From then on its callers are refused (`UNAUTHENTICATED`).",
        "`sequent token new` makes a token with a later end; or take the principal out, if it is no longer needed.";
    TlsUnfit "tls_unfit" Warning:
        "Servers that run go on with the certificate, key and authorities that they read before, until those expire. None starts.",
        "Set right what the finding says. Servers take the files up by themselves.";
    OneHost "one_host" Warning:
        "When that host fails, all of them fail at once.",
        "Put each slot and the ledger on a host of its own. Nothing, if it is meant so.";
    ClockDiffers "clock_differs" Warning:
        "No number rests on the clock. Slot commands with an end (`evict --for`) end early or late, and times in lists and logs can't be \
         compared.",
        "Synchronise both machines by NTP.";
    NotDefinable "not_definable" Info:
        "If the definition is in force, nothing. A server that would define it does not start.",
        "Set the value within the bound, or the bound above the value.";
    NoDurableStore "no_durable_store" Info:
        "The ledger's marks are kept by stores that may lose them.",
        "Have one durable store in the ring.";
    NotStarted "not_started" Info:
        "No server has used it yet.",
        "Run `sequent serve` with this configuration: its first start makes what is missing. If the cluster was in use, put back what is \
         gone instead.";
    StoreUnused "store_unused" Info:
        "No server has used the store yet.",
        "Nothing: the first server that uses it stamps it.";
    MemoryStore "memory_store" Info:
        "Each server has the store in its own memory, and it ends with the server.",
        "Use it in tests only.";
    SlotCommand "slot_command" Info:
        "No server takes numbers from the slot: the others do its work.",
        "If it is to serve again: `sequent rescue SLOT --why TEXT`.";
}

impl Kind {
    /// Whether it is about a counter, so that `sequent advance` may be the advice.
    pub(super) fn is_of_counter(self) -> bool {
        self <= Self::CounterNewEpoch
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.row().id)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn each_row_has_its_own_id_and_plain_sentences() {
        let ids: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.row().id).collect();
        assert_eq!(ids.len(), Kind::ALL.len());
        for kind in Kind::ALL {
            let TableRow { means, advice, .. } = kind.row();
            for text in [means, advice] {
                assert!(
                    text.ends_with('.') && !text.contains("  ") && !text.contains('|'),
                    "{kind:?}: {text}"
                );
            }
        }
    }

    #[test]
    fn the_page_lists_each_row() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operating/doctor.md");
        let page = fs::read_to_string(page).unwrap();
        let rows = Kind::ALL.iter().map(|kind| {
            let TableRow { id, severity, means, advice } = kind.row();
            format!("| `{id}` | {} | {means} | {advice} |", severity.as_str())
        });
        let listed: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(listed, rows.collect::<Vec<_>>());
    }
}
