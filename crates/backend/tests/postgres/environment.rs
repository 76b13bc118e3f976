//! What the environment says of servers, for other programs: none of it reaches a store.

use std::process::Command;

use sequent_backend::{
    net::{ServerOptions, Tls},
    postgres::PostgresStore,
};
use sequent_core::Store;

use crate::support::{MAKER, PASSWORD, Site, options};

const URL: &str = "SEQUENT_TEST_URL";
const VERIFY: &str = "SEQUENT_TEST_VERIFY";

/// What becomes of a look at the store from a process of its own, with these variables: `well`, or the error.
pub(crate) fn look(url: &str, verify: bool, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "environment::as_a_process", "--ignored", "--nocapture"]);
    command.env(URL, url).env(VERIFY, verify.to_string()).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said = text.lines().find_map(|line| line.strip_prefix("said ").map(str::to_owned));
    said.unwrap_or_else(|| panic!("it said nothing: {text} {}", String::from_utf8_lossy(&output.stderr)))
}

#[tokio::test]
#[ignore = "run by the tests here, as a process of its own"]
async fn as_a_process() {
    let tls = if std::env::var(VERIFY).unwrap() == "true" { Tls::Verify } else { Tls::Prefer };
    let url = std::env::var(URL).unwrap().parse().unwrap();
    let store = PostgresStore::new(ServerOptions { tls, ..options(url) });
    match store.inspect().await {
        Ok(_) => println!("\nsaid well"),
        Err(error) => println!("\nsaid {error}"),
    }
}

#[tokio::test]
async fn only_what_is_configured_says_where_and_as_whom() {
    let site = Site::new().await;
    let url = site.server.url_as(MAKER, PASSWORD);
    let elsewhere = [
        ("PGHOST", "/no/such/folder"),
        ("PGHOSTADDR", "192.0.2.1"),
        ("PGPORT", "1"),
        ("PGUSER", "nobody"),
        ("PGPASSWORD", "wrong-word"),
        ("PGDATABASE", "nowhere"),
        ("PGSSLMODE", "verify-full"),
        ("PGSSLROOTCERT", "/no/such/file"),
        ("PGAPPNAME", "another"),
    ];
    assert_eq!(look(&url, false, &elsewhere), "well");
    let none = format!("postgres://{MAKER}@{}/postgres", site.server.address());
    let said = look(&none, false, &[("PGPASSWORD", PASSWORD)]);
    assert!(said.contains("login refused: 28P01"), "a password that nobody configured opened it: {said}");
}

#[tokio::test]
async fn what_the_driver_would_obey_all_the_same_is_refused_by_name() {
    let site = Site::new().await;
    let url = site.server.url_as(MAKER, PASSWORD);
    for (name, value) in [
        ("PGOPTIONS", "-c default_transaction_read_only=on"),
        ("PGSSLCERT", "/no/such/file"),
        ("PGSSLKEY", "/no/such/file"),
    ] {
        let said = look(&url, false, &[(name, value)]);
        assert!(said.starts_with("refused: ") && said.contains(&format!("{name} is set")), "{said}");
    }
}
