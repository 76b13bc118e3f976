//! The programs that judge the files: where they are, and what they say.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use sequent_testkit::servers::Program;

pub(crate) const PROMETHEUS: Program = Program { name: "prometheus", package: "prometheus", folders: &[] };
pub(crate) const ALERTMANAGER: Program =
    Program { name: "prometheus-alertmanager", package: "prometheus-alertmanager", folders: &[] };
pub(crate) const PROMTOOL: Program = Program { name: "promtool", package: "prometheus", folders: &[] };
pub(crate) const AMTOOL: Program =
    Program { name: "amtool", package: "prometheus-alertmanager", folders: &[] };
pub(crate) const HAPROXY: Program = Program { name: "haproxy", package: "haproxy", folders: &["/usr/sbin"] };
pub(crate) const PYTHON: Program = Program { name: "python3", package: "python3", folders: &[] };
pub(crate) const SYSTEMD: Program = Program { name: "systemd-analyze", package: "systemd", folders: &[] };

/// A program with its arguments: what it printed, if it was content.
pub(crate) fn run(program: &Program, args: &[&str], files: &[PathBuf]) -> String {
    let mut command = Command::new(program.path());
    command.args(args).args(files).env("SERVER_A", "127.0.0.1").env("SERVER_B", "localhost");
    finish(command, "").unwrap_or_else(|why| panic!("{why}"))
}

/// Runs a command on this input: what it printed; or, where it failed, all that it said.
pub(crate) fn finish(mut command: Command, input: &str) -> Result<String, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .map_err(|error| format!("{command:?}: {error}"))?;
    let output = child.wait_with_output().map_err(|error| format!("{command:?}: {error}"))?;
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if output.status.success() { Ok(out) } else { Err(format!("{command:?}: {}\n{out}{err}", output.status)) }
}
