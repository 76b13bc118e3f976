//! `sequent advance`: moves a sequence forward, for imports.

use clap::Args;
use hyper::Method;
use sequent_admin::{AdvanceAsk, AdvanceReport};
use sequent_engine::{NextRequest, Pace, Values};
use serde_json::{Map, Value, json};

use crate::{
    admin_client::{Admin, AdminArg},
    failure::Failure,
    open_cluster::{Cluster, sequence_name},
    template_values::TemplateValues,
};

const EXAMPLES: &str = "\
Examples:
  sequent advance order 250000           an old system has given numbers up to 250000
  sequent advance order 9000000000000 --jump
  sequent advance order 250000 --admin https://a:7423 --token-file ops.token    by a server
  sequent advance invoice 8000 --create  a sequence that nobody has used yet, and auto_create allows
  sequent advance repair 400 --with area=010
  sequent advance repair 400 --with area=010 --period 20260401      as `sequent show repair` names it

Within two seconds no number up to TO is given any more, and numbers go on above it, a few further on: each slot goes on at its own \
place. It goes forward only. What is refused changes nothing, and the same call once more changes nothing either. A distance that a \
mistyped digit could have made is refused without --jump: more than a thousandth of what is left of the sequence, or some 69 \
thousand million numbers of a counter. A name that nobody has defined or used may be misspelt, and is refused without --create.

It works on running servers, which obey within two seconds and burn what they hold ready; what their clients hold on \
lease ends with the lease. Servers of a sequence that was never used, and of one that rests, are no matter.";

/// Move a sequence forward: no number up to TO is given any more
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Advance {
    /// The sequence
    name: String,
    /// The highest number that must not be given any more
    #[arg(allow_hyphen_values = true)]
    to: String,
    /// Confirm the jump, however wide it is
    #[arg(long)]
    jump: bool,
    /// The sequence is new: define it as a first use would, if auto_create allows that
    #[arg(long)]
    create: bool,
    /// The period of the counter, as in `sequent show` and in answers: 20260401, 202604, 2026W14, 2026Q2,
    /// FY2027
    #[arg(long, value_name = "PERIOD", conflicts_with = "at")]
    period: Option<String>,
    #[command(flatten)]
    with: TemplateValues,
    #[command(flatten)]
    pub(crate) admin: AdminArg,
}

impl Advance {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        let to = self.to.parse().ok().filter(|to| (1..=i64::MAX.unsigned_abs()).contains(to));
        let bound = || format!("1 to {} are numbers", i64::MAX);
        let to = to.ok_or_else(|| Failure::argument("to", &self.to, bound()))?;
        let request =
            NextRequest { with: self.with.values()?, at: self.with.at.clone(), ..NextRequest::of(name) };
        let (jump, create, period) = (self.jump, self.create, self.period);
        let ask = AdvanceAsk { request, to, jump, create, period };
        let advanced = if let Some(admin) = self.admin.client(cluster)? {
            by_server(&admin, &ask).await?
        } else {
            let config = cluster.config()?;
            cluster.with_engine(config, Pace::Once, async |engine| ask.run(engine).await).await?
        };
        cluster.show(&advanced, || {
            let aside = |aside: &String| format!("not believed, and left out of that: {aside}");
            std::iter::once(sentence(&advanced)).chain(advanced.aside.iter().map(aside))
        })
    }
}

/// Asks a server.
async fn by_server(admin: &Admin, ask: &AdvanceAsk) -> Result<AdvanceReport, Failure> {
    let AdvanceAsk { request, to, jump, create, period } = ask;
    let mut body = json!({ "to": to.to_string(), "jump": jump, "create": create });
    for (field, text) in [("at", &request.at), ("period", period)] {
        if let Some(text) = text {
            body[field] = text.as_str().into();
        }
    }
    if request.with != Values::new() {
        let values: Map<String, Value> =
            request.with.iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        body["values"] = values.into();
    }
    admin.call(Method::POST, &format!("/v1/sequences/{}/advance", request.name), &body).await
}

fn sentence(report: &AdvanceReport) -> String {
    let AdvanceReport { key, to, before, next, already, .. } = report;
    let next =
        next.map_or_else(|| "none is left".to_owned(), |next| format!("the next one is {next} or higher"));
    let was = if *already { "was advanced already" } else { "is advanced" };
    let before = match before {
        // Rows may be lost, or the first report not be written yet. Therefore 0 does not mean that nothing
        // was given.
        0 => "no server has reported any that was given before".to_owned(),
        before => format!("servers had reported {before} as given"),
    };
    format!(
        "{key} {was}: no number up to {to} is given any more once the servers follow, within two seconds; {next}; {before}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_ledger_does_not_know_of_is_not_said_to_be_nothing() {
        let report = |before| AdvanceReport {
            sequence: "order".to_owned(),
            key: "order".to_owned(),
            to: 50,
            before,
            next: Some(51),
            already: false,
            aside: Vec::new(),
        };
        let said = sentence(&report(0));
        assert!(said.ends_with("; no server has reported any that was given before"), "{said}");
        assert!(sentence(&report(7)).ends_with("; servers had reported 7 as given"));
    }
}
