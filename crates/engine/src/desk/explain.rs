//! Where a number came from: slot, raw id, and the life that gave it.

use sequent_core::{
    Key, Life, SequenceName, Span,
    ledger::{Counter, PastLife, Row},
};

use sequent_format::{Format, Parsed, Values};

use super::Desk;
use crate::{
    Body, EngineError, Reason,
    limit::{of_ledger, within},
    report::{Explained, LifeReport},
};

impl Desk {
    /// Which slot, raw id and life gave a number, of a sequence whose numbers are all of one counter.
    pub async fn explain(&self, name: &SequenceName, number: u64) -> Result<Explained, EngineError> {
        let body = self.body(name).await?;
        if body.example_key(name).is_ok_and(|key| key != Key::of(name)) {
            let bound = "each period and each tuple of values has numbers of its own: name a text instead";
            return Err(EngineError::invalid("number", number, bound));
        }
        self.explain_of(Key::of(name), body.span(), name, number).await
    }

    /// The same of a text; without a template, of the digits of a number. `with`: values that partition the counter and that the
    /// text does not tell.
    pub async fn explain_text(
        &self,
        name: &SequenceName,
        text: &str,
        with: &Values,
    ) -> Result<Explained, EngineError> {
        let body = self.body(name).await?;
        let Some(texts) = body.texts() else {
            let number = text.parse().ok().filter(|number| *number > 0);
            let bound = || format!("1 to {} are numbers", i64::MAX);
            let number = number.ok_or_else(|| EngineError::invalid_text("number", text, bound()))?;
            if let Some((value, _)) = with.iter().next() {
                let bound = format!("{name} has no template: its numbers need no values");
                return Err(EngineError::invalid("with", value, bound));
            }
            return self.explain(name, number).await;
        };
        let parsed = texts.read(text).map_err(|fault| EngineError::of_read(text, fault))?;
        let writer = texts.readers().find(|format| format.invert(text).is_ok_and(|read| read == parsed));
        let partition = match writer {
            Some(format) => partition_of(&format, &parsed, with)?,
            None => parsed.partition.clone(),
        };
        self.explain_of(key_of(name, &parsed, &partition)?, body.span(), name, parsed.number).await
    }

    async fn body(&self, name: &SequenceName) -> Result<Body, EngineError> {
        let definition = self.definition(name).await?;
        Body::from_text(&definition.body).map_err(|error| {
            let text = format!("version {} of {name} can't be read: {error}", definition.version);
            EngineError::new(Reason::DefinitionConflict, text)
        })
    }

    async fn explain_of(
        &self,
        key: Key,
        span: Span,
        name: &SequenceName,
        number: u64,
    ) -> Result<Explained, EngineError> {
        let Some(encoded) = span.encoded(self.layout(), number) else {
            let (start, step, end) = (span.start(), span.step(), span.limit());
            let bound = format!("{name} gives {start} to {end} in steps of {step}");
            return Err(EngineError::invalid("number", number, bound));
        };
        let (raw, slot, low) = self.layout().decode(encoded);
        let counter = Counter { slot, key };
        let rows = self.rows(name).await?;
        let row = rows.into_iter().find(|(held, _)| *held == counter).map(|(_, row)| row);
        let history = within(self.limit(), "read the history", self.ledger().history(&counter)).await;
        let history = history.map_err(|error| of_ledger(&error))?;
        let begins = begins(self.0.record.epoch, row.as_ref(), &history);
        let (from, history) = begins.map_or((0, &history[..]), |(at, from)| (from, &history[at..]));
        let life = life_of(raw, row.as_ref(), history);
        let verdict = if raw <= from {
            format!(
                "{number} is from before the ring was resized, when raw ids stood for other numbers: given, if at all, by \
                 a layout before this one"
            )
        } else {
            verdict(number, slot, raw, row.as_ref(), life.as_ref())
        };
        Ok(Explained { sequence: name.clone(), number, encoded, slot, raw, low, life, verdict })
    }
}

