//! Tests of retention: expired periods are refused and removed, and stay expired whatever a clock shows.

use super::*;
use crate::{
    config::{Config, Sources},
    issue::request_types::NextRequest,
    open::options::Options,
};
use sequent_core::{Clock, Env, SystemClock};
use std::{
    path::Path,
    sync::atomic::AtomicU64,
    time::{SystemTime, UNIX_EPOCH},
};

const CONFIG: &str = "[[sequence]]\nname = \"order\"\nretain_periods = 2\n\
    template = \"@{date,yyyyMMdd}@{ctx,area,len=3}@{seq,w=5}\"\n";

/// A wall clock that a test sets.
#[derive(Debug, Default)]
struct Dial(AtomicU64);

impl Clock for Dial {
    fn now(&self) -> Instant {
        SystemClock.now()
    }

    fn wall(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

impl Dial {
    fn shows(&self, text: &str) {
        let instant: Timestamp = text.parse().unwrap();
        self.0.store(instant.as_millisecond().try_into().unwrap(), Ordering::Relaxed);
    }
}

async fn opened(folder: &Path, config: &str, clock: &Arc<Dial>) -> Engine {
    let file = folder.join("x.toml");
    std::fs::write(&file, config).unwrap();
    let config = Config::load(&Sources::embedded(folder.join("data")).file(file)).unwrap();
    let env = Env { clock: Arc::clone(clock) as Arc<dyn Clock>, ..Env::default() };
    Engine::open(config, Options { env, ..Options::default() }).await.unwrap()
}

fn of(area: &str) -> NextRequest {
    NextRequest::new("order").unwrap().with("area", area)
}

async fn text(engine: &Engine, request: &NextRequest) -> String {
    engine.next(request).await.unwrap().dated.unwrap().texts.remove(0)
}

async fn refused(engine: &Engine, request: &NextRequest, bound: &str) {
    let error = engine.next(request).await.unwrap_err();
    assert_eq!((error.reason(), error.fields().len()), (Reason::InvalidArgument, 1), "{error}");
    let fault = &error.fields()[0];
    assert!(fault.field == "at" && fault.bound.contains(bound), "{error}");
}

async fn periods(engine: &Engine) -> Vec<String> {
    let held = engine.cluster().show(&"order".parse().unwrap()).await.unwrap().counters;
    let mut periods: Vec<String> =
        held.iter().map(|counter| Key::from_stored(&counter.key).period().to_owned()).collect();
    periods.sort();
    periods.dedup();
    periods
}

#[tokio::test]
async fn what_is_over_is_refused_forgotten_and_stays_over_whatever_a_clock_says() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::<Dial>::default());
    clock.shows("2026-04-01T12:00:00Z");
    let engine = opened(folder.path(), CONFIG, &clock).await;
    for area in ["010", "020"] {
        assert_eq!(text(&engine, &of(area)).await, format!("20260401{area}00001"));
    }
    clock.shows("2026-04-03T12:00:00Z");
    assert_eq!(text(&engine, &of("010").at("2026-04-01")).await, "2026040101000002", "two days are kept");
    assert_eq!(text(&engine, &of("010")).await, "2026040301000001");
    assert_eq!(engine.forget_what_is_over(&mut 0).await, 0, "a fence before the first day");
    assert_eq!(engine.forget_what_is_over(&mut 0).await, 0, "and nothing behind it");
    clock.shows("2026-04-04T00:00:01Z");
    refused(&engine, &of("010").at("2026-04-01"), "period 20260402 or a later one is expected").await;
    assert_eq!(engine.forget_what_is_over(&mut 0).await, 0, "what is over is noted first");
    assert_eq!(periods(&engine).await, ["20260401", "20260403"]);
    let gone = engine.forget_what_is_over(&mut 0).await;
    assert!((2..=8).contains(&gone), "{gone}: two areas, in four slots at most");
    assert_eq!(periods(&engine).await, ["20260403"]);
    assert_eq!(engine.forget_what_is_over(&mut 0).await, 0, "once");
    assert_eq!(text(&engine, &of("010").at("2026-04-03")).await, "2026040301000002");
    engine.shutdown().await;
    // Neither a wrong clock nor a definition with a longer retention makes the first day begin again.
    clock.shows("2026-04-01T12:00:00Z");
    let kept = CONFIG.replace("retain_periods = 2\n", "version = 2\n");
    let engine = opened(folder.path(), &kept, &clock).await;
    refused(&engine, &of("010").at("2026-04-01"), "its period, 20260401, is over for good").await;
    for request in [of("010"), of("030")] {
        let error = engine.next(&request).await.unwrap_err();
        let (reason, text) = (error.reason(), error.to_string());
        assert_eq!((reason, error.fields().len()), (Reason::NoShardAvailable, 0), "{error}");
        assert!(text.contains("its period, 20260401, is over for good"), "{text}");
        assert!(text.contains("this server's clock shows 2026-04-01T12:00:00"), "{text}");
    }
    assert_eq!(
        text(&engine, &of("030").at("2026-04-02")).await,
        "2026040203000001",
        "a day that is not over"
    );
    assert_eq!(engine.forget_what_is_over(&mut 0).await, 0, "nothing says how many are kept");
    engine.shutdown().await;
}

