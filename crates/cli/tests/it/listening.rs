//! Where the APIs are, and how many may wait before them.

use std::{fs, net::TcpListener, net::TcpStream, time::Duration};

use crate::{
    place::Place,
    running::{Running, say},
};

/// For each API: more than the usual backlog of 128, and for all of them fewer than the descriptors that a test may have.
const BURST: usize = 150;

/// Sooner than the system sends a connect again that found no room: after a second.
const AT_ONCE: Duration = Duration::from_millis(800);

#[test]
fn a_burst_of_connects_finds_room_before_the_server_takes_them() {
    let most: usize = fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap().trim().parse().unwrap();
    let place = Place::new();
    let server = Running::start(&place, &["dev", "--json"]);
    server.signal("STOP");
    let state = || fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    while !state().contains("State:\tT") {
        std::thread::yield_now();
    }
    let of =
        [("http", &server.http), ("grpc", &server.grpc), ("redis", &server.redis), ("admin", &server.admin)];
    for (api, address) in of {
        let address = address.parse().unwrap();
        let connect = |_| TcpStream::connect_timeout(&address, AT_ONCE);
        let waiting: Result<Vec<_>, _> = (0..BURST.min(most)).map(connect).collect();
        waiting.unwrap_or_else(|error| panic!("no room before {api}: {error}"));
    }
    server.signal("CONT");
    assert!(say(&server.http, "POST /v1/sequences/order/next HTTP/1.1").starts_with("HTTP/1.1 200 "));
}

#[test]
fn dev_obeys_an_address_that_was_given_and_takes_free_ports_for_the_others() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let setting = format!("listen.http={taken}");
    let server = Running::start(&place, &["dev", "--json", "--set", &setting]);
    assert_eq!(server.http, taken.to_string());
    for other in [&server.grpc, &server.redis, &server.admin] {
        let usual = [":7420", ":7422", ":7423"];
        assert!(!usual.iter().any(|port| other.ends_with(port)), "{other}");
    }
    drop(server);
    let mut command = place.command(&["dev", "--json"]);
    command.env("SEQUENT_LISTEN_GRPC", taken.to_string());
    let piped = || std::process::Stdio::piped();
    let server = Running::of(command.stdout(piped()).stderr(piped()).spawn().unwrap());
    assert_eq!(server.grpc, taken.to_string());
    place.write("x.toml", "[listen]\nadmin = \"127.0.0.1:notaport\"\n");
    place.run(&["dev", "--config", "x.toml"]).refused(3, &["listen.admin", "notaport"]);
    let setting = format!("listen.admin={taken}");
    place.run(&["dev", "--set", &setting]).refused(1, &["listen.admin is ", "can't listen"]);
}
