//! Quota of pending requests over all listeners: bodies that have not arrived, and long calls.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use sequent_engine::Reason;

use crate::{
    error::ApiError,
    limits::{
        BODIES_MAX, BODIES_OF_ADDRESS_MAX, BODY_FREE, PENDING_FREE, PENDING_MAX, PENDING_OF_ADDRESS_MAX,
    },
};

/// Pending requests of all connections. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingQuota(Arc<Totals>);

#[derive(Debug, Default)]
struct Totals {
    used: Used,
    addresses: Mutex<HashMap<IpAddr, OfAddress>>,
}

/// The connections of one address.
#[derive(Debug, Default)]
struct OfAddress {
    connections: usize,
    used: Arc<Used>,
}

/// What all connections have, or those of one address.
#[derive(Debug, Default)]
struct Used {
    permits: AtomicUsize,
    /// Bytes that are reserved.
    bytes: AtomicUsize,
}

/// Pending requests of one connection. The first ones are always allowed, so that other connections can't take them
/// away.
#[derive(Debug)]
pub(crate) struct ConnectionShare {
    all: PendingQuota,
    address: IpAddr,
    of_address: Arc<Used>,
    permits: AtomicUsize,
    /// Its places in the queue of proofs.
    pub(super) proofs: AtomicUsize,
}

/// Permit of one pending request, returned when it is dropped.
#[derive(Debug)]
pub(crate) struct PendingPermit {
    share: Arc<ConnectionShare>,
    /// Whether it counts against the limit of all connections.
    is_shared: bool,
    /// Bytes that it has reserved.
    bytes: usize,
}

impl PendingQuota {
    /// The share of a new connection, whose peer is counted under this address.
    pub(crate) fn connection_share(&self, address: IpAddr) -> Arc<ConnectionShare> {
        let mut addresses = self.addresses();
        let of_address = addresses.entry(address).or_default();
        of_address.connections += 1;
        Arc::new(ConnectionShare {
            all: self.clone(),
            address,
            of_address: Arc::clone(&of_address.used),
            permits: AtomicUsize::new(0),
            proofs: AtomicUsize::new(0),
        })
    }

    fn addresses(&self) -> MutexGuard<'_, HashMap<IpAddr, OfAddress>> {
        self.0.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionShare {
    fn drop(&mut self) {
        let mut addresses = self.all.addresses();
        if let Some(of_address) = addresses.get_mut(&self.address) {
            of_address.connections -= 1;
            // Without this, the map would keep every address that ever connected.
            if of_address.connections == 0 {
                addresses.remove(&self.address);
            }
        }
    }
}

impl ConnectionShare {
    /// What all connections have, and those of its address.
    fn used(&self) -> [&Used; 2] {
        [&self.all.0.used, &self.of_address]
    }

    /// Takes a permit, unless the limit is reached.
    pub(crate) fn acquire(self: &Arc<Self>) -> Result<PendingPermit, ApiError> {
        let own = self.permits.fetch_add(1, Ordering::Relaxed);
        let permit = PendingPermit { share: Arc::clone(self), is_shared: own >= PENDING_FREE, bytes: 0 };
        if !permit.is_shared {
            return Ok(permit);
        }
        // Both are counted, and both are given back.
        let of_address = self.of_address.permits.fetch_add(1, Ordering::Relaxed);
        let all = self.all.0.used.permits.fetch_add(1, Ordering::Relaxed);
        let (of, most) = if of_address >= PENDING_OF_ADDRESS_MAX {
            (" of this address", PENDING_OF_ADDRESS_MAX)
        } else if all >= PENDING_MAX {
            ("", PENDING_MAX)
        } else {
            return Ok(permit);
        };
        let text =
            format!("this server waits for the rest of {most} requests{of}: at most {most} are allowed");
        Err(ApiError::new(Reason::QuotaExceeded, text))
    }
}

impl PendingPermit {
    /// Reserves memory for a body of which `size` bytes are held. Fails if all bodies together hold too much. The
    /// first [`BODY_FREE`] bytes are free.
    pub(crate) fn reserve(&mut self, size: usize) -> Result<(), ApiError> {
        let more = size.saturating_sub(BODY_FREE + self.bytes);
        if more == 0 {
            return Ok(());
        }
        self.bytes += more;
        // Both are counted, and both are given back.
        let of_address = self.share.of_address.bytes.fetch_add(more, Ordering::Relaxed) + more;
        let all = self.share.all.0.used.bytes.fetch_add(more, Ordering::Relaxed) + more;
        let (of_address, of_server, most) = if of_address > BODIES_OF_ADDRESS_MAX {
            (" of this address", "", BODIES_OF_ADDRESS_MAX)
        } else if all > BODIES_MAX {
            ("", " of this server", BODIES_MAX)
        } else {
            return Ok(());
        };
        let text = format!(
            "unfinished requests{of_address} fill {most} bytes{of_server}: at most {most} are allowed"
        );
        Err(ApiError::new(Reason::QuotaExceeded, text))
    }