#[tokio::test]
async fn dense_counters_of_periods_that_are_over_are_forgotten_and_begin_no_more() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::<Dial>::default());
    let config = CONFIG.replace("retain_periods", "placement = \"dense\"\nretain_periods");
    clock.shows("2026-04-01T12:00:00Z");
    let engine = opened(folder.path(), &config, &clock).await;
    let dense = async |engine: &Engine| -> Vec<String> {
        let rows = engine.0.cluster.ledger.dense(Some("order"), 100).await.unwrap();
        rows.into_iter().map(|row| row.key.period().to_owned()).collect()
    };
    for (area, number) in [("010", 1), ("020", 1), ("010", 2)] {
        assert_eq!(text(&engine, &of(area)).await, format!("20260401{area}0000{number}"));
    }
    clock.shows("2026-04-03T12:00:00Z");
    assert_eq!(text(&engine, &of("010")).await, "2026040301000001");
    clock.shows("2026-04-04T00:00:01Z");
    assert_eq!(engine.forget_what_is_over(&mut 0).await, 0, "what is over is noted first");
    assert_eq!(dense(&engine).await, ["20260401", "20260401", "20260403"]);
    assert_eq!(engine.forget_what_is_over(&mut 0).await, 2);
    assert_eq!(dense(&engine).await, ["20260403"]);
    assert_eq!(engine.forget_what_is_over(&mut 0).await, 0, "once");
    assert_eq!(text(&engine, &of("010").at("2026-04-03")).await, "2026040301000002");
    engine.shutdown().await;
    clock.shows("2026-04-01T12:00:00Z");
    let kept = config.replace("retain_periods = 2\n", "version = 2\n");
    let engine = opened(folder.path(), &kept, &clock).await;
    refused(&engine, &of("010").at("2026-04-01"), "its period, 20260401, is over for good").await;
    assert_eq!(text(&engine, &of("010").at("2026-04-03")).await, "2026040301000003");
    assert_eq!(dense(&engine).await, ["20260403"]);
    engine.shutdown().await;
}

#[test]
fn only_a_clock_that_went_on_for_long_ends_a_period() {
    let (begin, wall) = (SystemClock.now(), "2026-04-01T12:00:00Z".parse::<Timestamp>().unwrap());
    let mut steadiness = Steadiness::default();
    let mut look = |at_s: u64, off_s: i64| {
        let wall = Timestamp::from_second(wall.as_second() + i64::try_from(at_s).unwrap() + off_s).unwrap();
        steadiness.look(begin + Duration::from_secs(at_s), wall)
    };
    assert!(!look(0, 0) && !look(60, 0) && !look(599, 1));
    assert!(look(600, 2) && look(660, 3), "slewed");
    let days = 3 * 86_400;
    assert!(!look(690, days), "set forward by three days");
    assert!(!look(720, 0), "and back after half a minute");
    assert!(!look(1300, 0) && look(1320, 0));
    assert!(!look(1400, -days) && !look(1900, -days) && look(2000, -days), "it stays so");
}

