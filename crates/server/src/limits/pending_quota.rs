//! What stands open and waits: bodies that have not arrived, and calls that last. Bounded over all doors.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use sequent_engine::Reason;

use crate::{
    limits::{BODIES_MAX, BODY_FREE, STANDING_FREE, STANDING_MAX},
    service::api_error::Fault,
};

/// What stands open over all doors. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing(Arc<Sums>);

#[derive(Debug, Default)]
struct Sums {
    places: AtomicUsize,
    bytes: AtomicUsize,
}

/// What stands open on one connection. Its first places are its own, so that a crowd on other connections takes none of
/// them away.
#[derive(Debug)]
pub(crate) struct Share {
    all: Standing,
    places: AtomicUsize,
}

/// A place among what stands open, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    share: Arc<Share>,
    /// Whether it is one of those that all connections have together.
    common: bool,
    /// The bytes that are counted for it.
    bytes: usize,
}

impl Standing {
    /// The share of a new connection.
    pub(crate) fn share(&self) -> Arc<Share> {
        Arc::new(Share { all: self.clone(), places: AtomicUsize::new(0) })
    }
}

impl Share {
    /// A place, unless there are too many.
    pub(crate) fn take(self: &Arc<Self>) -> Result<Place, Fault> {
        let own = self.places.fetch_add(1, Ordering::Relaxed);
        let place = Place { share: Arc::clone(self), common: own >= STANDING_FREE, bytes: 0 };
        if place.common && self.all.0.places.fetch_add(1, Ordering::Relaxed) >= STANDING_MAX {
            let text = format!(
                "this server waits for the rest of {STANDING_MAX} requests: at most {STANDING_MAX} are allowed"
            );
            return Err(Fault::new(Reason::QuotaExceeded, text));
        }
        Ok(place)
    }
}

impl Place {
    /// Room for a body of which so much is held, unless all bodies together have too much. Its first bytes are free:
    /// an ordinary request has no more.
    pub(crate) fn hold(&mut self, size: usize) -> Result<(), Fault> {
        let more = size.saturating_sub(BODY_FREE + self.bytes);
        if more == 0 {
            return Ok(());
        }
        self.bytes += more;
        if self.share.all.0.bytes.fetch_add(more, Ordering::Relaxed) + more > BODIES_MAX {
            let text = format!(
                "unfinished requests fill {BODIES_MAX} bytes of this server: at most {BODIES_MAX} are allowed"
            );
            return Err(Fault::new(Reason::QuotaExceeded, text));
        }
        Ok(())
    }

    /// Less of that body is held: the rest of what came has been used.
    pub(crate) fn keep(&mut self, size: usize) {
        let less = self.bytes.saturating_sub(size.saturating_sub(BODY_FREE));
        if less > 0 {
            self.bytes -= less;
            self.share.all.0.bytes.fetch_sub(less, Ordering::Relaxed);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let all = &self.share.all.0;
        self.share.places.fetch_sub(1, Ordering::Relaxed);
        if self.common {
            all.places.fetch_sub(1, Ordering::Relaxed);
        }
        all.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_bounded_and_takes_no_connections_own_places() {
        let all = Standing::default();
        let (crowd, other) = (all.share(), all.share());
        let held: Vec<Place> =
            (0..STANDING_FREE + STANDING_MAX).map(|_| crowd.take().expect("within the bound")).collect();
        assert_eq!(crowd.take().unwrap_err().reason(), Reason::QuotaExceeded);
        let own: Vec<Place> = (0..STANDING_FREE).map(|_| other.take().expect("its own")).collect();
        assert_eq!(other.take().unwrap_err().reason(), Reason::QuotaExceeded);
        drop((held, own));
        assert_eq!((all.0.places.load(Ordering::Relaxed), crowd.places.load(Ordering::Relaxed)), (0, 0));
    }

    #[test]
    fn large_bodies_fill_the_room_and_small_ones_need_none() {
        let all = Standing::default();
        let share = all.share();
        let mut large = share.take().unwrap();
        large.hold(BODY_FREE + 1).unwrap();
        large.hold(BODY_FREE + BODIES_MAX).unwrap();
        let mut other = share.take().unwrap();
        assert_eq!(other.hold(BODY_FREE + 1).unwrap_err().reason(), Reason::QuotaExceeded);
        share.take().unwrap().hold(BODY_FREE).unwrap();
        drop(other);
        large.keep(BODY_FREE + 7);
        assert_eq!(all.0.bytes.load(Ordering::Relaxed), 7);
        large.keep(BODY_FREE + 9);
        assert_eq!(all.0.bytes.load(Ordering::Relaxed), 7, "what was used does not come back");
        share.take().unwrap().hold(BODY_FREE + BODIES_MAX - 7).unwrap();
        drop(large);
        assert_eq!(all.0.bytes.load(Ordering::Relaxed), 0);
    }
}
