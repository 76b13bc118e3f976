//! A directory of its own for each test, and processes in it.

use std::{
    cell::RefCell,
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

/// How long anything may take that has no bound of its own: far more than it should, so that only a hang fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A directory that goes with the test.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

/// How a process ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The binary: what `tests/run` built, or built now. Never two builds at once: tests run after the build, cargo locks the folder.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("SEQUENT_BIN") {
        Some(path) => path.into(),
        None => build(),
    })
}

fn build() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--locked", "--package", "sequent", "--message-format", "json-render-diagnostics"]);
    let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).stderr(Stdio::inherit()).output().unwrap();
    assert!(built.status.success(), "cargo build --package sequent failed");
    let messages = String::from_utf8(built.stdout).unwrap();
    let artifacts = messages.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut executables = artifacts.filter_map(|artifact| artifact["executable"].as_str().map(PathBuf::from));
    executables.next().expect("cargo names the binary that it built")
}

impl Place {
    /// On the disk that holds the checkout's build, because temporary folders are often no real disk.
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The directory of the embedded cluster.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("sequent-data")
    }

    /// The command, in this directory, deaf to the settings of whoever runs the tests.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(args).current_dir(self.dir.path()).stdin(Stdio::null());
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SEQUENT_"))
        {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    /// The numbers that a run prints, which must succeed.
    pub(crate) fn numbers(&self, args: &[&str]) -> Vec<u64> {
        self.run(args).succeeded().numbers()
    }

    /// A process that goes on until it ends or is killed.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::start(self.command(args))
    }

    /// A process that stays, takes `count` numbers a time, and prints them before it asks again.
    pub(crate) fn start_taker(&self, name: &str, count: u64, pause_ms: u64) -> Running {
        self.start_taker_with(&[], name, count, pause_ms)
    }

    /// The same with the configuration that `extra` names as `sequent` would be told: `--config FILE`.
    pub(crate) fn start_taker_with(&self, extra: &[&str], name: &str, count: u64, pause_ms: u64) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taker"));
        let config = extra.get(1).copied().unwrap_or("-");
        command.current_dir(self.dir.path()).stdin(Stdio::null()).arg(self.data());
        command.args([config, name, &count.to_string(), &pause_ms.to_string()]);
        Running::start(command)
    }

    /// The files of a slot: the database, and what SQLite keeps beside it.
    pub(crate) fn shard(&self, slot: u16) -> Vec<PathBuf> {
        with_companions(&self.data().join(format!("shard-{slot}.db")))
    }

    /// The files of the ledger.
    pub(crate) fn ledger(&self) -> Vec<PathBuf> {
        with_companions(&self.data().join("ledger.db"))
    }
}

/// A database file with its log and its shared memory, whether they exist or not.
pub(crate) fn with_companions(database: &Path) -> Vec<PathBuf> {
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", database.display()));
    vec![database.to_owned(), beside("-wal"), beside("-shm")]
}

/// Copies those of `files` that exist to `to`, as `cp` does: new files, or over what is there.
pub(crate) fn copy(files: &[PathBuf], to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in files.iter().filter(|file| file.exists()) {
        fs::copy(file, to.join(file.file_name().unwrap())).unwrap();
    }
}

/// Copies a directory whole.
pub(crate) fn copy_dir(from: &Path, to: &Path) {
    let files: Vec<PathBuf> = fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).collect();
    let (dirs, files): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().partition(|path| path.is_dir());
    copy(&files.into_iter().filter(|path| path.is_file()).collect::<Vec<_>>(), to);
    for dir in dirs {
        copy_dir(&dir, &to.join(dir.file_name().unwrap()));
    }
}

/// Asks until there is an answer, or patience ends; never a guess at how long something takes.
pub(crate) fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

type Lines = std::sync::Arc<std::sync::Mutex<String>>;

/// Reads a pipe in a thread, so that the process never waits for its reader.
fn follow(pipe: impl Read + Send + 'static) -> (Lines, thread::JoinHandle<()>) {
    let lines = Lines::default();
    let kept = Lines::clone(&lines);
    let reader = thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = String::new();
        while pipe.read_line(&mut line).is_ok_and(|length| length > 0) {
            kept.lock().unwrap().push_str(&line);
            line.clear();
        }
    });
    (lines, reader)
}

/// A process that runs; killed when it is dropped.
pub(crate) struct Running {
    child: RefCell<Child>,
    out: (Lines, thread::JoinHandle<()>),
    err: (Lines, thread::JoinHandle<()>),
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = follow(child.stdout.take().unwrap());
        let err = follow(child.stderr.take().unwrap());
        Self { child: RefCell::new(child), out, err }
    }

    /// Sends it a signal by its name: `STOP`, `CONT`, `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.borrow().id().to_string()]).status();
        assert!(sent.unwrap().success(), "kill -s {name}");
    }

    /// Of the process.
    #[allow(dead_code, reason = "the tests of the SDK do")]
    pub(crate) fn id(&self) -> u32 {
        self.child.borrow().id()
    }

    /// The numbers that it has printed so far.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        numbers(&self.out())
    }

    /// What it has printed so far.
    pub(crate) fn out(&self) -> String {
        self.out.0.lock().unwrap().clone()
    }

    /// What it has said so far.
    pub(crate) fn err(&self) -> String {
        self.err.0.lock().unwrap().clone()
    }

    /// Whether it still runs.
    pub(crate) fn runs(&self) -> bool {
        self.child.borrow_mut().try_wait().unwrap().is_none()
    }

    /// Asks until there is an answer, for as long as the process runs and patience lasts.
    pub(crate) fn until<T>(&self, what: &str, mut ask: impl FnMut(&Self) -> Option<T>) -> T {
        eventually(what, || {
            assert!(
                self.runs(),
                "{what}: the process ended, {:?}: {}",
                self.child.borrow_mut().wait(),
                self.err()
            );
            ask(self)
        })
    }

    /// Kills it as `kill -9` does.
    pub(crate) fn kill(self) -> Ran {
        self.child.borrow_mut().kill().unwrap();
        self.wait()
    }

    /// Asks it to end, as Ctrl-C does, and waits.
    pub(crate) fn interrupt(self) -> Ran {
        self.signal("INT");
        self.wait()
    }

    /// Waits until it ends.
    pub(crate) fn wait(self) -> Ran {
        let end = Instant::now() + PATIENCE * 2;
        while self.runs() {
            assert!(Instant::now() < end, "still running after {:?}: {}", PATIENCE * 2, self.err());
            thread::sleep(Duration::from_millis(10));
        }
        let code = self.child.borrow_mut().wait().unwrap().code();
        // A child of the child could hold the pipes for ever; there is none.
        eventually("the end of the pipes", || {
            (self.out.1.is_finished() && self.err.1.is_finished()).then_some(())
        });
        Ran { code, out: self.out(), err: self.err() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.borrow_mut().kill());
        drop(self.child.borrow_mut().wait());
    }
}

fn numbers(out: &str) -> Vec<u64> {
    let whole = out.rfind('\n').map_or("", |end| &out[..end]);
    whole.lines().map(|line| line.parse().unwrap_or_else(|_| panic!("{line:?} is no number"))).collect()
}

impl Ran {
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// A refusal: nothing on standard output, each of `words` on standard error.
    pub(crate) fn refused(self, code: i32, words: &[&str]) -> Self {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not in: {}", self.err);
        }
        self
    }

    /// The numbers printed, one a line; a line that the process was killed in is none.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        numbers(&self.out)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
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
