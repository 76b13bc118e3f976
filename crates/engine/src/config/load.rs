//! The whole configuration, checked.

use std::path::PathBuf;

use globset::GlobSet;
use sequent_core::{Layout, NameError, SequenceName};

use super::{
    AuditSection, AuthSection, Fault, Faults, LedgerSection, LimitsSection, ListenSection, Place,
    PrincipalPart, ReservoirSection, RingSection, SequencePart, ServerPlace, ShardPart, Shown, Sources,
    TlsSection, TracesSection,
    locations::{self, put_under},
    reading::{Document, Reader, Section},
    sections::{cluster::ClusterSection, code_tables, obf_key, shard::Shards},
};
use crate::{definition::capacity::AtRisk, stores};

/// n (`ring.shard_bits`) of a new cluster by default.
const SHARD_BITS_DEFAULT: u8 = 2;

/// m (`ring.memory_bits`) of a new cluster by default.
const MEMORY_BITS_DEFAULT: u8 = 0;

/// A configuration without faults.
#[derive(Debug, Clone)]
pub struct Config {
    /// The cluster's name.
    pub cluster: SequenceName,
    /// Names that a first use may define.
    pub auto_create: GlobSet,
    /// The data directory.
    pub data: PathBuf,
    /// Whether there was no configuration file.
    pub embedded: bool,
    /// `[ring]`.
    pub ring: RingSection,
    /// `[[shard]]`; `None`: an SQLite file for each slot in the data directory.
    pub shards: Option<Vec<ShardPart>>,
    /// `[ledger]`.
    pub ledger: LedgerSection,
    /// `[reservoir]`.
    pub reservoir: ReservoirSection,
    /// `[limits]`.
    pub limits: LimitsSection,
    /// `[[sequence]]`.
    pub sequences: Vec<SequencePart>,
    /// `[listen]`.
    pub listen: ListenSection,
    /// `[tls]`.
    pub tls: TlsSection,
    /// `[auth]`.
    pub auth: AuthSection,
    /// `[[principal]]`.
    pub principals: Vec<PrincipalPart>,
    /// `[audit]`.
    pub audit: AuditSection,
    /// `[traces]`.
    pub traces: TracesSection,
    /// The files of `[[obf_key]]`.
    obf_keys: Vec<PathBuf>,
    /// The configuration file, if a secret is written in it.
    with_secret: Option<PathBuf>,
    /// The file.
    file: Option<PathBuf>,
    shown: Vec<Shown>,
    unread: Vec<Fault>,
}

impl Config {
    /// Reads and checks everything. Only the configuration file and the files that it names for keys are read; nothing
    /// is written.
    pub fn load(sources: &Sources) -> Result<Self, Faults> {
        let document = sources.file.as_deref().map(Document::read).transpose()?;
        Self::read(sources, Reader::new(sources, document.unwrap_or_default()))
    }

    fn read(sources: &Sources, mut reader: Reader<'_>) -> Result<Self, Faults> {
        let embedded = sources.file.is_none();
        let mut section = reader.top(&["cluster", "auto_create"]);
        let top = ClusterSection::read(&mut section, embedded);
        let cluster = top.cluster.parse::<SequenceName>().map_err(|error: NameError| error.to_string());
        if let Err(bound) = &cluster {
            section.fault("cluster", format!("{:?}", top.cluster), bound);
        }
        section.finish();
        let auto_create = top.patterns(&mut reader);
        let ring = RingSection::checked(&mut reader, embedded);
        let Shards { parts: mut shards, networked } = Shards::checked(&mut reader, ring.attempt_timeout);
        let mut ledger = LedgerSection::checked(&mut reader, ring.attempt_timeout);
        let reservoir = whole(&mut reader, "reservoir", ReservoirSection::read);
        let limits = whole(&mut reader, "limits", LimitsSection::read);
        let parts = shards.iter().flatten().map(|(_, part)| part.clone()).collect();
        // Keys are read before the templates that name them.
        let obf_keys = obf_key::hold_all(&mut reader, &sources.data);
        let sequences = SequencePart::all(&mut reader, &stores::unused(parts));
        let tls = TlsSection::checked(&mut reader, &sources.data);
        let listen = ListenSection::checked(&mut reader, &tls);
        let auth = whole(&mut reader, "auth", AuthSection::read);
        let before = reader.faults();
        let principals = PrincipalPart::all(&mut reader);
        if reader.faults() == before {
            auth.check(&mut reader, &principals, &listen);
        }
        let audit = AuditSection::checked(&mut reader, &sources.data);
        let traces = whole(&mut reader, "traces", TracesSection::read);
        for (_, part) in shards.iter_mut().flatten() {
            put_under(&sources.data, &mut part.place);
        }
        put_under(&sources.data, &mut ledger.place);
        locations::check(&mut reader, &ring, shards.as_deref().unwrap_or_default(), &ledger);
        if networked && !matches!(ledger.place, Place::Server(_)) && !ledger.single_server {
            let bound = "true is demanded where a shard is reached over a network and the ledger is one machine's alone";
            reader.fault(Fault::new("ledger.single_server", "false", bound));
        }
        let with_secret = sources.file.clone().filter(|_| reader.has_secret_in_file());
        let (shown, unread) = reader.finish()?;
        Ok(Self {
            cluster: cluster.map_err(|bound| Faults(vec![Fault::new("cluster", top.cluster, bound)]))?,
            auto_create,
            data: sources.data.clone(),
            embedded,
            ring,
            shards: shards.map(|parts| parts.into_iter().map(|(_, part)| part).collect()),
            ledger,
            reservoir,
            limits,
            sequences,
            listen,
            tls,
            auth,
            principals,
            audit,
            traces,
            obf_keys,
            with_secret,
            file: sources.file.clone(),
            shown,
            unread,
        })
    }

