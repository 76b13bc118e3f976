//! The plan and the verification of an import as tables.

use sequent_admin::import::{Action, ImportReport, Standing, VerifyReport};

use crate::output;

/// The plan, or what was done: a line a counter, and the sum.
pub(super) fn plan(report: &ImportReport) -> Vec<String> {
    let row = |counter: &sequent_admin::import::ImportedCounter| {
        let action = match counter.action {
            Action::Define => "define",
            Action::Advance => "advance",
            Action::Nothing => "nothing",
            Action::Refused => "refused",
        };
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
        vec![
            counter.counter.clone(),
            counter.sequence.clone(),
            action.to_owned(),
            number(counter.to),
            counter.step.to_string(),
            text(counter.placement),
            text(counter.template.as_deref()),
            text(counter.period.as_deref()),
            counter.note.clone().unwrap_or_default(),
        ]
    };
    let rows: Vec<Vec<String>> = report.counters.iter().map(row).collect();
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
    let mut lines = output::table(&head, &rows);
    lines.extend([String::new(), sum]);
    lines
}

/// The verification: a line a counter, and the sum.
pub(super) fn verification(report: &VerifyReport) -> Vec<String> {
    let row = |counter: &sequent_admin::import::VerifiedCounter| {
        let standing = match counter.standing {
            Standing::Kept => "kept",
            Standing::Passed => "passed",
            Standing::Missing => "missing",
            Standing::Unread => "unread",
        };
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        vec![
            counter.counter.clone(),
            counter.sequence.clone(),
            standing.to_owned(),
            if counter.moves { "yes" } else { "no" }.to_owned(),
            number(counter.last),
            number(counter.to),
            counter.gap.to_string(),
            counter.note.clone().unwrap_or_default(),
        ]
    };
    let rows: Vec<Vec<String>> = report.counters.iter().map(row).collect();
    let mut lines =
        output::table(&["counter", "sequence", "standing", "moves", "last", "above", "gap", "note"], &rows);
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
