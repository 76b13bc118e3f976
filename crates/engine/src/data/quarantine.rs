//! Counters in quarantine, noted in the data directory. Commands that have no counter of their own can show them, too.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use sequent_core::{Condition, ErrorKind, Event, Key, SlotIndex, ledger::SlotCommand, ledger::SlotVerb};

use super::jump_advice;
use crate::status::report::QuarantineReport;

/// The file's name in the data directory: one note a line; a counter's latest note counts.
const FILE: &str = "home.quarantine";

/// The temporary file for the remaining notes, before it replaces the file of notes.
const NEXT_FILE: &str = "home.quarantine.next";

/// Size limit in bytes. A longer file is rewritten with the latest note of each counter; no more than this is read.
const BYTES_MAX: u64 = 1 << 18;

/// Upper limit of the counters noted; beyond it, the latest remain.
const COUNTERS_MAX: usize = 256;

/// The notes of a data directory, shared by all its processes. They are for operators only, and nothing depends on
/// them. A note that can't be written, or is lost between two processes, is written again by the next process that
/// uses the counter.
#[derive(Debug, Clone)]
pub(crate) struct Quarantine {
    data: PathBuf,
}

impl Quarantine {
    pub(crate) fn new(data: &Path) -> Self {
        Self { data: data.to_owned() }
    }

    /// Notes a counter that was quarantined. The line is written at once, since the process may end right after. This
    /// happens at most once for each counter and process.
    pub(crate) fn note(&self, event: &Event, at_ms: u64) {
        let Event::Quarantined { slot, key: Some(key), kind, condition, detail } = event else { return };
        let note = QuarantineReport {
            slot: *slot,
            key: key.to_string(),
            at_ms,
            kind: kind.as_str().to_owned(),
            detail: detail.clone(),
            advice: advice(*slot, (*kind, *condition), key),
        };
        if let Err(error) = self.append(&note) {
            tracing::warn!(%error, "a quarantined counter can't be noted in the data directory");
        }
    }

    /// The counters in quarantine, ascending by slot and key. With `words`, a slot that was rescued since is clear.
    pub(crate) fn read(&self, words: &[SlotCommand]) -> Vec<QuarantineReport> {
        let cleared = |note: &QuarantineReport| {
            let rescue = |word: &&SlotCommand| word.slot == note.slot && word.verb == SlotVerb::Rescue;
            words.iter().find(rescue).is_some_and(|word| word.at_ms >= note.at_ms)
        };
        self.latest().into_values().filter(|note| !cleared(note)).collect()
    }

    /// Removes the notes of a slot that an operator has cleared; with `None`, all of them for a new cluster.
    pub(crate) fn forget(&self, slot: Option<SlotIndex>) -> io::Result<()> {
        let mut notes = self.latest();
        let before = notes.len();
        notes.retain(|(held, _), _| slot.is_some_and(|slot| slot != *held));
        if notes.len() == before { Ok(()) } else { self.replace(&notes) }
    }

    fn append(&self, note: &QuarantineReport) -> io::Result<()> {
        let path = self.data.join(FILE);
        if fs::metadata(&path).is_ok_and(|found| found.len() > BYTES_MAX / 2) {
            self.replace(&self.latest())?;
        }
        // One write, so that the lines of two processes do not mix.
        let line = serde_json::to_string(note)? + "\n";
        OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
    }

    fn latest(&self) -> BTreeMap<(SlotIndex, String), QuarantineReport> {
        let mut text = String::new();
        let read =
            File::open(self.data.join(FILE)).map(|file| file.take(BYTES_MAX).read_to_string(&mut text));
        if read.is_err() {
            return BTreeMap::new();
        }
        let mut notes: Vec<QuarantineReport> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        notes.sort_by_key(|note| note.at_ms);
        let mut latest = BTreeMap::new();
        for note in notes.into_iter().rev() {
            if latest.len() == COUNTERS_MAX {
                break;
            }
            latest.entry((note.slot, note.key.clone())).or_insert(note);
        }
        latest
    }

