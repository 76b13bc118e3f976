//! Definitions of several processes over one ledger.

use super::*;
use crate::{config::LimitsSection, error::reason::Reason};
use sequent_backend::memory::MemoryLedger;
use sequent_core::ledger::Definition;
use sequent_testkit::{PausedClock, SeededEntropy};

fn part(version: u32, start: u64) -> SequencePart {
    let body = Body::check(None, start, 1, None, None, None).unwrap();
    SequencePart { name: "order".parse().unwrap(), version, body, effective: None }
}

async fn catalog_over(ledger: &Arc<MemoryLedger>) -> Catalog {
    catalog_with(ledger, Vec::new(), GlobSet::empty()).await
}

async fn catalog_with(ledger: &Arc<MemoryLedger>, shards: Vec<Shard>, auto_create: GlobSet) -> Catalog {
    let context = CatalogContext {
        ledger: Arc::clone(ledger) as Arc<dyn Ledger>,
        limit: Duration::from_secs(1),
        clock: Arc::new(PausedClock::new()),
        layout: Layout::new(2, 0).unwrap(),
        at_risk: AtRisk { held_max: 1000, lease_max: 100_000, servers: 1 },
        auto_create,
        limits: limits(),
        shards,
    };
    Catalog::open(context, &[], true).await.unwrap()
}

fn limits() -> SharedLimits {
    let config = crate::config::Config::load(&crate::config::Sources::embedded("nowhere")).unwrap();
    Arc::new(ArcSwap::from_pointee(config.limits))
}

fn ledger() -> Arc<MemoryLedger> {
    Arc::new(MemoryLedger::new(Arc::new(PausedClock::new()), &SeededEntropy::new(1)))
}

#[tokio::test(start_paused = true)]
async fn a_definition_is_judged_again_when_another_came_first() {
    let ledger = ledger();
    let (one, other) = (catalog_over(&ledger).await, catalog_over(&ledger).await);
    assert_eq!(one.bring(&part(1, 1000), &[]).await.unwrap(), None);
    let refusal = other.bring(&part(2, 1), &[]).await.unwrap().expect("start changed behind its back");
    assert!(refusal.contains("changes start or step"), "{refusal}");
    assert_eq!(other.bring(&part(2, 1000), &[]).await.unwrap(), None, "the same start may follow");
}

#[tokio::test(start_paused = true)]
async fn a_version_far_ahead_is_refused_so_that_later_ones_are_left() {
    let ledger = ledger();
    let catalog = catalog_over(&ledger).await;
    let refused =
        async |version| catalog.define(&part(version, 1)).await.err().map(|error| error.to_string());
    assert!(refused(u32::MAX).await.unwrap().contains("at most 1000 is allowed"), "the first one, too");
    assert_eq!(refused(1000).await, None);
    assert!(refused(2001).await.unwrap().contains("version is 2001: at most 2000 is allowed"));
    assert_eq!(refused(2000).await, None);
    assert_eq!(refused(2000).await, None, "again");
}

