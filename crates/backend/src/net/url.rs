//! Server URLs of all drivers: host, user and path, with a password that is never printed.

use std::{fmt, str::FromStr};

use percent_encoding::percent_decode_str;
use url::Url;

use super::{
    SettingError,
    driver::{DRIVERS, Driver},
};

/// Form of the path of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathForm {
    /// No path.
    None,
    /// The name of a database; required.
    Database,
    /// The name of a database as MongoDB accepts it; `?authSource=` may follow.
    DatabaseAndAuthSource,
    /// The number of a database; default 0.
    Number,
    /// The prefix of every name.
    Prefix,
}

/// `scheme://[user[:password]@]host[:port][/path]` of one of the drivers, in parts, each decoded. Printed without the
/// password.
///
/// The scheme selects the driver. A host that begins with `/` (written `%2F`) is the directory of a Unix socket, if the
/// driver supports it. All other properties of a connection are separate settings: a query (`?`) is refused, except
/// MongoDB's `authSource`.
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

/// A server named by a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The scheme that the URL used.
    pub scheme: &'static str,
    /// Its name or address.
    pub name: String,
    /// Its port.
    pub port: u16,
}

/// The highest accepted number of a database. Servers have sixteen by default.
const NUMBER_MAX: u32 = 1_000_000;

/// The longest prefix, in bytes; it is part of every name.
const PREFIX_LENGTH_MAX: usize = 64;

/// The default prefix.
const PREFIX: &str = "sequent";

/// The longest database name of MongoDB, in bytes.
const MONGODB_NAME_MAX: usize = 63;

impl FromStr for ServerUrl {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let driver = DRIVERS.into_iter().find(|driver| scheme.is_some_and(|is| driver.schemes.contains(&is)));
        let unknown =
            || SettingError("its scheme is unknown, expected scheme://user@host:port/path".to_owned());
        Self::parse(driver.ok_or_else(unknown)?, text)
    }
}

impl ServerUrl {
    /// Parses a URL of this driver.
    ///
    /// # Errors
    ///
    /// What is wrong with the URL. The message never contains its text.
    pub fn parse(driver: &'static Driver, text: &str) -> Result<Self, SettingError> {
        let wrong = |cause: String| SettingError(format!("{cause}, expected {}", driver.example));
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

    /// Adds one more host; its user, password and path must agree with those before.
    fn add(&mut self, text: &str) -> Result<(), String> {
        let (scheme, rest) = text.split_once("://").ok_or("it can't be read")?;
        let known = self.driver.schemes.iter().find(|known| **known == scheme);
        // If the text is no URL, the part before `://` may be a secret, so the error does not show it.
        let scheme =
            known.ok_or_else(|| format!("its scheme is not {}", self.driver.schemes.join(" or ")))?;
        // The text is parsed under a scheme unknown to the URL standard. Known schemes drop their default port.
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

    /// The driver of this URL.
    pub fn driver(&self) -> &'static Driver {
        self.driver
    }

    /// The servers. Only some drivers accept more than one.
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

    /// The user, if one is named.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Whether it contains a password.
    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// The same login at another address.
    pub(crate) fn at(&self, name: &str, port: u16) -> Self {
        let at = |host: &Host| Host { name: name.to_owned(), port, ..host.clone() };
        Self { hosts: self.hosts.iter().take(1).map(at).collect(), ..self.clone() }
    }

    pub(crate) fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// The path: a database, its number, or a prefix.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The number of the database.
    pub(crate) fn number(&self) -> u32 {
        self.path.parse().unwrap_or(0)
    }

    /// The database that authenticates the user, if it is another one.
    pub(crate) fn auth_source(&self) -> Option<&str> {
        self.auth_source.as_deref()
    }

    /// A text that is equal for all URLs of the same tables, as far as the URL can show. All names of the local machine
    /// count as one. Other aliases of a server are detected by the identity stored in its tables.
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

/// Takes a value that no earlier URL gave; `false` if an earlier one gave another value.
fn agree<T: PartialEq>(held: &mut T, said: T, nothing: &T) -> bool {
    if said == *nothing || said == *held {
        return true;
    }
    let is_first = held == nothing;
    *held = said;
    is_first
}

/// Decodes `%xx`.
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

/// Whether a user has whitespace. memcached's login is one line, separated by blanks.
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
            // The scheme is printed only where it has a meaning; else the driver's name is.
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
