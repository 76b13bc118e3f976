//! What operators change, by name: slot commands, advances, definitions, and names to forget. A principal needs the verb `operate`, or
//! `define`; while `auth.mode` is off nobody may.

mod advance;
mod define;
mod forget;
mod slots;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::State,
    routing::{post, put},
};
use bytes::Bytes;
use http::{Response, Uri};
use http_body_util::Full;
use sequent_core::SequenceName;
use sequent_engine::Reason;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    admin::state::Admin,
    audit::Entry,
    auth::Caller,
    error::ApiError,
    http::{
        extract::{RequestBody, name_of},
        responses::object,
    },
    shutdown::phase::Phase,
};

/// Limit on changes at once. Each may examine every store, and goes on if its caller leaves.
pub(super) const CHANGES_MAX: usize = 4;

/// What each change has: the state, who asks for it, and what the request says.
type Asked = (State<Admin>, Extension<Caller>, Uri, RequestBody);

/// Response in JSON, or an error.
type JsonResult = Result<Response<Full<Bytes>>, ApiError>;

/// Begins one more of the changes that run.
fn begin(changes: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, ApiError> {
    let full = |_| {
        let text =
            format!("{CHANGES_MAX} changes of operators run at once: at most {CHANGES_MAX} are allowed");
        ApiError::new(Reason::QuotaExceeded, text)
    };
    Arc::clone(changes).try_acquire_owned().map_err(full)
}

/// Routes of what changes something.
pub(super) fn router() -> Router<Admin> {
    Router::new()
        .route("/v1/slots/{slot}/evict", post(slots::evict))
        .route("/v1/slots/{slot}/drain", post(slots::drain))
        .route("/v1/slots/{slot}/rescue", post(slots::rescue))
        .route("/v1/sequences/{name}/advance", post(advance::advance))
        .route("/v1/sequences/{name}/forget", post(forget::forget))
        .route("/v1/sequences/{name}", put(define::define))
}

/// The sequence in a path.
fn sequence(uri: &Uri) -> Result<SequenceName, ApiError> {
    let name = name_of(uri)?;
    name.parse().map_err(|_| ApiError::name("name", &name))
}

/// Counts a call of a principal.
async fn counted(caller: &Caller, call: impl Future<Output = JsonResult>) -> JsonResult {
    let outcome = call.await;
    caller.count(outcome.as_ref().err().map(ApiError::reason), 0);
    outcome
}

/// Carries out a change to its end, whether or not its caller waits for it, and records it. `tell` adds what it led to.
async fn carried_out<T: Serialize + Send + 'static>(
    (admin, caller): (&Admin, &Caller),
    change: Entry,
    work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
    tell: impl FnOnce(Entry, &T) -> Entry + Send + 'static,
) -> JsonResult {
    let stopping = || ApiError::new(Reason::Draining, "this server is stopping");
    if admin.phases.now() >= Phase::Ending {
        return Err(stopping());
    }
    let (permit, caller) = (begin(&admin.changes)?, caller.clone());
    let done = tokio::spawn(async move {
        let _permit = permit;
        let outcome = work.await;
        let change = match &outcome {
            Ok(done) => tell(change, done),
            Err(_) => change,
        };
        caller.record(change, &outcome);
        outcome
    });
    let done = done.await.map_err(|_| stopping())??;
    Ok(object(&done))
}
