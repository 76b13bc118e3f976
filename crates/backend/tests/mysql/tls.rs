//! Encrypted lines: whom to trust, and what happens where the server can't.

use std::{path::Path, process::Command};

use sequent_backend::net::{ServerOptions, Tls};
use sequent_core::ErrorKind;
use tempfile::TempDir;

use crate::support::{ROWS, Site, failed, row};

/// Runs openssl in a folder.
fn openssl(folder: &Path, arguments: &str) {
    let done = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&done.stderr));
}

/// An authority, and a certificate of it for 127.0.0.1.
fn papers() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(
        folder.path(),
        &format!("req -x509 {key} -days 2 -subj /CN=authority -keyout ca.key -out ca.pem"),
    );
    openssl(folder.path(), &format!("req {key} -subj /CN=server -keyout server.key -out server.csr"));
    std::fs::write(folder.path().join("names"), "subjectAltName = IP:127.0.0.1\n").unwrap();
    let sign = "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem";
    openssl(folder.path(), sign);
    folder
}

#[tokio::test]
async fn a_server_proves_who_it_is_to_those_who_know_its_authority() {
    let (site, papers) = (Site::new(ROWS).await, papers());
    for (name, file) in [("ssl-ca", "ca.pem"), ("ssl-cert", "server.pem"), ("ssl-key", "server.key")] {
        let content = std::fs::read(papers.path().join(file)).unwrap();
        let path = site.server.keep_file(file, &content).await;
        site.server.set(name, path.to_str().unwrap()).await;
    }
    site.server.restart().await;
    site.server.sql("ALTER USER 'shop'@'127.0.0.1' REQUIRE SSL").await;
    let with = |tls, tls_ca_file| row(ServerOptions { tls, tls_ca_file, ..site.options() });
    let ca_file = Some(papers.path().join("ca.pem"));
    with(Tls::Verify, ca_file.clone()).inspect().await.unwrap();
    with(Tls::Prefer, ca_file).inspect().await.unwrap();
    failed(with(Tls::Off, None).inspect().await, ErrorKind::Refused, &["1045"]);
    let absent = Some(papers.path().join("absent.pem"));
    failed(
        with(Tls::Verify, absent).inspect().await,
        ErrorKind::Refused,
        &["tls_ca_file", "absent.pem: No such file"],
    );
    // A stranger, to the public authorities as to another one.
    let other = self::papers();
    for ca_file in [None, Some(other.path().join("ca.pem"))] {
        failed(with(Tls::Verify, ca_file.clone()).inspect().await, ErrorKind::Refused, &[]);
        failed(with(Tls::Prefer, ca_file).inspect().await, ErrorKind::Refused, &[]);
    }
}

#[tokio::test]
async fn a_server_without_tls_is_refused_where_it_is_required() {
    let site = Site::new(ROWS).await;
    let with = |tls, tls_ca_file| row(ServerOptions { tls, tls_ca_file, ..site.options() });
    with(Tls::Prefer, None).inspect().await.unwrap();
    failed(with(Tls::Verify, None).inspect().await, ErrorKind::Refused, &["TLS is demanded"]);
}