#[test]
fn no_slot_keeps_the_others_from_forgetting() {
    for slots in [2, 3, 64, 512] {
        let others = usize::from(slots - 1) * share(slots);
        assert!(others > 0 && others + share(slots) <= FORGOTTEN_MAX, "{slots}");
    }
    assert_eq!((share(1), share(1024)), (FORGOTTEN_MAX, 1));
}

#[tokio::test]
async fn how_many_periods_are_kept_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.toml");
    for (from, to, bound) in [
        ("retain_periods = 2", "retain_periods = 0", "1 to 100000 are allowed"),
        ("retain_periods = 2", "retain_periods = 100001", "1 to 100000 are allowed"),
        ("@{date,yyyyMMdd}", "", "never begins again"),
        ("template", "#template", "it belongs to a template"),
    ] {
        std::fs::write(&file, CONFIG.replace(from, to)).unwrap();
        let faults = Config::load(&Sources::embedded(folder.path().join("data")).file(&file)).unwrap_err();
        let said = faults.to_string();
        assert!(said.contains("retain_periods") && said.contains(bound), "{to}: {said}");
    }
}

/// The error of a definition, if it is refused.
async fn defined(engine: &Engine, zone: &str, effective: Option<&str>) -> Result<(), String> {
    let texts = crate::texts::Texts::new("@{date,yyyyMMddHH}@{seq,w=5,reset=hour}")
        .zone(zone)
        .retain_periods(Some(1));
    let body = crate::definition::Body::check(None, 1, 1, None, None, Some(texts)).unwrap();
    let effective = effective.map(|text| crate::definition::Effective::read(text, &body).unwrap());
    let defined = engine.define_from(&"order".parse().unwrap(), (None, effective), body).await;
    defined.map(drop).map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_zone_further_west_waits_for_the_periods_that_are_over() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::<Dial>::default());
    clock.shows("2026-04-01T12:00:00Z");
    let engine = opened(folder.path(), "", &clock).await;
    defined(&engine, "Asia/Shanghai", None).await.unwrap();
    let order = NextRequest::new("order").unwrap();
    assert_eq!(text(&engine, &order).await, "202604012000001");
    engine.forget_what_is_over(&mut 0).await;
    for effective in [None, Some("next-period"), Some("2026-04-01T17:59")] {
        let refused = defined(&engine, "America/New_York", effective).await.unwrap_err();
        let told = "periods up to 2026040118 are over for good, by retain_periods of a version before: \
                    2026-04-01T19:00:00-04:00 or later is expected";
        assert!(refused.contains(told) && refused.contains("clocks of America/New_York show"), "{refused}");
    }
    defined(&engine, "America/New_York", Some("2026-04-01T19:00")).await.unwrap();
    // Ten hours later the clocks of Shanghai are past that hour, and it has not ended.
    clock.shows("2026-04-01T22:59:59Z");
    assert_eq!(text(&engine, &order).await, "202604020600001");
    engine.forget_what_is_over(&mut 0).await;
    clock.shows("2026-04-01T23:00:00Z");
    assert_eq!(text(&engine, &order).await, "202604011900001");
    engine.forget_what_is_over(&mut 0).await;
    assert_eq!(text(&engine, &order).await, "202604011900002");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_zone_further_west_needs_no_wait_where_nothing_of_it_is_over() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::<Dial>::default());
    clock.shows("2026-04-01T12:00:30Z");
    let engine = opened(folder.path(), "", &clock).await;
    defined(&engine, "Asia/Shanghai", None).await.unwrap();
    engine.forget_what_is_over(&mut 0).await;
    defined(&engine, "Asia/Tokyo", None).await.unwrap();
    // A period that was shown in Tokyo is over, though the version in force has not ended it.
    engine.forget_what_is_over(&mut 0).await;
    defined(&engine, "Asia/Bangkok", None).await.unwrap_err();
    defined(&engine, "Asia/Shanghai", None).await.unwrap();
    assert_eq!(text(&engine, &NextRequest::new("order").unwrap()).await, "202604012000001");
    engine.shutdown().await;
}
