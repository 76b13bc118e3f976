//! What is counted as skipped: the ids that nobody will get, and no others.

use sequent_core::Event;

use crate::harness::{Server, World, key};

fn opened(server: &Server) -> u64 {
    sum(server, |event| match event {
        Event::EpochOpened { slot: 0, skipped, .. } => Some(skipped),
        _ => None,
    })
}

fn lifted(server: &Server) -> u64 {
    sum(server, |event| match event {
        Event::Lifted { slot: 0, skipped, .. } => Some(skipped),
        _ => None,
    })
}

fn sum(server: &Server, of: impl Fn(Event) -> Option<u64>) -> u64 {
    server.events().into_iter().filter_map(of).sum()
}

#[tokio::test(start_paused = true)]
async fn a_counter_that_forgot_has_lost_what_was_above_the_last_id_given() {
    for is_new_process in [false, true] {
        println!("another process finds it: {is_new_process}");
        let world = World::new(2);
        let mut server = world.open("server").await;
        let last = server.take_to(0, 500).await;
        if is_new_process {
            server.stop().await;
            server = world.open("next").await;
        }
        let before = opened(&server);
        world.stores[0].empty();
        let next = server.take(0, 1).await.unwrap()[0];
        assert_eq!(opened(&server) - before, next - 1 - last, "{next} follows {last}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_lift_leaves_out_is_counted_once() {
    let world = World::new(2);
    let (first, second) = (world.open("first").await, world.open("second").await);
    let last = first.take_to(0, 50).await;
    second.take(1, 1).await.unwrap();
    let to = last + 700;
    for server in [&first, &second, &first] {
        server.source(&key(), 0).await.unwrap().lift(to).await.unwrap();
    }
    assert_eq!((lifted(&first), lifted(&second)), (700, 0), "it was there when the second came");
    assert_eq!(second.take(0, 1).await.unwrap(), [to + 1]);
}
