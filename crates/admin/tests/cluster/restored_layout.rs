//! A ledger that was put back from a copy of before a resize.

use std::collections::BTreeSet;

use sequent_admin::{Admin, NamedLoss, Progress, Resizing, Wish};
use sequent_core::ledger::Loss;
use sequent_engine::Options;

use super::{Place, once};

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

    /// What is said of a loss that is named.
    async fn recovered(&self, loss: Loss) -> Result<Option<String>, String> {
        let (config, without) = (self.place.config(), BTreeSet::new());
        let done = Admin::recover_amid_resize(&config, &once(), (loss, true), &without).await;
        done.map_err(|error| error.to_string())
    }

    /// The steps that the refusal names, for want of a newer copy: nothing comes twice.
    async fn goes_on_with_an_empty_ledger(self) {
        let Self { place, mut given } = self;
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
        assert_eq!(given.len(), total, "no number twice");
    }
}

fn names_the_way_on(refused: &str) {
    for words in [
        "from before a resize (generation 1)",
        "put an empty ledger in its place",
        "`sequent recover --bump N`",
    ] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
}

#[tokio::test]
async fn a_ledger_from_before_a_resize_is_refused_with_the_steps_that_lead_on() {
    for resizes in [&[2][..], &[2, 3]] {
        let behind = Behind::after(resizes).await;
        let refused = behind.place.refused().await;
        assert!(refused.contains("from a copy of before its resize"), "{refused}");
        for loss in [Loss::Moved, Loss::Bump(1000)] {
            names_the_way_on(&behind.recovered(loss).await.unwrap_err());
        }
        let refused = Admin::check_layout(&behind.place.config(), &once()).await.unwrap_err().to_string();
        names_the_way_on(&refused);
        behind.goes_on_with_an_empty_ledger().await;
    }
}

/// As stores that forget are once they were restarted.
#[tokio::test]
async fn where_no_store_tells_of_a_resize_the_mark_in_the_data_directory_does() {
    let behind = Behind::after(&[2]).await;
    for slot in 0..4 {
        std::fs::remove_file(behind.place.file(&format!("s{slot}.db"))).unwrap();
    }
    names_the_way_on(&behind.recovered(Loss::Bump(200)).await.unwrap_err());
}
