//! Definitions of sequences: define, list, show, preview and parse. `limits.define` decides whether callers may
//! define.

use std::sync::Arc;

use sequent_core::SequenceName;
use sequent_engine::{
    By, Capacity, DefineReport, Effective, OpenError, ParseReport, PreviewAsk, PreviewReport, Reason, Values,
    config::Verb,
    report::{KnownSequence, KnownSequences},
};
use tokio::{runtime::Handle, time::timeout_at};
use tracing::Instrument;

use crate::{
    audit::Entry,
    auth::Caller,
    error::ApiError,
    limits::pending_quota::ConnectionShare,
    service::{
        NumberService,
        definition_input::{DefinitionInput, NumberInput, body_error, number},
    },
};

/// Metric label of these calls.
pub(crate) const METHOD: &str = "definitions";

/// What the audit log calls a definition.
const DEFINE: &str = "define";

/// Error text if callers may not define.
const NOT_ALLOWED: &str =
    "definitions are made by `sequent define`, or by this server where limits.define = true";

/// Limit on sequences of one list. `more` tells whether there are further ones.
const LISTED_MAX: usize = 1000;

/// A call: the service, its caller, and the caller's connection.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) service: &'a NumberService,
    pub(crate) caller: &'a Caller,
    pub(crate) share: &'a Arc<ConnectionShare>,
}

/// What a preview refers to: a sequence, or a definition that is not stored.
#[derive(Debug)]
pub(crate) enum Target {
    Sequence(String),
    Definition(Box<DefinitionInput>),
}

/// Input of a preview.
#[derive(Debug)]
pub(crate) struct PreviewInput {
    pub(crate) by: Target,
    pub(crate) number: Option<NumberInput>,
    pub(crate) with: Values,
    pub(crate) at: String,
}

/// Sequences after a name, and whether there are further ones.
pub(crate) fn list(call: Call<'_>, after: &str) -> Result<KnownSequences, ApiError> {
    let _admitted = call.caller.admit("")?;
    let may_list = |name: &str| call.caller.may(Verb::List, name);
    Ok(call.service.engine().known_sequences(after, LISTED_MAX, may_list))
}

