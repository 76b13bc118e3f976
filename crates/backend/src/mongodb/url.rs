//! Where a server is, who logs in, and a secret that is never printed.

use std::{fmt, str::FromStr};

/// `mongodb://user[:password]@host[:port]/database[?authSource=database]`, in parts. Printed without the password.
///
/// The user is one of the database, or of that which `authSource` names. TLS and limits have options of their own: nothing
/// else may follow the `?`. One server is named: of a replica set the one that is to be primary.
///
/// ```
/// use sequent_backend::mongodb::MongodbUrl;
/// let url: MongodbUrl = "mongodb://seq:s3cret@db.example/seq".parse()?;
/// assert_eq!(url.to_string(), "mongodb://seq@db.example:27017/seq");
/// assert!(!format!("{url:?}").contains("s3cret"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct MongodbUrl {
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) database: String,
    pub(super) auth_source: Option<String>,
}

/// What is wrong with a URL. Never says what was found: it may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrlError(&'static str);

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "url: {}; expected mongodb://user[:password]@host[:port]/database", self.0)
    }
}

impl std::error::Error for UrlError {}

/// Where a server listens if nothing else is said.
const PORT: u16 = 27_017;

/// The longest name of a database, in bytes; the server takes no longer one.
const DATABASE_BYTES_MAX: usize = 63;

impl FromStr for MongodbUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let rest = text.strip_prefix("mongodb://").ok_or(UrlError("the scheme is not mongodb"))?;
        if rest.contains('#') {
            return Err(UrlError("nothing may follow a #"));
        }
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let (login, rest) = rest.rsplit_once('@').ok_or(UrlError("no user is named"))?;
        let (place, database) = rest.split_once('/').ok_or(UrlError("no database is named"))?;
        let (user, password) = login.split_once(':').map_or((login, None), |(user, word)| (user, Some(word)));
        let (host, port) = host_and_port(place)?;
        let url = Self {
            user: decoded(user)?,
            password: password.map(decoded).transpose()?,
            host: decoded(host)?,
            port,
            database: decoded(database)?,
            auth_source: query.map(auth_source).transpose()?,
        };
        match () {
            () if url.user.is_empty() => Err(UrlError("no user is named")),
            () if url.host.is_empty() => Err(UrlError("no host is named")),
            () if url.database.is_empty() => Err(UrlError("no database is named")),
            () if !is_database(&url.database) => Err(UrlError("no database can have that name")),
            () => Ok(url),
        }
    }
}

fn auth_source(query: &str) -> Result<String, UrlError> {
    let name = query.strip_prefix("authSource=").map(decoded).transpose()?;
    name.filter(|name| !name.is_empty() && is_database(name))
        .ok_or(UrlError("only ?authSource=database may follow: TLS and limits have options of their own"))
}

/// Whether the server takes it for the name of a database.
fn is_database(name: &str) -> bool {
    name.len() <= DATABASE_BYTES_MAX
        && !name.contains(['/', '\\', '.', ' ', '"', '$', '*', '<', '>', ':', '|', '?'])
}

fn host_and_port(place: &str) -> Result<(&str, u16), UrlError> {
    if place.contains(',') {
        return Err(UrlError("several hosts are named: name the one that is to be primary"));
    }
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or(UrlError("the host's [ is not closed"))?;
            (host, rest.strip_prefix(':'))
        }
        None => place.rsplit_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    let port = port.map_or(Ok(PORT), str::parse).ok().filter(|port| *port > 0);
    Ok((host, port.ok_or(UrlError("the port is not a number from 1 to 65535"))?))
}

/// Undoes `%xx`.
fn decoded(text: &str) -> Result<String, UrlError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        let (Some(high), Some(low)) = (digit(), digit()) else {
            return Err(UrlError("a % is not followed by two hexadecimal digits"));
        };
        bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(UrlError("what %xx stands for is not text")),
    }
}

impl MongodbUrl {
    /// The server's host name or address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The database.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Whether a password stands in it.
    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }
}

impl fmt::Display for MongodbUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, host, port, database, .. } = self;
        if host.contains(':') {
            write!(f, "mongodb://{user}@[{host}]:{port}/{database}")
        } else {
            write!(f, "mongodb://{user}@{host}:{port}/{database}")
        }
    }
}

impl fmt::Debug for MongodbUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_and_decoded() {
        let url: MongodbUrl = "mongodb://s%40q:p%3a%2Fw:x@[::1]:6432/seq?authSource=admin".parse().unwrap();
        assert_eq!((url.user.as_str(), url.password.as_deref()), ("s@q", Some("p:/w:x")));
        assert_eq!((url.host.as_str(), url.port, url.database.as_str()), ("::1", 6432, "seq"));
        assert_eq!(url.auth_source.as_deref(), Some("admin"));
        let url: MongodbUrl = "mongodb://seq@h/seq".parse().unwrap();
        assert_eq!((url.port, url.password, url.auth_source), (PORT, None, None));
    }

    #[test]
    fn a_fault_is_named_and_the_secret_is_not() {
        let bad = [
            ("mysql://u:s3cret@h/d", "scheme"),
            ("mongodb+srv://u:s3cret@h/d", "scheme"),
            ("mongodb://h/d", "user"),
            ("mongodb://:s3cret@h/d", "user"),
            ("mongodb://u:s3cret@/d", "host"),
            ("mongodb://u:s3cret@h", "database"),
            ("mongodb://u:s3cret@h/", "database"),
            ("mongodb://u:s3cret@h/a.b", "can have that name"),
            ("mongodb://u:s3cret@h:0/d", "port"),
            ("mongodb://u:s3cret@h,i/d", "several hosts"),
            ("mongodb://u:s3cret@[::1/d", "closed"),
            ("mongodb://u:s3cret%zz@h/d", "hexadecimal"),
            ("mongodb://u:s3cret%00@h/d", "not text"),
            ("mongodb://u:s3cret@h/d?retryWrites=true", "options"),
            ("mongodb://u:s3cret@h/d?authSource=", "options"),
        ];
        for (text, part) in bad {
            let error = text.parse::<MongodbUrl>().unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("s3cret"), "{text}: {error}");
        }
    }

    #[test]
    fn no_way_to_print_shows_the_password() {
        let url: MongodbUrl = "mongodb://seq:s3cret@h/d".parse().unwrap();
        for text in [url.to_string(), format!("{url:?}"), format!("{url:#?}")] {
            assert!(!text.contains("s3cret"), "{text}");
        }
    }
}
