//! Definitions, as every door serves them: made where `limits.define` allows it; listed, shown and tried out by everybody.

use sequent_core::SequenceName;
use sequent_engine::{
    Body, BodyFault, By, Capacity, DefineReport, Effective, OpenError, ParseReport, PreviewAsk,
    PreviewReport, Reason, Texts, Values,
    report::{SequenceReport, SequenceSummary},
};
use serde::Deserialize;
use serde_json::Value;
use tokio::{runtime::Handle, sync::Semaphore};
use tracing::Instrument;

use crate::{bounds::IN_FLIGHT_MAX, fault::Fault, meter::Flying, teller::Teller};

/// What both doors count their calls as.
pub(crate) const METHOD: &str = "definitions";

/// What whoever may not define is told.
const NOT_ALLOWED: &str =
    "definitions are made by `sequent define`, or by this door where limits.define = true";

/// The most calls whose templates are proven at once, each on a thread of its own; others wait for their turn.
const PROVING_MAX: usize = 2;

static PROVING: Semaphore = Semaphore::const_new(PROVING_MAX);

/// The most sequences of one list; `more` says that there are more.
const LISTED_MAX: usize = 1000;

/// A definition as a caller writes it; what is left out has its default.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Wanted {
    pub(crate) version: Option<u64>,
    pub(crate) placement: Option<String>,
    pub(crate) start: Option<Number>,
    pub(crate) step: Option<Number>,
    pub(crate) end: Option<Number>,
    pub(crate) fits: Option<String>,
    pub(crate) template: Option<String>,
    pub(crate) zone: Option<String>,
    pub(crate) maxlen: Option<u64>,
    pub(crate) charset: Option<String>,
    pub(crate) unique: Option<String>,
    pub(crate) window_s: Option<u64>,
    pub(crate) retain_periods: Option<u64>,
    pub(crate) effective: Option<String>,
}

/// A number as a string, as everywhere; or as an integer, where a reader has not rounded it.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Number {
    Integer(u64),
    Text(String),
}

/// What a call names that tries something out: a sequence, or a template with what stands around it.
#[derive(Debug)]
pub(crate) enum Named {
    Sequence(String),
    Definition(Box<Wanted>),
}

/// What a preview is asked with.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) by: Named,
    pub(crate) number: Option<Number>,
    pub(crate) with: Values,
    pub(crate) at: String,
}

/// Sequences after a name, and whether there are more.
pub(crate) async fn list(teller: &Teller, after: &str) -> Result<(Vec<SequenceSummary>, bool), Fault> {
    let _flying = begin(teller)?;
    let mut sequences = teller.engine().cluster().list().await?;
    let first = sequences.partition_point(|held| !after.is_empty() && held.sequence.as_str() <= after);
    sequences.drain(..first);
    let more = sequences.len() > LISTED_MAX;
    sequences.truncate(LISTED_MAX);
    Ok((sequences, more))
}

