//! How an operation is tried again that met others: within a time, and a number of tries.

use std::time::{Duration, Instant};

use sequent_core::Env;

use super::{
    Fault,
    operation::{Connection, Operation},
};

/// How long an operation is tried against others. An attempt's limit is 1 s: so that a row or a file which others hold is said to
/// be contended, which costs no connection, this is less.
const RETRY_FOR: Duration = Duration::from_millis(800);

/// How an operation is tried again.
#[derive(Debug)]
pub(crate) struct RetryRule {
    /// How many tries there are in all.
    tries: u32,
    /// The longest pause before the second try. The real one is random up to it, so that equals do not meet again.
    pause_max: Duration,
    /// How often the longest pause doubles.
    doublings: u32,
}

/// Against other transactions on a server.
pub(crate) static ON_SERVERS: RetryRule =
    RetryRule { tries: 16, pause_max: Duration::from_millis(2), doublings: 6 };

/// Against other processes' locks on a file: sixteen processes on one file waited at most 0.125 s, and whoever pauses for longer
/// starves.
pub(crate) static ON_FILES: RetryRule =
    RetryRule { tries: u32::MAX, pause_max: Duration::from_millis(1), doublings: 0 };

/// What is left of an operation's time and tries.
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

    /// Runs an operation under the instance that it names, again and again while others are in its way.
    pub(crate) async fn attempts<C: Connection, O: Operation<C>>(
        &mut self,
        connection: &mut C,
        operation: &O,
    ) -> Result<O::Out, Fault> {
        if let Some(under) = operation.under()
            && under != connection.instance()
        {
            return Err(Fault::reborn(under, connection.instance()));
        }
        loop {
            match connection.attempt(operation).await {
                Err(fault @ Fault::Busy(_)) => self.after(fault).await?,
                done => return done,
            }
        }
    }

    /// Waits a moment after a fault of which nothing was done, or gives up with it.
    pub(crate) async fn after(&mut self, fault: Fault) -> Result<(), Fault> {
        self.tried += 1;
        if self.tried >= self.rule.tries || self.env.clock.now() >= self.until {
            return Err(fault);
        }
        let longest = self.rule.pause_max * (1 << (self.tried - 1).min(self.rule.doublings));
        tokio::time::sleep(longest.mul_f64(self.env.entropy.fraction())).await;
        Ok(())
    }
}
