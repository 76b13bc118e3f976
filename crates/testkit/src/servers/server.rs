//! What can be done to any server: start, kill, suspend, restart, copy its data, put the copy back.

use std::{collections::BTreeMap, fmt, marker::PhantomData, net::SocketAddr, path::PathBuf, time::Duration};

use tokio::{
    sync::Mutex,
    time::{sleep, timeout},
};

use super::{
    account::Account,
    engine::{Engine, Place},
    home::Home,
    port::Port,
    process::Process,
    template, tool,
};

/// Between two looks whether a server answers.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often that is looked at: half a minute and more, as a database that recovers on a busy machine needs.
const LOOKS_MAX: usize = 2_000;
/// How long one look may take.
const LOOK_LIMIT: Duration = Duration::from_secs(2);

/// A real server on a port of 127.0.0.1, with its data in a temporary folder. Dropped, it is killed.
pub struct Server<E: Engine> {
    // First: the process goes before its folder.
    process: Mutex<Option<Process>>,
    settings: Mutex<BTreeMap<String, String>>,
    home: Home,
    port: Port,
    engine: PhantomData<E>,
}

/// A server's data as it was, in a folder of its own.
#[derive(Debug)]
pub struct DataCopy(Home);

impl<E: Engine> Server<E> {
    /// Starts one with fresh data, and waits until it answers.
    ///
    /// # Panics
    ///
    /// If its program is not installed, or does not answer; with the end of its log.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// The same, with settings of the server's own (`innodb_autoinc_lock_mode`, `synchronous_commit`), which also hold
    /// for its later starts.
    pub async fn start_with(settings: &[(&str, &str)]) -> Self {
        let server = Self::without_data(settings).await;
        template::unpack::<E>(&server.home).await;
        server.restart().await;
        server
    }

    /// One that has no data yet, and is not started.
    pub(crate) async fn without_data(settings: &[(&str, &str)]) -> Self {
        let server = Self {
            process: Mutex::default(),
            settings: Mutex::default(),
            home: Home::new(E::NAME, Account::of(E::ACCOUNT, E::PROGRAM.package)).await,
            port: Port::reserve(),
            engine: PhantomData,
        };
        for (name, value) in settings {
            server.set(name, value).await;
        }
        server
    }

    /// Changes a setting for the starts to come.
    pub async fn set(&self, name: &str, value: &str) {
        self.settings.lock().await.insert(name.into(), value.into());
    }

    /// The value of a setting that was set.
    pub(crate) async fn setting(&self, name: &str) -> Option<String> {
        self.settings.lock().await.get(name).cloned()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// The port alone.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Its folder, which holds the log, the data and sockets.
    pub fn folder(&self) -> PathBuf {
        self.home.path().to_owned()
    }

    /// What it has logged, in all its runs.
    pub fn log(&self) -> String {
        let log = std::fs::read(self.home.log()).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Puts a file into its folder that the server alone may read, such as a private key.
    pub async fn keep_file(&self, name: &str, content: &[u8]) -> PathBuf {
        self.home.keep_file(name, content).await
    }

    /// Starts it on the same port and data, and waits until it answers; if it runs, it is stopped first.
    ///
    /// # Panics
    ///
    /// If it ends or does not answer; with the end of its log.
    pub async fn restart(&self) {
        self.stop().await;
        let settings = self.settings.lock().await.clone();
        let command = E::command(&self.place(&settings));
        let mut running = self.process.lock().await;
        let process = running.insert(Process::spawn(command, &self.home.log(), self.home.path()));
        for _ in 0..LOOKS_MAX {
            if let Some(status) = process.ended() {
                panic!("{} ended as it started: {status}; its log ends:\n{}", E::NAME, process.log_tail());
            }
            if timeout(LOOK_LIMIT, E::answers(self.port())).await.unwrap_or(false) {
                return;
            }
            sleep(LOOK_EVERY).await;
        }
        panic!("{} does not answer on {}; its log ends:\n{}", E::NAME, self.address(), process.log_tail());
    }

    /// Stops it as an operator does: everything is written. Nothing happens if it does not run.
    ///
    /// # Panics
    ///
    /// If it does not stop.
    pub async fn stop(&self) {
        let Some(mut process) = self.process.lock().await.take() else { return };
        process.resume();
        let ended = process.end(E::STOP).await;
        assert!(ended.is_some(), "{} does not stop; its log ends:\n{}", E::NAME, process.log_tail());
    }

    /// Kills it with all its children, as `kill -9` does; it is gone when this returns. Nothing happens if it does not
    /// run.
    pub async fn kill(&self) {
        if let Some(process) = self.process.lock().await.take() {
            process.kill().await;
            E::sweep(&self.home.data());
        }
    }

    /// Stops all its processes where they are: connections stay open, nobody answers.
    pub async fn suspend(&self) {
        if let Some(process) = self.process.lock().await.as_ref() {
            process.suspend();
        }
    }

    /// Lets it go on after [`suspend`](Self::suspend).
    pub async fn resume(&self) {
        if let Some(process) = self.process.lock().await.as_ref() {
            process.resume();
        }
    }

    /// Whether its process is there.
    pub async fn runs(&self) -> bool {
        self.process.lock().await.as_mut().is_some_and(|process| process.ended().is_none())
    }

    /// The process, for what this type does not offer; none where it does not run.
    pub async fn pid(&self) -> Option<i32> {
        self.process.lock().await.as_ref().map(Process::pid)
    }

    /// A copy of its data, taken cold: a server that runs is stopped meanwhile.
    pub async fn copy(&self) -> DataCopy {
        let running = self.runs().await;
        self.stop().await;
        let copy = Home::new(E::NAME, self.home.account()).await;
        tool::copy(&self.home.data(), &copy.data()).await;
        if running {
            self.restart().await;
        }
        DataCopy(copy)
    }

    /// Kills it, puts a copy of data in place of its own, and starts it again: as an operator who restores a backup.
    pub async fn restore_from(&self, copy: &DataCopy) {
        self.kill().await;
        tool::remove(&self.home.data()).await;
        tool::copy(&copy.0.data(), &self.home.data()).await;
        self.restart().await;
    }

    /// Where it is there.
    pub(crate) fn place<'a>(&'a self, settings: &'a BTreeMap<String, String>) -> Place<'a> {
        Place { home: &self.home, port: self.port(), settings }
    }
}

impl<E: Engine> Drop for Server<E> {
    fn drop(&mut self) {
        if let Some(process) = self.process.get_mut().take() {
            drop(process);
            E::sweep(&self.home.data());
        }
    }
}

impl<E: Engine> fmt::Debug for Server<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("engine", &E::NAME)
            .field("address", &self.address())
            .finish_non_exhaustive()
    }
}
