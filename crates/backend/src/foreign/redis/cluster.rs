//! The primaries of a Redis Cluster, each of which has a part of the keys.

use redis::aio::MultiplexedConnection;

use super::super::refused;
use crate::net::Fault;

/// The slots that the keys of a cluster are spread over.
const SLOTS: u32 = 16_384;

/// A primary with the slots that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Primary {
    /// Empty if the server does not know its own.
    pub(super) host: String,
    pub(super) port: u16,
    slots: Vec<String>,
}

/// The primaries of the server's cluster; empty if it is in none. A user who may not ask is believed to ask no cluster.
///
/// # Errors
///
/// `Refused` if some slots are served by nobody, or move from one primary to another.
pub(super) async fn primaries(connection: &mut MultiplexedConnection) -> Result<Vec<Primary>, Fault> {
    let info: String = redis::cmd("INFO").arg("cluster").query_async(connection).await.unwrap_or_default();
    if !info.lines().any(|line| line.trim_end() == "cluster_enabled:1") {
        return Ok(Vec::new());
    }
    let nodes: String = redis::cmd("CLUSTER").arg("NODES").query_async(connection).await?;
    let primaries: Vec<Primary> = nodes.lines().filter_map(primary).collect();
    let slots = || primaries.iter().flat_map(|primary| &primary.slots);
    if let Some(moving) = slots().find(|slots| slots.starts_with('[')) {
        let text = format!(
            "slots of the Redis Cluster are being moved ({moving}): import when CLUSTER NODES shows none"
        );
        return Err(refused(text).into());
    }
    let served: u32 = slots().map(|slots| count(slots)).sum();
    if served != SLOTS {
        let text = format!("the Redis Cluster serves {served} of {SLOTS} slots: all are expected");
        return Err(refused(text).into());
    }
    Ok(primaries)
}

/// A primary by its line of `CLUSTER NODES`: `ID HOST:PORT@BUS,NAME FLAGS PRIMARY PING PONG EPOCH LINK SLOT ...`.
fn primary(line: &str) -> Option<Primary> {
    let fields: Vec<&str> = line.split(' ').collect();
    let (address, flags, slots) = (fields.get(1)?, fields.get(2)?, fields.get(8..)?);
    if slots.is_empty() || !flags.split(',').any(|flag| flag == "master") {
        return None;
    }
    let (host, port) = address.split('@').next()?.rsplit_once(':')?;
    let slots = slots.iter().map(|slots| (*slots).to_owned()).collect();
    Some(Primary { host: host.to_owned(), port: port.parse().ok()?, slots })
}

/// How many slots a range such as `0-5460`, or one number, has.
fn count(slots: &str) -> u32 {
    let (first, last) = slots.split_once('-').unwrap_or((slots, slots));
    let ends = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
    ends.map_or(0, |(first, last)| last.saturating_sub(first) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_primary_has_its_address_and_slots() {
        let line = "07c3 10.0.0.7:7000@17000,db7 myself,master - 0 0 1 connected 0-5460 5470 [7->-1]";
        let found = primary(line).unwrap();
        assert_eq!((found.host.as_str(), found.port, found.slots.len()), ("10.0.0.7", 7000, 3));
        assert_eq!((count("0-5460"), count("5470"), count("[7->-1]")), (5461, 1, 0));
        assert_eq!(primary(&line.replace("myself,master", "slave")), None);
        assert_eq!(primary("07c3 :7001@17001 master - 0 0 1 connected"), None, "it has no slots");
        assert_eq!(primary(&line.replace("10.0.0.7", "::1")).unwrap().host, "::1");
    }
}
