//! Numbers that may have been given twice: a server gave them above the base of their counter's next epoch,
//! and noted it.

use std::time::Duration;

use sequent_core::{
    Key,
    ledger::{Ledger, LedgerNote, NoteSubject},
};
use sequent_engine::{key_display::shown, ledger_timeout::within};

use super::report::{Finding, Severity, Site};

/// One finding for each key with such a note, until an operator has advanced the key.
pub(super) async fn findings(ledger: &dyn Ledger, limit: Duration) -> Vec<Finding> {
    // Other findings report a ledger that can't be read.
    let notes = within(limit, "read notes of keys", ledger.notes()).await.unwrap_or_default();
    let told = notes.iter().filter_map(|note| match &note.about {
        NoteSubject::GivenAbove(key) => Some((key, note.to)),
        _ => None,
    });
    told.filter(|(key, raw)| !is_advanced(key, *raw, &notes)).map(|(key, raw)| finding(key, raw)).collect()
}

/// Whether an operator has advanced the key since. The server itself begins the next epoch at exactly this
/// raw id.
fn is_advanced(key: &Key, raw: u64, notes: &[LedgerNote]) -> bool {
    let begun = NoteSubject::BegunAt(key.clone());
    notes.iter().any(|note| note.about == begun && note.to > raw)
}

fn finding(key: &Key, raw: u64) -> Finding {
    let key = shown(key);
    let found =
        format!("{key}: a server gave raw ids up to {raw} above where the next epoch of their counter began");
    let causes = "numbers up to there may have been given twice: the ledger lost a ceiling that it had acknowledged, as one does that \
                  fails over without its last commits; the counters go on above them";
    let mend = "compare what its callers hold; put the ledger on an engine that keeps what it acknowledges; then `sequent advance` the \
                sequence, which ends this finding";
    Finding::new(Severity::Error, Site::Ledger, "given above its ceiling", found).causes(causes).mend(mend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_until_a_person_has_moved_the_key() {
        let key = Key::from_stored("order|8:20170304");
        let notes = |begun| {
            let subjects =
                [(NoteSubject::GivenAbove(key.clone()), 40), (NoteSubject::BegunAt(key.clone()), begun)];
            subjects.map(|(about, to)| LedgerNote { about, to })
        };
        assert!(!is_advanced(&key, 40, &notes(40)), "the server's own next epoch");
        assert!(is_advanced(&key, 40, &notes(41)));
        assert!(finding(&key, 40).found.contains("raw ids up to 40"));
    }
}
