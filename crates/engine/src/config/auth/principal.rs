//! `[[principal]]`: who a token or a certificate stands for, what it may do, and how much of it.

use std::collections::BTreeMap;

use sequent_core::SequenceName;
use sequent_format::Timestamp;

use super::{CertNames, Scopes, TokenHash, Verb};
use crate::config::{
    Fault,
    reading::{
        Reader, Section, section,
        setting::{parsed, text, texts, whole},
    },
};

/// Upper limit of the principals.
const PRINCIPALS_MAX: usize = 10_000;

/// Upper limit of the tokens of a principal: the one in use, and its successor while it is rotated.
const TOKENS_MAX: usize = 2;

/// The name of all callers while `auth.mode` is off.
const EVERYONE: &str = "everyone";

/// The error text for an end that can't be read.
const EXPIRES: &str =
    "a date or an instant in quotes, as \"2027-06-01\" or \"2027-06-01T12:00:00Z\", is expected";

section! {
    /// Who may ask for what, one table each: [tokens](../operating/tokens.md). A running server applies changes:
    /// [reload](../operating/install.md#reload). Each server counts quotas by itself.
    pub(crate) struct PrincipalSection(section) {
        /// The name in errors, metrics and the status.
        name: Option<SequenceName> = parsed("name")
            .expecting("1 to 128 of A-Z a-z 0-9 _ . : - are allowed")
            .allowed("1 to 128 of `A-Z a-z 0-9 _ . : -`")
            .required(),

        /// The SHA-256 of each token: two at most, while one is rotated. It is printed nowhere.
        token_sha256: Vec<String> = texts("token_sha256").secret().allowed("64 hexadecimal digits each").or(Vec::new()),

        /// Patterns over the names of a client certificate (subject alternative names). One with a colon is for URI names,
        /// any other for DNS names. Of several principals that match, the first counts.
        cert_names: Vec<String> = texts("cert_names").allowed("patterns").or(Vec::new()),

        /// From this instant on, or from the beginning of this day in UTC, the principal is refused.
        expires: Option<Timestamp> = text("expires")
            .expecting(EXPIRES)
            .then(|text| PrincipalPart::end_of(&text).ok_or(None))
            .allowed("a date, an instant")
            .optional(),

        /// What the principal may do: [verbs and patterns of names](../operating/tokens.md#verbs). Nothing means
        /// nothing.
        allow: Vec<String> = texts("allow").allowed("`\"next,lease:order*\"`").or(Vec::new()),

        /// What it may not do, whatever is allowed.
        deny: Vec<String> = texts("deny").allowed("`\"next,lease:order*\"`").or(Vec::new()),

        /// How much of it.
        quotas: QuotaLimits => QuotaLimits::read(section),
    }
}

section! {
    /// The quotas of a principal; `None`: no limit.
    #[derive(Copy, Default, PartialEq, Eq)]
    pub struct QuotaLimits(section) {
        /// Requests a second; as many at once.
        requests_per_s: Option<u64> = whole("requests_per_s", 1..=1_000_000).optional(),

        /// Numbers a second; as many at once. A lease has at most as many.
        numbers_per_s: Option<u64> = whole("numbers_per_s", 1..=100_000_000).optional(),

        /// Numbers a day; as many at once, and they come back evenly over a day. A restart forgets what was used.
        numbers_per_day: Option<u64> = whole("numbers_per_day", 1..=10_000_000_000_000).optional(),

        /// Keys a minute that requests bring into use on a server; as many at once.
        new_keys_per_min: Option<u64> = whole("new_keys_per_min", 1..=1_000_000).optional(),

        /// Requests in work at once.
        in_flight_max: Option<u64> = whole("in_flight_max", 1..=20_000).optional(),

        /// The most numbers of one lease.
        lease_max_count: Option<u64> = whole("lease_max_count", 1..=10_000_000).optional(),
    }
}

/// A principal. By default it has no name and may do nothing.
#[derive(Debug, Clone, Default)]
pub struct PrincipalPart {
    /// The name.
    pub name: String,
    /// The hash of each of its tokens.
    pub tokens: Vec<TokenHash>,
    /// Patterns over the names of a client certificate.
    cert_names: CertNames,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// What it may do.
    pub allow: Scopes,
    /// What it may not do, whatever is allowed.
    pub deny: Scopes,
    /// How much of it.
    pub quotas: QuotaLimits,
}

