//! The traits of `sequent_core::ledger`, each call one step of the book.

use sequent_core::{
    BoxFuture, Durability, Incarnation, Key, Rule, SlotIndex, SourceError,
    ledger::{
        Advanced, Answer, Catalog, Counter, Defined, Definition, Dense, DenseAsk, DenseRow, DenseTaken,
        Identity, Known, LayoutBook, LayoutPage, LayoutRecord, LedgerInspection, Loss, Moved, Opened,
        Opening, Pass, PastLife, Presence, Raise, Raised, Reading, Rebased, Recovery, Retention, Row, Rows,
        ServerId, ShowUp, Word, Words,
    },
};

use super::MemoryLedger;

impl Identity for MemoryLedger {
    fn inspect(&self) -> BoxFuture<'_, Result<LedgerInspection, SourceError>> {
        self.call(|held, now_ms| {
            Ok(LedgerInspection {
                incarnation: held.book.incarnation().clone(),
                id: held.book.id(),
                version: held.book.version(),
                durability: Durability { class: held.class, settings: Vec::new() },
                clock_ms: now_ms,
                engine: crate::memory::VERSION.to_owned(),
                other_master: held.other_master.clone(),
            })
        })
    }

    fn enlist<'a>(
        &'a self,
        under: &'a Incarnation,
        server: ServerId,
        nonce: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        self.call(move |held, now_ms| held.book.enlist(under, server, nonce, now_ms))
    }

    fn rebear<'a>(&'a self, was: &'a Incarnation) -> BoxFuture<'a, Result<Incarnation, SourceError>> {
        self.call(move |held, _| {
            let new = held.speaker.rebear();
            Ok(held.book.rebear(was, new))
        })
    }

    fn known(&self) -> BoxFuture<'_, Result<Known, SourceError>> {
        self.call(|held, _| Ok(held.book.known().clone()))
    }

    fn record<'a>(
        &'a self,
        under: &'a Incarnation,
        slot: Option<SlotIndex>,
        incarnation: &'a Incarnation,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        self.call(move |held, _| held.book.record(under, slot, incarnation))
    }
}

impl Rows for MemoryLedger {
    fn read<'a>(
        &'a self,
        under: &'a Incarnation,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<Reading, SourceError>> {
        self.call(move |held, now_ms| {
            Ok(Reading { rows: held.book.read(under, counters)?, clock_ms: now_ms })
        })
    }

    fn open<'a>(
        &'a self,
        pass: Pass<'a>,
        openings: &'a [Opening],
    ) -> BoxFuture<'a, Result<Answer<Vec<Opened>>, SourceError>> {
        if self.rules.keep(Rule::OpenAtomic) {
            return self.call(move |held, now_ms| held.book.open(&pass, openings, None, now_ms));
        }
        Box::pin(async move {
            let read = self.call(|held, _| Ok(held.book.ceilings(openings))).await?;
            tokio::task::yield_now().await;
            self.call(|held, now_ms| held.book.open(&pass, openings, Some(&read), now_ms)).await
        })
    }

    fn raise<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Vec<Raised>>, SourceError>> {
        self.call(move |held, now_ms| held.book.raise(&pass, raises, now_ms))
    }

    fn moved<'a>(
        &'a self,
        under: &'a Incarnation,
        since: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Moved>, SourceError>> {
        self.call(move |held, _| held.book.moved(under, since, most))
    }

    fn list<'a>(
        &'a self,
        sequence: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<(Counter, Row)>, SourceError>> {
        self.call(move |held, _| Ok(held.book.list(sequence, most)))
    }

    fn history<'a>(&'a self, counter: &'a Counter) -> BoxFuture<'a, Result<Vec<PastLife>, SourceError>> {
        self.call(move |held, _| Ok(held.book.history(counter)))
    }
}

impl ShowUp for MemoryLedger {
    fn show_up<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Presence>, SourceError>> {
        self.call(move |held, now_ms| held.book.show_up(&pass, raises, now_ms))
    }
}

