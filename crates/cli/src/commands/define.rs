//! `sequent define`: the definition of a sequence.

use clap::Args;
use hyper::Method;
use sequent_client::v1;
use sequent_engine::{Body, BodyOptions, DefineReport, Effective, Engine, Pace};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    admin_client::AdminArg,
    failure::Failure,
    open_cluster::{Cluster, sequence_name},
    output,
    remote_definitions::{self, Named},
    template_values::{NumberingArgs, refused},
};

const EXAMPLES: &str = "\
Examples:
  sequent define order --template '@{date,yyyyMMdd}@{seq,w=5}' --zone Asia/Shanghai
  sequent define invoice --end 999999 --placement dense
  sequent define order --template 'B@{seq,w=6}'      another template: the next version
  sequent define order --template 'C@{seq,w=6}' --effective 2027-01-01
  sequent define order --template 'B@{seq,w=6}' --server http://a:7420    by a server with limits.define = true
  sequent define order --template 'B@{seq,w=6}' --admin https://a:7423 --token-file ops.token

It is in the ledger at once, and in force on every server within two seconds. A version never changes once it is \
there: the same content again changes nothing, another one becomes the next version, a version below the one that is there is ignored, and what would give numbers or texts \
of the versions before again is refused (exit code 3; a server's DEFINITION_CONFLICT is 1). A number is unique with its period and the values that partition it; \
one of a sequence without a template by itself, and its first template leaves it one counter. With --effective another version is in effect until then; each \
request is rendered by the version in effect at its instant, and `sequent list` and `show` tell what waits. A sequence that a configuration file names too needs the same \
version there, or a lower one.";

/// Define a sequence, or its next version
#[derive(Debug, Args, Serialize)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Define {
    /// The sequence
    #[serde(skip)]
    name: String,
    /// The template of its texts: see `sequent preview`
    #[arg(long, value_name = "TEMPLATE")]
    template: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    around: NumberingArgs,
    /// How far from now, in seconds, a caller's --at may be [default: 31 days ahead, any time back]
    #[arg(long, value_name = "SECONDS")]
    window_s: Option<u64>,
    /// How many past periods may still be asked for; older ones are over for good, and their counters are
    /// forgotten [default: all]
    #[arg(long, value_name = "PERIODS")]
    retain_periods: Option<u32>,
    /// spread or dense [default: dense if a key has fewer than 1000000 numbers, else spread]
    #[arg(long, value_name = "PLACEMENT")]
    placement: Option<String>,
    /// The first number, from 0 [default: 1]
    #[arg(long, value_name = "N")]
    start: Option<u64>,
    /// The distance between neighbours [default: 1]
    #[arg(long, value_name = "N")]
    step: Option<u64>,
    /// The last number [default: the last that fits]
    #[arg(long, value_name = "N")]
    end: Option<u64>,
    /// The type that every number fits: js, int32, uint32 or int64 [default: js]
    #[arg(long, value_name = "TYPE")]
    fits: Option<String>,
    /// How numbers are made of ids: ordinal, counted from the start in any ring, or encoded, the id with its slot
    /// [default: ordinal]
    #[arg(long, value_name = "NUMBERING")]
    numbering: Option<String>,
    /// How long the numbers that a server keeps ready last; 0: none are held ahead [default: reservoir.reserve_ms]
    #[arg(long, value_name = "MS")]
    reserve_ms: Option<u64>,
    /// The most numbers of a key that a server's crash may lose, and that one lease may have [default:
    /// reservoir.at_risk_max]
    #[arg(long, value_name = "N")]
    at_risk_max: Option<u64>,
    /// The version [default: the next one]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    version: Option<u32>,
    /// When it takes effect: now, next-period, or an instant at least ten seconds ahead, such as
    /// 2027-01-01T00:00:00+08:00, or a date or time of the zone [default: now]
    #[arg(long, value_name = "WHEN")]
    effective: Option<String>,
    #[command(flatten)]
    #[serde(skip)]
    servers: Named,
    #[command(flatten)]
    #[serde(skip)]
    admin: AdminArg,
}

