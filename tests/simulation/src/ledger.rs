//! A ledger at the other end of a simulated wire.

use sequent_backend::memory::MemoryLedger;
use sequent_core::{
    InstanceId, Key, Reply, SequenceName, SlotIndex,
    ledger::{
        Answer, Catalog, Counter, Defined, Definition, Dense, DenseAsk, DenseRow, DenseTaken, Fence,
        Heartbeat, Identity, Known, LayoutBook, LayoutPage, LayoutRecord, LedgerInspection, LedgerNote, Loss,
        Moved, NoteSubject, Opened, Opening, Pass, PastEpoch, Presence, Raise, Raised, Reading, Rebased,
        Recovery, Retention, Row, Rows, ServerId, SlotCommand, SlotCommands,
    },
};

use super::network::Network;

/// One server's handle to a shared [`MemoryLedger`].
#[derive(Debug, Clone)]
pub(crate) struct SimLedger {
    ledger: MemoryLedger,
    network: Network,
    /// Whether it needs more than one transaction for the rows of a key.
    in_pieces: bool,
}

/// These keys with half of their slots.
fn first_halves(keys: &[Rebased]) -> Vec<Rebased> {
    let half = |Rebased { key, bases }: &Rebased| Rebased {
        key: key.clone(),
        bases: bases[bases.len() / 2..].to_vec(),
    };
    keys.iter().map(half).collect()
}

/// Whether other slots of this key have rows of the next layout already.
fn is_late(ledger: &MemoryLedger, held: &LayoutPage, Rebased { key, bases }: &Rebased) -> bool {
    let Some(change) = held.change() else { return false };
    let (book, marker) = (ledger.snapshot(), change.marker());
    let others = (0..change.next.layout.slots()).filter(|slot| bases.iter().all(|(named, _)| named != slot));
    others
        .map(|slot| Counter { slot, key: key.clone() })
        .any(|counter| book.row(&counter).is_some_and(|row| row.store == marker))
}

impl SimLedger {
    /// A handle over these lines.
    pub(crate) fn new(ledger: MemoryLedger, network: Network) -> Self {
        Self { ledger, network, in_pieces: false }
    }

    /// One whose transactions hold half of a key's rows.
    #[must_use]
    pub(crate) fn in_pieces(self) -> Self {
        Self { in_pieces: true, ..self }
    }
}

/// A [`Pass`] that owns what it shows, to travel in a task of its own.
struct OwnedPass {
    under: InstanceId,
    record: Option<InstanceId>,
    server: ServerId,
    nonces: Vec<u64>,
    next: u64,
    generation: u64,
}

impl OwnedPass {
    fn of(pass: Pass<'_>) -> Self {
        let Pass { under, record, server, nonces, next, generation } = pass;
        Self {
            under: under.clone(),
            record: record.cloned(),
            server,
            nonces: nonces.to_vec(),
            next,
            generation,
        }
    }

    fn show(&self) -> Pass<'_> {
        let Self { under, record, server, nonces, next, generation } = self;
        let record = record.as_ref();
        Pass { under, record, server: *server, nonces, next: *next, generation: *generation }
    }
}

/// Sends `$call` over the wire, with `$ledger` a handle to the shared ledger.
macro_rules! send {
    ($self:ident, $ledger:ident => $call:expr) => {{
        let $ledger = $self.ledger.clone();
        Box::pin($self.network.call(true, async move { $call.await }))
    }};
}

impl Identity for SimLedger {
    fn inspect(&self) -> Reply<'_, LedgerInspection> {
        send!(self, ledger => ledger.inspect())
    }

    fn enlist<'a>(&'a self, under: &'a InstanceId, server: ServerId, nonce: u64) -> Reply<'a, ()> {
        let under = under.clone();
        send!(self, ledger => ledger.enlist(&under, server, nonce))
    }

    fn rebear<'a>(&'a self, was: &'a InstanceId) -> Reply<'a, InstanceId> {
        let was = was.clone();
        send!(self, ledger => ledger.rebear(&was))
    }

    fn known(&self) -> Reply<'_, Known> {
        send!(self, ledger => ledger.known())
    }

    fn record<'a>(
        &'a self,
        under: &'a InstanceId,
        slot: Option<SlotIndex>,
        instance: &'a InstanceId,
    ) -> Reply<'a, ()> {
        let (under, instance) = (under.clone(), instance.clone());
        send!(self, ledger => ledger.record(&under, slot, &instance))
    }
}

impl Rows for SimLedger {
    fn read<'a>(&'a self, under: &'a InstanceId, counters: &'a [Counter]) -> Reply<'a, Reading> {
        let (under, counters) = (under.clone(), counters.to_vec());
        send!(self, ledger => ledger.read(&under, &counters))
    }

    fn open<'a>(&'a self, pass: Pass<'a>, openings: &'a [Opening]) -> Reply<'a, Answer<Vec<Opened>>> {
        let (pass, openings) = (OwnedPass::of(pass), openings.to_vec());
        send!(self, ledger => ledger.open(pass.show(), &openings))
    }

    fn raise<'a>(&'a self, pass: Pass<'a>, raises: &'a [Raise]) -> Reply<'a, Answer<Vec<Raised>>> {
        let (pass, raises) = (OwnedPass::of(pass), raises.to_vec());
        send!(self, ledger => ledger.raise(pass.show(), &raises))
    }

    fn moved<'a>(&'a self, under: &'a InstanceId, since: u64, most: usize) -> Reply<'a, Vec<Moved>> {
        let under = under.clone();
        send!(self, ledger => ledger.moved(&under, since, most))
    }

    fn list<'a>(&'a self, sequence: Option<&'a str>, most: usize) -> Reply<'a, Vec<(Counter, Row)>> {
        let sequence = sequence.map(str::to_owned);
        send!(self, ledger => ledger.list(sequence.as_deref(), most))
    }

    fn history<'a>(&'a self, counter: &'a Counter) -> Reply<'a, Vec<PastEpoch>> {
        let counter = counter.clone();
        send!(self, ledger => ledger.history(&counter))
    }
}

