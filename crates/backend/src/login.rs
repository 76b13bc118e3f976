//! Where a database's server is and who logs in, as the part of a URL behind `scheme://` says it.

use std::fmt;

/// `user[:password]@host[:port]/database`, in parts, each decoded. Printed without the password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: Option<String>,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) database: String,
}

impl Login {
    /// Reads it; `port` counts where none is named. What is wrong is said without what was found: it may be a secret.
    pub(crate) fn read(text: &str, port: u16) -> Result<Self, &'static str> {
        let (login, rest) = text.rsplit_once('@').ok_or("no user is named")?;
        let (place, database) = rest.split_once('/').ok_or("no database is named")?;
        let (user, password) = login.split_once(':').map_or((login, None), |(user, word)| (user, Some(word)));
        let (host, port) = host_and_port(place, port)?;
        let read = Self {
            user: decoded(user)?,
            password: password.map(decoded).transpose()?,
            host: decoded(host)?,
            port,
            database: decoded(database)?,
        };
        match () {
            () if read.user.is_empty() => Err("no user is named"),
            () if read.host.is_empty() => Err("no host is named"),
            () if read.database.is_empty() => Err("no database is named"),
            () => Ok(read),
        }
    }
}

fn host_and_port(place: &str, port: u16) -> Result<(&str, u16), &'static str> {
    let (host, named) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("the host's [ is not closed")?;
            // What is there and is no port is none that can be read.
            (host, (!rest.is_empty()).then(|| rest.strip_prefix(':').unwrap_or_default()))
        }
        None => place.rsplit_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    let port = named.map_or(Ok(port), str::parse).ok().filter(|port| *port > 0);
    Ok((host, port.ok_or("the port is not a number from 1 to 65535")?))
}

/// Undoes `%xx`.
pub(crate) fn decoded(text: &str) -> Result<String, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        let (Some(high), Some(low)) = (digit(), digit()) else {
            return Err("a % is not followed by two hexadecimal digits");
        };
        bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err("what %xx stands for is not text"),
    }
}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, host, port, database, .. } = self;
        if host.contains(':') {
            write!(f, "{user}@[{host}]:{port}/{database}")
        } else {
            write!(f, "{user}@{host}:{port}/{database}")
        }
    }
}
