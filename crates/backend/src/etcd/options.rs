//! How a cluster is reached, and how much of it is used.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use sequent_core::{Clock, Entropy, ErrorKind, OsEntropy, SourceError, SystemClock};

use super::tls::EtcdTls;
use crate::wire::{Address, Password};

const EXPECTED: &str = "http://user:password@host:2379,http://host:2379/prefix";
const PORT: u16 = 2379;

/// Where nobody names a prefix.
const PREFIX: &str = "sequent";

/// The longest prefix, in bytes: it stands in every name.
const PREFIX_LENGTH_MAX: usize = 64;

/// The most members that are named: a cluster of more is slower, and no safer.
const ENDPOINTS_MAX: usize = 9;

/// The longest time for which one member is waited for alone: many times what one that is well needs.
const HEAD_START_MAX: Duration = Duration::from_millis(150);

/// A member's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Whether it is reached by `https`.
    pub is_secure: bool,
    /// The host's name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl Endpoint {
    /// Host and port as a URL has them.
    pub(super) fn authority(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    fn shown(&self) -> String {
        format!("{}://{}", if self.is_secure { "https" } else { "http" }, self.authority())
    }
}

/// How a ledger on etcd is opened.
#[derive(Debug, Clone)]
pub struct EtcdOptions {
    /// Whether a new ledger may be made where none is: once, and not where this one has been used before.
    pub create: bool,
    /// The members, at least one. Who answered last is asked first; at first, who is named first.
    pub endpoints: Vec<Endpoint>,
    /// What every name begins with.
    pub prefix: String,
    /// The user, where etcd asks for one.
    pub user: Option<String>,
    /// Its password.
    pub password: Password,
    /// Papers for TLS.
    pub tls: EtcdTls,
    /// Connections at once: 1 to [`CONNECTIONS_MAX`](Self::CONNECTIONS_MAX).
    pub connections_max: usize,
    /// How long it may take to be connected, logged in, and told who speaks, whichever member that needs.
    pub connect_limit: Duration,
    /// For identities of new ledgers and runs, and for the jitter of retries.
    pub entropy: Arc<dyn Entropy>,
    /// For the bound of retries, the age of idle connections, and the part of a second that etcd does not tell.
    pub clock: Arc<dyn Clock>,
}

impl EtcdOptions {
    /// The most connections that one ledger may hold.
    pub const CONNECTIONS_MAX: usize = 16;

    /// What `http://user:password@host:2379,http://host:2379/prefix` says (`https` is the same under TLS): any of the
    /// members may name the user, and the prefix of all names; the rest as by default: four connections, 800 ms to connect.
    ///
    /// # Errors
    ///
    /// `Refused`, naming what is wrong, and never the text of the URL.
    pub fn from_url(url: &str) -> Result<Self, SourceError> {
        let mut options = Self {
            create: false,
            endpoints: Vec::new(),
            prefix: String::new(),
            user: None,
            password: Password::None,
            tls: EtcdTls::default(),
            connections_max: 4,
            connect_limit: Duration::from_millis(800),
            entropy: Arc::new(OsEntropy),
            clock: Arc::new(SystemClock),
        };
        for member in url.split(',') {
            options.add(member)?;
        }
        if options.endpoints.len() > ENDPOINTS_MAX {
            let found = options.endpoints.len();
            return Err(refused(&format!("found {found} members, at most {ENDPOINTS_MAX} are allowed")));
        }
        if options.prefix.is_empty() {
            PREFIX.clone_into(&mut options.prefix);
        }
        Ok(options)
    }

    /// One more member, and what its URL says besides.
    fn add(&mut self, member: &str) -> Result<(), SourceError> {
        let (scheme, rest) = member.split_once("://").ok_or_else(|| refused("it can't be read"))?;
        let is_secure = match scheme {
            "http" => false,
            "https" => true,
            // What stands before it in a text that is no URL may be a secret.
            _ => return Err(refused("found neither http:// nor https://")),
        };
        // By a name of its own: of http, a URL's port is left out where it is 80.
        let named = format!("etcd://{rest}");
        let Address { host, port, user, password, path } = Address::parse(&named, &["etcd"], PORT, EXPECTED)?;
        let prefix = path.trim_end_matches('/').to_owned();
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || "_.:-/".contains(letter);
        if prefix.len() > PREFIX_LENGTH_MAX || !prefix.chars().all(allowed) {
            return Err(refused(&format!(
                "its prefix has other letters than A-Z a-z 0-9 _ . : - /, or more than {PREFIX_LENGTH_MAX}"
            )));
        }
        let agreed = agree(&mut self.user, user, &None)
            && agree(&mut self.password, password, &Password::None)
            && agree(&mut self.prefix, prefix, &String::new());
        if !agreed {
            return Err(refused("its members name different users, passwords or prefixes"));
        }
        self.endpoints.push(Endpoint { is_secure, host, port });
        Ok(())
    }

