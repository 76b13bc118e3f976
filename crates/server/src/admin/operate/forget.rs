//! `POST /v1/sequences/{name}/forget`: takes a sequence out of use for good.

use axum::{Extension, extract::State};
use sequent_admin::{ForgetAsk, Forgotten};
use serde::Deserialize;

use super::{Asked, JsonResult, carried_out, counted, sequence};
use crate::{
    audit::Entry,
    http::{json, responses::object},
};

/// Body of a request to forget.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ForgetBody {
    /// If not, it is only told what would be forgotten.
    confirmed: bool,
}

pub(super) async fn forget((State(admin), Extension(caller), uri, body): Asked) -> JsonResult {
    let call = async {
        let _admitted = caller.admit("")?;
        let name = sequence(&uri)?;
        let ForgetBody { confirmed } =
            json::read(&body.read().await?, "a JSON object is expected: {\"confirmed\": true}")?;
        let change = Entry::new("forget", "").with("sequence", name.as_str());
        let (ask, engine) = (ForgetAsk { name, is_confirmed: confirmed }, admin.service.engine().clone());
        if !confirmed {
            return Ok(object(&ask.run(&engine).await?));
        }
        let work = async move { Ok(ask.run(&engine).await?) };
        let tell = |change: Entry, told: &Forgotten| change.with("version", told.version);
        carried_out((&admin, &caller), change, work, tell).await
    };
    counted(&caller, call).await
}
