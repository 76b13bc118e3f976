//! Ends a server whose test was ended: a test that is killed runs no destructor.

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

/// Waits for the end of its input, which is the end of the test; then there is nobody to tell.
const SCRIPT: &str = "read -r _; kill -9 \"$1\"; sleep 1; rm -rf -- \"$2\"";

/// A shell that outlives the test by a second.
///
/// The parent-death signal would be tied to the thread that started the server, which may end long before the test.
#[derive(Debug)]
pub(crate) struct Watchdog(Child);

impl Watchdog {
    /// Watches over a process and its folder, for as long as this value is there.
    pub(crate) fn over(pid: i32, folder: &Path) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "watchdog", &pid.to_string()]).arg(folder).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Who ends the test may end its whole group.
        let child = command.process_group(0).spawn();
        Self(child.unwrap_or_else(|e| panic!("sh, to watch over a server: {e}")))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
