//! `sequent preview`: what a number would look like. Consumes nothing.

use std::sync::Arc;

use clap::Args;
use sequent_core::{Clock, Fits, SystemClock};
use sequent_engine::{Body, Capacity, Timestamp};
use sequent_format::{Format, PreviewError, ValueError, tzdb_version};
use serde::Serialize;

use crate::{
    cluster::Cluster,
    failure::Failure,
    output,
    with::{Around, Whose, With, refused},
};

const EXAMPLES: &str = "\
Examples:
  sequent preview '@{date,yyyyMMdd}@{seq,w=5}' --at 2017-03-04      2017030400001
  sequent preview 'QJ@{seq,w=6}' --number 42                        QJ000042
  sequent preview '@{ctx,area,len=3}-@{seq,w=5}' --with area=010    010-00001
  sequent preview 'S@{seq,w=6,over=error}' --capacity               how many numbers, and what may be skipped

The template is proven as for a definition: one that could render two numbers alike is refused, with an example \
and how to mend it. The text is marked as nobody's: no number is taken, and no cluster is needed.";

/// Show what a template makes of a number
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Preview {
    /// The template
    template: String,
    #[command(flatten)]
    around: Around,
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    with: With,
    /// The number [default: the first one]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    number: Option<String>,
    /// Print how many numbers a key has, and how many of them one server may skip where it dies, instead of a text; where
    /// several die at once, each skips so many
    #[arg(long)]
    capacity: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    text: &'a str,
    number: String,
    period: &'a str,
    partition: Vec<Value<'a>>,
    at: String,
    zone: &'a str,
    tzdb: &'static str,
    max_len: usize,
    preview: bool,
    capacity: Capacity,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Value<'a> {
    name: &'a str,
    value: &'a str,
}

impl Preview {
    /// Whether the sum is asked for, which depends on the cluster's layout.
    pub(crate) fn sums(&self) -> bool {
        self.capacity
    }

    pub(crate) fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        cluster.keys_for(&self.template)?;
        let texts = self.whose.texts(self.around.texts(&self.template)?)?;
        // The placement is said, since a preview asks for none. A sum is the one that `define` would print.
        let fits = if self.capacity { None } else { Some("int64") };
        let body = Body::check(Some("spread"), 1, 1, None, fits, Some(texts));
        let body = body.map_err(|fault| refused(&fault))?;
        let format = body.format().ok_or_else(|| Failure::failed("the template was not proven"))?;
        body.texts().into_iter().for_each(|texts| self.whose.warn(texts));
        for warning in format.warnings() {
            output::say(&format!("warning: {warning}"));
        }
        if self.capacity {
            return capacity(cluster, &body);
        }
        self.show(cluster, (&body, format))
    }

    fn show(&self, cluster: &Cluster, (body, format): (&Body, &Format)) -> Result<(), Failure> {
        let number = match &self.number {
            None => format.counter().start,
            Some(text) => {
                text.parse().ok().filter(|number| (1..=i64::MAX as u64).contains(number)).ok_or_else(
                    || Failure::argument("--number", text, format!("1 to {} are allowed", i64::MAX)),
                )?
            }
        };
        body.check_number(number).map_err(|bound| Failure::argument("--number", number, bound))?;
        let at = match &self.with.at {
            Some(text) => format.instant(text).map_err(|error| of_value(&error, "--"))?,
            None => now(&(Arc::new(SystemClock) as Arc<dyn Clock>)),
        };
        let preview = format.preview(number, at, &self.with.values()?).map_err(|error| match error {
            PreviewError::Value(error) if error.field == "at" => of_value(&error, "--"),
            PreviewError::Value(error) => of_value(&error, "--with "),
            PreviewError::Render(error) => Failure::argument("--number", number, error.to_string()),
        })?;
        let beyond = body.beyond(number).or_else(|| behind_default(number));
        if let Some(told) = &beyond {
            output::say(&format!("warning: {told}"));
        }
        if !cluster.json() {
            return output::lines([preview]);
        }
        let bounded = Body::check(Some("spread"), 1, 1, None, None, body.texts().cloned());
        let sum = sum(cluster, &bounded.map_err(|fault| refused(&fault))?)?;
        let partition = preview.partition.iter().map(|(name, value)| Value { name, value });
        output::json(&Answer {
            text: &preview.text,
            number: number.to_string(),
            period: &preview.period,
            partition: partition.collect(),
            at: format.shown_instant(at),
            zone: format.zone_name(),
            tzdb: tzdb_version(),
            max_len: format.max_len(),
            preview: true,
            capacity: sum,
            warnings: format.warnings().iter().map(ToString::to_string).chain(beyond).collect(),
        })
    }
}

/// What is told of a number that a definition gives only where it says so.
fn behind_default(number: u64) -> Option<String> {
    let last = Fits::default().limit();
    (number > last).then(|| {
        format!("number is {number}: {last} is the last one, unless the definition says fits = \"int64\"")
    })
}

fn now(clock: &Arc<dyn Clock>) -> Timestamp {
    let now = i64::try_from(clock.wall_ms()).ok();
    now.and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default()
}

fn of_value(error: &ValueError, before: &str) -> Failure {
    Failure::argument(&format!("{before}{}", error.field), &error.value, error.bound.clone())
}

/// How many numbers a key has, and what may be skipped of them, in the layout that is configured.
fn capacity(cluster: &Cluster, body: &Body) -> Result<(), Failure> {
    let sum = sum(cluster, body)?;
    if cluster.json() {
        return output::json(&sum);
    }
    output::lines(sum.lines())
}

fn sum(cluster: &Cluster, body: &Body) -> Result<Capacity, Failure> {
    let config = cluster.config()?;
    let layout = config.first_layout().map_err(|error| Failure::failed(error.to_string()))?;
    Ok(body.capacity(layout, config.reservoir.at_risk_max).with_leases_of(config.limits.lease_max_count))
}
