//! The table of errors has the codes of `Reason`. `SEQUENT_GENERATE=1` writes the codes; what a reason means is written by
//! hand.

use std::{collections::BTreeMap, env, fs, path::Path};

use sequent_engine::{Reason, Retry};

const PAGE: &str = "../../docs/reference/errors.md";

const HEAD: &str =
    "| reason | HTTP | gRPC | Redis | exit code | try again? | meaning |\n|---|---|---|---|---|---|---|\n";

fn retry(reason: Reason) -> &'static str {
    match (reason.retry(), reason) {
        (Retry::No, _) => "no",
        (Retry::Page, _) => "no: page somebody",
        (Retry::After, _) => "after `retry-after`",
        (Retry::Yes, Reason::Draining) => "yes, another server",
        (Retry::Yes, _) => "yes",
        (Retry::YesAtACost, _) => "yes; each attempt may burn numbers",
    }
}

fn row(reason: Reason, meaning: &str) -> String {
    let resp = match reason {
        // The answer to a wrong password has a code of its own.
        Reason::Unauthenticated => format!("`{}`, `WRONGPASS`", reason.resp()),
        _ => format!("`{}`", reason.resp()),
    };
    let (http, grpc, exit) = (reason.http(), reason.grpc(), reason.exit_code());
    format!(
        "| `{}` | {http} | `{grpc}` | {resp} | {exit} | {} | {meaning} |\n",
        reason.as_str(),
        retry(reason)
    )
}

#[test]
fn the_table_of_errors_has_the_codes_of_each_reason() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let found = fs::read_to_string(&path).unwrap();
    let (before, rest) = found.split_once("| reason |").unwrap();
    let (table, after) = rest.split_once("\n\n").unwrap();
    let cells = |line: &str| {
        let (reason, rest) = line.strip_prefix("| `")?.split_once('`')?;
        Some((reason.to_owned(), rest.trim_end_matches(" |").rsplit(" | ").next()?.to_owned()))
    };
    let meanings: BTreeMap<_, _> = table.lines().filter_map(cells).collect();
    let meaning = |reason: Reason| meanings.get(reason.as_str()).map_or("", String::as_str);
    let rows: String = Reason::ALL.into_iter().map(|reason| row(reason, meaning(reason))).collect();
    let page = format!("{before}{HEAD}{}\n\n{after}", rows.trim_end());
    if env::var_os("SEQUENT_GENERATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let unsaid: Vec<_> = Reason::ALL.into_iter().filter(|reason| meaning(*reason).is_empty()).collect();
    assert!(unsaid.is_empty(), "{unsaid:?} have no meaning on the page");
    let found = fs::read_to_string(&path).unwrap();
    assert!(
        found == page,
        "docs/reference/errors.md is stale: SEQUENT_GENERATE=1 cargo test -p sequent-engine errors_page"
    );
}
