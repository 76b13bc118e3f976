//! Ledger calls on rows: opening epochs, raising ceilings, and the heartbeat.

use sequent_core::{
    BoxFuture, InstanceId, Rule, SourceError,
    ledger::{
        Answer, Counter, Heartbeat, Moved, Opened, Opening, Pass, PastEpoch, Presence, Raise, Raised,
        Reading, Row, Rows,
    },
};

use super::parts;
use crate::{
    ledger::{CoreLedger, Keys, LedgerEngine, Records, Scan, Selection, rules},
    net::refused,
};

/// Records of an opening: its row, and the ended epoch in the history.
const RECORDS_OF_AN_OPENING: usize = 2;

impl<E: LedgerEngine> Rows for CoreLedger<E> {
    fn batch_max(&self) -> usize {
        E::BATCH_MAX
    }

    fn read<'a>(
        &'a self,
        under: &'a InstanceId,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<Reading, SourceError>> {
        Box::pin(async move {
            let mut reading = Reading { rows: Vec::with_capacity(counters.len()), clock_ms: 0 };
            for part in parts(counters, E::RECORDS_MAX) {
                let selection = Selection { counters: part.iter().collect(), ..Selection::default() };
                let records = self.engine.view("read rows from", &selection).await?;
                rules::session::check_instance(&records, under)?;
                reading.rows.extend(part.iter().map(|counter| records.rows.get(counter).cloned()));
                reading.clock_ms = records.clock_ms;
            }
            Ok(reading)
        })
    }

    fn open<'a>(
        &'a self,
        pass: Pass<'a>,
        openings: &'a [Opening],
    ) -> BoxFuture<'a, Result<Answer<Vec<Opened>>, SourceError>> {
        Box::pin(async move {
            // R10
            if !self.rules.keep(Rule::OpenAtomic) {
                return self.open_in_two_steps(pass, openings).await;
            }
            let parts = parts(openings, E::RECORDS_MAX / RECORDS_OF_AN_OPENING);
            let judge =
                |records: &mut Records, part: &[Opening]| rules::epochs::open(records, part, self.rules);
            self.in_parts("open is in", (pass, true), parts, of_openings, judge).await
        })
    }

    fn raise<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Vec<Raised>>, SourceError>> {
        Box::pin(async move {
            let shown = (pass, self.rules.keep(Rule::SameLedger));
            let judge =
                |records: &mut Records, part: &[Raise]| rules::epochs::raise(records, part, self.rules);
            let parts = parts(raises, E::RECORDS_MAX);
            self.in_parts("raise ceilings in", shown, parts, of_raises, judge).await
        })
    }

    fn moved<'a>(
        &'a self,
        under: &'a InstanceId,
        since: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Moved>, SourceError>> {
        Box::pin(async move {
            let scan = Scan::Moved { since, most };
            let records = self.engine.view("read what moved in", &scan.into()).await?;
            rules::session::check_instance(&records, under)?;
            Ok(records.moved)
        })
    }

    fn list<'a>(
        &'a self,
        sequence: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<(Counter, Row)>, SourceError>> {
        Box::pin(async move {
            let scan = Scan::Rows { slot: None, keys: sequence.map_or(Keys::All, Keys::Of), most };
            Ok(self.engine.view("list rows of", &scan.into()).await?.rows.into_iter().collect())
        })
    }

    fn history<'a>(&'a self, counter: &'a Counter) -> BoxFuture<'a, Result<Vec<PastEpoch>, SourceError>> {
        Box::pin(async move {
            let scan = Scan::History(counter);
            Ok(self.engine.view("read history from", &scan.into()).await?.history)
        })
    }
}

impl<E: LedgerEngine> Heartbeat for CoreLedger<E> {
    fn heartbeat<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Presence>, SourceError>> {
        Box::pin(async move {
            let shown = (pass, self.rules.keep(Rule::SameLedger));
            let select = |part| Selection { commands: true, ..of_raises(part) };
            let judge = |records: &mut Records, part: &[Raise]| {
                vec![Presence {
                    raised: rules::epochs::raise(records, part, self.rules),
                    words: rules::catalog::commands_in_force(records),
                    catalog_version: records.catalog,
                    clock_ms: records.clock_ms,
                }]
            };
            let parts = parts(raises, E::RECORDS_MAX);
            let Answer { value, version } =
                self.in_parts("heartbeat at", shown, parts, select, judge).await?;
            // There is at least one part. Commands, catalog version and clock are taken from the last one.
            let value = value.into_iter().reduce(|mut before, after| {
                before.raised.extend(after.raised);
                Presence { raised: before.raised, ..after }
            });
            Ok(Answer { value: value.ok_or_else(|| refused("a call without a part"))?, version })
        })
    }
}

impl<E: LedgerEngine> CoreLedger<E> {
    /// Mutation of R10: opens over ceilings that an earlier transaction read.
    async fn open_in_two_steps(
        &self,
        pass: Pass<'_>,
        openings: &[Opening],
    ) -> Result<Answer<Vec<Opened>>, SourceError> {
        let records = self.engine.view("read rows from", &of_openings(openings)).await?;
        let read = rules::epochs::ceilings(&records, openings);
        tokio::task::yield_now().await;
        let judge = |records: &mut Records, part: &[Opening]| {
            rules::epochs::open_over(records, part, &read, self.rules)
        };
        self.in_parts("open is in", (pass, true), vec![openings], of_openings, judge).await
    }
}

fn of_openings(openings: &[Opening]) -> Selection<'_> {
    Selection { counters: openings.iter().map(|opening| &opening.counter).collect(), ..Selection::default() }
}

fn of_raises(raises: &[Raise]) -> Selection<'_> {
    Selection { counters: raises.iter().map(|raise| &raise.counter).collect(), ..Selection::default() }
}
