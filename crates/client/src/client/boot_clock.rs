//! Boot-time clock for the age of leases: it advances while the machine is suspended.

use std::time::{Duration, Instant, SystemTime};

use sequent_core::{Clock, SystemClock};

/// Clock that includes suspension (`CLOCK_BOOTTIME`), for ages only. Timers run on the monotonic clock, which stops
/// during suspension, so no deadline may use this clock.
#[derive(Debug)]
pub(crate) struct BootClock {
    origin: Instant,
    booted: Duration,
}

impl BootClock {
    pub(crate) fn new() -> Self {
        Self { origin: SystemClock.now(), booted: since_boot() }
    }
}

impl Clock for BootClock {
    fn now(&self) -> Instant {
        self.origin + since_boot().saturating_sub(self.booted)
    }

    fn wall(&self) -> SystemTime {
        SystemClock.wall()
    }
}

#[cfg(target_os = "linux")]
fn since_boot() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Other systems have no such clock: the monotonic clock is used.
#[cfg(not(target_os = "linux"))]
fn since_boot() -> Duration {
    use std::sync::LazyLock;
    static START: LazyLock<Instant> = LazyLock::new(|| SystemClock.now());
    SystemClock.now().saturating_duration_since(*START)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_goes_back_and_keeps_up() {
        let (clock, started) = (BootClock::new(), SystemClock.now());
        let first = clock.now();
        while SystemClock.now() < started + Duration::from_millis(5) {}
        assert!(clock.now() >= first + Duration::from_millis(4));
    }
}