#[cfg(feature = "servers")]
#[tokio::test(start_paused = true)]
async fn what_a_slots_store_cannot_hold_is_defined_by_nobody() {
    use crate::config::{Config, Sources};

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sequent.toml");
    let shard = "store = \"mysql-auto-increment\"\nurl = \"mysql://u@127.0.0.1:1/d\"\n";
    std::fs::write(&file, format!("[ledger]\nsingle_server = true\n[[shard]]\nslot = 3\n{shard}")).unwrap();
    let config = Config::load(&Sources::embedded(folder.path()).file(&file)).unwrap();
    let any = globset::GlobSetBuilder::new().add(globset::Glob::new("*").unwrap()).build().unwrap();
    let ledger = ledger();
    let catalog = catalog_with(&ledger, stores::unused(config.shards.unwrap()), any).await;
    let (long, short): (SequenceName, SequenceName) = ("x".repeat(99).parse().unwrap(), "x".parse().unwrap());
    let error = catalog.find_or_create(&long).await.unwrap_err();
    assert_eq!(error.reason(), Reason::InvalidArgument, "{error}");
    assert_eq!(error.fields()[0].field, "sequence");
    let parts = ["slot 3: ", "mysql-auto-increment", "106 characters, at most 64", "mysql-row"];
    let brought = SequencePart { name: long.clone(), ..part(1, 1) };
    for text in [error.to_string(), catalog.bring(&brought, &[]).await.unwrap().unwrap()] {
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    catalog.refresh().await.unwrap();
    assert!(catalog.find(&long).is_none(), "it was defined");
    assert_eq!(catalog.find_or_create(&short).await.unwrap().version, 1);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_can_read_is_not_followed() {
    let ledger = ledger();
    let name: SequenceName = "order".parse().unwrap();
    let unreadable = Definition { name, version: 1, body: "{}".to_owned() };
    let ledger_dyn: &dyn Ledger = &*ledger;
    ledger_dyn.define(&unreadable, None).await.unwrap();
    let refusal = catalog_over(&ledger).await.bring(&part(2, 1), &[]).await.unwrap().expect("unreadable");
    assert!(refusal.contains("can't be read"), "{refusal}");
}

#[tokio::test(start_paused = true)]
async fn what_a_first_use_defined_is_known_before_it_is_read_back_and_after() {
    let ledger = ledger();
    let catalog = catalog_over(&ledger).await;
    let any = globset::GlobSetBuilder::new().add(globset::Glob::new("a*").unwrap()).build().unwrap();
    catalog.reload(&[], &any).await.unwrap();
    let (name, unknown): (SequenceName, SequenceName) = ("apple".parse().unwrap(), "pear".parse().unwrap());
    assert_eq!(catalog.find_or_create(&name).await.unwrap().version, 1);
    assert!(catalog.find_or_create(&unknown).await.is_err());
    for _ in 0..2 {
        assert_eq!(catalog.find(&name).unwrap().version, 1);
        catalog.refresh().await.unwrap();
        assert!(catalog.changed().is_empty(), "it did not change");
        assert!(catalog.fresh.read().unwrap().is_empty(), "it is in the snapshot");
    }
}

#[tokio::test(start_paused = true)]
async fn many_who_ask_for_what_is_not_there_cause_one_reading() {
    let ledger = ledger();
    let catalog = Arc::new(catalog_over(&ledger).await);
    let held = catalog.readings.turn.lock().await;
    let mut asks = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let catalog = Arc::clone(&catalog);
        asks.spawn(async move { catalog.find_or_create(&"pear".parse().unwrap()).await.is_err() });
    }
    tokio::task::yield_now().await;
    drop(held);
    assert_eq!(asks.join_all().await, [true; 50]);
    assert_eq!(catalog.looks.begun(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_not_there_is_looked_for_again_a_second_later() {
    let ledger = ledger();
    let (one, other) = (catalog_over(&ledger).await, catalog_over(&ledger).await);
    let name: SequenceName = "order".parse().unwrap();
    assert!(one.find_defined(&name).await.unwrap().is_none());
    assert_eq!(other.bring(&part(1, 1), &[]).await.unwrap(), None);
    assert!(one.find_defined(&name).await.unwrap().is_none(), "it was looked for just now");
    assert_eq!(one.looks.begun(), 1);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(one.find_defined(&name).await.unwrap().unwrap().version, 1);
    assert_eq!(one.looks.begun(), 2);
    assert_eq!(one.after("", 10, |_| true).len(), 1, "it is listed before all are read");
    assert_eq!(one.find_defined(&name).await.unwrap().unwrap().version, 1);
    assert_eq!(one.looks.begun(), 2, "it is known");
}

/// Looks do not depend on how many names are asked for, nor on how many callers ask.
#[tokio::test(start_paused = true)]
async fn many_unknown_names_cause_few_looks_and_the_rest_is_refused() {
    let ledger = ledger();
    let catalog = Arc::new(catalog_over(&ledger).await);
    let began = PausedClock::new().now();
    let mut asks = tokio::task::JoinSet::new();
    for at in 0..1000_u32 {
        let catalog = Arc::clone(&catalog);
        let name: SequenceName = format!("pear{}", at % 500).parse().unwrap();
        asks.spawn(async move { catalog.find_or_create(&name).await.err().map(|error| error.reason()) });
    }
    let answers = asks.join_all().await;
    let of = |reason| answers.iter().filter(|found| **found == Some(reason)).count();
    assert_eq!(of(Reason::SequenceNotFound) + of(Reason::QuotaExceeded), 1000);
    // One is looked for at once, and 32 names wait. Both callers of a name get the answer of its one look.
    assert_eq!((catalog.looks.begun(), of(Reason::SequenceNotFound)), (33, 66));
    let took = PausedClock::new().now().duration_since(began);
    assert!(took >= Duration::from_millis(32 * 50), "33 looks within {took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_reload_brings_all_or_nothing() {
    let ledger = ledger();
    let catalog = catalog_over(&ledger).await;
    catalog.reload(&[part(1, 1000)], &GlobSet::empty()).await.unwrap();
    let name: SequenceName = "order".parse().unwrap();
    let mut other = part(1, 5);
    other.name = "other".parse().unwrap();
    let refusal = catalog.reload(&[other, part(2, 1)], &GlobSet::empty()).await.unwrap_err();
    assert!(refusal.to_string().contains("changes start or step"), "{refusal}");
    assert!(catalog.find(&"other".parse().unwrap()).is_none());
    let mut higher = part(2, 1000);
    higher.body = Body::check(None, 1000, 1, Some(9_000_000), None, None).unwrap();
    catalog.reload(&[higher], &GlobSet::empty()).await.unwrap();
    assert_eq!(catalog.changed().into_iter().collect::<Vec<_>>(), std::slice::from_ref(&name));
    assert_eq!(catalog.find(&name).unwrap().version, 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_in_force_is_brought_again_however_many_servers_there_are() {
    let (ledger, name) = (ledger(), "order".parse::<SequenceName>().unwrap());
    let catalog = catalog_over(&ledger).await;
    let bounded = |version| SequencePart {
        body: Body::check(Some("spread"), 1, 1, Some(1_000_000), None, None).unwrap(),
        ..part(version, 1)
    };
    catalog.reload(&[bounded(2)], &GlobSet::empty()).await.unwrap();
    let was = catalog.count_with(AtRisk { servers: 10, ..catalog.at_risk() });
    assert_eq!((was.servers, catalog.at_risk().servers), (1, 10));
    for version in [2, 1] {
        catalog.reload(&[bounded(version)], &GlobSet::empty()).await.unwrap();
        assert_eq!(catalog.find(&name).unwrap().version, 2, "it stays");
    }
    let refusal = catalog.reload(&[bounded(3)], &GlobSet::empty()).await.unwrap_err();
    assert!(refusal.to_string().contains("for each of 10 servers"), "{refusal}");
    // A ledger that went back gets the definition again, unchanged.
    let other = Arc::new(MemoryLedger::new(Arc::new(PausedClock::new()), &SeededEntropy::new(2)));
    let catalog = loses(catalog, &other).await;
    assert!(catalog.find(&name).is_none() && catalog.lost.has(&name));
    catalog.reload(&[bounded(2)], &GlobSet::empty()).await.unwrap();
    assert_eq!(catalog.find(&name).unwrap().version, 2, "it comes back");
}

/// Simulates a ledger that went back to before the definition: another ledger behind the same catalog.
async fn loses(catalog: Catalog, other: &Arc<MemoryLedger>) -> Catalog {
    let ledger = Arc::clone(other) as Arc<dyn Ledger>;
    let catalog = Catalog { context: CatalogContext { ledger, ..catalog.context }, ..catalog };
    catalog.follow(None).await.unwrap();
    catalog
}

async fn held(ledger: &MemoryLedger) -> Vec<(u32, String)> {
    let definitions = sequent_core::ledger::Catalog::definitions(ledger).await.unwrap().1;
    definitions.into_iter().map(|held| (held.version, held.body)).collect()
}

#[tokio::test(start_paused = true)]
async fn what_the_ledger_lost_is_written_again_as_it_was() {
    for at_once in [true, false] {
        let (one, two) = (ledger(), ledger());
        let catalog = catalog_over(&one).await;
        catalog.bring(&part(3, 1000), &[]).await.unwrap();
        catalog.refresh().await.unwrap();
        let known = held(&one).await;
        let catalog = loses(catalog, &two).await;
        assert_eq!(held(&two).await, [], "a reading writes nothing");
        let name = "order".parse().unwrap();
        if at_once {
            catalog.restore().await.unwrap();
        }
        assert_eq!(
            catalog.find_or_create(&name).await.unwrap().version,
            3,
            "no pattern allows it: it was there"
        );
        assert_eq!(held(&two).await, known);
        assert!(catalog.changed().is_empty(), "it is the same");
    }
}

#[tokio::test(start_paused = true)]
async fn an_older_version_that_came_back_is_followed_by_the_newer_one_again() {
    let (one, two) = (ledger(), ledger());
    let catalog = catalog_over(&one).await;
    for version in 1..=2 {
        catalog.bring(&part(version, 1000), &[]).await.unwrap();
        catalog.refresh().await.unwrap();
    }
    catalog_over(&two).await.bring(&part(1, 1000), &[]).await.unwrap();
    let catalog = loses(catalog, &two).await;
    catalog.restore().await.unwrap();
    assert_eq!(held(&two).await[0].0, 2);
    assert_eq!(catalog.find(&"order".parse().unwrap()).unwrap().version, 2);
}

#[tokio::test(start_paused = true)]
async fn another_definition_in_the_place_of_a_lost_one_is_not_served() {
    for (version, start) in [(1, 1), (2, 1), (3, 1)] {
        let (one, two) = (ledger(), ledger());
        let catalog = catalog_over(&one).await;
        catalog.bring(&part(2, 1000), &[]).await.unwrap();
        catalog.refresh().await.unwrap();
        let catalog = loses(catalog, &two).await;
        catalog_over(&two).await.bring(&part(version, start), &[]).await.unwrap();
        catalog.restore().await.unwrap();
        let name = "order".parse().unwrap();
        let entry = catalog.find_or_create(&name).await.unwrap();
        assert_eq!(entry.body().unwrap_err().reason(), Reason::DefinitionConflict, "version {version}");
        assert!(catalog.changed().contains(&name), "its key must go");
        catalog.refresh().await.unwrap();
        assert!(catalog.find(&name).unwrap().known().is_err(), "and it stays so");
        assert_eq!(held(&two).await[0].0, version, "what others use is left alone");
    }
}

/// A definition whose numbers a key of this process hides.
fn hidden(name: &str, version: u32, template: &str, maxlen: Option<usize>) -> SequencePart {
    let key = sequent_format::ObfuscationKey::new(&[7; 16]).unwrap();
    assert!(crate::texts::obf_keys::hold("catalog-test", &key));
    let texts = crate::texts::Texts::new(template).maxlen(maxlen);
    let body = Body::check(None, 1, 1, None, None, Some(texts)).unwrap();
    SequencePart { name: name.parse().unwrap(), version, body, effective: None }
}

/// The text of a number by the definition in force, which also parses it.
fn text_of(catalog: &Catalog, name: &str, number: u64) -> String {
    let held = catalog.find(&name.parse().unwrap()).unwrap();
    let body = held.body().unwrap();
    let context = body.format().unwrap().context(catalog.now(), &sequent_format::Values::new()).unwrap();
    let text = context.text(number).unwrap();
    assert_eq!(body.read(&text).map(|read| read.number), Ok(number));
    text
}

#[tokio::test(start_paused = true)]
async fn two_sequences_with_one_key_hide_their_numbers_in_ways_of_their_own() {
    let ledger = ledger();
    let catalog = catalog_over(&ledger).await;
    let template = "W@{seq,w=8,obf=ff1:catalog-test}";
    for name in ["one", "two"] {
        assert_eq!(catalog.bring(&hidden(name, 1, template, None), &[]).await.unwrap(), None);
    }
    catalog.refresh().await.unwrap();
    let texts = ["one", "two"].map(|name| (1..=20).map(|n| text_of(&catalog, name, n)).collect::<Vec<_>>());
    assert!(texts[0].iter().all(|text| !texts[1].contains(text)), "{texts:?}");
    let held = catalog.find(&"one".parse().unwrap()).unwrap();
    assert!(held.text().contains("\"tweak\":\"one\""), "{}", held.text());
    // The same file again, in another process, changes nothing.
    let other = catalog_over(&ledger).await;
    assert_eq!(other.bring(&hidden("one", 1, template, None), &[]).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn what_was_defined_before_names_hid_numbers_too_hides_on_as_it_did() {
    let ledger = ledger();
    let template = "W@{seq,w=8,obf=ff1:catalog-test}";
    let before = hidden("old", 1, template, None);
    let definition = before.body.defining(&before.name, 1);
    assert!(definition.body.contains("key_check") && !definition.body.contains("tweak"), "{definition:?}");
    let ledger_dyn: &dyn Ledger = &*ledger;
    ledger_dyn.define(&definition, None).await.unwrap();
    let catalog = catalog_over(&ledger).await;
    let first = text_of(&catalog, "old", 1);
    // The file's definition, the same again and with a wider bound: texts stay the same.
    for part in [before, hidden("old", 2, template, Some(60))] {
        assert_eq!(catalog.bring(&part, &[]).await.unwrap(), None);
        catalog.refresh().await.unwrap();
        assert_eq!(catalog.find(&part.name).unwrap().version, part.version);
        assert_eq!(text_of(&catalog, "old", 1), first);
    }
    // Another template includes the name; the old texts can still be parsed.
    let next = hidden("old", 3, "X@{seq,w=8,obf=ff1:catalog-test}", None);
    assert_eq!(catalog.bring(&next, &[]).await.unwrap(), None);
    catalog.refresh().await.unwrap();
    let held = catalog.find(&next.name).unwrap();
    assert!(held.text().contains("\"tweak\":\"old\""), "{}", held.text());
    assert_ne!(text_of(&catalog, "old", 1)[1..], first[1..], "the name hides, too");
    assert_eq!(held.body().unwrap().read(&first).map(|read| read.number), Ok(1));
}

#[tokio::test(start_paused = true)]
async fn first_uses_define_so_many_sequences_and_so_many_a_second() {
    let any = globset::GlobSetBuilder::new().add(globset::Glob::new("*").unwrap()).build().unwrap();
    let catalog = catalog_with(&ledger(), Vec::new(), any).await;
    let set = |auto_create_max, auto_create_per_s| {
        let section = LimitsSection { auto_create_max, auto_create_per_s, ..(**limits().load()).clone() };
        catalog.context.limits.store(Arc::new(section));
    };
    set(400, 2);
    let create = async |name: String| catalog.find_or_create(&name.parse().unwrap()).await;
    tokio::time::advance(Duration::from_secs(1000)).await;
    for name in 0..200 {
        create(format!("n{name}")).await.unwrap();
    }
    let refused = create("late".to_owned()).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::QuotaExceeded, "{refused}");
    let quota = refused.quota().unwrap().clone();
    assert_eq!((quota.quota, quota.retry_after), ("auto_create", Duration::from_millis(500)));
    create("n7".to_owned()).await.unwrap();
    tokio::time::advance(quota.retry_after).await;
    create("late".to_owned()).await.unwrap();
    set(201, 1000);
    tokio::time::advance(Duration::from_secs(1)).await;
    let refused = create("one-more".to_owned()).await.unwrap_err();
    assert!(refused.to_string().contains("limits.auto_create_max"), "{refused}");
    assert!(refused.quota().is_none(), "no time helps");
    set(203, 1000);
    tokio::time::advance(Duration::from_secs(1)).await;
    // Two others are being defined at this moment.
    let others = (catalog.first_uses.begin(), catalog.first_uses.begin());
    let refused = create("one-more".to_owned()).await.unwrap_err();
    assert!(refused.to_string().contains("203 sequences are defined"), "{refused}");
    drop(others);
    create("one-more".to_owned()).await.unwrap();
}
