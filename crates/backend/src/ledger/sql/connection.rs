//! Ledger calls on an SQL connection.

use sequent_core::{
    LedgerId,
    ledger::{Answer, DenseAsk, DenseTaken, LedgerInspection, Pass, ServerId},
    other_master,
};

use super::{Examined, Keys, LedgerSession, Records, Scan, Selection, load::load, save::save};
use crate::{
    ledger::{
        Token,
        pooled::{Decide, LedgerConnection},
    },
    net::{Fault, TxMode, refused},
    sql::ServerFacts,
};

impl<S: LedgerSession> LedgerConnection for S {
    const INSPECT_MODE: TxMode = <S as LedgerSession>::INSPECT_MODE;
    const COUNTS_AT_ONCE: bool = S::HAS_COUNT_STATEMENT;

    async fn transact<T: Send + 'static>(
        &mut self,
        selection: &Selection<'_>,
        token: Option<&str>,
        decide: Decide<'_, T>,
    ) -> Result<T, Fault> {
        let mut records = load(self, TxMode::Write, selection).await?;
        records.token = token.map(|text| Token { text: text.to_owned(), instance: self.instance_of(text) });
        let value = decide(&mut records)?;
        save(self, &records).await?;
        Ok(value)
    }

    async fn view(&mut self, selection: &Selection<'_>) -> Result<Records, Fault> {
        load(self, selection.mode(), selection).await
    }

    async fn count_at_once(
        &mut self,
        pass: &Pass<'_>,
        asks: &[DenseAsk],
    ) -> Result<Option<Answer<Vec<DenseTaken>>>, Fault> {
        self.count_in_one_statement(pass, asks).await
    }

    async fn inspect(&mut self) -> Result<LedgerInspection, Fault> {
        inspect(self).await
    }

    async fn examine(&mut self, most: usize) -> Result<Examined, Fault> {
        let inspection = inspect(self).await?;
        let scan = Scan::Rows { slot: None, keys: Keys::All, most };
        let records = load(self, TxMode::Single, &scan.into()).await?;
        let mut facts = self.facts().await?;
        facts.extend(inspection.other_master.as_deref().map(other_master));
        Ok(Examined { inspection, records, facts })
    }

    async fn delist(&mut self, server: ServerId) -> Result<(), Fault> {
        self.execute(S::STATEMENTS.delete_server, vec![server.0.cast_signed().into()]).await?;
        Ok(())
    }
}

async fn inspect<S: LedgerSession>(session: &mut S) -> Result<LedgerInspection, Fault> {
    let (_, clock_ms) = session.hold(TxMode::Single).await?;
    let mut row = session.only(S::STATEMENTS.identity, Vec::new()).await?;
    let (id, version, token) = (row.text()?, row.count()?, row.text()?);
    let id: LedgerId = id
        .parse()
        .map_err(|error: std::num::ParseIntError| refused(format!("ledger id is {id:?}")).because(error))?;
    let ServerFacts { durability, engine } = session.server_facts().await?;
    let other_master = session.other_master().await?;
    let instance = session.instance_of(&token);
    Ok(LedgerInspection { instance, id, version, durability, clock_ms, engine, other_master })
}
