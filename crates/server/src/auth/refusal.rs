//! Errors of callers that are unknown, may not do something, or have used up a quota.

use std::time::Duration;

use sequent_engine::{QuotaFault, Reason, config::Verb};

use crate::{
    auth::{quota::QuotaExceeded, token::Token},
    error::{ApiError, PRINCIPAL},
};

/// Why a caller is nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAuthenticated {
    /// It sent no token, and has no certificate.
    Missing,
    /// No principal has its token or its certificate.
    Unknown,
    /// Its principal has expired.
    Expired,
}

impl NotAuthenticated {
    /// All of them, for metrics.
    pub(crate) const ALL: [Self; 3] = [Self::Missing, Self::Unknown, Self::Expired];

    /// The word in errors and metrics.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unknown => "unknown",
            Self::Expired => "expired",
        }
    }
}

impl From<NotAuthenticated> for ApiError {
    fn from(why: NotAuthenticated) -> Self {
        let text = match why {
            NotAuthenticated::Missing => {
                "a token is expected: header authorization: Bearer sqt_..., or AUTH sqt_... of a Redis client"
            }
            NotAuthenticated::Unknown => "no principal has this token or certificate",
            NotAuthenticated::Expired => "the principal of this token or certificate has expired",
        };
        Self::new(Reason::Unauthenticated, text).with_detail("why", why.as_str())
    }
}

/// The error of a principal that may not do something. It is the same whether or not the sequence exists.
pub(super) fn denied(principal: &str, verb: Option<Verb>, name: &str) -> ApiError {
    let verb = verb.map_or("any", Verb::as_str);
    // The error is logged and recorded, and somebody may have put a token in the place of the name.
    let name = if Token::hash_of(name).is_some() { "sqt_***" } else { name };
    let of = if name.is_empty() { String::new() } else { format!(" for {name}") };
    let error = ApiError::new(Reason::PermissionDenied, format!("{principal} lacks the verb {verb}{of}"));
    let error = error.with_detail("verb", verb).with_detail(PRINCIPAL, principal);
    if name.is_empty() { error } else { error.with_detail("sequence", name) }
}

/// The error of whoever would operate a server whose callers have no names.
pub(super) fn no_operators() -> ApiError {
    let text = "while auth.mode is \"off\" nobody may change anything here: set auth.mode = \"required\", with a \
                [[principal]] that is allowed it (`sequent token new ops --allow operate,status --allow 'define:*'`)";
    ApiError::new(Reason::PermissionDenied, text).with_detail("why", "off")
}

/// The error of a principal that has used up a quota.
pub(super) fn exceeded(principal: &str, quota: &QuotaExceeded) -> ApiError {
    let QuotaExceeded { quota, limit, wait } = quota;
    let retry_after = (*wait).max(Duration::from_millis(1));
    let milliseconds = retry_after.as_micros().div_ceil(1000);
    let text = format!(
        "{principal} has used up {quota}: at most {limit} are allowed; it has room again in {milliseconds} ms"
    );
    ApiError::over_quota(
        text,
        QuotaFault { quota, of: principal.to_owned(), limit: limit.to_string(), retry_after },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_place_of_a_name_is_not_repeated() {
        let token = Token::generate(&sequent_core::OsEntropy);
        let error = denied("shop", Some(Verb::Next), token.text());
        assert_eq!(error.text(), "shop lacks the verb next for sqt_***");
        assert!(!format!("{error:?}").contains(&token.text()[13..]), "{error:?}");
    }

    #[test]
    fn texts_are_lines_of_any_protocol() {
        for why in NotAuthenticated::ALL {
            let line = ApiError::from(why).resp();
            assert!(line.is_ascii(), "{line}");
        }
    }
}
