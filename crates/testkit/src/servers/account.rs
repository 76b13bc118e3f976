//! As whom a server runs: servers of databases refuse to be root, so root starts them as their package's user.

use std::{os::unix::process::CommandExt, process::Command};

use rustix::process::geteuid;

/// A line of the list of users.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    uid: u32,
    gid: u32,
}

impl Account {
    /// The user that a package made; none where the tests do not run as root, and everything runs as who they are.
    pub(crate) fn of(name: &str, package: &str) -> Option<Self> {
        if !geteuid().is_root() {
            return None;
        }
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let found = users.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let [user, _, uid, gid, ..] = fields[..] else { return None };
            (user == name).then(|| Some(Self { uid: uid.parse().ok()?, gid: gid.parse().ok()? })).flatten()
        });
        Some(found.unwrap_or_else(|| panic!("there is no user {name}: install the Debian package {package}")))
    }

    /// Makes a command run as this user, with none of root's groups.
    pub(crate) fn dress(self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }

    /// As `chown` wants it.
    pub(crate) fn owner(self) -> String {
        format!("{}:{}", self.uid, self.gid)
    }
}
