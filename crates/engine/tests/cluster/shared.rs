//! Several templates that draw from one counter.

use sequent_engine::{Body, Engine, NextRequest, Options, Reason, Texts};
use sequent_testkit::Oracle;

use super::{Place, once, take};

fn config(placement: &str) -> String {
    // The sequence that draws stands first: the order in a file is no matter.
    format!(
        "[[sequence]]\nname = \"bill\"\nplacement = \"{placement}\"\ntemplate = \"B@{{bean,ref=number}}\"\n\
         [[sequence]]\nname = \"credit\"\nplacement = \"{placement}\"\ntemplate = \"C@{{seq,ref=number,w=8}}\"\n\
         [[sequence]]\nname = \"number\"\nplacement = \"{placement}\"\n"
    )
}

/// The next numbers of a sequence, each with its text.
async fn texts(engine: &Engine, name: &str, count: u64) -> Vec<(u64, String)> {
    let issued = engine.next(&NextRequest::new(name).unwrap().count(count)).await.unwrap();
    issued.numbers.numbers().zip(issued.dated.unwrap().texts).collect()
}

#[tokio::test]
async fn several_templates_share_one_counter() {
    for placement in ["spread", "dense"] {
        let (place, oracle) = (Place::with(&config(placement)), Oracle::new());
        let engines =
            [Engine::open(place.config(), Options::default()).await.unwrap(), place.open().await.unwrap()];
        for round in 0..20 {
            let engine = &engines[round % 2];
            for (number, text) in texts(engine, "bill", 3).await {
                oracle.add(number, "bill").unwrap();
                assert_eq!(text, format!("B{number}"));
            }
            for (number, text) in texts(engine, "credit", 2).await {
                oracle.add(number, "credit").unwrap();
                assert_eq!(text, format!("C{number:08}"));
            }
            for number in take(engine, "number", 1).await.unwrap() {
                oracle.add(number, "number").unwrap();
            }
        }
        let shown = engines[0].cluster().show(&"bill".parse().unwrap()).await.unwrap();
        let keys: Vec<_> = shown.counters.iter().map(|counter| counter.key.clone()).collect();
        let dense: Vec<_> =
            shown.dense.iter().map(|counter| (counter.key.as_str(), counter.number)).collect();
        match placement {
            "dense" => assert_eq!(dense, [("number", 120)], "one counter, without gaps"),
            _ => assert!(!keys.is_empty() && keys.iter().all(|key| key == "number"), "{keys:?}"),
        }
        for engine in engines {
            engine.shutdown().await;
        }
        // The same file once more, and another process.
        assert!(place.take("number", 1).await[0] > 120 || placement == "spread");
    }
}

#[tokio::test]
async fn a_counter_that_is_shared_is_not_forgotten_and_one_that_is_none_is_refused() {
    let place = Place::with("");
    let engine = place.open().await.unwrap();
    let [number, bill, other] = ["number", "bill", "other"].map(|name| name.parse().unwrap());
    let plain = Body::check(Some("spread"), 1, 1, None, None, None).unwrap();
    engine.define(&number, None, plain).await.unwrap();
    for (name, template) in [("bill", "B@{bean,ref=number}"), ("credit", "C@{seq,ref=number,w=8}")] {
        let body = Body::check(Some("spread"), 1, 1, None, None, Some(Texts::new(template))).unwrap();
        engine.define(&name.parse().unwrap(), None, body).await.unwrap();
    }
    let error = engine.forget(&number).await.unwrap_err();
    assert_eq!(error.reason(), Reason::DefinitionConflict);
    assert!(error.to_string().contains("draws from the counter of number: forget"), "{error}");
    let of =
        |template: &str| Body::check(Some("spread"), 1, 1, None, None, Some(Texts::new(template))).unwrap();
    for (name, template, part) in [
        (&other, "O@{seq,ref=nobody}", "ref is \"nobody\": no such sequence is defined"),
        (&other, "O@{seq,ref=bill}", "ref is \"bill\": it draws from number itself: say ref=number"),
        (&other, "@{date,yyyy}@{seq,ref=number,w=9}", "counts anew for each year"),
        (&bill, "X@{seq}", "changes its counter from that of number to its own"),
    ] {
        let error = engine.define(name, None, of(template)).await.unwrap_err();
        assert!(error.to_string().contains(part), "{template}: {error}");
    }
    let next = engine.define(&bill, None, of("BB@{seq,ref=number}")).await.unwrap();
    assert_eq!((next.version, next.already), (2, false));
    assert!(next.definition.contains(r#""counter":"number""#), "{}", next.definition);
    for name in [&bill, &"credit".parse().unwrap()] {
        engine.forget(name).await.unwrap();
    }
    engine.forget(&number).await.unwrap();
    engine.shutdown().await;
}

#[tokio::test]
async fn a_counter_ends_where_its_own_sequence_does() {
    let text = "[[sequence]]\nname = \"few\"\nend = 5\n\
        [[sequence]]\nname = \"few-text\"\nplacement = \"dense\"\ntemplate = \"F@{seq,ref=few}\"\n";
    let place = Place::with(text);
    let engine = Engine::open(place.config(), once()).await.unwrap();
    assert_eq!(texts(&engine, "few-text", 3).await.last().unwrap().1, "F3");
    assert_eq!(take(&engine, "few", 2).await.unwrap(), [4, 5]);
    for name in ["few", "few-text"] {
        let error = engine.next(&NextRequest::new(name).unwrap()).await.unwrap_err();
        assert_eq!(error.reason(), Reason::SequenceExhausted, "{error}");
    }
    engine.shutdown().await;
}

/// Templates whose digits end before the counter does would write two numbers alike.
#[tokio::test]
async fn a_counter_is_not_extended_beyond_the_texts_of_those_who_draw_from_it() {
    let text = "[[sequence]]\nname = \"document\"\nplacement = \"dense\"\nend = 99999\n\
        [[sequence]]\nname = \"bill\"\nplacement = \"dense\"\ntemplate = \"A@{seq,ref=document,w=5,over=error}\"\n";
    let place = Place::with(text);
    let engine = place.open().await.unwrap();
    let document = "document".parse().unwrap();
    let to = |end| Body::check(Some("dense"), 1, 1, Some(end), None, None).unwrap();
    let error = engine.define(&document, None, to(999_999)).await.unwrap_err();
    assert!(error.to_string().contains("bill draws from its counter, and would be refused"), "{error}");
    engine.shutdown().await;
}
