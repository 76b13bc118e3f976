//! `sequent parse`: the parts of a text, and whether the template renders it.

use clap::Args;
use sequent_client::Definitions;
use sequent_core::SequenceName;
use sequent_engine::{Body, NamedValue, ReadFault, Reason, Texts};
use sequent_format::Decoded;
use serde::Serialize;

use crate::{
    failure::Failure,
    open_cluster::{Cluster, sequence_name},
    output,
    remote_definitions::{self, Named},
    template_values::{NumberingArgs, TemplateSource, refused},
};

const EXAMPLES: &str = "\
Examples:
  sequent parse '@{date,yyyyMMdd}@{seq,w=5}' 2017030400001
  sequent parse order 2017030400001               by a defined sequence, also a text of an older version
  sequent parse 'SN-@{seq,w=8,id=s}-@{check,damm,over=s}' SN-00000527-4   refused: a check digit does not fit

Prints number, period and values, and exits with 2 where the text is none of the template's. It does not say whether \
the number was given: `sequent explain` does. A template is read here, without any cluster; for the name of a sequence \
servers are asked where they are named, and its cluster's ledger elsewhere.";

/// Take a text apart, and verify it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Parse {
    /// A template, or the name of a sequence that has one
    #[arg(value_name = "TEMPLATE|NAME")]
    by: String,
    /// The text
    #[arg(allow_hyphen_values = true)]
    text: String,
    #[command(flatten)]
    around: NumberingArgs,
    #[command(flatten)]
    whose: TemplateSource,
    #[command(flatten)]
    servers: Named,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    number: String,
    period: Option<&'a str>,
    values: Vec<NamedValue>,
    text: &'a str,
}

impl Parse {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        // A name contains no such brace.
        let parsed = if self.by.contains("@{") {
            cluster.keys_for(&self.by)?;
            let texts = self.whose.texts(self.around.texts(&self.by)?)?;
            let texts = texts.proven().map_err(|fault| refused(&fault))?;
            self.whose.warn(&texts);
            self.by_any(&texts)?
        } else {
            let name = sequence_name(&self.by)?;
            self.nothing_around()?;
            if let Some(definitions) = self.servers.definitions(cluster).await? {
                return self.told(cluster, &definitions).await;
            }
            let body = self.defined(cluster, &name).await?;
            let Some(texts) = body.texts() else {
                let bound = "a sequence with a template is expected: this one's texts are its numbers";
                return Err(Failure::argument("name", &self.by, bound));
            };
            self.by_any(texts)?
        };
        print(cluster, &parsed)
    }

    /// The answer of a server.
    async fn told(&self, cluster: &Cluster, definitions: &Definitions) -> Result<(), Failure> {
        let told = remote_definitions::parse(definitions, (&self.by, &self.text)).await?;
        let parsed = Decoded {
            number: told.number.unsigned_abs(),
            period: told.period,
            partition: Vec::new(),
            values: told.values.into_iter().map(|it| (it.name, it.value)).collect(),
            text: told.text,
        };
        print(cluster, &parsed)
    }

    fn nothing_around(&self) -> Result<(), Failure> {
        if self.around.is_empty() {
            return Ok(());
        }
        let bound = "they belong to a template, and the definition has its own";
        Err(Failure::argument("--zone, --maxlen, --charset, --unique", &self.by, bound))
    }

    async fn defined(&self, cluster: &Cluster, name: &SequenceName) -> Result<Body, Failure> {
        let report = cluster.admin().await?.cluster().show(name).await?;
        Body::from_text(&report.definition).map_err(|error| {
            let text = format!("the definition of {name} can't be read: {error}");
            Failure::reason(Reason::DefinitionConflict, text)
        })
    }

    /// By the template that renders it so, including those of previous versions.
    fn by_any(&self, texts: &Texts) -> Result<Decoded, Failure> {
        texts.read(&self.text).map_err(|fault| match fault {
            ReadFault::Text(bound) => Failure::argument("text", &self.text, bound),
            ReadFault::Key(_) => {
                Failure::reason(Reason::DefinitionConflict, format!("text can't be read: {fault}"))
            }
        })
    }
}

fn print(cluster: &Cluster, parsed: &Decoded) -> Result<(), Failure> {
    if !cluster.json() {
        return output::lines(lines(parsed));
    }
    let values = parsed.values.iter().cloned().map(|(name, value)| NamedValue { name, value });
    output::json(&Answer {
        number: parsed.number.to_string(),
        period: parsed.period.as_deref(),
        values: values.collect(),
        text: &parsed.text,
    })
}

fn lines(parsed: &Decoded) -> Vec<String> {
    let mut lines = vec![format!("number  {}", parsed.number)];
    match parsed.period.as_deref() {
        None => lines.push("period  (the text does not tell)".to_owned()),
        Some("") => {}
        Some(period) => lines.push(format!("period  {period}")),
    }
    lines.extend(parsed.values.iter().map(|(name, value)| format!("with    {name}={value}")));
    lines
}
