//! Ledger calls on dense counters.

use sequent_core::{
    BoxFuture, Rule, SourceError,
    ledger::{Answer, Dense, DenseAsk, DenseRow, DenseTaken, Pass},
};

use crate::ledger::{CoreLedger, DenseCount, Keys, LedgerEngine, Records, Scan, Selection, rules};

impl<E: LedgerEngine> Dense for CoreLedger<E> {
    fn count<'a>(
        &'a self,
        pass: Pass<'a>,
        asks: &'a [DenseAsk],
    ) -> BoxFuture<'a, Result<Answer<Vec<DenseTaken>>, SourceError>> {
        Box::pin(async move {
            if self.rules.keep(Rule::RecordCompared)
                && let Some(answer) = self.engine.count_at_once(&pass, asks).await?
            {
                return Ok(answer);
            }
            let select = |part: &'a [DenseAsk]| Selection {
                dense: part.iter().map(|ask| &ask.key).collect(),
                notes: rules::dense::fences(part),
                ..Selection::default()
            };
            let judge = |records: &mut Records, part: &[DenseAsk]| rules::dense::count(records, part);
            let parts = parts(asks, E::RECORDS_MAX);
            self.in_parts("count in", (pass, true), parts, select, judge).await
        })
    }

    fn dense<'a>(
        &'a self,
        under: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<DenseRow>, SourceError>> {
        Box::pin(async move {
            let scan = Scan::Dense { keys: under.map_or(Keys::All, Keys::Of), most };
            let dense = self.engine.view("list dense counters of", &scan.into()).await?.dense;
            let row = |(key, DenseCount { value, begun_at_ms })| DenseRow { key, value, begun_at_ms };
            Ok(dense.into_iter().map(row).collect())
        })
    }
}

/// Splits asks into parts whose counters and fences fit one transaction.
fn parts(mut asks: &[DenseAsk], most: usize) -> Vec<&[DenseAsk]> {
    let mut parts = Vec::new();
    loop {
        let (part, rest) = asks.split_at(rules::dense::fitting(asks, most));
        parts.push(part);
        if rest.is_empty() {
            return parts;
        }
        asks = rest;
    }
}
