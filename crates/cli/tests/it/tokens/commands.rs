//! Tokens of commands and of the SDK.

use std::fs;

use sequent_client::{Client, ErrorKind};

use super::site::{ALL, NARROW, Site, principal};
use crate::place::Place;

#[test]
fn commands_send_the_token_of_a_file() {
    let place = Place::new();
    let parts =
        principal(&place, "right", &["--allow", ALL]) + &principal(&place, "narrow", &["--allow", NARROW]);
    let site = Site::serve(place, &parts);
    let (place, url) = (&site.place, format!("http://{}", site.server.grpc));
    let (right, narrow) = (site.token_file("right"), site.token_file("narrow"));
    let (right, narrow) = (right.to_str().unwrap(), narrow.to_str().unwrap());
    let next = ["next", "plain", "--server", &url];
    let ran = place.run(&next);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("UNAUTHENTICATED") && ran.err.contains("a token is expected"), "{ran:?}");
    let ran = place.run(&[&next[..], &["--token-file", narrow]].concat());
    assert!(ran.err.contains("PERMISSION_DENIED: narrow lacks the verb next for plain"), "{ran:?}");
    assert_eq!(place.text(&[&next[..], &["--token-file", right]].concat()), "1\n");
    let out = place.command(&next).env("SEQUENT_TOKEN_FILE", right).output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), "2\n");
    assert!(place.text(&["list", "--server", &url, "--token-file", right]).contains("plain"));
    let ran = place.run(&[&next[..], &["--token-file", site.token("right").as_str()]].concat());
    assert!(ran.code == Some(2) && ran.err.contains("a token is never an argument"), "{ran:?}");
    assert!(!ran.err.contains(&site.token("right")[13..]), "{ran:?}");
    let config = place.path("sequent.toml");
    let check = ["token", "check", "--config", config.to_str().unwrap(), "--token-file"];
    let told = place.text(&[&check[..], &[right, "next:order", "metrics"]].concat());
    assert_eq!(told, "principal right, expires never\n  next:order  allowed\n  metrics  allowed\n");
    let ran = place.run(&[&check[..], &[narrow, "next:order"]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("PERMISSION_DENIED: narrow lacks next:order"), "{ran:?}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(right).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let again = place.run(&["token", "new", "right", "--allow", ALL, "--out", right]);
    assert_eq!(again.code, Some(1), "a token that is there is not overwritten: {again:?}");
}

/// The kind that a service matches on.
#[test]
fn the_sdk_tells_who_is_unknown_from_who_may_not() {
    let site = Site::serve(Place::new(), NOBODY);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime.block_on(async {
        let client = Client::connect(&format!("http://{}", site.server.grpc)).await.unwrap();
        client.sequence("plain").unwrap().next().await.unwrap_err()
    });
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unauthenticated, false));
}

const NOBODY: &str = "[[principal]]\nname = \"x\"\ncert_names = [\"x\"]\n";