/// The names and values that partition the counter of a text, in the order of the key: what it tells, and what else was given.
fn partition_of(
    format: &Format,
    parsed: &Parsed,
    with: &Values,
) -> Result<Vec<(String, String)>, EngineError> {
    let told = |name: &str| parsed.partition.iter().find(|(told, _)| told == name);
    let names = format.partitioned_by();
    for (name, value) in with.iter() {
        let bound = match told(name) {
            Some((_, told)) if told == value => continue,
            Some((_, told)) => format!("the text tells {told:?}"),
            None if names.contains(&name) => continue,
            None => format!("it does not partition the counter: {} are allowed", names.join(", ")),
        };
        return Err(EngineError::invalid_text(name.to_owned(), value, bound));
    }
    let untold: Vec<&str> = names.iter().copied().filter(|name| told(name).is_none()).collect();
    if let Some(name) = untold.iter().find(|name| with.get(name).is_none()) {
        let bound = format!(
            "the text does not tell {name}, and each value of it has a counter of its own: name the one that the text was issued \
             with, by `--with {name}=VALUE`"
        );
        return Err(EngineError::invalid_text("text", &parsed.text, bound));
    }
    if untold.is_empty() {
        return Ok(parsed.partition.clone());
    }
    // As the template takes values: in its case, and none that it refuses.
    let all = parsed
        .values
        .iter()
        .cloned()
        .chain(with.iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
    let begins = parsed.period.as_deref().and_then(|period| format.period_begins(period));
    let issued = format.issue(begins.unwrap_or_default(), &all.collect());
    let issued = issued.map_err(|error| EngineError::invalid_text(error.field, &error.value, error.bound))?;
    Ok(issued.partition().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// The key that a text tells.
fn key_of(name: &SequenceName, parsed: &Parsed, partition: &[(String, String)]) -> Result<Key, EngineError> {
    let untold = || {
        let bound = "a text that tells its period is needed: this one is like another period's";
        EngineError::invalid_text("text", &parsed.text, bound)
    };
    let period = parsed.period.as_deref().ok_or_else(untold)?;
    let values: Vec<&str> = partition.iter().map(|(_, value)| value.as_str()).collect();
    Key::new(name, period, &values)
        .map_err(|error| EngineError::invalid_text("text", &parsed.text, error.to_string()))
}

/// Since the ring was resized: which of the ended lives are of this layout, and the raw id that it begins above.
fn begins(epoch: u64, row: Option<&Row>, history: &[PastLife]) -> Option<(usize, u64)> {
    let marker = Life::of_epoch(epoch);
    let ended = history.iter().rposition(|past| past.life == marker);
    let current = || row.filter(|row| row.life == marker).map(|row| (history.len(), row.base));
    ended.map(|at| (at + 1, history[at].ceiling)).or_else(current)
}

/// The life whose ids hold `raw`; the one in force first.
fn life_of(raw: u64, row: Option<&Row>, history: &[PastLife]) -> Option<LifeReport> {
    let in_force = row.filter(|row| raw > row.base && raw <= row.ceiling).map(|row| LifeReport {
        life: row.life.to_string(),
        base: row.base,
        ceiling: row.ceiling,
        in_force: true,
        seen: Some(raw <= row.seen),
    });
    let past = || {
        history.iter().rev().find(|past| raw > past.base && raw <= past.ceiling).map(|past| LifeReport {
            life: past.life.to_string(),
            base: past.base,
            ceiling: past.ceiling,
            in_force: false,
            seen: None,
        })
    };
    in_force.or_else(past)
}

fn verdict(number: u64, slot: u16, raw: u64, row: Option<&Row>, life: Option<&LifeReport>) -> String {
    let place = format!("{number} is raw id {raw} of slot {slot}");
    match (row, life) {
        (None, _) => format!("{place}, whose counter has not begun: not given"),
        (Some(_), Some(life)) if life.seen == Some(true) => {
            format!("{place}, taken in life {}, which is in force", life.life)
        }
        (Some(row), Some(life)) if life.in_force => {
            let seen = row.seen;
            format!(
                "{place}, permitted in life {}, but above the highest reported, {seen}: not given yet, or lately",
                life.life
            )
        }
        (Some(_), Some(life)) => format!("{place}, permitted in life {}, which has ended", life.life),
        (Some(row), None) if raw > row.ceiling => {
            format!("{place}, above the ceiling {}: not given, unless the ledger was away", row.ceiling)
        }
        (Some(_), None) => format!("{place}, which no life permitted: skipped when a life was opened"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::Incarnation;

    fn row(base: u64, ceiling: u64, seen: u64) -> Row {
        let (store, ledger) = (Incarnation::new("s"), Incarnation::new("l"));
        Row { life: Life::from_stored(9), store, ledger, base, ceiling, seen, opened_at_ms: 0 }
    }

    #[test]
    fn lives_of_the_layout_before_say_nothing_of_this_one() {
        let past = |life, base, ceiling| PastLife { life, base, ceiling };
        let history = [
            past(Life::from_stored(1), 0, 90),
            past(Life::of_epoch(2), 40, 40),
            past(Life::from_stored(2), 40, 60),
        ];
        let row = row(60, 70, 61);
        assert_eq!(begins(2, Some(&row), &history), Some((2, 40)));
        assert_eq!(begins(1, Some(&row), &history[..1]), None);
        let fresh = Row { life: Life::of_epoch(2), ..row };
        assert_eq!(begins(2, Some(&fresh), &history[..1]), Some((1, 60)), "nobody has opened a life yet");
    }

    #[test]
    fn a_raw_id_belongs_to_one_life_or_to_none() {
        let history = [PastLife { life: Life::from_stored(1), base: 0, ceiling: 5 }];
        let row = row(8, 20, 10);
        let life = |raw| life_of(raw, Some(&row), &history).map(|life| (life.in_force, life.seen));
        assert_eq!(life(5), Some((false, None)));
        assert_eq!(life(6), None, "between two lives");
        assert_eq!(life(9), Some((true, Some(true))));
        assert_eq!(life(11), Some((true, Some(false))));
        assert_eq!(life(21), None);
        let said = |raw| verdict(1, 0, raw, Some(&row), life_of(raw, Some(&row), &history).as_ref());
        assert!(said(7).contains("skipped"), "{}", said(7));
        assert!(said(21).contains("above the ceiling 20"), "{}", said(21));
    }
}