    /// Lowers the reservation, after part of the body was consumed.
    pub(crate) fn shrink_to(&mut self, size: usize) {
        let less = self.bytes.saturating_sub(size.saturating_sub(BODY_FREE));
        if less > 0 {
            self.bytes -= less;
            for used in self.share.used() {
                used.bytes.fetch_sub(less, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for PendingPermit {
    fn drop(&mut self) {
        self.share.permits.fetch_sub(1, Ordering::Relaxed);
        for used in self.share.used() {
            used.permits.fetch_sub(usize::from(self.is_shared), Ordering::Relaxed);
            used.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_bounded_and_takes_no_connections_own_places() {
        let all = PendingQuota::default();
        let busy: Vec<_> = (1..=5).map(|at| all.connection_share([10, 0, 0, at].into())).collect();
        let other = all.connection_share([10, 0, 0, 1].into());
        let most = PENDING_FREE + PENDING_OF_ADDRESS_MAX;
        let mut held: Vec<PendingPermit> = Vec::new();
        for share in &busy[..4] {
            held.extend((0..most).map(|_| share.acquire().expect("within the bound")));
            assert_eq!(
                share.acquire().unwrap_err().reason(),
                Reason::QuotaExceeded,
                "a quarter for one address"
            );
        }
        held.extend((0..PENDING_FREE).map(|_| busy[4].acquire().expect("its own")));
        assert_eq!(busy[4].acquire().unwrap_err().reason(), Reason::QuotaExceeded, "all are taken");
        let own: Vec<PendingPermit> = (0..PENDING_FREE).map(|_| other.acquire().expect("its own")).collect();
        assert_eq!(other.acquire().unwrap_err().reason(), Reason::QuotaExceeded);
        drop((held, own));
        assert_eq!(
            (all.0.used.permits.load(Ordering::Relaxed), busy[0].permits.load(Ordering::Relaxed)),
            (0, 0)
        );
        assert_eq!(busy[0].of_address.permits.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn large_bodies_fill_the_room_and_small_ones_need_none() {
        const OF_ADDRESS: usize = BODIES_OF_ADDRESS_MAX;
        let all = PendingQuota::default();
        let share = all.connection_share(std::net::Ipv4Addr::LOCALHOST.into());
        let mut large = share.acquire().unwrap();
        large.reserve(BODY_FREE + 1).unwrap();
        large.reserve(BODY_FREE + OF_ADDRESS).unwrap();
        let mut other = share.acquire().unwrap();
        assert_eq!(other.reserve(BODY_FREE + 1).unwrap_err().reason(), Reason::QuotaExceeded);
        share.acquire().unwrap().reserve(BODY_FREE).unwrap();
        drop(other);
        // Other addresses have room, until all together have none.
        let shares: Vec<_> = (1..=4).map(|at| all.connection_share([10, 0, 0, at].into())).collect();
        let mut others: Vec<_> = shares.iter().map(|share| share.acquire().unwrap()).collect();
        for (at, other) in others.iter_mut().enumerate() {
            assert_eq!(other.reserve(BODY_FREE + OF_ADDRESS).is_ok(), at < 3, "{at}");
        }
        drop((others, shares));
        assert_eq!(all.addresses().len(), 1, "addresses without connections are let go");
        large.shrink_to(BODY_FREE + 7);
        assert_eq!(all.0.used.bytes.load(Ordering::Relaxed), 7);
        large.shrink_to(BODY_FREE + 9);
        assert_eq!(all.0.used.bytes.load(Ordering::Relaxed), 7, "what was used does not come back");
        share.acquire().unwrap().reserve(BODY_FREE + OF_ADDRESS - 7).unwrap();
        drop(large);
        assert_eq!(all.0.used.bytes.load(Ordering::Relaxed), 0);
    }
}
