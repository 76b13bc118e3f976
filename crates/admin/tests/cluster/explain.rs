//! Where numbers came from, of keys whose periods are over.

use sequent_admin::Admin;
use sequent_core::{
    Key, SequenceName,
    ledger::{Fence, LedgerNote},
};
use sequent_engine::{NextRequest, Values};

use super::Place;

const TEMPLATE: &str = "template = \"@{date,yyyyMMdd}@{ctx,area,len=3}@{seq,w=5}\"\n";

#[tokio::test]
async fn of_a_period_that_is_over_nothing_more_is_known_than_that() {
    for placement in ["spread", "dense"] {
        let config = format!("[[sequence]]\nname = \"order\"\nplacement = \"{placement}\"\n{TEMPLATE}");
        let (place, name) = (Place::with(&config), "order".parse::<SequenceName>().unwrap());
        let engine = place.open().await.unwrap();
        for (day, text) in [("2026-04-01", "2026040101000001"), ("2026-04-03", "2026040301000001")] {
            let issued =
                engine.next(&NextRequest::of(name.clone()).with("area", "010").at(day)).await.unwrap();
            assert_eq!(issued.dated.unwrap().texts, [text]);
        }
        let admin = Admin::of(&engine);
        let explained = async |text| admin.explain_text(&name, text, &Values::new()).await.unwrap().verdict;
        let never = explained("2026040102000001").await;
        assert!(never.ends_with("has not begun: not given"), "{never}");
        let report = admin.cluster().show(&name).await.unwrap();
        let keys = report.counters.iter().map(|counter| &counter.key);
        let keys = keys.chain(report.dense.iter().map(|counter| &counter.key));
        let first = keys.map(|key| Key::from_stored(key)).find(|key| key.period() == "20260401").unwrap();
        let fence = Fence::of(&first).unwrap();
        admin.cluster().ledger.note(&LedgerNote { about: fence.about(), to: fence.to }).await.unwrap();
        let over = explained("2026040102000001").await;
        assert!(over.contains("over, whose counters are deleted: given, if at all, before"), "{over}");
        let never = explained("2026040302000001").await;
        assert!(never.ends_with("has not begun: not given"), "{never}");
        if placement == "dense" {
            for (text, verdict) in
                [("2026040301000001", "come to 1: given"), ("2026040301000002", "come to 1: not given")]
            {
                let said = explained(text).await;
                assert!(said.contains(verdict), "{said}");
            }
        }
        engine.shutdown().await;
    }
}
