//! Rings that grow and shrink, under engines of the layout before.

use std::time::Duration;

use sequent_admin::{Admin, Progress, ResizeReport, Resizing, Wish};
use sequent_engine::{Engine, NextRequest, OpenError, Options, Reason};
use sequent_testkit::Oracle;

use super::{Place, once};

/// A ring of 2^n, each shard in its file, and a sequence.
fn config(n: u8) -> String {
    let shard = |slot| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"s{slot}.db\"\n");
    let shards: String = (0..1_u16 << n).map(shard).collect();
    format!("cluster = \"x\"\n[ring]\nshard_bits = {n}\n{shards}[[sequence]]\nname = \"order\"\n")
}

async fn resizing(place: &Place, n: u8) -> Result<Resizing, OpenError> {
    let wish = Wish { shard_bits: Some(n), ..Wish::default() };
    Resizing::open(place.config(), None, wish, &once()).await
}

async fn resize(place: &Place, n: u8) -> Result<ResizeReport, OpenError> {
    let resizing = resizing(place, n).await?;
    let done = resizing.run(&|_: Progress| {}).await;
    resizing.close().await;
    done
}

#[tokio::test]
async fn a_ring_grows_under_an_engine_that_runs_and_is_then_refused() {
    let mut place = Place::with(&config(1));
    let (old, oracle) = (Engine::open(place.config(), Options::default()).await.unwrap(), Oracle::new());
    let ask = NextRequest::new("order").unwrap();
    for _ in 0..40 {
        oracle.add_blocks(&old.next(&ask).await.unwrap().numbers, "old").unwrap();
    }
    place.say(&config(2));
    let resizing = resizing(&place, 2).await.unwrap();
    let plan = resizing.plan().await.unwrap();
    assert_eq!((plan.state, &plan.added[..], plan.to_be.generation), ("new", &[2, 3][..], 2));
    assert!(!place.file("s2.db").exists(), "a look makes nothing");
    let [key] = &plan.keys[..] else { panic!("{plan:?}") };
    assert!(key.last >= 40 && key.next == Some(key.last + 1), "the very next: {key:?}");
    assert!(resizing.plan().await.is_ok(), "nothing was changed");
    oracle.add_blocks(&old.next(&ask).await.unwrap().numbers, "old").unwrap();

    let done = resizing.run(&|_| {}).await.unwrap();
    resizing.close().await;
    assert_eq!(done.state, "current");
    let new = Engine::open(place.config(), Options::default()).await.unwrap();
    let refused = async {
        loop {
            match old.next(&ask).await {
                Ok(issued) => oracle.add_blocks(&issued.numbers, "old").unwrap(),
                Err(error) if error.reason() == Reason::RecoveryRequired => return error,
                Err(_) => {}
            }
            oracle.add_blocks(&new.next(&ask).await.unwrap().numbers, "new").unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // Two seconds are the promise; the rest is for a busy machine.
    let error = tokio::time::timeout(Duration::from_secs(15), refused).await.unwrap();
    assert!(error.to_string().contains("layout changed"), "{error}");
    assert!(old.status().await.trouble.unwrap().contains("restart it with the new configuration"));
    let issued = new.next(&ask.clone().count(100)).await.unwrap();
    oracle.add_blocks(&issued.numbers, "new").unwrap();
    let lowest = issued.numbers.numbers().next().unwrap();
    assert!(lowest > 41, "above all that was given: {lowest}");
    let admin = Admin::of(&new);
    let (early, late) =
        (admin.explain(&ask.name, 3).await.unwrap(), admin.explain(&ask.name, lowest).await.unwrap());
    assert!(early.verdict.contains("before the ring was resized"), "{}", early.verdict);
    assert!(
        late.origin.spread().unwrap().epoch.is_some() && late.verdict.contains("epoch"),
        "{}",
        late.verdict
    );
    old.shutdown().await;
    new.shutdown().await;

    place.say(&config(1));
    assert!(place.refused().await.contains("the ledger's layout has 2"), "the configuration of before");
    place.say(&config(2));
    for number in place.take("order", 50).await {
        assert!(number > lowest);
        oracle.add(number, "later").unwrap();
    }
}

#[tokio::test]
async fn a_ring_shrinks_and_a_sequence_of_before_goes_on_close_above() {
    let place = Place::new();
    let first = place.take("order", 400).await;
    place.take("rests", 1).await;
    let done = resize(&place, 0).await.unwrap();
    assert_eq!(done.leaving, [1, 2, 3]);
    let next = place.take("order", 8).await;
    assert!(next[0] > *first.last().unwrap() && next[0] < 450, "{next:?}");
    assert_eq!(next.windows(2).filter(|two| two[1] == two[0] + 1).count(), 7, "one slot: {next:?}");
    resize(&place, 3).await.unwrap();
    let again = place.take("order", 20).await;
    assert!(again[0] > *next.last().unwrap() && *again.last().unwrap() < 520, "{again:?}");
    assert!(place.take("rests", 1).await[0] > 1);
    assert_eq!(place.take("fresh", 3).await, [1, 2, 3], "what begins in the next layout begins at 1");
}

/// The number that is encoded says which slot gave it, in each layout, and none comes twice: neither where the ring grows, nor
/// where it shrinks and the same place is a lower number.
#[tokio::test]
async fn encoded_numbers_show_their_slots_in_each_layout_and_never_repeat() {
    let place = Place::with("[[sequence]]\nname = \"sto\"\nnumbering = \"encoded\"\n");
    let oracle = Oracle::new();
    let name = "sto".parse().unwrap();
    let mut highest = 0;
    for (round, n) in [2_u8, 3, 0, 1, 0].into_iter().enumerate() {
        if round > 0 {
            let plan = resize(&place, n).await.unwrap();
            assert!(plan.keys.iter().all(|key| key.fault.is_none()), "{plan:?}");
        }
        let numbers = place.take("sto", 2).await;
        let engine = place.open().await.unwrap();
        for number in numbers {
            oracle.add(number, "sto").unwrap();
            assert!(number > highest, "{number} after {highest}, n = {n}");
            let explained = Admin::of(&engine).explain(&name, number).await.unwrap();
            let origin = explained.origin.spread().unwrap();
            assert_eq!(u64::from(origin.slot), number & ((1 << n) - 1), "{explained:?}");
            assert_eq!(origin.raw, number >> n);
            highest = highest.max(number);
        }
        let report = engine.cluster().show(&name).await.unwrap();
        highest = report.counters.iter().filter_map(|counter| counter.number_max).fold(highest, u64::max);
        engine.shutdown().await;
    }
}

#[tokio::test]
async fn what_no_longer_fits_is_told_and_refused() {
    let sequence = "end = 1000000\nplacement = \"spread\"\n";
    let place = Place::with(&format!("{}{sequence}", config(0)));
    place.take("order", 3).await;
    let wish = Wish { memory_bits: Some(13), ..Wish::default() };
    let resizing = Resizing::open(place.config(), None, wish, &once()).await.unwrap();
    let plan = resizing.plan().await.unwrap();
    let error = resizing.run(&|_| {}).await.unwrap_err();
    resizing.close().await;
    // 8192 numbers an id: what each server may skip is more than 1 % of a million.
    assert!(plan.keys[0].fault.as_ref().unwrap().contains("end is 1000000"), "{plan:?}");
    assert!(error.to_string().contains("end is 1000000") && error.exit_code() == 3, "{error}");
    assert_eq!(place.take("order", 1).await, [4], "nothing was changed");
}

#[tokio::test]
async fn stores_change_their_slots_and_one_leaves() {
    let mut place = Place::with(&config(1));
    let before = place.take("order", 31).await;
    let old = place.config();
    // The store of slot 1 becomes that of slot 0, a new one that of slot 1, and the first leaves.
    place.say(&config(1).replace("s1.db", "s2.db").replace("s0.db", "s1.db"));
    let resizing = Resizing::open(place.config(), None, Wish::default(), &once()).await.unwrap();
    let error = resizing.run(&|_| {}).await.unwrap_err();
    resizing.close().await;
    assert!(error.to_string().contains("slot 0: its store has counters that must be closed"), "{error}");
    let resizing = Resizing::open(place.config(), Some(&old), Wish::default(), &once()).await.unwrap();
    let plan = resizing.plan().await.unwrap();
    assert_eq!((&plan.moved[..], &plan.added[..], &plan.leaving[..]), (&[(1, 0)][..], &[1][..], &[0][..]));
    resizing.run(&|_| {}).await.unwrap();
    resizing.close().await;
    let again = Resizing::open(place.config(), Some(&old), Wish::default(), &once()).await.unwrap();
    let told = std::sync::Mutex::new(Vec::new());
    let done = again.run(&|step| told.lock().unwrap().push(step)).await.unwrap();
    again.close().await;
    assert_eq!(
        (done.state, &told.lock().unwrap()[..]),
        ("in_force", &[][..]),
        "it had ended, and nothing is done"
    );
    let after = place.take("order", 30).await;
    assert!(after[0] > *before.last().unwrap() && *after.last().unwrap() < 80, "{after:?}");
    assert!(after.windows(2).all(|two| two[1] == two[0] + 1), "both slots serve: {after:?}");
}

#[tokio::test]
async fn a_data_directory_that_is_gone_is_made_and_one_that_can_not_be_stops_it_before_the_fence() {
    let outside = tempfile::tempdir().unwrap();
    let config = |n: u8| {
        let path = |name: &str| outside.path().join(name).display().to_string();
        let text = config(n).replace("path = \"", &format!("path = \"{}/", outside.path().display()));
        format!("{text}[ledger]\nstore = \"sqlite\"\npath = \"{}\"\n", path("ledger.db"))
    };
    let mut place = Place::with(&config(0));
    let before = place.take("order", 5).await;
    std::fs::remove_dir_all(place.data()).unwrap();
    std::fs::write(place.data(), "no directory").unwrap();
    place.say(&config(1));
    let error = resize(&place, 1).await.unwrap_err();
    assert!(error.to_string().contains("can't be used"), "{error}");
    std::fs::remove_file(place.data()).unwrap();
    let resizing = resizing(&place, 1).await.unwrap();
    assert_eq!(resizing.plan().await.unwrap().state, "new", "nothing is different");
    resizing.close().await;
    assert_eq!(resize(&place, 1).await.unwrap().state, "current", "in one run");
    assert!(place.file("home").exists());
    assert!(place.take("order", 9).await[0] > before[4]);
}

#[tokio::test]
async fn a_slot_without_a_store_gives_nothing_in_the_plan() {
    let sequence = "name = \"order\"\nend = 8192\nplacement = \"spread\"\n";
    let of = |n: u8| config(n).replace("name = \"order\"\n", sequence);
    let mut place = Place::with(&of(0));
    place.take("order", 4).await;
    // Of four slots only one has a store: the very next numbers are those of slots that are empty.
    let only = "[[shard]]\nslot = 2\nstore = \"sqlite\"\npath = \"s0.db\"\n";
    place.say(&format!("cluster = \"x\"\n[ring]\nshard_bits = 2\n{only}[[sequence]]\n{sequence}"));
    let resizing = resizing(&place, 2).await.unwrap();
    let plan = resizing.plan().await.unwrap();
    let [key] = &plan.keys[..] else { panic!("{plan:?}") };
    let next = key.next.unwrap();
    assert_eq!(next % 4, 3, "a number of slot 2: {key:?}");
    resizing.run(&|_| {}).await.unwrap();
    resizing.close().await;
    assert_eq!(place.take("order", 2).await, [next, next + 4]);
}

#[tokio::test]
async fn servers_that_have_become_more_are_no_fault_of_the_next_layout() {
    let config = |servers: u64| {
        format!(
            "auto_create = [\"*\"]\n[reservoir]\nservers = {servers}\n[[sequence]]\nname = \"order\"\nend = 1000000\n\
             placement = \"spread\"\n"
        )
    };
    let mut place = Place::with(&config(4));
    assert_eq!(place.take("order", 2).await, [1, 2]);
    place.say(&config(10));
    let resizing = resizing(&place, 3).await.unwrap();
    let plan = resizing.plan().await.unwrap();
    resizing.close().await;
    assert_eq!(plan.keys[0].fault, None);
}
