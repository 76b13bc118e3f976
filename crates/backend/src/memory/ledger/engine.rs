//! Ledger engine in memory: maps behind a mutex.

use std::sync::MutexGuard;

use sequent_core::{
    Durability, ErrorKind, SourceError,
    ledger::{LedgerInspection, ServerId},
};

use super::{Held, MemoryLedgerEngine};
use crate::{
    ledger::{Examined, Keys, LedgerEngine, Records, Refusal, Scan, Selection, Token},
    memory::pause,
};

impl LedgerEngine for MemoryLedgerEngine {
    async fn transact<T: Send + 'static>(
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

    async fn inspect(&self) -> Result<LedgerInspection, SourceError> {
        self.call(|held, now_ms| Ok(held.inspection(now_ms))).await
    }

    async fn examine(&self, most: usize) -> Result<Examined, SourceError> {
        self.call(|held, now_ms| {
            let scan = Scan::Rows { slot: None, keys: Keys::All, most };
            let records = held.state.read(&scan.into(), now_ms);
            Ok(Examined { inspection: held.inspection(now_ms), records, facts: Vec::new() })
        })
        .await
    }

    async fn disconnect(&self, leaving: Option<ServerId>) {
        if let Some(server) = leaving {
            // While the ledger is away, the row stays.
            let _ = self.call(|held, _| Ok(held.state.delist(server))).await;
        }
    }
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
            instance: self.state.instance.clone(),
            id: self.state.id,
            version: self.state.version(),
            durability: Durability { class: self.class, settings: Vec::new() },
            clock_ms: now_ms,
            engine: crate::memory::VERSION.to_owned(),
            other_master: self.other_master.clone(),
        }
    }
}
