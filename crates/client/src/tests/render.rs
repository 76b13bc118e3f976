//! Local rendering: order, partitions, the end of a period, and changes of a definition.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use sequent_core::{BoxFuture, SourceError};
use sequent_format::Timestamp;
use sequent_format::{Arguments, Function};
use sequent_proto::v1;
use sequent_testkit::{PausedClock, SeededEntropy};

use crate::{
    client::{Client, environment::Environment, options::Options},
    error::ErrorKind,
    lease::request_scope::RequestScope,
    memory::{Memory, Templates},
    render::local_render::{LocalRenderer, Version},
    transport::{GrantResponse, NumberRequest, Refusal, TemplateData, Transport, Verb},
};

/// Cluster in memory whose definition can change. It records its requests.
struct Changing {
    version: AtomicU32,
    memories: Mutex<Vec<Arc<Memory>>>,
    asks: Mutex<Vec<(Verb, u32)>>,
}

impl Changing {
    fn new(template: &str) -> Arc<Self> {
        let made = Self { version: AtomicU32::new(1), memories: Mutex::default(), asks: Mutex::default() };
        made.memories.lock().unwrap().push(memory(template));
        Arc::new(made)
    }

    /// Defines another template as the next version.
    fn define(&self, template: &str) {
        self.memories.lock().unwrap().push(memory(template));
        self.version.fetch_add(1, Ordering::Relaxed);
    }

    fn asks(&self) -> Vec<(Verb, u32)> {
        std::mem::take(&mut self.asks.lock().unwrap())
    }
}

fn memory(template: &str) -> Arc<Memory> {
    let templates =
        Templates::default().with("order".parse().unwrap(), (template, "UTC"), &<_>::default()).unwrap();
    Memory::new(None, templates)
}

impl Transport for Changing {
    fn address(&self) -> String {
        "changing".to_owned()
    }

    fn ask(self: Arc<Self>, ask: NumberRequest) -> BoxFuture<'static, Result<GrantResponse, Refusal>> {
        self.asks.lock().unwrap().push((ask.verb, ask.count));
        let memory = Arc::clone(self.memories.lock().unwrap().last().unwrap());
        let version = self.version.load(Ordering::Relaxed);
        Box::pin(async move { memory.ask(ask).await.map(|granted| GrantResponse { version, ..granted }) })
    }

    fn check(self: Arc<Self>) -> BoxFuture<'static, Result<(), SourceError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

fn client(cluster: &Arc<Changing>) -> (Client, Arc<PausedClock>) {
    let clock = Arc::new(PausedClock::new());
    let environment =
        Environment { timers: clock.clone(), ages: clock.clone(), entropy: Arc::new(SeededEntropy::new(1)) };
    (Client::scripted(vec![Arc::clone(cluster) as Arc<_>], Options::default(), environment), clock)
}

#[tokio::test(start_paused = true)]
async fn many_texts_cost_few_requests_and_are_in_order() {
    let cluster = Changing::new("N@{ctx,area,len=1}@{seq,w=4}");
    let sequence = client(&cluster).0.sequence("order").unwrap();
    let (a, b) = (sequence.with("area", "a"), sequence.with("area", "b"));
    for number in 1..=40 {
        let issued = a.next_text().await.unwrap();
        assert_eq!((issued.text, issued.number.get()), (format!("Na{number:04}"), number));
        assert_eq!((issued.version, issued.period.as_str()), (1, ""));
    }
    assert!(cluster.asks().len() <= 4, "leases, not a request a text");
    assert_eq!(b.next_text().await.unwrap().text, "Nb0001", "a partition of its own");
    let texts: Vec<String> = b.next_texts(2).await.unwrap().into_iter().map(|issued| issued.text).collect();
    assert_eq!(texts.len(), 2);
    let error = sequence.next_text().await.unwrap_err();
    assert_eq!((error.kind(), error.fields()[0].field.as_str()), (ErrorKind::InvalidArgument, "values.area"));
    let error = a.with("office", "1").next_text().await.unwrap_err();
    assert_eq!(error.fields()[0].field, "values.office");
}

