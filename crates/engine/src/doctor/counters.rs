//! Each counter's cell beside its row: the value against ceiling, base and what servers have reported.

use std::collections::BTreeMap;

use sequent_core::{
    DurabilityClass, Incarnation, Key, Sight, SlotIndex,
    ledger::{Counter, Row},
};

use super::{
    look::ROWS_MAX,
    report::{Finding, Severity, Site},
};

/// No leap above a ceiling is ever wider: a value beyond was set by hand.
const LEAP_MAX: u64 = 1 << 36;

/// How many keys a finding names.
const KEYS_NAMED_MAX: usize = 5;

/// What is to be said of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    FarRow,
    Rowless,
    SetBack,
    Leapt,
    FarCeiling,
    Above,
    OtherLife,
    Odd,
    Fleeting,
    Vanished,
    Reborn,
    Closed,
}

/// One counter, and what was seen of it.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub(super) counter: Counter,
    pub(super) kind: Kind,
    /// What was found, for people.
    text: String,
}

/// Which runs of store and ledger answer now: a life that was opened in others is over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speaks<'a> {
    pub(super) store: &'a Incarnation,
    pub(super) ledger: &'a Incarnation,
}

/// A counter's row as it was before its cell was seen, and after.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) before: &'a Row,
    pub(super) after: &'a Row,
    /// How far the key is in other slots, by their rows; `None` where no other has one.
    pub(super) others: Option<u64>,
}

/// How far each counter is, by its row.
#[derive(Debug, Default)]
pub(super) struct Reaches {
    by_key: BTreeMap<Key, Vec<(SlotIndex, u64)>>,
    /// Whether these are all rows that the ledger has.
    is_whole: bool,
}

impl Reaches {
    /// Of all rows, those of lives that nobody has begun among them.
    pub(super) fn of(rows: &[(Counter, Row)]) -> Self {
        let mut by_key: BTreeMap<Key, Vec<(SlotIndex, u64)>> = BTreeMap::new();
        for (counter, row) in rows {
            by_key.entry(counter.key.clone()).or_default().push((counter.slot, row.base.max(row.seen)));
        }
        Self { by_key, is_whole: rows.len() < ROWS_MAX }
    }

    /// The furthest of the key's other slots.
    pub(super) fn beside(&self, counter: &Counter) -> Option<u64> {
        let others = self.by_key.get(&counter.key)?.iter().filter(|(slot, _)| *slot != counter.slot);
        others.map(|(_, reach)| *reach).max()
    }

    /// Whether the ledger has no row of it; of more rows than were read nobody knows.
    pub(super) fn lacks(&self, counter: &Counter) -> bool {
        let slots = self.by_key.get(&counter.key);
        self.is_whole && !slots.is_some_and(|slots| slots.iter().any(|(slot, _)| *slot == counter.slot))
    }

    /// Every key that has a row in any slot.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.by_key.keys()
    }
}

impl Kind {
    /// Whether servers at work pass through it: a second look may find it gone.
    pub(super) fn passes(self) -> bool {
        matches!(self, Self::Above | Self::OtherLife | Self::Closed | Self::Rowless)
    }
}

/// Judges one cell; `None` where it is as it should be.
pub(super) fn judge(rows: Rows<'_>, sight: &Sight, speaks: Speaks<'_>) -> Option<(Kind, String)> {
    let found = judge_lasting(rows, sight, speaks);
    match (&found, sight) {
        // What a time to live causes says less than what can repeat, and more than what the next use mends.
        (
            None | Some((Kind::Above | Kind::Reborn | Kind::Closed, _)),
            Sight::Held { expires_ms: Some(ms), .. },
        ) => Some((Kind::Fleeting, format!("it has a time to live: {ms} ms are left"))),
        _ => found,
    }
}

