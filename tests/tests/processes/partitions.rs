//! Processes that meet at partitions that are new to all of them: each counter is begun once, and no number is given twice. And
//! counters of which a hand has deleted all that tells how far they were.

use std::{collections::BTreeSet, fs, process::Command};

use crate::place::{Place, Running, eventually};

/// Two slots, and a counter for each shop.
const CONFIG: &str = "[ledger]\nstore = \"sqlite\"\npath = \"ledger.db\"\n\
    [[shard]]\nslot = 0\nstore = \"sqlite\"\npath = \"shard-0.db\"\n\
    [[shard]]\nslot = 1\nstore = \"sqlite\"\npath = \"shard-1.db\"\n\
    [[sequence]]\nname = \"repair\"\ntemplate = \"@{ctx,shop,len=6}-@{seq,w=5}\"\n\
    [[sequence]]\nname = \"order\"\n";

const RING: &str = "[ring]\nshard_bits = 1\n";

/// A busy machine is no slow store: whoever takes longer than the limits to begin a counter is followed by another.
const PATIENT: &str = "slow_after_ms = 4000\nattempt_timeout_ms = 8000\n";

/// Processes, partitions, and the callers of each in each process.
const PROCESSES: usize = 3;
const PARTITIONS: usize = 24;
const CALLERS: usize = 4;

fn place(limits: &str) -> Place {
    let place = Place::new();
    fs::write(place.path("sequent.toml"), [RING, limits, CONFIG].concat()).unwrap();
    place
}

/// Runs statements in a database; what it answers, a line each.
fn sql(place: &Place, database: &str, statement: &str) -> Vec<String> {
    let script = "import sqlite3, sys\n\
                  db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)\n\
                  for row in db.execute(sys.argv[2]): print('|'.join(map(str, row)))\n";
    let ran =
        Command::new("python3").args(["-c", script]).arg(place.data().join(database)).arg(statement).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{statement}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn crowd(place: &Place) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crowd"));
    command.current_dir(place.path(".")).args(["sequent-data", "sequent.toml", "repair"]);
    command.args([PARTITIONS.to_string(), CALLERS.to_string()]);
    Running::start(command)
}

#[test]
fn processes_that_meet_at_new_partitions_begin_each_counter_once() {
    let place = place(PATIENT);
    place.numbers(&["next", "order", "--config", "sequent.toml"]);
    let crowds: Vec<Running> = (0..PROCESSES).map(|_| crowd(&place)).collect();
    let all_ready = || crowds.iter().all(|crowd| crowd.out().starts_with("ready")).then_some(());
    eventually("the crowds are ready", all_ready);
    fs::write(place.path("go"), "").unwrap();
    let mut texts = BTreeSet::new();
    for crowd in crowds {
        let ran = crowd.wait().succeeded();
        assert_eq!(ran.err, "");
        for text in ran.out.lines().skip(1) {
            assert!(texts.insert(text.to_owned()), "{text} was given twice");
        }
    }
    assert_eq!(texts.len(), PROCESSES * PARTITIONS * CALLERS);
    let counters = sql(&place, "ledger.db", "SELECT slot, k FROM counters WHERE k LIKE 'repair%'");
    assert!((PARTITIONS..=2 * PARTITIONS).contains(&counters.len()), "{counters:?}");
    let ended = sql(&place, "ledger.db", "SELECT slot, k, base, ceiling FROM history WHERE k LIKE 'repair%'");
    assert_eq!(ended, Vec::<String>::new(), "a counter was begun more than once");
}

#[test]
fn a_slot_that_lost_row_and_cell_goes_on_beside_the_others() {
    let lowered = "UPDATE counters SET base = 0, seen = 3, ceiling = 3 WHERE slot = 0 AND k LIKE 'order%' RETURNING slot";
    for row in ["DELETE FROM counters WHERE slot = 0 AND k LIKE 'order%' RETURNING slot", lowered] {
        let place = place("");
        let mut given = BTreeSet::new();
        let mut next = |count: &str| {
            let numbers = place.numbers(&["next", "order", "--config", "sequent.toml", "-n", count]);
            for number in numbers {
                assert!(given.insert(number), "{number} was given twice, after {row}");
            }
        };
        for _ in 0..3 {
            next("3000");
        }
        assert_eq!(sql(&place, "ledger.db", row), ["0"]);
        let cell = "DELETE FROM cells WHERE k LIKE 'order%' RETURNING 0";
        assert_eq!(sql(&place, "shard-0.db", cell), ["0"]);
        for _ in 0..3 {
            next("3000");
        }
    }
}