impl Define {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        if let Some(admin) = self.admin.client(cluster)? {
            self.belongs()?;
            let report = admin.call(Method::PUT, &format!("/v1/sequences/{name}"), &self.json()).await?;
            return told(cluster, &remote_definitions::defined(&report));
        }
        if let Some(definitions) = self.servers.definitions(cluster).await? {
            // The servers prove the template: they have its keys, and know the previous versions.
            self.belongs()?;
            return told(cluster, &remote_definitions::define(&definitions, self.wire()).await?);
        }
        if let Some(template) = &self.template {
            cluster.keys_for(template)?;
        }
        let body = self.body()?;
        let effective = self.effective.as_deref().map(|text| Effective::read(text, &body));
        let effective = effective.transpose().map_err(|fault| refused(&fault))?;
        let define = async |engine: &Engine| engine.define_from(&name, (self.version, effective), body).await;
        told(cluster, &cluster.with_engine(cluster.config()?, Pace::Once, define).await?)
    }

    /// The definition for an admin listener. What is not given is left out.
    fn json(&self) -> Value {
        let mut definition = json!(self);
        if let Some(fields) = definition.as_object_mut() {
            fields.retain(|_, value| !value.is_null() && value != "");
        }
        definition
    }

    /// The definition for a server.
    fn wire(&self) -> v1::DefineRequest {
        let whole = |number: Option<u64>| number.map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        let definition = v1::Definition {
            placement: self.placement.clone().unwrap_or_default(),
            start: whole(self.start),
            step: whole(self.step),
            end: whole(self.end),
            fits: self.fits.clone().unwrap_or_default(),
            numbering: self.numbering.clone().unwrap_or_default(),
            reserve_ms: self.reserve_ms,
            at_risk_max: self.at_risk_max,
            window_s: self.window_s,
            retain_periods: self.retain_periods.map(u64::from),
            ..self.around.wire(self.template.as_deref().unwrap_or_default())
        };
        v1::DefineRequest {
            sequence: self.name.clone(),
            version: self.version.map(u64::from),
            definition: Some(definition),
            effective: self.effective.clone().unwrap_or_default(),
        }
    }

    /// Refuses template settings without a template.
    fn belongs(&self) -> Result<(), Failure> {
        let is_plain = self.around.is_empty() && self.window_s.is_none() && self.retain_periods.is_none();
        if self.template.is_some() || is_plain {
            return Ok(());
        }
        let bound = "--zone, --maxlen, --charset, --unique, --window-s and --retain-periods belong to one";
        Err(Failure::argument("--template", "missing", bound))
    }

    fn body(&self) -> Result<Body, Failure> {
        self.belongs()?;
        let texts = match &self.template {
            Some(template) => {
                let texts = self.around.texts(template)?.window_s(self.window_s);
                Some(texts.retain_periods(self.retain_periods))
            }
            None => None,
        };
        let (start, step) = (self.start.unwrap_or(1), self.step.unwrap_or(1));
        let (placement, fits) = (self.placement.as_deref(), self.fits.as_deref());
        let options = BodyOptions {
            numbering: self.numbering.clone(),
            reserve_ms: self.reserve_ms,
            at_risk_max: self.at_risk_max,
        };
        let body = Body::check(placement, start, step, self.end, fits, texts);
        body.and_then(|body| body.with_options(&options, placement)).map_err(|fault| refused(&fault))
    }
}

fn told(cluster: &Cluster, report: &DefineReport) -> Result<(), Failure> {
    for warning in &report.warnings {
        output::say(&format!("warning: {warning}"));
    }
    if cluster.json() { output::report(report) } else { output::lines(lines(report)) }
}

fn lines(report: &DefineReport) -> Vec<String> {
    let was = match (&report.effective, report.already) {
        (Some(effective), _) => format!("waits, and is in effect from {effective} on"),
        (None, true) => "was in force".to_owned(),
        (None, false) => "is in force, everywhere within two seconds".to_owned(),
    };
    let mut lines = vec![
        format!("{} version {} {was}", report.sequence, report.version),
        format!("definition {}", report.definition),
    ];
    lines.extend(report.capacity.lines());
    lines
}
