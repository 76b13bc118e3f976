//! S15: the same server with tokens, and with TLS on connections that are kept, beside one with neither.
//!
//! The server has one processor, the tool that loads it another. On shared ones the tool's own decryption would count as the
//! server's.

use std::{path::Path, process::Command};

use sequent_benches::Row;

use crate::{
    child::Server,
    load::{Load, Target, check, h2load, said, wrk},
    plan::{Cost, Loading, ORDER, POST, Plan},
    serve::{SEQUENT, TLS as TLS_ROLE, TOKENS},
};

/// The credential of the role with tokens, as a header.
pub(crate) const HEADER: &str =
    "authorization: Bearer sqt_i4fe45mc_bhX1rgnul6R0KHyM3iUXf6bxVUsNRLRXdrNFrValsDk";

/// The processors of the server and of the tool.
const OF_SERVER: u8 = 0;
const OF_TOOL: u8 = 1;

/// What the role with tokens adds to its configuration: the principal of [`HEADER`].
pub(crate) const PRINCIPAL: &str = "[auth]\nmode = \"required\"\n[[principal]]\nname = \"bench\"\n\
    token_sha256 = [\"d0fb49b41d5dcfad10a903fbcd8813c063d5b171e6511637971e9e28bb979b92\"]\n\
    allow = [\"next:*\", \"metrics\"]\n";

/// What the role with TLS adds: it also takes plaintext, by which its metrics are read.
pub(crate) const TLS: &str = "[tls]\nmode = \"allow\"\ncert_file = \"tls.crt\"\nkey_file = \"tls.key\"\n";

/// Row, role of the subject, scheme, header lines, whether by gRPC, and goal.
type Case = (&'static str, &'static str, &'static str, &'static [&'static str], bool, f64);

const ROWS: [Case; 4] = [
    ("S15-grpc-token", TOKENS, "http", &[HEADER], true, 0.95),
    ("S15-http-token", TOKENS, "http", &[HEADER], false, 0.95),
    ("S15-grpc-tls", TLS_ROLE, "https", &[], true, 0.8),
    ("S15-http-tls", TLS_ROLE, "https", &[], false, 0.8),
];

/// Whether a word of the command line is a row of this file, or all of them.
pub(crate) fn is_row(word: &str) -> bool {
    word == "S15" || ROWS.iter().any(|(row, ..)| word == *row)
}

pub(crate) fn run(plan: &Plan, (rows, costs): (&mut Vec<Row>, &mut Vec<Cost>)) -> Result<(), String> {
    for (row, role, scheme, headers, is_grpc, goal) in ROWS {
        if !plan.wants("S15") && !plan.wants(row) {
            continue;
        }
        let (tool, package) = if is_grpc { ("h2load", "nghttp2-client") } else { ("wrk", "wrk") };
        check(tool, package)?;
        check("taskset", "util-linux")?;
        let start = |role| Server::start_on(role, Some(OF_SERVER));
        let (subject, baseline) = (start(role)?, start(SEQUENT)?);
        let how = Load { processor: Some(OF_TOOL), ..plan.load };
        let load = |scheme: &'static str, headers: &'static [&'static str]| {
            move |server: &Server| {
                let address = server.addresses[usize::from(!is_grpc)];
                let target = Target { scheme, address, headers };
                if is_grpc { h2load(target, ORDER, how) } else { wrk(target, POST, how) }
            }
        };
        let loads: (Loading<'_>, Loading<'_>) = (&load(scheme, headers), &load("http", &[]));
        plan.pair((row, goal), (&subject, &baseline), loads, (&mut *rows, &mut *costs))?;
    }
    Ok(())
}

/// Writes a certificate and its key into the data directory, by openssl.
pub(crate) fn certificate(data: &Path) -> Result<(), String> {
    check("openssl", "openssl")?;
    std::fs::create_dir_all(data).map_err(|error| format!("no directory: {error}"))?;
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
    openssl.args(["-subj", "/CN=bench", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
    openssl.arg("-keyout").arg(data.join("tls.key")).arg("-out").arg(data.join("tls.crt"));
    said(&mut openssl).map(drop)
}
