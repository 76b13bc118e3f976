//! How many connections a door has, in all and from one address.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

/// The bits of an IPv6 address that one customer is usually given.
const PREFIX: u128 = !0 << 64;

/// The connections of one door. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(Arc<Mutex<Taken>>);

#[derive(Debug, Default)]
struct Taken {
    all: u64,
    by_address: HashMap<IpAddr, u64>,
}

/// A connection's place, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    of: Places,
    address: IpAddr,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// The door has as many as it may.
    Door,
    /// This address has as many as it may.
    Address,
}

impl Places {
    /// A place for a peer, within the most of the door and the most of an address.
    pub(crate) fn take(&self, peer: IpAddr, (most, most_of_one): (u64, u64)) -> Result<Place, Full> {
        let address = customer(peer);
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.all >= most {
            return Err(Full::Door);
        }
        let of_one = taken.by_address.entry(address).or_insert(0);
        if *of_one >= most_of_one {
            return Err(Full::Address);
        }
        *of_one += 1;
        taken.all += 1;
        Ok(Place { of: self.clone(), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.of.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all = taken.all.saturating_sub(1);
        if let Some(of_one) = taken.by_address.get_mut(&self.address) {
            *of_one = of_one.saturating_sub(1);
            // Else every address that ever came would be remembered.
            if *of_one == 0 {
                taken.by_address.remove(&self.address);
            }
        }
    }
}

/// Whom an address stands for: of IPv6, its first half.
fn customer(peer: IpAddr) -> IpAddr {
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
        let (places, most) = (Places::default(), (3, 2));
        let [a, b, mapped]: [IpAddr; 3] =
            ["10.0.0.1", "10.0.0.2", "::ffff:10.0.0.1"].map(|text| text.parse().unwrap());
        let first = places.take(a, most).unwrap();
        let second = places.take(mapped, most).unwrap();
        assert_eq!(places.take(a, most).unwrap_err(), Full::Address);
        let third = places.take(b, most).unwrap();
        assert_eq!(places.take(b, most).unwrap_err(), Full::Door);
        drop(first);
        let again = places.take(b, most).unwrap();
        drop((second, third, again));
        let taken = places.0.lock().unwrap();
        assert!(taken.by_address.is_empty() && taken.all == 0, "{taken:?}");
    }

    #[test]
    fn a_host_that_changes_the_low_half_of_its_address_is_the_same() {
        let [a, b, other]: [IpAddr; 3] =
            ["2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"].map(|text| text.parse().unwrap());
        assert_eq!(customer(a), customer(b));
        assert_ne!(customer(a), customer(other));
    }
}
