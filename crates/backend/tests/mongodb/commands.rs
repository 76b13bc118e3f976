//! What is sent, to the letter: nobody else looks at it, since a double is all that answers here.

use std::collections::BTreeSet;

use sequent_core::Store;
use sequent_testkit::mongo::MongoDouble;

use crate::support::{Counting, epoch, store};

/// Every write asks for the majority and the journal, none is one that the driver would repeat, and none creates.
#[tokio::test]
async fn every_write_asks_for_the_majority_and_the_journal() {
    let server = MongoDouble::start();
    let counting = Counting::begin(store(&server), 5).await;
    counting.take(3).await.unwrap();
    counting.store.lift(counting.cell(), epoch(1), 50).await.unwrap();
    counting.store.lift(counting.cell(), epoch(1), 0).await.unwrap();
    counting.store.mark(&counting.under, 7).await.unwrap();
    counting.store.close(counting.cell(), epoch(2)).await.unwrap();
    let (mut writes, mut names) = (0, BTreeSet::new());
    for command in server.commands() {
        let name = command.keys().next().unwrap().as_str();
        names.insert(name.to_owned());
        // The one that asks whether the server compares identities finds nothing.
        let asks =
            command.get_document("query").is_ok_and(|query| query.get("_id") == Some(&bson::Bson::Null));
        if !matches!(name, "create" | "insert" | "findAndModify") || asks {
            continue;
        }
        writes += 1;
        let concern = command.get_document("writeConcern").unwrap();
        assert_eq!(concern.get_str("w").unwrap(), "majority", "{command}");
        assert!(concern.get_bool("j").unwrap() && concern.get_i32("wtimeout").is_ok(), "{command}");
        assert!(!command.contains_key("txnNumber") && !command.contains_key("upsert"), "{command}");
    }
    assert!(writes > 8, "{writes} writes were seen");
    let known = ["buildInfo", "create", "find", "findAndModify", "insert", "listCollections", "ping"];
    let others: Vec<_> = names.iter().filter(|name| !known.contains(&name.as_str())).collect();
    assert!(others.iter().all(|name| name.starts_with("sasl")), "{others:?}");
}

/// What a write leaves is a 64-bit integer, whatever its size.
#[tokio::test]
async fn numbers_are_64_bit_integers_by_name() {
    let server = MongoDouble::start();
    let counting = Counting::begin(store(&server), 0).await;
    counting.take(1).await.unwrap();
    let take = server.commands().into_iter().rev().find(|command| command.contains_key("update")).unwrap();
    let added = take.get_document("update").unwrap().get_document("$inc").unwrap();
    assert_eq!(added.get_i64("v").unwrap(), 1);
    let bound = take.get_document("query").unwrap().get_document("v").unwrap();
    assert_eq!((bound.get_i64("$lte").unwrap(), bound.get_str("$type").unwrap()), (i64::MAX - 1, "long"));
}

/// A take is one command, and so is whatever needs no more.
#[tokio::test]
async fn a_take_is_one_command() {
    let server = MongoDouble::start();
    let counting = Counting::begin(store(&server), 0).await;
    let before = server.commands().len();
    for _ in 0..10 {
        counting.take(1).await.unwrap();
    }
    assert_eq!(server.commands().len() - before, 10);
}
