//! Files that vanish, go back, or are copied: no number twice, or a refusal.

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use sequent_admin::{Admin, CopyMade, NamedLoss, Resizing, Wish, advance};
use sequent_core::{SequenceName, ledger::Loss};
use sequent_engine::{Engine, NextRequest, Options, Reason, report::ShardReport};

use super::{Place, listening, once, take};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Takes some and demands that none was given before. (Where a slot was slow, what is given next may lie below.)
async fn fresh(place: &Place, given: &mut BTreeSet<u64>, count: u64) {
    let numbers = place.take("order", count).await;
    assert_eq!(numbers.len() as u64, count);
    assert!(numbers.iter().all(|number| given.insert(*number)), "{numbers:?} given before");
}

#[tokio::test]
async fn a_deleted_shard_repeats_nothing() {
    let place = Place::new();
    let mut given = place.take("order", 20).await;
    fs::remove_file(place.file("shard-2.db")).unwrap();
    given.extend(place.take("order", 40).await);
    let total = given.len();
    given.sort_unstable();
    given.dedup();
    assert_eq!(given.len(), total, "no number twice");
}

#[tokio::test]
async fn an_older_copy_of_a_shard_repeats_nothing() {
    let place = Place::new();
    let mut given = place.take("order", 8).await;
    fs::copy(place.file("shard-1.db"), place.file("older")).unwrap();
    given.extend(place.take("order", 30).await);
    fs::rename(place.file("older"), place.file("shard-1.db")).unwrap();
    given.extend(place.take("order", 40).await);
    let total = given.len();
    given.sort_unstable();
    given.dedup();
    assert_eq!(given.len(), total, "no number twice");
}

#[tokio::test]
async fn a_deleted_ledger_is_refused() {
    let place = Place::new();
    place.take("order", 5).await;
    fs::remove_file(place.file("ledger.db")).unwrap();
    let error = place.refused().await;
    assert!(error.contains("shard-0.db") && error.contains("no ledger"), "{error}");
    for slot in 0..4 {
        fs::remove_file(place.file(&format!("shard-{slot}.db"))).unwrap();
    }
    let error = place.refused().await;
    assert!(error.contains("home"), "the marker file alone is reason enough: {error}");
    assert!(error.contains("`--config FILE`") && error.contains("`sequent recover --bump N`"), "{error}");
}

#[tokio::test]
async fn a_directory_of_a_cluster_whose_ledger_is_elsewhere_asks_for_its_configuration() {
    let place = Place::new();
    place.take("order", 5).await;
    for file in ["ledger.db", "shard-0.db", "shard-1.db", "shard-2.db", "shard-3.db"] {
        fs::remove_file(place.file(file)).unwrap();
    }
    fs::create_dir(place.file("serving")).unwrap();
    let announce = |name: &str, cluster: &str, embedded: bool| {
        let of = format!(
            "{{\"grpc\":\"127.0.0.1:1\",\"of\":{{\"cluster\":\"{cluster}\",\"embedded\":{embedded}}}}}"
        );
        fs::write(place.file("serving").join(name), of).unwrap();
    };
    fs::write(place.file("serving").join("identity"), "1f").unwrap();
    announce("a.json", "shop", false);
    let error = place.refused().await;
    assert!(error.contains("belongs to cluster shop, whose ledger is not "), "{error}");
    assert!(error.contains("`--config FILE`") && !error.contains("recover"), "{error}");
    announce("b.json", "embedded", true);
    let error = place.refused().await;
    assert!(
        !error.contains("shop") && error.contains("recover"),
        "the embedded cluster was here, too: {error}"
    );
}

#[tokio::test]
async fn a_slot_that_rests_after_a_new_epoch_is_shown_as_resting() {
    let place = Place::new();
    let engine = place.open().await.unwrap();
    // Ceilings are ahead once there is demand.
    for _ in 0..9 {
        take(&engine, "order", 200).await.unwrap();
    }
    let resting = |shards: &[ShardReport]| -> Vec<bool> {
        shards.iter().map(|shard| shard.resting.iter().any(|rest| rest.key == "order")).collect()
    };
    assert_eq!(resting(&engine.cluster().shards().await), [false; 4]);
    engine.shutdown().await;
    fs::remove_file(place.file("shard-1.db")).unwrap();
    let engine = place.open().await.unwrap();
    take(&engine, "order", 40).await.unwrap();
    let status = engine.status().await;
    assert_eq!(status.shards[1].state, "live");
    assert_eq!(resting(&status.shards), [false, true, false, false], "{:?}", status.shards);
    engine.shutdown().await;
}

