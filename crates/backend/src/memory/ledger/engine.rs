//! Ledger engine in memory: maps behind a mutex.

use std::sync::MutexGuard;

use sequent_core::{
    Durability, ErrorKind, InstanceId, SlotIndex, SourceError,
    ledger::{Counter, DenseRow, LedgerInspection, Moved, PastEpoch, Row, ServerId},
};

use super::{Held, MemoryLedgerEngine};
use crate::{
    ledger::{Examined, Keys, LedgerEngine, Records, Refusal, Selection, Token},
    memory::pause,
};

impl LedgerEngine for MemoryLedgerEngine {
    async fn transact<T: Send>(
        &self,
        _verb: &'static str,
        selection: &Selection<'_>,
        decide: impl Fn(&mut Records) -> Result<T, Refusal> + Send + Sync,
    ) -> Result<T, SourceError> {
        self.call(|held, now_ms| {
            let mut records = held.state.read(selection, now_ms);
            if selection.token {
                let instance = held.current.renew();
                records.token = Some(Token { text: instance.to_string(), instance });
            }
            match decide(&mut records) {
                Ok(value) => {
                    held.state.write(&records);
                    Ok(value)
                }
                Err(Refusal::Answer(error) | Refusal::OtherInstance(error)) => Err(error),
            }
        })
        .await
    }

    async fn view(&self, _verb: &'static str, selection: &Selection<'_>) -> Result<Records, SourceError> {
        self.call(|held, now_ms| Ok(held.state.read(selection, now_ms))).await
    }

    async fn rows(
        &self,
        slot: Option<SlotIndex>,
        keys: Keys<'_>,
        most: usize,
    ) -> Result<Vec<(Counter, Row)>, SourceError> {
        self.call(|held, _| Ok(held.state.rows(slot, keys, most))).await
    }

    async fn dense_rows(&self, keys: Keys<'_>, most: usize) -> Result<Vec<DenseRow>, SourceError> {
        self.call(|held, _| Ok(held.state.dense_rows(keys, most))).await
    }

    async fn history(&self, counter: &Counter) -> Result<Vec<PastEpoch>, SourceError> {
        self.call(|held, _| Ok(held.state.history(counter))).await
    }

    async fn moved(&self, since: u64, most: usize) -> Result<(InstanceId, Vec<Moved>), SourceError> {
        self.call(|held, _| Ok((held.state.instance().clone(), held.state.moved(since, most)))).await
    }

    async fn inspect(&self) -> Result<LedgerInspection, SourceError> {
        self.call(|held, now_ms| Ok(held.inspection(now_ms))).await
    }

    async fn examine(&self, most: usize) -> Result<Examined, SourceError> {
        self.call(|held, now_ms| {
            let layout = held.state.read(&Selection::default(), now_ms).layout;
            let rows = held.state.rows(None, Keys::All, most);
            Ok(Examined { inspection: held.inspection(now_ms), layout, rows, facts: Vec::new() })
        })
        .await
    }

    async fn delist(&self, server: ServerId) -> Result<(), SourceError> {
        self.call(|held, _| {
            held.state.delist(server);
            Ok(())
        })
        .await
    }

    async fn disconnect(&self) {}
}

impl MemoryLedgerEngine {
    async fn call<T>(
        &self,
        act: impl FnOnce(&mut Held, u64) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        pause(self.yields).await;
        let now_ms = self.clock.wall_ms();
        let answer = self.reach().and_then(|mut held| act(&mut held, now_ms));
        pause(self.yields).await;
        answer
    }

    fn reach(&self) -> Result<MutexGuard<'_, Held>, SourceError> {
        let held = self.held();
        if held.away {
            return Err(SourceError::new(ErrorKind::Unavailable, "memory ledger is switched away"));
        }
        Ok(held)
    }
}

impl Held {
    fn inspection(&self, now_ms: u64) -> LedgerInspection {
        LedgerInspection {
            instance: self.state.instance().clone(),
            id: self.state.id(),
            version: self.state.version(),
            durability: Durability { class: self.class, settings: Vec::new() },
            clock_ms: now_ms,
            engine: crate::memory::VERSION.to_owned(),
            other_master: self.other_master.clone(),
        }
    }
}
