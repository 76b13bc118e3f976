//! What one connection knows of its last caller. The fast paths check a request against it without a lock or an
//! allocation.

use std::{net::IpAddr, sync::Arc};

use arc_swap::ArcSwapOption;
use http::{HeaderMap, HeaderValue, header};
use sequent_engine::{ReadyBlock, config::Verb};
use subtle::ConstantTimeEq;

use crate::{
    audit::Entry,
    auth::{Auth, Caller, NotAuthenticated, Principal, Token, refusal::no_operators, routes::Need},
    error::ApiError,
    tls::peer::PeerCertificate,
};

/// The user of whoever names none, and of whoever is nobody in particular, in the protocol of Redis.
pub(crate) const ANY_USER: &str = "default";

/// The scheme in front of a token.
const SCHEME: &str = "bearer";

/// What one connection knows of its last caller. An API whose callers sign in once a connection keeps their token as the
/// header that another API sends with each request.
pub(crate) struct ConnectionAuth {
    auth: Auth,
    listener: &'static str,
    peer: IpAddr,
    /// The client's certificate.
    certificate: Option<Arc<PeerCertificate>>,
    known: ArcSwapOption<Known>,
}

/// The last caller that was authenticated.
struct Known {
    generation: u64,
    /// The header that it sent; `None`: its certificate said who it is.
    header: Option<HeaderValue>,
    principal: Arc<Principal>,
    /// The last name that it was allowed to take numbers of.
    name: ArcSwapOption<String>,
}

impl ConnectionAuth {
    pub(super) fn new(
        auth: Auth,
        (listener, peer): (&'static str, IpAddr),
        certificate: Option<Arc<PeerCertificate>>,
    ) -> Self {
        Self { auth, listener, peer, certificate, known: ArcSwapOption::empty() }
    }

    pub(super) fn auth(&self) -> &Auth {
        &self.auth
    }

    /// The result of `take`, if the last caller of this connection has sent this request, and may take a number that is
    /// ready. If not, nothing was counted: the slow path says why.
    pub(crate) fn ready<T>(
        &self,
        headers: &HeaderMap,
        name: &str,
        take: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        if !self.auth.is_required() {
            return take();
        }
        let known = self.known.load();
        let known = known.as_deref().filter(|known| known.is_sender(self.auth.generation(), headers))?;
        if !known.may_take(name) {
            return None;
        }
        known.principal.ready(|| self.auth.elapsed(), take)
    }

    /// The same for as many requests as numbers are taken. With quotas each request is counted by itself, by
    /// [`ready`](Self::ready).
    pub(crate) fn ready_block(
        &self,
        headers: &HeaderMap,
        name: &str,
        take: impl FnOnce() -> Option<ReadyBlock>,
    ) -> Option<ReadyBlock> {
        if !self.auth.is_required() {
            return take();
        }
        let known = self.known.load();
        let known = known.as_deref().filter(|known| known.is_sender(self.auth.generation(), headers))?;
        if known.principal.quotas.has_rates() || !known.may_take(name) {
            return None;
        }
        take().inspect(|block| known.principal.metrics.ready(block.numbers.count()))
    }

    /// The header of a caller that signs in once a connection, by a token and, if it says one, its principal's name.
    pub(crate) fn sign_in(&self, user: Option<&str>, token: &str) -> Result<HeaderValue, ApiError> {
        let is_known = || {
            let principal = self.auth.authenticate(token)?;
            let is_named = user.is_none_or(|user| user == ANY_USER || user == principal.name());
            is_named.then_some(()).ok_or(NotAuthenticated::Unknown)
        };
        // While nobody is asked who he is, a token is kept for when everybody is.
        let is_token = !self.auth.is_required() && Token::hash_of(token).is_some();
        let header = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| NotAuthenticated::Unknown);
        let signed_in = if is_token { Ok(()) } else { is_known() }.and(header);
        let mut header = signed_in.map_err(|why| self.refused(why.as_str(), why.into()))?;
        header.set_sensitive(true);
        Ok(header)
    }

    /// The address of its peer.
    pub(super) fn peer(&self) -> IpAddr {
        self.peer
    }

    /// Whether its peer has presented a certificate.
    pub(crate) fn has_certificate(&self) -> bool {
        self.certificate.is_some()
    }

    /// Whether callers must say who they are.
    pub(crate) fn is_required(&self) -> bool {
        self.auth.is_required()
    }

    /// The caller of a request that needs `need`.
    pub(crate) fn caller(self: &Arc<Self>, need: Need, headers: &HeaderMap) -> Result<Caller, ApiError> {
        let principal = match need {
            Need::Nobody => self.auth.everyone(),
            // Anybody on the machine could ask, and any page of its browsers.
            Need::Operator(_) if !self.auth.is_required() => {
                return Err(self.refused("denied", no_operators()));
            }
            _ if !self.auth.is_required() => self.auth.everyone(),
            Need::Anybody | Need::Verb(_) | Need::Operator(_) => self.identify(headers)?,
        };
        let caller = Caller::new(Arc::clone(self), principal, need.verb());
        match need {
            // A verb of the server has no name that must be read first.
            Need::Verb(verb) if verb.is_of_server() => {
                let admitted = caller.admit("").map(drop);
                caller.count(admitted.as_ref().err().map(ApiError::reason), 0);
                admitted.map(|()| caller)
            }
            _ => Ok(caller),
        }
    }

