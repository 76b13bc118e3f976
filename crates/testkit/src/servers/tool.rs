//! Small programs run to their end: copies, changes of owner, the servers' own clients.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use tokio::{io::AsyncWriteExt, time::timeout};

/// How long one may take: making a database on a busy machine takes a dozen seconds.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs a program with this input: what it printed, or what it complained about.
pub(crate) async fn run(command: Command, input: &str) -> Result<String, String> {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    let words = words.join(" ");
    let done = timeout(LIMIT, output(command, input)).await;
    let output = done
        .map_err(|_| format!("{words}: not done after {LIMIT:?}"))?
        .map_err(|e| format!("{words}: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("{words}: {}\n{stdout}{stderr}", output.status))
}

async fn output(command: Command, input: &str) -> std::io::Result<std::process::Output> {
    let mut command = tokio::process::Command::from(command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    let write = async {
        // A program that reads no input closes it: what it then says is worth more than this error.
        if let Some(mut stdin) = stdin {
            drop(stdin.write_all(input.as_bytes()).await);
        }
    };
    tokio::join!(write, child.wait_with_output()).1
}

/// Copies a folder with all that is in it, owners too; what is there already is in the way.
pub(crate) async fn copy(from: &Path, to: &Path) {
    demand(Command::new("cp").arg("-a").arg("--reflink=auto").arg("-T").arg(from).arg(to)).await;
}

/// Removes a folder with all that is in it, if it is there.
pub(crate) async fn remove(folder: &Path) {
    demand(Command::new("rm").arg("-rf").arg("--").arg(folder)).await;
}

/// Gives a folder, with all that is in it, to a user.
pub(crate) async fn give(folder: &Path, owner: &str) {
    demand(Command::new("chown").arg("-R").arg(owner).arg(folder)).await;
}

async fn demand(command: &mut Command) {
    let mut same = Command::new(command.get_program());
    same.args(command.get_args());
    if let Err(why) = run(same, "").await {
        panic!("{why}");
    }
}
