//! A server's process: started into a log, killed with all its children, suspended, waited for.

use std::{
    fs::File,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::Signal;
use tokio::time::sleep;

use super::{tree, watchdog::Watchdog};

/// Between two looks at a process.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How often a process is looked at that was killed: after this many it hangs in the kernel.
const LOOKS_MAX: usize = 6_000;
/// How much of the log an error shows.
const LOG_TAIL_BYTES: usize = 4_000;

/// A server's process; dropped, it is killed and waited for.
#[derive(Debug)]
pub(crate) struct Process {
    // First: a watchdog must not outlive the process it would kill.
    watchdog: Option<Watchdog>,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a server whose output goes to the end of `log`; if the test is killed, it dies and `folder` goes.
    pub(crate) fn spawn(mut command: Command, log: &Path, folder: &Path) -> Self {
        let program = command.get_program().to_string_lossy().into_owned();
        let open = || File::options().append(true).create(true).open(log);
        let (out, err) = open()
            .and_then(|out| Ok((out.try_clone()?, out)))
            .unwrap_or_else(|e| panic!("{}: {e}", log.display()));
        command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
        let child = command.spawn().unwrap_or_else(|e| panic!("{program}: {e}"));
        let watchdog = Some(Watchdog::over(number(&child), folder));
        Self { watchdog, child, log: log.to_owned() }
    }

    /// Its number.
    pub(crate) fn pid(&self) -> i32 {
        number(&self.child)
    }

    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Asks it to end, and waits: how it ended, or none where it did not within so many looks.
    pub(crate) async fn end(&mut self, signal: Signal) -> Option<ExitStatus> {
        tree::signal(self.pid(), signal);
        for _ in 0..LOOKS_MAX {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            sleep(LOOK_EVERY).await;
        }
        None
    }

    /// Kills it and all its children at once, and waits until all are gone.
    pub(crate) async fn kill(mut self) {
        let children = self.strike();
        for _ in 0..LOOKS_MAX {
            if self.ended().is_some() && !children.iter().any(|child| tree::is_running(*child)) {
                return;
            }
            sleep(LOOK_EVERY).await;
        }
        panic!("process {} was killed and is still there", self.pid());
    }

    /// The signals of a kill: the parent is stopped first, so that it sees nothing of its children's death.
    fn strike(&mut self) -> Vec<i32> {
        self.watchdog = None;
        if self.ended().is_some() {
            return Vec::new();
        }
        let children = tree::stop(self.pid());
        for pid in children.iter().copied().chain([self.pid()]) {
            tree::signal(pid, Signal::KILL);
        }
        children
    }

    /// Stops it and all its children: connections stay, nobody answers.
    pub(crate) fn suspend(&self) {
        tree::stop(self.pid());
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) {
        tree::go_on(self.pid());
    }

    /// The end of its log.
    pub(crate) fn log_tail(&self) -> String {
        let log = std::fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&log[log.len().saturating_sub(LOG_TAIL_BYTES)..]).into_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.strike();
        drop(self.child.wait());
    }
}

fn number(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap_or_else(|_| panic!("process {} is no process id", child.id()))
}
