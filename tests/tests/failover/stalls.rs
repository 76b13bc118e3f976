//! The machine's own pauses: what nobody here can help is added to bounds, and shown.

use std::{
    fs::File,
    io::{Seek, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How long the watcher sleeps between two looks at the clock.
const NAP: Duration = Duration::from_millis(5);

/// A look that comes later than this is a stall: below it is what two busy cores do all the time.
const LATE: Duration = Duration::from_millis(25);

/// How often a block is brought to the disk, and from when on that is a stall.
const WRITE_EVERY: Duration = Duration::from_millis(50);
const WRITE_LATE: Duration = Duration::from_millis(100);

/// Two threads that do next to nothing, and note when even that took long.
pub(crate) struct Stalls {
    seen: Arc<Mutex<Vec<(Instant, Instant)>>>,
    stopped: Arc<AtomicBool>,
}

impl Stalls {
    /// Watches processor and disk.
    pub(crate) fn watch() -> Self {
        let stalls = Self { seen: Arc::default(), stopped: Arc::default() };
        stalls.spawn(LATE, || thread::sleep(NAP));
        let mut file: File = tempfile::tempfile().unwrap();
        let mut rested = Instant::now();
        stalls.spawn(WRITE_LATE, move || {
            // The rest is not part of what is measured, or every write would be as late as the processor.
            if rested.elapsed() < WRITE_EVERY {
                return thread::sleep(NAP);
            }
            file.rewind().unwrap();
            file.write_all(&[1; 512]).unwrap();
            file.sync_data().unwrap();
            rested = Instant::now();
        });
        stalls
    }

    fn spawn(&self, late: Duration, mut work: impl FnMut() + Send + 'static) {
        let (seen, stopped) = (Arc::clone(&self.seen), Arc::clone(&self.stopped));
        thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let begun = Instant::now();
                work();
                if begun.elapsed() > late {
                    seen.lock().unwrap().push((begun, Instant::now()));
                }
            }
        });
    }

    /// For how long the machine stood still between two moments, as far as was seen: what both watchers saw at once counts once.
    pub(crate) fn within(&self, from: Instant, to: Instant) -> Duration {
        let mut seen = self.seen.lock().unwrap().clone();
        seen.sort_unstable();
        let mut counted = from;
        let mut stood = Duration::ZERO;
        for (begun, ended) in seen {
            let ended = ended.min(to);
            stood += ended.saturating_duration_since(begun.max(counted));
            counted = counted.max(ended);
        }
        stood
    }
}

impl Drop for Stalls {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

#[test]
fn what_overlaps_counts_and_nothing_else() {
    let stalls = Stalls { seen: Arc::default(), stopped: Arc::default() };
    let at = Instant::now();
    let ms = |ms: u64| at + Duration::from_millis(ms);
    stalls.seen.lock().unwrap().extend([(ms(100), ms(200)), (ms(500), ms(600))]);
    assert_eq!(stalls.within(ms(150), ms(550)), Duration::from_millis(100));
    assert_eq!(stalls.within(ms(200), ms(500)), Duration::ZERO);
    // The other watcher's, one that reaches beyond and one that lies inside.
    stalls.seen.lock().unwrap().extend([(ms(150), ms(250)), (ms(520), ms(540))]);
    assert_eq!(stalls.within(ms(0), ms(400)), Duration::from_millis(150));
    assert_eq!(stalls.within(ms(0), ms(1000)), Duration::from_millis(250));
}
