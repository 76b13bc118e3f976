//! Templates in a cluster: texts, counters by period and values, and what is refused before a number is consumed.

use sequent_engine::{Dated, Engine, EngineError, Issued, NextRequest, Options, Reason};

use super::Place;

/// A definition with a template, of Shanghai.
fn part(name: &str, template: &str, more: &str) -> String {
    format!("[[sequence]]\nname = \"{name}\"\ntemplate = '{template}'\nzone = \"Asia/Shanghai\"\n{more}\n")
}

fn ask(name: &str) -> NextRequest {
    NextRequest::new(name).unwrap()
}

async fn dated(engine: &Engine, ask: &NextRequest) -> Dated {
    engine.next(ask).await.unwrap().dated.unwrap()
}

async fn text(engine: &Engine, ask: &NextRequest) -> String {
    dated(engine, ask).await.texts.remove(0)
}

fn numbers(issued: &Issued) -> Vec<u64> {
    issued.numbers.numbers().collect()
}

#[tokio::test]
async fn the_four_forms_come_out_of_a_live_cluster() {
    let forms = [
        part("order", "@{date,yyyyMMdd}@{seq,order,w=5}", ""),
        part("repair", "@{ctx,area,len=3}-@{ctx,office,len=4}-@{seq,repair,w=5}", ""),
        part("leave", "QJ@{seq,leave,w=6}", ""),
        part(
            "doc",
            "@{ctx,prefix,len=1}@{date,yyMMdd}@{ctx,infix,len=1}@{seq,doc,w=6}@{ctx,suffix,len=1}",
            "",
        ),
    ];
    let place = Place::with(&forms.concat());
    let engine = place.open().await.unwrap();
    let order = dated(&engine, &ask("order").at("2017-03-04T09:30:00+08:00").count(2)).await;
    assert_eq!(order.texts, ["2017030400001", "2017030400002"]);
    assert_eq!((order.period.as_str(), order.at.as_str()), ("20170304", "2017-03-04T09:30:00+08:00"));
    assert_eq!(order.period_end.unwrap().to_string(), "2017-03-04T16:00:00Z");
    let repair = ask("repair").with("area", "010").with("office", "6541");
    assert_eq!(text(&engine, &repair).await, "010-6541-00001");
    assert_eq!(text(&engine, &ask("leave")).await, "QJ000001");
    let doc = ask("doc").with("prefix", "P").with("infix", "M").with("suffix", "S").at("2011-01-29");
    assert_eq!(text(&engine, &doc).await, "P110129M000001S");
    engine.shutdown().await;
    // And the counters go on in another process.
    let engine = place.open().await.unwrap();
    assert_eq!(text(&engine, &ask("order").at("2017-03-04")).await, "2017030400003");
    assert_eq!(text(&engine, &ask("order").at("2017-03-05")).await, "2017030500001");
    assert_eq!(text(&engine, &repair).await, "010-6541-00002");
    assert_eq!(text(&engine, &repair.clone().with("area", "011")).await, "011-6541-00001");
    engine.shutdown().await;
}

