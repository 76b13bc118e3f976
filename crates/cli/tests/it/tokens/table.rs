//! One table: each request of each API, with each credential.

use std::collections::BTreeSet;

use sequent_engine::config::Verb;

use super::{
    redis::Connection,
    site::{Call, Site},
};

/// How an answer depends on the credential: what nobody needs, what any principal may, what needs a verb.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Needs {
    Nobody,
    Anybody,
    Verb(&'static str),
}

use Needs::{Anybody, Nobody, Verb as Needed};

/// A request, and who answers it.
#[derive(Debug, Clone, Copy)]
enum Request {
    /// Method and path, and body.
    Http(&'static str, &'static str),
    /// The same of the admin listener.
    Admin(&'static str, &'static str),
    Grpc(Call),
    /// On a connection that has tried to sign in.
    Redis(&'static str),
}

use Request::{Admin, Grpc, Http, Redis};

const TABLE: &[(Needs, Request)] = &[
    (Needed("next"), Http("POST /v1/sequences/plain/next", "")),
    (Needed("next"), Http("POST /v1/sequences/plain/next?count=2", "")),
    (Needed("next"), Http("POST /v1/sequences/pl%61in/next", "")),
    (Needed("list"), Http("GET /v1/sequences", "")),
    (Needed("show"), Http("GET /v1/sequences/order", "")),
    (Needed("define"), Http("PUT /v1/sequences/made", r#"{"placement": "spread"}"#)),
    (Needed("preview"), Http("POST /v1/preview", r#"{"sequence": "order", "number": "7"}"#)),
    (Needed("parse"), Http("POST /v1/parse", r#"{"sequence": "order", "text": "O000000001"}"#)),
    (Needed("preview"), Http("POST /v1/preview", r#"{"definition": {"template": "X@{seq,w=5}"}}"#)),
    (Anybody, Http("GET /openapi.json", "")),
    // Balancers ask the listener that they send requests to.
    (Nobody, Http("GET /livez", "")),
    (Nobody, Http("GET /readyz", "")),
    (Needed("next"), Grpc(Call::Next)),
    (Needed("lease"), Grpc(Call::Lease)),
    (Needed("list"), Grpc(Call::List)),
    (Needed("show"), Grpc(Call::Show)),
    (Needed("define"), Grpc(Call::Define)),
    (Needed("preview"), Grpc(Call::Preview)),
    (Needed("parse"), Grpc(Call::Parse)),
    (Needed("next"), Redis("INCR plain")),
    (Needed("next"), Redis("INCRBY plain 1")),
    (Needed("next"), Redis("SEQ.NEXT order")),
    (Needed("next"), Redis("SEQ.NEXT order COUNT 2")),
    (Needed("lease"), Redis("SEQ.LEASE plain 2")),
    (Needed("define"), Redis("SEQ.DEFINE made placement spread")),
    (Needed("show"), Redis("SEQ.SHOW order")),
    (Needed("show"), Redis("GET plain")),
    (Needed("show"), Redis("MGET plain order")),
    (Needed("show"), Redis("EXISTS plain")),
    (Needed("show"), Redis("TYPE plain")),
    (Needed("show"), Redis("TTL plain")),
    (Needed("show"), Redis("PTTL plain")),
    (Anybody, Redis("PING")),
    (Anybody, Redis("HELLO 2")),
    (Anybody, Redis("INFO")),
    (Anybody, Redis("CONFIG GET save")),
    (Anybody, Redis("CLIENT ID")),
    (Anybody, Redis("COMMAND COUNT")),
    (Anybody, Redis("TIME")),
    (Anybody, Redis("MULTI")),
    (Nobody, Redis("RESET")),
    (Nobody, Redis("QUIT")),
    (Needed("metrics"), Admin("GET /metrics", "")),
    (Needed("status"), Admin("GET /v1/status", "")),
    (Needed("operate"), Admin("POST /v1/slots/1/evict", r#"{"why": "new disk"}"#)),
    (Needed("operate"), Admin("POST /v1/slots/1/drain", r#"{"why": "new disk"}"#)),
    (Needed("operate"), Admin("POST /v1/slots/1/rescue", r#"{"why": "it is there"}"#)),
    (Needed("operate"), Admin("POST /v1/sequences/other/advance", r#"{"to": "250000"}"#)),
    (Needed("define"), Admin("PUT /v1/sequences/made", r#"{"placement": "spread"}"#)),
    (Needed("operate"), Admin("POST /v1/sequences/made/forget", "{}")),
    (Nobody, Admin("GET /livez", "")),
    (Nobody, Admin("GET /readyz", "")),
    (Nobody, Admin("GET /", "")),
    (Nobody, Admin("GET /console", "")),
];

/// Verbs that change what is answered and refuse no request by themselves: they have tests of their own.
const FURTHER: [&str; 2] = ["tell", "reveal"];

const CREDENTIALS: [&str; 6] = ["none", "unknown", "expired", "revoked", "narrow", "right"];

fn expected(needs: Needs, whose: &str) -> &'static str {
    match (needs, whose) {
        (Nobody, _) | (_, "right") | (Anybody, "narrow") => "OK",
        (Needed(_), "narrow") => "PERMISSION_DENIED",
        _ => "UNAUTHENTICATED",
    }
}

/// The reason of the answer, or `OK`, and its text.
fn answer(site: &Site, whose: &str, request: Request) -> (String, String) {
    match request {
        Http(line, body) => site.asked(&site.server.http, whose, (line, body)),
        Admin(line, body) => site.asked(&site.server.admin, whose, (line, body)),
        Grpc(call) => site.sdk(whose, call),
        Redis(command) => {
            let said = Connection::by(site, whose).says(command);
            let reason = match said.split([' ', ':']).next().unwrap() {
                "-NOAUTH" => "UNAUTHENTICATED",
                "-NOPERM" => "PERMISSION_DENIED",
                word if !word.starts_with('-') => "OK",
                word => word,
            };
            (reason.to_owned(), said)
        }
    }
}

#[test]
fn each_verb_at_each_api_with_each_credential() {
    let site = Site::start();
    for whose in CREDENTIALS {
        if whose == "right" {
            let (_, status) = site.asked(&site.server.admin, whose, ("GET /v1/status", ""));
            assert_eq!(status.matches("\"state\":\"live\"").count(), 2, "slots were changed: {status}");
            let first = Connection::by(&site, whose).says("INCR other");
            assert_eq!(first, ":1", "what was refused advanced it");
        }
        for (needs, request) in TABLE {
            // Twice, since the second request of a number may find it ready.
            for _ in 0..2 {
                let (reason, text) = answer(&site, whose, *request);
                assert_eq!(reason, expected(*needs, whose), "{whose}: {request:?}: {text}");
                if let (Needed(verb), "PERMISSION_DENIED") = (needs, reason.as_str()) {
                    assert!(text.contains(&format!("narrow lacks the verb {verb}")), "{request:?}: {text}");
                }
            }
        }
        // A pipeline's second number may be ready.
        let mut connection = Connection::by(&site, whose);
        let mut said = vec![connection.says(&["INCR plain"; 3].join("\r\n"))];
        said.extend([connection.line(), connection.line()]);
        let first = match whose {
            "right" => ":",
            "narrow" => "-NOPERM ",
            _ => "-NOAUTH ",
        };
        assert!(said.iter().all(|said| said.starts_with(first)), "{whose}: {said:?}");
    }
    for listener in ["http", "grpc", "redis", "admin"] {
        for why in ["missing", "unknown", "expired", "denied"] {
            let labels = format!("listener=\"{listener}\",why=\"{why}\"");
            assert!(site.metric("right", "sequent_auth_refused_total", &labels) > 0.0, "{labels}");
        }
    }
    site.leaves_no_trace();
}

#[test]
fn each_verb_is_in_the_table() {
    let asked = TABLE.iter().filter_map(|(needs, _)| match needs {
        Needed(verb) => Some(*verb),
        _ => None,
    });
    let asked: BTreeSet<&str> = asked.chain(FURTHER).collect();
    assert_eq!(asked, Verb::ALL.iter().map(|verb| verb.as_str()).collect());
}
