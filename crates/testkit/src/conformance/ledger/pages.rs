//! Layout, definitions, operators' words, and the heartbeat that brings them.

use sequent_core::{
    Layout,
    ledger::{Defined, Definition, LayoutRecord, SlotCommand, SlotVerb},
};
use tokio::task::JoinSet;

use super::{
    super::Checked,
    LedgerFixture,
    desk::{AHEAD, Desk, counter, layout, opening, raise},
};

/// How many callers try at once.
const CALLERS: u8 = 8;

/// What people write into texts.
const ODD_TEXT: &str = "it's \"the\" 磁盘; --\n\\ % 🦀\u{0}";

/// The first layout stays, however many found one at once.
pub async fn the_first_layout_stays(fixture: &dyn LedgerFixture) -> Checked {
    let mut tasks = JoinSet::new();
    for bits in 0..CALLERS {
        let ledger = fixture.open().await;
        let first = LayoutRecord { layout: Layout::new(bits, bits)?, ..layout() };
        tasks.spawn(async move { ledger.found(&first).await });
    }
    let held = match tasks.join_next().await {
        Some(done) => done??,
        None => return Ok(()),
    };
    while let Some(done) = tasks.join_next().await {
        assert_eq!(done??, held, "two first layouts");
    }
    let ledger = fixture.open().await;
    assert_eq!(ledger.layout().await?, Some(held.clone()));
    let other = LayoutRecord { cluster: "other".parse()?, layout: Layout::new(10, 16)?, generation: 2 };
    assert_eq!(ledger.found(&other).await?, held, "a later layout replaced the first");
    Ok(())
}

/// A higher version is taken, the same is the same, a lower one is ignored, another content is a conflict.
pub async fn definitions_go_forward(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let of =
        |name: &str, version, body: &str| -> Result<Definition, Box<dyn std::error::Error + Send + Sync>> {
            Ok(Definition { name: name.parse()?, version, body: body.to_owned() })
        };
    let start = ledger.definitions().await?.0;
    let second = of("order", 2, ODD_TEXT)?;
    assert_eq!(ledger.define(&second, None).await?, Defined::Created);
    assert_eq!(ledger.define(&second, None).await?, Defined::Same);
    let conflict = ledger.define(&of("order", 2, "b")?, None).await?;
    assert_eq!(conflict, Defined::Conflict { held: second.clone() });
    assert_eq!(ledger.define(&of("order", 1, "b")?, Some(2)).await?, Defined::Older { held: second.clone() });
    assert_eq!(
        ledger.definitions().await?,
        (start + 1, vec![second.clone()]),
        "only what was created counts"
    );
    assert_eq!(ledger.definition(&second.name).await?, Some(second.clone()));
    assert_eq!(ledger.definition(&"Order".parse()?).await?, None, "names differ by case");
    let ninth = of("order", 9, "c")?;
    for judged in [None, Some(1), Some(9)] {
        let moved = Defined::Moved { held: Some(second.clone()) };
        assert_eq!(
            ledger.define(&ninth, judged).await?,
            moved,
            "judged {judged:?}, and version 2 is in force"
        );
    }
    assert_eq!(ledger.definitions().await?.0, start + 1, "nothing was written");
    assert_eq!(ledger.define(&ninth, Some(2)).await?, Defined::Created);
    assert_eq!(ledger.definition(&ninth.name).await?, Some(ninth.clone()), "the highest version");
    let upper = of("Order", 1, "d")?;
    assert_eq!(ledger.define(&upper, Some(1)).await?, Defined::Moved { held: None });
    assert_eq!(ledger.define(&upper, None).await?, Defined::Created, "names differ by case");
    let seen_by_another = fixture.open().await.definitions().await?;
    assert_eq!(seen_by_another, (start + 3, vec![upper, ninth]), "the highest of each, ascending by name");
    Ok(())
}

