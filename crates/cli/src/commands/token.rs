//! `sequent token`: make a token for a principal, or see what one may do.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use sequent_client::warn_of_readable;
use sequent_core::{Clock as _, OsEntropy, SequenceName, SystemClock};
use sequent_engine::{
    Reason, Timestamp,
    config::{PrincipalPart, Scopes, Verb},
};
use sequent_server::Token as Secret;
use serde_json::{Value, json};

use crate::{failure::Failure, open_cluster::Cluster, output};

const EXAMPLES: &str = "\
Examples:
  sequent token new shop-web --allow 'next,lease,tell:order*' --expires 90d --out shop-web.token
  sequent token check --config sequent.toml --token-file shop-web.token next:order-7";

const EXAMPLES_NEW: &str = "\
Examples:
  sequent token new shop-web --allow 'next,lease,tell:order*' --out shop-web.token
  sequent token new grafana --allow metrics,status --expires 2027-06-01

Prints the [[principal]] for the configuration of each server, which has the token's SHA-256 and not the token. The \
token goes to the file of --out, which nobody else may read, or is printed above it: it is shown this once.";

const EXAMPLES_CHECK: &str = "\
Examples:
  sequent token check --config sequent.toml --token-file shop-web.token
  sequent token check --config sequent.toml --token-file shop-web.token next:order-7 show:order-7

Reads the configuration here; no server is asked. Exit code 1 if no principal has the token, if that has expired, or if it may \
not do something that was named.";

/// Only its owner may read a file with a token.
const OWNER_ONLY: u32 = 0o600;

/// Make a token for a principal, or see what one may do
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Token {
    #[command(subcommand)]
    verb: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a token, and print the principal for the configuration
    #[command(after_help = EXAMPLES_NEW)]
    New(New),
    /// Tell whose token it is, and what it may do
    #[command(after_help = EXAMPLES_CHECK)]
    Check {
        /// What it should be allowed, as next:order-7; of the server: metrics
        #[arg(value_name = "VERB:NAME")]
        wanted: Vec<String>,
    },
}

#[derive(Debug, Args)]
struct New {
    /// The principal's name
    name: String,
    /// What it may do: verbs and a pattern of names, as next,lease:order*; may be repeated
    #[arg(long, value_name = "SCOPE")]
    allow: Vec<String>,
    /// What it may not do, whatever is allowed; may be repeated
    #[arg(long, value_name = "SCOPE")]
    deny: Vec<String>,
    /// How long it is good, or until when: 90d, 2027-06-01 [default: for ever]
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// Write the token to a new file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Token {
    pub(crate) fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        match self.verb {
            Command::New(new) => new.run(cluster),
            Command::Check { wanted } => check(cluster, &wanted),
        }
    }
}

impl New {
    fn run(&self, cluster: &Cluster) -> Result<(), Failure> {
        let name = self.name.parse::<SequenceName>();
        name.map_err(|error| Failure::argument("NAME", &self.name, error.to_string()))?;
        for (flag, scopes) in [("--allow", &self.allow), ("--deny", &self.deny)] {
            Scopes::parse(scopes).map_err(|bound| Failure::argument(flag, scopes.join(" "), bound))?;
        }
        let expires = self.expires.as_deref().map(end).transpose()?;
        let token = Secret::generate(&OsEntropy);
        if let Some(path) = &self.out {
            write(path, token.text()).map_err(|error| Failure::file("write", path, &error))?;
        }
        let printed = self.out.is_none().then(|| token.text());
        if cluster.json() {
            let principal = json!({
                "name": self.name,
                "token_sha256": [token.hash().to_hex()],
                "expires": expires.map(|end| end.to_string()),
                "allow": self.allow,
                "deny": self.deny,
            });
            return output::json(&json!({ "token": printed, "file": self.out, "principal": principal }));
        }
        let mut lines: Vec<String> =
            printed.into_iter().flat_map(|text| [text.to_owned(), String::new()]).collect();
        lines.extend(self.principal(&token, expires));
        output::lines(lines)
    }

