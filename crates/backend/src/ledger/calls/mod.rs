//! Traits of `sequent_core::ledger`: each call is a selection of records and a rule.

mod catalog;
mod dense;
mod epochs;
mod layout;
mod session;

use sequent_core::{
    SourceError,
    ledger::{Answer, Pass},
};

use super::{
    CoreLedger, LedgerEngine, Records, Selection,
    rules::session::{check_session, check_session_unfenced},
};

impl<E: LedgerEngine> CoreLedger<E> {
    /// Runs the parts of a call in order, each in its own transaction with the caller's pass. Returns the results of
    /// all parts, and the version.
    ///
    /// Each part is done whole or not at all. It presents the nonce that the part before wrote: a ledger restored in
    /// between lacks it.
    async fn in_parts<'a, P: Copy + Send + Sync, T: Send + 'static>(
        &self,
        verb: &'static str,
        (pass, is_fenced): (Pass<'a>, bool),
        parts: Vec<P>,
        select: impl Fn(P) -> Selection<'a> + Send + Sync,
        judge: impl Fn(&mut Records, P) -> Vec<T> + Send + Sync,
    ) -> Result<Answer<Vec<T>>, SourceError> {
        let left = [pass.next];
        let mut all = Answer { value: Vec::new(), version: 0 };
        for (at, part) in parts.into_iter().enumerate() {
            let shown = if at == 0 { pass } else { Pass { nonces: &left, ..pass } };
            let selection = Selection { server: Some(pass.server), ..select(part) };
            let (value, version) = self
                .engine
                .transact(verb, &selection, |records| {
                    let check_session = if is_fenced { check_session } else { check_session_unfenced };
                    check_session(records, &shown, self.rules)?;
                    let value = judge(records, part);
                    Ok((value, records.next_version()))
                })
                .await?;
            all.value.extend(value);
            all.version = version;
        }
        Ok(all)
    }
}

/// Splits into parts of at most `most`. An empty list is one part.
fn parts<T>(all: &[T], most: usize) -> Vec<&[T]> {
    if all.is_empty() { vec![all] } else { all.chunks(most.max(1)).collect() }
}
