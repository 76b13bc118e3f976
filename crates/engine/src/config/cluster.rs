//! The whole configuration, checked.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use globset::{Glob, GlobSet, GlobSetBuilder};
use sequent_core::{Layout, LayoutError, NameError, SequenceName};
use toml::Table;

use super::{
    Fault, Faults, LedgerPart, LimitsPart, ListenPart, Place, ReservoirPart, RingPart, SequencePart,
    ShardPart, Shown, Sources, TableReader, TracesPart,
    collector::Collector,
    locations::{self, put_under},
    sections::obf_key,
};
use crate::{
    definition::{Placement, capacity::AtRisk},
    stores::{self, Shard},
};

/// Default of n (`ring.shard_bits`) for a new cluster.
const SHARD_BITS_DEFAULT: u8 = 2;

/// Default of m (`ring.memory_bits`) for a new cluster.
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
    pub ring: RingPart,
    /// `[[shard]]`; `None`: an SQLite file for each slot in the data directory.
    pub shards: Option<Vec<ShardPart>>,
    /// `[ledger]`.
    pub ledger: LedgerPart,
    /// `[reservoir]`.
    pub reservoir: ReservoirPart,
    /// `[limits]`.
    pub limits: LimitsPart,
    /// `[[sequence]]`.
    pub sequences: Vec<SequencePart>,
    /// `[listen]`.
    pub listen: ListenPart,
    /// `[traces]`.
    pub traces: TracesPart,
    shown: Vec<Shown>,
}

impl Config {
    /// Reads and checks everything. Only the configuration file and the files that it names for keys are read; nothing
    /// is written.
    pub fn load(sources: &Sources) -> Result<Self, Faults> {
        let text = match &sources.file {
            None => String::new(),
            Some(file) => std::fs::read_to_string(file).map_err(|error| {
                Faults(vec![Fault::new(file.display().to_string(), "not readable", error.to_string())])
            })?,
        };
        let root: Table = text.parse().map_err(|error: toml::de::Error| {
            let (line, column) = position(&text, error.span().map_or(0, |span| span.start));
            let file = sources.file.as_deref().unwrap_or(Path::new("")).display();
            let key = format!("{file} line {line} column {column}");
            Faults(vec![Fault::new(key, "not TOML", error.message())])
        })?;
        Self::read(sources, root)
    }

    fn read(sources: &Sources, root: Table) -> Result<Self, Faults> {
        let embedded = sources.file.is_none();
        let mut checker = Collector::new(sources, root);
        let (cluster, auto_create) = top(checker.top(&["cluster", "auto_create"]), embedded);
        let ring = RingPart::read(checker.section("ring"), embedded);
        let (mut shards, networked) = shards(&mut checker, ring.health.attempt_timeout);
        let mut ledger = LedgerPart::read(checker.section("ledger"), ring.health.attempt_timeout);
        let reservoir = ReservoirPart::read(checker.section("reservoir"));
        let limits = LimitsPart::read(checker.section("limits"));
        let parts = shards.iter().flatten().map(|(_, part)| part.clone()).collect();
        // Keys are read before the templates that name them.
        obf_key::read(&mut checker, &sources.data);
        let sequences = sequences(&mut checker, &stores::unused(parts));
        let listen = ListenPart::read(checker.section("listen"));
        let traces = TracesPart::read(checker.section("traces"));
        for (_, part) in shards.iter_mut().flatten() {
            put_under(&sources.data, &mut part.place);
        }
        put_under(&sources.data, &mut ledger.place);
        locations::check(&mut checker, &ring, shards.as_deref().unwrap_or_default(), &ledger);
        if let Err(fault) = &cluster {
            checker.fault(fault.clone());
        }
        if networked && !matches!(ledger.place, Place::Server(_)) && !ledger.single_server {
            let bound = "true is demanded where a shard is reached over a network and the ledger is one machine's alone";
            checker.fault(Fault::new("ledger.single_server", "false", bound));
        }
        let shown = checker.finish()?;
        Ok(Self {
            cluster: cluster.map_err(|fault| Faults(vec![fault]))?,
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
            traces,
            shown,
        })
    }

