//! The counter of a rendered text.

use sequent_core::{Key, SequenceName};
use sequent_engine::EngineError;
use sequent_format::{Decoded, Format, Values};

/// The names and values that partition the counter of a text, in the order of the key: from the text itself,
/// and from the values given with it.
pub(super) fn partition_of(
    format: &Format,
    parsed: &Decoded,
    with: &Values,
) -> Result<Vec<(String, String)>, EngineError> {
    let told = |name: &str| parsed.partition.iter().find(|(told, _)| told == name);
    let names = format.partitioned_by();
    for (name, value) in with.iter() {
        let bound = match told(name) {
            Some((_, told)) if told == value => continue,
            Some((_, told)) => format!("the text has {told:?}"),
            None if names.contains(&name) => continue,
            None => format!("it does not partition the counter: {} are allowed", names.join(", ")),
        };
        return Err(EngineError::invalid_text(name.to_owned(), value, bound));
    }
    let untold: Vec<&str> = names.iter().copied().filter(|name| told(name).is_none()).collect();
    if let Some(name) = untold.iter().find(|name| with.get(name).is_none()) {
        let bound = format!(
            "the text does not contain {name}, and each value of it has its own counter: name the one that the text was issued \
             with, by `--with {name}=VALUE`"
        );
        return Err(EngineError::invalid_text("text", &parsed.text, bound));
    }
    if untold.is_empty() {
        return Ok(parsed.partition.clone());
    }
    // Values are normalized as the template does: in its case, without those that it refuses.
    let all = parsed
        .values
        .iter()
        .cloned()
        .chain(with.iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
    let begins = parsed.period.as_deref().and_then(|period| format.period_begins(period));
    let issued = format.context(begins.unwrap_or_default(), &all.collect());
    let issued = issued.map_err(|error| EngineError::invalid_text(error.field, &error.value, error.bound))?;
    Ok(issued.partition().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// The key of a text.
pub(super) fn key_of(
    name: &SequenceName,
    parsed: &Decoded,
    partition: &[(String, String)],
) -> Result<Key, EngineError> {
    let untold = || {
        let bound = "a text that shows its period is needed: this one is the same in another period";
        EngineError::invalid_text("text", &parsed.text, bound)
    };
    let period = parsed.period.as_deref().ok_or_else(untold)?;
    let values: Vec<&str> = partition.iter().map(|(_, value)| value.as_str()).collect();
    Key::new(name, period, &values)
        .map_err(|error| EngineError::invalid_text("text", &parsed.text, error.to_string()))
}