#[tokio::test(start_paused = true)]
async fn a_new_day_has_texts_of_its_own_counter_at_once() {
    let cluster = Changing::new("@{date,yyyyMMddHHmm}-@{seq,w=4,reset=day}");
    let (client, clock) = client(&cluster);
    let sequence = client.sequence("order").unwrap();
    let mut texts = BTreeSet::new();
    let mut days = BTreeSet::new();
    let start = sequent_core::Clock::wall_ms(&*clock);
    for step in 0..60 {
        // From ten minutes before midnight, in steps of half a minute.
        let at = start + 23 * 3_600_000 + 50 * 60_000 + step * 30_000;
        let wall = i64::try_from(at).unwrap() - i64::try_from(sequent_core::Clock::wall_ms(&*clock)).unwrap();
        clock.step_wall(wall);
        let issued = sequence.next_text().await.unwrap();
        let minute = sequent_format::Timestamp::from_millisecond(i64::try_from(at).unwrap()).unwrap();
        assert_eq!(issued.at, minute.to_string().replace('Z', "+00:00"));
        assert_eq!(issued.text[..12], issued.at.replace(['-', 'T', ':'], "")[..12], "the text shows it");
        assert_eq!(issued.period, issued.text[..8], "the number is of that day");
        if days.insert(issued.period.clone()) && days.len() > 1 {
            assert_eq!(issued.number.get(), 1, "a counter of its own");
        }
        assert!(texts.insert(issued.text.clone()), "{} twice", issued.text);
    }
    assert_eq!(days.len(), 2);
    assert!(cluster.asks().len() <= 8, "a minute is no lease of its own");
}

#[tokio::test(start_paused = true)]
async fn a_named_instant_is_the_texts() {
    let cluster = Changing::new("@{date,yyyyMMdd}@{seq,w=4}");
    let sequence = client(&cluster).0.sequence("order").unwrap();
    let then = sequence.at("2017-03-04T23:59:59.5Z");
    for number in 1..=3 {
        let issued = then.next_text().await.unwrap();
        assert_eq!(issued.text, format!("20170304{number:04}"));
        assert_eq!((issued.period.as_str(), issued.at.as_str()), ("20170304", "2017-03-04T23:59:59.5+00:00"));
    }
    assert_eq!(sequence.at("soon").next_text().await.unwrap_err().fields()[0].field, "at");
}

#[tokio::test(start_paused = true)]
async fn numbers_of_another_version_never_get_texts_of_the_one_before() {
    let cluster = Changing::new("A@{seq,w=4}");
    let (client, clock) = client(&cluster);
    let sequence = client.sequence("order").unwrap();
    assert_eq!(sequence.next_text().await.unwrap().text, "A0001");
    assert_eq!(sequence.next_text().await.unwrap().text, "A0002");
    cluster.define("B@{seq,w=4}");
    // The lease expires. Later numbers are of the new version.
    let mut texts = BTreeSet::new();
    for _ in 0..40 {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        client.state().tick();
        let issued = sequence.next_text().await.unwrap();
        assert_eq!(issued.text.starts_with('A'), issued.version == 1, "{issued:?}");
        assert!(texts.insert(issued.text.clone()), "{} twice", issued.text);
    }
    assert!(texts.last().unwrap().starts_with('B'), "{texts:?}");
    drop(clock);
}

/// Server with a clock offset, whose next version takes effect at an instant.
struct Staged {
    memories: [Arc<Memory>; 2],
    end: Timestamp,
    clock: Arc<PausedClock>,
    behind_ms: i64,
}

impl Transport for Staged {
    fn address(&self) -> String {
        "staged".to_owned()
    }

