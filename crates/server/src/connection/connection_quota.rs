//! Quota of open connections of a listener: in total, and per address.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

/// Prefix of an IPv6 address that one customer usually has: 64 bits.
const PREFIX: u128 = !0 << 64;

/// Open connections of one listener. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionQuota(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    all: u64,
    by_address: HashMap<IpAddr, u64>,
}

/// Permit of one connection, returned when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    quota: ConnectionQuota,
    address: IpAddr,
}

/// Which limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuotaFull {
    /// The limit of the listener.
    Listener,
    /// The limit of this address.
    Address,
}

impl ConnectionQuota {
    /// Takes a permit for a peer, within the limit of the listener and the limit per address.
    pub(crate) fn acquire(
        &self,
        peer: IpAddr,
        (most, most_of_one): (u64, u64),
    ) -> Result<ConnectionPermit, QuotaFull> {
        let address = address_group(peer);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.all >= most {
            return Err(QuotaFull::Listener);
        }
        let of_one = counts.by_address.entry(address).or_insert(0);
        if *of_one >= most_of_one {
            return Err(QuotaFull::Address);
        }
        *of_one += 1;
        counts.all += 1;
        Ok(ConnectionPermit { quota: self.clone(), address })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut counts = self.quota.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all = counts.all.saturating_sub(1);
        if let Some(of_one) = counts.by_address.get_mut(&self.address) {
            *of_one = of_one.saturating_sub(1);
            // Without this, the map would keep every address that ever connected.
            if *of_one == 0 {
                counts.by_address.remove(&self.address);
            }
        }
    }
}

/// The address that a peer is counted under: an IPv4 address, or the first half of an IPv6 address.
fn address_group(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & PREFIX)),
        four @ IpAddr::V4(_) => four,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_by_address_and_given_back() {
        let (quota, most) = (ConnectionQuota::default(), (3, 2));
        let [a, b, mapped]: [IpAddr; 3] =
            ["10.0.0.1", "10.0.0.2", "::ffff:10.0.0.1"].map(|text| text.parse().unwrap());
        let first = quota.acquire(a, most).unwrap();
        let second = quota.acquire(mapped, most).unwrap();
        assert_eq!(quota.acquire(a, most).unwrap_err(), QuotaFull::Address);
        let third = quota.acquire(b, most).unwrap();
        assert_eq!(quota.acquire(b, most).unwrap_err(), QuotaFull::Listener);
        drop(first);
        let again = quota.acquire(b, most).unwrap();
        drop((second, third, again));
        let counts = quota.0.lock().unwrap();
        assert!(counts.by_address.is_empty() && counts.all == 0, "{counts:?}");
    }

    #[test]
    fn a_host_that_changes_the_low_half_of_its_address_is_the_same() {
        let [a, b, other]: [IpAddr; 3] =
            ["2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"].map(|text| text.parse().unwrap());
        assert_eq!(address_group(a), address_group(b));
        assert_ne!(address_group(a), address_group(other));
    }
}
