//! A free port that stays ours while nothing listens on it, as between a kill and a restart.

use std::{
    hash::{BuildHasher, RandomState},
    net::{Ipv4Addr, SocketAddr as Address, TcpListener},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
};

/// Below the ports that Linux gives to outgoing connections: one of those could take ours while the server is down.
const FIRST: u16 = 15_000;
/// How many ports there are to choose from, and so how many are tried.
const COUNT: u16 = 16_000;

/// A port of 127.0.0.1, held against the other tests of this machine until dropped.
#[derive(Debug)]
pub struct Port {
    number: u16,
    /// A name in the abstract namespace, which ends with the process that has it: no file is left behind.
    _held: UnixListener,
}

impl Port {
    /// A port on which nothing listens.
    ///
    /// # Panics
    ///
    /// If none is free.
    pub fn reserve() -> Self {
        let start = RandomState::new().hash_one(std::process::id()) % u64::from(COUNT);
        (0..COUNT)
            .map(|step| FIRST + (u16::try_from(start).unwrap_or(0) + step) % COUNT)
            .find_map(Self::hold)
            .unwrap_or_else(|| panic!("no port of {FIRST}..{} is free", FIRST + COUNT))
    }

    fn hold(number: u16) -> Option<Self> {
        let name = SocketAddr::from_abstract_name(format!("sequent-test-port-{number}")).ok()?;
        let held = UnixListener::bind_addr(&name).ok()?;
        TcpListener::bind((Ipv4Addr::LOCALHOST, number)).ok()?;
        Some(Self { number, _held: held })
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// `127.0.0.1` with the port.
    pub fn address(&self) -> Address {
        (Ipv4Addr::LOCALHOST, self.number).into()
    }
}

#[test]
fn a_port_is_given_once_and_can_be_listened_on() {
    let ports: Vec<Port> = (0..50).map(|_| Port::reserve()).collect();
    let numbers: std::collections::HashSet<u16> = ports.iter().map(Port::number).collect();
    assert_eq!(numbers.len(), ports.len());
    assert!(Port::hold(ports[0].number()).is_none());
    assert!(TcpListener::bind(ports[0].address()).is_ok());
}
