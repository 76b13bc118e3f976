//! Where a server is, and who logs in: one URL for every driver, with a secret that is never printed.

use std::{fmt, str::FromStr};

use percent_encoding::percent_decode_str;
use url::Url;

use super::driver::{DRIVERS, Driver};

/// What may follow the slash of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathForm {
    /// Nothing.
    None,
    /// The name of a database, which must be there.
    Database,
    /// The same, as MongoDB takes it, and `?authSource=` may follow.
    DatabaseAndAuthSource,
    /// The number of a database; 0 where there is none.
    Number,
    /// What every name begins with.
    Prefix,
}

/// `scheme://[user[:password]@]host[:port][/path]` of one of the drivers, in parts, each decoded. Printed without the password.
///
/// The scheme names the driver. A host that begins with `/` (written `%2F`) is the directory of a Unix socket, where the driver knows
/// such. Everything else that concerns a connection has settings of its own: nothing may follow a `?` (but MongoDB's `authSource`).
///
/// ```
/// use sequent_backend::net::ServerUrl;
/// let url: ServerUrl = "postgres://seq:s3cret@db.example/seq".parse()?;
/// assert_eq!(url.to_string(), "postgres://seq@db.example:5432/seq");
/// assert!(!format!("{url:?}").contains("s3cret"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl {
    driver: &'static Driver,
    hosts: Vec<Host>,
    user: Option<String>,
    password: Option<String>,
    path: String,
    auth_source: Option<String>,
}

/// A server that a URL names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The scheme by which it is named.
    pub scheme: &'static str,
    /// Its name or address.
    pub name: String,
    /// Its port.
    pub port: u16,
}

/// What is wrong with a URL. Never says what was found: it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlError {
    cause: String,
    expected: &'static str,
}

impl UrlError {
    /// The same for whoever says himself that it is about a URL.
    pub fn cause(&self) -> String {
        format!("{}, expected {}", self.cause, self.expected)
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "url: {}", self.cause())
    }
}

impl std::error::Error for UrlError {}

/// The highest number of a database that is taken: servers have sixteen unless told otherwise.
const NUMBER_MAX: u32 = 1_000_000;

/// The longest prefix, in bytes: it stands in every name.
const PREFIX_LENGTH_MAX: usize = 64;

/// Where nobody names a prefix.
const PREFIX: &str = "sequent";

/// The longest name of a database of MongoDB's, in bytes.
const MONGODB_NAME_MAX: usize = 63;

impl FromStr for ServerUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let driver = DRIVERS.into_iter().find(|driver| scheme.is_some_and(|is| driver.schemes.contains(&is)));
        let unknown = || UrlError {
            cause: "its scheme is unknown".to_owned(),
            expected: "scheme://user@host:port/path",
        };
        Self::parse(driver.ok_or_else(unknown)?, text)
    }
}

impl ServerUrl {
    /// Reads a URL of this driver's.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and never its text.
    pub fn parse(driver: &'static Driver, text: &str) -> Result<Self, UrlError> {
        let wrong = |cause: String| UrlError { cause, expected: driver.example };
        let (user, password, path) = (None, None, String::new());
        let mut url = Self { driver, hosts: Vec::new(), user, password, path, auth_source: None };
        let members: Vec<&str> = if driver.hosts_max > 1 { text.split(',').collect() } else { vec![text] };
        if members.len() > driver.hosts_max {
            return Err(wrong(format!(
                "found {} hosts, at most {} are allowed",
                members.len(),
                driver.hosts_max
            )));
        }
        for member in members {
            url.add(member).map_err(wrong)?;
        }
        if driver.needs_user && url.user.is_none() {
            return Err(wrong("no user is named".to_owned()));
        }
        if driver.name == "memcached" && url.user.as_deref().is_some_and(has_gap) {
            return Err(wrong("its user holds a gap".to_owned()));
        }
        url.check_path().map_err(wrong)?;
        Ok(url)
    }

    /// One more host, and what its URL says besides.
    fn add(&mut self, text: &str) -> Result<(), String> {
        let (scheme, rest) = text.split_once("://").ok_or("it can't be read")?;
        let known = self.driver.schemes.iter().find(|known| **known == scheme);
        // What stands before it in a text that is no URL may be a secret.
        let scheme =
            known.ok_or_else(|| format!("its scheme is not {}", self.driver.schemes.join(" or ")))?;
        // By a scheme that no standard knows: of others, a URL's port is left out where it is the usual one.
        let url = Url::parse(&format!("sequent://{rest}")).map_err(|error| match error {
            url::ParseError::InvalidPort => "its port is not a number from 1 to 65535",
            _ => "it can't be read",
        })?;
        self.read_query(&url)?;
        let host = decoded(url.host_str().unwrap_or_default())?;
        match () {
            () if host.is_empty() => return Err("no host is named".to_owned()),
            () if host.contains(',') => return Err("several hosts are named: name one server".to_owned()),
            () if url.port() == Some(0) => return Err("its port is not a number from 1 to 65535".to_owned()),
            () => {}
        }
        let user = Some(decoded(url.username())?).filter(|user| !user.is_empty());
        let password = url.password().map(decoded).transpose()?.filter(|password| !password.is_empty());
        let path = decoded(url.path().trim_start_matches('/'))?;
        let agreed = agree(&mut self.user, user, &None)
            && agree(&mut self.password, password, &None)
            && agree(&mut self.path, path, &String::new());
        if !agreed {
            return Err("its members name different users, passwords or prefixes".to_owned());
        }
        let name = host.trim_matches(['[', ']']).to_owned();
        self.hosts.push(Host { scheme, name, port: url.port().unwrap_or(self.driver.port) });
        Ok(())
    }

