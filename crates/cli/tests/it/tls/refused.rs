//! Configurations that a server refuses to start with, and peers that it does not wait for.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use super::{
    certificates::{Authority, HOST, YEAR, flags},
    clients::{Client, mutual},
};
use crate::{
    place::Place,
    running::{FREE, Running},
};

#[test]
fn a_listener_beyond_loopback_needs_tls_or_a_word() {
    let place = Place::new();
    let beyond = ["serve", "--json", "--set", "listen.http=0.0.0.0:0", "--set", "listen.admin=[::]:0"];
    let more = ["--set", "listen.grpc=127.0.0.1:0"];
    let words = [
        "listen.http is",
        "listen.admin is",
        "tls.cert_file",
        "listen.plaintext = \\\"trusted\\\"",
        "auth.mode is",
    ];
    let ran = place.run(&[&beyond[..], &more].concat()).refused(3, &words);
    assert!(!ran.err.contains("listen.grpc is"), "{ran:?}");
    assert!(place.content(".").is_empty(), "nothing was made");
    let trusted = ["--set", "listen.plaintext=trusted"];
    let words = ["auth.mode is missing", "[auth] mode = \\\"required\\\"", "[auth] mode = \\\"off\\\""];
    place.run(&[&beyond[..], &more, &trusted].concat()).refused(3, &words);
    let open = ["--set", "auth.mode=off"];
    let mut server = Running::start(&place, &[&beyond[..], &more, &trusted, &open].concat());
    let mut lines = BufReader::new(server.child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.find(|line| line.contains("auth.mode is") && line.contains("everybody who can connect"));
    assert!(said.is_some());
    let mut told = |address: &str| lines.find(|line| line.contains("trusted") && line.contains(address));
    assert!(told("0.0.0.0:0").is_some() && told("[::]:0").is_some());
    // `::1` and the mapped form are loopback.
    for loopback in ["[::1]:0", "[::ffff:127.0.0.1]:0", "127.9.9.9:0"] {
        place.text(&["config", "check", "--set", &format!("listen.http={loopback}")]);
    }
}

#[test]
fn files_that_do_not_fit_are_refused_with_their_keys() {
    let (place, authority) = (Place::new(), Authority::new("shop"));
    place.write("clients.crt", &authority.pem());
    authority.writes(&place, "tls", &HOST, YEAR);
    let settings = flags(&place, "require", "required");
    let check = |command: &[&str]| {
        let args: Vec<&str> = command.iter().copied().chain(settings.iter().map(String::as_str)).collect();
        place.run(&args)
    };
    assert_eq!(check(&["config", "check"]).code, Some(0));
    let (_, other) = authority.signs(&HOST, YEAR);
    let key = std::fs::read_to_string(place.path("tls.key")).unwrap();
    place.write("tls.key", &other);
    for command in [&["config", "check"][..], &["serve"]] {
        check(command).refused(3, &["tls.cert_file is", "as a pair"]);
    }
    let whole = std::fs::read_to_string(place.path("tls.crt")).unwrap();
    authority.writes(&place, "tls", &HOST, 2020);
    for command in [&["config", "check"][..], &["serve"]] {
        check(command).refused(3, &["tls.cert_file is", "it has expired"]);
    }
    // Another certificate of the chain may expire: clients may not need it.
    let expired = std::fs::read_to_string(place.path("tls.crt")).unwrap();
    place.write("tls.crt", &format!("{whole}{expired}"));
    place.write("tls.key", &key);
    assert_eq!(check(&["config", "check"]).code, Some(0));
    place.write("tls.crt", &whole);
    place.write("clients.crt", "nothing");
    std::fs::remove_file(place.path("tls.crt")).unwrap();
    let ran = check(&["config", "check"])
        .refused(3, &["tls.client_ca_file is", "no certificate", "tls.cert_file is"]);
    assert!(ran.err.contains("2 faults"), "{ran:?}");
}

#[test]
fn keys_without_use_and_missing_ones_are_named() {
    let place = Place::new();
    let check = |text: &str| {
        place.write("x.toml", &format!("cluster = \"x\"\n[tls]\n{text}"));
        place.run(&["config", "check", "x.toml"])
    };
    check("cert_file = \"a\"\n")
        .refused(3, &["x.toml:3:1: tls.cert_file is there", "\"allow\" or \"require\""]);
    check("mode = \"require\"\n").refused(3, &["tls.cert_file is missing", "tls.key_file is missing"]);
    let pair = "mode = \"require\"\ncert_file = \"a\"\nkey_file = \"b\"\n";
    check(&format!("{pair}allowed_names = [\"a\"]\n")).refused(3, &["tls.allowed_names is there"]);
    let clients = format!("{pair}client_auth = \"optional\"\n");
    check(&clients).refused(3, &["tls.client_ca_file is missing", "tls.allowed_names is []", "no client"]);
    check(&format!("{clients}client_ca_file = \"c\"\nallowed_names = [\"[\"]\n"))
        .refused(3, &["tls.allowed_names is"]);
}

#[test]
fn a_peer_that_says_nothing_is_not_waited_for() {
    let (_place, server) = mutual();
    for address in [&server.grpc, &server.http, &server.admin] {
        let mut socket = TcpStream::connect(address).unwrap();
        // Far longer than the server waits: only a hang fails.
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        assert_eq!(socket.read(&mut [0; 16]).unwrap(), 0, "{address}");
    }
}

/// Nobody knows yet who it is, and all of it would be kept.
#[test]
fn a_peer_whose_handshake_is_too_long_is_not_listened_to() {
    let (place, server) = mutual();
    let mut socket = TcpStream::connect(&server.http).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // A ClientHello of 60,000 bytes, of which all but the end comes.
    let hello = [vec![1, 0, 0xea, 0x60], vec![3; 48_000]].concat();
    for part in hello.chunks(16_000) {
        let length = u16::try_from(part.len()).unwrap().to_be_bytes();
        // It may have been closed by now.
        drop(socket.write_all(&[&[0x16, 3, 1][..], &length, part].concat()));
    }
    drop(socket.read_to_end(&mut Vec::new()));
    let page = Client::Named("web").curl(&place, &server.admin, "GET", "/metrics").unwrap();
    let failed = "sequent_tls_handshakes_total{listener=\"http\",outcome=\"failed\"} 1\n";
    assert!(page.contains(failed), "{page}");
}

/// The file allows plaintext, names one principal fewer, and has another token of one. Only a restart makes TLS weaker, but whoever
/// is to be kept out does not wait for it.
#[test]
fn principals_are_taken_up_and_recorded_by_name_though_tls_would_be_weaker() {
    let (place, authority) = (Place::new(), Authority::new("shop"));
    authority.writes(&place, "tls", &HOST, YEAR);
    let files = ["crt", "key"].map(|end| place.path(&format!("tls.{end}")).display().to_string());
    let principal = |name: &str, digit: &str| {
        let hash = digit.repeat(64);
        format!("[[principal]]\nname = \"{name}\"\ntoken_sha256 = [\"{hash}\"]\nallow = [\"next:*\"]\n")
    };
    let config = |mode: &str, principals: &[String]| {
        format!(
            "cluster = \"shop\"\n[ring]\nshard_bits = 0\nallow_volatile = true\n[ledger]\nstore = \"memory\"\n\
             [[shard]]\nslot = 0\nstore = \"memory\"\n[auth]\nmode = \"required\"\n[audit]\nfile = \"audit.jsonl\"\n\
             [tls]\nmode = \"{mode}\"\ncert_file = \"{}\"\nkey_file = \"{}\"\n{}",
            files[0],
            files[1],
            principals.concat()
        )
    };
    let all = [principal("goes", "1"), principal("stays", "2"), principal("turns", "3")];
    let file = place.write("sequent.toml", &config("require", &all));
    let server =
        Running::start(&place, &[&["serve", "--config", file.to_str().unwrap()], &FREE[..]].concat());
    place.write("sequent.toml", &config("allow", &[principal("stays", "2"), principal("turns", "4")]));
    server.signal("HUP");
    let begun = Instant::now();
    let refused = loop {
        let log = std::fs::read_to_string(place.path("sequent-data/audit.jsonl")).unwrap_or_default();
        if let Some(line) = log.lines().find(|line| line.contains("CONFIGURATION_REFUSED")) {
            break line.to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{log}");
        std::thread::sleep(Duration::from_millis(20));
    };
    for word in ["principal[goes].allow", "principal[goes].name", "principal[turns].token_sha256"] {
        assert!(refused.contains(word), "{word}: {refused}");
    }
    assert!(!refused.contains("[stays]") && !refused.contains("tls."), "{refused}");
    let (_, said) = server.end();
    assert!(said.contains("tls.mode is weaker in the file"), "{said}");
}
