//! The sequences of a cluster as its ledger holds them: a list, and one of them with its counters.

use sequent_core::{
    ErrorKind, Key, SequenceName, SourceError, Span,
    ledger::{Counter, Definition, DenseRow, Row, SlotCommand},
};
use sequent_format::Timestamp;

use crate::{
    catalog::forget::FORGOTTEN,
    definition::Body,
    error::EngineError,
    issue::dense::dense_number,
    ledger_timeout::not_found,
    open::bootstrap::ClusterHandle,
    status::report::{
        COUNTERS_SHOWN_MAX, CounterReport, DenseReport, QuarantineReport, SequenceReport, SequenceSummary,
        WaitingReport,
    },
};

impl ClusterHandle {
    /// The sequences in use, ascending by name.
    pub async fn list(&self) -> Result<Vec<SequenceSummary>, EngineError> {
        let definitions = self.definitions().await?;
        let in_use = definitions.iter().filter(|held| held.body != FORGOTTEN);
        Ok(in_use.map(|held| read(held, self.now())).collect())
    }

    /// One sequence with its counters.
    pub async fn show(&self, name: &SequenceName) -> Result<SequenceReport, EngineError> {
        let definition = self.definition(name).await?;
        let body = Body::from_text(&definition.body).ok();
        let counter = body.as_ref().map_or(name, |body| body.counted_by(name)).clone();
        let rows = self.rows(&counter).await?;
        let span = body.map(|body| body.in_effect(definition.version, self.now()).1.span());
        let counters = rows.iter().map(|(counter, row)| self.counter(span, counter, row)).collect();
        let dense = self.ledger.dense(Some(counter.as_str()), COUNTERS_SHOWN_MAX);
        let dense = self.within("read the dense counters", dense).await?;
        let mut quarantined = self.quarantined(&self.slot_commands().await?);
        quarantined.retain(|held| Key::from_stored(&held.key).sequence() == counter.as_str());
        Ok(SequenceReport {
            summary: read(&definition, self.now()),
            definition: definition.body,
            counters,
            dense: dense.iter().map(|row| report_dense(span, row)).collect(),
            quarantined,
        })
    }

    /// The current time by this process's clock.
    pub fn now(&self) -> Timestamp {
        let now = i64::try_from(self.env.clock.wall_ms()).ok();
        now.and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default()
    }

    /// The counters in quarantine, as processes of this data directory noted them.
    pub fn quarantined(&self, words: &[SlotCommand]) -> Vec<QuarantineReport> {
        self.quarantine.as_ref().map_or_else(Vec::new, |notes| notes.read(words))
    }

    /// Every definition, its highest version.
    pub async fn definitions(&self) -> Result<Vec<Definition>, SourceError> {
        let read = self.within("read the definitions", self.ledger.definitions()).await;
        read.map(|(_, definitions)| definitions)
    }

    /// The definition of one sequence.
    pub async fn definition(&self, name: &SequenceName) -> Result<Definition, EngineError> {
        let definitions = self.definitions().await?;
        match definitions.into_iter().find(|held| held.name == *name) {
            Some(held) => Ok(held),
            None => Err(self.another().await.unwrap_or_else(|| not_found(name))),
        }
    }

    /// The error if the stores belong to another ledger: a sequence missing in this one may then exist.
    async fn another(&self) -> Option<EngineError> {
        let stores: Vec<_> = self.stores().into_iter().map(|(_, store)| store).collect();
        let error = sequent_guard::belongs(&*self.ledger, &stores, self.limit).await.err()?;
        (error.kind() == ErrorKind::LedgerBehind).then(|| error.into())
    }

    async fn rows(&self, name: &SequenceName) -> Result<Vec<(Counter, Row)>, EngineError> {
        let list = self.ledger.list(Some(name.as_str()), COUNTERS_SHOWN_MAX);
        Ok(self.within("read the rows", list).await?)
    }

    fn counter(&self, span: Option<Span>, counter: &Counter, row: &Row) -> CounterReport {
        let layout = self.layout();
        let number_max = span.and_then(|span| {
            let highest = layout.encode(row.ceiling, counter.slot)? << layout.memory_bits();
            let encoded = sequent_core::Block::new(highest | (layout.numbers_per_id() - 1), 1, 1).ok()?;
            span.numbers(layout, encoded).map(|block| block.last())
        });
        CounterReport {
            key: counter.key.to_string(),
            slot: counter.slot,
            epoch: row.epoch.to_string(),
            base: row.base,
            ceiling: row.ceiling,
            seen: row.seen,
            number_max,
            opened_at_ms: row.opened_at_ms,
        }
    }
}

fn read(definition: &Definition, now: Timestamp) -> SequenceSummary {
    let (top, fault) = match Body::from_text(&definition.body) {
        Ok(top) => (Some(top), None),
        // A definition that can't be verified here, for lack of an obfuscation key, is still shown.
        Err(fault) => (Body::unproven(&definition.body).ok(), Some(fault)),
    };
    summary((definition.name.as_str(), definition.version), (top.as_ref(), fault), now)
}

/// A definition as a list shows it: the version in effect, and those that wait. `named` is its name and its highest
/// version.
pub(super) fn summary(
    named: (&str, u32),
    (top, fault): (Option<&Body>, Option<String>),
    now: Timestamp,
) -> SequenceSummary {
    let (name, version) = named;
    let waiting = top.map_or_else(Vec::new, |top| top.waiting(version, now));
    let template = |body: &Body| Some(body.texts()?.template().to_owned());
    let waiting = waiting.into_iter().filter_map(|(version, body)| {
        let effective = body.shown(body.begins()?);
        Some(WaitingReport { version, effective, template: template(body) })
    });
    let waiting = waiting.collect();
    let in_effect = top.map(|top| top.in_effect(version, now));
    let (version, body) = in_effect.map_or((version, None), |(version, body)| (version, Some(body)));
    let span = body.map(Body::span).unwrap_or_default();
    SequenceSummary {
        sequence: name.to_owned(),
        version,
        placement: body.map_or("unknown", |body| body.placement().as_str()),
        start: span.start(),
        step: span.step(),
        end: span.limit(),
        template: body.and_then(template),
        fault,
        waiting,
    }
}

fn report_dense(span: Option<Span>, row: &DenseRow) -> DenseReport {
    DenseReport {
        key: row.key.to_string(),
        given: row.value,
        number: span.map_or(0, |span| dense_number(span, row.value)),
        begun_at_ms: row.begun_at_ms,
    }
}
