//! Addresses of servers: `http://a:7420,http://b:7420`, with TLS `https://a:7420`.

use http::Uri;

use crate::error::Error;

/// Default port of gRPC.
const PORT: u16 = 7420;

/// Limit on endpoints of one client.
pub(crate) const ENDPOINTS_MAX: usize = 64;

/// Address of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// Scheme and authority of requests.
    pub(crate) origin: Uri,
    /// Host of the socket.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// Parses a list of addresses, without duplicates and in its order.
pub(crate) fn parse(list: &str) -> Result<Vec<Address>, Error> {
    let mut found: Vec<Address> = Vec::new();
    for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        let address = one(text)?;
        if !found.contains(&address) {
            found.push(address);
        }
    }
    if found.is_empty() || found.len() > ENDPOINTS_MAX {
        let bound = format!("1 to {ENDPOINTS_MAX} addresses are expected, as in http://a:7420,http://b:7420");
        return Err(Error::field("server", shown(list), bound));
    }
    Ok(found)
}

fn one(text: &str) -> Result<Address, Error> {
    let fault = |bound: &str| Error::field("server", shown(text), bound);
    let uri: Uri = text.parse().map_err(|_| fault("an address such as http://a:7420 is expected"))?;
    let scheme = match uri.scheme_str() {
        Some("http") => "http",
        Some("https") => "https",
        _ => return Err(fault("http:// or https:// is expected in front")),
    };
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
        return Err(fault("no path is expected"));
    }
    let authority = uri.authority().ok_or_else(|| fault("a host is expected"))?;
    if authority.as_str().contains('@') {
        return Err(fault("no user is expected"));
    }
    let port = match authority.port() {
        Some(port) => port.as_str().parse().map_err(|_| fault("a port from 1 to 65535 is expected"))?,
        None if authority.as_str() == authority.host() => PORT,
        None => return Err(fault("a port from 1 to 65535 is expected")),
    };
    let host = authority.host();
    let origin =
        Uri::builder().scheme(scheme).authority(format!("{host}:{port}")).path_and_query("/").build();
    let origin = origin.map_err(|_| fault("a host is expected"))?;
    // A socket expects an IPv6 address without brackets.
    Ok(Address { origin, host: host.trim_matches(['[', ']']).to_owned(), port })
}

/// An address for an error: what stands before the last @ may hold a password.
fn shown(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, host)) => format!("\"***@{host}\""),
        None => format!("{text:?}"),
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let authority = self.origin.authority().map_or("", |authority| authority.as_str());
        let scheme = if self.is_tls() { "https" } else { "http" };
        write!(f, "{scheme}://{authority}")
    }
}

impl Address {
    /// Whether connections are encrypted.
    pub(crate) fn is_tls(&self) -> bool {
        self.origin.scheme_str() == Some("https")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_faults_are_named() {
        let shown = |list: &str| {
            parse(list).map(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(
            shown("http://a:7420, http://b/,http://[::1]:9,http://a,https://a").unwrap(),
            "http://a:7420 http://b:7420 http://[::1]:9 https://a:7420"
        );
        assert_eq!(parse("http://[::1]:9").unwrap()[0].host, "::1");
        let many: Vec<String> = (0..65).map(|n| format!("http://h{n}")).collect();
        let many = many.join(",");
        for bad in [
            "",
            ",",
            "a:7420",
            "ftp://a",
            "http://a:x",
            "http://a:70000",
            "http://u@a",
            "http://a/x",
            "http://",
            &many,
        ] {
            let error = parse(bad).unwrap_err();
            assert_eq!(error.fields()[0].field, "server", "{bad}");
        }
        for secret in ["http://u:geheim@a", "u:geheim@a", "http://u:geheim@a/x", "http://ge@heim@a"] {
            let error = parse(secret).unwrap_err().to_string();
            assert!(error.contains("***@a") && !error.contains("heim@"), "{error}");
        }
    }
}
