//! Where a server is, who logs in, and a secret that is never printed.

use std::{fmt, str::FromStr};

use crate::login::Login;

/// `postgres://user[:password]@host[:port]/database`, in parts. Printed without the password.
///
/// A host that begins with `/` (written `%2F`) is the directory of a Unix socket. TLS, limits and the schema have
/// options of their own: nothing may follow a `?`.
///
/// ```
/// use sequent_backend::postgres::PostgresUrl;
/// let url: PostgresUrl = "postgres://seq:s3cret@db.example/seq".parse()?;
/// assert_eq!(url.to_string(), "postgres://seq@db.example:5432/seq");
/// assert!(!format!("{url:?}").contains("s3cret"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl {
    pub(super) login: Login,
}

/// What is wrong with a URL. Never says what was found: it may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrlError(&'static str);

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "url: {}; expected postgres://user[:password]@host[:port]/database", self.0)
    }
}

impl std::error::Error for UrlError {}

/// Where a server listens if nothing else is said.
const PORT: u16 = 5432;

impl FromStr for PostgresUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
        let rest = rest.ok_or(UrlError("the scheme is not postgres"))?;
        if rest.contains(['?', '#']) {
            return Err(UrlError("nothing may follow a ? or #: TLS and limits have options of their own"));
        }
        Ok(Self { login: Login::read(rest, PORT).map_err(UrlError)? })
    }
}

impl PostgresUrl {
    /// The server's host name or address, or the directory of its socket.
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

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://{}", self.login)
    }
}

impl fmt::Debug for PostgresUrl {
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
        let PostgresUrl { login: url } = "postgresql://s%40q:p%3a%2Fw:x@[::1]:6432/a%20b".parse().unwrap();
        assert_eq!((url.user.as_str(), url.password.as_deref()), ("s@q", Some("p:/w:x")));
        assert_eq!((url.host.as_str(), url.port, url.database.as_str()), ("::1", 6432, "a b"));
        let PostgresUrl { login: url } = "postgres://seq@%2Frun%2Fpostgresql/seq".parse().unwrap();
        assert_eq!((url.host.as_str(), url.port, url.password), ("/run/postgresql", PORT, None));
    }

    #[test]
    fn a_fault_is_named_and_the_secret_is_not() {
        let bad = [
            ("mysql://u:s3cret@h/d", "scheme"),
            ("postgres://h/d", "user"),
            ("postgres://:s3cret@h/d", "user"),
            ("postgres://u:s3cret@/d", "host"),
            ("postgres://u:s3cret@h", "database"),
            ("postgres://u:s3cret@h/", "database"),
            ("postgres://u:s3cret@h:0/d", "port"),
            ("postgres://u:s3cret@h:s3cret/d", "port"),
            ("postgres://u:s3cret@[::1]6432/d", "port"),
            ("postgres://u:s3cret@[::1/d", "closed"),
            ("postgres://u:s3cret%zz@h/d", "hexadecimal"),
            ("postgres://u:s3cret%00@h/d", "not text"),
            ("postgres://u:s3cret@h/d?sslmode=disable", "options"),
        ];
        for (text, part) in bad {
            let error = text.parse::<PostgresUrl>().unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("s3cret"), "{text}: {error}");
        }
    }

    #[test]
    fn no_way_to_print_shows_the_password() {
        let url: PostgresUrl = "postgres://seq:s3cret@h/d".parse().unwrap();
        for text in [url.to_string(), format!("{url:?}"), format!("{url:#?}")] {
            assert!(!text.contains("s3cret"), "{text}");
        }
    }
}
