//! Everybody at once: the SDK, curl and h2load on two servers of one cluster, one of which is killed again and again, or
//! drained; millions of numbers, a bit each.
//!
//! Not suspended: a process that is stopped in the midst of its writes holds the locks of SQLite's files, perhaps of all of
//! them, and others on the same directory wait for it as for stores that hang.

mod bits;
mod load;

use std::sync::Arc;

use self::load::{H2load, Seen, curl, sdk};
use crate::{
    place::{Place, eventually},
    server::Server,
};

/// How often a server is killed.
const KILLS: usize = 10;

/// How many numbers are checked: 10^6, ten times as many in the long command.
fn numbers() -> u64 {
    let given = std::env::var("SEQUENT_NUMBERS").ok();
    given.map_or(1_000_000, |count| count.parse().expect("SEQUENT_NUMBERS is a number"))
}

/// Load on two servers, to the second of which `disturb` does what it likes.
fn under_load(disturb: impl FnOnce(&Place, &mut Server, &Seen)) {
    let place = Place::new();
    let mut servers = [Server::start(&place), Server::start(&place)];
    let seen = Arc::new(Seen::default());
    let callers = [sdk(&seen, &servers), curl(&seen, &servers[0], true), curl(&seen, &servers[1], false)];
    let mut floods = [
        H2load::start(&servers[0], &place.path("first.bin")),
        H2load::start(&servers[1], &place.path("second.bin")),
    ];
    eventually("numbers flow", || (seen.bits.count() > 10_000).then_some(()));
    disturb(&place, &mut servers[1], &seen);
    while seen.bits.count() < numbers() && seen.failures().is_empty() {
        let before = seen.bits.count();
        eventually("more numbers", || (seen.bits.count() > before + 10_000).then_some(()));
    }
    seen.stop();
    for caller in callers {
        caller.join().unwrap();
    }
    println!("{} numbers, none twice", seen.bits.count());
    assert_eq!(seen.failures(), [""; 0]);
    assert!(floods[0].goes_on(), "h2load ended early: it was no load");
    for server in &mut servers {
        assert_eq!(server.drain(), Some(0));
    }
}

#[test]
fn a_server_killed_again_and_again_repeats_nothing_and_fails_no_request_of_an_sdk() {
    under_load(|place, second, seen| {
        for _ in 0..KILLS {
            let before = seen.bits.count();
            eventually("numbers flow", || (seen.bits.count() > before + 20_000).then_some(()));
            second.kill();
            second.restart(place);
        }
    });
}

#[test]
fn a_server_drained_under_load_fails_no_request_of_an_sdk() {
    under_load(|place, second, _| {
        for _ in 0..3 {
            assert_eq!(second.drain(), Some(0));
            second.restart(place);
        }
    });
}
