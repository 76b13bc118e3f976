//! A connection: what a server says of itself, and who has logged in.

use bson::{Binary, Bson, DateTime, Document, doc, spec::BinarySubtype};

use super::{
    commands::{Failure, mistyped, text},
    double::Role,
    scram::Exchange,
    server::{Lack, State},
};

/// Commands that need no login.
const OPEN: [&str; 7] = ["hello", "isMaster", "ismaster", "saslStart", "saslContinue", "ping", "buildInfo"];
/// Commands on the database `admin` that need no role there.
const HARMLESS: [&str; 5] = ["hello", "isMaster", "ping", "buildInfo", "endSessions"];
/// Commands that change something.
const WRITES: [&str; 3] = ["insert", "findAndModify", "create"];

/// What a server knows of a connection.
#[derive(Debug)]
pub(super) struct Session {
    number: i32,
    exchange: Option<Exchange>,
    user: Option<String>,
}

impl Session {
    pub(super) fn new(number: i32) -> Self {
        Self { number, exchange: None, user: None }
    }

    /// Whether this connection may do that.
    pub(super) fn may(&self, state: &State, name: &str, database: &str) -> Result<(), Failure> {
        if OPEN.contains(&name) || (self.user.is_some() && HARMLESS.contains(&name)) {
            return Ok(());
        }
        if self.user.is_none() {
            return Err(Failure::new(13, "Unauthorized", &format!("Command {name} requires authentication")));
        }
        if database != state.database || (state.lacks(Lack::PrivilegeToWrite) && WRITES.contains(&name)) {
            let text = format!("not authorized on {database} to execute command {name}");
            return Err(Failure::new(13, "Unauthorized", &text));
        }
        Ok(())
    }

    /// `saslStart`.
    pub(super) fn begin(
        &mut self,
        state: &State,
        database: &str,
        command: &Document,
    ) -> Result<Document, Failure> {
        if text(command, "mechanism")? != "SCRAM-SHA-256" {
            return Err(Failure::unknown("a mechanism other than SCRAM-SHA-256"));
        }
        let (exchange, reply) = Exchange::begin(&payload(command)?, "double").ok_or_else(denied)?;
        if exchange.user != state.account.user || database != state.database {
            return Err(denied());
        }
        self.exchange = Some(exchange);
        Ok(said(&reply, false))
    }

    /// `saslContinue`.
    pub(super) fn go_on(&mut self, state: &State, command: &Document) -> Result<Document, Failure> {
        let exchange = self.exchange.take().ok_or_else(denied)?;
        let reply = exchange.end(&payload(command)?, &state.account).ok_or_else(denied)?;
        self.user = Some(exchange.user);
        Ok(said(&reply, true))
    }
}

fn payload(command: &Document) -> Result<String, Failure> {
    match command.get("payload") {
        Some(Bson::Binary(payload)) => String::from_utf8(payload.bytes.clone()).map_err(|_| denied()),
        found => Err(mistyped("payload", found)),
    }
}

fn said(payload: &str, done: bool) -> Document {
    let payload = Binary { subtype: BinarySubtype::Generic, bytes: payload.as_bytes().to_vec() };
    doc! { "conversationId": 1, "done": done, "payload": payload }
}

fn denied() -> Failure {
    Failure::new(18, "AuthenticationFailed", "Authentication failed.")
}

/// `hello`, also by its old name.
pub(super) fn hello(state: &State, session: &Session, name: &str, command: &Document) -> Document {
    let writable = matches!(state.role, Role::Alone | Role::Primary | Role::Router);
    let mut reply = doc! {
        "helloOk": true,
        "topologyVersion": { "processId": state.process, "counter": 0_i64 },
        "maxBsonObjectSize": 16_777_216,
        "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000,
        "localTime": DateTime::now(),
        "logicalSessionTimeoutMinutes": 30,
        "connectionId": session.number,
        "minWireVersion": 0,
        "maxWireVersion": 21,
        "readOnly": false,
    };
    reply.insert(if name == "hello" { "isWritablePrimary" } else { "ismaster" }, writable);
    match state.role {
        Role::Alone => {}
        Role::Router => drop(reply.insert("msg", "isdbgrid")),
        Role::Primary | Role::Secondary => {
            let me = state.address.clone();
            reply.extend(
                doc! { "setName": "rs0", "setVersion": 1, "hosts": [&me], "me": &me, "secondary": !writable },
            );
            if writable {
                reply.extend(doc! { "electionId": state.election, "primary": me });
            }
        }
    }
    if command.contains_key("saslSupportedMechs") {
        reply.insert("saslSupportedMechs", vec!["SCRAM-SHA-256"]);
    }
    reply
}
