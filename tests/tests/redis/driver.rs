//! A program that drives a client: it takes numbers as it is told by lines of its input.

use std::{
    io::{BufRead, BufReader, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

use crate::{place::PATIENCE, server::Access};

/// What a client got: numbers, or the error of its library.
pub(crate) type Taken = Result<Vec<u64>, String>;

/// Whoever takes numbers: `one`, `pipeline N`, `transaction N`.
pub(crate) trait Takes {
    fn take(&mut self, what: &str) -> Taken;
}

/// A program that runs; killed when it is dropped.
pub(crate) struct Driver {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

/// The program that drives a library, from the folder that `clients/build` makes.
fn command(library: &str) -> Command {
    match library {
        "redis-py" => {
            let folder = build("python");
            in_folder(&folder.join("venv/bin/python"), &folder, &["redis_py.py"])
        }
        "node-redis" => in_folder(Path::new("node"), &build("node"), &["node_redis.js"]),
        "ioredis" => in_folder(Path::new("node"), &build("node"), &["ioredis.js"]),
        "go-redis" => {
            let folder = build("go");
            in_folder(&folder.join("client"), &folder, &[])
        }
        "jedis" => in_folder(Path::new("java"), &build("java"), &["-cp", "lib/*:classes", "Jedis"]),
        "lettuce" => in_folder(Path::new("java"), &build("java"), &["-cp", "lib/*:classes", "Lettuce"]),
        other => panic!("no program drives {other}"),
    }
}

fn in_folder(program: &Path, folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).args(args);
    command
}

/// The folder of a program, built now if it is not.
fn build(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("redis-clients");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/redis/clients/build");
    let built = Command::new(script).arg(name).arg(&folder).output().unwrap();
    assert!(built.status.success(), "clients/build {name}: {}", String::from_utf8_lossy(&built.stderr));
    folder.join(name)
}

impl Driver {
    /// Connects to a server, speaking this version of RESP.
    pub(crate) fn start(library: &str, to: SocketAddr, resp: u8, access: &Access) -> Self {
        let mut command = command(library);
        let authority =
            access.authority.as_ref().map_or_else(|| "-".to_owned(), |file| file.display().to_string());
        let (host, port) = (to.ip().to_string(), to.port().to_string());
        command.args([&host, &port, &resp.to_string(), &access.token, &authority]);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = piped.spawn().unwrap_or_else(|error| panic!("{library}: {error}"));
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        Self { child, input, lines }
    }
}

impl Takes for Driver {
    fn take(&mut self, what: &str) -> Taken {
        writeln!(self.input, "{what}").unwrap();
        let mut taken = Ok(Vec::new());
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{what}: {error}"));
            match (line.as_str(), &mut taken) {
                (".", _) => return taken,
                (line, _) if line.starts_with('!') => taken = Err(line.to_owned()),
                (line, Ok(numbers)) => numbers.push(line.parse().unwrap_or_else(|_| panic!("{line:?}"))),
                (_, Err(_)) => {}
            }
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
