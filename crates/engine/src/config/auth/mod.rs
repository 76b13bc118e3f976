//! `[auth]` and `[[principal]]`: who may ask for what.

mod cert_names;
mod principal;
mod scopes;
mod token_hash;
mod verb;

pub use cert_names::CertNames;
pub(crate) use principal::PrincipalSection;
pub use principal::{PrincipalPart, QuotaLimits};
pub use scopes::Scopes;
pub use token_hash::TokenHash;
pub use verb::Verb;

use super::{
    Fault, ListenSection, Plaintext,
    reading::{Reader, section, setting::choice},
};

/// Whether callers must say who they are: the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuthMode {
    /// Everybody who can connect may do everything.
    Off,
    /// A request needs a principal that may do it.
    Required,
}

/// The words of `auth.mode`; the first is the default.
const MODES: &[(&str, AuthMode)] = &[("off", AuthMode::Off), ("required", AuthMode::Required)];

section! {
    /// Whether callers need a [token](../operating/tokens.md). A running server applies `required`; `off` needs a restart:
    /// [reload](../operating/install.md#reload).
    pub struct AuthSection(section) {
        /// `required`: each request needs a principal that may do it; only health checks need none. `off`: everybody
        /// who can connect may do everything.
        mode: AuthMode = choice("mode", MODES),
    }
}

/// What mends a listener beyond loopback whose callers have no names.
const BEYOND_LOOPBACK: &str = "on loopback alone everybody may do everything: \"required\" is expected, with a \
                               [[principal]] for each caller (`sequent token new`); or, if the network is trusted, \
                               listen.plaintext = \"trusted\" and [auth] mode = \"off\"";

/// What mends a configuration that leaves it open whether callers beyond loopback have names: it may have been cut.
const NOT_WRITTEN: &str = "a listener is beyond loopback: write [auth] mode = \"required\", with a [[principal]] for \
                           each caller (`sequent token new`); or, if everybody who can connect may do everything, \
                           [auth] mode = \"off\"";

impl AuthSection {
    /// Refuses a mode in which nobody could do anything, and one in which everybody could who reaches a listener beyond
    /// loopback. On a trusted network the mode must be written.
    pub(crate) fn check(
        &self,
        reader: &mut Reader<'_>,
        principals: &[PrincipalPart],
        listen: &ListenSection,
    ) {
        let is_trusted = listen.plaintext == Plaintext::Trusted;
        if self.mode == AuthMode::Off && !listen.beyond_loopback().is_empty() {
            if is_trusted && reader.is_default("auth.mode") {
                reader.fault(Fault::new("auth.mode", "missing", NOT_WRITTEN));
            } else if !is_trusted {
                reader.fault(Fault::new("auth.mode", "\"off\"", BEYOND_LOOPBACK));
            }
        }
        if self.mode == AuthMode::Off && !principals.is_empty() {
            let bound =
                "\"required\" is expected, since there is a [[principal]]: now nobody is asked who he is";
            reader.fault(Fault::new("auth.mode", "\"off\"", bound));
        }
        if self.mode == AuthMode::Required && principals.is_empty() {
            let bound =
                "a [[principal]] is expected: without one nobody could do anything (`sequent token new`)";
            reader.fault(Fault::new("auth.mode", "\"required\"", bound));
        }
    }
}