    fn read_query(&mut self, url: &Url) -> Result<(), String> {
        if url.fragment().is_some() {
            return Err("nothing may follow a #".to_owned());
        }
        let Some(query) = url.query() else { return Ok(()) };
        let source =
            query.strip_prefix("authSource=").filter(|_| self.driver.path == PathForm::DatabaseAndAuthSource);
        let source = source.map(decoded).transpose()?.filter(|name| is_mongodb_name(name));
        self.auth_source =
            Some(source.ok_or("nothing may follow a ?: TLS and limits have settings of their own")?);
        Ok(())
    }

    fn check_path(&mut self) -> Result<(), String> {
        let path = self.path.as_str();
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || "_.:-/".contains(letter);
        match self.driver.path {
            PathForm::None if !path.is_empty() => {
                Err("it names a database, and memcached has one".to_owned())
            }
            PathForm::Database | PathForm::DatabaseAndAuthSource if path.is_empty() => {
                Err("no database is named".to_owned())
            }
            PathForm::DatabaseAndAuthSource if !is_mongodb_name(path) => {
                Err("no database can have that name".to_owned())
            }
            PathForm::Number
                if !path.is_empty() && path.parse().map_or(true, |number: u32| number > NUMBER_MAX) =>
            {
                Err(format!("its database is no number of 0 to {NUMBER_MAX}"))
            }
            PathForm::Prefix => {
                let prefix = path.trim_end_matches('/');
                if prefix.len() > PREFIX_LENGTH_MAX || !prefix.chars().all(allowed) {
                    return Err(format!(
                        "its prefix has other letters than A-Z a-z 0-9 _ . : - /, or more than {PREFIX_LENGTH_MAX}"
                    ));
                }
                self.path = if prefix.is_empty() { PREFIX.to_owned() } else { prefix.to_owned() };
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Which driver reaches it.
    pub fn driver(&self) -> &'static Driver {
        self.driver
    }

    /// The servers: one but of drivers that take several.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The name or address of the first server.
    pub fn host(&self) -> &str {
        self.hosts.first().map_or("", |host| &host.name)
    }

    /// The port of the first server.
    pub fn port(&self) -> u16 {
        self.hosts.first().map_or(self.driver.port, |host| host.port)
    }

    /// The user, where one is named.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Whether a password stands in it.
    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    pub(crate) fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// What follows the slash: a database, its number, or a prefix.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The number of a database.
    pub(crate) fn number(&self) -> u32 {
        self.path.parse().unwrap_or(0)
    }

    /// The database that knows the user, where it is another one.
    pub(crate) fn auth_source(&self) -> Option<&str> {
        self.auth_source.as_deref()
    }

    /// The same for every URL of the same tables, as far as one can tell from the text. One machine's names for itself are one; what
    /// else leads to one server is seen by the identity that its tables bear.
    pub fn identity(&self) -> String {
        let lower = self.host().to_ascii_lowercase();
        let host = lower.trim_end_matches('.');
        let loops =
            host.parse::<std::net::IpAddr>().map_or(host == "localhost", |address| address.is_loopback());
        let path =
            if self.driver.path == PathForm::Number { self.number().to_string() } else { self.path.clone() };
        format!("{} {}:{}/{path}", self.driver.name, if loops { "localhost" } else { host }, self.port())
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

/// Undoes `%xx`.
fn decoded(text: &str) -> Result<String, String> {
    let mut escapes = text.split('%').skip(1);
    let is_hex =
        |escape: &str| escape.len() >= 2 && escape.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    if !escapes.all(is_hex) {
        return Err("a % is not followed by two hexadecimal digits".to_owned());
    }
    match percent_decode_str(text).decode_utf8() {
        Ok(text) if !text.contains('\0') => Ok(text.into_owned()),
        _ => Err("what %xx stands for is not text".to_owned()),
    }
}

/// A login to memcached is one line of words.
fn has_gap(user: &str) -> bool {
    user.contains(|letter: char| letter.is_whitespace() || letter.is_control())
}

fn is_mongodb_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MONGODB_NAME_MAX
        && !name.contains(['/', '\\', '.', ' ', '"', '$', '*', '<', '>', ':', '|', '?'])
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, port, .. } = self;
        if name.contains(':') { write!(f, "[{name}]:{port}") } else { write!(f, "{name}:{port}") }
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, host) in self.hosts.iter().enumerate() {
            // The driver's own word, but where schemes mean something.
            let scheme = if self.driver.speaks_https { host.scheme } else { self.driver.name };
            write!(f, "{}{scheme}://", if at == 0 { "" } else { "," })?;
            if let (0, Some(user)) = (at, &self.user) {
                write!(f, "{user}@")?;
            }
            write!(f, "{host}")?;
        }
        match self.driver.path {
            PathForm::None => Ok(()),
            PathForm::Number => write!(f, "/{}", self.number()),
            _ => write!(f, "/{}", self.path),
        }
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
