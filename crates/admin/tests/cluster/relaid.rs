//! A ledger that was put back from a copy of before a resize.

use sequent_admin::{Admin, NamedLoss, Progress, Resizing, Wish};
use sequent_core::ledger::Loss;
use sequent_engine::Options;

use super::{Place, listening, once};

/// A ring of 2^n, each shard in its file, and a sequence.
fn config(n: u8) -> String {
    let shard = |slot| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"s{slot}.db\"\n");
    let shards: String = (0..1_u16 << n).map(shard).collect();
    format!("cluster = \"x\"\n[ring]\nshard_bits = {n}\n{shards}[[sequence]]\nname = \"order\"\n")
}

async fn resize(place: &Place) {
    let resizing = Resizing::open(place.config(), None, Wish::default(), &once()).await.unwrap();
    resizing.run(&|_: Progress| {}).await.unwrap();
    resizing.close().await;
}

/// A ledger put back from a copy that knows nothing of the resizes that its stores have gone through.
struct Behind {
    place: Place,
    given: Vec<u64>,
}

impl Behind {
    async fn after(resizes: &[u8]) -> Self {
        let mut place = Place::with(&config(1));
        let mut given = place.take("order", 60).await;
        std::fs::copy(place.file("ledger.db"), place.file("older")).unwrap();
        given.extend(place.take("order", 60).await);
        for n in resizes {
            place.say(&config(*n));
            resize(&place).await;
            given.extend(place.take("order", 60).await);
        }
        std::fs::rename(place.file("older"), place.file("ledger.db")).unwrap();
        Self { place, given }
    }

    async fn catch_up(&self, loss: Loss, without: &[u16]) -> Result<Option<String>, String> {
        let without = without.iter().copied().collect();
        let (options, _) = listening();
        let done = Admin::catch_up(&self.place.config(), &options, (loss, true), &without).await;
        done.map_err(|error| error.to_string())
    }
}

#[tokio::test]
async fn a_ledger_from_before_a_resize_takes_up_the_layout_of_its_stores() {
    let mut behind = Behind::after(&[2]).await;
    let refused = behind.place.refused().await;
    assert!(
        refused.contains("from a copy of before its resize") && refused.contains("--bump N"),
        "{refused}"
    );
    let refused = behind.catch_up(Loss::Moved, &[]).await.unwrap_err();
    assert!(refused.contains("generation 2") && refused.contains("not the newest state"), "{refused}");
    // The configuration of before: its stores say that it is not theirs any more.
    behind.place.say(&config(1));
    let refused = behind.place.refused_after_a_look().await;
    assert!(refused.contains("the ledger is a copy from before"), "{refused}");
    let refused = behind.catch_up(Loss::Bump(200), &[]).await.unwrap_err();
    assert!(refused.contains("give the configuration of that layout"), "{refused}");
    behind.place.say(&config(2));
    // One of the stores is lost with all that it gave: the named loss covers it, once a person has said so.
    std::fs::remove_file(behind.place.file("s2.db")).unwrap();
    let refused = behind.catch_up(Loss::Bump(200), &[]).await.unwrap_err();
    assert!(refused.contains("s2.db is not there") && refused.contains("`--without 2`"), "{refused}");
    let done = behind.catch_up(Loss::Bump(200), &[2]).await.unwrap().unwrap();
    assert!(done.contains("was of generation 1") && done.contains("(generation 2)"), "{done}");
    assert_eq!(behind.catch_up(Loss::Bump(200), &[2]).await, Ok(None), "it is of that layout now");
    for _ in 0..2 {
        let numbers = behind.place.take("order", 200).await;
        behind.given.extend(numbers);
    }
    let total = behind.given.len();
    behind.given.sort_unstable();
    behind.given.dedup();
    assert_eq!((behind.given.len(), total), (580, 580), "no number twice");
}

/// As stores that forget are once they were restarted.
#[tokio::test]
async fn where_no_store_tells_of_a_resize_the_mark_in_the_data_directory_does() {
    let mut behind = Behind::after(&[2]).await;
    for slot in 0..4 {
        std::fs::remove_file(behind.place.file(&format!("s{slot}.db"))).unwrap();
    }
    behind.place.say(&config(1));
    let refused = behind.catch_up(Loss::Bump(200), &[]).await.unwrap_err();
    assert!(refused.contains("give the configuration of that layout"), "{refused}");
    behind.place.say(&config(2));
    let refused = Admin::check_caught_up(&behind.place.config(), &once()).await.unwrap_err().to_string();
    assert!(
        refused.contains("can't be worked out across layouts") && refused.contains("--bump N"),
        "{refused}"
    );
    let refused = behind.catch_up(Loss::Bump(200), &[]).await.unwrap_err();
    assert!(refused.contains("--without 0 --without 1 --without 2 --without 3"), "{refused}");
    let done = behind.catch_up(Loss::Bump(200), &[0, 1, 2, 3]).await.unwrap().unwrap();
    assert!(done.contains("was of generation 1") && done.contains("(generation 2)"), "{done}");
    Admin::check_caught_up(&behind.place.config(), &once()).await.unwrap();
    let numbers = behind.place.take("order", 400).await;
    behind.given.extend(numbers);
    let total = behind.given.len();
    behind.given.sort_unstable();
    behind.given.dedup();
    assert_eq!((behind.given.len(), total), (580, 580), "no number twice");
}

#[tokio::test]
async fn a_ledger_from_before_two_resizes_is_refused_with_the_steps_that_lead_on() {
    let behind = Behind::after(&[2, 3]).await;
    let refused = behind.catch_up(Loss::Bump(1000), &[]).await.unwrap_err();
    for words in ["more than one resize", "put an empty ledger in its place", "`sequent recover --bump N`"] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
    let Behind { place, mut given } = behind;
    // The steps that it names.
    std::fs::remove_file(place.file("ledger.db")).unwrap();
    // Cells of the layouts before are read, and warned of.
    let named = NamedLoss { is_confirmed: true, ..NamedLoss::of(1000) };
    let admin = Admin::open_after_loss(&place.config(), &Options::default(), &named).await.unwrap();
    admin.recover(Loss::Bump(1000)).await.unwrap();
    admin.close().await;
    given.extend(place.take("order", 200).await);
    let total = given.len();
    given.sort_unstable();
    given.dedup();
    assert_eq!((given.len(), total), (440, 440), "no number twice");
}
