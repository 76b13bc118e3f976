//! A directory of its own for each test, and the real binary run in it.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

/// The program: another build of it, if one is named, as a release.
fn program() -> OsString {
    std::env::var_os("SEQUENT_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_sequent").into())
}

/// A directory that goes with the test.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

/// With these no slot is passed over for being slow, nor anybody late: on a busy machine a flush takes longer than what counts
/// as slow, and then the numbers are not the lowest ones. For tests of which numbers come, not of when.
pub(crate) const PATIENT: [&str; 6] = [
    "--set",
    "ring.attempt_timeout_ms=20000",
    "--set",
    "ring.slow_after_ms=20000",
    "--set",
    "limits.deadline_ms=60000",
];

/// How a process ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A place that holds an embedded cluster which gave `order` 1 to 5.
    pub(crate) fn with_cluster() -> Self {
        let place = Self::new();
        assert_eq!(place.numbers_patiently(&["next", "order", "-n", "5"]), [1, 2, 3, 4, 5]);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The command, in this directory, deaf to the settings of whoever runs the tests.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_of(program(), args)
    }

    fn command_of(&self, program: impl AsRef<OsStr>, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.dir.path()).stdin(Stdio::null());
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SEQUENT_"))
        {
            command.env_remove(name);
        }
        command.env_remove("SUDO_USER");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    /// A line of a shell, in which `sequent` is the binary, in the same surroundings.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let program = PathBuf::from(program());
        let folder = program.parent().unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let mut command = self.command_of("sh", &["-c", line]);
        command.env("PATH", path).output().unwrap().into()
    }

    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Standard output of a run that must succeed.
    pub(crate) fn text(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        ran.out
    }

    pub(crate) fn numbers(&self, args: &[&str]) -> Vec<u64> {
        self.text(args).lines().map(|line| line.parse().unwrap()).collect()
    }

    /// The same, however slow the machine is.
    pub(crate) fn numbers_patiently(&self, args: &[&str]) -> Vec<u64> {
        self.numbers(&[args, &PATIENT].concat())
    }

    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.text(args)).unwrap()
    }

    /// Puts each of two databases, with its log, into the other's place.
    pub(crate) fn swap(&self, a: &str, b: &str) {
        for extension in ["", "-wal", "-shm"] {
            let [a, b] = [a, b].map(|name| self.path(&format!("{name}{extension}")));
            let aside = self.path("aside");
            for (from, to) in [(&a, &aside), (&b, &a), (&aside, &b)] {
                if from.exists() {
                    fs::rename(from, to).unwrap();
                }
            }
        }
    }

    /// Every file below `name` with its content, so that "nothing was touched" can be said.
    pub(crate) fn content(&self, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut content = BTreeMap::new();
        collect(&self.path(name), &mut content);
        content
    }
}

impl Ran {
    /// What it printed, as JSON.
    pub(crate) fn as_json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The one JSON object on standard error.
    pub(crate) fn error(&self) -> serde_json::Value {
        let line = self.err.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// A run that must have failed in this way, saying each of `words`.
    pub(crate) fn refused(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.out, "", "no result where there is none");
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not in {}", self.err);
        }
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Copies a directory whole, as `cp -r` would.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn collect(path: &Path, content: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let Ok(entries) = fs::read_dir(path) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, content);
        } else if path.is_file() {
            content.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}
