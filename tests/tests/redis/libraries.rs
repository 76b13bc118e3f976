//! Each library: it connects and signs in, in RESP3 over TLS. It takes numbers one by one, by a pipeline and by a
//! transaction, and goes on after its server was killed, and after it drained. It never sees a number twice.

use std::{collections::HashSet, net::SocketAddr};

use crate::{
    driver::{Driver, Takes},
    place::{Place, eventually},
    rust::Rust,
    server::{Access, Server},
};

/// What every library is asked for at once.
const PIPELINE: usize = 10_000;

/// How often a library may fail in a row while its server is away: each attempt has retries of its own.
const ATTEMPTS_MAX: usize = 50;

/// Numbers that a client got.
#[derive(Default)]
struct Seen(HashSet<u64>);

impl Seen {
    fn add(&mut self, numbers: Vec<u64>) {
        for number in numbers {
            assert!(self.0.insert(number), "{number} was given twice");
        }
    }
}

/// Asks until there is a number again.
fn again(client: &mut impl Takes, seen: &mut Seen, case: &str) {
    let mut attempts = 0;
    eventually(case, || match client.take("one") {
        Ok(numbers) => {
            seen.add(numbers);
            Some(())
        }
        Err(error) => {
            attempts += 1;
            assert!(attempts < ATTEMPTS_MAX, "{case}: {error}");
            None
        }
    });
}

fn serves<T: Takes>(library: &str, start: impl Fn(SocketAddr, u8, &Access) -> T) {
    for resp in [2, 3] {
        let case = format!("{library}, RESP{resp}");
        let (place, mut seen) = (Place::new(), Seen::default());
        let (mut server, access) = Server::start_guarded(&place, resp == 3);
        let mut client = start(server.address(), resp, &access);
        let mut take = |client: &mut T, what: &str, count: usize| {
            let numbers = client.take(what).unwrap_or_else(|error| panic!("{case}: {what}: {error}"));
            assert_eq!(numbers.len(), count, "{case}: {what}");
            seen.add(numbers);
        };
        take(&mut client, "one", 1);
        take(&mut client, &format!("pipeline {PIPELINE}"), PIPELINE);
        take(&mut client, "transaction 1000", 1000);
        server.kill();
        server.restart(&place);
        again(&mut client, &mut seen, &case);
        std::thread::scope(|scope| {
            server.begin_drain();
            let replaced = scope.spawn(|| {
                server.end_drain();
                server.restart(&place);
            });
            // While it drains, while it is away, and when it is back.
            while !replaced.is_finished() {
                if let Ok(numbers) = client.take("one") {
                    seen.add(numbers);
                }
            }
        });
        again(&mut client, &mut seen, &case);
        let numbers = client.take(&format!("pipeline {PIPELINE}")).unwrap();
        seen.add(numbers);
    }
}

fn drives(library: &str) {
    serves(library, |to, resp, access| Driver::start(library, to, resp, access));
}

/// Whether libraries are used that need tools which `tests/run` fetches only for its long run.
fn is_full() -> bool {
    std::env::var("SEQUENT_REDIS_CLIENTS").is_ok_and(|value| value == "full")
}

#[test]
fn redis_rs() {
    serves("redis-rs", Rust::start);
}

#[test]
fn redis_py() {
    drives("redis-py");
}

#[test]
fn libraries_of_other_languages() {
    if is_full() {
        for library in ["node-redis", "ioredis", "go-redis", "jedis", "lettuce"] {
            println!("{library}");
            drives(library);
        }
    } else {
        println!("node-redis, ioredis, go-redis, Jedis and Lettuce: with SEQUENT_REDIS_CLIENTS=full");
    }
}