fn lose_the_ledger(place: &Place) {
    for file in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        drop(fs::remove_file(place.file(file)));
    }
}

#[tokio::test]
async fn a_ledger_lost_without_a_copy_is_followed_by_an_empty_one_and_repeats_nothing() {
    let place = Place::new();
    let mut given = place.take("order", 50).await;
    lose_the_ledger(&place);
    // Not even all shards are left: what was given of one is known to nobody but the operator.
    fs::remove_file(place.file("shard-2.db")).unwrap();
    let error = place.refused().await;
    assert!(error.contains("sequent recover --bump N"), "{error}");
    let (options, said) = listening();
    let error = Admin::open_after_loss(&place.config(), &options, &NamedLoss::of(100))
        .await
        .err()
        .unwrap()
        .to_string();
    for words in ["slot 2: ", "shard-2.db is not there", "`--without 2`", "no store was changed"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    assert!(place.refused().await.contains("sequent recover --bump N"), "as it was before");
    let named = NamedLoss { without: BTreeSet::from([2]), ..NamedLoss::of(100) };
    let taken_up = || async {
        let config = place.config();
        Admin::open_after_loss(&config, &options, &named).await.unwrap()
    };
    // Cut off before the loss was named: the shards' marks keep everybody from a ledger that knows nothing.
    taken_up().await.close().await;
    let engine = place.open().await.unwrap();
    let error = take(&engine, "order", 1).await.unwrap_err();
    assert_eq!(error.reason(), Reason::RecoveryRequired, "{error}");
    engine.shutdown().await;
    let admin = taken_up().await;
    assert!(said.lock().unwrap().iter().any(|line| line.contains("not read") && line.contains("slot 2: ")));
    admin.recover(Loss::Bump(100)).await.unwrap();
    admin.close().await;
    for _ in 0..2 {
        given.extend(place.take("order", 50).await);
    }
    let total = given.len();
    given.sort_unstable();
    given.dedup();
    assert_eq!((given.len(), total), (150, 150), "no number twice");
}

#[tokio::test]
async fn a_bump_below_what_the_cells_tell_is_refused_and_nothing_is_given_twice_by_a_store_that_forgets_after()
 {
    let place = Place::new();
    let mut given = place.take("order", 50).await;
    let engine = place.open().await.unwrap();
    advance(&engine, &NextRequest::new("order").unwrap(), 40_000_000, false).await.unwrap();
    given.extend(take(&engine, "order", 5000).await.unwrap());
    engine.shutdown().await;
    lose_the_ledger(&place);
    let config = place.config();
    let open = async |bump| Admin::open_after_loss(&config, &once(), &NamedLoss::of(bump)).await;
    let refused = open(5).await.err().unwrap().to_string();
    assert!(
        refused.contains("--bump is 5: at least 100") && refused.contains("cell of key order"),
        "{refused}"
    );
    assert!(!place.file("ledger.db").exists(), "nothing was done: {refused}");
    let least = least_of(&refused);
    assert!(open(least - 1).await.is_err());
    let admin = open(least).await.unwrap();
    // Taken up, and cut off: what is named is held against the cells still.
    let refused = admin.recover(Loss::Bump(5)).await.unwrap_err().to_string();
    assert!(refused.contains("--bump is 5: at least"), "{refused}");
    admin.recover(Loss::Bump(least)).await.unwrap();
    admin.close().await;
    for slot in [1, 3] {
        fs::remove_file(place.file(&format!("shard-{slot}.db"))).unwrap();
    }
    given.extend(place.take("order", 5000).await);
    let total = given.len();
    given.sort_unstable();
    given.dedup();
    assert_eq!((given.len(), total), (10_050, 10_050), "no number twice");
}

/// The least that a refusal names.
fn least_of(refused: &str) -> u64 {
    let (_, rest) = refused.split_once("`sequent recover --bump ").unwrap();
    rest.split_once('`').unwrap().0.parse().unwrap()
}

#[tokio::test]
async fn a_copy_with_rows_takes_no_bump_below_what_the_cells_prove_and_nothing_comes_again() {
    let place = Place::new();
    let mut given = place.take("order", 8).await;
    fs::copy(place.file("ledger.db"), place.file("older")).unwrap();
    let engine = place.open().await.unwrap();
    for name in ["order", "later"] {
        for _ in 0..8 {
            let numbers = take(&engine, name, 5000).await.unwrap();
            given.extend(numbers.into_iter().filter(|_| name == "order"));
        }
    }
    engine.shutdown().await;
    lose_the_ledger(&place);
    fs::rename(place.file("older"), place.file("ledger.db")).unwrap();
    let admin = Admin::open(&place.config(), &once()).await.unwrap();
    let refused = admin.recover(Loss::Bump(5)).await.unwrap_err().to_string();
    assert!(refused.contains("--bump is 5: at least ") && refused.contains("the cell of key "), "{refused}");
    assert!(admin.cluster().trouble().await.is_some(), "nothing was done");
    let least = least_of(&refused);
    assert!(least > 5000, "{refused}");
    assert!(admin.recover(Loss::Bump(least - 1)).await.is_err());
    // Of a sequence that the copy knows nothing of the cells alone tell.
    let plan = admin.recovery_plan(Loss::Bump(least)).await.unwrap();
    let planned = plan.keys.iter().find(|planned| planned.key == "later").unwrap();
    assert!(planned.last_before >= Some(40_000) && planned.first_after > Some(8), "{planned:?}");
    let copy =
        CopyMade { since_ms: once().env.clock.wall_ms(), at_most_per_s: 1, ahead: Duration::from_secs(1) };
    let worked_out = admin.loss_since(copy).await.unwrap();
    assert!(worked_out.bump >= least, "{worked_out:?}");
    admin.recover(Loss::Bump(least)).await.unwrap();
    admin.close().await;
    for slot in [1, 3] {
        fs::remove_file(place.file(&format!("shard-{slot}.db"))).unwrap();
    }
    given.extend(place.take("order", 5000).await);
    let total = given.len();
    given.sort_unstable();
    given.dedup();
    assert_eq!(given.len(), total, "no number twice");
}

#[tokio::test]
async fn a_cluster_that_lost_nothing_is_recovered_on_a_persons_word_alone() {
    let place = Place::new();
    let given = place.take("order", 50).await;
    let admin = Admin::open(&place.config(), &once()).await.unwrap();
    let plan = admin.recovery_plan(Loss::Bump(100)).await.unwrap();
    assert!(plan.cautions[0].starts_with("nothing shows that anything was lost"), "{plan:?}");
    let planned = &plan.keys[0];
    assert_eq!((planned.key.as_str(), planned.last_before), ("order", given.iter().max().copied()));
    assert!(planned.skipped >= 400, "{plan:?}");
    admin.recover(Loss::Bump(100)).await.unwrap();
    admin.close().await;
    let next = *place.take("order", 8).await.iter().min().unwrap();
    assert!(next >= planned.first_after.unwrap(), "{next}: {plan:?}");

    fs::copy(place.file("ledger.db"), place.file("older")).unwrap();
    place.take("other", 8).await;
    fs::rename(place.file("older"), place.file("ledger.db")).unwrap();
    let admin = Admin::open(&place.config(), &once()).await.unwrap();
    assert_eq!(admin.recovery_plan(Loss::Bump(100)).await.unwrap().cautions, Vec::<String>::new());
    admin.close().await;
}

#[tokio::test]
async fn a_counter_that_was_advanced_far_before_the_ledger_was_lost_goes_on_by_the_advice_that_is_given() {
    let place = Place::new();
    let mut given = place.take("order", 50).await;
    let engine = place.open().await.unwrap();
    advance(&engine, &NextRequest::new("order").unwrap(), 1_000_000_000_000, true).await.unwrap();
    engine.shutdown().await;
    given.extend(place.take("order", 50).await);
    lose_the_ledger(&place);
    let (config, mut named) = (place.config(), NamedLoss::of(1000));
    let error = Admin::open_after_loss(&config, &once(), &named).await.err().unwrap().to_string();
    assert!(error.contains("more than any --bump") && error.contains("add --yes"), "{error}");
    named.is_confirmed = true;
    let admin = Admin::open_after_loss(&config, &Options::default(), &named).await.unwrap();
    admin.recover(Loss::Bump(1000)).await.unwrap();
    admin.close().await;
    let engine = place.open().await.unwrap();
    let error = take(&engine, "order", 1).await.unwrap_err();
    let detail = error.detail().unwrap();
    assert!(detail.contains("`sequent advance order TO --jump`"), "{detail}");
    let quarantined: Vec<_> =
        engine.status().await.shards.into_iter().flat_map(|shard| shard.quarantined).collect();
    assert_eq!(quarantined.len(), 4);
    for found in &quarantined {
        assert!(!found.advice.contains("delete"), "the cell is all that knows: {}", found.advice);
        assert!(found.advice.contains("`sequent advance order TO --jump`"), "{}", found.advice);
    }
    engine.shutdown().await;
    let highest = *given.iter().max().unwrap();
    let engine = place.open().await.unwrap();
    advance(&engine, &NextRequest::new("order").unwrap(), highest, true).await.unwrap();
    given.extend(take(&engine, "order", 50).await.unwrap());
    engine.shutdown().await;
    let total = given.len();
    given.sort_unstable();
    given.dedup();
    assert_eq!((given.len(), total), (150, 150), "no number twice");
}

#[tokio::test]
async fn a_ledger_that_somebody_counts_by_takes_nothing_up() {
    let (place, other) = (Place::new(), Place::new());
    place.take("order", 5).await;
    other.take("order", 5).await;
    lose_the_ledger(&place);
    fs::copy(other.file("ledger.db"), place.file("ledger.db")).unwrap();
    let before = fs::read(place.file("shard-0.db")).unwrap();
    let admin =
        Admin::open_after_loss(&place.config(), &Options::default(), &NamedLoss::of(100)).await.unwrap();
    let error = admin.recover(Loss::Bump(100)).await.unwrap_err();
    assert!(error.to_string().contains("another ledger"), "{error}");
    admin.close().await;
    assert!(fs::read(place.file("shard-0.db")).unwrap() == before, "a shard was stamped");
}

#[tokio::test]
async fn shards_that_are_not_of_one_cluster_are_taken_up_by_nobody() {
    let (place, other) = (Place::new(), Place::new());
    place.take("order", 5).await;
    other.take("order", 5).await;
    lose_the_ledger(&place);
    fs::copy(other.file("shard-3.db"), place.file("shard-3.db")).unwrap();
    let error = Admin::open_after_loss(&place.config(), &Options::default(), &NamedLoss::of(100))
        .await
        .err()
        .unwrap();
    assert!(error.to_string().contains("slot 3"), "{error}");
    assert!(place.refused().await.contains("bears stamp"), "nothing was stamped");
}

#[tokio::test]
async fn an_older_ledger_gives_nothing_before_recovery() {
    let place = Place::new();
    let mut given = BTreeSet::new();
    fresh(&place, &mut given, 5).await;
    fs::copy(place.file("ledger.db"), place.file("older")).unwrap();
    // A new key opens an epoch in each slot: the ledger's version goes up, and is marked.
    place.take("other", 8).await;
    fresh(&place, &mut given, 5).await;
    fs::rename(place.file("older"), place.file("ledger.db")).unwrap();
    let engine = place.open().await.unwrap();
    let error = take(&engine, "order", 1).await.unwrap_err();
    assert_eq!(error.reason(), Reason::RecoveryRequired, "{error}");
    assert!(engine.status().await.trouble.is_some());
    engine.shutdown().await;
    let admin = Admin::open(&place.config(), &Options::default()).await.unwrap();
    admin.recover(Loss::Bump(100)).await.unwrap();
    admin.close().await;
    fresh(&place, &mut given, 5).await;
}

#[tokio::test]
async fn a_recovery_names_the_shard_that_it_cannot_read_and_does_nothing_unless_a_person_does() {
    let place = Place::new();
    let mut given = BTreeSet::new();
    fresh(&place, &mut given, 5).await;
    fs::copy(place.file("ledger.db"), place.file("older")).unwrap();
    place.take("other", 8).await;
    fresh(&place, &mut given, 5).await;
    fs::rename(place.file("older"), place.file("ledger.db")).unwrap();
    fs::rename(place.file("shard-2.db"), place.file("aside")).unwrap();
    for loss in [Loss::Moved, Loss::Bump(100)] {
        let admin = Admin::open(&place.config(), &Options::default()).await.unwrap();
        let marks = admin.marks().await;
        assert_eq!(marks.unread.iter().map(|mark| mark.slot).collect::<Vec<_>>(), [2]);
        assert!(!marks.others && marks.absent.is_empty() && marks.lines(loss).len() == 2, "{marks:?}");
        let error = admin.recover(loss).await.unwrap_err().to_string();
        for words in ["slot 2: ", "`--without 2`", "nothing was done"] {
            assert!(error.contains(words), "{words}: {error}");
        }
        assert!(admin.recover_without(loss, &BTreeSet::from([2, 4])).await.is_err(), "no such slot");
        assert!(admin.cluster().trouble().await.is_some(), "nothing was done");
        admin.close().await;
    }
    let admin = Admin::open(&place.config(), &Options::default()).await.unwrap();
    admin.recover_without(Loss::Bump(100), &BTreeSet::from([2])).await.unwrap();
    admin.close().await;
    fresh(&place, &mut given, 5).await;
    fs::rename(place.file("aside"), place.file("shard-2.db")).unwrap();
    fresh(&place, &mut given, 5).await;
}

#[tokio::test]
async fn a_copied_directory_is_refused_until_its_loss_is_named() {
    let place = Place::new();
    let mut given = BTreeSet::new();
    fresh(&place, &mut given, 5).await;
    let moved = place.folder.path().join("moved");
    copy(&place.data(), &moved);
    let error = Engine::open(place.config_in(&moved), once()).await.err().unwrap();
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("sequent recover --moved"), "{error}");
    // The marker tells, too, that it is a copy; without it the records do.
    fs::remove_file(moved.join("home")).unwrap();
    let wish = Wish { shard_bits: Some(3), ..Wish::default() };
    let resizing = Resizing::open(place.config_in(&moved), None, wish, &once()).await.unwrap();
    let error = resizing.run(&|_| {}).await.unwrap_err();
    assert!(
        error.exit_code() == 3 && error.to_string().contains("other files than those on record"),
        "{error}"
    );
    resizing.close().await;
    let admin = Admin::open(&place.config_in(&moved), &Options::default()).await.unwrap();
    admin.recover(Loss::Moved).await.unwrap();
    admin.close().await;
    let engine = Engine::open(place.config_in(&moved), once()).await.unwrap();
    let numbers = take(&engine, "order", 5).await.unwrap();
    assert!(numbers.iter().all(|number| !given.contains(number)), "{numbers:?}");
    let name: SequenceName = "order".parse().unwrap();
    let explained = Admin::of(&engine).explain(&name, 1).await.unwrap();
    let epoch = explained.origin.spread().unwrap().epoch.clone();
    assert!(epoch.is_some_and(|epoch| !epoch.in_force), "number 1 is of the epoch before");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_directory_put_back_over_itself_gives_nothing_before_recovery() {
    let place = Place::new();
    let mut given = BTreeSet::new();
    fresh(&place, &mut given, 5).await;
    let backup = tempfile::tempdir().unwrap();
    copy(&place.data(), backup.path());
    fresh(&place, &mut given, 5).await;
    // Into the files that are there: every inode and every birth stays.
    copy(backup.path(), &place.data());
    let error = place.refused().await;
    assert!(error.contains("sequent recover --bump N"), "{error}");
    let admin = Admin::open(&place.config(), &Options::default()).await.unwrap();
    assert_eq!(admin.cluster().trouble().await.map(|error| error.reason()), Some(Reason::RecoveryRequired));
    admin.recover(Loss::Bump(1000)).await.unwrap();
    assert!(admin.cluster().trouble().await.is_none());
    admin.close().await;
    fresh(&place, &mut given, 5).await;
    fresh(&place, &mut given, 5).await;
}

#[tokio::test]
async fn a_status_shows_what_a_fresh_look_at_the_ledger_finds() {
    let place = Place::new();
    let engine = place.open().await.unwrap();
    take(&engine, "order", 5).await.unwrap();
    let home = place.file("home");
    let older = fs::read(&home).unwrap();
    take(&engine, "another", 5).await.unwrap();
    assert_eq!(engine.status().await.trouble, None);
    // Into the file that is there: what `cp -a backup/. data/` does.
    fs::write(&home, older).unwrap();
    let trouble = engine.status().await.trouble.expect("trouble");
    assert!(trouble.contains("is a copy") && trouble.contains("sequent recover"), "{trouble}");
    engine.shutdown().await;
}
