//! The labels of the server's metrics, with their values. A test compares them with what a server shows.

use sequent_core::Label;
use sequent_engine::{Reason, Way};

use super::{
    auth_metrics::{DENIED, LISTENERS},
    request_metrics::{CANCELLED, LEASE, OK, OVER_QUOTA, REFUSALS, SLOT_STATES, WAYS},
    tls_metrics::{CERTIFICATES, OUTCOMES},
};
use crate::{
    auth::{NotAuthenticated, quota_words},
    connection::ended::EndReason,
    service::definitions,
};

/// The slot's number.
pub(super) const SLOT: Label = Label::open("slot");

/// The name of a principal.
pub(super) const PRINCIPAL: Label = Label::open("principal");

pub(super) const VERSION: Label = Label::open("version");

pub(super) const API: Label = Label::of("api", || vec!["grpc", "http", "redis"]);
pub(super) const METHOD: Label = Label::of("method", || vec!["next", LEASE, definitions::METHOD]);
pub(super) const NUMBERS_METHOD: Label = Label::of("method", || vec!["next", LEASE]);
pub(super) const REASON: Label =
    Label::of("reason", || reasons().into_iter().chain([CANCELLED, OVER_QUOTA]).collect());
pub(super) const PRINCIPAL_REASON: Label = Label::of("reason", reasons);
pub(super) const PATH: Label = Label::of("path", || WAYS.map(Way::as_str).to_vec());
pub(super) const LISTENER: Label = Label::of("listener", || LISTENERS.to_vec());
pub(super) const REFUSAL: Label = Label::of("reason", || REFUSALS.to_vec());
pub(super) const END_REASON: Label = Label::of("why", || EndReason::ALL.map(EndReason::as_str).to_vec());
pub(super) const DENIAL: Label = Label::of("why", || {
    let unknown = NotAuthenticated::ALL.map(NotAuthenticated::as_str);
    unknown.into_iter().chain([DENIED]).collect()
});
pub(super) const QUOTA: Label = Label::of("quota", || quota_words().collect());
pub(super) const HANDSHAKE: Label = Label::of("outcome", || OUTCOMES.to_vec());
pub(super) const RELOAD: Label = Label::of("outcome", || vec!["ok", "refused"]);
pub(super) const FILE: Label = Label::of("file", || CERTIFICATES.to_vec());
pub(super) const AUDIT_OUTCOME: Label = Label::of("outcome", || vec!["written", "lost"]);
pub(super) const STATE: Label = Label::of("state", || SLOT_STATES.to_vec());

fn reasons() -> Vec<&'static str> {
    [OK].into_iter().chain(Reason::ALL.map(Reason::as_str)).collect()
}
