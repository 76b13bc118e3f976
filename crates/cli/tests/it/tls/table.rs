//! Mode, client and listener: who is served.

use std::thread;

use super::{
    certificates::{Authority, HOST, STRANGER, WEB, YEAR, flags},
    clients::Client,
};
use crate::{place::Place, running::Running};

/// Every mode with every demand for certificates of clients.
const SERVERS: [(&str, &str); 7] = [
    ("off", "off"),
    ("allow", "off"),
    ("allow", "optional"),
    ("allow", "required"),
    ("require", "off"),
    ("require", "optional"),
    ("require", "required"),
];

/// Clients, and whether the certificate is one that is accepted where one is looked at.
const CLIENTS: [(Client, bool); 5] = [
    (Client::Plain, false),
    (Client::Anonymous, false),
    (Client::Named("web"), true),
    (Client::Named("stranger"), false),
    (Client::Named("unknown"), false),
];

/// What the page says, in another form than the code.
fn is_served((mode, client_auth): (&str, &str), (client, is_accepted): (Client, bool)) -> bool {
    match (client, mode, client_auth) {
        (Client::Plain, "off" | "allow", _) => true,
        (Client::Plain, ..) | (_, "off", _) => false,
        (_, _, "off") => true,
        (Client::Anonymous, _, auth) => auth == "optional",
        (Client::Named(_), ..) => is_accepted,
    }
}

#[test]
fn every_mode_client_and_listener() {
    let rows: Vec<_> = SERVERS.map(|server| thread::spawn(move || row(server))).into_iter().collect();
    for row in rows {
        row.join().unwrap();
    }
}

/// The reply, if it is a number.
fn incr(client: Client, place: &Place, address: &str) -> Result<String, String> {
    let reply = client.redis(place, address, "INCR order");
    if reply.starts_with(':') { Ok(reply) } else { Err(reply) }
}

fn row(server: (&str, &str)) {
    let (place, authority) = (Place::new(), Authority::new("shop"));
    for file in ["ca.crt", "clients.crt"] {
        place.write(file, &authority.pem());
    }
    authority.writes(&place, "tls", &HOST, YEAR);
    authority.writes(&place, "web", &[WEB], YEAR);
    authority.writes(&place, "stranger", &[STRANGER], YEAR);
    Authority::new("unknown").writes(&place, "unknown", &[WEB], YEAR);
    let settings = flags(&place, server.0, server.1);
    let args: Vec<&str> = ["dev", "--json"].into_iter().chain(settings.iter().map(String::as_str)).collect();
    let running = Running::start(&place, &args);
    for (client, is_accepted) in CLIENTS {
        let answers = [
            ("grpc", client.next(&place, &running.grpc)),
            ("http", client.curl(&place, &running.http, "POST", "/v1/sequences/order/next")),
            ("redis", incr(client, &place, &running.redis)),
            ("admin", client.curl(&place, &running.admin, "GET", "/livez")),
        ];
        for (listener, answer) in answers {
            let expected = is_served(server, (client, is_accepted));
            assert_eq!(answer.is_ok(), expected, "{server:?} {client:?} {listener}: {answer:?}");
        }
    }
    if server.0 == "off" {
        return;
    }
    let page = Client::Named("web").curl(&place, &running.admin, "GET", "/metrics").unwrap();
    let count = |listener: &str, outcome: &str| {
        let series =
            format!("sequent_tls_handshakes_total{{listener=\"{listener}\",outcome=\"{outcome}\"}} ");
        page.lines().find_map(|line| line.strip_prefix(&series)?.parse::<usize>().ok()).unwrap()
    };
    let accepted =
        CLIENTS.iter().filter(|client| client.0 != Client::Plain && is_served(server, **client)).count();
    let refused = CLIENTS.len() - 1 - accepted;
    for listener in ["http", "redis"] {
        let counted = ["ok", "plaintext", "certificate", "failed", "timeout"];
        let counted = counted.map(|outcome| count(listener, outcome));
        assert_eq!(counted, [accepted, 1, refused, 0, 0], "{server:?} {listener}");
    }
    // The begin of 2040.
    let expiry = "sequent_tls_certificate_expiry_timestamp_seconds{file=\"cert_file\"} 2208988800\n";
    assert!(page.contains(expiry), "{page}");
}
