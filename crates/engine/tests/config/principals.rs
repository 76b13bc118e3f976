//! `[auth]` and `[[principal]]`: what is refused, where, and what is never shown.

use sequent_engine::config::{AuthMode, Verb};

use crate::{accepted, faults, placed};

const HASH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const OTHER: &str = "ff23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

#[test]
fn a_principal_has_what_its_table_says() {
    let config = accepted(&format!(
        "[auth]\nmode = \"required\"\n\
         [[principal]]\nname = \"shop\"\ntoken_sha256 = [\"{HASH}\", \"{OTHER}\"]\nexpires = \"2027-06-01\"\n\
         allow = [\"next,lease:order*\", \"metrics\"]\ndeny = [\"next:order-x\"]\nnumbers_per_s = 50\n"
    ));
    assert_eq!(config.auth.mode, AuthMode::Required);
    let shop = &config.principals[0];
    assert!(shop.may(Verb::Next, "order") && shop.may(Verb::Metrics, "") && !shop.may(Verb::Next, "order-x"));
    assert_eq!(
        (shop.tokens.len(), shop.quotas.numbers_per_s, shop.quotas.requests_per_s),
        (2, Some(50), None)
    );
    let end_ms = 1_811_808_000_000;
    assert!(shop.is_expired(end_ms) && !shop.is_expired(end_ms - 1), "{:?}", shop.expires);
    let shown: Vec<String> = config.shown().iter().map(ToString::to_string).collect();
    let line = "principal[0].token_sha256 = [\"***\", \"***\"]  # file".to_owned();
    assert!(shown.contains(&line), "{shown:#?}");
    assert!(!format!("{:?}{shown:?}", config.principals).contains(&HASH[..8]));
}

#[test]
fn each_fault_of_a_principal_is_told_and_no_hash_is() {
    let found = faults(&format!(
        "[[principal]]\nname = \"a\"\n\
         [[principal]]\nname = \"b\"\ntoken_sha256 = [\"{HASH}\"]\nallow = [\"nxt:order\"]\n\
         [[principal]]\nname = \"b\"\ntoken_sha256 = [\"{HASH}\"]\n\
         [[principal]]\nname = \"c\"\ntoken_sha256 = [\"{HASH}\", \"{OTHER}\", \"geheim\"]\n\
         [[principal]]\ntoken_sha256 = \"{HASH}\"\nexpires = \"soon\"\nnumbers_per_s = 0\n\
         [[principal]]\nname = \"e\"\ncert_names = [\"a[\"]\nalow = []\n"
    ));
    let expected = [
        "principal[0].token_sha256 is missing: a token or cert_names is expected",
        "principal[1].allow is not readable: \"nxt:order\": \"nxt\" is no verb: next, lease,",
        "principal[3].token_sha256 is 3 hashes: at most 2 are allowed",
        "principal[3].token_sha256 is not readable at 3: the SHA-256 of a token",
        "principal[4].name is missing: ",
        "principal[4].token_sha256 is \"***\": a list of texts is expected",
        "principal[4].expires is \"soon\": a date or an instant in quotes",
        "principal[4].numbers_per_s is 0: 1 to 100000000 are allowed",
        "principal[5].cert_names is \"a[\": ",
        "principal[5].alow is unknown: did you mean allow?",
    ];
    for start in expected {
        assert!(found.iter().any(|fault| fault.starts_with(start)), "{start}: {found:#?}");
    }
    assert!(!found.join("\n").contains(&HASH[..8]) && !found.join("\n").contains("geheim"), "{found:#?}");
    let twice = faults(&format!(
        "[[principal]]\nname = \"b\"\ntoken_sha256 = [\"{HASH}\"]\n[[principal]]\nname = \"b\"\ntoken_sha256 = [\"{HASH}\"]\n"
    ));
    assert_eq!(
        twice,
        [
            "principal[1].name is \"b\": principal[0] has the same name: each name once",
            "principal[1].token_sha256 is not shown: principal[0] has the same token: each token once",
        ]
    );
}

#[test]
fn a_fault_of_a_principal_has_its_line() {
    let found = placed(&format!(
        "[auth]\nmode = \"required\"\n[[principal]]\nname = \"b\"\ntoken_sha256 = [\"{HASH}\"]\nallow = [\"next\"]\n"
    ));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].at.ends_with("sequent.toml:6:1"), "{found:#?}");
}

#[test]
fn a_server_that_nobody_could_use_is_refused() {
    let found = faults("[auth]\nmode = \"required\"\n");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("auth.mode is \"required\": a [[principal]] is expected"), "{}", found[0]);
    let found = faults("[[principal]]\nname = \"a\"\ncert_names = [\"a\"]\n");
    assert!(found[0].starts_with("auth.mode is \"off\": \"required\" is expected"), "{}", found[0]);
    assert_eq!(faults("[auth]\nmode = \"on\"\n"), ["auth.mode is \"on\": \"off\", \"required\" are allowed"]);
}

/// A name of the other kind is signed for another purpose, and may have any text around it.
#[test]
fn a_pattern_is_for_names_of_one_kind() {
    let tls = "[tls]\nmode = \"require\"\ncert_file = \"a\"\nkey_file = \"b\"\nclient_auth = \"required\"\n\
               client_ca_file = \"c\"\nallowed_names = [\"*.shop.internal\", \"*://prod/*\"]\n";
    let config = accepted(&format!(
        "[auth]\nmode = \"required\"\n{tls}\
         [[principal]]\nname = \"dns\"\ncert_names = [\"*.shop.internal\"]\n\
         [[principal]]\nname = \"uri\"\ncert_names = [\"*://prod/*\"]\n"
    ));
    let (dns, uri) = ("x.shop.internal", "spiffe://prod/ns/shop/sa/x.shop.internal");
    let is = |at: usize, name: &str| config.principals[at].has_certificate(&[name.to_owned()]);
    assert_eq!((is(0, dns), is(0, uri)), (true, false));
    assert_eq!((is(1, dns), is(1, uri)), (false, true));
    let allowed = config.tls.allowed();
    assert!(allowed.has(dns) && allowed.has(uri) && !allowed.has("spiffe://test/ns/x.shop.internal"));
}
