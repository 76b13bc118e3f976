//! `promtool check metrics` over a scrape.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use sequent_testkit::servers::Program;

const PROMTOOL: Program = Program { name: "promtool", package: "prometheus", folders: &[] };

/// Checks that the scrape is well formed, and that promtool has no remark on names and help texts.
pub(crate) fn is_content(shown: &str) {
    let mut command = Command::new(PROMTOOL.path());
    command.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(shown.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success() && said.concat().is_empty(), "{}\n{shown}", said.concat());
}
