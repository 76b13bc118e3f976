//! Each counter's cell beside its row: the value against ceiling, base and what servers have reported.

use std::collections::BTreeMap;

use sequent_core::{
    DurabilityClass, Incarnation, Key, Sight, SlotIndex,
    ledger::{Counter, Row},
};
use sequent_guard::Outside;

use super::{
    advice,
    look::ROWS_MAX,
    report::{Finding, Severity, Site},
};

/// No leap above a ceiling is ever wider: a value beyond was set by hand.
const LEAP_MAX: u64 = 1 << 36;

/// More raw ids a second than anybody takes from one counter for long. Servers bear more, for nothing is lost by a finding.
const PER_SECOND_MAX: u64 = 1 << 24;

/// So far above its ceiling, in raw ids, a few blocks may be that a server left which died amid its takes.
const FEW_BLOCKS: u64 = 256;

/// How many keys a finding names.
const KEYS_NAMED_MAX: usize = 5;

/// What is to be said of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    FarBoth,
    FarRow,
    Rowless,
    SetBack,
    Leapt,
    FarCeiling,
    StaysAbove,
    Above,
    Overtaken,
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
    /// Its cell's value, and its ceiling.
    at: (u64, u64),
}

impl Verdict {
    /// Whether a value above its ceiling is more than a few blocks.
    pub(super) fn is_far_above(&self) -> bool {
        let (value, ceiling) = self.at;
        self.kind == Kind::Above && value > ceiling.saturating_add(FEW_BLOCKS)
    }

    /// What was taken above the ceiling by the look before is above it still, though a raise would have had the time: it will
    /// not come.
    pub(super) fn staying(mut self, before: &[Self]) -> Self {
        let (_, ceiling) = self.at;
        let was = before.iter().find(|before| before.counter == self.counter);
        if self.is_far_above() && was.is_some_and(|was| was.at.0 > ceiling.saturating_add(FEW_BLOCKS)) {
            self.kind = Kind::StaysAbove;
        }
        self
    }
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
    /// How far its life can have come, by what neither row nor cell says; `None` where nobody has asked.
    pub(super) reach: Option<u64>,
}

/// How far each counter is, by its row.
#[derive(Debug, Default)]
pub(super) struct Reaches {
    by_key: BTreeMap<Key, Vec<(SlotIndex, u64)>>,
    /// Whether these are all rows that the ledger has.
    is_whole: bool,
    /// Up to which raw id no counter without a row gives anything.
    floor: u64,
}

impl Reaches {
    /// Of all rows, those of lives that nobody has begun among them.
    pub(super) fn of(rows: &[(Counter, Row)]) -> Self {
        let mut by_key: BTreeMap<Key, Vec<(SlotIndex, u64)>> = BTreeMap::new();
        for (counter, row) in rows {
            by_key.entry(counter.key.clone()).or_default().push((counter.slot, row.base.max(row.seen)));
        }
        Self { by_key, is_whole: rows.len() < ROWS_MAX, floor: 0 }
    }

    /// The same where counters without a row begin above a floor that a recovery left.
    pub(super) fn above(self, floor: u64) -> Self {
        Self { floor, ..self }
    }

    /// The furthest of the key's other slots.
    pub(super) fn beside(&self, counter: &Counter) -> Option<u64> {
        let others = self.by_key.get(&counter.key)?.iter().filter(|(slot, _)| *slot != counter.slot);
        others.map(|(_, reach)| *reach).max()
    }