/// Of many contents for one version at once, one stands, and the others are told which.
pub async fn of_many_definitions_one_stands(fixture: &dyn LedgerFixture) -> Checked {
    let mut tasks = JoinSet::new();
    for caller in 0..CALLERS {
        let ledger = fixture.open().await;
        let definition = Definition { name: "order".parse()?, version: 1, body: format!("body {caller}") };
        tasks.spawn(async move { (ledger.define(&definition, None).await, definition) });
    }
    let (mut created, mut told) = (Vec::new(), Vec::new());
    while let Some(done) = tasks.join_next().await {
        match done? {
            (Ok(Defined::Created), definition) => created.push(definition),
            (Ok(Defined::Conflict { held }), _) => told.push(held),
            (found, definition) => panic!("{definition:?}: {found:?}"),
        }
    }
    assert_eq!(created.len(), 1, "{created:?}");
    assert!(told.iter().all(|held| *held == created[0]), "{told:?}");
    assert_eq!(fixture.open().await.definitions().await?.1, created);
    Ok(())
}

fn word(slot: u16, verb: SlotVerb) -> SlotCommand {
    SlotCommand { slot, verb, who: "ops".to_owned(), why: ODD_TEXT.to_owned(), at_ms: 1, until_ms: None }
}

/// The latest word about each slot counts, with the ledger's time; slots do not share words.
pub async fn the_latest_word_counts(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let before = ledger.inspect().await?.clock_ms;
    for slot in [3, 1] {
        let said = ledger.say(&word(slot, SlotVerb::Evict)).await?;
        let after = ledger.inspect().await?.clock_ms;
        assert!((before..=after).contains(&said.at_ms), "said at {} of {before}..={after}", said.at_ms);
        assert_eq!(said, SlotCommand { at_ms: said.at_ms, ..word(slot, SlotVerb::Evict) });
    }
    let drained = ledger.say(&word(1, SlotVerb::Drain)).await?;
    let rescued = ledger.say(&word(3, SlotVerb::Rescue)).await?;
    assert_eq!(fixture.open().await.slot_commands().await?, [drained, rescued]);
    Ok(())
}

/// A word whose time is over is left out, and the word before it does not come back.
pub async fn words_expire_by_the_ledgers_clock(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let now = ledger.inspect().await?.clock_ms;
    let hour = 3_600_000;
    ledger.say(&word(0, SlotVerb::Drain)).await?;
    ledger.say(&SlotCommand { until_ms: Some(now), ..word(0, SlotVerb::Evict) }).await?;
    ledger.say(&SlotCommand { until_ms: Some(now - hour), ..word(1, SlotVerb::Evict) }).await?;
    let lasting = ledger.say(&SlotCommand { until_ms: Some(now + hour), ..word(2, SlotVerb::Evict) }).await?;
    assert_eq!(ledger.slot_commands().await?, std::slice::from_ref(&lasting));
    let presence = Desk::of(fixture, 1).await?.heartbeat(&[]).await?.value;
    assert_eq!(presence.words, [lasting]);
    Ok(())
}

/// A heartbeat raises and reports, and brings the words, the catalog's version and the clock.
pub async fn a_heartbeat_brings_the_news(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    desk.open_one(opening(&order, 1, 0)).await?;
    let quiet = desk.heartbeat(&[]).await?.value;
    assert_eq!(quiet.words, []);
    let other = fixture.open().await;
    let said = other.say(&word(2, SlotVerb::Evict)).await?;
    other.define(&Definition { name: "order".parse()?, version: 1, body: "a".to_owned() }, None).await?;
    let before = other.inspect().await?.clock_ms;
    let ask = sequent_core::ledger::Raise { seen: 40, ..raise(&order, 1, 600) };
    let answer = desk.heartbeat(&[ask, raise(&order, 2, 0)]).await?;
    let presence = answer.value;
    let held = sequent_core::ledger::Raised::Held { ceiling: 600, seen: 40 };
    assert_eq!(presence.raised, [held, sequent_core::ledger::Raised::Ended { begun_at: Some(0) }]);
    assert_eq!(presence.words, [said]);
    assert_eq!(presence.catalog_version, quiet.catalog_version + 1);
    assert_eq!(presence.catalog_version, other.definitions().await?.0);
    assert!(presence.clock_ms >= before);
    assert_eq!(answer.version, desk.version().await?);
    assert!(desk.row(&order).await?.is_some_and(|row| row.ceiling == 600 && row.base + AHEAD < 600));
    Ok(())
}
