//! The reasons for which prefetched numbers are discarded, as values of a metric's label.

use sequent_buffer::DISCARD_REASONS;

use super::metric_labels::OTHER;

/// Reasons besides the reservoir's own. Any other reason counts under [`OTHER`].
const WHY: [&str; 20] = [
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
    "a jump that nothing follows",
    "above its ceiling while the ledger is away",
    "its epoch ended before it could leave",
    "the guard was closed before it could leave",
    "taken from a counter that went backwards",
    "the ledger is another instance",
    "store or ledger is another instance",
    "the ledger refused its ceiling",
    OTHER,
];

/// All values of the label.
pub(crate) fn every() -> impl Iterator<Item = &'static str> {
    DISCARD_REASONS.into_iter().chain(WHY)
}

/// The label's value for a reason.
pub(crate) fn label(why: &'static str) -> &'static str {
    every().find(|known| *known == why).unwrap_or(OTHER)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// The calls that name a reason: what follows is the reason, if it is a text.
    const SAYS: [&str; 9] = [
        ".burn(",
        ".discard(",
        ".dropped(",
        ".again(",
        "close_because(",
        "Stays(",
        "Dropped {",
        "const EXPIRED",
        "const WHY: &str",
    ];

    /// Texts in calls of the same names that are not reasons.
    const OTHERS: [&str; 1] = ["the ledger was lost, and not every store can be seen"];

    /// The texts that the source gives as reasons.
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
                if !path.ends_with("tests") && !path.ends_with("telemetry") {
                    sources(&path, found);
                }
            } else if path.extension().is_some_and(|is| is == "rs") && !path.ends_with("tests.rs") {
                found.push(fs::read_to_string(path).unwrap());
            }
        }
    }

    #[test]
    fn every_reason_that_crates_say_is_known() {
        let mut files = Vec::new();
        for package in ["buffer", "engine", "guard", "ha"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package).join("src"), &mut files);
        }
        let said: BTreeSet<&str> =
            files.iter().flat_map(|file| said(file)).filter(|text| !OTHERS.contains(text)).collect();
        assert!(said.len() + DISCARD_REASONS.len() >= 20, "the look would be empty: {said:?}");
        let unknown: Vec<&&str> = said.iter().filter(|text| every().all(|known| known != **text)).collect();
        assert!(unknown.is_empty(), "`sequent_numbers_burnt_total` does not know {unknown:?}");
        let is_said = |why: &str| files.iter().any(|file| file.contains(&format!("\"{why}\"")));
        let unsaid: Vec<&str> = WHY.into_iter().filter(|why| *why != OTHER && !is_said(why)).collect();
        assert!(unsaid.is_empty(), "nobody says {unsaid:?} any more");
    }

    #[test]
    fn what_is_not_known_makes_no_series_of_its_own() {
        for known in [WHY[0], DISCARD_REASONS[0]] {
            assert_eq!((label("a new reason"), label(known)), (OTHER, known));
        }
        assert_eq!(every().collect::<BTreeSet<_>>().len(), every().count(), "each once");
    }
}
