//! `sequent preview`: the text of a number. Consumes nothing.

use clap::Args;
use sequent_core::Fits;
use sequent_engine::{AtRisk, Body, Capacity, NamedValue, config::SERVERS_MAX};
use sequent_format::{Format, PreviewError, ValueError, tzdb_version};
use serde::Serialize;

use crate::{
    failure::Failure,
    open_cluster::Cluster,
    output,
    remote_definitions::{self, Named},
    template_values::{NumberingArgs, TemplateSource, TemplateValues, now, refused},
};

const EXAMPLES: &str = "\
Examples:
  sequent preview '@{date,yyyyMMdd}@{seq,w=5}' --at 2017-03-04      2017030400001
  sequent preview 'QJ@{seq,w=6}' --number 42                        QJ000042
  sequent preview '@{ctx,area,len=3}-@{seq,w=5}' --with area=010    010-00001
  sequent preview 'INV-@{seq,w=4}' --after 'INV-@{seq,w=3}'         refused: both can render INV-1111
  sequent preview 'S@{seq,w=6,over=error}' --capacity               how many numbers, and what may be skipped

The template is proven as for a definition: one that could render two numbers alike is refused, with an example \
and how to mend it. The text is marked as nobody's: no number is taken, and no cluster is needed.

The sum of --capacity is the one by which `define` refuses placement spread: what is skipped where all servers \
(reservoir.servers) die at once, a lease of each with it, and all stores forget. It is of the cluster whose servers are \
named by --server or SEQUENT_SERVER, or else of what the configuration here says.";

/// Show what a template makes of a number
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Preview {
    /// The template
    template: String,
    #[command(flatten)]
    around: NumberingArgs,
    #[command(flatten)]
    whose: TemplateSource,
    #[command(flatten)]
    with: TemplateValues,
    /// The number [default: the first one]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    number: Option<String>,
    /// The template of the previous version: refused if that version may have given one of these texts or
    /// numbers
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "capacity")]
    after: Option<String>,
    /// Print how many numbers a key has, and how many of them all servers may skip, instead of a text
    #[arg(long)]
    capacity: bool,
    /// Assume so many servers, if there are more than the configuration says
    #[arg(long, value_name = "N", requires = "capacity")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=SERVERS_MAX))]
    servers: Option<u64>,
    #[command(flatten)]
    server: Named,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    text: &'a str,
    number: String,
    period: &'a str,
    partition: Vec<NamedValue>,
    at: String,
    zone: &'a str,
    tzdb: &'static str,
    max_len: usize,
    preview: bool,
    capacity: Capacity,
    warnings: Vec<String>,
}

impl Preview {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        if self.capacity {
            let sum = self.sum(cluster).await?.for_servers(self.servers.unwrap_or(1));
            return if cluster.json() { output::json(&sum) } else { output::lines(sum.lines()) };
        }
        // The placement is given, since a preview does not ask for one. Numbers after the default's last are
        // rendered, too.
        let body = self.body(cluster, Some("int64"))?;
        let format = body.format().ok_or_else(|| Failure::failed("the template was not proven"))?;
        self.show(cluster, (&body, format)).await
    }

    /// The template as a definition; warnings are printed.
    fn body(&self, cluster: &Cluster, fits: Option<&str>) -> Result<Body, Failure> {
        let body = self.body_of(cluster, (&self.template, fits))?;
        if let Some(before) = &self.after {
            let before = self.body_of(cluster, (before, fits))?;
            let told =
                |why| Failure::argument("template", &self.template, format!("as the next version, it {why}"));
            body.follows(&before).map_err(told)?;
        }
        body.texts().into_iter().for_each(|texts| self.whose.warn(texts));
        for warning in body.format().into_iter().flat_map(Format::warnings) {
            output::say(&format!("warning: {warning}"));
        }
        Ok(body)
    }

    /// A template with all its settings.
    fn body_of(&self, cluster: &Cluster, (template, fits): (&str, Option<&str>)) -> Result<Body, Failure> {
        cluster.keys_for(template)?;
        let texts = self.whose.texts(self.around.texts(template)?)?;
        Body::check(Some("spread"), 1, 1, None, fits, Some(texts)).map_err(|fault| refused(&fault))
    }

    /// The numbers that `define` would print: in the cluster of the named servers, or else in the configured
    /// layout.
    async fn sum(&self, cluster: &Cluster) -> Result<Capacity, Failure> {
        if let Some(definitions) = self.server.definitions(cluster).await? {
            let (sum, warnings) =
                remote_definitions::capacity(&definitions, self.around.wire(&self.template)).await?;
            for warning in warnings {
                output::say(&format!("warning: {warning}"));
            }
            return Ok(sum);
        }
        configured(cluster, &self.body(cluster, None)?)
    }

    async fn show(&self, cluster: &Cluster, (body, format): (&Body, &Format)) -> Result<(), Failure> {
        let number = match &self.number {
            None => format.counter_spec().start,
            Some(text) => {
                text.parse().ok().filter(|number| i64::try_from(*number).is_ok()).ok_or_else(|| {
                    Failure::argument("--number", text, format!("0 to {} are allowed", i64::MAX))
                })?
            }
        };
        body.check_number(number).map_err(|bound| Failure::argument("--number", number, bound))?;
        let at = match &self.with.at {
            Some(text) => format.instant(text).map_err(|error| of_value(&error, "--"))?,
            None => now(),
        };
        let preview = format.preview(number, at, &self.with.values()?).map_err(|error| match error {
            PreviewError::Value(error) if error.field == "at" => match &self.with.at {
                // The value as it was written.
                Some(text) => Failure::argument("--at", text, error.bound),
                None => of_value(&error, "--"),
            },
            PreviewError::Value(error) => of_value(&error, "--with "),
            PreviewError::Render(error) => Failure::argument("--number", number, error.bound()),
        })?;
        let beyond = body.beyond(number).or_else(|| behind_default(number));
        if let Some(told) = &beyond {
            output::say(&format!("warning: {told}"));
        }
        if !cluster.json() {
            return output::lines([preview]);
        }
        let sum = if let Some(definitions) = self.server.definitions(cluster).await? {
            remote_definitions::capacity(&definitions, self.around.wire(&self.template)).await?.0
        } else {
            let bounded = Body::check(Some("spread"), 1, 1, None, None, body.texts().cloned());
            configured(cluster, &bounded.map_err(|fault| refused(&fault))?)?
        };
        let partition = preview.partition.iter().cloned().map(|(name, value)| NamedValue { name, value });
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

/// The note about a number that a definition gives only with `fits`.
fn behind_default(number: u64) -> Option<String> {
    let last = Fits::default().limit();
    (number > last).then(|| {
        format!("number is {number}: {last} is the last one, unless the definition says fits = \"int64\"")
    })
}

fn of_value(error: &ValueError, before: &str) -> Failure {
    Failure::value(&format!("{before}{}", error.field), error)
}

/// How many numbers a key has, and how many may be skipped, by this configuration.
fn configured(cluster: &Cluster, body: &Body) -> Result<Capacity, Failure> {
    let config = cluster.config()?;
    Ok(body.capacity(config.first_layout(), AtRisk::of(&config)))
}
