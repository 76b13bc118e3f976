//! memcached text protocol: the commands used, and the parser of their answers.

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream},
    net::TcpStream,
};

use super::key_names::Name;
use crate::net::{Cause, Fault};

/// The longest line of an answer, in bytes.
const LINE_BYTES_MAX: u64 = 2048;
/// The largest item that is read, in bytes. Items of this store have about a hundred.
const ITEM_BYTES_MAX: usize = 8192;
/// The most lines of `stats`.
const STATS_MAX: usize = 1024;

/// The byte stream of a connection.
#[derive(Debug)]
pub(super) struct Wire(BufStream<TcpStream>);

/// An item's data, and its version (CAS id), valid on this connection only.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) data: Vec<u8>,
    pub(super) version: u64,
}

/// Condition of a write.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    /// The item still has this version.
    Is(u64),
    /// There is no item.
    Absent,
}

impl Wire {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self(BufStream::new(stream))
    }

    /// Logs in to a server started with `--auth-file`: a `set` of any item with user and password as its data.
    pub(super) async fn log_in(&mut self, user: &str, password: &str) -> Result<(), Fault> {
        let words = format!("{user} {password}");
        let head = format!("set login 0 0 {}\r\n", words.len());
        match self.ask(&[head.as_bytes(), words.as_bytes(), b"\r\n"]).await?.as_str() {
            "STORED" => Ok(()),
            said => Err(Fault::login_refused(format_args!("login of {user}: {said}"))),
        }
    }

    /// Fails if the server does not answer.
    pub(super) async fn ping(&mut self) -> Result<(), Fault> {
        match self.ask(&[b"mn\r\n"]).await?.as_str() {
            "MN" => Ok(()),
            said => Err(unexpected("mn", said)),
        }
    }

    /// Reads an item, if it exists. The server counts it as recently used.
    pub(super) async fn get(&mut self, name: &Name) -> Result<Option<Found>, Fault> {
        let said = self.ask(&[b"mg ", name.bytes(), b" v c\r\n"]).await?;
        self.found(&said).await
    }

    /// Reads two items in one round trip.
    pub(super) async fn get_both(
        &mut self,
        one: &Name,
        other: &Name,
    ) -> Result<(Option<Found>, Option<Found>), Fault> {
        let ask = [b"mg ", one.bytes(), b" v c\r\nmg ", other.bytes(), b" v c\r\n"];
        let said = self.ask(&ask).await?;
        let one = self.found(&said).await?;
        let said = self.line().await?;
        Ok((one, self.found(&said).await?))
    }

    /// Seconds until an item expires; `None` if it never does or does not exist.
    pub(super) async fn expires(&mut self, name: &Name) -> Result<Option<u64>, Fault> {
        match self.ask(&[b"mg ", name.bytes(), b" t\r\n"]).await?.as_str() {
            "EN" | "HD t-1" => Ok(None),
            said => {
                let left = said.strip_prefix("HD t").and_then(|left| left.parse().ok());
                left.map(Some).ok_or_else(|| unexpected("mg", said))
            }
        }
    }

    /// Reads the item after the first line of an answer.
    async fn found(&mut self, said: &str) -> Result<Option<Found>, Fault> {
        if said == "EN" {
            return Ok(None);
        }
        let head = || {
            let (length, version) = said.strip_prefix("VA ")?.split_once(" c")?;
            Some((length.parse::<usize>().ok()?, version.parse().ok()?))
        };
        let (length, version) = head().ok_or_else(|| unexpected("mg", said))?;
        if length > ITEM_BYTES_MAX {
            let cause =
                format!("an item of {length} bytes stands where ours is: at most {ITEM_BYTES_MAX} are read");
            return Err(Fault::refused(cause));
        }
        let mut data = vec![0; length + 2];
        self.0.read_exact(&mut data).await.map_err(|error| broken(&error))?;
        if !data.ends_with(b"\r\n") {
            return Err(unexpected("mg", "data without an end"));
        }
        data.truncate(length);
        Ok(Some(Found { data, version }))
    }

    /// Writes an item; `false` if the condition `when` did not hold.
    pub(super) async fn set(&mut self, name: &Name, data: &[u8], when: When) -> Result<bool, Fault> {
        let flags = match when {
            When::Is(version) => format!(" {} C{version}\r\n", data.len()),
            When::Absent => format!(" {} ME\r\n", data.len()),
        };
        let said = self.ask(&[b"ms ", name.bytes(), flags.as_bytes(), data, b"\r\n"]).await?;
        match said.as_str() {
            "HD" => Ok(true),
            // Wrong version; no item; an item where none was expected.
            "EX" | "NF" | "NS" => Ok(false),
            said => Err(unexpected("ms", said)),
        }
    }

    /// Statistics of the server: the general ones (`""`) or one group.
    pub(super) async fn stats(&mut self, group: &str) -> Result<Vec<(String, String)>, Fault> {
        let mut line = self.ask(&[b"stats ", group.as_bytes(), b"\r\n"]).await?;
        let mut found = Vec::new();
        for _ in 0..STATS_MAX {
            if line == "END" {
                return Ok(found);
            }
            let pair = line.strip_prefix("STAT ").and_then(|pair| pair.split_once(' '));
            let Some((name, value)) = pair else { return Err(unexpected("stats", &line)) };
            found.push((name.to_owned(), value.to_owned()));
            line = self.line().await?;
        }
        Err(Fault::refused(format!("stats has more than {STATS_MAX} lines")))
    }

    async fn ask(&mut self, pieces: &[&[u8]]) -> Result<String, Fault> {
        for piece in pieces {
            self.0.write_all(piece).await.map_err(|error| broken(&error))?;
        }
        self.0.flush().await.map_err(|error| broken(&error))?;
        self.line().await
    }

    async fn line(&mut self) -> Result<String, Fault> {
        let mut line = Vec::new();
        let read = (&mut self.0)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line)
            .await
            .map_err(|error| broken(&error))?;
        if read == 0 {
            return Err(Fault::lost("the server closed the connection"));
        }
        let whole = line.strip_suffix(b"\r\n").ok_or_else(|| Fault::away("a line without an end"))?;
        Ok(String::from_utf8_lossy(whole).trim_end().to_owned())
    }
}

