//! The plan and the verification of an import as tables.

use std::collections::HashMap;

use sequent_admin::import::{Action, ImportReport, ImportedCounter, Standing, VerifyReport};

use crate::{output, terminal::escaped_cell};

/// A table whose cells have texts of the other system, which may hold ends of lines and commands to terminals.
fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Vec<String> {
    let escaped = |row: Vec<String>| row.iter().map(|cell| escaped_cell(cell).into_owned()).collect();
    output::table(head, &rows.map(escaped).collect::<Vec<_>>())
}

/// The counter of each line: with its table, if several tables have one of that name.
fn names<'a>(counters: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Vec<String> {
    let mut same: HashMap<&str, usize> = HashMap::new();
    for (_, counter) in counters.clone() {
        *same.entry(counter).or_default() += 1;
    }
    let name = |(table, counter): (&str, &str)| match same[counter] {
        1 => counter.to_owned(),
        _ => format!("{table}.{counter}"),
    };
    counters.map(name).collect()
}

/// The placement, and how numbers are made if not as usual.
fn placement(counter: &ImportedCounter) -> String {
    let words: Vec<&str> = [counter.placement, counter.numbering].into_iter().flatten().collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

/// The plan, or what was done: a line a counter, and the sum.
pub(super) fn plan(report: &ImportReport) -> Vec<String> {
    let row = |(counter, name): (&ImportedCounter, String)| {
        let action = match counter.action {
            Action::Define => "define",
            Action::Advance => "advance",
            Action::Nothing => "nothing",
            Action::Refused => "refused",
        };
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
        vec![
            name,
            counter.sequence.clone(),
            action.to_owned(),
            number(counter.to),
            counter.step.to_string(),
            placement(counter),
            text(counter.template.as_deref()),
            text(counter.period.as_deref()),
            counter.note.clone().unwrap_or_default(),
        ]
    };
    let names = names(report.counters.iter().map(|counter| (&*counter.source, &*counter.counter)));
    let rows = report.counters.iter().zip(names).map(row);
    let head = ["counter", "sequence", "action", "above", "step", "placement", "template", "period", "note"];
    let [define, advance, nothing, refused] =
        [Action::Define, Action::Advance, Action::Nothing, Action::Refused]
            .map(|action| report.count(action));
    let sum = if report.is_done {
        format!("{define} defined, {advance} advanced, {nothing} unchanged, {refused} refused")
    } else {
        format!(
            "{define} to define, {advance} to advance, {nothing} unchanged, {refused} refused: a plan; --yes does it"
        )
    };
    let mut lines = table(&head, rows);
    lines.extend([String::new(), sum]);
    lines
}

/// The verification: a line a counter, and the sum.
pub(super) fn verification(report: &VerifyReport) -> Vec<String> {
    let row = |(counter, name): (&sequent_admin::import::VerifiedCounter, String)| {
        let standing = match counter.standing {
            Standing::Kept => "kept",
            Standing::Passed => "passed",
            Standing::Missing => "missing",
            Standing::Unread => "unread",
        };
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        vec![
            name,
            counter.sequence.clone(),
            standing.to_owned(),
            if counter.moves { "yes" } else { "no" }.to_owned(),
            number(counter.last),
            number(counter.to),
            counter.gap.to_string(),
            counter.note.clone().unwrap_or_default(),
        ]
    };
    let names = names(report.counters.iter().map(|counter| (&*counter.source, &*counter.counter)));
    let rows = report.counters.iter().zip(names).map(row);
    let mut lines =
        table(&["counter", "sequence", "standing", "moves", "last", "above", "gap", "note"], rows);
    let sum = format!(
        "{} kept, {} passed, {} missing, {} unread; {} move",
        report.count(Standing::Kept),
        report.count(Standing::Passed),
        report.count(Standing::Missing),
        report.count(Standing::Unread),
        report.moving()
    );
    lines.extend([String::new(), sum]);
    lines
}
