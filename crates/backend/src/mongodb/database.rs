//! One shard's collections: verbs on a bounded pool, bounded retries, and connections that are given up.

use std::time::Duration;

use mongodb::bson::doc;
use sequent_core::SourceError;

use super::{
    MongodbOptions, MongodbUrl,
    fault::Fault,
    link::Link,
    pool::{Loan, Pool},
    target::Target,
    work::Work,
};

/// How often collections that are replaced while a verb is at work are connected to again.
const ROUNDS_MAX: usize = 4;

/// How often a verb that met another write is tried in all.
const TRIES_MAX: usize = 8;

/// The longest pause before it is tried again; the real one is random up to this.
const PAUSE_MAX: Duration = Duration::from_millis(4);

/// A shard's collections, whoever uses them in this process.
pub(super) struct Database {
    target: Target,
    pool: Pool,
}

impl Database {
    pub(super) fn new(url: MongodbUrl, options: MongodbOptions) -> Self {
        let pool = Pool::new(options.pool.clamp(1, MongodbOptions::POOL_MAX));
        Self { target: Target { url, options }, pool }
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// Runs a verb on a connection to the collections that are there now.
    pub(super) async fn perform<W: Work>(&self, work: W) -> Result<W::Out, SourceError> {
        let mut rounds = 1;
        let done = loop {
            match self.once(&work).await {
                // The connection, and all others, were given up: another one learns who speaks now.
                Err(Fault::Stale(_)) if rounds < ROUNDS_MAX => rounds += 1,
                done => break done,
            }
        };
        done.map_err(|fault| {
            let fault = if self.pool.used() { fault.of_one_known() } else { fault };
            fault.into_error(&format!("{} store {}", W::VERB, self.target.url))
        })
    }

    /// Closes the idle connections, and those on loan as they come back; the next verb opens another.
    pub(super) fn close(&self) {
        self.pool.renew();
    }

    async fn once<W: Work>(&self, work: &W) -> Result<W::Out, Fault> {
        let loan = self.borrow().await?;
        let mut tries = 1;
        let done = loop {
            match work.run(loan.link()?).await {
                Err(Fault::Busy(_)) if tries < TRIES_MAX => tries += 1,
                done => break done,
            }
            tokio::time::sleep(PAUSE_MAX.mul_f64(self.target.options.entropy.fraction())).await;
        };
        if matches!(done, Ok(_) | Err(Fault::Answer(_) | Fault::Busy(_))) {
            loan.give_back(self.target.options.clock.now());
        }
        done
    }

    /// A connection that lives: the one used last, or a new one.
    async fn borrow(&self) -> Result<Loan<'_>, Fault> {
        let mut place = self.pool.place().await?;
        match place.idle(self.target.options.clock.now()) {
            Ok((loan, idle)) => {
                let trusted = idle < self.target.options.keep_alive;
                if trusted || loan.link()?.line().run(doc! { "ping": 1 }).await.is_ok() {
                    return Ok(loan);
                }
                // Its place goes with it.
                drop(loan);
                place = self.pool.place().await?;
            }
            Err(kept) => place = kept,
        }
        let link = Link::open(&self.target, self.pool.used()).await?;
        Ok(place.fresh(link))
    }
}