impl LayoutBook for MemoryLedger {
    fn layout(&self) -> BoxFuture<'_, Result<Option<LayoutRecord>, SourceError>> {
        self.call(|held, _| held.book.layout())
    }

    fn found<'a>(&'a self, first: &'a LayoutRecord) -> BoxFuture<'a, Result<LayoutRecord, SourceError>> {
        self.call(move |held, _| held.book.found(first))
    }

    fn page(&self) -> BoxFuture<'_, Result<Option<LayoutPage>, SourceError>> {
        self.call(|held, _| Ok(held.book.page().cloned()))
    }

    fn turn<'a>(
        &'a self,
        held_page: &'a LayoutPage,
        new: &'a LayoutPage,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        self.call(move |held, _| held.book.turn(held_page, new))
    }

    fn rebase<'a>(
        &'a self,
        held_page: &'a LayoutPage,
        keys: &'a [Rebased],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        self.call(move |held, now_ms| held.book.rebase(held_page, keys, now_ms))
    }
}

impl Catalog for MemoryLedger {
    fn definitions(&self) -> BoxFuture<'_, Result<(u64, Vec<Definition>), SourceError>> {
        self.call(|held, _| Ok(held.book.definitions()))
    }

    fn define<'a>(
        &'a self,
        definition: &'a Definition,
        judged: Option<u32>,
    ) -> BoxFuture<'a, Result<Defined, SourceError>> {
        self.call(move |held, _| Ok(held.book.define(definition, judged)))
    }

    fn advanced(&self) -> BoxFuture<'_, Result<Vec<Advanced>, SourceError>> {
        self.call(|held, _| Ok(held.book.advanced()))
    }

    fn advance<'a>(&'a self, advanced: &'a Advanced) -> BoxFuture<'a, Result<u64, SourceError>> {
        self.call(move |held, _| Ok(held.book.advance(advanced)))
    }
}

impl Words for MemoryLedger {
    fn words(&self) -> BoxFuture<'_, Result<Vec<Word>, SourceError>> {
        self.call(|held, now_ms| Ok(held.book.words(now_ms)))
    }

    fn say<'a>(&'a self, word: &'a Word) -> BoxFuture<'a, Result<Word, SourceError>> {
        self.call(move |held, now_ms| Ok(held.book.say(word, now_ms)))
    }
}

impl Dense for MemoryLedger {
    fn count<'a>(
        &'a self,
        pass: Pass<'a>,
        asks: &'a [DenseAsk],
    ) -> BoxFuture<'a, Result<Answer<Vec<DenseTaken>>, SourceError>> {
        self.call(move |held, now_ms| held.book.count(&pass, asks, now_ms))
    }

    fn dense<'a>(
        &'a self,
        under: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<DenseRow>, SourceError>> {
        self.call(move |held, _| Ok(held.book.dense(under, most)))
    }
}

impl Recovery for MemoryLedger {
    fn recover(&self, loss: Loss, version_floor: u64) -> BoxFuture<'_, Result<Incarnation, SourceError>> {
        self.call(move |held, _| {
            let new = held.speaker.rebear();
            Ok(held.book.recover(loss, version_floor, new))
        })
    }
}

impl Retention for MemoryLedger {
    fn keys_between<'a>(
        &'a self,
        slot: SlotIndex,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>, SourceError>> {
        self.call(move |held, _| Ok(held.book.keys_between(slot, from, below, most)))
    }

    fn forget<'a>(
        &'a self,
        fence: &'a Advanced,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        self.call(move |held, _| Ok(held.book.forget(fence, counters)))
    }

    fn dense_between<'a>(
        &'a self,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>, SourceError>> {
        self.call(move |held, _| Ok(held.book.dense_between(from, below, most)))
    }

    fn forget_dense<'a>(
        &'a self,
        fence: &'a Advanced,
        keys: &'a [Key],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        self.call(move |held, _| Ok(held.book.forget_dense(fence, keys)))
    }

    fn fence<'a>(&'a self, fence: &'a Advanced) -> BoxFuture<'a, Result<u64, SourceError>> {
        self.call(move |held, _| Ok(held.book.fence(fence)))
    }
}
