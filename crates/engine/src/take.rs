//! What a server asks for: a number that is ready, numbers within its own bounds, a lease; definitions read again.

use std::time::Instant;

use sequent_buffer::TakeError;
use sequent_core::SequenceName;

use crate::{Engine, EngineError, Issued, OpenError, config::Config, live::Ready};

/// A take tries so many reservoirs of one key, where each is closed under its hands.
const TRIES_MAX: u32 = 3;

impl Engine {
    /// A number that is ready, or `None`: where the sequence is not in use yet, its numbers are not there yet, or the
    /// text is no name. Never waits; makes no task, no text and no key, and reads one shared table.
    ///
    /// Finding a sequence in use and nothing ready, it begins a refill: [`take`](Self::take) then waits for it.
    pub fn try_next(&self, name: &str) -> Option<Ready> {
        self.0.keys.get(name)?.try_next()
    }

    /// `count` numbers, all or nothing, for a door that has checked `count` against bounds of its own.
    pub async fn take(
        &self,
        name: &SequenceName,
        count: u64,
        deadline: Instant,
    ) -> Result<Issued, EngineError> {
        let mut tries = 0;
        loop {
            let live = self.live(name, deadline).await?;
            tries += 1;
            match live.reservoir().take(count, Some(deadline)).await {
                Ok(numbers) => {
                    return Ok(Issued { sequence: name.clone(), numbers, version: live.version() });
                }
                // It has just been taken out of use: its successor serves.
                Err(TakeError::Closed) if tries < TRIES_MAX => {}
                Err(error) => return Err(self.failed(name, error)),
            }
        }
    }

    /// At most `count` numbers for a holder that hands them out by itself: cut from the same reservoir, and never more
    /// than a thousandth of what is left of the key, since a holder that dies skips them.
    pub async fn lease(
        &self,
        name: &SequenceName,
        count: u64,
        deadline: Instant,
    ) -> Result<Issued, EngineError> {
        let most = self.live(name, deadline).await?.lease_max();
        self.take(name, count.clamp(1, most), deadline).await
    }

    /// Takes up the sequences and the patterns of `auto_create` that a configuration has now: all of it, or nothing and
    /// why. A sequence that is no longer in the file stays in force, as at a start.
    pub async fn reload(&self, config: &Config) -> Result<(), OpenError> {
        if let Some(trouble) = self.0.keeper.trouble() {
            return Err(OpenError::of_source(&trouble.error()));
        }
        let brought = self.0.catalog.reload(&config.sequences, &config.auto_create).await;
        self.0.let_go();
        brought
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, config::Sources};
    use sequent_core::{Clock, SystemClock};
    use std::time::Duration;

    #[tokio::test]
    async fn what_is_ready_is_given_at_once_and_continues_in_order() {
        let data = tempfile::tempdir().unwrap();
        let config = Config::load(&Sources::embedded(data.path().join("data"))).unwrap();
        let engine = Engine::open(config, Options::default()).await.unwrap();
        let name: SequenceName = "order".parse().unwrap();
        let soon = SystemClock.now() + Duration::from_secs(20);
        for text in ["order", "", "../x"] {
            assert_eq!(engine.try_next(text), None, "{text:?} is not in use");
        }
        for wanted in 1..=3 {
            assert_eq!(engine.take(&name, 1, soon).await.unwrap().numbers.highest(), Some(wanted));
        }
        // More than that was refilled by now, or is about to be.
        let (mut given, mut rounds) = (3, 0);
        while given < 30 {
            match engine.try_next("order") {
                Some(ready) => {
                    given += 1;
                    assert_eq!((ready.number, ready.version), (given, 1));
                }
                None => tokio::time::sleep(Duration::from_millis(1)).await,
            }
            rounds += 1;
            assert!(rounds < 20_000, "{given} numbers");
        }
        engine.shutdown().await;
        assert_eq!(engine.try_next("order"), None, "it has stopped");
    }

    #[tokio::test]
    async fn a_lease_is_a_small_part_of_what_is_left() {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("x.toml");
        let text = "cluster = \"x\"\n[[sequence]]\nname = \"short\"\nversion = 1\nend = 10000\nplacement = \"spread\"\n";
        std::fs::write(&file, text).unwrap();
        let config = Config::load(&Sources::embedded(data.path().join("data")).file(file)).unwrap();
        let engine = Engine::open(config, Options::default()).await.unwrap();
        let name: SequenceName = "short".parse().unwrap();
        let soon = SystemClock.now() + Duration::from_secs(20);
        let first = engine.lease(&name, 1_000_000, soon).await.unwrap().numbers.count();
        assert_eq!(first, 10);
        engine.take(&name, 9985, soon).await.unwrap();
        // As many as there are, one by one: a lease never fails because it asked for more than is left.
        let mut left = 0;
        while let Ok(lease) = engine.lease(&name, 1_000_000, soon).await {
            left += lease.numbers.count();
        }
        assert_eq!(left, 5);
        engine.shutdown().await;
    }
}
