//! Answers of `recover`, as text.

use sequent_admin::{Answer, Answers, MarksReport, PlannedKey};
use sequent_core::ledger::Loss;
use sequent_engine::report::SequenceSummary;

use crate::{open_cluster::Cluster, output};

/// The most sequences that are listed in text. The total is printed, and `sequent list` prints all.
const LISTED_MAX: usize = 20;

/// The most keys that are listed for each answer.
const KEYS_MAX: usize = 5;

/// The obstacles, and each answer with its effect.
pub(super) fn answer_lines(answers: &Answers) -> Vec<String> {
    let mut lines: Vec<String> =
        answers.cautions.iter().map(|caution| format!("think twice: {caution}")).collect();
    lines.push("one of these is true, the safe one first:".to_owned());
    for answer in &answers.answers {
        lines.extend([String::new(), answer.command.clone(), format!("  means: {}", answer.means)]);
        match answer.answer {
            "bump" => lines.push(format!("  N: {}", least(answers))),
            "moved" => lines.extend(answers.not_newest.iter().map(|why| format!("  it is not so: {why}"))),
            _ => {}
        }
        lines.extend(key_lines(answer));
        lines.push(format!("  at stake: {}", answer.at_stake));
    }
    lines
}

fn least(answers: &Answers) -> String {
    match &answers.proof {
        Some(proof) => format!(
            "{} at least, for {proof}; more where a counter that can't be seen has come further",
            answers.least
        ),
        None => "no cell at hand is above what the ledger permits, so nothing here tells the least: the highest number of any \
                 sequence that anybody holds, less its `next` of --moved below, and 1 more, is enough"
            .to_owned(),
    }
}

fn key_lines(answer: &Answer) -> Vec<String> {
    let mut lines: Vec<String> = answer.keys.iter().take(KEYS_MAX).map(key_line).collect();
    if let more @ 1.. = answer.keys.len().saturating_sub(KEYS_MAX) {
        let all = if answer.is_partial { "most of them" } else { "them all" };
        lines.push(format!("  and {more} more: --json has {all}"));
    }
    lines
}

fn key_line(planned: &PlannedKey) -> String {
    let PlannedKey { key, last_before, first_after, given_before, skipped, .. } = planned;
    let last = last_before.map_or_else(|| "none".to_owned(), |last| last.to_string());
    let next = first_after.map_or_else(|| "none is left".to_owned(), |next| format!("{next} or higher"));
    let given = given_before
        .map(|given| format!("; the ledger permits {given} again, which was given, as a cell at hand shows"));
    format!("  {key}  last number before {last}  next {next}  skipped {skipped}{}", given.unwrap_or_default())
}

/// Why nothing was done, and the command to type.
pub(super) fn refusal(answers: &Answers, asked: Option<&str>) -> String {
    let of = |name: &str| answers.answers.iter().find(|answer| answer.answer == name);
    let command = |name: &str| of(name).map_or("", |answer| answer.command.as_str());
    let stake = |name: &str| of(name).map_or("", |answer| answer.at_stake);
    let bump = command("bump");
    match (asked, &answers.not_newest) {
        (Some("moved"), Some(why)) => format!("nothing was done: {why}: `{bump}`"),
        (Some("moved"), None) => format!(
            "nothing was done: {}; the safe answer is `{bump}`; only where this is the newest state and no other copy is in use: `{}`",
            stake("moved"),
            command("moved")
        ),
        (Some("since"), _) => format!("nothing was done: {}; `{}` does it", stake("since"), command("since")),
        (Some(_), _) => {
            let why = answers.cautions.first().map_or_else(|| stake("bump"), String::as_str);
            format!("nothing was done: {why}; where it is sure: `{bump}`")
        }
        (None, _) => format!("nothing was done: an answer is missing; the safe one is `{bump}`"),
    }
}

/// The marks and cells that can't be read, before anything is done.
pub(super) fn foretell(cluster: &Cluster, marks: &MarksReport, loss: Loss) {
    if !cluster.json() {
        marks.lines(loss).iter().for_each(|line| output::say(line));
    }
}

/// The state of the ledger, for the operator to compare.
pub(super) fn listed(known: &[SequenceSummary]) -> Vec<String> {
    let count = known.len();
    let mut lines = vec![format!(
        "sequences that the ledger knows: {count}; define any other again as it was before anything is taken of it"
    )];
    lines.extend(known.iter().take(LISTED_MAX).map(|held| {
        let SequenceSummary { sequence, version, start, step, end, .. } = held;
        format!("  {sequence}  version {version}  start {start}  step {step}  end {end}")
    }));
    if let more @ 1.. = count.saturating_sub(LISTED_MAX) {
        lines.push(format!("  and {more} more: `sequent list`"));
    }
    lines
}
