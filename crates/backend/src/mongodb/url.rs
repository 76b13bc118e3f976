//! Where a server is, who logs in, and a secret that is never printed.

use std::{fmt, str::FromStr};

use crate::login::{Login, decoded};

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
    pub(super) login: Login,
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
        let place = rest.rsplit('@').next().and_then(|rest| rest.split('/').next());
        if place.is_some_and(|place| place.contains(',')) {
            return Err(UrlError("several hosts are named: name the one that is to be primary"));
        }
        let login = Login::read(rest, PORT).map_err(UrlError)?;
        if !is_database(&login.database) {
            return Err(UrlError("no database can have that name"));
        }
        Ok(Self { login, auth_source: query.map(auth_source).transpose()? })
    }
}

fn auth_source(query: &str) -> Result<String, UrlError> {
    let name = query.strip_prefix("authSource=").map(decoded).transpose().map_err(UrlError)?;
    name.filter(|name| !name.is_empty() && is_database(name))
        .ok_or(UrlError("only ?authSource=database may follow: TLS and limits have options of their own"))
}

/// Whether the server takes it for the name of a database.
fn is_database(name: &str) -> bool {
    name.len() <= DATABASE_BYTES_MAX
        && !name.contains(['/', '\\', '.', ' ', '"', '$', '*', '<', '>', ':', '|', '?'])
}

impl MongodbUrl {
    /// The server's host name or address.
    pub fn host(&self) -> &str {
        &self.login.host
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.login.port
    }

    /// The database.
    pub fn database(&self) -> &str {
        &self.login.database
    }

    /// Whether a password stands in it.
    pub fn has_password(&self) -> bool {
        self.login.password.is_some()
    }
}

impl fmt::Display for MongodbUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mongodb://{}", self.login)
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
        assert_eq!((url.login.user.as_str(), url.login.password.as_deref()), ("s@q", Some("p:/w:x")));
        assert_eq!(
            (url.login.host.as_str(), url.login.port, url.login.database.as_str()),
            ("::1", 6432, "seq")
        );
        assert_eq!(url.auth_source.as_deref(), Some("admin"));
        let url: MongodbUrl = "mongodb://seq@h/seq".parse().unwrap();
        assert_eq!((url.login.port, url.login.password, url.auth_source), (PORT, None, None));
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
            ("mongodb://u:s3cret@[::1],[::2]/d", "several hosts"),
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
