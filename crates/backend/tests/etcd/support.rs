//! A member with a user who has what the documentation says a role needs, and no more.

use sequent_backend::etcd::{EtcdLedger, EtcdOptions};
use sequent_testkit::servers::Etcd;

pub(crate) fn options(url: &str) -> EtcdOptions {
    // A test's machine may be busy: what is tested is not how fast it connects.
    EtcdOptions {
        create: true,
        connect_limit: std::time::Duration::from_secs(20),
        ..EtcdOptions::from_url(url).unwrap()
    }
}

pub(crate) fn ledger(server: &Etcd) -> EtcdLedger {
    EtcdLedger::new(options(&server.url()))
}
