//! Client certificates as credentials: at each API, beside tokens, and when their principal goes.

use std::{
    fs::{self, File},
    process::Stdio,
    time::Instant,
};

use super::site::{PATIENCE, SHARDS, Site, principal};
use crate::{
    place::Place,
    running::{FREE, Running},
    tls::{
        certificates::{Authority, HOST, WEB, YEAR, flags},
        clients::Client,
    },
};

/// A name that TLS allows, and that no principal has.
const NOBODY: &str = "spiffe://prod/ns/shop/sa/batch";

const PRINCIPAL: &str =
    "[[principal]]\nname = \"web\"\ncert_names = [\"spiffe://prod/ns/shop/sa/w*\"]\nallow = [\"next:*\"]\n";

fn start() -> Site {
    let (place, authority) = (Place::new(), Authority::new("shop"));
    for file in ["ca.crt", "clients.crt"] {
        place.write(file, &authority.pem());
    }
    authority.writes(&place, "tls", &HOST, YEAR);
    authority.writes(&place, "web", &[WEB], YEAR);
    authority.writes(&place, "nobody", &[NOBODY], YEAR);
    let token = principal(&place, "token", &["--allow", "next:order"]);
    let file = place.write("sequent.toml", &format!("{SHARDS}{PRINCIPAL}{token}"));
    let settings = flags(&place, "require", "optional");
    let mut args = vec!["serve", "-vvv", "--config", file.to_str().unwrap()];
    args.extend(FREE.into_iter().chain(settings.iter().map(String::as_str)));
    let log = File::create(place.path("log")).unwrap();
    let child = place.command(&args).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    Site { server: Running::of(child), place }
}

#[test]
fn a_certificate_is_a_credential_at_each_api() {
    let site = start();
    let (place, server) = (&site.place, &site.server);
    let http = |client: Client| client.curl(place, &server.http, "POST", "/v1/sequences/plain/next");
    let web = Client::Named("web");
    assert!(http(web).unwrap().contains("\"numbers\""));
    assert!(http(Client::Anonymous).unwrap_err().contains("401"));
    assert!(http(Client::Named("nobody")).unwrap_err().contains("401"));
    assert!(web.next(place, &server.grpc).is_ok());
    let error = Client::Named("nobody").next(place, &server.grpc).unwrap_err();
    assert!(error.contains("UNAUTHENTICATED: no principal has this token or certificate"), "{error}");
    let error = web.curl(place, &server.admin, "GET", "/metrics").unwrap_err();
    assert!(error.contains("403"), "it has no such verb: {error}");
    assert!(web.curl(place, &server.admin, "GET", "/livez").is_ok());
    assert!(web.redis(place, &server.redis, "INCR plain").starts_with(':'));
    assert!(Client::Anonymous.redis(place, &server.redis, "INCR plain").starts_with("-NOAUTH "));
    // A token counts before the certificate.
    let token = site.token("token");
    assert!(web.redis(place, &server.redis, &format!("AUTH {token}\r\nINCR plain")).starts_with("+OK"));
    let said = web.redis(place, &server.redis, "AUTH sqt_wrong");
    assert!(said.starts_with("-WRONGPASS "), "{said}");
}

#[test]
fn a_certificate_ends_with_its_principal_and_no_restart() {
    let site = start();
    let ask =
        || Client::Named("web").curl(&site.place, &site.server.http, "POST", "/v1/sequences/plain/next");
    ask().unwrap();
    let file = fs::read_to_string(site.place.path("sequent.toml")).unwrap();
    fs::write(site.place.path("sequent.toml"), file.replace("sa/w*", "sa/x*")).unwrap();
    site.server.signal("HUP");
    let until = Instant::now() + PATIENCE;
    while ask().is_ok() {
        assert!(Instant::now() < until, "the configuration is not read again");
    }
    assert!(ask().unwrap_err().contains("401"));
}
