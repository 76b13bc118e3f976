//! Changes of clocks: an hour that does not exist, a midnight that does not, a day whose last hour is shown twice, and half
//! an hour.

use super::{Case, over};

/// From 01:59:59 clocks go on to 03:00:00.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_the_hour_that_is_not_there() {
    over(Case {
        template: "@{date,yyyyMMddHH}@{ctx,desk,len=1}@{seq,w=5,reset=hour}",
        zone: "America/New_York",
        at: &["2026-03-08T07:00:00Z", "2026-03-08T08:00:00Z"],
        periods: &["2026030801", "2026030803", "2026030804"],
        seed: 4,
    })
    .await;
}

/// The day begins at 01:00: by the day, and by the hour.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_midnight_that_is_not_there() {
    over(Case {
        template: "@{date,yyyyMMdd}@{ctx,desk,len=1}@{seq,w=5}",
        zone: "America/Sao_Paulo",
        at: &["2018-11-04T03:00:00Z"],
        periods: &["20181103", "20181104"],
        seed: 5,
    })
    .await;
    over(Case {
        template: "@{date,yyyyMMddHH}@{ctx,desk,len=1}@{seq,w=5,reset=hour}",
        zone: "Africa/Cairo",
        at: &["2026-04-23T22:00:00Z", "2026-04-23T23:00:00Z"],
        periods: &["2026042323", "2026042401", "2026042402"],
        seed: 6,
    })
    .await;
}

/// At midnight clocks go back to 23:00: the day is not over, and goes on for another hour.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_midnight_that_comes_an_hour_later() {
    over(Case {
        template: "@{date,yyyyMMdd}@{ctx,desk,len=1}@{seq,w=5}",
        zone: "America/Sao_Paulo",
        at: &["2018-02-18T02:00:00Z", "2018-02-18T03:00:00Z"],
        periods: &["20180217", "20180218"],
        seed: 7,
    })
    .await;
}

/// From 01:59:59 clocks go on to 02:30:00, and in autumn back to 01:30:00: an hour of 30 minutes, and one of 90.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_change_by_half_an_hour() {
    let template = "@{date,yyyyMMddHH}@{ctx,desk,len=1}@{seq,w=5,reset=hour}";
    over(Case {
        template,
        zone: "Australia/Lord_Howe",
        at: &["2026-10-03T15:30:00Z", "2026-10-03T16:00:00Z"],
        periods: &["2026100401", "2026100402", "2026100403"],
        seed: 8,
    })
    .await;
    over(Case {
        template,
        zone: "Australia/Lord_Howe",
        at: &["2026-04-04T14:00:00Z", "2026-04-04T15:00:00Z", "2026-04-04T15:30:00Z"],
        periods: &["2026040500", "2026040501", "2026040502"],
        seed: 9,
    })
    .await;
}
