//! Definitions from a server that the caller named, instead of from the ledger.

use std::time::Duration;

use clap::Args;
use sequent_client::{Definitions, v1};
use sequent_engine::{
    Capacity, DefineReport,
    report::{SequenceSummary, WaitingReport},
};
use serde_json::Value;

use crate::{failure::Failure, open_cluster::Cluster};

/// Time limit for one server: the proof of a template may take long.
const ATTEMPT: Duration = Duration::from_secs(20);

/// The most pages of a list.
const PAGES_MAX: usize = 1000;

/// Servers that are asked instead of the ledger.
#[derive(Debug, Clone, Args)]
pub(crate) struct Named {
    /// Ask these servers, and open no ledger: http://a:7420,http://b:7420 [default: the ledger is opened here]
    #[arg(long, value_name = "URLS", env = "SEQUENT_SERVER", hide_env_values = true)]
    server: Option<String>,
}

impl Named {
    /// The definitions of the named servers, one of which must answer. `None` if none is named.
    pub(crate) async fn definitions(&self, cluster: &Cluster) -> Result<Option<Definitions>, Failure> {
        let Some(urls) = self.server.as_ref().filter(|urls| !urls.is_empty()) else { return Ok(None) };
        let client = cluster.client().attempt_timeout(ATTEMPT).slow_after(ATTEMPT).connect(urls).await?;
        Ok(Some(client.definitions()))
    }
}

/// All sequences, page by page.
pub(crate) async fn list(definitions: &Definitions) -> Result<Vec<SequenceSummary>, Failure> {
    let mut all: Vec<SequenceSummary> = Vec::new();
    for _ in 0..PAGES_MAX {
        let after = all.last().map(|last| last.sequence.clone()).unwrap_or_default();
        let page = definitions.list(v1::ListRequest { after }).await?;
        let is_last = !page.more || page.sequences.is_empty();
        all.extend(page.sequences.into_iter().map(summary));
        if is_last {
            return Ok(all);
        }
    }
    Err(Failure::failed(format!("the list has more than {PAGES_MAX} pages")))
}

/// One sequence, and its definition as the ledger keeps it.
pub(crate) async fn show(
    definitions: &Definitions,
    name: &str,
) -> Result<(SequenceSummary, String), Failure> {
    let told = definitions.show(v1::ShowRequest { sequence: name.to_owned() }).await?;
    Ok((summary(told.sequence.unwrap_or_default()), told.definition))
}

/// The result of parsing a text of a sequence.
pub(crate) async fn parse(
    definitions: &Definitions,
    (name, text): (&str, &str),
) -> Result<v1::ParseResponse, Failure> {
    let by = Some(v1::parse_request::By::Sequence(name.to_owned()));
    Ok(definitions.parse(v1::ParseRequest { by, text: text.to_owned() }).await?)
}

/// The report of a definition, in the form used without servers.
pub(crate) async fn define(
    definitions: &Definitions,
    wanted: v1::DefineRequest,
) -> Result<DefineReport, Failure> {
    let told = definitions.define(wanted).await?;
    Ok(DefineReport {
        sequence: told.sequence,
        version: told.version,
        already: told.already,
        effective: Some(told.effective).filter(|effective| !effective.is_empty()),
        definition: told.definition,
        capacity: sum(&told.capacity.unwrap_or_default()),
        warnings: told.warnings,
    })
}

/// The report of a definition, as an admin listener gives it.
pub(crate) fn defined(told: &Value) -> DefineReport {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let number =
        |field: &str| told["capacity"][field].as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
    DefineReport {
        sequence: text(&told["sequence"]),
        version: told["version"].as_u64().and_then(|version| version.try_into().ok()).unwrap_or(0),
        already: told["already"] == true,
        effective: told["effective"].as_str().map(str::to_owned),
        definition: text(&told["definition"]),
        capacity: Capacity {
            numbers: number("numbers"),
            is_bounded: told["capacity"]["is_bounded"] == true,
            reserve: number("reserve"),
            ceilings: number("ceilings"),
            lease: number("lease"),
            servers: told["capacity"]["servers"].as_u64().unwrap_or(1),
        },
        warnings: told["warnings"].as_array().into_iter().flatten().map(text).collect(),
    }
}

/// How many numbers a key of a template has in the servers' cluster, and the warnings.
pub(crate) async fn capacity(
    definitions: &Definitions,
    definition: v1::Definition,
) -> Result<(Capacity, Vec<String>), Failure> {
    let by = Some(v1::preview_request::By::Definition(definition));
    let asked = v1::PreviewRequest { by, capacity_only: true, ..v1::PreviewRequest::default() };
    let told = definitions.preview(asked).await?;
    Ok((sum(&told.capacity.unwrap_or_default()), told.warnings))
}

fn sum(told: &v1::Capacity) -> Capacity {
    Capacity {
        numbers: told.numbers.unsigned_abs(),
        is_bounded: told.is_bounded,
        reserve: told.reserve.unsigned_abs(),
        ceilings: told.ceilings.unsigned_abs(),
        lease: told.lease.unsigned_abs(),
        // An older server that does not report the number assumed one.
        servers: told.servers.max(1),
    }
}

fn summary(told: v1::Sequence) -> SequenceSummary {
    let said = |text: String| Some(text).filter(|text| !text.is_empty());
    let waiting = |next: v1::Waiting| WaitingReport {
        version: next.version,
        effective: next.effective,
        template: said(next.template),
    };
    SequenceSummary {
        sequence: told.sequence,
        version: told.version,
        placement: match &*told.placement {
            "dense" => "dense",
            "book" => "book",
            _ => "spread",
        },
        start: told.start.unsigned_abs(),
        step: told.step.unsigned_abs(),
        end: told.end.unsigned_abs(),
        template: said(told.template),
        fault: said(told.fault),
        waiting: told.waiting.into_iter().map(waiting).collect(),
    }
}
