//! Threads: one that listens, one for each connection. A kill cuts the connections off; a hanging server reads nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use bson::{Document, oid::ObjectId};

use super::{commands, data::Storage, double::Role, scram::Account, session::Session, wire};

/// How many of the commands that were answered are kept for a test to look at: the last ones.
const KEPT_MAX: usize = 4096;

/// What the server is, and holds.
#[derive(Debug)]
pub(super) struct State {
    pub(super) storage: Storage,
    pub(super) role: Role,
    /// Anew at each start.
    pub(super) process: ObjectId,
    /// Anew at each election.
    pub(super) election: ObjectId,
    pub(super) account: Account,
    pub(super) database: String,
    pub(super) address: String,
    pub(super) version: String,
    lacks: BTreeSet<Lack>,
}

/// What a server may be without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lack {
    Journal,
    ComparedUuid,
    PrivilegeToWrite,
    Majority,
}

impl State {
    /// A server that stands alone, has everything, and holds nothing.
    pub(super) fn new(account: Account, database: &str, address: SocketAddr) -> Self {
        Self {
            storage: Storage::default(),
            role: Role::Alone,
            process: ObjectId::new(),
            election: ObjectId::new(),
            account,
            database: database.to_owned(),
            address: address.to_string(),
            version: "7.0".to_owned(),
            lacks: BTreeSet::new(),
        }
    }

    pub(super) fn lacks(&self, what: Lack) -> bool {
        self.lacks.contains(&what)
    }

    pub(super) fn set(&mut self, what: Lack, lacks: bool) {
        if lacks {
            self.lacks.insert(what);
        } else {
            self.lacks.remove(&what);
        }
    }
}

/// Where connections stand still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hung {
    No,
    /// Nothing is read from them.
    Whole,
    /// What they ask for is done, and not answered.
    Answers,
}

/// What the threads share.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    gate: Mutex<Gate>,
    moved: Condvar,
}

#[derive(Debug)]
struct Gate {
    hung: Hung,
    /// One more with each start; threads of an older one end.
    run: u64,
    runs: bool,
    connections: BTreeMap<i32, TcpStream>,
    next: i32,
    kept: Vec<Document>,
}

impl Shared {
    pub(super) fn new(state: State) -> Arc<Self> {
        let gate = Gate {
            hung: Hung::No,
            run: 0,
            runs: false,
            connections: BTreeMap::new(),
            next: 1,
            kept: Vec::new(),
        };
        Arc::new(Self { state: Mutex::new(state), gate: Mutex::new(gate), moved: Condvar::new() })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens. The port is one that only this server uses.
    pub(super) fn start(self: &Arc<Self>, address: SocketAddr) {
        self.state().process = ObjectId::new();
        let listener = TcpListener::bind(address).unwrap_or_else(|e| panic!("{address}: {e}"));
        let run = {
            let mut gate = self.gate();
            (gate.runs, gate.hung, gate.run, gate.next) = (true, Hung::No, gate.run + 1, 1);
            gate.kept.clear();
            gate.run
        };
        let shared = Arc::clone(self);
        thread::spawn(move || shared.listen(&listener, run));
    }

    /// Ends at once: connections are cut, and what was not journaled is lost.
    pub(super) fn kill(&self, address: SocketAddr) {
        let connections = {
            let mut gate = self.gate();
            if !std::mem::take(&mut gate.runs) {
                return;
            }
            gate.run += 1;
            std::mem::take(&mut gate.connections)
        };
        self.moved.notify_all();
        for stream in connections.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.state().storage.crash();
        // The thread that listens is woken, finds that its run is over, and lets go of the port.
        drop(TcpStream::connect(address));
        while TcpListener::bind(address).is_err() {
            thread::yield_now();
        }
    }

    pub(super) fn hang(&self, hung: Hung) {
        self.gate().hung = hung;
        self.moved.notify_all();
    }

    /// How many connections there are.
    pub(super) fn connections(&self) -> usize {
        self.gate().connections.len()
    }

    /// The commands that were answered in this run, of which the last ones are kept.
    pub(super) fn kept(&self) -> Vec<Document> {
        self.gate().kept.clone()
    }

    fn listen(self: &Arc<Self>, listener: &TcpListener, run: u64) {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            let Ok(copy) = stream.try_clone() else { continue };
            let number = {
                let mut gate = self.gate();
                if gate.run != run {
                    return;
                }
                let number = gate.next;
                gate.next += 1;
                gate.connections.insert(number, copy);
                number
            };
            let shared = Arc::clone(self);
            thread::spawn(move || shared.serve(stream, run, number));
        }
    }

    fn serve(&self, mut stream: TcpStream, run: u64, number: i32) {
        let _ = stream.set_nodelay(true);
        let mut session = Session::new(number);
        while self.converse(&mut stream, run, &mut session).is_some() {}
        let _ = stream.shutdown(Shutdown::Both);
        let mut gate = self.gate();
        if gate.run == run {
            gate.connections.remove(&number);
        }
    }

    /// A request and its answer; none where the connection is at its end.
    fn converse(&self, stream: &mut TcpStream, run: u64, session: &mut Session) -> Option<()> {
        let request = match wire::read(stream) {
            Ok(request) => request?,
            Err(error) => {
                eprintln!("the double cuts a connection off: {error}");
                return None;
            }
        };
        self.pass(run, |hung| hung == Hung::Whole)?;
        let reply = {
            let mut state = self.state();
            // A server that was killed does nothing any more.
            if self.gate().run != run {
                return None;
            }
            commands::answer(&mut state, session, &request.body)
        };
        // Who watches goes on watching, as a server whose disk stands still answers it.
        if !request.body.keys().next().is_some_and(|name| name == "hello" || name == "isMaster") {
            self.pass(run, |hung| hung != Hung::No)?;
            self.keep(request.body);
        }
        wire::write(stream, request.id, &reply).ok()
    }

    /// Waits while the server hangs so; none if it was killed.
    fn pass(&self, run: u64, waits: impl Fn(Hung) -> bool) -> Option<()> {
        let mut gate = self.gate();
        while gate.run == run && waits(gate.hung) {
            gate = self.moved.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        (gate.run == run).then_some(())
    }

    fn keep(&self, command: Document) {
        let mut gate = self.gate();
        if gate.kept.len() == KEPT_MAX {
            gate.kept.drain(..KEPT_MAX / 2);
        }
        gate.kept.push(command);
    }
}