    /// Records a change, or a refusal, that came by this connection.
    pub(super) fn record(&self, entry: Entry) {
        self.auth.audit().record(entry.by(self.listener, Some(self.peer)));
    }

    /// Counts, logs and records a refusal.
    pub(super) fn refused(&self, why: &'static str, error: ApiError) -> ApiError {
        self.auth.audit().refused(&error, None, |entry| entry.by(self.listener, Some(self.peer)));
        self.auth.refused((self.listener, self.peer), why, error)
    }

    /// Keeps the name that the last caller was allowed to take numbers of.
    pub(super) fn remember(&self, principal: &Arc<Principal>, name: &str) {
        let known = self.known.load();
        let Some(known) = known.as_deref().filter(|known| Arc::ptr_eq(&known.principal, principal)) else {
            return;
        };
        if !known.is_allowed(name) {
            known.name.store(Some(Arc::new(name.to_owned())));
        }
    }

    fn identify(&self, headers: &HeaderMap) -> Result<Arc<Principal>, ApiError> {
        // Read before the principals: if they change in between, the next request looks again.
        let generation = self.auth.generation();
        if let Some(known) = self.known.load().as_deref().filter(|known| known.is_sender(generation, headers))
        {
            return Ok(Arc::clone(&known.principal));
        }
        let found = self.principal_of(headers).map_err(|why| self.refused(why.as_str(), why.into()))?;
        let header = headers.get(header::AUTHORIZATION).cloned().map(|mut header| {
            header.set_sensitive(true);
            header
        });
        let name = ArcSwapOption::empty();
        self.known.store(Some(Arc::new(Known { generation, header, principal: Arc::clone(&found), name })));
        Ok(found)
    }

    /// The principal of a request's token, or of its connection's certificate. A token that is wrong is refused, whatever
    /// the certificate is.
    fn principal_of(&self, headers: &HeaderMap) -> Result<Arc<Principal>, NotAuthenticated> {
        let mut sent = headers.get_all(header::AUTHORIZATION).iter();
        if let Some(header) = sent.next() {
            // A proxy may have added one, and nobody knows which of them counts.
            if sent.next().is_some() {
                return Err(NotAuthenticated::Unknown);
            }
            return self.auth.authenticate(token(header).ok_or(NotAuthenticated::Unknown)?);
        }
        let certificate = self.certificate.as_deref().ok_or(NotAuthenticated::Missing)?;
        self.auth.of_certificate(&certificate.names)
    }
}

impl Known {
    /// Whether a request comes from this caller, as far as nothing has changed since.
    fn is_sender(&self, generation: u64, headers: &HeaderMap) -> bool {
        let mut sent = headers.get_all(header::AUTHORIZATION).iter();
        self.generation == generation
            && match (&self.header, sent.next(), sent.next()) {
                (Some(known), Some(sent), None) => is_same(known.as_bytes(), sent.as_bytes()),
                (None, None, _) => true,
                _ => false,
            }
    }

    fn may_take(&self, name: &str) -> bool {
        self.is_allowed(name) || self.principal.may(Verb::Next, name)
    }

    fn is_allowed(&self, name: &str) -> bool {
        self.name.load().as_deref().is_some_and(|known| known == name)
    }
}

/// Whether two texts are the same, in a time that tells nothing but their lengths. It compares words, since comparing bytes took
/// a fiftieth of a request.
fn is_same(known: &[u8], sent: &[u8]) -> bool {
    let ((known_words, known_rest), (sent_words, sent_rest)) = (known.as_chunks(), sent.as_chunks());
    let differing =
        |(known, sent): (&[u8; 8], &[u8; 8])| u64::from_ne_bytes(*known) ^ u64::from_ne_bytes(*sent);
    let differ = known_words.iter().zip(sent_words).map(differing).fold(0, |all, one| all | one);
    known.len() == sent.len() && bool::from(differ.ct_eq(&0_u64) & known_rest.ct_eq(sent_rest))
}

/// The token in a header: `Bearer sqt_…`.
fn token(header: &HeaderValue) -> Option<&str> {
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case(SCHEME).then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn each_byte_of_a_header_counts() {
        let known = b"Bearer sqt_i4fe45mc_bhX1";
        for length in 0..=known.len() {
            let known = &known[..length];
            assert!(is_same(known, known));
            for at in 0..length {
                let mut other = known.to_vec();
                other[at] ^= 1;
                assert!(!is_same(known, &other) && !is_same(&known[..at], known), "{length} {at}");
            }
        }
    }
}
