//! A load run to its end: by its schedule, or by a person.

use std::{sync::Arc, time::Duration};

use super::{
    load::{Load, Target},
    progress::Progress,
};
use crate::failure::Failure;

/// Runs the load to its end; how long it took.
pub(super) async fn drive<T: Target>(
    load: &Load,
    tasks: usize,
    target: T,
    progress: &Progress,
) -> Result<Duration, Failure> {
    let pacer = std::thread::spawn({
        let schedule = Arc::clone(&load.schedule);
        move || schedule.run()
    });
    let ended = until_over(load, tasks, target, progress).await;
    load.schedule.stop();
    let elapsed = load.schedule.elapsed();
    progress.finish();
    // It sees the stop within a nap.
    drop(pacer.join());
    ended.map(|()| elapsed)
}

/// Runs the load until the schedule ends, or a person does; what is under way is finished first.
async fn until_over(
    load: &Load,
    tasks: usize,
    target: impl Target,
    progress: &Progress,
) -> Result<(), Failure> {
    let running = load.run(tasks, target);
    tokio::pin!(running);
    let ended = loop {
        tokio::select! {
            ended = &mut running => break ended,
            () = progress.run(&load.schedule, &load.tallies) => {}
            interrupted = tokio::signal::ctrl_c() => {
                load.schedule.stop();
                if interrupted.is_err() {
                    break running.await;
                }
            }
        }
    };
    ended.map_err(|error| Failure::failed(format!("a task of the bench died: {error}")))
}
