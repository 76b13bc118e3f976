//! Why numbers are burnt, as the rooms below say it: the values of a label, all of them known.

use super::names::OTHER;

/// What was burnt for another reason than these counts under [`OTHER`].
const WHY: [&str; 28] = [
    "numbers aged in the reservoir",
    "a caller was stalled for many turns",
    "the reservoir was closed during a refill",
    "numbers came back to a closed reservoir",
    "an idle reservoir gave its memory back",
    "a handle of its own held numbers that were called in",
    "the reservoir was closed",
    "the reservoir was dropped",
    "its key was advanced meanwhile",
    "at or below the number that the key was advanced to",
    "an operator has advanced its key",
    "the ledger was restarted, went back, or was recovered: it may repeat",
    "the ledger holds another definition of its sequence",
    "another version of its sequence takes effect at an instant",
    "late blocks of a slot that is quarantined, or too old",
    "more late blocks than are kept",
    "late blocks below a lift",
    "late blocks of a key that is no longer used",
    "taken to try a slot that nobody asked",
    "a leap that nothing follows",
    "above its ceiling while the ledger is away",
    "its life ended before it could leave",
    "the guard was closed before it could leave",
    "taken from a counter that went backwards",
    "the ledger is another incarnation",
    "the ledger refused its ceiling",
    "taken before the loss of the ledger was noticed",
    OTHER,
];

/// Every value that the label has.
pub(super) fn every() -> impl Iterator<Item = &'static str> {
    WHY.into_iter()
}

/// The label's value for a reason.
pub(super) fn label(why: &'static str) -> &'static str {
    if WHY.contains(&why) { why } else { OTHER }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// How the rooms say why: what follows is a reason, if it is a text.
    const SAYS: [&str; 8] = [
        ".burn(",
        ".dropped(",
        ".again(",
        "close_because(",
        "Stays(",
        "Dropped {",
        "const AGED",
        "const WHY: &str",
    ];

    /// Reasons of other things, in calls of the same names.
    const OTHERS: [&str; 1] = ["the ledger was lost, and not every store can be seen"];

    /// The texts that rooms give for reasons.
    fn said(source: &str) -> Vec<&str> {
        let code = source.split("#[cfg(test)]").next().unwrap();
        let calls = SAYS.iter().flat_map(|says| code.split(says).skip(1));
        let texts = calls.filter_map(|call| {
            let statement = call.split_once(';')?.0;
            let text = statement.split('"').nth(1)?;
            (!text.contains('{')).then_some(text)
        });
        texts.collect()
    }

    fn sources(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !path.ends_with("tests") && !path.ends_with("events") {
                    sources(&path, found);
                }
            } else if path.extension().is_some_and(|is| is == "rs") && !path.ends_with("tests.rs") {
                found.push(fs::read_to_string(path).unwrap());
            }
        }
    }

    #[test]
    fn every_reason_that_the_rooms_say_is_known() {
        let mut files = Vec::new();
        for room in ["buffer", "engine", "guard", "ha"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(room).join("src"), &mut files);
        }
        let said: BTreeSet<&str> =
            files.iter().flat_map(|file| said(file)).filter(|text| !OTHERS.contains(text)).collect();
        assert!(said.len() >= 20, "the look would be empty: {said:?}");
        let unknown: Vec<&&str> = said.iter().filter(|text| !WHY.contains(text)).collect();
        assert!(unknown.is_empty(), "`sequent_numbers_burnt_total` does not know {unknown:?}");
    }

    #[test]
    fn what_is_not_known_makes_no_series_of_its_own() {
        assert_eq!((label("a new reason"), label(WHY[0])), (OTHER, WHY[0]));
        assert_eq!(every().collect::<BTreeSet<_>>().len(), WHY.len(), "each once");
    }
}
