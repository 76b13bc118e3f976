//! gRPC service `sequent.v1.Sequences`: converts messages to and from the types of `service`.

use std::collections::HashMap;

use sequent_core::Block;
use sequent_engine::{Issued, Reason, Texts, Values};
use sequent_proto::v1;
use tonic::{Request, Response, Status};

use crate::{
    error::ApiError,
    grpc::{api::API_LABEL, connection::caller, timeout},
    service::{NumberRequest, NumberService},
    telemetry::request_metrics::RequestMetrics,
};

/// Implementation of the generated service trait.
pub(crate) struct Sequences {
    service: NumberService,
    next_metrics: RequestMetrics,
    lease_metrics: RequestMetrics,
}

impl Sequences {
    pub(crate) fn new(service: NumberService, next_metrics: RequestMetrics) -> Self {
        Self { service, next_metrics, lease_metrics: RequestMetrics::new(API_LABEL, "lease") }
    }
}

#[tonic::async_trait]
impl v1::sequences_server::Sequences for Sequences {
    async fn next(&self, request: Request<v1::NextRequest>) -> Result<Response<v1::NextResponse>, Status> {
        let timeout = timeout::from_metadata(request.metadata())
            .map_err(|error| self.next_metrics.refused(error).into_status())?;
        let (_, extensions, mut message) = request.into_parts();
        let values = values(&mut message.values);
        let request = NumberRequest {
            name: ("sequence", &message.sequence),
            count: message.count.unwrap_or(1).into(),
            timeout,
            values: &values,
            at: &message.at,
            above: message.above,
            caller: caller(&extensions)?,
        };
        let given = self.service.next(request, &self.next_metrics).await.map_err(ApiError::into_status)?;
        let blocks = blocks(&given).map_err(ApiError::into_status)?;
        let (sequence, version) = (message.sequence, given.version);
        let (texts, period, at) = given.dated.map(|it| (it.texts, it.period, it.at)).unwrap_or_default();
        Ok(Response::new(v1::NextResponse { sequence, blocks, texts, period, at, version }))
    }

    async fn lease(&self, request: Request<v1::LeaseRequest>) -> Result<Response<v1::LeaseResponse>, Status> {
        let timeout = timeout::from_metadata(request.metadata())
            .map_err(|error| self.lease_metrics.refused(error).into_status())?;
        let (_, extensions, mut message) = request.into_parts();
        let values = values(&mut message.values);
        let request = NumberRequest {
            name: ("sequence", &message.sequence),
            count: message.count.into(),
            timeout,
            values: &values,
            at: &message.at,
            above: message.above,
            caller: caller(&extensions)?,
        };
        let given = self.service.lease(request, &self.lease_metrics).await.map_err(ApiError::into_status)?;
        let blocks = blocks(&given).map_err(ApiError::into_status)?;
        let max_age_ms =
            u64::try_from(self.service.lease_age(&given, &message.at).as_millis()).unwrap_or(u64::MAX);
        let (sequence, version) = (message.sequence, given.version);
        let version_end = given.version_end.map(|end| end.to_string()).unwrap_or_default();
        let (period, end, by) = given.dated.map(|it| (it.period, it.period_end, it.by)).unwrap_or_default();
        let period_end = end.map(|end| end.to_string()).unwrap_or_default();
        let texts = by.map(|texts| rendering(&texts));
        Ok(Response::new(v1::LeaseResponse {
            sequence,
            blocks,
            max_age_ms,
            period,
            period_end,
            version,
            texts,
            version_end,
        }))
    }
}

/// Template and settings with which the holder of a lease renders texts.
fn rendering(texts: &Texts) -> v1::Texts {
    v1::Texts {
        template: texts.template().to_owned(),
        zone: texts.zone_name().to_owned(),
        maxlen: u32::try_from(texts.maxlen_in_force()).unwrap_or(u32::MAX),
        charset: texts.charset_in_force().to_owned(),
        unique: texts.unique_word().to_owned(),
    }
}

/// Takes the values out of a message.
pub(super) fn values(with: &mut HashMap<String, String>) -> Values {
    std::mem::take(with).into_iter().collect()
}

fn blocks(given: &Issued) -> Result<Vec<v1::Block>, ApiError> {
    let narrow = |found: &Block| block(found.first(), found.step(), found.count());
    given.numbers.as_slice().iter().map(narrow).collect()
}

/// Converts a block. Numbers are at most `i64::MAX` and counts at most `u32::MAX`; otherwise the call fails.
fn block(first: u64, step: u64, count: u64) -> Result<v1::Block, ApiError> {
    let narrow = |number: u64| i64::try_from(number).ok();
    let block = narrow(first).zip(narrow(step)).zip(u32::try_from(count).ok());
    let ((first, step), count) = block.ok_or_else(|| {
        ApiError::new(Reason::SequenceExhausted, "numbers beyond the range of this protocol")
    })?;
    Ok(v1::Block { first, step, count })
}
