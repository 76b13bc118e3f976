//! One set of tables: verbs on a bounded pool, bounded retries, and connections that are given up.

use sequent_core::SourceError;
use sqlx::Connection;

use super::{
    PostgresOptions, PostgresUrl,
    fault::Fault,
    link::{Kind, Link},
    patience::Patience,
    pool::{Loan, Pool},
    schema::SchemaName,
    target::Target,
    work::attempt,
};
use crate::sql::Work;

/// How often tables that are replaced while a verb is at work are connected to again.
const ROUNDS_MAX: usize = 4;

/// A set of tables, whoever uses it in this process.
#[derive(Debug)]
pub(super) struct Database {
    target: Target,
    kind: &'static Kind,
    pool: Pool,
}

impl Database {
    pub(super) fn new(url: PostgresUrl, kind: &'static Kind, options: PostgresOptions) -> Self {
        let schema = options.schema.clone().unwrap_or_else(|| SchemaName::of_kind(kind));
        let pool = Pool::new(options.pool.clamp(1, PostgresOptions::POOL_MAX));
        Self { target: Target { url, schema, options }, kind, pool }
    }

    pub(super) fn options(&self) -> &PostgresOptions {
        &self.target.options
    }

    /// Runs a verb on a connection to the tables that are there now.
    pub(super) async fn perform<W: Work<Link>>(&self, work: W) -> Result<W::Out, SourceError> {
        let verb = work.verb();
        let mut patience = Patience::new(self.options());
        let mut rounds = 1;
        let done = loop {
            match self.once(&work, &mut patience).await {
                // The connection, and all others, were given up: another one learns who speaks now.
                Err(Fault::Stale(_)) if rounds < ROUNDS_MAX => rounds += 1,
                done => break done,
            }
        };
        done.map_err(|fault| {
            let Target { url, schema, .. } = &self.target;
            let fault = if self.pool.used() { fault.of_one_known() } else { fault };
            fault.into_error(&format!("{} {} {url} {schema}", verb, self.kind.word))
        })
    }

    /// Runs what only reads on a connection of its own, on which nothing can be changed.
    pub(super) async fn look<W: Work<Link>>(&self, work: W) -> Result<W::Out, SourceError> {
        let verb = work.verb();
        let looked = async {
            let mut link = Link::look(&self.target, self.kind).await?;
            attempt(&mut link, &work).await
        };
        looked.await.map_err(|fault: Fault| {
            let Target { url, schema, .. } = &self.target;
            fault.into_error(&format!("{} {} {url} {schema}", verb, self.kind.word))
        })
    }

    /// Runs a verb if there is a connection to run it on.
    pub(super) async fn perform_if_connected<W: Work<Link>>(
        &self,
        work: W,
    ) -> Result<Option<W::Out>, SourceError> {
        if self.pool.has_idle() { self.perform(work).await.map(Some) } else { Ok(None) }
    }

    /// Closes the idle connections, and those on loan as they come back; the next verb opens another.
    pub(super) fn close(&self) {
        self.pool.renew();
    }

    async fn once<W: Work<Link>>(&self, work: &W, patience: &mut Patience<'_>) -> Result<W::Out, Fault> {
        let mut loan = self.borrow().await?;
        let done = loop {
            match attempt(loan.link()?, work).await {
                Err(Fault::Busy(cause)) => match patience.after(cause).await {
                    Ok(()) => {}
                    Err(fault) => break Err(fault),
                },
                done => break done,
            }
        };
        if matches!(done, Ok(_) | Err(Fault::Answer(_) | Fault::Busy(_))) {
            loan.give_back(self.options().clock.now());
        }
        done
    }

    /// A connection that lives: the one used last, or a new one.
    async fn borrow(&self) -> Result<Loan<'_>, Fault> {
        let mut place = self.pool.place().await?;
        match place.idle(self.options().clock.now()) {
            Ok((mut loan, idle)) => {
                if idle < self.options().keep_alive
                    || loan.link()?.session().connection().ping().await.is_ok()
                {
                    return Ok(loan);
                }
                // Its place goes with it.
                drop(loan);
                place = self.pool.place().await?;
            }
            Err(kept) => place = kept,
        }
        let link = Link::open(&self.target, self.kind, self.pool.used()).await?;
        Ok(place.fresh(link))
    }
}
