//! TLS: an authority, a certificate for the server, and what is checked.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use sequent_backend::{
    net::{ServerOptions, Tls},
    postgres::PostgresStore,
};
use sequent_core::{ErrorKind, Store};
use tempfile::TempDir;

use crate::environment::look;
use crate::support::{MAKER, PASSWORD, Site, failed, options};

/// An authority's certificate, and one that it has given to 127.0.0.1.
struct Papers(TempDir);

impl Papers {
    fn new() -> Self {
        let papers = Self(tempfile::tempdir().unwrap());
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
        let authority = ["req", "-x509", "-subj", "/CN=an authority", "-keyout", "ca.key", "-out", "ca.pem"];
        papers.openssl(&[&authority[..], &key].concat());
        let server = [
            "-subj",
            "/CN=a server",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-addext",
            "basicConstraints=CA:FALSE",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-keyout",
            "own.key",
            "-out",
            "own.pem",
        ];
        papers.openssl(&[&["req", "-x509"][..], &server, &key].concat());
        papers
    }

    fn openssl(&self, arguments: &[&str]) {
        let output = Command::new("openssl").args(arguments).current_dir(&self.0).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }
}

fn store(url: &str, mode: Tls, ca: Option<&Path>) -> PostgresStore {
    let tls_ca_file = ca.map(Path::to_owned);
    PostgresStore::new(ServerOptions { tls: mode, tls_ca_file, ..options(url.parse().unwrap()) })
}

#[tokio::test]
async fn a_server_is_known_by_its_certificate() {
    let (site, papers, strangers) = (Site::new().await, Papers::new(), Papers::new());
    for name in ["own.pem", "own.key"] {
        site.server.keep_file(name, &papers.bytes(name)).await;
    }
    let path = |name: &str| site.server.folder().join(name).display().to_string();
    site.server.set("ssl", "on").await;
    site.server.set("ssl_cert_file", &path("own.pem")).await;
    site.server.set("ssl_key_file", &path("own.key")).await;
    site.server.restart().await;
    let url = site.server.url_as(MAKER, PASSWORD);
    let ca = papers.path("ca.pem");
    for mode in [Tls::Prefer, Tls::Require, Tls::Verify] {
        let store = store(&url, mode, Some(&ca));
        store.inspect().await.unwrap();
        let sql = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
            WHERE application_name = 'sequent'";
        assert_eq!(site.server.sql(sql).await, "t\n", "{mode:?}");
    }
    for mode in [Tls::Verify] {
        let strange = strangers.path("ca.pem");
        failed(store(&url, mode, Some(&strange)).inspect().await, ErrorKind::Refused, &["certificate"]);
        failed(store(&url, mode, None).inspect().await, ErrorKind::Refused, &["certificate"]);
    }
    let said = look(&url, true, &[("PGSSLROOTCERT", ca.to_str().unwrap())]);
    assert!(said.contains("certificate"), "an authority that nobody configured was trusted: {said}");
    let by_name = url.replace("127.0.0.1", "localhost");
    failed(store(&by_name, Tls::Verify, Some(&ca)).inspect().await, ErrorKind::Refused, &["certificate"]);
}