    /// Each value in force with its origin.
    pub fn shown(&self) -> &[Shown] {
        &self.shown
    }

    /// Variables that begin with `SEQUENT_` and that nothing reads: probably misspelled, or of another version.
    pub fn unread(&self) -> &[Fault] {
        &self.unread
    }

    /// The files that hold secrets, each with the key that names it.
    pub(crate) fn secret_files(&self) -> Vec<(&'static str, PathBuf)> {
        let of_server = |(_, server): (_, &ServerPlace)| {
            let options = &server.options;
            [("password_file", options.password_file.clone()), ("tls_key_file", options.tls_key_file.clone())]
        };
        let obf_keys = self.obf_keys.iter().map(|path| ("obf_key.file", Some(path.clone())));
        let all = self.servers().flat_map(of_server).chain(obf_keys);
        let tls_key = ("tls.key_file", self.tls.key_file.clone());
        let all = all.chain([("the configuration with a password", self.with_secret.clone()), tls_key]);
        let mut files: Vec<_> = all.filter_map(|(key, path)| Some((key, path?))).collect();
        files.sort();
        files.dedup();
        files
    }

    /// The files that say who may do what, each with the key that names it.
    pub(crate) fn setting_files(&self) -> Vec<(&'static str, PathBuf)> {
        let files = [
            ("the configuration", &self.file),
            ("tls.cert_file", &self.tls.cert_file),
            ("tls.key_file", &self.tls.key_file),
            ("tls.client_ca_file", &self.tls.client_ca_file),
        ];
        files.into_iter().filter_map(|(key, path)| Some((key, path.clone()?))).collect()
    }

    /// The layout of a new cluster.
    pub fn first_layout(&self) -> Layout {
        let n = self.ring.shard_bits.unwrap_or(SHARD_BITS_DEFAULT);
        let m = self.ring.memory_bits.unwrap_or(MEMORY_BITS_DEFAULT);
        // Both settings are checked as they are read: the last resort is never used.
        Layout::new(n, m).unwrap_or(Layout::WIDEST)
    }

    /// The store of each slot that has one, ascending.
    pub fn shards_of(&self, layout: Layout) -> Vec<ShardPart> {
        let mut parts = self.shards.clone().unwrap_or_else(|| {
            let file = |slot| Place::Sqlite(self.data.join(format!("shard-{slot}.db")));
            (0..layout.slots()).map(|slot| ShardPart { slot, place: file(slot) }).collect()
        });
        parts.sort_by_key(|part| part.slot);
        code_tables::compare_with_ring(&mut parts, layout.slots());
        parts
    }
}

impl AtRisk {
    /// The limits of a configuration.
    pub fn of(config: &Config) -> Self {
        Self {
            held_max: config.reservoir.at_risk_max,
            lease_max: config.limits.lease_max_count,
            servers: config.reservoir.servers,
        }
    }
}

/// A section whose settings are independent of each other.
fn whole<T>(reader: &mut Reader<'_>, name: &'static str, read: impl FnOnce(&mut Section<'_, '_>) -> T) -> T {
    let mut section = reader.section(name);
    let values = read(&mut section);
    section.finish();
    values
}
