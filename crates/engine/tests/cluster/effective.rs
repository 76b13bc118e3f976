//! Versions that take effect at an instant: before it the one before is rendered by, on every server.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use sequent_core::{Clock, Env, SystemClock};
use sequent_engine::{
    Body, By, EARLIER_MAX, Effective, Engine, Issued, NextRequest, Options, PreviewAsk, Texts, Timestamp,
    Values,
};

use super::Place;

/// The year's end in Shanghai.
const END: &str = "2026-12-31T16:00:00Z";

/// A clock whose wall shows what a test says.
#[derive(Debug)]
struct Dial(AtomicU64);

impl Clock for Dial {
    fn now(&self) -> Instant {
        SystemClock.now()
    }

    fn wall(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

/// A server, and its clock in milliseconds around the end.
struct Server {
    engine: Engine,
    clock: Arc<Dial>,
}

impl Server {
    async fn open(place: &Place, from_end_ms: i64) -> Self {
        let clock = Arc::new(Dial(AtomicU64::new(0)));
        let env = Env { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Env::default() };
        let server = |engine| Self { engine, clock: Arc::clone(&clock) };
        clock.0.store(ms(from_end_ms), Ordering::Relaxed);
        server(Engine::open(place.config(), Options { env, ..Options::default() }).await.unwrap())
    }

    fn shows(&self, from_end_ms: i64) {
        self.clock.0.store(ms(from_end_ms), Ordering::Relaxed);
    }

    async fn next(&self, request: &NextRequest) -> Issued {
        loop {
            match self.engine.next(request).await {
                Ok(issued) => return issued,
                // A busy machine may be late.
                Err(error) => assert!(error.reason().retry().is_retryable(), "{error}"),
            }
        }
    }

    async fn text(&self, request: &NextRequest) -> (u32, String) {
        let issued = self.next(request).await;
        (issued.version, issued.dated.unwrap().texts.remove(0))
    }

    async fn define(&self, template: &str, effective: Option<&str>) -> Result<(u32, Option<String>), String> {
        let body = body(template);
        let effective = effective.map(|text| Effective::read(text, &body).unwrap());
        let defined = self.engine.define_from(&order().name, (None, effective), body).await;
        defined.map(|report| (report.version, report.effective)).map_err(|error| error.to_string())
    }

    /// Waits until it renders by this version at an instant, as long as that may take on a busy machine.
    async fn hears_of(&self, text: &str, at: &str) {
        let ask = PreviewAsk {
            by: By::Sequence(order().name),
            number: Some(1),
            at: Some(at.to_owned()),
            with: Values::new(),
        };
        for _ in 0..600 {
            if self.engine.preview(&ask).await.is_ok_and(|preview| preview.text == text) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("not within thirty seconds: {text}");
    }
}

fn ms(from_end_ms: i64) -> u64 {
    let end: Timestamp = END.parse().unwrap();
    u64::try_from(end.as_millisecond() + from_end_ms).unwrap()
}

fn order() -> NextRequest {
    NextRequest::new("order").unwrap()
}

fn body(template: &str) -> Body {
    let texts = Texts::new(template).zone("Asia/Shanghai");
    Body::check(None, 1, 1, None, None, Some(texts)).unwrap()
}

fn place(template: &str) -> Place {
    Place::with(&format!(
        "[[sequence]]\nname = \"order\"\ntemplate = '{template}'\nzone = \"Asia/Shanghai\"\n"
    ))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_with_clocks_two_seconds_apart_change_at_the_instant() {
    let place = place("A@{date,yyyyMMdd}-@{seq,w=5,reset=year}");
    let one = Server::open(&place, -60_000).await;
    let two = Server::open(&place, -62_000).await;
    assert_eq!(one.text(&order()).await, (1, "A20261231-00001".to_owned()));
    two.next(&order()).await;
    let defined = one.define("B@{date,yyyyMMdd}-@{seq,w=5,reset=year}", Some(END)).await.unwrap();
    assert_eq!(defined, (2, Some("2027-01-01T00:00:00+08:00".to_owned())));
    two.hears_of("B20270101-00001", END).await;
    let mut texts = BTreeSet::new();
    for step in 0..16 {
        for (server, behind) in [(&one, 0), (&two, 2000)] {
            let from_end = -3500 + step * 500 - behind;
            server.shows(from_end);
            let issued = server.next(&order()).await;
            let dated = issued.dated.unwrap();
            let (version, begin) = if from_end < 0 { (1, "A20261231-") } else { (2, "B20270101-") };
            assert_eq!((issued.version, &dated.texts[0][..10]), (version, begin), "{from_end}");
            assert!(texts.insert(dated.texts[0].clone()), "{} twice", dated.texts[0]);
            let lease = server.engine.lend(&order(), SystemClock.now() + Duration::from_secs(60)).await;
            let lease = lease.unwrap();
            let end = (version == 1).then(|| END.parse().unwrap());
            assert_eq!((lease.version, lease.version_end), (version, end), "a lease ends with its version");
            let by = lease.dated.unwrap().by.unwrap();
            assert!(by.template().starts_with(&begin[..1]), "and is rendered by it: {}", by.template());
        }
    }
    // Whoever names an instant gets the version that is in effect at it.
    let then = order().at("2026-12-31T23:00:00");
    assert!(one.text(&then).await.1.starts_with("A20261231-"));
    assert!(two.text(&order().at("2027-01-01")).await.1.starts_with("B20270101-"));
    for server in [one, two] {
        server.engine.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_counter_without_periods_goes_on_under_the_next_version() {
    let mut place = place("A@{seq,w=6}");
    let server = Server::open(&place, -60_000).await;
    server.next(&order()).await;
    server.define("B@{seq,w=6}", Some(END)).await.unwrap();
    let (mut numbers, mut texts) = (BTreeSet::new(), BTreeSet::new());
    for step in 0..20 {
        server.shows(-1000 + step * 100);
        // Both versions at once, of one counter.
        for (at, version) in
            [(None, 1 + u32::from(step >= 10)), (Some("2026-12-01"), 1), (Some("2027-12-01"), 2)]
        {
            let issued = server.next(&NextRequest { at: at.map(str::to_owned), ..order() }).await;
            assert_eq!(issued.version, version, "step {step}, {at:?}");
            assert!(numbers.insert(issued.numbers.highest()), "{issued:?} twice");
            assert!(texts.insert(issued.dated.unwrap().texts), "twice");
        }
    }
    // A restart reads the same, and the file may name what has taken effect.
    server.engine.shutdown().await;
    let file = format!(
        "[[sequence]]\nname = \"order\"\nversion = 2\ntemplate = 'B@{{seq,w=6}}'\nzone = \"Asia/Shanghai\"\neffective = \"{END}\"\n"
    );
    place.say(&file);
    let server = Server::open(&place, 5000).await;
    assert_eq!(server.text(&order()).await.0, 2);
    assert_eq!(server.text(&order().at("2026-12-01")).await.0, 1);
    server.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_get_texts_at_the_instant_also_where_they_were_ready() {
    let place = Place::with("[[sequence]]\nname = \"order\"\n");
    let server = Server::open(&place, -60_000).await;
    server.next(&order()).await;
    let held = server.engine.reservoir(&order().name).await.unwrap();
    server.define("B@{seq,w=6}", Some(END)).await.unwrap();
    assert!(held.reservoir().next(None).await.is_err(), "who holds its numbers would not see the instant");
    assert!(server.engine.reservoir(&order().name).await.is_err());
    let mut numbers = BTreeSet::new();
    for step in 0..20 {
        server.shows(-1000 + step * 100);
        assert_eq!(server.engine.try_next("order"), None, "nothing is given without a look at the clock");
        let issued = server.next(&order()).await;
        assert_eq!(issued.dated.is_some(), step >= 10, "step {step}");
        assert!(numbers.insert(issued.numbers.highest()), "{issued:?} twice");
    }
    server.engine.shutdown().await;
}

#[tokio::test]
async fn from_when_on_a_version_may_be_in_effect() {
    let place = place("A@{date,yyyyMMdd}-@{seq,w=6}");
    let server = Server::open(&place, -3_600_000).await;
    server.next(&order()).await;
    let near = server.define("B@{date,yyyyMMdd}-@{seq,w=6}", Some("2026-12-31T15:00:05Z")).await.unwrap_err();
    assert!(near.contains("effective is 2026-12-31T15:00:05Z: an instant at least 10 s from now"), "{near}");
    let collides = server.define("A@{date,yyyyMMdd}-@{ctx,x,len=1}@{seq,w=5}", Some(END)).await.unwrap_err();
    assert!(collides.contains("texts of a version before"), "{collides}");
    let short = server.define("B@{date,yyyyMMdd}-@{seq,w=7,over=error}", Some("2027-01-01T12:00")).await;
    assert!(short.as_ref().is_err_and(|why| why.contains("they would share a counter")), "{short:?}");
    let midnight = Some("2027-01-01T00:00:00+08:00".to_owned());
    let defined = server.define("B@{date,yyyyMMdd}-@{seq,w=6}", Some("next-period")).await.unwrap();
    assert_eq!(defined, (2, midnight.clone()), "its period ends then");
    for again in [Some("next-period"), Some(END)] {
        let said = server.define("B@{date,yyyyMMdd}-@{seq,w=6}", again).await.unwrap();
        assert_eq!(said, (2, midnight.clone()), "{again:?}: nothing new");
    }
    let listed = server.engine.cluster().list().await.unwrap().remove(0);
    assert_eq!((listed.version, listed.template.as_deref()), (1, Some("A@{date,yyyyMMdd}-@{seq,w=6}")));
    let waiting = &listed.waiting[0];
    assert_eq!((waiting.version, Some(&waiting.effective)), (2, midnight.as_ref()));
    let later = server.define("B@{date,yyyyMMdd}-@{seq,w=6}", Some("2027-02-01")).await.unwrap_err();
    assert!(later.contains("at most 2026-12-31T16:00:00Z is allowed"), "{later}");
    // A text of what waits may be out already, by an instant that a caller named.
    let mixed = server.define("B@{date,yyyyMMdd}-@{ctx,x,len=1}@{seq,w=5}", Some("now")).await.unwrap_err();
    assert!(mixed.contains("texts of a version before"), "{mixed}");
    // What was there before, defined anew and now, takes the place of what waits.
    assert_eq!(server.define("A@{date,yyyyMMdd}-@{seq,w=6}", Some("now")).await.unwrap(), (3, None));
    server.shows(10_000);
    assert_eq!(server.text(&order()).await, (3, "A20270101-000001".to_owned()));
    let shown = server.engine.cluster().show(&order().name).await.unwrap();
    assert_eq!((shown.summary.version, shown.summary.waiting.len()), (3, 0));
    server.engine.shutdown().await;
}

#[tokio::test]
async fn a_first_version_is_in_effect_at_once() {
    let place = Place::with("auto_create = []\n");
    let server = Server::open(&place, -3_600_000).await;
    let refused = server.define("A@{seq,w=6}", Some(END)).await.unwrap_err();
    assert!(refused.contains("effective is \"2026-12-31T16:00:00Z\": no version is before it"), "{refused}");
    assert_eq!(server.define("A@{seq,w=6}", Some("next-period")).await.unwrap(), (1, None));
    let none = server.define("B@{seq,w=6}", Some("next-period")).await.unwrap_err();
    assert!(none.contains("effective is \"next-period\": neither version has periods"), "{none}");
    server.engine.shutdown().await;
}

#[tokio::test]
async fn versions_that_wait_never_push_out_the_one_that_is_in_effect() {
    let place = place("A@{seq,w=6}");
    let server = Server::open(&place, -3_600_000).await;
    let most = u32::try_from(EARLIER_MAX).unwrap();
    assert_eq!(server.text(&order()).await, (1, "A000001".to_owned()));
    for year in 1..=most {
        let defined =
            server.define(&format!("W{year}-@{{seq,w=6}}"), Some(&format!("20{}-01-01", 30 + year))).await;
        assert_eq!(defined.unwrap().0, 1 + year);
    }
    let ninth = server.define("X-@{seq,w=6}", Some("2050-01-01")).await.unwrap_err();
    assert!(ninth.contains("8 versions wait already, and at most 8 before it are kept"), "{ninth}");
    assert!(ninth.contains("now, or an instant before one of theirs"), "{ninth}");
    assert_eq!(server.text(&order()).await, (1, "A000002".to_owned()));
    // An earlier instant than theirs takes their place.
    assert_eq!(server.define("X-@{seq,w=6}", Some("2031-06-01")).await.unwrap().0, 2 + most);
    assert_eq!(server.text(&order()).await, (1, "A000003".to_owned()));
    server.engine.shutdown().await;
}
