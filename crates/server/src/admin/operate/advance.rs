//! `POST /v1/sequences/{name}/advance`: moves a key forward, for an import.

use axum::{Extension, extract::State};
use sequent_admin::{AdvanceAsk, AdvanceReport};
use sequent_core::SequenceName;
use sequent_engine::{NextRequest, Values};
use serde::Deserialize;

use super::{Asked, JsonResult, carried_out, counted, sequence};
use crate::{
    audit::Entry,
    error::ApiError,
    http::{
        json::{self, FieldValue},
        next::{instant, values},
    },
    service::definition_input::{NumberInput, number},
};

/// Body of an advance.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AdvanceBody {
    to: Option<NumberInput>,
    values: Option<FieldValue>,
    at: Option<String>,
    period: Option<String>,
    jump: bool,
    create: bool,
}

impl AdvanceBody {
    fn ask(self, name: SequenceName) -> Result<AdvanceAsk, ApiError> {
        let to = number("to", self.to)?;
        let missing = || {
            ApiError::field("to", "missing", "the highest number that must not be given any more is expected")
        };
        let with = self.values.map_or_else(|| Ok(Values::new()), values)?;
        let at = self.at.map(|at| instant(&at, &at)).transpose()?;
        if let (Some(period), Some(_)) = (&self.period, &at) {
            return Err(ApiError::field("period", period, "at names a period, too: say one of them"));
        }
        let request = NextRequest { with, at, ..NextRequest::of(name) };
        let (jump, create, period) = (self.jump, self.create, self.period);
        Ok(AdvanceAsk { request, to: to.ok_or_else(missing)?, jump, create, period })
    }
}

pub(super) async fn advance((State(admin), Extension(caller), uri, body): Asked) -> JsonResult {
    let call = async {
        let _admitted = caller.admit("")?;
        let name = sequence(&uri)?;
        let expected = "a JSON object with a number (to) is expected";
        let asked: AdvanceBody = json::read(&body.read().await?, expected)?;
        let change = Entry::new("advance", "").with("sequence", name.as_str());
        let ask = asked.ask(name)?;
        let change = change.with("to", ask.to.to_string());
        let engine = admin.service.engine().clone();
        let work = async move { Ok(ask.run(&engine).await?) };
        let tell = |change: Entry, report: &AdvanceReport| {
            change
                .with("key", &*report.key)
                .with("from", report.before.to_string())
                .with("already", report.already)
        };
        carried_out((&admin, &caller), change, work, tell).await
    };
    counted(&caller, call).await
}
