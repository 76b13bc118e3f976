//! `sequent forget`: takes a definition out of use for good.

use clap::Args;
use hyper::Method;
use sequent_admin::{ForgetAsk, Forgotten};
use sequent_core::SequenceName;
use sequent_engine::{ForgetReport, Pace};
use serde_json::json;

use crate::{
    admin_client::{Admin, AdminArg},
    failure::Failure,
    open_cluster::{Cluster, sequence_name},
    server_discovery::Servers,
};

const EXAMPLES: &str = "\
Examples:
  sequent forget test-42                 what it is, and who uses it: nothing is done
  sequent forget test-42 --yes
  sequent forget test-42 --yes --admin https://a:7423 --token-file ops.token    by a server

For names that a first use has defined by mistake, and sequences that are over. Requests for the name are refused from \
then on, by every server within two seconds, and nobody can define it again: so no number and no text of it is given \
twice. This can't be undone. Its counters are left as they are; those of periods that are over go by retain_periods.

A sequence that a running server uses, or does not say whether it uses, or that the configuration names, is refused. With \
--admin this is that server's configuration, and no other server is looked at.";

/// Take a sequence out of use for good
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Forget {
    /// The sequence
    name: String,
    /// Do it
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    pub(crate) admin: AdminArg,
}

impl Forget {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        let ask = ForgetAsk { name, is_confirmed: self.yes };
        let told = match self.admin.client(cluster)? {
            Some(admin) => by_server(&admin, &ask).await?,
            None => by_ledger(cluster, &ask).await?,
        };
        cluster.show(&told, || lines(&told))?;
        if told.done.is_some() {
            return Ok(());
        }
        let name = ask.name;
        Err(Failure::unconfirmed(format!("nothing was done: the same with --yes forgets {name} for good")))
    }
}

async fn by_ledger(cluster: &Cluster, ask: &ForgetAsk) -> Result<Forgotten, Failure> {
    refuse_used(cluster, &ask.name).await?;
    cluster.with_engine(cluster.config()?, Pace::Once, async |engine| ask.run(engine).await).await
}

async fn by_server(admin: &Admin, ask: &ForgetAsk) -> Result<Forgotten, Failure> {
    let (path, body) =
        (format!("/v1/sequences/{}/forget", ask.name), json!({ "confirmed": ask.is_confirmed }));
    admin.call(Method::POST, &path, &body).await
}

/// Refuses a sequence that a running server uses, or may use.
async fn refuse_used(cluster: &Cluster, name: &SequenceName) -> Result<(), Failure> {
    for said in Servers::of(cluster, None)?.ask_of(Some(name)).await {
        let admin = said.admin();
        let found = match said.status() {
            // A server of an earlier version says nothing of a sequence.
            Some(status) if status["sequence"] == name.as_str() => {
                let Some(key) = status["in_use"].as_str() else { continue };
                format!(
                    "server {admin} has {key} in use; it lets go of a key ten minutes after the last request"
                )
            }
            _ => format!(
                "server {admin} did not say whether it does ({}): give a token that may read its status by --token-file, its \
                 CA by --tls-ca, or stop it",
                said.silence().unwrap_or("another version")
            ),
        };
        let bound = format!("a sequence that nobody uses is expected, and {found}");
        return Err(Failure::argument("name", name.as_str(), bound));
    }
    Ok(())
}

fn lines(told: &Forgotten) -> Vec<String> {
    let Forgotten { done, sequence, version, definition, counters } = told;
    let said = match done {
        Some(ForgetReport { already: true, .. }) => "was forgotten already",
        Some(_) => "is forgotten: nobody gets a number of it any more, and the name is not used again",
        None => "would be forgotten: nobody gets a number of it any more, and the name is not used again",
    };
    vec![
        format!("sequence    {sequence}"),
        format!("version     {version}"),
        format!("definition  {definition}"),
        format!("counters    {counters} are left as they are"),
        format!("{sequence} {said}"),
    ]
}
