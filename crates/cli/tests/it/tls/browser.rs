//! A browser that presents a client certificate.

use std::{fs, path::Path, process::Command};

use super::clients::mutual;
use crate::place::Place;

/// How long the console may run by its own clock: three looks at the server.
const PAGE_MS: &str = "--virtual-time-budget=7000";

/// The policy by which it presents a certificate without asking a person.
const POLICY: &str =
    r#"{"AutoSelectCertificateForUrls": ["{\"pattern\": \"https://localhost\", \"filter\": {}}"]}"#;

/// Its policies are those of `/etc/chromium`, for this process alone.
const START: &str = "mount --bind \"$1\" /etc/chromium && shift && exec chromium \"$@\"";

fn run(place: &Place, program: &str, args: &[&str]) {
    let ran = Command::new(program).current_dir(place.path("")).args(args).output();
    let ran = ran.unwrap_or_else(|error| panic!("{program} is needed (libnss3-tools, openssl): {error}"));
    assert!(ran.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// A home whose browser trusts the authority, and may have the certificate of `web`.
fn home(place: &Place, name: &str, has_certificate: bool) -> std::path::PathBuf {
    let home = place.path(name);
    fs::create_dir_all(home.join(".pki/nssdb")).unwrap();
    fs::create_dir_all(home.join("chromium/policies/managed")).unwrap();
    fs::write(home.join("chromium/policies/managed/certificates.json"), POLICY).unwrap();
    let store = format!("sql:{}", home.join(".pki/nssdb").display());
    run(place, "certutil", &["-N", "-d", &store, "--empty-password"]);
    run(place, "certutil", &["-A", "-d", &store, "-n", "shop", "-t", "C,,", "-i", "ca.crt"]);
    if has_certificate {
        let export = ["pkcs12", "-export", "-in", "web.crt", "-inkey", "web.key", "-out", "web.p12"];
        run(place, "openssl", &[&export[..], &["-passout", "pass:", "-name", "web"]].concat());
        run(place, "pk12util", &["-i", "web.p12", "-d", &store, "-W", ""]);
    }
    home
}

/// What a browser makes of a page: its document.
fn browse(home: &Path, url: &str) -> String {
    let mut command = Command::new("unshare");
    command.env("HOME", home).args(["--map-root-user", "--mount", "sh", "-c", START, "sh"]);
    command.arg(home.join("chromium")).args(["--headless", "--no-sandbox", "--disable-gpu", PAGE_MS]);
    command.arg(format!("--user-data-dir={}", home.join("profile").display()));
    let ran = command.args(["--dump-dom", url]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn a_browser_shows_the_console_to_whoever_has_a_certificate() {
    let (place, server) = mutual();
    let url = format!("https://localhost:{}/console", server.admin.rsplit_once(':').unwrap().1);
    let page = browse(&home(&place, "known", true), &url);
    assert!(page.contains("4 of 4 shards live"), "{page}");
    let page = browse(&home(&place, "unknown", false), &url);
    assert!(!page.contains("shards live"), "{page}");
}