impl Heartbeat for SimLedger {
    fn heartbeat<'a>(&'a self, pass: Pass<'a>, raises: &'a [Raise]) -> Reply<'a, Answer<Presence>> {
        let (pass, raises) = (OwnedPass::of(pass), raises.to_vec());
        send!(self, ledger => ledger.heartbeat(pass.show(), &raises))
    }
}

impl LayoutBook for SimLedger {
    fn layout(&self) -> Reply<'_, Option<LayoutRecord>> {
        send!(self, ledger => ledger.layout())
    }

    fn found<'a>(&'a self, first: &'a LayoutRecord) -> Reply<'a, LayoutRecord> {
        let first = first.clone();
        send!(self, ledger => ledger.found(&first))
    }

    fn page(&self) -> Reply<'_, Option<LayoutPage>> {
        send!(self, ledger => ledger.page())
    }

    fn turn<'a>(&'a self, held: &'a LayoutPage, new: &'a LayoutPage) -> Reply<'a, u64> {
        let (held, new) = (held.clone(), new.clone());
        send!(self, ledger => ledger.turn(&held, &new))
    }

    fn rebase<'a>(&'a self, held: &'a LayoutPage, keys: &'a [Rebased]) -> Reply<'a, u64> {
        Box::pin(async move {
            let mut version = 0;
            for keys in
                if self.in_pieces { vec![first_halves(keys), keys.to_vec()] } else { vec![keys.to_vec()] }
            {
                let (ledger, held) = (self.ledger.clone(), held.clone());
                let write = async move {
                    // A piece that comes late replaces the rows of its own slots alone, and takes none of the others away.
                    let late = |key: &Rebased| is_late(&ledger, &held, key);
                    let keys: Vec<Rebased> = keys.into_iter().filter(|key| !late(key)).collect();
                    ledger.rebase(&held, &keys).await
                };
                version = self.network.call(true, write).await?;
            }
            Ok(version)
        })
    }
}

impl Catalog for SimLedger {
    fn definitions(&self) -> Reply<'_, (u64, Vec<Definition>)> {
        send!(self, ledger => ledger.definitions())
    }

    fn definition<'a>(&'a self, name: &'a SequenceName) -> Reply<'a, Option<Definition>> {
        let name = name.clone();
        send!(self, ledger => ledger.definition(&name))
    }

    fn define<'a>(&'a self, definition: &'a Definition, judged: Option<u32>) -> Reply<'a, Defined> {
        let definition = definition.clone();
        send!(self, ledger => ledger.define(&definition, judged))
    }

    fn notes(&self) -> Reply<'_, Vec<LedgerNote>> {
        none()
    }

    fn noted<'a>(&'a self, about: &'a NoteSubject) -> Reply<'a, u64> {
        let about = about.clone();
        send!(self, ledger => ledger.noted(&about))
    }

    fn note<'a>(&'a self, note: &'a LedgerNote) -> Reply<'a, u64> {
        let note = note.clone();
        send!(self, ledger => ledger.note(&note))
    }
}

impl SlotCommands for SimLedger {
    fn slot_commands(&self) -> Reply<'_, Vec<SlotCommand>> {
        send!(self, ledger => ledger.slot_commands())
    }

    fn say<'a>(&'a self, word: &'a SlotCommand) -> Reply<'a, SlotCommand> {
        let word = word.clone();
        send!(self, ledger => ledger.say(&word))
    }
}

impl Dense for SimLedger {
    fn count<'a>(&'a self, pass: Pass<'a>, asks: &'a [DenseAsk]) -> Reply<'a, Answer<Vec<DenseTaken>>> {
        let (pass, asks) = (OwnedPass::of(pass), asks.to_vec());
        send!(self, ledger => ledger.count(pass.show(), &asks))
    }

    fn dense<'a>(&'a self, under: Option<&'a str>, most: usize) -> Reply<'a, Vec<DenseRow>> {
        let under = under.map(str::to_owned);
        send!(self, ledger => ledger.dense(under.as_deref(), most))
    }
}

impl Recovery for SimLedger {
    fn recover(&self, loss: Loss, version_floor: u64) -> Reply<'_, InstanceId> {
        send!(self, ledger => ledger.recover(loss, version_floor))
    }
}

/// No period is ever over here; layouts are.
impl Retention for SimLedger {
    fn keys_between<'a>(
        &'a self,
        _slot: SlotIndex,
        _from: &'a str,
        _below: &'a str,
        _most: usize,
    ) -> Reply<'a, Vec<Key>> {
        none()
    }

    fn forget<'a>(&'a self, _fence: &'a Fence, _counters: &'a [Counter]) -> Reply<'a, u64> {
        none()
    }

    fn dense_between<'a>(&'a self, _from: &'a str, _below: &'a str, _most: usize) -> Reply<'a, Vec<Key>> {
        none()
    }

    fn forget_dense<'a>(&'a self, _fence: &'a Fence, _keys: &'a [Key]) -> Reply<'a, u64> {
        none()
    }
}

fn none<'a, T: Default + Send + 'a>() -> Reply<'a, T> {
    Box::pin(std::future::ready(Ok(T::default())))
}
