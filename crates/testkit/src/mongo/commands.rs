//! Which commands there are, with which fields, for whom; and how a refusal is said.

use bson::{Bson, Document, doc};

use super::{
    server::{Lack, State},
    session::{self, Session},
    writes,
};

/// A command that was not done, as servers say it.
#[derive(Debug, Clone)]
pub(super) struct Failure(Document);

impl Failure {
    pub(super) fn new(code: i32, name: &str, message: &str) -> Self {
        Self(doc! { "ok": 0.0, "code": code, "codeName": name, "errmsg": message })
    }

    /// What this double can't do, though a server may.
    pub(super) fn unknown(what: &str) -> Self {
        Self::new(238, "NotImplemented", &format!("the double does not know {what}"))
    }

    /// The same as one of the errors in an answer to `insert`.
    pub(super) fn as_write_error(&self) -> Document {
        let mut error = self.0.clone();
        error.remove("ok");
        error.insert("index", 0);
        error
    }
}

/// What may accompany any command: the driver's own.
const ALWAYS: [&str; 3] = ["$db", "lsid", "$readPreference"];

/// Answers a command.
pub(super) fn answer(state: &mut State, session: &mut Session, command: &Document) -> Document {
    match perform(state, session, command) {
        Ok(mut reply) => {
            reply.insert("ok", 1.0);
            reply
        }
        Err(Failure(reply)) => reply,
    }
}

fn perform(state: &mut State, session: &mut Session, command: &Document) -> Result<Document, Failure> {
    let name = command.keys().next().map_or("", String::as_str);
    let known = fields(name, state)?;
    if let Some(field) = command
        .keys()
        .skip(1)
        .find(|field| !ALWAYS.contains(&field.as_str()) && !known.contains(&field.as_str()))
    {
        let text = format!("BSON field '{name}.{field}' is an unknown field.");
        return Err(Failure::new(40415, "Location40415", &text));
    }
    let database = text(command, "$db")?;
    session.may(state, name, database)?;
    match name {
        "hello" | "isMaster" | "ismaster" => Ok(session::hello(state, session, name, command)),
        "saslStart" => session.begin(state, database, command),
        "saslContinue" => session.go_on(state, command),
        "ping" | "endSessions" => Ok(doc! {}),
        "buildInfo" => Ok(doc! { "version": format!("{}-double", state.version) }),
        "find" => writes::find(state, database, command),
        "insert" => writes::insert(state, database, command),
        "findAndModify" => writes::find_and_modify(state, database, command),
        "create" => writes::create(state, database, command),
        _ => writes::list_collections(state, database, command),
    }
}

/// The fields of a command.
fn fields(name: &str, state: &State) -> Result<Vec<&'static str>, Failure> {
    let mut fields = match name {
        "hello" | "isMaster" | "ismaster" => vec![
            "helloOk",
            "backpressure",
            "client",
            "compression",
            "saslSupportedMechs",
            // Answering it is up to the server.
            "speculativeAuthenticate",
        ],
        "saslStart" => vec!["mechanism", "payload", "options"],
        "saslContinue" => vec!["conversationId", "payload"],
        "ping" | "buildInfo" | "endSessions" => vec![],
        "create" => vec!["writeConcern"],
        "listCollections" => vec!["filter"],
        "find" => vec!["filter", "limit", "singleBatch", "collectionUUID"],
        "insert" => vec!["documents", "writeConcern", "collectionUUID"],
        "findAndModify" => vec!["query", "update", "new", "writeConcern", "collectionUUID"],
        other => return Err(Failure::new(59, "CommandNotFound", &format!("no such command: '{other}'"))),
    };
    if state.lacks(Lack::ComparedUuid) {
        fields.retain(|field| *field != "collectionUUID");
    }
    Ok(fields)
}

pub(super) fn text<'a>(command: &'a Document, field: &str) -> Result<&'a str, Failure> {
    command.get_str(field).map_err(|_| mistyped(field, command.get(field)))
}

pub(super) fn document<'a>(command: &'a Document, field: &str) -> Result<&'a Document, Failure> {
    command.get_document(field).map_err(|_| mistyped(field, command.get(field)))
}

pub(super) fn mistyped(field: &str, found: Option<&Bson>) -> Failure {
    Failure::new(14, "TypeMismatch", &format!("{field} is {found:?}"))
}
