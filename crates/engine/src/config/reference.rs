//! The tables of `docs/reference/config.md`, from the sections' comments.

use std::{fmt::Write, time::Duration};

use sequent_backend::{kinds::Role, net::DRIVERS};
use toml::Table;

use super::{
    AuditSection, AuthSection, LedgerSection, LimitsSection, ListenSection, Place, ReservoirSection,
    RingSection, Sources, TlsSection, TracesSection,
    auth::PrincipalSection,
    reading::{Document, Reader, Section, setting::About},
    sections::{
        cluster::ClusterSection, code_tables::CodeTablesSection, obf_key::ObfKeySection, place::PlaceSection,
        sequence::SequenceSection, server::ServerSection, shard::ShardSection,
    },
};

/// The time limit of attempts by default, on which other defaults depend.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(1);

/// The tables of all keys, in Markdown. A test compares them with the page.
pub fn reference() -> String {
    let mut page = String::new();
    let mut add = |heading, doc, variants: &[(&str, Rows)]| table(&mut page, heading, doc, variants);
    let top = |embedded| rows(|section| ClusterSection::read(section, embedded));
    add("Top level", ClusterSection::DOC, &[("", top(false)), ("without a file", top(true))]);
    let ring = |embedded| rows(|section| RingSection::read(section, embedded));
    add("`[ring]`", RingSection::DOC, &[("", ring(false)), ("without a file", ring(true))]);
    let shard = rows(|section| {
        let (slot, place) = (ShardSection::read(section), PlaceSection::read(section, Role::Store));
        (slot, place, CodeTablesSection::read(section, true))
    });
    add("`[[shard]]`", ShardSection::DOC, &[("", shard)]);
    let ledger = |section: &mut Section<'_, '_>| LedgerSection::read(section, Place::Memory);
    let ledger = rows(|section| (PlaceSection::read(section, Role::Ledger), ledger(section)));
    add("`[ledger]`", LedgerSection::DOC, &[("", ledger)]);
    let server = |driver| rows(|section| ServerSection::read(section, driver, ATTEMPT_TIMEOUT));
    add("Servers", ServerSection::DOC, &DRIVERS.map(|driver| (driver.name, server(driver))));
    add("`[reservoir]`", ReservoirSection::DOC, &[("", rows(ReservoirSection::read))]);
    add("`[limits]`", LimitsSection::DOC, &[("", rows(LimitsSection::read))]);
    add("`[listen]`", ListenSection::DOC, &[("", rows(ListenSection::read))]);
    add("`[tls]`", TlsSection::DOC, &[("", rows(TlsSection::read))]);
    add("`[auth]`", AuthSection::DOC, &[("", rows(AuthSection::read))]);
    add("`[[principal]]`", PrincipalSection::DOC, &[("", rows(PrincipalSection::read))]);
    add("`[audit]`", AuditSection::DOC, &[("", rows(AuditSection::read))]);
    add("`[traces]`", TracesSection::DOC, &[("", rows(TracesSection::read))]);
    add("`[[obf_key]]`", ObfKeySection::DOC, &[("", rows(ObfKeySection::read))]);
    add("`[[sequence]]`", SequenceSection::DOC, &[("", rows(SequenceSection::read))]);
    page
}

/// A section's settings with their comments.
type Rows = Vec<(&'static str, About)>;

/// The settings that a section reads, of a table with the keys that make others useful.
fn rows<T>(read: impl FnOnce(&mut Section<'_, '_>) -> T) -> Rows {
    let sources = Sources::embedded("");
    let mut reader = Reader::new(&sources, Document::default());
    let keys = [
        ("store", "sqlite"),
        ("tls", "verify"),
        ("template", "@{seq}"),
        ("mode", "require"),
        ("client_auth", "required"),
    ];
    let keys = keys.map(|(key, value)| (key.to_owned(), value.into()));
    read(&mut reader.item("", 0, Table::from_iter(keys)));
    reader.rows
}

/// A table of a section's keys. It has several variants if other keys determine which keys it has, and their defaults.
fn table(page: &mut String, heading: &str, doc: &str, variants: &[(&str, Rows)]) {
    let head = "| key | default | allowed | |\n|---|---|---|---|";
    let _ = write!(page, "\n### {heading}\n\n{}\n\n{head}\n", one_line(doc));
    let rows = variants.iter().map(|(_, rows)| rows.len()).max().unwrap_or_default();
    for at in 0..rows {
        let all = variants.iter().filter_map(|(name, rows)| Some((*name, rows.get(at)?)));
        let used: Vec<_> = all.filter(|(_, (_, about))| about.unused.is_none()).collect();
        let Some((_, (doc, about))) = used.first() else { continue };
        let column = |value: fn(&About) -> String| {
            by_variant(used.iter().map(|(name, (_, about))| (*name, value(about))))
        };
        let default = column(|about| about.default.as_deref().map_or_else(|| "required".to_owned(), code));
        let allowed = column(|about| about.allowed.clone());
        let names: Vec<&str> = used.iter().map(|(name, _)| *name).collect();
        let only =
            if used.len() < variants.len() { format!(" Only {}.", names.join(", ")) } else { String::new() };
        let _ = writeln!(page, "| `{}` | {default} | {allowed} | {}{only} |", about.key, one_line(doc));
    }
}

/// The cell of a column: one value if all variants share it, otherwise each value with its variants.
fn by_variant<'v>(values: impl Iterator<Item = (&'v str, String)>) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, value) in values {
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, names)) => names.push(name),
            None => groups.push((value, vec![name])),
        }
    }
    let is_shared = groups.len() == 1;
    let shown = groups.into_iter().map(|(value, names)| match names.join(", ") {
        names if is_shared || names.is_empty() => value,
        names => format!("{value} ({names})"),
    });
    shown.collect::<Vec<_>>().join("; ")
}

/// A default, as code unless it is a number or missing.
fn code(default: &str) -> String {
    let is_plain = default == "none" || default.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { default.to_owned() } else { format!("`{default}`") }
}

fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
