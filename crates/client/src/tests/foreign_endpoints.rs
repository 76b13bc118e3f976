//! Foreign endpoints: another program answers at an address.

use std::time::Duration;

use sequent_core::Clock;

use crate::tests::scripted_endpoint::{Act, Bench};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn one_that_is_no_server_costs_no_call_and_is_put_out() {
    for act in [Act::Foreign, Act::Short] {
        let bench = Bench::new(2);
        let orders = bench.client.sequence("order").unwrap();
        bench.endpoints[0].act(act);
        for _ in 0..20 {
            orders.next_batch(3).await.unwrap();
        }
        orders.next_many(100).await.unwrap();
        assert_eq!(bench.endpoints[0].asks().len(), 1, "{act:?}: it is not asked again and again");
        assert!(!bench.client.endpoints()[0].1, "{act:?}: it is out");
        bench.endpoints[0].act(Act::Give);
        bench.pass(3 * SECOND).await;
        assert!(bench.client.endpoints()[0].1, "{act:?}: it is one after all");
    }
}

#[tokio::test(start_paused = true)]
async fn only_where_all_are_none_is_that_the_error() {
    for act in [Act::Foreign, Act::Short] {
        let bench = Bench::new(2);
        let orders = bench.client.sequence("order").unwrap();
        bench.endpoints.iter().for_each(|endpoint| endpoint.act(act));
        // Later calls as well, which cause no further request.
        for _ in 0..4 {
            let begun = bench.clock.now();
            let error = orders.next_batch(3).await.unwrap_err();
            assert_eq!((error.reason(), error.is_retryable()), ("PROTOCOL", false), "{error}");
            assert!(
                error.to_string().contains("http://0") && error.to_string().contains("http://1"),
                "{error}"
            );
            assert_eq!(bench.clock.now() - begun, Duration::ZERO);
        }
        bench.endpoints[1].act(Act::Down);
        bench.pass(3 * SECOND).await;
        let error = orders.next_batch(3).await.unwrap_err();
        assert_eq!((error.reason(), error.is_retryable()), ("SERVER_UNAVAILABLE", true), "{error}");
        bench.endpoints[0].act(Act::Give);
        orders.deadline(3 * SECOND).next_batch(3).await.unwrap();
    }
}
