//! Definitions that change under a running engine.

use sequent_engine::Reason;

use super::{Place, take};

fn up_to(version: u32, end: u64) -> String {
    format!("[[sequence]]\nname = \"order\"\nversion = {version}\nend = {end}\nplacement = \"spread\"\n")
}

#[tokio::test]
async fn a_raised_end_is_taken_up_by_a_running_engine() {
    let mut place = Place::with(&up_to(1, 10_000));
    let engine = place.open().await.unwrap();
    let mut given = take(&engine, "order", 9000).await.unwrap();
    let error = loop {
        match take(&engine, "order", 7).await {
            Ok(numbers) => given.extend(numbers),
            Err(error) => break error,
        }
    };
    assert_eq!(error.reason(), Reason::SequenceExhausted);
    // Wide enough that what a slow machine burns is no jump.
    place.say(&up_to(2, 1_000_000_000));
    engine.reload(&place.config()).await.unwrap();
    for _ in 0..29 {
        given.extend(take(&engine, "order", 1000).await.unwrap());
    }
    assert!(given.iter().any(|number| *number > 30_000));
    let total = given.len();
    given.sort_unstable();
    given.dedup();
    assert_eq!(given.len(), total, "no number twice");
    engine.shutdown().await;
}