impl PrincipalPart {
    /// Whether it may do something with a sequence. A request without a sequence has the empty name.
    pub fn may(&self, verb: Verb, name: &str) -> bool {
        self.allow.has(verb, name) && !self.deny.has(verb, name)
    }

    /// Whether its end has come.
    pub fn is_expired(&self, wall_ms: u64) -> bool {
        let now = i64::try_from(wall_ms).unwrap_or(i64::MAX);
        self.expires.is_some_and(|expires| expires.as_millisecond() <= now)
    }

    /// The end that a text names: an instant, or the beginning of a day in UTC.
    pub fn end_of(text: &str) -> Option<Timestamp> {
        let day = || format!("{text}T00:00:00Z").parse().ok();
        text.parse().ok().or_else(day)
    }

    /// Whether one of a certificate's names fits a pattern.
    pub fn has_certificate(&self, names: &[String]) -> bool {
        names.iter().any(|name| self.cert_names.has(name))
    }

    /// All callers while `auth.mode` is off. Numbers that a key hides are revealed on loopback alone.
    pub fn everyone(is_loopback: bool) -> Self {
        let reveal: &[Verb] = if is_loopback { &[] } else { &[Verb::Reveal] };
        Self {
            name: EVERYONE.to_owned(),
            allow: Scopes::everything(&Verb::ALL),
            deny: Scopes::everything(reveal),
            ..Self::default()
        }
    }

    /// The principals of a file. No name and no token may be there twice.
    pub(crate) fn all(reader: &mut Reader<'_>) -> Vec<Self> {
        let tables = reader.list("principal").unwrap_or_default();
        if tables.len() > PRINCIPALS_MAX {
            let bound = format!("at most {PRINCIPALS_MAX} are allowed");
            reader.fault(Fault::new("principal", tables.len(), bound));
            return Vec::new();
        }
        let (mut parts, mut names, mut tokens) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for (at, table) in tables.into_iter().enumerate() {
            let mut section = reader.item("principal", at, table);
            let part = Self::checked(&mut section);
            section.finish();
            let Some(part) = part else { continue };
            if let Some(first) = names.insert(part.name.clone(), at) {
                let name = format!("{:?}", part.name);
                let bound = format!("principal[{first}] has the same name: each name once");
                reader.fault(Fault::new(format!("principal[{at}].name"), name, bound));
            }
            let shared = part.tokens.iter().find_map(|token| tokens.insert(*token, at));
            if let Some(first) = shared {
                let bound = format!("principal[{first}] has the same token: each token once");
                reader.fault(Fault::new(format!("principal[{at}].token_sha256"), "not shown", bound));
            }
            parts.push(part);
        }
        parts
    }

    fn checked(section: &mut Section<'_, '_>) -> Option<Self> {
        let before = section.faults();
        let keys = PrincipalSection::read(section);
        let tokens = keys.tokens(section);
        let cert_names = CertNames::read(&keys.cert_names, |pattern, bound| {
            section.fault("cert_names", format!("{pattern:?}"), bound);
        });
        if section.faults() == before && keys.token_sha256.is_empty() && keys.cert_names.is_empty() {
            let bound = "a token or cert_names is expected: nobody could be this principal";
            section.fault("token_sha256", "missing", bound);
        }
        let mut scopes = |key, entries: &[String]| {
            let read = Scopes::parse(entries);
            read.map_err(|bound| section.fault(key, "not readable", bound)).ok()
        };
        let (allow, deny) = (scopes("allow", &keys.allow), scopes("deny", &keys.deny));
        Some(Self {
            name: keys.name?.to_string(),
            tokens,
            cert_names,
            expires: keys.expires,
            allow: allow?,
            deny: deny?,
            quotas: keys.quotas,
        })
    }
}

impl PrincipalSection {
    fn tokens(&self, section: &mut Section<'_, '_>) -> Vec<TokenHash> {
        let found = self.token_sha256.len();
        if found > TOKENS_MAX {
            let bound = format!("at most {TOKENS_MAX} are allowed: the one in use, and its successor");
            section.fault("token_sha256", format!("{found} hashes"), bound);
        }
        let mut tokens = Vec::new();
        for (at, text) in self.token_sha256.iter().enumerate() {
            match text.parse::<TokenHash>() {
                Ok(token) => tokens.push(token),
                Err(bound) => section.fault("token_sha256", format!("not readable at {}", at + 1), bound),
            }
        }
        tokens
    }
}