    fn ask(self: Arc<Self>, ask: NumberRequest) -> BoxFuture<'static, Result<GrantResponse, Refusal>> {
        let wall_ms = sequent_core::Clock::wall_ms(&*self.clock);
        let named = ask.scope.template_input().instant(wall_ms).parse::<Timestamp>().ok();
        let own_ms = i64::try_from(wall_ms).unwrap() - self.behind_ms;
        let later = named.unwrap_or(Timestamp::from_millisecond(own_ms).unwrap()) >= self.end;
        let (memory, version_end) =
            (Arc::clone(&self.memories[usize::from(later)]), (!later).then_some(self.end));
        Box::pin(async move {
            let granted = memory.ask(ask).await?;
            let template_data = TemplateData { version_end, ..granted.template_data };
            Ok(GrantResponse { version: 1 + u32::from(later), template_data, ..granted })
        })
    }

    fn check(self: Arc<Self>) -> BoxFuture<'static, Result<(), SourceError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_rendered_by_a_version_from_the_instant_on_at_which_another_takes_effect() {
    for behind_ms in [2000, 0, -2000] {
        let clock = Arc::new(PausedClock::new());
        let start = i64::try_from(sequent_core::Clock::wall_ms(&*clock)).unwrap();
        let end = Timestamp::from_millisecond(start + 5000).unwrap();
        let memories = [memory("A@{seq,w=4}"), memory("B@{seq,w=4}")];
        let server = Arc::new(Staged { memories, end, clock: Arc::clone(&clock), behind_ms });
        let environment = Environment {
            timers: clock.clone(),
            ages: clock.clone(),
            entropy: Arc::new(SeededEntropy::new(1)),
        };
        let client = Client::scripted(vec![server as Arc<_>], Options::default(), environment);
        let sequence = client.sequence("order").unwrap();
        let mut texts = BTreeSet::new();
        for step in 0..40 {
            if step > 0 {
                clock.step_wall(250);
            }
            let issued = sequence.next_text().await.unwrap();
            // A server whose clock is ahead reports the new version early. It is never late.
            let now = Timestamp::from_millisecond(start + step * 250).unwrap();
            if now >= end || issued.version == 1 {
                assert_eq!(issued.version, 1 + u32::from(now >= end), "{issued:?} at {now}, {behind_ms}");
            }
            assert_eq!(issued.text.starts_with('A'), issued.version == 1, "{issued:?}");
            assert!(texts.insert(issued.text.clone()), "{} twice", issued.text);
        }
        assert!(texts.contains("A0001") && texts.contains("B0001"), "both: {texts:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn numbers_of_a_version_are_asked_for_at_an_instant_at_which_it_is_in_effect() {
    let (client, clock) = client(&Changing::new("A@{seq,w=4}"));
    let start = i64::try_from(sequent_core::Clock::wall_ms(&*clock)).unwrap();
    let after = |ms| Timestamp::from_millisecond(start + ms).unwrap();
    let said = v1::Texts {
        template: "A@{seq,w=4}".to_owned(),
        zone: "UTC".to_owned(),
        maxlen: 128,
        charset: String::new(),
        unique: "global".to_owned(),
    };
    let asked = |end, ms| {
        let version = Version { number: 1, end };
        let page = LocalRenderer::first(
            client.state(),
            &RequestScope::of("order".parse().unwrap()),
            (version, &said),
        );
        let now_ms = u64::try_from(start + ms).unwrap();
        page.unwrap().unwrap().lease.scope.template_input().instant(now_ms).parse::<Timestamp>().unwrap()
    };
    assert_eq!(asked(Some(after(5000)), 4000), after(4000));
    assert_eq!(asked(Some(after(5000)), 5000), after(4999), "its last instant, also later");
    assert_eq!(asked(None, 5000), after(5000));
}

#[tokio::test]
async fn a_function_that_the_client_registered_is_rendered_by_it() {
    let define = |_: &Arguments<'_>| Ok(Function::new(1..=1, "A-Z", |_, out| out.write_char('Q')));
    let with = Client::builder().function("SiteCheck", define).in_memory();
    let with = with.template("order", "S@{seq,w=3}@{SiteCheck}", "UTC").unwrap();
    assert_eq!(with.sequence("order").unwrap().next_text().await.unwrap().text, "S001Q");
    let error = Client::in_memory().template("order", "S@{seq,w=3}@{SiteCheck}", "UTC").unwrap_err();
    assert!(error.to_string().contains("SiteCheck is not registered"), "{error}");
}

#[tokio::test]
async fn texts_in_memory_are_counted_as_a_server_counts_them() {
    let client = Client::in_memory();
    let client = client.template("few", "F@{seq,start=95,step=2,w=2,over=error}", "UTC").unwrap();
    let client = client.template("long", "L@{seq,start=1000,step=10,w=5}", "UTC").unwrap();
    let few = client.sequence("few").unwrap();
    assert_eq!(few.next_text().await.unwrap().text, "F95");
    assert_eq!(few.next_text().await.unwrap().text, "F97");
    let error = few.next_texts(2).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exhausted, "all or nothing: {error}");
    let said = "few is at its end, 99: count is 2: at most 1 are allowed, since no more are left";
    assert!(error.to_string().contains(said), "{error}");
    assert_eq!(few.next_text().await.unwrap().text, "F99");
    assert_eq!(few.next_text().await.unwrap_err().kind(), ErrorKind::Exhausted);
    let batch = client.sequence("long").unwrap().next_texts(3).await.unwrap();
    let texts: Vec<_> = batch.iter().map(|issued| issued.text.as_str()).collect();
    assert_eq!(texts, ["L01000", "L01010", "L01020"]);
    let unruly = client.unruly(7).sequence("long").unwrap();
    for _ in 0..20 {
        let number = unruly.next_text().await.unwrap().number.get();
        assert!(number >= 1000 && number % 10 == 0, "{number}");
    }
}

#[tokio::test]
async fn users_tests_have_templates_without_a_server() {
    let client = Client::in_memory().template("repair", "@{ctx,area,len=3}-@{seq,w=5}", "UTC").unwrap();
    let repair = client.sequence("repair").unwrap().with("area", "010");
    assert_eq!(repair.next_text().await.unwrap().text, "010-00001");
    assert_eq!(client.sequence("plain").unwrap().next_text().await.unwrap().text.len(), 1);
    let refused = Client::in_memory().template("x", "@{ctx,store}@{seq}", "UTC").unwrap_err();
    assert!(refused.to_string().contains("S1, column 1"), "{refused}");
    let unruly = client.unruly(7).sequence("repair").unwrap().with("area", "010");
    let mut texts = BTreeSet::new();
    for _ in 0..50 {
        assert!(texts.insert(unruly.next_text().await.unwrap().text), "twice");
    }
}