    /// Where the members are, who asks, and the prefix; without what is secret.
    pub fn address(&self) -> String {
        let members: Vec<String> = self.endpoints.iter().map(Endpoint::shown).collect();
        let mut shown = format!("{}/{}", members.join(","), self.prefix);
        if let Some(user) = &self.user {
            shown = shown.replacen("://", &format!("://{user}@"), 1);
        }
        shown
    }
}

/// Takes over what is said for the first time; `false` where something else was said before.
fn agree<T: PartialEq>(held: &mut T, said: T, nothing: &T) -> bool {
    if said == *nothing || said == *held {
        return true;
    }
    let is_first = held == nothing;
    *held = said;
    is_first
}

fn refused(cause: &str) -> SourceError {
    let context = format!("url of a server: {cause}, expected {EXPECTED}");
    SourceError::new(ErrorKind::Refused, context)
}

/// A ledger's place, whoever uses it in this process.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) options: EtcdOptions,
    /// Which member answered last.
    first: AtomicUsize,
    /// A ledger has been found there before.
    used: AtomicBool,
}

impl Target {
    pub(super) fn new(options: EtcdOptions) -> Self {
        Self { options, first: AtomicUsize::new(0), used: AtomicBool::new(false) }
    }

    /// The members in the order in which they are asked now, by their places.
    pub(super) fn members(&self) -> impl Iterator<Item = usize> + use<> {
        let (count, first) = (self.options.endpoints.len(), self.first.load(Ordering::Relaxed));
        (0..count).map(move |step| (first + step) % count)
    }

    /// A quorum has answered through this member.
    pub(super) fn note_answer(&self, at: usize) {
        self.first.store(at, Ordering::Relaxed);
    }

    /// How long a member is waited for before the next one is asked as well: the last one has half of the time.
    pub(super) fn head_start(&self) -> Duration {
        let count = u32::try_from(self.options.endpoints.len()).unwrap_or(1).max(1);
        HEAD_START_MAX.min(self.options.connect_limit / (2 * count))
    }

    pub(super) fn may_create(&self) -> bool {
        self.options.create && !self.is_used()
    }

    pub(super) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn note_use(&self) {
        self.used.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_members_a_user_and_a_prefix_and_no_secret_is_printed() {
        let options = EtcdOptions::from_url("https://u:geheim@a,http://[::1]:80/shop-eu").unwrap();
        assert_eq!(options.address(), "https://u@a:2379,http://[::1]:80/shop-eu");
        assert!(!format!("{options:?}").contains("geheim"));
        assert_eq!(EtcdOptions::from_url("http://h:2379").unwrap().prefix, "sequent");
        let twice = EtcdOptions::from_url("http://u:geheim@a/x,http://u:geheim@b/x").unwrap();
        assert_eq!((twice.endpoints.len(), twice.user.as_deref()), (2, Some("u")));
        for bad in [
            "geheim",
            "etcd://u:geheim@h",
            "http://u:geheim@h?x=1",
            "http://u:geheim@a,",
            "http://u:geheim@a,http://v:geheim@b",
            "http://u:geheim@a/x,http://b/y",
            "http://u:geheim@a/x y",
        ] {
            let said = EtcdOptions::from_url(bad).unwrap_err().to_string();
            assert!(said.contains(EXPECTED) && !said.contains("geheim"), "{bad}: {said}");
        }
    }

    #[test]
    fn who_answered_last_is_asked_first_and_each_has_its_time() {
        let target = |members: &str| Target::new(EtcdOptions::from_url(members).unwrap());
        let three = target("http://a,http://b,http://c");
        let order = || three.members().collect::<Vec<_>>();
        assert_eq!([order(), order()], [[0, 1, 2], [0, 1, 2]]);
        three.note_answer(1);
        assert_eq!(order(), [1, 2, 0]);
        let nine = target(&["http://a"; ENDPOINTS_MAX].join(","));
        assert_eq!([&three, &nine].map(|target| target.head_start().as_millis()), [133, 44]);
    }
}