    /// Each value in force with its origin.
    pub fn shown(&self) -> &[Shown] {
        &self.shown
    }

    /// The layout of a new cluster.
    pub fn first_layout(&self) -> Result<Layout, LayoutError> {
        let n = self.ring.shard_bits.unwrap_or(SHARD_BITS_DEFAULT);
        Layout::new(n, self.ring.memory_bits.unwrap_or(MEMORY_BITS_DEFAULT))
    }

    /// The store of each slot that has one, ascending.
    pub fn shards_of(&self, layout: Layout) -> Vec<ShardPart> {
        let mut parts = self.shards.clone().unwrap_or_else(|| {
            let file = |slot| Place::Sqlite(self.data.join(format!("shard-{slot}.db")));
            (0..layout.slots()).map(|slot| ShardPart { slot, place: file(slot) }).collect()
        });
        parts.sort_by_key(|part| part.slot);
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

fn top(mut section: TableReader<'_, '_>, embedded: bool) -> (Result<SequenceName, Fault>, GlobSet) {
    let text = section.text("cluster").unwrap_or_else(|| {
        section.default_shown("cluster", "\"embedded\"".to_owned());
        "embedded".to_owned()
    });
    let named = text
        .parse()
        .map_err(|error: NameError| Fault::new("cluster", format!("{text:?}"), error.to_string()));
    let patterns = section.texts("auto_create").unwrap_or_else(|| {
        let default = if embedded { vec!["*".to_owned()] } else { Vec::new() };
        section.default_shown("auto_create", format!("{default:?}"));
        default
    });
    let mut globs = GlobSetBuilder::new();
    for pattern in patterns {
        match Glob::new(&pattern) {
            Ok(glob) => drop(globs.add(glob)),
            Err(error) => section.fault("auto_create", format!("{pattern:?}"), error.kind().to_string()),
        }
    }
    section.finish();
    (named, globs.build().unwrap_or_else(|_| GlobSet::empty()))
}

/// The shards with their positions in the file's list, and whether any is on a server.
fn shards(checker: &mut Collector<'_>, attempt: Duration) -> (Option<Vec<(usize, ShardPart)>>, bool) {
    let Some(tables) = checker.list("shard") else { return (None, false) };
    if tables.is_empty() {
        checker.fault(Fault::new(
            "shard",
            "empty",
            "at least one [[shard]], or none of them for the embedded default",
        ));
    }
    let mut parts = Vec::new();
    let mut networked = false;
    for (at, table) in tables.into_iter().enumerate() {
        let (part, over_network) = ShardPart::read(checker.item("shard", at, table), attempt);
        networked |= over_network;
        parts.extend(part.map(|part| (at, part)));
    }
    (Some(parts), networked)
}

/// The sequences. Every store must be able to hold each of them.
fn sequences(checker: &mut Collector<'_>, shards: &[Shard]) -> Vec<SequencePart> {
    let mut parts = Vec::new();
    let mut names: BTreeMap<SequenceName, usize> = BTreeMap::new();
    for (at, table) in checker.list("sequence").unwrap_or_default().into_iter().enumerate() {
        let Some(part) = SequencePart::read(checker.item("sequence", at, table)) else { continue };
        let key = part.body.example_key(&part.name).map_err(|error| error.to_string());
        let counts_here = part.body.placement() == Placement::Spread;
        if let Err(bound) = key.and_then(|key| if counts_here { stores::hold(shards, &key) } else { Ok(()) })
        {
            let name = format!("{:?}", part.name.as_str());
            checker.fault(Fault::new(format!("sequence[{at}].name"), name, bound));
        }
        if let Some(first) = names.insert(part.name.clone(), at) {
            let bound = format!("sequence[{first}] has the same name: each name once");
            checker.fault(Fault::new(
                format!("sequence[{at}].name"),
                format!("{:?}", part.name.as_str()),
                bound,
            ));
        }
        parts.push(part);
    }
    parts
}

/// Line and column, from 1, of a byte.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
