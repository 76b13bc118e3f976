//! Ledger calls on definitions, notes, commands, and deleted periods.

use sequent_core::{
    BoxFuture, Key, SequenceName, SlotIndex, SourceError,
    ledger::{
        Catalog, Counter, Defined, Definition, Fence, LedgerNote, NoteSubject, Retention, SlotCommand,
        SlotCommands,
    },
};

use super::parts;
use crate::ledger::{
    CoreLedger, Keys, LedgerEngine, Records, Scan, Selection,
    rules::{self, retention::Expired},
};

/// Records of a deleted counter: its row, its history, its note.
const RECORDS_OF_A_COUNTER: usize = 3;

impl<E: LedgerEngine> Catalog for CoreLedger<E> {
    fn definitions(&self) -> BoxFuture<'_, Result<(u64, Vec<Definition>), SourceError>> {
        Box::pin(async move {
            let selection = Selection { all_definitions: true, ..Selection::default() };
            let records = self.engine.view("read definitions from", &selection).await?;
            Ok((records.catalog, records.definitions))
        })
    }

    fn definition<'a>(
        &'a self,
        name: &'a SequenceName,
    ) -> BoxFuture<'a, Result<Option<Definition>, SourceError>> {
        Box::pin(async move {
            let selection = Selection { definition: Some(name), ..Selection::default() };
            Ok(self.engine.view("read a definition from", &selection).await?.definitions.pop())
        })
    }

    fn define<'a>(
        &'a self,
        definition: &'a Definition,
        judged: Option<u32>,
    ) -> BoxFuture<'a, Result<Defined, SourceError>> {
        Box::pin(async move {
            let selection = Selection { definition: Some(&definition.name), ..Selection::default() };
            let define = |records: &mut _| Ok(rules::catalog::define(records, definition, judged));
            self.engine.transact("define in", &selection, define).await
        })
    }

    fn notes(&self) -> BoxFuture<'_, Result<Vec<LedgerNote>, SourceError>> {
        Box::pin(async move {
            let selection = Selection { all_notes: true, ..Selection::default() };
            let records = self.engine.view("read how far keys were advanced from", &selection).await?;
            Ok(records.notes.into_iter().map(|(about, to)| LedgerNote { about, to }).collect())
        })
    }

    fn noted<'a>(&'a self, about: &'a NoteSubject) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let records = self.engine.view("read a note of", &about_one(about.clone())).await?;
            Ok(records.noted(about))
        })
    }

    fn note<'a>(&'a self, note: &'a LedgerNote) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let selection = about_one(note.about.clone());
            let rise = |records: &mut Records| Ok(records.note(note));
            self.engine.transact("note how far a key is advanced in", &selection, rise).await
        })
    }

    fn note_all<'a>(&'a self, notes: &'a [LedgerNote]) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            let about = notes.iter().map(|note| note.about.clone()).collect();
            let selection = Selection { notes: about, ..Selection::default() };
            let rise = |records: &mut Records| {
                for note in notes {
                    records.note(note);
                }
                Ok(())
            };
            self.engine.transact("note how far keys are advanced in", &selection, rise).await
        })
    }
}

impl<E: LedgerEngine> SlotCommands for CoreLedger<E> {
    fn slot_commands(&self) -> BoxFuture<'_, Result<Vec<SlotCommand>, SourceError>> {
        Box::pin(async move {
            let selection = Selection { commands: true, ..Selection::default() };
            let records = self.engine.view("read commands from", &selection).await?;
            Ok(rules::catalog::commands_in_force(&records))
        })
    }

    fn say<'a>(&'a self, word: &'a SlotCommand) -> BoxFuture<'a, Result<SlotCommand, SourceError>> {
        Box::pin(async move {
            let command = |records: &mut _| Ok(rules::catalog::command(records, word));
            self.engine.transact("command in", &Selection::default(), command).await
        })
    }
}

impl<E: LedgerEngine> Retention for CoreLedger<E> {
    fn keys_between<'a>(
        &'a self,
        slot: SlotIndex,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>, SourceError>> {
        Box::pin(async move {
            let scan = Scan::Rows { slot: Some(slot), keys: Keys::Between(from, below), most };
            let rows = self.engine.view("list rows of", &scan.into()).await?.rows;
            Ok(rows.into_keys().map(|counter| counter.key).collect())
        })
    }

    fn forget<'a>(
        &'a self,
        fence: &'a Fence,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let parts = parts(counters, E::RECORDS_MAX / RECORDS_OF_A_COUNTER);
            self.delete(fence, parts.into_iter().map(Expired::Counters)).await
        })
    }

    fn dense_between<'a>(
        &'a self,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>, SourceError>> {
        Box::pin(async move {
            let scan = Scan::Dense { keys: Keys::Between(from, below), most };
            let dense = self.engine.view("list dense counters of", &scan.into()).await?.dense;
            Ok(dense.into_keys().collect())
        })
    }

    fn forget_dense<'a>(
        &'a self,
        fence: &'a Fence,
        keys: &'a [Key],
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let parts = parts(keys, E::RECORDS_MAX / RECORDS_OF_A_COUNTER);
            self.delete(fence, parts.into_iter().map(Expired::Dense)).await
        })
    }
}

impl<E: LedgerEngine> CoreLedger<E> {
    /// Deletes in parts. The first part writes the fence; each later part requires the fence.
    async fn delete<'a>(
        &self,
        fence: &Fence,
        parts: impl Iterator<Item = Expired<'a>> + Send,
    ) -> Result<u64, SourceError> {
        let (note, mut noted) = (fence.note(), 0);
        for (at, part) in parts.enumerate() {
            let selection = about_one(note.about.clone());
            let selection = match part {
                Expired::Counters(counters) => Selection { counters: counters.iter().collect(), ..selection },
                Expired::Dense(keys) => Selection { dense: keys.iter().collect(), ..selection },
            };
            let delete = |records: &mut Records| {
                let held = if at == 0 { records.note(&note) } else { noted };
                rules::retention::delete(records, &note, part)?;
                Ok(held)
            };
            noted = self.engine.transact("delete counters of", &selection, delete).await?;
        }
        Ok(noted)
    }
}

fn about_one<'a>(about: NoteSubject) -> Selection<'a> {
    Selection { notes: [about].into(), ..Selection::default() }
}