#[tokio::test]
async fn what_a_template_does_not_take_consumes_nothing() {
    let template = "@{date,yyyyMMdd}@{ctx,area,re=[0-9]+}-@{seq,w=5}";
    let place =
        Place::with(&(part("order", template, "window_s = 86400") + "[[sequence]]\nname = \"plain\"\n"));
    let engine = place.open().await.unwrap();
    let good = ask("order").with("area", "010");
    let first = engine.next(&good).await.unwrap();
    let refused = async |ask: &NextRequest| -> EngineError {
        let error = engine.next(ask).await.unwrap_err();
        assert_eq!((error.reason(), error.exit_code()), (Reason::InvalidArgument, 2), "{error}");
        error
    };
    let long = "1".repeat(33);
    for (ask, field, bound) in [
        (ask("order"), "values.area", "the template needs it"),
        (
            good.clone().with("office", "1"),
            "values.office",
            "the template knows no such value: area are allowed",
        ),
        (good.clone().with("area", long), "values.area", "1 to 32 characters are allowed"),
        (good.clone().with("area", "north"), "values.area", "'n' is not allowed there"),
        (good.clone().with("area", ""), "values.area", "1 to 32 characters are allowed"),
        (good.clone().at("yesterday"), "at", "an instant such as 2026-04-01T09:00:00+08:00 is expected"),
        (good.clone().at("2017-03-04"), "at", "at most window_s, 86400 s, from now"),
        (ask("plain").with("area", "010"), "values.area", "no template asks for a value: leave it out"),
        (ask("plain").at("2017-03-04"), "at", "no period and no template asks for an instant: leave it out"),
    ] {
        let error = refused(&ask).await;
        assert_eq!(error.fields()[0].field, field, "{error}");
        assert!(error.to_string().contains(bound), "{error}");
    }
    let next = engine.next(&good).await.unwrap();
    assert_eq!((numbers(&first), numbers(&next)), (vec![1], vec![2]));
    let keyed = engine.reservoir(&good.name).await.err().unwrap();
    assert_eq!(keyed.reason(), Reason::InvalidArgument, "{keyed}");
    engine.shutdown().await;
}

#[tokio::test]
async fn periods_of_a_coming_time_are_given_a_month_ahead_and_not_for_years() {
    let daily = "@{date,yyyyMMdd}@{seq,w=5}";
    let place = Place::with(
        &[part("day", daily, ""), part("wide", daily, "window_s = 8640000"), part("one", "N@{seq,w=5}", "")]
            .concat(),
    );
    let engine = place.open().await.unwrap();
    let now = engine.cluster().now().as_second();
    let after = |days: i64| sequent_engine::Timestamp::from_second(now + days * 86_400).unwrap().to_string();
    for (name, days) in [("day", 30), ("day", -4000), ("wide", 99), ("one", 4000)] {
        let issued = engine.next(&ask(name).at(after(days))).await.unwrap();
        assert_eq!(numbers(&issued), [1], "{name} in {days} days");
    }
    for (name, days, bound) in
        [("day", 32, "at most 31 days from now"), ("wide", 101, "at most window_s, 8640000 s")]
    {
        let error = engine.next(&ask(name).at(after(days))).await.unwrap_err();
        assert_eq!((error.reason(), &*error.fields()[0].field), (Reason::InvalidArgument, "at"), "{error}");
        assert!(error.to_string().contains(bound), "{error}");
    }
    assert_eq!(engine.live_keys(), 4, "what is refused makes no key");
    engine.shutdown().await;
}

#[tokio::test]
async fn no_number_that_is_ready_leaves_without_its_text() {
    let place = Place::with(&part("leave", "QJ@{seq,w=6}", ""));
    let engine = Engine::open(place.config(), Options::default()).await.unwrap();
    for _ in 0..400 {
        // Each take asks for more than itself, once there is a demand.
        engine.next(&ask("leave")).await.unwrap();
        if engine.status().await.keys.iter().any(|key| key.ready > 0) {
            assert_eq!(engine.try_next("leave"), None);
            engine.shutdown().await;
            return;
        }
    }
    panic!("nothing was ready");
}

#[tokio::test]
async fn values_too_long_for_any_key_are_refused_by_length() {
    // Short ones have a key, so the definition is good.
    let template = "@{ctx,a,max=120,re=[a-z]+}-@{ctx,b,max=120,re=[a-z]+}-@{seq,w=8,over=error}";
    let place = Place::with(&part("long", template, "maxlen = 256"));
    let engine = place.open().await.unwrap();
    let long = ask("long").with("a", "x".repeat(120)).with("b", "y".repeat(120));
    let error = engine.next(&long).await.unwrap_err();
    assert_eq!(error.reason(), Reason::InvalidArgument, "{error}");
    let text = error.to_string();
    let bound = "name, period and partition values together may have at most 2";
    assert!(text.starts_with("values is 240 bytes: key of ") && text.contains(bound), "{text}");
    engine.shutdown().await;
}

async fn refusal(place: &Place) -> String {
    let error = place.open().await.err().unwrap();
    assert_eq!(error.exit_code(), 3, "{error}");
    error.to_string()
}