/// One sequence. `field` is the name of the parameter in errors.
pub(crate) async fn show(
    Call { service, caller, .. }: Call<'_>,
    (field, name): (&'static str, &str),
) -> Result<KnownSequence, ApiError> {
    let (name, deadline) = (named(field, name)?, service.deadline());
    let _admitted = caller.admit(name.as_str())?;
    // A sequence that is unknown here is looked for in the ledger, in turn.
    match timeout_at(deadline.into(), service.engine().known_sequence(&name)).await {
        Ok(shown) => Ok(shown?),
        Err(_) => Err(ApiError::late(name.as_str())),
    }
}

/// Defines the next version of a sequence, or the version that is given.
pub(crate) async fn define(
    call: Call<'_>,
    (field, name): (&'static str, &str),
    input: impl FnOnce() -> Result<DefinitionInput, ApiError>,
) -> Result<DefineReport, ApiError> {
    let (name, Call { service, caller, .. }) = (named(field, name)?, call);
    let _admitted = caller.admit(name.as_str())?;
    // A principal was allowed the verb on purpose.
    if !caller.is_principal() && !service.0.limits.current().define {
        let refused = Err(ApiError::new(Reason::PermissionDenied, NOT_ALLOWED));
        caller.record(Entry::new(DEFINE, "").with("sequence", name.as_str()), &refused);
        return refused;
    }
    let input = input()?;
    let version = input.version.map(|version| {
        let narrow = u32::try_from(version).ok().filter(|version| *version > 0);
        narrow.ok_or_else(|| version_error(version))
    });
    let (version, effective) = (version.transpose()?, input.effective.clone());
    let (engine, caller) = (service.engine().clone(), caller.clone());
    let work = async move {
        let body = input.body()?;
        let counter = body.named_counter().filter(|counter| *counter != name.as_str());
        if let Some(Err(error)) = counter.map(|counter| draws(&caller, counter)) {
            let refused = Err(error);
            record(&caller, &name, &refused);
            return refused;
        }
        let effective = effective.map(|text| Effective::read(&text, &body)).transpose();
        let effective = effective.map_err(|error| body_error(&error))?;
        let defined = engine.define_from(&name, (version, effective), body).await;
        let defined = defined.map_err(|error| open_error(&error));
        // Here, as its caller may be gone by now.
        record(&caller, &name, &defined);
        defined
    };
    run_in_turn(call, work).await
}

/// Refuses a definition that would draw from a counter which its caller may neither use nor define.
fn draws(caller: &Caller, counter: &str) -> Result<(), ApiError> {
    if caller.may(Verb::Define, counter) { Ok(()) } else { caller.authorize_also(Verb::Next, counter) }
}

/// Records a definition, unless it was there.
fn record(caller: &Caller, name: &SequenceName, defined: &Result<DefineReport, ApiError>) {
    let entry = Entry::new(DEFINE, "").with("sequence", name.as_str());
    match defined {
        Ok(report) if report.already => {}
        Ok(report) => caller.record(entry.with("version", report.version), defined),
        Err(_) => caller.record(entry, defined),
    }
}

/// The text that a number would have. No number is issued.
pub(crate) async fn preview(call: Call<'_>, input: PreviewInput) -> Result<PreviewReport, ApiError> {
    let _admitted = call.caller.admit(input.by.name())?;
    reveals(call, &input.by).await?;
    let number = number("number", input.number)?;
    if let Some(number) = number.filter(|number| i64::try_from(*number).is_err()) {
        return Err(ApiError::field("number", &number.to_string(), format!("0 to {} are allowed", i64::MAX)));
    }
    let engine = call.service.engine().clone();
    let work = async move {
        let (by, at) = (input.by.resolve()?, Some(input.at).filter(|at| !at.is_empty()));
        Ok(engine.preview(&PreviewAsk { by, number, at, with: input.with }).await?)
    };
    run_in_turn(call, work).await
}

/// How many numbers a key has, and warnings.
pub(crate) async fn capacity(
    call: Call<'_>,
    by: Target,
    at: String,
) -> Result<(Capacity, Vec<String>), ApiError> {
    let _admitted = call.caller.admit(by.name())?;
    let engine = call.service.engine().clone();
    let work = async move {
        let at = Some(at).filter(|at| !at.is_empty());
        Ok(engine.capacity_of(&by.resolve()?, at.as_deref()).await?)
    };
    run_in_turn(call, work).await
}

/// Parses a text into its number and values.
pub(crate) async fn parse(call: Call<'_>, by: Target, text: &str) -> Result<ParseReport, ApiError> {
    let _admitted = call.caller.admit(by.name())?;
    reveals(call, &by).await?;
    let (engine, text) = (call.service.engine().clone(), text.to_owned());
    run_in_turn(call, async move { Ok(engine.parse(&by.resolve()?, &text).await?) }).await
}

/// Refuses a text of hidden numbers to a caller that may not reveal them: with it any number could be turned into its
/// text, and back.
async fn reveals(Call { service, caller, .. }: Call<'_>, by: &Target) -> Result<(), ApiError> {
    // A key hides the numbers of each sequence in a way of its own, and a definition that is not stored has none: its
    // texts tell nothing of those of a sequence.
    let Target::Sequence(name) = by else { return Ok(()) };
    if caller.may(Verb::Reveal, name) || !service.engine().hides_numbers(&named("sequence", name)?).await? {
        return Ok(());
    }
    caller.authorize_also(Verb::Reveal, name)
}

impl Target {
    /// The name of the sequence; empty without one.
    fn name(&self) -> &str {
        match self {
            Self::Sequence(name) => name,
            Self::Definition(_) => "",
        }
    }

    /// Exactly one of both must be present.
    pub(crate) fn from_parts(
        sequence: Option<String>,
        definition: Option<DefinitionInput>,
    ) -> Result<Self, ApiError> {
        match (sequence, definition) {
            (Some(sequence), None) => Ok(Self::Sequence(sequence)),
            (None, Some(definition)) => Ok(Self::Definition(Box::new(definition))),
            (None, None) => {
                Err(ApiError::field("sequence", "missing", "a sequence or a definition is expected"))
            }
            (Some(sequence), Some(_)) => {
                let bound = "a sequence or a definition is expected: say one of them";
                Err(ApiError::field("sequence", &sequence, bound))
            }
        }
    }

    fn resolve(self) -> Result<By, ApiError> {
        match self {
            Self::Sequence(name) => Ok(By::Sequence(named("sequence", &name)?)),
            // Nothing is stored, so the version is ignored, and a placement that does not suit the ring is no error.
            Self::Definition(input) => {
                if let Some(effective) = &input.effective {
                    let bound = "nothing is defined here: leave it out";
                    return Err(ApiError::field("effective", effective, bound));
                }
                let placement = input.placement.clone().or_else(|| Some("spread".to_owned()));
                Ok(By::Body(Box::new(DefinitionInput { placement, ..*input }.body()?)))
            }
        }
    }
}

/// Runs work that may take long, above all the analysis of a template, on a blocking thread and in its turn. Requests
/// for numbers thus do not wait for it.
fn run_in_turn<T: Send + 'static>(
    Call { service, share, .. }: Call<'_>,
    work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
) -> impl Future<Output = Result<T, ApiError>> {
    // It is large, and moved several times.
    let work = Box::pin(work);
    async move {
        let lost = || ApiError::new(Reason::Draining, "this server is stopping");
        let permit = service.0.proofs.turn(share, service.deadline().into()).await?;
        let (work, runtime) = (work.in_current_span(), Handle::current());
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            runtime.block_on(work)
        });
        done.await.map_err(|_| lost())?
    }
}

fn named(field: &'static str, name: &str) -> Result<SequenceName, ApiError> {
    name.parse().map_err(|_| ApiError::name(field, name))
}

fn version_error(version: u64) -> ApiError {
    let bound = if version == 0 {
        "at least 1 is allowed".to_owned()
    } else {
        format!("at most {} is allowed", u32::MAX)
    };
    ApiError::field("version", &version.to_string(), bound)
}

fn open_error(error: &OpenError) -> ApiError {
    let reason = match error {
        OpenError::Unavailable(_) => Reason::LedgerUnavailable,
        OpenError::Recovery(_) => Reason::RecoveryRequired,
        _ => Reason::DefinitionConflict,
    };
    // The cause may contain addresses, which belong into the log only.
    let text = match error {
        OpenError::Refused(text) => text.clone(),
        _ => "the ledger is needed, and can't be used".to_owned(),
    };
    ApiError::new(reason, text)
}
