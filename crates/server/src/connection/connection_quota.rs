//! Places of a listener's connections: in total, and per address. If none is left, the connection that has been idle
//! longest makes room.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
};

use crate::connection::activity::Activity;

/// Prefix of an IPv6 address that one customer usually has: 64 bits.
const PREFIX: u128 = !0 << 64;

/// Open connections of one listener. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionQuota(Arc<Mutex<Places>>);

#[derive(Debug, Default)]
struct Places {
    all: u64,
    /// Connections of each address, the one that was found active longest ago first.
    by_address: HashMap<IpAddr, BTreeMap<u64, Held>>,
    /// Addresses by their number of connections.
    by_count: BTreeSet<(usize, IpAddr)>,
    /// Position of the next connection.
    next: u64,
}

/// An open connection.
#[derive(Debug)]
struct Held {
    activity: Arc<Activity>,
    /// Its requests when it was looked at last.
    seen: u64,
}

/// Permit of one connection, returned when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    quota: ConnectionQuota,
    /// The address that it is counted under.
    pub(crate) address: IpAddr,
    /// What the connection does.
    pub(crate) activity: Arc<Activity>,
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
        let mut places = self.places();
        if places.all >= most {
            return Err(QuotaFull::Listener);
        }
        if places.by_address.get(&address).is_some_and(|held| held.len() as u64 >= most_of_one) {
            return Err(QuotaFull::Address);
        }
        places.all += 1;
        let activity = Arc::<Activity>::default();
        places.count(address, |places| places.add(address, Arc::clone(&activity), 0));
        Ok(ConnectionPermit { quota: self.clone(), address, activity })
    }

    /// The connection that shall make room for one of `peer`. In a full listener it is one of the address that has
    /// most, so that an address can't displace those that have few.
    ///
    /// A connection that has begun a request since it was looked at last is passed over once. So an idle connection
    /// goes before one in use, and a request has the time of a whole round. The looks are no more than connections and
    /// requests.
    pub(crate) fn longest_idle(&self, peer: IpAddr, full: QuotaFull) -> Option<Arc<Activity>> {
        let mut places = self.places();
        let address = match full {
            QuotaFull::Listener => places.by_count.last()?.1,
            QuotaFull::Address => address_group(peer),
        };
        // In the second round each was looked at before.
        let looks = 2 * places.by_address.get(&address)?.len();
        for look in 0..=looks {
            let (_, Held { activity, seen }) = places.by_address.get_mut(&address)?.pop_first()?;
            let requests = activity.requests();
            places.add(address, Arc::clone(&activity), requests);
            if requests == seen || look == looks {
                return Some(activity);
            }
        }
        None
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    /// Puts a connection behind the others of its address.
    fn add(&mut self, address: IpAddr, activity: Arc<Activity>, seen: u64) {
        self.next += 1;
        activity.position.store(self.next, Ordering::Relaxed);
        self.by_address.entry(address).or_default().insert(self.next, Held { activity, seen });
    }

    /// Changes the connections of an address, and keeps the order by count.
    fn count(&mut self, address: IpAddr, change: impl FnOnce(&mut Self)) {
        let of = |places: &Self| places.by_address.get(&address).map_or(0, BTreeMap::len);
        let before = of(self);
        change(self);
        let after = of(self);
        self.by_count.remove(&(before, address));
        if after > 0 {
            self.by_count.insert((after, address));
        } else {
            // Without this, the map would keep every address that ever connected.
            self.by_address.remove(&address);
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let (mut places, address) = (self.quota.places(), self.address);
        places.all = places.all.saturating_sub(1);
        places.count(address, |places| {
            let position = self.activity.position.load(Ordering::Relaxed);
            if let Some(held) = places.by_address.get_mut(&address) {
                held.remove(&position);
            }
        });
        drop(places);
        self.activity.is_gone();
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

    fn addresses<const N: usize>(texts: [&str; N]) -> [IpAddr; N] {
        texts.map(|text| text.parse().unwrap())
    }

    /// Whether `found` is the connection of `permit`.
    fn is_of(found: Option<Arc<Activity>>, permit: &ConnectionPermit) -> bool {
        Arc::ptr_eq(&found.unwrap(), &permit.activity)
    }

    #[test]
    fn places_are_counted_by_address_and_given_back() {
        let (quota, most) = (ConnectionQuota::default(), (3, 2));
        let [a, b, mapped] = addresses(["10.0.0.1", "10.0.0.2", "::ffff:10.0.0.1"]);
        let first = quota.acquire(a, most).unwrap();
        let second = quota.acquire(mapped, most).unwrap();
        assert_eq!(quota.acquire(a, most).unwrap_err(), QuotaFull::Address);
        let third = quota.acquire(b, most).unwrap();
        assert_eq!(quota.acquire(b, most).unwrap_err(), QuotaFull::Listener);
        drop(first);
        let again = quota.acquire(b, most).unwrap();
        drop((second, third, again));
        let places = quota.places();
        assert!(places.by_address.is_empty() && places.by_count.is_empty() && places.all == 0, "{places:?}");
    }

    #[test]
    fn the_longest_idle_of_the_address_with_most_makes_room() {
        let (quota, most) = (ConnectionQuota::default(), (4, 4));
        let [few, many] = addresses(["10.0.0.1", "10.0.0.2"]);
        let oldest = quota.acquire(few, most).unwrap();
        let held: Vec<_> = (0..3).map(|_| quota.acquire(many, most).unwrap()).collect();
        assert_eq!(quota.acquire(few, most).unwrap_err(), QuotaFull::Listener);
        held[0].activity.begin();
        let next = || quota.longest_idle(few, QuotaFull::Listener);
        assert!(is_of(next(), &held[1]), "the first one was used");
        assert!(is_of(next(), &held[2]));
        assert!(is_of(next(), &held[0]), "it was not used since");
        for permit in &held {
            permit.activity.begin();
        }
        assert!(is_of(next(), &held[1]), "all were used: the one that was looked at longest ago");
        assert!(is_of(quota.longest_idle(few, QuotaFull::Address), &oldest), "its own address is full");
        drop(held);
        assert!(is_of(next(), &oldest));
        drop(oldest);
        assert!(next().is_none());
    }

    #[test]
    fn a_host_that_changes_the_low_half_of_its_address_is_the_same() {
        let [a, b, other] = addresses(["2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"]);
        assert_eq!(address_group(a), address_group(b));
        assert_ne!(address_group(a), address_group(other));
    }
}