fn version(version: u32, template: &str) -> String {
    part("order", template, &format!("version = {version}"))
}

#[tokio::test]
async fn a_changed_template_follows_where_no_text_can_come_again() {
    let mut place = Place::with(&version(1, "A@{seq,w=5}"));
    let give = async |place: &Place| {
        let engine = place.open().await.unwrap();
        let issued = engine.next(&ask("order")).await.unwrap();
        engine.shutdown().await;
        (issued.version, issued.dated.unwrap().texts.remove(0))
    };
    assert_eq!(give(&place).await, (1, "A00001".to_owned()));
    place.say(&version(2, "A0@{seq,w=4}"));
    let error = refusal(&place).await;
    assert!(error.contains("could give texts of a version before again"), "{error}");
    assert!(error.contains("can both render \"A"), "{error}");
    place.say(&version(1, "B@{seq,w=5}"));
    assert!(refusal(&place).await.contains("a changed definition needs a higher version"));
    place.say(&version(2, "B@{seq,w=5}"));
    assert_eq!(give(&place).await, (2, "B00002".to_owned()), "the same counter goes on");
    place.say(&version(3, "A0@{seq,w=4}"));
    assert!(refusal(&place).await.contains("of a version before"), "also one long ago");
    // The same template again is the same way from numbers to texts.
    place.say(&version(3, "A@{seq,w=5}"));
    assert_eq!(give(&place).await, (3, "A00003".to_owned()));
    place.say("[[sequence]]\nname = \"order\"\nversion = 4\n");
    assert!(refusal(&place).await.contains("has no template any more"));
    place.say(&version(2, "C@{seq}"));
    assert_eq!(give(&place).await.0, 3, "a lower version is ignored");
}

#[tokio::test]
async fn a_key_that_comes_near_its_end_says_so_once() {
    use std::sync::{Arc, Mutex};

    use metrics_util::debugging::{DebugValue, DebuggingRecorder};
    use sequent_core::{Env, Event, Events};

    let recorder = DebuggingRecorder::new();
    let snapshots = recorder.snapshotter();
    let _counted = metrics::set_default_local_recorder(&recorder);
    // How many since the last look.
    let counted = || {
        let shown = snapshots.snapshot().into_vec();
        let found = shown.into_iter().find(|(key, ..)| key.key().name() == "sequent_near_end_total");
        found.map_or(DebugValue::Counter(0), |(.., value)| value)
    };
    for placement in ["spread", "dense"] {
        let text = part(
            "s",
            "S@{ctx,desk,len=1}@{seq,w=4,over=error,warn=1%}",
            &format!("placement = \"{placement}\""),
        );
        let place = Place::with(&text);
        let heard: Arc<Mutex<Vec<(String, u64, u64)>>> = Arc::default();
        let keep = Arc::clone(&heard);
        let events = Events::to(move |event| {
            if let Event::NearEnd { key, number, last } = event {
                keep.lock().unwrap().push((key.to_string(), number, last));
            }
        });
        let options = Options { env: Env { events, ..Env::default() }, ..Options::default() };
        let engine = Engine::open(place.config(), options).await.unwrap();
        let take = async |desk: &str, count: u64| {
            engine.next(&ask("s").with("desk", desk).count(count)).await.unwrap();
        };
        take("a", 80).await;
        assert_eq!(*heard.lock().unwrap(), [], "{placement}");
        assert_eq!(counted(), DebugValue::Counter(0), "{placement}");
        for _ in 0..3 {
            take("a", 40).await;
        }
        take("b", 150).await;
        let heard: Vec<_> = std::mem::take(&mut *heard.lock().unwrap());
        assert_eq!(heard.len(), 2, "{placement}: {heard:?}");
        assert_eq!(counted(), DebugValue::Counter(2), "{placement}: once for each key");
        assert!(heard.iter().all(|(_, number, last)| *number >= 100 && *last == 9999), "{heard:?}");
        assert_eq!(heard.iter().map(|(key, ..)| key.as_str()).collect::<Vec<_>>(), ["s|0:|1:a", "s|0:|1:b"]);
        engine.shutdown().await;
    }
}