    /// The table for the configuration.
    fn principal(&self, token: &Secret, expires: Option<Timestamp>) -> Vec<String> {
        let quoted = |text: &str| Value::from(text).to_string();
        let list = |entries: &[String]| Value::from(entries).to_string();
        let mut lines = vec!["[[principal]]".to_owned(), format!("name = {}", quoted(&self.name))];
        lines.push(format!("token_sha256 = [{}]", quoted(&token.hash().to_hex())));
        lines.extend(expires.map(|end| format!("expires = {}", quoted(&end.to_string()))));
        if !self.deny.is_empty() {
            lines.push(format!("deny = {}", list(&self.deny)));
        }
        // Last: a file that is cut before it allows nothing.
        lines.push(format!("allow = {}", list(&self.allow)));
        lines
    }
}

/// The end of a token: so long from now, or an instant.
fn end(text: &str) -> Result<Timestamp, Failure> {
    let expected =
        || Failure::argument("--expires", text, "a time such as 90d, a date or an instant is expected");
    let Ok(span) = humantime::parse_duration(text) else {
        return PrincipalPart::end_of(text).ok_or_else(expected);
    };
    let now_s = SystemClock.wall_ms() / 1000;
    let end_s = i64::try_from(now_s.saturating_add(span.as_secs())).map_err(|_| expected())?;
    Timestamp::from_second(end_s).map_err(|_| expected())
}

/// Writes a token to a file that was not there, and that nobody else may read.
fn write(path: &Path, token: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path)?;
    writeln!(file, "{token}")?;
    file.sync_all()
}

fn check(cluster: &Cluster, wanted: &[String]) -> Result<(), Failure> {
    let wanted = wanted.iter().map(|wanted| verb_and_name(wanted)).collect::<Result<Vec<_>, _>>()?;
    let path = cluster
        .token_file()
        .ok_or_else(|| Failure::missing("--token-file", "a file with a token is expected"))?;
    let text = fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?;
    warn_of_readable(path);
    let config = cluster.config()?;
    let none = |text: &str| Failure::reason(Reason::Unauthenticated, text.to_owned());
    let hash =
        Secret::hash_of(text.trim()).ok_or_else(|| none("the file has no token: sqt_… is expected"))?;
    let found = config.principals.iter().find(|principal| principal.tokens.contains(&hash));
    let principal = found.ok_or_else(|| none("no principal of the configuration has this token"))?;
    let may: Vec<bool> = wanted.iter().map(|(verb, name)| principal.may(*verb, name)).collect();
    let expires = principal.expires.map_or_else(|| "never".to_owned(), |end| end.to_string());
    if cluster.json() {
        let may: serde_json::Map<String, Value> =
            wanted.iter().zip(&may).map(|((verb, name), may)| (shown(*verb, name), (*may).into())).collect();
        output::json(
            &json!({ "principal": principal.name, "expires": principal.expires.map(|end| end.to_string()), "may": may }),
        )?;
    } else {
        let line = |((verb, name), may): (&(Verb, String), &bool)| {
            format!("  {}  {}", shown(*verb, name), if *may { "allowed" } else { "denied" })
        };
        let head = format!("principal {}, expires {expires}", principal.name);
        output::lines([head].into_iter().chain(wanted.iter().zip(&may).map(line)))?;
    }
    if principal.is_expired(SystemClock.wall_ms()) {
        return Err(none("its principal has expired"));
    }
    match wanted.iter().zip(&may).find(|(_, may)| !**may) {
        None => Ok(()),
        Some(((verb, name), _)) => {
            let text = format!("{} lacks {}", principal.name, shown(*verb, name));
            Err(Failure::reason(Reason::PermissionDenied, text))
        }
    }
}

fn verb_and_name(text: &str) -> Result<(Verb, String), Failure> {
    let (verb, name) = text.split_once(':').unwrap_or((text, ""));
    let verb = verb.parse::<Verb>().map_err(|bound| Failure::argument("VERB:NAME", text, bound))?;
    Ok((verb, name.to_owned()))
}

fn shown(verb: Verb, name: &str) -> String {
    if name.is_empty() { verb.to_string() } else { format!("{verb}:{name}") }
}