/// One sequence; `field` is what the door calls its name.
pub(crate) async fn show(
    teller: &Teller,
    (field, name): (&'static str, &str),
) -> Result<SequenceReport, Fault> {
    let _flying = begin(teller)?;
    Ok(teller.engine().cluster().show(&named(field, name)?).await?)
}

/// A sequence's next version, or the one that is named.
pub(crate) async fn define(
    teller: &Teller,
    (field, name): (&'static str, &str),
    wanted: impl FnOnce() -> Result<Wanted, Fault>,
) -> Result<DefineReport, Fault> {
    let name = named(field, name)?;
    if !teller.may_define() {
        return Err(Fault::new(Reason::PermissionDenied, NOT_ALLOWED));
    }
    let _flying = begin(teller)?;
    let wanted = wanted()?;
    let version = wanted.version.map(|version| {
        let narrow = u32::try_from(version).ok().filter(|version| *version > 0);
        narrow.ok_or_else(|| version_fault(version))
    });
    let (version, effective) = (version.transpose()?, wanted.effective.clone());
    let engine = teller.engine().clone();
    beside(Box::pin(async move {
        let body = wanted.body()?;
        let effective = effective.map(|text| Effective::read(&text, &body)).transpose();
        let effective = effective.map_err(|fault| of_body(&fault))?;
        let defined = engine.define_from(&name, (version, effective), body).await;
        defined.map_err(|error| of_open(&error))
    }))
    .await
}

/// A text that nobody is given.
pub(crate) async fn preview(teller: &Teller, trial: Trial) -> Result<PreviewReport, Fault> {
    let _flying = begin(teller)?;
    let number = number("number", trial.number)?;
    if let Some(number) = number.filter(|number| !(1..=i64::MAX as u64).contains(number)) {
        return Err(Fault::field("number", &number.to_string(), format!("1 to {} are allowed", i64::MAX)));
    }
    let engine = teller.engine().clone();
    beside(Box::pin(async move {
        let (by, at) = (trial.by.checked()?, Some(trial.at).filter(|at| !at.is_empty()));
        Ok(engine.preview(&PreviewAsk { by, number, at, with: trial.with }).await?)
    }))
    .await
}

/// How many numbers a key has, and what is worth a word.
pub(crate) async fn capacity(
    teller: &Teller,
    by: Named,
    at: String,
) -> Result<(Capacity, Vec<String>), Fault> {
    let _flying = begin(teller)?;
    let engine = teller.engine().clone();
    beside(Box::pin(async move {
        let at = Some(at).filter(|at| !at.is_empty());
        Ok(engine.capacity_of(&by.checked()?, at.as_deref()).await?)
    }))
    .await
}

/// What a text says.
pub(crate) async fn parse(teller: &Teller, by: Named, text: &str) -> Result<ParseReport, Fault> {
    let _flying = begin(teller)?;
    let (engine, text) = (teller.engine().clone(), text.to_owned());
    beside(Box::pin(async move { Ok(engine.parse(&by.checked()?, &text).await?) })).await
}

impl Named {
    /// One of both, as a door found them.
    pub(crate) fn one_of(sequence: Option<String>, definition: Option<Wanted>) -> Result<Self, Fault> {
        match (sequence, definition) {
            (Some(sequence), None) => Ok(Self::Sequence(sequence)),
            (None, Some(definition)) => Ok(Self::Definition(Box::new(definition))),
            (None, None) => {
                Err(Fault::field("sequence", "missing", "a sequence or a definition is expected"))
            }
            (Some(sequence), Some(_)) => {
                let bound = "a sequence or a definition is expected: say one of them";
                Err(Fault::field("sequence", &sequence, bound))
            }
        }
    }

    fn checked(self) -> Result<By, Fault> {
        match self {
            Self::Sequence(name) => Ok(By::Sequence(named("sequence", &name)?)),
            // Nothing is defined: its version is nobody's, and a ring that it would not fit is no fault.
            Self::Definition(wanted) => {
                if let Some(effective) = &wanted.effective {
                    let bound = "nothing is defined here: leave it out";
                    return Err(Fault::field("effective", effective, bound));
                }
                let placement = wanted.placement.clone().or_else(|| Some("spread".to_owned()));
                Ok(By::Body(Box::new(Wanted { placement, ..*wanted }.body()?)))
            }
        }
    }
}

impl Wanted {
    fn body(self) -> Result<Body, Fault> {
        let start = number("start", self.start)?.unwrap_or(1);
        let step = number("step", self.step)?.unwrap_or(1);
        let end = number("end", self.end)?;
        let around = self.zone.is_some() || self.maxlen.is_some() || self.charset.is_some();
        let texts = match self.template {
            Some(template) => {
                // What no memory holds is longer than what is allowed, as it is.
                let maxlen = self.maxlen.map(|maxlen| usize::try_from(maxlen).unwrap_or(usize::MAX));
                let texts = Texts::new(template).maxlen(maxlen).charset(self.charset);
                let retained = self.retain_periods.map(|periods| u32::try_from(periods).unwrap_or(u32::MAX));
                let texts = texts.window_s(self.window_s).retain_periods(retained);
                let texts = texts.unique(self.unique.as_deref()).map_err(|fault| of_body(&fault))?;
                Some(self.zone.into_iter().fold(texts, Texts::zone))
            }
            None if around
                || self.unique.is_some()
                || self.window_s.is_some()
                || self.retain_periods.is_some() =>
            {
                let bound = "zone, maxlen, charset, unique, window_s and retain_periods belong to one";
                return Err(Fault::field("template", "missing", bound));
            }
            None => None,
        };
        let body = Body::check(self.placement.as_deref(), start, step, end, self.fits.as_deref(), texts);
        body.map_err(|fault| of_body(&fault))
    }
}

/// Does what may take long, of a template's proof above all, on a thread of its own: requests for numbers are not kept
/// waiting by it.
async fn beside<T: Send + 'static>(
    work: impl Future<Output = Result<T, Fault>> + Send + 'static,
) -> Result<T, Fault> {
    let lost = || Fault::new(Reason::Draining, "this server is stopping");
    let turn = PROVING.acquire().await.map_err(|_| lost())?;
    let (work, runtime) = (work.in_current_span(), Handle::current());
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        runtime.block_on(work)
    });
    done.await.map_err(|_| lost())?
}

/// A call in work; counted with those for numbers.
fn begin(teller: &Teller) -> Result<Flying, Fault> {
    teller.in_flight().begin().ok_or_else(|| {
        let text =
            format!("this server has {IN_FLIGHT_MAX} requests in work: at most {IN_FLIGHT_MAX} are allowed");
        Fault::new(Reason::QuotaExceeded, text)
    })
}

fn named(field: &'static str, name: &str) -> Result<SequenceName, Fault> {
    name.parse().map_err(|_| Fault::name(field, name))
}

fn number(field: &'static str, number: Option<Number>) -> Result<Option<u64>, Fault> {
    match number {
        None => Ok(None),
        Some(Number::Integer(number)) => Ok(Some(number)),
        Some(Number::Text(text)) => {
            let bound = || format!("a whole number is expected: 1 to {}", i64::MAX);
            // A sign is no digit, though a reader of integers takes one.
            let number = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
            number.map(Some).ok_or_else(|| Fault::field(field, &text, bound()))
        }
    }
}

fn version_fault(version: u64) -> Fault {
    let bound = if version == 0 {
        "at least 1 is allowed".to_owned()
    } else {
        format!("at most {} is allowed", u32::MAX)
    };
    Fault::field("version", &version.to_string(), bound)
}

fn of_body(fault: &BodyFault) -> Fault {
    let value = serde_json::from_str::<Value>(&fault.value).ok();
    let value = value.as_ref().and_then(Value::as_str).unwrap_or(&fault.value);
    Fault::field(fault.field, value, fault.bound.clone())
}

fn of_open(error: &OpenError) -> Fault {
    let reason = match error {
        OpenError::Unavailable(_) => Reason::LedgerUnavailable,
        OpenError::Recovery(_) => Reason::RecoveryRequired,
        _ => Reason::DefinitionConflict,
    };
    // A ledger's cause names addresses: those are for the log.
    let text = match error {
        OpenError::Refused(text) => text.clone(),
        _ => "the ledger is needed, and can't be used".to_owned(),
    };
    Fault::new(reason, text)
}