    /// How far each of the key's other slots is at least.
    fn least_beside(&self, counter: &Counter) -> Option<u64> {
        let others = self.by_key.get(&counter.key)?.iter().filter(|(slot, _)| *slot != counter.slot);
        others.map(|(_, reach)| *reach).min()
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
        matches!(self, Self::Above | Self::Overtaken | Self::OtherLife | Self::Closed | Self::Rowless)
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

/// What a hand has set far ahead: the row, its ceiling alone, the cell, or the cell and one of these. Neither row nor cell bears
/// witness for the other, and no ceiling for either: the key's other slots do, since the ring keeps them together, and an
/// operator's word moves all of them; and what else lies [outside](Outside).
fn judge_far(rows: Rows<'_>, value: u64) -> Option<(Kind, String)> {
    let Rows { before, after, others, reach } = rows;
    let Row { base, seen, ceiling, .. } = *after;
    let claim = base.max(seen);
    let is_far = |at: u64, known: u64| at > known.saturating_add(LEAP_MAX);
    let likely = reach.unwrap_or(u64::MAX);
    let far_row = is_far(claim, likely) || others.is_some_and(|others| is_far(claim, others.max(value)));
    // Another row may be a hand's, too.
    let known = if far_row { likely.min(others.unwrap_or(likely)) } else { claim };
    let far_cell = is_far(value, known);
    let far_ceiling = is_far(ceiling, if far_cell { known } else { known.max(value) });
    let row = || {
        let beside = match others {
            Some(others) if is_far(claim, others) => format!("the key's other slots, at {others} at most"),
            _ => format!("all that it can have come to, {likely}"),
        };
        format!(
            "the ledger's row says that it is at {claim} (base {base}, seen {seen}), far above its cell, at {value}, and {beside}"
        )
    };
    match (far_row, far_ceiling, far_cell) {
        (true, _, true) | (_, true, true) => {
            let text = format!(
                "its value {value} and the ledger's row of it (base {base}, seen {seen}, ceiling {ceiling}) are both far above all \
                 else that is known of it, {known}"
            );
            Some((Kind::FarBoth, text))
        }
        (true, ..) => Some((Kind::FarRow, row())),
        (_, true, _) => {
            let known = known.max(value);
            Some((
                Kind::FarCeiling,
                format!("its ceiling {ceiling} is far above all that is known of it, {known}"),
            ))
        }
        (.., true) => {
            let ceiling = ceiling.max(before.ceiling);
            let than = if is_far(value, ceiling) { ceiling } else { known };
            let what = if than == ceiling { "its ceiling" } else { "what was given" };
            Some((Kind::Leapt, format!("its value {value} is far above {what} {than}")))
        }
        _ => None,
    }
}

/// The same of a cell whose time to live does not matter.
fn judge_lasting(rows: Rows<'_>, sight: &Sight, speaks: Speaks<'_>) -> Option<(Kind, String)> {
    let Rows { before, after, .. } = rows;
    let value = if let Sight::Held { value, .. } = sight { *value } else { 0 };
    if let Some(far) = judge_far(rows, value) {
        return Some(far);
    }
    let (life, open, value) = match sight {
        Sight::Missing => return Some((Kind::Vanished, "there is no cell of it".to_owned())),
        Sight::Odd(what) => return Some((Kind::Odd, format!("what stands there no verb has left: {what}"))),
        Sight::Held { life, open, value, .. } => (*life, *open, *value),
    };
    let ceiling = after.ceiling.max(before.ceiling);
    let over = |kind, text: String| {
        // What begins next is above the cell as long as that is there, and above the ceiling alone once it is not.
        if value > ceiling.saturating_add(FEW_BLOCKS) {
            let text = format!("{text}, and its value {value} is above its ceiling {ceiling}");
            return Some((Kind::Overtaken, text));
        }
        Some((kind, text))
    };
    for (of, who, now) in [(&after.store, "store", speaks.store), (&after.ledger, "ledger", speaks.ledger)] {
        if of != now {
            return over(Kind::Reborn, format!("its life was opened in an earlier run of the {who}"));
        }
    }
    if life != before.life && life != after.life {
        let text = format!("its cell is of life {life}, the ledger names life {}", after.life);
        return over(Kind::OtherLife, text);
    }
    if !open {
        return over(Kind::Closed, format!("its cell is closed for life {life}"));
    }
    let given = before.base.max(before.seen);
    if life == before.life && value < given {
        return Some((Kind::SetBack, format!("its value is {value}, and {given} was given already")));
    }
    (value > ceiling).then(|| (Kind::Above, format!("its value {value} is above its ceiling {ceiling}")))
}

/// Judges a cell that the ledger has no row of. One that is closed at zero a server has left that died before it opened it; what is
/// not above the floor never comes again, whatever its store forgets.
fn judge_rowless(sight: &Sight, floor: u64) -> Option<(Kind, String)> {
    let Sight::Held { open, value, .. } = sight else { return None };
    let text = || {
        format!(
            "its cell is at {value}, and the ledger has no row of it: if the store forgets, raw ids up to {value} come again"
        )
    };
    let is_covered = floor > 0 && *value <= floor;
    ((*open || *value > 0) && !is_covered).then(|| (Kind::Rowless, text()))
}

/// How far the lives of some counters can have come, by what neither row nor cell says.
pub(super) type Likely = BTreeMap<Counter, u64>;

/// The counters that row or cell have so far that more must be asked of them: at most `most`.
pub(super) fn doubted<'a>(
    cells: impl Iterator<Item = (&'a Counter, &'a Sight)>,
    rows: &BTreeMap<Counter, Row>,
    reaches: &Reaches,
    most: usize,
) -> Vec<Counter> {
    let is_doubted = |(counter, sight): &(&'a Counter, &'a Sight)| {
        let value = if let Sight::Held { value, .. } = sight { *value } else { 0 };
        let beside = reaches.least_beside(counter).unwrap_or(0).saturating_add(LEAP_MAX);
        rows.get(counter).is_some_and(|row| row.base.max(row.seen).max(value) > beside)
    };
    cells.filter(is_doubted).take(most).map(|(counter, _)| counter.clone()).collect()
}

/// How far a counter's life can have come by `clock_ms` of the ledger's clock.
pub(super) fn likely(row: &Row, outside: &Outside, clock_ms: u64) -> u64 {
    outside.reach(row, clock_ms, PER_SECOND_MAX)
}

/// Judges the counters of a slot, given the rows before and after its cells were seen.
pub(super) fn judge_all<'a>(
    cells: impl Iterator<Item = (&'a Counter, &'a Sight)>,
    (before, after): (&BTreeMap<Counter, Row>, &BTreeMap<Counter, Row>),
    (reaches, likely): (&Reaches, &Likely),
    speaks: Speaks<'_>,
) -> Vec<Verdict> {
    let verdict = |(counter, sight): (&'a Counter, &'a Sight)| {
        let (others, reach) = (reaches.beside(counter), likely.get(counter).copied());
        let rows = (before.get(counter), after.get(counter));
        let (kind, text) = match rows {
            (Some(before), Some(after)) => judge(Rows { before, after, others, reach }, sight, speaks)?,
            (None, None) if reaches.lacks(counter) => judge_rowless(sight, reaches.floor)?,
            // A row that came or went in between was not there to be judged by.
            _ => return None,
        };
        let value = if let Sight::Held { value, .. } = sight { *value } else { 0 };
        let ceiling = [rows.0, rows.1].into_iter().flatten().map(|row| row.ceiling).max().unwrap_or(0);
        Some(Verdict { counter: counter.clone(), kind, text, at: (value, ceiling) })
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
    let is_aside = matches!(kind, Kind::FarBoth | Kind::FarRow | Kind::FarCeiling | Kind::Leapt);
    let mend = format!("{mend}{}", if is_aside { "; then `sequent rescue` the slot" } else { "" });
    let finding = Finding::new(severity, Site::Slot(slot), "counter", found).causes(causes).mend(mend);
    Finding { keys, ..finding }
}

/// What to do about a cell that the ledger has no row of.
const ROWLESS: &str = "stop every server; put back the ledger's newest backup and `sequent recover`, or `sequent advance NAME TO`, TO above \
    the highest number of it that any caller has: that writes the rows anew. As long as its store holds the cell, its next use does, too";

const NEXT_USE: &str = "nothing repeats: at its next use it begins a new life above its ceiling";
const NOTHING: &str = "nothing";

fn meaning(kind: Kind, class: DurabilityClass) -> (Severity, &'static str, &'static str) {
    match kind {
        Kind::FarBoth => (
            Severity::Error,
            "neither bears witness for the other: a hand or a broken disk wrote them; servers that find it out put the counter aside; \
             what they have not found out leaves out all below, for good",
            advice::BOTH,
        ),
        Kind::FarRow => (
            Severity::Error,
            "nobody can have taken so much, so a hand or a broken disk wrote it: servers that find it out put the counter aside; a life \
             that began above it would leave out all below, for good",
            advice::ROW,
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
            advice::CELL,
        ),
        Kind::FarCeiling => (
            Severity::Error,
            "no server asked for it, so a hand or a broken disk wrote it: no life begins above it, so this counter gives nothing \
             more once its store forgets it; up to it the store alone is believed, and a leap of the value is not noticed",
            advice::CEILING,
        ),
        Kind::StaysAbove if class != DurabilityClass::Durable => (
            Severity::Error,
            "no server has told the ledger in time, and the store may forget: what lies between comes again then, unless nobody was given it, \
             as where a server died amid its takes",
            "take from the sequence once: whoever takes from this counter raises its ceiling. Where the row was set lower by hand, or the ledger \
             was put back, `sequent advance NAME TO` besides, TO above the highest number of it that any caller has",
        ),
        Kind::Above | Kind::StaysAbove => (
            Severity::Warning,
            "ids above it left while the ledger was away, or were taken by a server that died; those that left could come \
             again if the store forgets them before a server tells the ledger",
            "let the servers that run reach the ledger; they tell it by themselves",
        ),
        Kind::Overtaken => (
            if class == DurabilityClass::Durable { Severity::Warning } else { Severity::Error },
            "numbers left that the ledger knows nothing of: once the store forgets this cell, what lies between comes again",
            "take from the sequence until this is no longer found, or `sequent advance NAME TO`, TO above the highest number of it that any \
             caller has: either writes the row anew. Where a loss was named, name at least as much as the difference",
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
