//! Where a server is, and whose slot is kept there.

use std::fmt;

use percent_encoding::percent_decode_str;
use sequent_core::{ErrorKind, SequenceName, SlotIndex, SourceError};
use url::Url;

use super::Password;

/// Whose slot a store is: both are in the name of everything that it keeps, so that clusters, and slots, which share a
/// server share nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The cluster.
    pub cluster: SequenceName,
    /// Its slot.
    pub slot: SlotIndex,
}

impl fmt::Display for Owner {
    /// Neither part holds a `/`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.cluster, self.slot)
    }
}

/// What a URL says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: Option<String>,
    pub(crate) password: Password,
    /// What follows the slash.
    pub(crate) path: String,
}

impl Address {
    /// Reads `scheme://user:password@host:port/path` of one of these schemes; `expected` is how a good one looks. The
    /// text of a URL is never repeated: it may hold a password.
    pub(crate) fn parse(
        text: &str,
        schemes: &[&str],
        port: u16,
        expected: &str,
    ) -> Result<Self, SourceError> {
        let refused = |cause: &str| {
            let context = format!("url of a server: {cause}, expected {expected}");
            SourceError::new(ErrorKind::Refused, context)
        };
        let url = Url::parse(text).map_err(|_| refused("it can't be read"))?;
        if !schemes.contains(&url.scheme()) {
            return Err(refused(&format!("found scheme {:?}", url.scheme())));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused("found `?…` or `#…`, though settings stand beside the url"));
        }
        let host =
            url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| refused("no host is named"))?;
        let decoded = |text: &str| {
            let plain = percent_decode_str(text).decode_utf8();
            plain.map(std::borrow::Cow::into_owned).map_err(|_| refused("it holds letters that are no text"))
        };
        if url.port() == Some(0) {
            return Err(refused("found port 0"));
        }
        let user = decoded(url.username())?;
        let password = url.password().map(decoded).transpose()?.filter(|word| !word.is_empty());
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(port),
            user: Some(user).filter(|user| !user.is_empty()),
            password: password.map_or(Password::None, Password::Text),
            path: url.path().trim_start_matches('/').to_owned(),
        })
    }

    /// The same address as people may see it.
    pub(crate) fn shown(&self, scheme: &str) -> String {
        let Self { host, port, user, .. } = self;
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let user = user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        format!("{scheme}://{user}{host}:{port}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Address, SourceError> {
        Address::parse(text, &["redis"], 6379, "redis://host")
    }

    #[test]
    fn an_address_is_read_and_shown_without_its_secret() {
        let address = parse("redis://u:geh%40eim@[::1]:7/3").unwrap();
        assert_eq!(address.password, Password::Text("geh@eim".to_owned()));
        assert_eq!((address.path.as_str(), address.shown("redis").as_str()), ("3", "redis://u@[::1]:7"));
        assert!(!format!("{address:?}").contains("geh"));
        assert_eq!(parse("redis://h").unwrap().shown("redis"), "redis://h:6379");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_secret() {
        for text in [
            "http://u:geheim@h",
            "redis://u:geheim@h?x=1",
            "redis://u:geheim@h:0",
            "redis://u:geheim@h:x",
            "geheim",
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains("expected redis://host") && !said.contains("geheim"), "{said}");
        }
    }
}
