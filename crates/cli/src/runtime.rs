//! Runtime of a command. It ends with the command.

use std::time::Duration;

use tokio::runtime::Builder;

use crate::failure::Failure;

/// How long blocking calls may take to end once the command has ended. A call to a hanging disk never ends.
const THREADS_WAIT_MAX: Duration = Duration::from_millis(500);

/// Runs a command to its end. Blocking calls that can't end are abandoned.
pub(crate) fn run<T>(
    mut builder: Builder,
    command: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let runtime = builder.enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed(format!("no runtime: {error}")))?;
    let done = runtime.block_on(command);
    runtime.shutdown_timeout(THREADS_WAIT_MAX);
    done
}
