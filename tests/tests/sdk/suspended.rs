//! A process that holds a lease, and is suspended for longer than the lease may be handed out.

use std::{process::Command, thread, time::Duration};

use sequent_client::blocking::Client;

use crate::{
    place::{Place, Running, eventually},
    server::dev,
};

/// How long the lease is good, and how long the process stands still.
const AGE_MS: u64 = 6000;
const SUSPENDED: Duration = Duration::from_millis(AGE_MS + 1000);

/// A tick, and three more for two busy processors to get round to it.
const OLD_MS: u64 = 400;

/// So many numbers are held when it is suspended: one leaves each millisecond, and a little more, if nothing stops them.
const HELD: u64 = 2 * OLD_MS;

/// Numbers with the milliseconds at which they left, by the process's own clock.
fn lines(process: &Running) -> Vec<(u64, u64)> {
    let out = process.out();
    let whole = out.rfind('\n').map_or("", |end| &out[..end]);
    let parse = |line: &str| {
        let (number, at) = line.split_once(' ').unwrap();
        (number.parse().unwrap(), at.parse().unwrap())
    };
    whole.lines().map(parse).collect()
}

#[test]
fn after_it_goes_on_no_more_than_a_tick_of_old_numbers_leaves() {
    let place = Place::new();
    let (_server, address) = dev(&place);
    let mut command = Command::new(env!("CARGO_BIN_EXE_holder"));
    command.args([&address, "order", &AGE_MS.to_string(), "1000"]);
    let holder = Running::start(command);
    // The server deals in order: all that the holder has leased, and not given yet, lies below a fresh number.
    let orders = Client::connect(&address).unwrap().sequence("order").unwrap();
    let fresh = || u64::try_from(orders.next_fresh().unwrap().get()).unwrap();
    holder.until("enough is held", |holder| {
        let (given, _) = *lines(holder).last()?;
        (fresh() > given + HELD).then_some(())
    });

    holder.signal("STOP");
    thread::sleep(SUSPENDED);
    let before = lines(&holder).len();
    let line = fresh();
    holder.signal("CONT");
    let all = eventually("numbers flow again", || {
        let all = lines(&holder);
        (all.len() > before + 1000 && all.last().unwrap().0 > line).then_some(all)
    });

    let resumed = all[before..].first().unwrap().1;
    assert!(resumed > all[before - 1].1 + AGE_MS, "it stood still: {:?} {resumed}", all[before - 1]);
    let old: Vec<_> = all[before..].iter().filter(|(number, _)| *number < line).collect();
    let late: Vec<_> = old.iter().filter(|(_, at)| *at > resumed + OLD_MS).collect();
    println!("{} old numbers left after it went on, none later than {OLD_MS} ms", old.len());
    assert!(late.is_empty(), "{} old numbers left later: {:?}", late.len(), late.first());
}
