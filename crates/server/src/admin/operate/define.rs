//! `PUT /v1/sequences/{name}`: defines the next version of a sequence, as the HTTP listener does.

use std::sync::Arc;

use axum::{Extension, extract::State};

use super::{Asked, JsonResult, counted};
use crate::{
    http::{extract::name_of, json, responses::object},
    limits::pending_quota::ConnectionShare,
    service::definitions::{self, Call},
};

pub(super) async fn define(
    Extension(share): Extension<Arc<ConnectionShare>>,
    (State(admin), Extension(caller), uri, body): Asked,
) -> JsonResult {
    let call = async {
        let (name, body) = (name_of(&uri)?, body.read().await?);
        let input = || json::read(&body, "a JSON object with a definition is expected");
        let call = Call { service: &admin.service, caller: &caller, share: &share };
        Ok(object(&definitions::define(call, ("name", &name), input).await?))
    };
    counted(&caller, call).await
}
