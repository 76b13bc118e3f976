//! Which verb each route and method of each API needs: one table. A route that is not in it needs a principal, and is
//! refused as soon as it asks for a sequence.

use http::Method;
use sequent_engine::config::Verb;

/// What a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing.
    Nobody,
    /// A principal, whichever.
    Anybody,
    /// A principal that is allowed this verb.
    Verb(Verb),
    /// The same, and nobody at all while `auth.mode` is off.
    Operator(Verb),
}

/// Methods of gRPC.
const GRPC: &[(&str, Need)] = &[
    ("/sequent.v1.Sequences/Next", Need::Verb(Verb::Next)),
    ("/sequent.v1.Sequences/Lease", Need::Verb(Verb::Lease)),
    ("/sequent.v1.Definitions/Define", Need::Verb(Verb::Define)),
    ("/sequent.v1.Definitions/List", Need::Verb(Verb::List)),
    ("/sequent.v1.Definitions/Show", Need::Verb(Verb::Show)),
    ("/sequent.v1.Definitions/Preview", Need::Verb(Verb::Preview)),
    ("/sequent.v1.Definitions/Parse", Need::Verb(Verb::Parse)),
    ("/grpc.health.v1.Health/Check", Need::Nobody),
    ("/grpc.health.v1.Health/Watch", Need::Nobody),
];

/// Methods and paths of HTTP. `*` stands for one segment.
const HTTP: &[(Method, &str, Need)] = &[
    (Method::POST, "/v1/sequences/*/next", Need::Verb(Verb::Next)),
    (Method::GET, "/v1/sequences", Need::Verb(Verb::List)),
    (Method::GET, "/v1/sequences/*", Need::Verb(Verb::Show)),
    (Method::PUT, "/v1/sequences/*", Need::Verb(Verb::Define)),
    (Method::POST, "/v1/preview", Need::Verb(Verb::Preview)),
    (Method::POST, "/v1/parse", Need::Verb(Verb::Parse)),
    (Method::GET, "/livez", Need::Nobody),
    (Method::GET, "/readyz", Need::Nobody),
];

/// Commands of Redis. Those that are not in it need a principal, and have no verb.
const REDIS: &[(&str, Need)] = &[
    ("incr", Need::Verb(Verb::Next)),
    ("incrby", Need::Verb(Verb::Next)),
    ("seq.next", Need::Verb(Verb::Next)),
    ("seq.lease", Need::Verb(Verb::Lease)),
    ("seq.define", Need::Verb(Verb::Define)),
    ("seq.show", Need::Verb(Verb::Show)),
    ("get", Need::Verb(Verb::Show)),
    ("mget", Need::Verb(Verb::Show)),
    ("exists", Need::Verb(Verb::Show)),
    ("type", Need::Verb(Verb::Show)),
    ("ttl", Need::Verb(Verb::Show)),
    ("pttl", Need::Verb(Verb::Show)),
    ("auth", Need::Nobody),
    ("hello", Need::Nobody),
    ("quit", Need::Nobody),
    ("reset", Need::Nobody),
];

/// Methods and paths of the admin listener. The console is a page without data: its script asks for the status.
const ADMIN: &[(Method, &str, Need)] = &[
    (Method::GET, "/", Need::Nobody),
    (Method::GET, "/console", Need::Nobody),
    (Method::GET, "/livez", Need::Nobody),
    (Method::GET, "/readyz", Need::Nobody),
    (Method::GET, "/metrics", Need::Verb(Verb::Metrics)),
    (Method::GET, "/v1/status", Need::Verb(Verb::Status)),
    (Method::POST, "/v1/slots/*/evict", Need::Operator(Verb::Operate)),
    (Method::POST, "/v1/slots/*/drain", Need::Operator(Verb::Operate)),
    (Method::POST, "/v1/slots/*/rescue", Need::Operator(Verb::Operate)),
    (Method::POST, "/v1/sequences/*/advance", Need::Operator(Verb::Operate)),
    (Method::POST, "/v1/sequences/*/forget", Need::Operator(Verb::Operate)),
    (Method::PUT, "/v1/sequences/*", Need::Operator(Verb::Define)),
];

impl Need {
    /// What a method of gRPC needs.
    pub(crate) fn of_grpc(path: &str) -> Self {
        of_path(GRPC, path)
    }

    /// What a method and path of HTTP needs.
    pub(crate) fn of_http(method: &Method, path: &str) -> Self {
        of_route(HTTP, method, path)
    }

    /// What a command of Redis needs, by its name in lower case.
    pub(crate) fn of_redis(command: &str) -> Self {
        of_path(REDIS, command)
    }

    /// What a method and path of the admin listener needs.
    pub(crate) fn of_admin(method: &Method, path: &str) -> Self {
        of_route(ADMIN, method, path)
    }

    /// The verb, if it is one.
    pub(super) fn verb(self) -> Option<Verb> {
        match self {
            Self::Verb(verb) | Self::Operator(verb) => Some(verb),
            _ => None,
        }
    }
}

fn of_path(table: &[(&str, Need)], path: &str) -> Need {
    table.iter().find(|(known, _)| *known == path).map_or(Need::Anybody, |(_, need)| *need)
}

fn of_route(table: &[(Method, &str, Need)], method: &Method, path: &str) -> Need {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let found = table.iter().find(|(known, pattern, _)| known == method && fits(pattern, path));
    found.map_or(Need::Anybody, |(_, _, need)| *need)
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut found) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some("*"), Some(segment)) if !segment.is_empty() => {}
            (Some(wanted), Some(found)) if wanted == found => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_that_is_not_in_the_table_needs_a_principal_and_has_no_verb() {
        for path in ["/v1/sequences//next", "/v1/sequences/a/next/", "/v1/sequences/a/b/next", "/v2"] {
            assert_eq!(Need::of_http(&Method::POST, path), Need::Anybody, "{path}");
        }
        assert_eq!(Need::of_http(&Method::GET, "/v1/sequences/order/next"), Need::Anybody);
        assert_eq!(Need::of_http(&Method::HEAD, "/v1/sequences/order"), Need::Verb(Verb::Show));
        assert_eq!(Need::of_grpc("/sequent.v1.Sequences/next"), Need::Anybody);
        assert_eq!(Need::of_redis("ping"), Need::Anybody);
        assert_eq!(Need::of_redis("incr"), Need::Verb(Verb::Next));
        assert_eq!(Need::of_admin(&Method::HEAD, "/livez"), Need::Nobody);
        assert_eq!(Need::of_admin(&Method::GET, "/v1/status/"), Need::Anybody);
        assert_eq!(Need::of_admin(&Method::POST, "/v1/status"), Need::Anybody);
        assert_eq!(Need::of_admin(&Method::POST, "/v1/slots/1/evict"), Need::Operator(Verb::Operate));
    }
}
