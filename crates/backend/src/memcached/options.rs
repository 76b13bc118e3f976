//! How a server is reached, and how much of it is used.

use std::{sync::Arc, time::Duration};

use sequent_core::{Clock, Entropy, ErrorKind, OsEntropy, SourceError, SystemClock};

use crate::wire::{Address, Owner, Password};

const SCHEMES: [&str; 1] = ["memcached"];
const EXPECTED: &str = "memcached://user:password@host:11211";
const PORT: u16 = 11211;

/// How a store on memcached is opened.
#[derive(Debug, Clone)]
pub struct MemcachedOptions {
    /// The host's name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The user, where the server asks for one.
    pub user: Option<String>,
    /// Its password.
    pub password: Password,
    /// Connections at once: 1 to [`CONNECTIONS_MAX`](Self::CONNECTIONS_MAX). Each more on one key costs the others: only one
    /// of those that compare and swap at a time is the first.
    pub connections_max: usize,
    /// How long one may take to be connected and logged in.
    pub connect_limit: Duration,
    /// For the jitter of retries.
    pub entropy: Arc<dyn Entropy>,
    /// For the age of idle connections. The clock that is reported is the server's.
    pub clock: Arc<dyn Clock>,
}

impl MemcachedOptions {
    /// The most connections that one store may hold.
    pub const CONNECTIONS_MAX: usize = 64;

    /// What `memcached://user:password@host:port` says; the rest as by default: four connections, 800 ms to connect.
    ///
    /// # Errors
    ///
    /// `Refused`, naming what is wrong, and never the text of the URL.
    pub fn from_url(url: &str) -> Result<Self, SourceError> {
        let Address { host, port, user, password, path } = Address::parse(url, &SCHEMES, PORT, EXPECTED)?;
        let refused = |cause: &str| {
            let context = format!("url of a server: {cause}, expected {EXPECTED}");
            SourceError::new(ErrorKind::Refused, context)
        };
        if !path.is_empty() {
            return Err(refused("it names a database, and memcached has one"));
        }
        // A login is one line of words.
        let has_gap =
            |text: &str| text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
        if user.as_deref().is_some_and(has_gap) {
            return Err(refused("its user holds a gap"));
        }
        let (entropy, clock) = (Arc::new(OsEntropy), Arc::new(SystemClock));
        let connect_limit = Duration::from_millis(800);
        Ok(Self { host, port, user, password, connections_max: 4, connect_limit, entropy, clock })
    }

    /// Where the server is and who asks, without what is secret.
    pub fn address(&self) -> String {
        let Self { host, port, user, .. } = self.clone();
        Address { host, port, user, password: Password::None, path: String::new() }.shown("memcached")
    }
}

/// A store of this owner on that server.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) options: MemcachedOptions,
    pub(super) owner: Owner,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_server_and_no_secret_is_printed() {
        let options = MemcachedOptions::from_url("memcached://u:geheim@h").unwrap();
        assert_eq!(options.address(), "memcached://u@h:11211");
        assert!(!format!("{options:?}").contains("geheim"));
        for bad in ["memcached://u:geheim@h/0", "memcached://a%20b:geheim@h", "memcache://u:geheim@h"] {
            let said = MemcachedOptions::from_url(bad).unwrap_err().to_string();
            assert!(said.contains(EXPECTED) && !said.contains("geheim"), "{said}");
        }
    }
}