/// The same of a cell whose time to live does not matter.
fn judge_lasting(rows: Rows<'_>, sight: &Sight, speaks: Speaks<'_>) -> Option<(Kind, String)> {
    let Rows { before, after, others } = rows;
    let given = if let Sight::Held { value, .. } = sight { *value } else { 0 };
    let claim = after.base.max(after.seen);
    // The ring keeps a key's slots together, and an operator's word moves all of them.
    if let Some(others) = others
        && claim > others.max(given).saturating_add(LEAP_MAX)
    {
        let text = format!(
            "the ledger's row says that it is at {claim} (base {}, seen {}), far above its cell, at {given}, and the key's other \
             slots, at {others} at most",
            after.base, after.seen
        );
        return Some((Kind::FarRow, text));
    }
    let known = claim.max(given);
    if after.ceiling > known.saturating_add(LEAP_MAX) {
        let text = format!("its ceiling {} is far above all that is known of it, {known}", after.ceiling);
        return Some((Kind::FarCeiling, text));
    }
    let (life, open, value) = match sight {
        Sight::Missing => return Some((Kind::Vanished, "there is no cell of it".to_owned())),
        Sight::Odd(what) => return Some((Kind::Odd, format!("what stands there no verb has left: {what}"))),
        Sight::Held { life, open, value, .. } => (*life, *open, *value),
    };
    let ceiling = after.ceiling.max(before.ceiling);
    if value > ceiling.saturating_add(LEAP_MAX) {
        return Some((Kind::Leapt, format!("its value {value} is far above its ceiling {ceiling}")));
    }
    for (of, who, now) in [(&after.store, "store", speaks.store), (&after.ledger, "ledger", speaks.ledger)] {
        if of != now {
            return Some((Kind::Reborn, format!("its life was opened in an earlier run of the {who}")));
        }
    }
    if life != before.life && life != after.life {
        let text = format!("its cell is of life {life}, the ledger names life {}", after.life);
        return Some((Kind::OtherLife, text));
    }
    if !open {
        return Some((Kind::Closed, format!("its cell is closed for life {life}")));
    }
    let given = before.base.max(before.seen);
    if life == before.life && value < given {
        return Some((Kind::SetBack, format!("its value is {value}, and {given} was given already")));
    }
    (value > ceiling).then(|| (Kind::Above, format!("its value {value} is above its ceiling {ceiling}")))
}

/// Judges a cell that the ledger has no row of. One that is closed at zero a server has left that died before it opened it.
fn judge_rowless(sight: &Sight) -> Option<(Kind, String)> {
    let Sight::Held { open, value, .. } = sight else { return None };
    let text = || {
        format!(
            "its cell is at {value}, and the ledger has no row of it: if the store forgets, raw ids up to {value} come again"
        )
    };
    (*open || *value > 0).then(|| (Kind::Rowless, text()))
}

/// Judges the counters of a slot, given the rows before and after its cells were seen.
pub(super) fn judge_all<'a>(
    cells: impl Iterator<Item = (&'a Counter, &'a Sight)>,
    (before, after): (&BTreeMap<Counter, Row>, &BTreeMap<Counter, Row>),
    reaches: &Reaches,
    speaks: Speaks<'_>,
) -> Vec<Verdict> {
    let verdict = |(counter, sight): (&'a Counter, &'a Sight)| {
        let others = reaches.beside(counter);
        let (kind, text) = match (before.get(counter), after.get(counter)) {
            (Some(before), Some(after)) => judge(Rows { before, after, others }, sight, speaks)?,
            (None, None) if reaches.lacks(counter) => judge_rowless(sight)?,
            // A row that came or went in between was not there to be judged by.
            _ => return None,
        };
        Some(Verdict { counter: counter.clone(), kind, text })
    };
    cells.filter_map(verdict).collect()
}

/// One finding for each kind of trouble in a slot.
pub(super) fn findings(slot: SlotIndex, verdicts: &[Verdict], class: DurabilityClass) -> Vec<Finding> {
    let mut groups: BTreeMap<Kind, Vec<&Verdict>> = BTreeMap::new();
    for verdict in verdicts {
        groups.entry(verdict.kind).or_default().push(verdict);
    }
    groups.into_iter().map(|(kind, verdicts)| finding(slot, kind, &verdicts, class)).collect()
}

fn finding(slot: SlotIndex, kind: Kind, verdicts: &[&Verdict], class: DurabilityClass) -> Finding {
    let named = verdicts.iter().take(KEYS_NAMED_MAX);
    let keys: Vec<String> = named.map(|verdict| verdict.counter.key.to_string()).collect();
    let first = verdicts.first().map_or("", |verdict| verdict.text.as_str());
    let found = match verdicts.len() {
        1 => format!("counter {}: {first}", keys.concat()),
        count => {
            let more = if count > keys.len() { ", …" } else { "" };
            format!("{count} counters ({}{more}); of the first: {first}", keys.join(", "))
        }
    };
    let (severity, causes, mend) = meaning(kind, class);
    let finding = Finding::new(severity, Site::Slot(slot), "counter", found).causes(causes).mend(mend);
    Finding { keys, ..finding }
}

