//! Minimal server of sequences, which only counts.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use sequent_proto::v1::{self, sequences_server};
use tonic::{Request, Response, Status};

/// Counter behind the service.
#[derive(Clone, Default)]
pub(crate) struct Counter(Arc<AtomicU64>);

impl Counter {
    fn block(&self, count: u32) -> v1::Block {
        let first = self.0.fetch_add(u64::from(count), Ordering::Relaxed) + 1;
        v1::Block { first: first.cast_signed(), step: 1, count }
    }
}

#[tonic::async_trait]
impl sequences_server::Sequences for Counter {
    async fn next(&self, request: Request<v1::NextRequest>) -> Result<Response<v1::NextResponse>, Status> {
        let blocks = vec![self.block(request.into_inner().count.unwrap_or(1))];
        Ok(Response::new(v1::NextResponse { blocks, ..Default::default() }))
    }

    async fn lease(&self, request: Request<v1::LeaseRequest>) -> Result<Response<v1::LeaseResponse>, Status> {
        let blocks = vec![self.block(request.into_inner().count)];
        Ok(Response::new(v1::LeaseResponse { blocks, max_age_ms: 1000, ..Default::default() }))
    }
}
