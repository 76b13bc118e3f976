//! Retry rules for operations that collide with others: bounded in time and in number of tries.

use std::time::{Duration, Instant};

use sequent_core::Env;

use super::{
    Fault,
    call::{Connection, Run, Terms},
};

/// Time limit of all tries. It is below the 1 s limit of an attempt, so that a locked row or file is reported as
/// contended, which costs no connection.
const RETRY_FOR: Duration = Duration::from_millis(800);

/// A retry rule.
#[derive(Debug)]
pub(crate) struct RetryRule {
    /// The maximum number of tries.
    pub(crate) tries: u32,
    /// How many tries are followed by no pause.
    hasty: u32,
    /// The longest pause before the next try. The pause is random up to it, so that two equal clients do not collide
    /// again.
    pause_max: Duration,
    /// How often the longest pause doubles.
    doublings: u32,
}

/// Rule for collisions with other transactions on a server.
pub(crate) static ON_SERVERS: RetryRule =
    RetryRule { tries: 16, hasty: 0, pause_max: Duration::from_millis(2), doublings: 6 };

/// Rule for other processes' locks on a file. With sixteen processes on one file, none waited over 0.125 s; a longer
/// pause would starve the process that pauses.
pub(crate) static ON_FILES: RetryRule =
    RetryRule { tries: u32::MAX, hasty: 0, pause_max: Duration::from_millis(1), doublings: 0 };

/// Rule for writes that found other revisions than they had read. Each failed try means that another call succeeded.
/// Usually the time limit ends the tries first. The hasty ones decide on what the failed write before has read.
pub(crate) static ON_REVISIONS: RetryRule =
    RetryRule { tries: 256, hasty: 2, pause_max: Duration::from_millis(1), doublings: 4 };

/// The remaining time and tries of an operation.
pub(crate) struct Retry<'a> {
    rule: &'static RetryRule,
    env: &'a Env,
    until: Instant,
    tried: u32,
}

impl<'a> Retry<'a> {
    pub(crate) fn new(rule: &'static RetryRule, env: &'a Env) -> Self {
        Self { rule, env, until: env.clock.now() + RETRY_FOR, tried: 0 }
    }

    /// Runs a call under the instance that it names, and retries it while it collides with others.
    pub(crate) async fn attempts<C: Connection, T: Send>(
        &mut self,
        connection: &mut C,
        terms: Terms<'_>,
        run: &Run<'_, C, T>,
    ) -> Result<T, Fault> {
        if let Some(under) = terms.under
            && under != connection.instance()
        {
            return Err(Fault::instance_changed(under, connection.instance()));
        }
        loop {
            match connection.attempt(terms.mode, run).await {
                Err(fault @ Fault::Busy(_)) => self.after(fault).await?,
                done => return done,
            }
        }
    }

    /// Pauses after a fault that states that nothing was done, or returns the fault when time or tries are used up.
    pub(crate) async fn after(&mut self, fault: Fault) -> Result<(), Fault> {
        self.tried += 1;
        if self.tried >= self.rule.tries || self.env.clock.now() >= self.until {
            return Err(fault);
        }
        if let Some(paused) = self.tried.checked_sub(self.rule.hasty + 1) {
            let longest = self.rule.pause_max * (1 << paused.min(self.rule.doublings));
            tokio::time::sleep(longest.mul_f64(self.env.entropy.fraction())).await;
        }
        Ok(())
    }

    /// Whether no pause follows the current try.
    pub(crate) fn is_hasty(&self) -> bool {
        self.tried < self.rule.hasty
    }
}
