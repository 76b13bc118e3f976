//! What a configuration allows and an operator should know: `config check`, a server's start and `doctor` name it.

use std::{collections::BTreeMap, fmt, net::IpAddr};

use sequent_core::{SlotIndex, word_enum};
use sequent_format::Timestamp;

use super::{Config, Place, SequencePart, ServerPlace, Tls};
use crate::definition::capacity::AtRisk;

/// How long before its end a principal is named.
const EXPIRES_SOON_MS: i64 = 14 * 24 * 3600 * 1000;

word_enum! {
    /// What a caution is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum CautionKind {
        /// Other users of the machine can read a file with a secret.
        SecretReadable = "secret_readable",
        /// Other users of the machine can change the configuration, or who is trusted by certificate.
        SettingsWritable = "settings_writable",
        /// Other users of the machine can read or change the data.
        DataReadable = "data_readable",
        /// Connections to another host are not encrypted.
        Plaintext = "plaintext",
        /// Callers of other hosts can define any name.
        AutoCreateOpen = "auto_create_open",
        /// A principal has expired, or will soon.
        PrincipalExpires = "principal_expires",
        /// Slots, or a slot and the ledger, are on one host.
        OneHost = "one_host",
        /// A new definition of a sequence is refused; one in force stays.
        NotDefinable = "not_definable",
    }
}

/// The place that a caution is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CautionPlace {
    /// The ledger.
    Ledger,
    /// The store of a slot.
    Slot(SlotIndex),
    /// The cluster, or its machine.
    Cluster,
}

impl fmt::Display for CautionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ledger => f.write_str("the ledger"),
            Self::Slot(slot) => write!(f, "slot {slot}"),
            Self::Cluster => f.write_str("the cluster"),
        }
    }
}

/// Something that is allowed and that an operator should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caution {
    /// What it is about.
    pub kind: CautionKind,
    /// The place.
    pub place: CautionPlace,
    /// What was found.
    pub found: String,
}

impl Caution {
    pub(crate) fn new(kind: CautionKind, place: CautionPlace, found: impl Into<String>) -> Self {
        Self { kind, place, found: found.into() }
    }
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.found)
    }
}

impl Config {
    /// What the settings allow, by place, at a time in milliseconds since 1970. Touches nothing.
    pub fn cautions(&self, now_ms: u64) -> Vec<Caution> {
        let mut cautions: Vec<Caution> =
            self.servers().filter_map(|(place, server)| plaintext(place, server)).collect();
        cautions.extend(self.auto_create_open());
        cautions.extend(self.expiring(now_ms));
        cautions.extend(self.shared_hosts());
        cautions.extend(self.not_definable());
        cautions.sort_by_key(|caution| (caution.place, caution.kind));
        cautions
    }

    /// The ledger and the stores that are on servers.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (CautionPlace, &ServerPlace)> {
        let ledger = std::iter::once((CautionPlace::Ledger, &self.ledger.place));
        let shards = self.shards.iter().flatten();
        let shards = shards.map(|part| (CautionPlace::Slot(part.slot), &part.place));
        ledger.chain(shards).filter_map(|(at, place)| match place {
            Place::Server(server) => Some((at, &**server)),
            Place::Sqlite(_) | Place::Memory => None,
        })
    }

    /// Names of any form may be defined by callers of other hosts.
    fn auto_create_open(&self) -> Option<Caution> {
        let listen = [("grpc", self.listen.grpc), ("http", self.listen.http)];
        let beyond = listen.iter().find(|(_, address)| !address.ip().is_loopback());
        // No name has this letter: what fits it fits any name.
        let (name, address) = beyond.filter(|_| self.auto_create.is_match("~"))?;
        let found = format!("auto_create fits every name, and listen.{name} is {address}");
        Some(Caution::new(CautionKind::AutoCreateOpen, CautionPlace::Cluster, found))
    }

    /// Principals whose end has come, or will within [`EXPIRES_SOON_MS`].
    fn expiring(&self, now_ms: u64) -> impl Iterator<Item = Caution> {
        let now = i64::try_from(now_ms).unwrap_or(i64::MAX);
        let told = move |name: &str, end: Timestamp| {
            let left = end.as_millisecond().saturating_sub(now);
            let verb = if left <= 0 { "expired" } else { "expires" };
            let found = format!("principal {name} {verb} at {end}");
            (left < EXPIRES_SOON_MS)
                .then(|| Caution::new(CautionKind::PrincipalExpires, CautionPlace::Cluster, found))
        };
        self.principals.iter().filter_map(move |principal| told(&principal.name, principal.expires?))
    }

    /// Sequences that could skip more than the file's own bounds allow. Whether one is in force, only the ledger knows.
    fn not_definable(&self) -> Vec<Caution> {
        let layout = self.first_layout();
        let refused = |part: &SequencePart| {
            let fault = part.body.check_layout(layout, AtRisk::of(self)).err()?;
            let found = format!("sequence {} is refused unless it is in force: {fault}", part.name);
            Some(Caution::new(CautionKind::NotDefinable, CautionPlace::Cluster, found))
        };
        self.sequences.iter().filter_map(refused).collect()
    }

    /// Hosts that would take several places with them. Loopback is left out: behind its ports may be proxies to
    /// other hosts.
    fn shared_hosts(&self) -> Vec<Caution> {
        let mut hosts: BTreeMap<&str, Vec<CautionPlace>> = BTreeMap::new();
        for (place, server) in self.servers() {
            let names = server.options.url.hosts().iter().map(|host| host.name.as_str());
            for name in names.filter(|name| is_beyond(name)) {
                hosts.entry(name).or_default().push(place);
            }
        }
        let shared = hosts.into_iter().filter(|(_, places)| places.len() > 1);
        shared
            .map(|(host, places)| {
                let places: Vec<String> = places.iter().map(ToString::to_string).collect();
                let found = format!("{} are on host {host}", places.join(", "));
                Caution::new(CautionKind::OneHost, CautionPlace::Cluster, found)
            })
            .collect()
    }
}

fn plaintext(place: CautionPlace, server: &ServerPlace) -> Option<Caution> {
    let url = &server.options.url;
    let host = url.hosts().iter().find(|host| is_beyond(&host.name));
    let host = host.filter(|_| server.options.tls == Tls::Off)?;
    let what =
        if url.user().is_some() { "the password and every number cross" } else { "every number crosses" };
    let found = format!("{what} the network to {} in clear", host.name);
    Some(Caution::new(CautionKind::Plaintext, place, found))
}

/// Whether a host may be another machine: no loopback name or address, and no directory of a Unix socket.
fn is_beyond(host: &str) -> bool {
    let is_loopback = host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    !is_loopback && host != "localhost" && !host.starts_with('/')
}
