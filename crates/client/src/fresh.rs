//! Numbers without a lease: callers that wait at the same time travel in one request.

use std::sync::{Arc, Weak};

use sequent_core::{Block, BoxFuture, Merge, SequenceName};

use crate::{
    endpoints::Endpoints,
    error::{Error, PROTOCOL},
    metric,
    number::Number,
    parcel::{Fresh, Parcel},
    transport::Verb,
};

/// The most callers that one request answers.
const MERGE_MAX: usize = 1000;

/// The most callers that wait for the next request; more wait to get in.
const QUEUE_MAX: usize = 65_536;

/// A caller: gone once nobody else holds it.
pub(crate) type Caller = Weak<()>;

/// The callers of one sequence.
pub(crate) type Merged = Merge<Caller, Result<Fresh, Error>>;

/// The queue, and what drives it: to be spawned.
pub(crate) fn merged(
    name: SequenceName,
    endpoints: Arc<Endpoints>,
) -> (Merged, impl Future<Output = ()> + Send) {
    Merge::new(QUEUE_MAX, MERGE_MAX, move |callers| -> BoxFuture<'static, _> {
        let (name, endpoints) = (name.clone(), Arc::clone(&endpoints));
        Box::pin(async move { answer(&name, &endpoints, callers).await })
    })
}

/// One request for as many as still wait.
async fn answer(
    name: &SequenceName,
    endpoints: &Endpoints,
    callers: Vec<Caller>,
) -> Vec<Result<Fresh, Error>> {
    let waiting = callers.iter().filter(|caller| caller.strong_count() > 0).count();
    let count = u32::try_from(waiting).unwrap_or(u32::MAX);
    let outcome = match count {
        0 => Ok(None),
        _ => endpoints.ask(Verb::Next, name, count).await.map(Some),
    };
    match outcome {
        Ok(parcel) => deal(parcel, &callers),
        Err(error) => callers.iter().map(|_| Err(error.clone())).collect(),
    }
}

/// One for each, as long as there are some. Who is gone may be passed over, and may take one all the same.
fn deal(parcel: Option<Parcel>, callers: &[Caller]) -> Vec<Result<Fresh, Error>> {
    let blocks = parcel.map(Parcel::open).unwrap_or_default();
    let mut numbers = blocks.iter().flat_map(Block::iter).filter_map(Number::of).map(Fresh::new);
    let mut next = |caller: &Caller| {
        let number = (caller.strong_count() > 0).then(|| numbers.next()).flatten();
        number.ok_or_else(|| Error::new(PROTOCOL, "an answer of fewer numbers than were asked for"))
    };
    let dealt: Vec<_> = callers.iter().map(&mut next).collect();
    metric::burnt("answered when nobody waited any more", u64::try_from(numbers.count()).unwrap_or(u64::MAX));
    dealt
}
