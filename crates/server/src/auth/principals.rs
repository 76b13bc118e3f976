//! The principals of one configuration, found by token or certificate.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use sequent_engine::config::{AuthMode, Config, TokenHash};
use subtle::ConstantTimeEq;

use crate::{auth::principal::Principal, telemetry::auth_metrics::AuthMetrics};

/// The principals of one configuration.
pub(super) struct Principals {
    pub(super) mode: AuthMode,
    /// All callers while the mode is off.
    pub(super) everyone: Arc<Principal>,
    /// In the order of the file.
    pub(super) all: Vec<Arc<Principal>>,
    /// By the beginnings of the hashes.
    tokens: Vec<(TokenHash, Arc<Principal>)>,
}

impl Principals {
    pub(super) fn new(
        config: &Config,
        (before, now): (Option<&Self>, Duration),
        metrics: &AuthMetrics,
    ) -> Self {
        let listen = &config.listen;
        let is_loopback =
            [listen.grpc, listen.http].iter().all(|address| address.ip().to_canonical().is_loopback());
        let known: BTreeMap<&str, &Arc<Principal>> =
            before.iter().flat_map(|before| &before.all).map(|known| (known.name(), known)).collect();
        let (mut all, mut tokens) = (Vec::new(), Vec::new());
        for part in &config.principals {
            let before = (known.get(part.name.as_str()).copied(), now);
            let principal = Arc::new(Principal::new(part, metrics.principal(&part.name), before));
            tokens.extend(part.tokens.iter().map(|token| (*token, Arc::clone(&principal))));
            all.push(principal);
        }
        tokens.sort_by_key(|(token, _)| beginning(token));
        // The listeners stay where they are bound, whatever the file says later.
        let bound = before.map(|before| Arc::clone(&before.everyone));
        let everyone = bound.unwrap_or_else(|| Arc::new(Principal::everyone(is_loopback)));
        Self { mode: config.auth.mode, everyone, all, tokens }
    }

    /// The names of principals whose tokens are others than before.
    pub(super) fn changed_tokens<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a str> {
        let is_same = |principal: &Arc<Principal>| {
            let known = before.all.iter().find(|known| known.name() == principal.name());
            known.is_some_and(|known| known.part.tokens == principal.part.tokens)
        };
        self.all.iter().filter(move |principal| !is_same(principal)).map(|principal| principal.name())
    }

    /// The principal of a token. Its time tells at most with which eight bytes a hash begins.
    pub(super) fn of_token(&self, hash: &TokenHash) -> Option<Arc<Principal>> {
        let wanted = beginning(hash);
        let from = self.tokens.partition_point(|(token, _)| beginning(token) < wanted);
        let alike = self.tokens[from..].iter().take_while(|(token, _)| beginning(token) == wanted);
        let mut found = None;
        for (token, principal) in alike {
            if bool::from(token.as_bytes().ct_eq(hash.as_bytes())) {
                found = Some(Arc::clone(principal));
            }
        }
        found
    }

    /// The first principal of the file that has a pattern for one of a certificate's names.
    pub(super) fn of_certificate(&self, names: &[String]) -> Option<Arc<Principal>> {
        self.all.iter().find(|principal| principal.part.has_certificate(names)).cloned()
    }
}

/// The first eight bytes of a hash.
fn beginning(hash: &TokenHash) -> u64 {
    let bytes = hash.as_bytes().first_chunk::<8>();
    bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
}
