//! TLS: an authority, certificates of a member and of ours, and what is checked on either side.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use sequent_backend::{etcd::EtcdLedger, net::ServerOptions};
use sequent_core::{ErrorKind, ledger::Identity};
use sequent_testkit::servers::{Etcd, Port};
use tempfile::TempDir;

use crate::support::{every_call, failed, options};

/// An authority's certificate, and one that it has given to 127.0.0.1, for either side of a connection.
struct Papers(TempDir);

impl Papers {
    fn new() -> Self {
        let papers = Self(tempfile::tempdir().unwrap());
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
        let authority = ["req", "-x509", "-subj", "/CN=an authority", "-keyout", "ca.key", "-out", "ca.pem"];
        papers.openssl(&[&authority[..], &key].concat());
        let own = ["req", "-x509", "-subj", "/CN=a member", "-CA", "ca.pem", "-CAkey", "ca.key"];
        let what = ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE"];
        let to =
            ["-addext", "extendedKeyUsage=serverAuth,clientAuth", "-keyout", "own.key", "-out", "own.pem"];
        papers.openssl(&[&own[..], &what, &to, &key].concat());
        papers
    }

    fn openssl(&self, arguments: &[&str]) {
        let output = Command::new("openssl").args(arguments).current_dir(&self.0).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A member that asks for certificates, and where it listens for those who have one. It is started in plain first,
    /// so that its folder is there for the papers.
    async fn member(&self) -> (Etcd, Port) {
        let (server, port) = (Etcd::start().await, Port::reserve());
        for (name, setting) in
            [("ca.pem", "trusted-ca-file"), ("own.pem", "cert-file"), ("own.key", "key-file")]
        {
            let file = server.keep_file(name, &std::fs::read(self.path(name)).unwrap()).await;
            server.set(setting, &file.display().to_string()).await;
        }
        server.set("client-cert-auth", "true").await;
        // The plain address stays, for whoever looks after it.
        let both = format!("{},https://{}", server.url(), port.address());
        server.set("listen-client-urls", &both).await;
        server.restart().await;
        (server, port)
    }
}

fn secure(port: &Port, ca: Option<&Path>, own: Option<&Papers>) -> ServerOptions {
    ServerOptions {
        tls_ca_file: ca.map(Path::to_owned),
        tls_cert_file: own.map(|papers| papers.path("own.pem")),
        tls_key_file: own.map(|papers| papers.path("own.key")),
        ..options(&format!("https://{}", port.address()))
    }
}

#[tokio::test]
async fn either_side_is_known_by_its_certificate() {
    let (papers, strangers) = (Papers::new(), Papers::new());
    let (_server, port) = papers.member().await;
    let ca = papers.path("ca.pem");
    every_call(EtcdLedger::new(secure(&port, Some(&ca), Some(&papers)))).await;
    let refused = async |options, parts: &[&str]| {
        failed(EtcdLedger::new(options).inspect().await, ErrorKind::Refused, parts);
    };
    refused(secure(&port, Some(&strangers.path("ca.pem")), Some(&papers)), &["TLS", "certificate"]).await;
    refused(secure(&port, None, Some(&papers)), &["TLS", "certificate"]).await;
    refused(secure(&port, Some(&ca), Some(&strangers)), &["TLS"]).await;
    refused(secure(&port, Some(&ca), None), &["TLS"]).await;
    refused(secure(&port, Some(&papers.path("none")), None), &["tls_ca_file", "No such file"]).await;
    refused(secure(&port, Some(&papers.path("own.key")), None), &["tls_ca_file", "no certificate"]).await;
    let mut half = secure(&port, Some(&ca), Some(&papers));
    half.tls_key_file = None;
    refused(half, &["tls_cert_file", "tls_key_file"]).await;
}
