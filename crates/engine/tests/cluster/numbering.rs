//! Numbers from 0, numbers that are the ids themselves, and what a definition says of its reserve.

use sequent_engine::{Body, BodyOptions, Engine, NextRequest, Options, Reason};
use sequent_testkit::Oracle;

use super::{Place, take};

const ZERO: &str = "[[sequence]]\nname = \"zero\"\nstart = 0\nstep = 10\nfits = \"int64\"\n\
    [[sequence]]\nname = \"strict\"\nstart = 0\nplacement = \"dense\"\n\
    [[sequence]]\nname = \"text\"\ntemplate = \"Z@{seq,w=3,start=0,over=error}\"\n";

#[tokio::test]
async fn numbers_begin_at_zero_where_the_definition_says_so() {
    let place = Place::with(ZERO);
    let engine = place.open().await.unwrap();
    let mut spread = take(&engine, "zero", 1000).await.unwrap();
    spread.sort_unstable();
    assert_eq!(spread, (0..1000).map(|place| place * 10).collect::<Vec<u64>>());
    assert_eq!(engine.highest_issued(&"strict".parse().unwrap(), soon(&engine)).await.unwrap(), None);
    assert_eq!(take(&engine, "strict", 1).await.unwrap(), [0]);
    assert_eq!(engine.highest_issued(&"strict".parse().unwrap(), soon(&engine)).await.unwrap(), Some(0));
    assert_eq!(take(&engine, "strict", 2).await.unwrap(), [1, 2]);
    let issued = engine.next(&NextRequest::new("text").unwrap().count(2)).await.unwrap();
    assert_eq!(issued.dated.unwrap().texts, ["Z000", "Z001"]);
    engine.shutdown().await;
    // A text begins where its template says, for what was proven of it holds from there on.
    let fault =
        Body::check(None, 0, 1, None, None, Some(sequent_engine::Texts::new("Z@{seq,w=3}"))).unwrap_err();
    assert!(fault.field == "start" && fault.bound.contains("@{seq,start=0}"), "{fault:?}");
}

fn soon(engine: &Engine) -> std::time::Instant {
    engine.clock().now() + std::time::Duration::from_secs(10)
}

const ENCODED: &str = "[ring]\nshard_bits = 2\nmemory_bits = 1\n\
    [[sequence]]\nname = \"sto\"\nnumbering = \"encoded\"\n";

#[tokio::test]
async fn encoded_numbers_are_ids_with_their_slots_and_low_bits() {
    let mut place = Place::with(&ENCODED.replace("[ring]", "auto_create = [\"*\"]\n[ring]"));
    let engine = place.open().await.unwrap();
    let oracle = Oracle::new();
    let mut numbers = take(&engine, "sto", 64).await.unwrap();
    numbers.sort_unstable();
    for number in &numbers {
        oracle.add(*number, "sto").unwrap();
    }
    // Raw id 1 of slot 0 comes first, (1 << 2 | 0) << 1, and no slot lags: eight raw ids of each.
    assert_eq!(numbers, (8..72).collect::<Vec<u64>>());
    let mut ordinal = take(&engine, "order", 64).await.unwrap();
    ordinal.sort_unstable();
    assert_eq!(ordinal, (1..65).collect::<Vec<u64>>(), "as any other");
    let name = "sto".parse().unwrap();
    let error = engine.define(&name, None, Body::default()).await.unwrap_err();
    assert!(error.to_string().contains("changes numbering from encoded to ordinal"), "{error}");
    let above = NextRequest { above: 71, ..NextRequest::of(name) };
    assert!(engine.next(&above).await.is_ok(), "it was given");
    let above = NextRequest { above: u64::MAX >> 1, ..above };
    assert_eq!(engine.next(&above).await.unwrap_err().reason(), Reason::ClusterBehind);
    engine.shutdown().await;
    place.say(&format!("{ENCODED}end = 100\n"));
    assert!(place.open().await.is_err(), "another content of the version");
}

#[tokio::test]
async fn an_end_of_encoded_numbers_holds() {
    let place = Place::with(&format!("{ENCODED}end = 2000000\nversion = 3\n"));
    let engine = place.open().await.unwrap();
    let shown = engine.cluster().show(&"sto".parse().unwrap()).await.unwrap();
    assert_eq!((shown.summary.start, shown.summary.end, shown.summary.placement), (0, 2_000_000, "spread"));
    engine.shutdown().await;
    for (more, field) in
        [("start = 5\n", "start"), ("step = 2\n", "step"), ("placement = \"dense\"\n", "numbering")]
    {
        let config = format!("{ENCODED}{more}");
        let error = std::panic::catch_unwind(|| Place::with(&config).config()).is_err();
        assert!(error, "{field} is refused");
    }
}

#[tokio::test]
async fn a_sequence_that_holds_nothing_ahead_loses_nothing() {
    let place = Place::with(
        "[[sequence]]\nname = \"lean\"\nreserve_ms = 0\n[[sequence]]\nname = \"usual\"\n\
         [[sequence]]\nname = \"few\"\nat_risk_max = 16\n",
    );
    let engine = Engine::open(place.config(), Options::default()).await.unwrap();
    let mut held = Vec::new();
    for name in ["lean", "usual", "few"] {
        let name = name.parse().unwrap();
        let keyed = engine.reservoir(&name).await.unwrap();
        for _ in 0..200 {
            keyed.reservoir().next(None).await.unwrap();
            assert!(name.as_str() != "lean" || keyed.reservoir().stats().reserve == 0);
        }
        held.push(keyed.reservoir().stats().reserve);
    }
    assert!(held[0] < held[1] && held[1] >= 64 && held[2] <= 16, "{held:?}");
    let options = BodyOptions { at_risk_max: Some(2_000_000), ..BodyOptions::default() };
    let body = Body::default().with_options(&options, None).unwrap();
    let error = engine.define(&"more".parse().unwrap(), None, body).await.unwrap_err();
    assert!(error.to_string().contains("at_risk_max is 2000000: at most 1000000"), "{error}");
    let lease = NextRequest::new("few").unwrap().count(1000);
    let leased = engine.lend(&lease, soon(&engine)).await.unwrap();
    assert_eq!(leased.numbers.count(), 16);
    engine.shutdown().await;
}