/// What to do about a row whose ceiling is far above all that is known of its counter. Servers that run may hold it in their
/// permits. Where the cell is gone, nothing tells how far it was: it may have been ahead of the other slots, and `seen` is
/// what servers last told, so that only a word about what callers have helps.
pub(crate) const FAR_CEILING: &str = "stop every server, and run nothing else that gives numbers; where its cell is there, open, and of the \
    row's life, set `ceiling` in the ledger's row of that counter to the greatest of its `base`, its `seen` and its cell's value. \
    Where the cell is gone, nobody knows how far it was: set `ceiling` to the greatest of its `base`, its `seen` and the `ceiling`s \
    of the key's other slots, and then, before anything is given, `sequent advance NAME TO`, TO above the highest number of it \
    that any caller has (where more is asked for, that). Then start the servers again";

/// What to do about a row that claims more than anybody can have taken.
const FAR_ROW: &str = "unless the other slots were out for so long, stop every server, and run nothing else that gives numbers; where its \
    cell is there, open, of the row's life, and its store no old copy, set `ceiling` in the ledger's row of that counter, and `base` \
    and `seen` where they are higher, to its cell's value. Where the cell is gone, nobody knows how far it was: set them to the \
    greatest `ceiling` of the key's other slots, and then, before anything is given, `sequent advance NAME TO`, TO above the highest \
    number of it that any caller has (where more is asked for, that). Then start the servers again, and `sequent rescue` the slot";

/// What to do about a cell that the ledger has no row of.
const ROWLESS: &str = "stop every server; put back the ledger's newest backup and `sequent recover`, or `sequent advance NAME TO`, TO above \
    the highest number of it that any caller has: that writes the rows anew. As long as its store holds the cell, its next use does, too";

const NEXT_USE: &str = "nothing repeats: at its next use it begins a new life above its ceiling";
const NOTHING: &str = "nothing";

fn meaning(kind: Kind, class: DurabilityClass) -> (Severity, &'static str, &'static str) {
    match kind {
        Kind::FarRow => (
            Severity::Error,
            "nobody can have taken so much, so a hand or a broken disk wrote it: servers that find it out put the counter aside; a life \
             that began above it would leave out all below, for good",
            FAR_ROW,
        ),
        Kind::Rowless => (
            Severity::Error,
            "a hand deleted the row, or the ledger was put back from a copy; nothing but its cell tells how far it is",
            ROWLESS,
        ),
        Kind::SetBack => (
            Severity::Error,
            "numbers that were given may come again until the servers hear of it, within two seconds of its use",
            "find out who wrote there, or copied an old file over the store while servers ran; then delete its cell, and it begins \
             again above its ceiling: an older copy that is put back mends nothing",
        ),
        Kind::Leapt => (
            Severity::Error,
            "nothing follows it: this counter gives nothing more, and what lies between would be lost",
            "delete its cell, then `sequent rescue` the slot: it begins again above its ceiling",
        ),
        Kind::FarCeiling => (
            Severity::Error,
            "no server asked for it, so a hand or a broken disk wrote it: no life begins above it, so this counter gives nothing \
             more once its store forgets it; up to it the store alone is believed, and a leap of the value is not noticed",
            FAR_CEILING,
        ),
        Kind::Above => (
            Severity::Warning,
            "ids above it left while the ledger was away, or were taken by a server that died; those that left could come \
             again if the store forgets them before a server tells the ledger",
            "let the servers that run reach the ledger; they tell it by themselves",
        ),
        Kind::OtherLife => {
            (Severity::Warning, NEXT_USE, "find out whether the store or the ledger was put back from a copy")
        }
        Kind::Odd => (Severity::Warning, NEXT_USE, "find out who wrote there"),
        Kind::Fleeting => (
            Severity::Warning,
            "it goes when its time is over; nothing repeats, for it begins again above its ceiling, and leaves numbers out",
            "PERSIST the key, and find out who set it; no verb of ours does",
        ),
        Kind::Vanished if class == DurabilityClass::Volatile => {
            (Severity::Info, NEXT_USE, "nothing: a volatile store forgets")
        }
        Kind::Vanished => (
            Severity::Warning,
            NEXT_USE,
            "find out who deleted it, or whether the store was put back from a copy: it should not forget",
        ),
        Kind::Reborn => (Severity::Info, NEXT_USE, NOTHING),
        Kind::Closed => (
            Severity::Info,
            "a server is at work on it, or died at it; at its next use it is opened again",
            NOTHING,
        ),
    }
}
