//! A shard's file made unusable while a bench and a taker run: no request fails, the cause is shown, and it comes back.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{
    place::{Place, eventually},
    root::{self, ReadOnly, SmallDisk},
    seen::Seen,
};

/// The slot that suffers in each test.
const SLOT: u16 = 1;

/// How many reports of two processes must have come for each to have reported twice: they take turns.
const REPORTS: usize = 6;

/// What `sequent shards` says of a slot that it could open.
const OPEN: &str = "open";

/// Under a running bench and taker: breaks the slot, waits until both say so, mends it, waits until both have it back.
fn survives<B>(
    place: &Place,
    extra: &[&str],
    break_it: impl FnOnce() -> B,
    mend: impl FnOnce(B),
    causes: &[&str],
) {
    let mut seen = Seen::default();
    seen.add("first", place.numbers(&[&["next", "order", "-n", "8"], extra].concat()));
    let bench = place.start(
        &[&["bench", "order", "--rate", "200", "--tasks", "4", "--duration", "120s", "--json"], extra]
            .concat(),
    );
    let taker = place.start_taker_with(extra, "order", 4, 10);
    taker.until("the taker takes", |taker| (taker.numbers().len() > 20).then_some(()));

    let broken = break_it();
    let evicted =
        bench.until("the bench says that the slot is evicted", |bench| told(&bench.err(), "slot evicted"));
    assert!(evicted.contains("kind=") && evicted.contains("slot evicted: "), "{evicted}");
    taker.until("the taker evicts the slot", |taker| taker.err().contains("event: Evicted").then_some(()));
    let cause = eventually("`sequent shards` shows the cause", || cause_shown(place, extra));
    assert!(causes.iter().any(|word| cause.contains(word)), "{cause:?} names none of {causes:?}");

    // Until both have reported, several times over, what they had taken before the fault.
    let mut reports = BTreeSet::new();
    let behind = taker.until("the others go on", |_| {
        let (slot, others) = counted(place, extra);
        reports.insert(others);
        (reports.len() > REPORTS && others > slot + 1000).then_some(slot)
    });
    // What this process has given is what its ring knows of: the bench may be further on by what it has not reported.
    let front = taker.numbers().into_iter().map(raw_of).max().unwrap();
    assert!(front > behind + 100, "the test shows nothing: {front} is hardly above {behind}");
    let given = taker.numbers().len();
    mend(broken);
    taker.until("the taker has the slot back", |taker| taker.err().contains("event: Rescued").then_some(()));
    bench.until("the bench has it back", |bench| told(&bench.err(), "slot rescued"));
    let fresh = |number: &u64| slot_of(*number) == SLOT && raw_of(*number) > behind;
    taker.until("the slot gives", |taker| taker.numbers()[given..].iter().any(fresh).then_some(()));
    eventually("`sequent shards` can open it", || state(place, extra).0.eq(OPEN).then_some(()));

    let killed = taker.kill();
    assert!(!killed.err.contains("error: "), "a request failed: {}", killed.err);
    let late: Vec<u64> = killed.numbers()[given..].iter().copied().filter(fresh).collect();
    assert!(
        late.iter().all(|number| raw_of(*number) > front),
        "raw ids were at {front} when the slot came back, and its own at {behind}: {late:?}"
    );
    seen.add("taker", killed.numbers());

    let summary = bench.interrupt().succeeded().json();
    assert_eq!((&summary["errors"], &summary["duplicates"]), (&0.into(), &0.into()), "{summary}");
    seen.add("last", place.numbers(&[&["next", "order", "-n", "40"], extra].concat()));
}

/// What a log tells of the slot, in the first line that says so.
fn told(log: &str, what: &str) -> Option<String> {
    let slot = format!(" slot={SLOT} ");
    log.lines().find(|line| line.contains(what) && line.contains(&slot)).map(ToOwned::to_owned)
}

/// The slot in a number of the embedded default: n = 2, m = 0, numbers from 1.
fn slot_of(number: u64) -> u16 {
    u16::try_from((number - 1 + 4) & 3).unwrap()
}

/// The raw id in it.
fn raw_of(number: u64) -> u64 {
    (number - 1 + 4) >> 2
}

/// The highest raw ids that the ledger knows to be taken: the slot's, and the others' highest.
fn counted(place: &Place, extra: &[&str]) -> (u64, u64) {
    let order = place.run(&[&["show", "order", "--json"], extra].concat()).succeeded().json();
    let seen = |ours: bool| {
        let counters = order["counters"].as_array().unwrap().iter();
        let chosen = counters.filter(|counter| (counter["slot"] == SLOT) == ours);
        chosen.map(|counter| counter["seen"].as_str().unwrap().parse::<u64>().unwrap()).max().unwrap_or(0)
    };
    (seen(true), seen(false))
}

