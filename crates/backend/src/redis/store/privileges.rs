//! Excess privileges of the Redis user, for examinations.

use redis::cmd;
use sequent_core::{Fact, FactClass};

use crate::{net::Fault, redis::connection::Connection};

/// The privileges that the user has beyond those needed. A user that may not ask has none too many.
pub(super) async fn excess_privileges(connection: &mut Connection) -> Result<Option<Fact>, Fault> {
    let user: Option<String> = connection.ask_if_allowed(cmd("ACL").arg("WHOAMI")).await?;
    let Some(user) = user else { return Ok(None) };
    let users: Option<Vec<String>> = connection.ask_if_allowed(cmd("ACL").arg("LIST")).await?;
    Ok(users.and_then(|users| excess(&user, &users)))
}

fn excess(user: &str, users: &[String]) -> Option<Fact> {
    let own = |line: &&String| line.split(' ').nth(1) == Some(user);
    let line = users.iter().find(own)?;
    let told = ["nopass", "+@all", "allcommands"];
    let more: Vec<&str> = line.split(' ').filter(|word| told.contains(word)).collect();
    let fact = Fact::new(FactClass::Excess, format!("user {user}"), more.join(" "));
    let fact = fact.expected("a password, and the commands and keys of docs/operating/stores/redis.md");
    let causes = "whoever reaches the port, or gets hold of this login, can change or delete counters";
    let mend = "make the user of docs/operating/stores/redis.md, and name it in the url";
    (!more.is_empty()).then(|| fact.causes(causes).mend(mend))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_do_everything_is_named() {
        let users = ["user default on nopass ~* &* +@all", "user sequent on #ab ~sequent/* -@all +ping"];
        let users = users.map(str::to_owned);
        assert_eq!(excess("default", &users).map(|fact| fact.found), Some("nopass +@all".to_owned()));
        assert_eq!(excess("sequent", &users), None);
    }
}
