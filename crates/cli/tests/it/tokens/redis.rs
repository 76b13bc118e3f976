//! Tokens by the protocol of Redis: a client signs in once a connection.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    time::Instant,
};

use super::site::{ALL, NARROW, PATIENCE, Site, principal};
use crate::place::Place;

/// A connection.
pub(super) struct Connection(BufReader<TcpStream>);

impl Connection {
    fn to(site: &Site) -> Self {
        let socket = TcpStream::connect(&site.server.redis).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(socket))
    }

    /// The first line of the reply to an inline request.
    pub(super) fn says(&mut self, line: &str) -> String {
        self.0.get_mut().write_all(format!("{line}\r\n").as_bytes()).unwrap();
        self.line()
    }

    pub(super) fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        assert!(line.ends_with("\r\n"), "closed after {line:?}");
        line.trim_end().to_owned()
    }

    /// A connection that has tried to sign in.
    pub(super) fn by(site: &Site, whose: &str) -> Self {
        let mut connection = Self::to(site);
        if whose != "none" {
            let said = connection.says(&format!("AUTH {}", site.token(whose)));
            let is_known = matches!(whose, "narrow" | "right");
            assert!(said == "+OK" || !is_known && said.starts_with("-WRONGPASS "), "{whose}: {said}");
        }
        connection
    }
}

#[test]
fn who_is_signed_in_changes_with_auth_hello_and_reset() {
    let place = Place::new();
    let parts =
        principal(&place, "right", &["--allow", ALL]) + &principal(&place, "narrow", &["--allow", NARROW]);
    let site = Site::serve(place, &parts);
    let (right, narrow) = (site.token("right"), site.token("narrow"));
    let mut connection = Connection::to(&site);
    let said = connection.says("HELLO 3");
    assert!(said.starts_with("-NOAUTH "), "{said}");
    let said = connection.says(&format!("HELLO 3 AUTH default {right}"));
    assert_eq!(said, "%7", "the answer of RESP3");
    let mut connection = Connection::to(&site);
    assert_eq!(connection.says(&format!("AUTH right {right}")), "+OK");
    assert!(connection.says("INCR plain").starts_with(':'));
    connection.says("CLIENT INFO");
    let mut described = String::new();
    connection.0.read_line(&mut described).unwrap();
    assert!(described.ends_with(" user=right\n"), "{described}");
    connection.line();
    let said = connection.says(&format!("AUTH narrow {right}"));
    assert!(said.starts_with("-WRONGPASS "), "the token of another: {said}");
    assert!(connection.says("INCR plain").starts_with(':'), "a failed sign-in changes nothing");
    assert_eq!(connection.says(&format!("AUTH {narrow}")), "+OK");
    assert!(connection.says("INCR plain").starts_with("-NOPERM "), "another is signed in");
    assert_eq!(connection.says("MULTI"), "+OK");
    assert_eq!(connection.says("INCR plain"), "+QUEUED");
    assert_eq!(connection.says("EXEC"), "*1");
    assert!(connection.line().starts_with("-NOPERM "));
    assert_eq!(connection.says("RESET"), "+RESET");
    assert!(connection.says("INCR plain").starts_with("-NOAUTH "), "nobody is signed in");
}

#[test]
fn a_pipeline_has_the_numbers_of_its_quota_and_no_more() {
    const LIMIT: usize = 100;
    let place = Place::new();
    let part = principal(&place, "shop", &["--allow", ALL]) + "numbers_per_day = 100\n";
    let site = Site::serve(place, &part);
    let mut connection = Connection::by(&site, "shop");
    let mut replies = vec![connection.says(&vec!["INCR plain"; 3 * LIMIT].join("\r\n"))];
    replies.extend((1..3 * LIMIT).map(|_| connection.line()));
    let (given, refused): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.starts_with(':'));
    assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), LIMIT, "{:?}", replies.last());
    assert!(refused.iter().all(|reply| reply.starts_with("-QUOTA QUOTA_EXCEEDED: shop ")), "{refused:?}");
}

#[test]
fn each_name_of_a_command_counts_as_a_request() {
    let place = Place::new();
    let part = principal(&place, "shop", &["--allow", ALL]) + "requests_per_s = 5\n";
    let site = Site::serve(place, &part);
    let mut connection = Connection::by(&site, "shop");
    assert_eq!(connection.says("EXISTS plain order"), ":2");
    for command in ["EXISTS", "MGET"] {
        let said = Connection::by(&site, "shop").says(&format!("{command}{}", " plain".repeat(40)));
        assert!(said.starts_with("-QUOTA QUOTA_EXCEEDED: shop "), "{command}: {said}");
    }
}

/// A connection that is kept: its fast path must hear of a reload.
#[test]
fn a_token_that_is_revoked_ends_on_the_connection_that_signed_in_with_it() {
    let place = Place::new();
    let (stays, goes) =
        (principal(&place, "stays", &["--allow", ALL]), principal(&place, "goes", &["--allow", ALL]));
    let site = Site::serve(place, &format!("{stays}{goes}"));
    let (mut gone, mut kept) = (Connection::by(&site, "goes"), Connection::by(&site, "stays"));
    for _ in 0..5 {
        assert!(gone.says("INCR plain").starts_with(':') && kept.says("INCR plain").starts_with(':'));
    }
    site.configure(&stays);
    let until = Instant::now() + PATIENCE;
    while !gone.says("INCR plain").starts_with("-NOAUTH ") {
        assert!(Instant::now() < until, "the connection goes on");
    }
    assert!(kept.says("INCR plain").starts_with(':'));
}