/// State and cause of the slot, as `sequent shards` shows them.
fn state(place: &Place, extra: &[&str]) -> (String, Value) {
    let shards = place.run(&[&["shards", "--json"], extra].concat()).json();
    let slot = shards["slots"].as_array().unwrap().iter().find(|slot| slot["slot"] == SLOT).unwrap().clone();
    (slot["state"].as_str().unwrap().to_owned(), slot["cause"].clone())
}

fn cause_shown(place: &Place, extra: &[&str]) -> Option<String> {
    let (state, cause) = state(place, extra);
    (state != OPEN && !cause.is_null()).then(|| cause.to_string())
}

/// Another process that holds the file's write lock until its input ends.
fn lock(place: &Place) -> Child {
    let hold = "import sqlite3, sys\n\
                db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)\n\
                db.execute('BEGIN EXCLUSIVE')\n\
                print('held', flush=True)\n\
                sys.stdin.read()\n";
    let mut python = Command::new("python3");
    python.args(["-c", hold]).arg(&place.shard(SLOT)[0]);
    let mut holder = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 is there");
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    holder
}

#[test]
fn locked_by_another_process() {
    let place = Place::new();
    let unlock = |mut holder: Child| {
        drop(holder.stdin.take());
        assert!(holder.wait().unwrap().success());
    };
    survives(&place, &[], || lock(&place), unlock, &["locked", "busy"]);
}

#[test]
fn read_only() {
    if !root::can("chattr +i") {
        return;
    }
    let place = Place::new();
    let files = || place.shard(SLOT).into_iter().filter(|file| file.exists()).collect();
    survives(
        &place,
        &[],
        || ReadOnly::new(files()),
        drop,
        &["readonly", "read-only", "unable to open", "disk I/O", "not permitted"],
    );
}

#[test]
fn replaced_by_a_directory() {
    let place = Place::new();
    let aside = place.path("aside");
    fs::create_dir(&aside).unwrap();
    let moves: Vec<_> =
        place.shard(SLOT).into_iter().map(|file| (aside.join(file.file_name().unwrap()), file)).collect();
    let replace = || {
        for (aside, file) in moves.iter().filter(|(_, file)| file.exists()) {
            fs::rename(file, aside).unwrap();
        }
        fs::create_dir(&moves[0].1).unwrap();
    };
    let put_back = |()| {
        fs::remove_dir(&moves[0].1).unwrap();
        for (aside, file) in moves.iter().rev().filter(|(aside, _)| aside.exists()) {
            fs::rename(aside, file).unwrap();
        }
    };
    survives(&place, &[], replace, put_back, &["directory", "regular file"]);
}

#[test]
fn its_disk_full() {
    if !root::can("mounting a small disk") {
        return;
    }
    let place = Place::new();
    let disk = place.path("small");
    let _mounted = SmallDisk::mount(&disk, 8 * 1024);
    let shards = (0..4).map(|slot| {
        let folder = if slot == SLOT { disk.clone() } else { place.data() };
        let path = folder.join(format!("shard-{slot}.db"));
        format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = {:?}\n", path.display().to_string())
    });
    let shards = shards.collect::<Vec<_>>().concat();
    let config = place.path("sequent.toml");
    let ledger = "[ledger]\nstore = \"sqlite\"\npath = \"ledger.db\"\n";
    fs::write(&config, format!("auto_create = [\"*\"]\n[ring]\nshard_bits = 2\n{shards}{ledger}")).unwrap();
    fs::create_dir_all(place.data()).unwrap();

    let filler = disk.join("filler");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // Also where the test fails: the scope waits for its thread.
        let _stop = Stop(&done);
        // Again and again: a connection that fails takes its log with it, which leaves some room.
        let fill = || {
            scope.spawn(|| {
                let mut file = fs::File::create(&filler).unwrap();
                while !done.load(Ordering::Relaxed) {
                    while file.write_all(&[0; 512]).is_ok() {}
                    thread::sleep(Duration::from_millis(2));
                }
            })
        };
        let make_room = |filling: thread::ScopedJoinHandle<'_, ()>| {
            done.store(true, Ordering::Relaxed);
            filling.join().unwrap();
            fs::remove_file(&filler).unwrap();
        };
        let extra = ["--config", config.to_str().unwrap()];
        survives(&place, &extra, fill, make_room, &["full", "disk I/O", "no space"]);
    });
}

/// Set when this is dropped.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