fn broken(error: &std::io::Error) -> Fault {
    Fault::away(Cause::of_io(error))
}

/// The fault for an unexpected answer. Temporary ones evict the shard.
fn unexpected(command: &str, said: &str) -> Fault {
    let cause = format!("{command}: {said:?}");
    if said.contains("unauthenticated") || said.contains("authentication") {
        return Fault::login_refused(format_args!("{cause}: it asks for a login"));
    }
    if said == "ERROR" || said.starts_with("CLIENT_ERROR") {
        return Fault::refused(format!("{cause}: memcached 1.6 with its meta commands is needed"));
    }
    Fault::away(cause)
}

#[cfg(test)]
mod tests {
    use sequent_core::{ErrorKind, Why};

    use super::*;

    #[test]
    fn what_comes_and_goes_evicts_and_what_a_person_must_mend_is_refused() {
        for (said, kind) in [
            ("SERVER_ERROR out of memory storing object", ErrorKind::Unavailable),
            ("CLIENT_ERROR unauthenticated", ErrorKind::Refused),
            ("ERROR", ErrorKind::Refused),
            ("HD c5", ErrorKind::Unavailable),
        ] {
            assert_eq!(unexpected("ms", said).into_error("take").kind(), kind, "{said}");
        }
    }

    #[test]
    fn callers_are_told_what_the_server_and_the_system_say() {
        let why = |fault: Fault| fault.into_error("take").why();
        assert_eq!(why(unexpected("mg", "CLIENT_ERROR unauthenticated")), Some(Why::LoginRefused));
        let error = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        assert_eq!(why(broken(&error)), Some(Why::ConnectionLost));
        assert_eq!(why(unexpected("mg", "SERVER_ERROR")), None);
    }
}