    fn replace(&self, notes: &BTreeMap<(SlotIndex, String), QuarantineReport>) -> io::Result<()> {
        let mut text = String::new();
        for note in notes.values() {
            text += &(serde_json::to_string(note)? + "\n");
        }
        fs::write(self.data.join(NEXT_FILE), text)?;
        fs::rename(self.data.join(NEXT_FILE), self.data.join(FILE))
    }
}

fn advice(slot: SlotIndex, (kind, condition): (ErrorKind, Option<Condition>), key: &Key) -> String {
    let cell = match kind {
        ErrorKind::Jumped => {
            let told = jump_advice(condition).replace("NAME", key.sequence());
            format!("key {key} in slot {slot}: {told}")
        }
        // What was found says what to do.
        ErrorKind::Unfit => format!("mend what holds key {key} in slot {slot}, as its detail says"),
        _ => format!("find out why the store of slot {slot} loses the cell of key {key}, and mend that"),
    };
    format!("{cell}; then `sequent rescue {slot} --why TEXT`; meanwhile the other slots serve the key")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(slot: SlotIndex, key: &str, found: u64) -> Event {
        let key = Some(Key::from_stored(key));
        let detail = format!("raw id {found} is a jump");
        Event::Quarantined { slot, key, kind: ErrorKind::Jumped, condition: None, detail }
    }

    #[test]
    fn what_to_do_fits_what_is_doubted() {
        let advised = |condition| advice(2, (ErrorKind::Jumped, condition), &Key::from_stored("order"));
        let row = advised(Some(Condition::FarRow));
        assert!(row.starts_with("key order in slot 2: ") && row.contains("`base` and `seen`"), "{row}");
        assert!(
            row.contains("`sequent advance order TO`") && row.contains("`sequent rescue 2 --why TEXT`"),
            "{row}"
        );
        let ceiling = advised(Some(Condition::FarCeiling));
        assert!(ceiling.contains("set `ceiling` in the ledger's row of that counter to"), "{ceiling}");
        assert!(advised(None).contains("delete its cell"));
    }

    fn word(slot: SlotIndex, verb: SlotVerb, at_ms: u64) -> SlotCommand {
        SlotCommand { slot, verb, who: "ann".to_owned(), why: "mended".to_owned(), at_ms, until_ms: None }
    }

    #[test]
    fn the_latest_note_of_a_counter_counts_until_its_slot_is_rescued() {
        let data = tempfile::tempdir().unwrap();
        let notes = Quarantine::new(data.path());
        assert_eq!(notes.read(&[]), []);
        notes.note(&event(2, "order", 7), 10);
        notes.note(&event(1, "invoice", 8), 20);
        notes.note(&event(2, "order", 9), 30);
        notes.note(&Event::Unmarked { version: 1, elsewhere: true, home: true }, 40);
        let shown = |words: &[SlotCommand]| -> Vec<(SlotIndex, String, u64)> {
            notes.read(words).into_iter().map(|note| (note.slot, note.detail, note.at_ms)).collect()
        };
        let (invoice, order) =
            ((1, "raw id 8 is a jump".to_owned(), 20), (2, "raw id 9 is a jump".to_owned(), 30));
        assert_eq!(shown(&[]), [invoice.clone(), order.clone()]);
        assert_eq!(shown(&[word(2, SlotVerb::Rescue, 29), word(1, SlotVerb::Evict, 50)]).len(), 2);
        assert_eq!(shown(&[word(2, SlotVerb::Rescue, 30)]), [invoice]);
        notes.forget(Some(1)).unwrap();
        assert_eq!(shown(&[]), [order]);
        notes.forget(None).unwrap();
        assert_eq!(shown(&[]), []);
    }

    #[test]
    fn the_file_is_bounded() {
        let data = tempfile::tempdir().unwrap();
        let notes = Quarantine::new(data.path());
        for at_ms in 0..5000 {
            notes.note(&event(u16::try_from(at_ms % 3).unwrap(), "order", at_ms), at_ms);
        }
        assert!(fs::metadata(data.path().join(FILE)).unwrap().len() <= BYTES_MAX);
        assert_eq!(notes.read(&[]).iter().map(|note| note.at_ms).min(), Some(4997));
    }
}
