//! Loading ledger records from etcd, with the revisions that a write compares.

use sequent_core::{Condition, ErrorKind, InstanceId, SourceError, ledger::NoteSubject};

use super::formats::{KeptCommand, KeptDefinition, KeptDense, KeptLayout, KeptRow, KeptServer, Losses};
use crate::{
    etcd::{
        client::{Kv, Op, Span, Unchanged},
        connection::ClusterId,
        instance::Run,
        json_value::{self, Answers, or_default, unreadable},
        keys::{Names, slot_of},
    },
    ledger::{Records, Selection},
};

/// etcd's default limit of a transaction: comparisons, operations on success, and operations on failure, each.
const OPS_MAX: usize = 128;

/// The records that every transaction reads, beside the server's row.
const HEAD: [&str; 6] = ["run", "layout", "version", "losses", "accepted", "catalog"];

/// The most further records in one transaction, whether read, compared or written. It leaves room for the list of
/// changed rows.
pub(super) const RECORDS_MAX: usize = OPS_MAX - HEAD.len() - 4;

/// Records, with what etcd needs to write them.
pub(super) struct Loaded {
    pub(super) records: Records,
    pub(super) losses: Losses,
    pub(super) run: Run,
    /// The names read, with their revisions: a write of a single record compares them.
    pub(super) unchanged: Vec<Unchanged>,
    /// The revisions of the ledger's version and of the catalog's version. Only some writes compare them.
    pub(super) version: Unchanged,
    pub(super) catalog: Unchanged,
}

/// The reads of a selection. All definitions and all notes are read separately.
pub(super) fn reads(names: &Names, selection: &Selection<'_>) -> Vec<Op> {
    let mut spans: Vec<Span> = HEAD.iter().map(|what| Span::one(names.only(what))).collect();
    spans.extend(selection.server.map(|server| Span::one(names.server(server))));
    spans.extend(selection.counters.iter().map(|counter| Span::one(names.row(counter))));
    spans.extend(selection.dense.iter().map(|key| Span::one(names.dense(key))));
    spans.extend(selection.notes.iter().map(|about| Span::one(names.note(about))));
    spans.extend(selection.definition.map(|name| Span::one(names.definition(name.as_str()))));
    spans.extend(selection.stores.then(|| Span::under(names.stores())));
    spans.extend(selection.commands.then(|| Span::under(names.words())));
    spans.into_iter().map(Op::Read).collect()
}

impl Loaded {
    /// The records from the answers to [`reads`], in the same order.
    pub(super) fn of(
        cluster: ClusterId,
        names: &Names,
        selection: &Selection<'_>,
        mut answers: Answers,
    ) -> Result<Self, SourceError> {
        let mut loaded = Self::head(cluster, names, &mut answers)?;
        if let Some(server) = selection.server {
            let kept: Option<KeptServer> = loaded.next("server", names.server(server), &mut answers)?;
            loaded.records.nonce = kept.map(|kept| kept.nonce);
        }
        for counter in &selection.counters {
            // A write of a row also raises the version, which is compared, so the row needs no comparison of its own.
            if let Some(kv) = answers.one() {
                loaded.records.rows.insert((*counter).clone(), KeptRow::read(&kv, loaded.losses)?);
            }
        }
        for key in &selection.dense {
            let kv = loaded.one(names.dense(key), &mut answers);
            if let Some(kv) = kv {
                loaded.records.dense.insert((*key).clone(), KeptDense::read(&kv, loaded.losses)?);
            }
        }
        for about in &selection.notes {
            let note: Option<u64> = loaded.next("note", names.note(about), &mut answers)?;
            loaded.records.notes.extend(note.map(|to| (about.clone(), to)));
        }
        loaded.catalog(names, selection, &mut answers)?;
        Ok(loaded)
    }

    fn head(cluster: ClusterId, names: &Names, answers: &mut Answers) -> Result<Self, SourceError> {
        let held = HEAD.map(|_| answers.one());
        let [run, layout, version, losses, accepted, catalog] = &held;
        let gone = || {
            let context = "the ledger's run is gone: restore it from a copy";
            SourceError::new(ErrorKind::Refused, context).with(Condition::RunMissing)
        };
        let run: Run = json_value::of("run", run.as_ref().ok_or_else(gone)?)?;
        let losses: Losses = or_default("losses", losses.as_ref())?.0;
        let accepted: Option<String> = or_default("instance", accepted.as_ref())?.0;
        let revision = |kv: &Option<Kv>| kv.as_ref().map_or(0, |kv| kv.mod_revision);
        let [run_at, layout_at, version_at, losses_at, accepted_at, catalog_at] =
            std::array::from_fn(|at| (names.only(HEAD[at]), revision(&held[at])));
        let records = Records {
            version: or_default("version", version.as_ref())?.0,
            catalog: or_default("catalog", catalog.as_ref())?.0,
            floor: losses.floor,
            accepted: accepted.map(InstanceId::new),
            layout: layout.as_ref().map(KeptLayout::read).transpose()?,
            ..Records::of(cluster.instance(&run.token), answers.clock_ms)
        };
        let unchanged = vec![run_at, layout_at, losses_at, accepted_at];
        Ok(Self { records, losses, run, unchanged, version: version_at, catalog: catalog_at })
    }

    fn catalog(
        &mut self,
        names: &Names,
        selection: &Selection<'_>,
        answers: &mut Answers,
    ) -> Result<(), SourceError> {
        if let Some(name) = selection.definition {
            let kv = self.one(names.definition(name.as_str()), answers);
            self.records.definition = kv.as_ref().map(KeptDefinition::read).transpose()?;
        }
        if selection.stores {
            for kv in answers.all().kvs {
                let slot = slot_of(kv.name()?).ok_or_else(|| unreadable("slot"))?;
                self.records.stores.push((slot, InstanceId::new(json_value::of::<String>("instance", &kv)?)));
            }
        }
        if selection.commands {
            for kv in answers.all().kvs {
                let slot = slot_of(kv.name()?).ok_or_else(|| unreadable("slot of a command"))?;
                self.records.commands.push(KeptCommand::read(slot, &kv)?);
            }
        }
        Ok(())
    }

    /// The next answer for a single name. A write compares its revision.
    fn one(&mut self, name: String, answers: &mut Answers) -> Option<Kv> {
        let kv = answers.one();
        self.unchanged.push((name, kv.as_ref().map_or(0, |kv| kv.mod_revision)));
        kv
    }

    fn next<T: serde::de::DeserializeOwned>(
        &mut self,
        what: &str,
        name: String,
        answers: &mut Answers,
    ) -> Result<Option<T>, SourceError> {
        self.one(name, answers).map(|kv| json_value::of(what, &kv)).transpose()
    }
}

/// Parses a note.
pub(super) fn note(names: &Names, kv: &Kv) -> Result<(NoteSubject, u64), SourceError> {
    let about = kv.name()?.strip_prefix(&names.notes()).ok_or_else(|| unreadable("name of a note"))?;
    Ok((NoteSubject::from_stored(about), json_value::of("note", kv)?))
}
