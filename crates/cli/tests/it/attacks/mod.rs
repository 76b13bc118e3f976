//! Every attack that was found, and the test that runs it. Those that load a server are run here, each against the program
//! beside a legitimate prober.
//!
//! With `SEQUENT_BIN` another build of the program is attacked, and with `SEQUENT_ATTACKS=full` for longer, on SQLite, and
//! within bounds on time: for a release build on a machine that has nothing else to do.

mod driven;
mod flood;
mod prober;
mod scene;
mod table;

use std::{
    collections::BTreeSet,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::{Duration, Instant},
};

use prober::{Probed, Prober};
use scene::Scene;
use table::{Driven, TABLE};

/// How long any other caller may wait meanwhile. An API that is held up makes the others wait for as long as its limits are,
/// 5 seconds and more.
const WAIT_MAX: Duration = Duration::from_secs(3);

/// Whether there is a quiet machine, and time.
fn is_full() -> bool {
    std::env::var("SEQUENT_ATTACKS").is_ok_and(|how| how == "full")
}

#[test]
fn no_attack_is_without_a_test() {
    let of = |letter: char, count: usize| (1..=count).map(move |number| format!("{letter}{number}"));
    let all = of('C', 1).chain(of('H', 9)).chain(of('M', 8)).chain(of('L', 8)).chain(of('R', 2));
    let rows: BTreeSet<String> = TABLE.iter().map(|attack| attack.id.to_owned()).collect();
    assert_eq!(rows, all.collect(), "a row for each");
    assert_eq!(rows.len(), TABLE.len(), "one row for each");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    for attack in TABLE {
        let id = attack.id;
        assert!(attack.driven.is_some() || !attack.tests.is_empty() || attack.elsewhere.is_some(), "{id}");
        for (file, test) in attack.tests {
            let text =
                fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{id}: {file}: {error}"));
            assert!(text.contains(&format!("fn {test}(")), "{id}: {file} has no {test}");
        }
        let elsewhere = attack.elsewhere.map(|file| root.join(file));
        assert!(elsewhere.is_none_or(|file| file.exists()), "{id}");
    }
}

#[test]
fn each_attack_beside_a_legitimate_prober() {
    let mut failed = Vec::new();
    for (id, driven) in TABLE.iter().filter_map(|attack| Some((attack.id, attack.driven.as_ref()?))) {
        if catch_unwind(AssertUnwindSafe(|| run(id, driven))).is_err() {
            failed.push(id);
        }
    }
    assert!(failed.is_empty(), "{failed:?}: see above");
}

fn run(id: &str, driven: &Driven) {
    let scene = Scene::new(driven.settings, is_full());
    let before = scene.server.memory("VmRSS");
    let prober = Prober::of(&scene);
    let lasts = Duration::from_secs(if is_full() { 10 } else { 2 });
    let attacked = catch_unwind(AssertUnwindSafe(|| (driven.attack)(&scene, Instant::now() + lasts)));
    let answered = prober.end();
    let grown = scene.server.memory("VmHWM").saturating_sub(before) >> 20;
    println!("{id}: {answered}; memory +{grown} MiB; {attacked:?}");
    let told = attacked.unwrap();
    let Probed { failed, longest, p99, .. } = &answered;
    assert!(failed.is_empty(), "{id}: of the prober's: {failed:?}; {told}");
    assert!(*longest < WAIT_MAX, "{id}: the prober waited for {longest:?}");
    assert!(grown < driven.memory_mib, "{id}: {grown} MiB more");
    let most = Duration::from_millis(driven.p99_ms);
    assert!(!is_full() || *p99 < most, "{id}: {p99:?} of 99 in a hundred, {most:?} at most");
    assert_eq!(scene.end(), Some(0), "{id}");
}
