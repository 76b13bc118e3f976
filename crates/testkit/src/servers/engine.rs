//! What differs from one program to the next. A new server is one implementation of [`Engine`].

use std::{
    collections::BTreeMap,
    future::Future,
    path::{Path, PathBuf},
    process::Command,
};

pub use rustix::process::Signal;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{home::Home, program::Program};

/// A program that [`Server`](super::Server) can run.
pub trait Engine: Send + Sync + 'static {
    /// How messages and folders call it.
    const NAME: &'static str;
    /// The program of the server itself.
    const PROGRAM: Program;
    /// The user that its package makes, as whom it runs where the tests are root.
    const ACCOUNT: &'static str;
    /// The signal that asks it to end at once with everything written.
    const STOP: Signal;
    /// Whether its data directory has to be filled by [`create`](Self::create) before the first start.
    const HAS_TEMPLATE: bool;

    /// Fills the data directory, which is not there yet.
    fn create(place: &Place<'_>) -> impl Future<Output = ()> + Send;

    /// The command that starts it, with small buffers and fsync on, listening at the place's port of 127.0.0.1.
    fn command(place: &Place<'_>) -> Command;

    /// Whether it answers, which is more than that its port is open.
    fn answers(port: u16) -> impl Future<Output = bool> + Send;

    /// Removes what it leaves behind outside its folder when it is killed.
    fn sweep(_data: &Path) {}
}

/// Where a server is to live.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub(crate) home: &'a Home,
    /// Its port of 127.0.0.1.
    pub port: u16,
    /// The test's own settings, by the server's names for them.
    pub settings: &'a BTreeMap<String, String>,
}

impl Place<'_> {
    /// Its folder, for sockets and the like.
    pub fn folder(&self) -> &Path {
        self.home.path()
    }

    /// Its data directory.
    pub fn data(&self) -> PathBuf {
        self.home.data()
    }

    /// A command that runs in the folder, as the server's user.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder());
        if let Some(account) = self.home.account() {
            account.dress(&mut command);
        }
        command
    }
}

/// Whether a server, asked this, begins its answer with one of those words.
pub(crate) async fn says(port: u16, ask: &[u8], words: &[&[u8]]) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)).await else { return false };
    if stream.write_all(ask).await.is_err() {
        return false;
    }
    let (mut answer, longest) = (Vec::new(), words.iter().map(|word| word.len()).max().unwrap_or(0));
    while answer.len() < longest && !words.iter().any(|word| answer.starts_with(word)) {
        match stream.read_u8().await {
            Ok(byte) => answer.push(byte),
            Err(_) => return false,
        }
    }
    words.iter().any(|word| answer.starts_with(word))
}
