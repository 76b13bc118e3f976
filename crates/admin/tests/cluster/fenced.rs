//! What a doctor says of a ring that is being changed, and was left so.

use sequent_admin::{
    Progress, Resizing, Wish,
    doctor::{self, Checkup, Kind, Site},
};
use sequent_engine::Options;
use tokio::sync::Notify;

use super::{Place, once};

/// A ring of 2^n, each shard in its file, and a sequence.
fn config(n: u8) -> String {
    let shard = |slot| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"s{slot}.db\"\n");
    let shards: String = (0..1_u16 << n).map(shard).collect();
    format!("cluster = \"x\"\n[ring]\nshard_bits = {n}\n{shards}[[sequence]]\nname = \"order\"\n")
}

async fn resizing(place: &Place, n: u8) -> Resizing {
    let wish = Wish { shard_bits: Some(n), ..Wish::default() };
    Resizing::open(place.config(), None, wish, &once()).await.unwrap()
}

/// A resize that ends with its process once the ledger's page is fenced.
async fn cut_off(place: &Place, n: u8) {
    let (resizing, fenced) = (resizing(place, n).await, Notify::new());
    let tell = |step: Progress| {
        if step == Progress::Fenced {
            fenced.notify_one();
        }
    };
    tokio::select! {
        biased;
        () = fenced.notified() => {}
        done = resizing.run(&tell) => panic!("it was done before it was cut off: {done:?}"),
    }
}

#[tokio::test]
async fn a_doctor_says_of_a_fenced_ring_that_it_is_to_be_finished() {
    let mut place = Place::with(&config(1));
    place.take("order", 9).await;
    place.say(&config(2));
    cut_off(&place, 2).await;
    let look = async |place: &Place| doctor::examine(&place.config(), &Options::default()).await.unwrap();
    let checkup = look(&place).await;
    assert_eq!((checkup.errors, &checkup.unreached[..]), (0, &[][..]), "{checkup:#?}");
    let ledger: Vec<_> = checkup.findings.iter().filter(|found| found.place == Site::Ledger).collect();
    let [change] = &ledger[..] else { panic!("{checkup:#?}") };
    let expected = "a resize from 2 slots (shard_bits 1, generation 1) to 4 slots (shard_bits 2, generation 2) has begun and is not finished";
    assert_eq!((change.kind, change.found.as_str()), (Kind::ResizeUnfinished, expected));
    assert!(change.advice.contains("`sequent resize --go`"), "{change:?}");
    assert!(
        !checkup.findings.iter().any(|found| found.kind.row().id.starts_with("counter_")),
        "{checkup:#?}"
    );
    let fine = |checkup: &Checkup, slot: u16, what: &str| {
        let place = checkup.places.iter().find(|place| place.place == Site::Slot(slot)).unwrap();
        assert!(place.fine.iter().any(|fine| fine.contains(what)), "{place:#?}");
    };
    fine(&checkup, 1, "the stamp of slot 1 in the previous layout until the resize is finished");

    let resizing = resizing(&place, 2).await;
    resizing.run(&|_| {}).await.unwrap();
    resizing.close().await;
    let checkup = look(&place).await;
    assert_eq!((checkup.errors, checkup.warnings), (0, 0), "{checkup:#?}");
    fine(&checkup, 1, "its stamp is right");
    assert!(place.take("order", 1).await[0] > 9);
}
