//! Variables that Kubernetes sets for each Service of a namespace ("service links").
//!
//! A Service called `sequent-ledger` puts `SEQUENT_LEDGER_SERVICE_HOST`, `SEQUENT_LEDGER_PORT` and others into every
//! pod of its namespace. They are not meant for this program, so they are neither keys nor faults.

use std::net::{IpAddr, SocketAddr};

/// Whether Kubernetes set this variable for a Service, by the end of its name and the form of its value.
///
/// The value counts as well: `SEQUENT_LEDGER_PORT=3306` is a user's mistake, and stays a fault.
pub(super) fn is_service_link(name: &str, value: &str) -> bool {
    if name.ends_with("_SERVICE_HOST") {
        return is_address(value);
    }
    if name.ends_with("_SERVICE_PORT") || name.contains("_SERVICE_PORT_") {
        return is_port(value);
    }
    if name.ends_with("_PORT") && is_url(value) {
        return true;
    }
    let mut parts = name.rsplit_once("_PORT_").map_or("", |(_, rest)| rest).splitn(3, '_');
    let (port, protocol) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let is_of_port = is_port(port) && is_protocol(&protocol.to_lowercase());
    is_of_port
        && match parts.next() {
            None => is_url(value),
            Some("PROTO") => is_protocol(value),
            Some("PORT") => value == port,
            Some("ADDR") => is_address(value),
            Some(_) => false,
        }
}

fn is_address(value: &str) -> bool {
    value.parse::<IpAddr>().is_ok()
}

fn is_port(value: &str) -> bool {
    value.parse::<u16>().is_ok()
}

fn is_protocol(value: &str) -> bool {
    matches!(value, "tcp" | "udp" | "sctp")
}

fn is_url(value: &str) -> bool {
    let parts = value.split_once("://");
    parts.is_some_and(|(protocol, place)| is_protocol(protocol) && place.parse::<SocketAddr>().is_ok())
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Sources};

    /// The number of faults of a configuration with one variable.
    fn faults(name: &str, value: &str) -> usize {
        let mut sources = Sources::embedded("data");
        sources.environment.insert(name.to_owned(), value.to_owned());
        Config::load(&sources).map_or_else(|faults| faults.0.len(), |_| 0)
    }

    #[test]
    fn variables_of_a_service_called_as_a_section_are_passed_over() {
        for (name, value) in [
            ("SEQUENT_LEDGER_SERVICE_HOST", "10.0.0.1"),
            ("SEQUENT_LEDGER_SERVICE_PORT", "3306"),
            ("SEQUENT_LEDGER_SERVICE_PORT_MYSQL", "3306"),
            ("SEQUENT_LEDGER_PORT", "tcp://10.0.0.1:3306"),
            ("SEQUENT_RING_PORT", "udp://[fd00::1]:53"),
            ("SEQUENT_LEDGER_PORT_3306_TCP", "tcp://10.0.0.1:3306"),
            ("SEQUENT_LEDGER_PORT_3306_TCP_PROTO", "tcp"),
            ("SEQUENT_LEDGER_PORT_3306_TCP_PORT", "3306"),
            ("SEQUENT_LEDGER_PORT_3306_TCP_ADDR", "fd00::1"),
            ("SEQUENT_RING_A_SERVICE_HOST", "10.0.0.1"),
        ] {
            assert_eq!(faults(name, value), 0, "{name}={value}");
        }
    }

    #[test]
    fn all_other_variables_of_a_section_stay_faults() {
        for (name, value) in [
            ("SEQUENT_LEDGER_SERVICE_HOST", "db.example"),
            ("SEQUENT_LEDGER_SERVICE_PORT", "mysql"),
            ("SEQUENT_LEDGER_PORT", "3306"),
            ("SEQUENT_LEDGER_PORT", "tcp://db.example:3306"),
            ("SEQUENT_LEDGER_PORT_3306_TCP_NAME", "tcp"),
            ("SEQUENT_LEDGER_PORT_3306_HTTP", "tcp://10.0.0.1:3306"),
            ("SEQUENT_LEDGER_HOST", "10.0.0.1"),
            ("SEQUENT_RING_SHARDBITS", "1"),
        ] {
            assert_eq!(faults(name, value), 1, "{name}={value}");
        }
    }
}
