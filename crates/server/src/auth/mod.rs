//! Who may ask for what: one place for every API. The order is identity, verb and pattern, quota; the catalogue comes
//! after that, so nobody learns which names exist.
//!
//! | file | contents |
//! |---|---|
//! | `routes.rs` | which verb each route and method needs: one table |
//! | `principal.rs` | a principal: what it may do, its quotas and its counters |
//! | `principals.rs` | the principals of one configuration, found by token or certificate |
//! | `connection.rs` | what one connection knows of its last caller: the check of the fast paths |
//! | `caller.rs` | the caller of one request: admits it, and settles its quotas |
//! | `quota/` | quotas by GCRA, one atomic integer each |
//! | `refusal.rs` | the errors |
//! | `token.rs` | the form of a token, and its hash |

mod caller;
mod connection;
mod principal;
mod principals;
mod quota;
mod refusal;
pub(crate) mod routes;
#[cfg(test)]
mod tests;
mod token;

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use sequent_core::Clock;
use sequent_engine::config::{AuthMode, Config};

pub(crate) use caller::Caller;
pub(crate) use connection::{ANY_USER, ConnectionAuth};
pub(crate) use principal::Principal;
pub(crate) use quota::words as quota_words;
pub(crate) use refusal::NotAuthenticated;
pub use token::Token;

use crate::{
    audit::Audit, auth::principals::Principals, error::ApiError, telemetry::auth_metrics::AuthMetrics,
    tls::peer::PeerCertificate,
};

/// How often is looked whether a principal has expired. Connections that have used it go on for so long.
const EXPIRY_EVERY: Duration = Duration::from_secs(1);

/// The principals in force. Cheap to clone; all clones share them.
#[derive(Clone)]
pub struct Auth(Arc<Inner>);

struct Inner {
    clock: Arc<dyn Clock>,
    /// The origin of the quotas' time.
    began: Instant,
    principals: ArcSwap<Principals>,
    /// Whether callers must say who they are: that of `principals`, read without a guard.
    is_required: AtomicBool,
    /// Raised by each reload and each expiry. A connection that has seen a lower one looks again.
    generation: AtomicU64,
    metrics: AuthMetrics,
    audit: Audit,
}

impl Auth {
    /// The principals of a configuration. `clock` decides what has expired, and by how much quotas have recovered.
    pub fn new(config: &Config, clock: Arc<dyn Clock>) -> Self {
        Self::audited(config, clock, Audit::off())
    }

    /// The same, of a server that records changes and refusals.
    pub fn audited(config: &Config, clock: Arc<dyn Clock>, audit: Audit) -> Self {
        let metrics = AuthMetrics::new();
        let principals = Principals::new(config, (None, Duration::ZERO), &metrics);
        Self(Arc::new(Inner {
            began: clock.now(),
            clock,
            is_required: AtomicBool::new(principals.mode == AuthMode::Required),
            principals: ArcSwap::from_pointee(principals),
            generation: AtomicU64::new(0),
            metrics,
            audit,
        }))
    }

    /// Puts the principals of a changed configuration in force. A principal that stays keeps what it has used of its
    /// quotas.
    pub fn reload(&self, config: &Config) {
        let inner = &self.0;
        let before = inner.principals.load_full();
        let principals = Principals::new(config, (Some(&*before), self.elapsed()), &inner.metrics);
        let is_required = principals.mode == AuthMode::Required;
        for name in principals.changed_tokens(&before) {
            tracing::info!(principal = name, "the tokens of a principal have changed");
        }
        inner.principals.store(Arc::new(principals));
        inner.is_required.store(is_required, Ordering::Release);
        inner.generation.fetch_add(1, Ordering::Release);
    }

    /// The principal of a token.
    pub(crate) fn authenticate(&self, token: &str) -> Result<Arc<Principal>, NotAuthenticated> {
        let principals = self.0.principals.load();
        let found = Token::hash_of(token).and_then(|hash| principals.of_token(&hash));
        self.alive(found.ok_or(NotAuthenticated::Unknown)?)
    }

    /// The principal of a client certificate with these names.
    fn of_certificate(&self, names: &[String]) -> Result<Arc<Principal>, NotAuthenticated> {
        let found = self.0.principals.load().of_certificate(names);
        self.alive(found.ok_or(NotAuthenticated::Unknown)?)
    }

    /// The principal of all callers while `auth.mode` is off.
    fn everyone(&self) -> Arc<Principal> {
        Arc::clone(&self.0.principals.load().everyone)
    }

    fn alive(&self, principal: Arc<Principal>) -> Result<Arc<Principal>, NotAuthenticated> {
        if principal.part.is_expired(self.0.clock.wall_ms()) {
            return Err(NotAuthenticated::Expired);
        }
        Ok(principal)
    }

    /// Where changes and refusals are recorded.
    pub(crate) fn audit(&self) -> &Audit {
        &self.0.audit
    }

    /// What a new connection knows: nobody yet. `at` is its listener and the address of its peer,
    /// `certificate` that of its client.
    pub(crate) fn connection(
        &self,
        at: (&'static str, IpAddr),
        certificate: Option<Arc<PeerCertificate>>,
    ) -> Arc<ConnectionAuth> {
        Arc::new(ConnectionAuth::new(self.clone(), at, certificate))
    }

    /// Whether callers must say who they are.
    pub(crate) fn is_required(&self) -> bool {
        self.0.is_required.load(Ordering::Acquire)
    }

    fn generation(&self) -> u64 {
        self.0.generation.load(Ordering::Acquire)
    }

    /// The time since the start, by which quotas recover.
    fn elapsed(&self) -> Duration {
        self.0.clock.now().saturating_duration_since(self.0.began)
    }

    /// Counts a refusal, and logs it unless one was logged a moment ago.
    fn refused(
        &self,
        (listener, peer): (&'static str, IpAddr),
        why: &'static str,
        error: ApiError,
    ) -> ApiError {
        if let Some(left_out) = self.0.metrics.refused(listener, why, self.0.clock.now()) {
            tracing::warn!(listener, why, %peer, left_out, error = error.text(), "request refused");
        }
        error
    }

    /// Raises the generation whenever a principal expires, so that connections look again.
    pub(crate) async fn watch_expiry(self) {
        let mut seen = self.0.clock.wall_ms();
        loop {
            tokio::time::sleep(EXPIRY_EVERY).await;
            let now = self.0.clock.wall_ms();
            let expired = |principal: &Arc<Principal>| {
                !principal.part.is_expired(seen) && principal.part.is_expired(now)
            };
            if self.0.principals.load().all.iter().any(expired) {
                self.0.generation.fetch_add(1, Ordering::Release);
            }
            seen = now;
        }
    }

    /// Sets the gauges of the quotas' use, which are only read on a scrape.
    pub(crate) fn measure(&self) {
        let now = self.elapsed();
        self.0.principals.load().all.iter().for_each(|principal| principal.measure(now));
    }

    /// The principals for the status: names, ends and quotas, without anything that belongs to a token.
    pub(crate) fn report(&self) -> serde_json::Value {
        let (now, wall_ms) = (self.elapsed(), self.0.clock.wall_ms());
        let principals = self.0.principals.load();
        principals.all.iter().map(|principal| principal.report(now, wall_ms)).collect()
    }
}
