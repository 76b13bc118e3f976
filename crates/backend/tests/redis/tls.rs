//! TLS: an authority, a certificate for the server, and what is checked.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use sequent_backend::{
    net::{ServerOptions, Tls},
    redis::RedisStore,
};
use sequent_core::{ErrorKind, Store};
use tempfile::TempDir;

use crate::support::{Counting, PASSWORD, Site, USER, failed, options, owner};

/// An authority's certificate, and one that it has given to 127.0.0.1.
struct Papers(TempDir);

impl Papers {
    fn new() -> Self {
        let papers = Self(tempfile::tempdir().unwrap());
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
        let authority = ["req", "-x509", "-subj", "/CN=an authority", "-keyout", "ca.key", "-out", "ca.pem"];
        papers.openssl(&[&authority[..], &key].concat());
        let subject = ["-subj", "/CN=a server", "-addext", "subjectAltName=IP:127.0.0.1"];
        let issued = ["-addext", "basicConstraints=CA:FALSE", "-CA", "ca.pem", "-CAkey", "ca.key"];
        let files = ["-keyout", "own.key", "-out", "own.pem"];
        papers.openssl(&[&["req", "-x509"][..], &subject, &issued, &files, &key].concat());
        papers
    }

    fn openssl(&self, arguments: &[&str]) {
        let output = Command::new("openssl").args(arguments).current_dir(&self.0).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

#[tokio::test]
async fn a_server_is_known_by_its_certificate() {
    let (site, papers, strangers) = (Site::new().await, Papers::new(), Papers::new());
    for name in ["own.pem", "own.key", "ca.pem"] {
        site.server.keep_file(name, &std::fs::read(papers.path(name)).unwrap()).await;
    }
    let path = |name: &str| site.server.folder().join(name).display().to_string();
    let port = sequent_testkit::servers::Port::reserve();
    for (name, value) in [
        ("tls-cert-file", path("own.pem")),
        ("tls-key-file", path("own.key")),
        ("tls-ca-cert-file", path("ca.pem")),
        ("tls-auth-clients", "no".to_owned()),
        ("tls-port", port.number().to_string()),
    ] {
        site.server.set(name, &value).await;
    }
    site.restart().await;
    let to = |ca: &Path| {
        let from_url = options(&format!("redis://{USER}:{PASSWORD}@{}", port.address()));
        let tls_ca_file = Some(ca.to_owned());
        RedisStore::new(ServerOptions { tls: Tls::Verify, tls_ca_file, ..from_url }, owner())
    };
    let counting = Counting::begin(to(&papers.path("ca.pem")), 0).await;
    assert_eq!(counting.take(1).await.unwrap().first(), 1);
    failed(to(&strangers.path("ca.pem")).inspect().await, ErrorKind::Refused, &["certificate"]);
    failed(to(Path::new("/no/such/file")).inspect().await, ErrorKind::Refused, &["/no/such/file"]);
}
