//! The commands that read and write documents.

use bson::{Bson, Document, doc};

use super::{
    commands::{Failure, document, mistyped, text},
    data::Collection,
    double::Role,
    query::finds,
    server::{Lack, State},
    update::updated,
};

pub(super) fn find(state: &mut State, database: &str, command: &Document) -> Result<Document, Failure> {
    let name = (database.to_owned(), text(command, "find")?.to_owned());
    compare(state, &name, command)?;
    if command.get_i32("limit").ok() != Some(1) || command.get_bool("singleBatch").ok() != Some(true) {
        return Err(Failure::unknown("a find of more than one document"));
    }
    let filter = document(command, "filter")?;
    let mut batch = Vec::new();
    for candidate in state.storage.now.get(&name).map_or(&[][..], |collection| &collection.documents) {
        if finds(filter, candidate)? {
            batch.push(Bson::Document(candidate.clone()));
            break;
        }
    }
    Ok(cursor(&name, batch))
}

pub(super) fn list_collections(
    state: &mut State,
    database: &str,
    command: &Document,
) -> Result<Document, Failure> {
    let filter = document(command, "filter")?;
    let mut batch = Vec::new();
    for ((held_in, name), collection) in &state.storage.now {
        let info = doc! { "readOnly": false, "uuid": collection.uuid.clone() };
        let found = doc! { "name": name, "type": "collection", "options": {}, "info": info };
        if held_in == database && finds(filter, &found)? {
            batch.push(Bson::Document(found));
        }
    }
    Ok(cursor(&(database.to_owned(), "$cmd.listCollections".to_owned()), batch))
}

fn cursor(name: &(String, String), batch: Vec<Bson>) -> Document {
    doc! { "cursor": { "id": 0_i64, "ns": format!("{}.{}", name.0, name.1), "firstBatch": batch } }
}

pub(super) fn create(state: &mut State, database: &str, command: &Document) -> Result<Document, Failure> {
    let concern = concern(state, command)?;
    let name = (database.to_owned(), text(command, "create")?.to_owned());
    if state.storage.now.contains_key(&name) {
        return Err(Failure::new(
            48,
            "NamespaceExists",
            &format!("Collection {}.{} already exists.", name.0, name.1),
        ));
    }
    state.storage.now.insert(name, Collection::new());
    Ok(acknowledged(state, &concern, doc! {}))
}

pub(super) fn insert(state: &mut State, database: &str, command: &Document) -> Result<Document, Failure> {
    let concern = concern(state, command)?;
    let name = (database.to_owned(), text(command, "insert")?.to_owned());
    let [Bson::Document(new)] = command.get_array("documents").map(Vec::as_slice).unwrap_or_default() else {
        return Err(Failure::unknown("an insert of other than one document"));
    };
    let id = new.get("_id").ok_or_else(|| Failure::unknown("a document without _id"))?;
    if let Err(failure) = compare(state, &name, command) {
        return Ok(doc! { "n": 0, "writeErrors": [failure.as_write_error()] });
    }
    // A collection that is not there is made.
    let collection = state.storage.now.entry(name).or_insert_with(Collection::new);
    if collection.documents.iter().any(|held| held.get("_id") == Some(id)) {
        let failure = Failure::new(11000, "DuplicateKey", &format!("E11000 duplicate key error: _id {id}"));
        return Ok(doc! { "n": 0, "writeErrors": [failure.as_write_error()] });
    }
    collection.documents.push(new.clone());
    Ok(acknowledged(state, &concern, doc! { "n": 1 }))
}

pub(super) fn find_and_modify(
    state: &mut State,
    database: &str,
    command: &Document,
) -> Result<Document, Failure> {
    let concern = concern(state, command)?;
    let name = (database.to_owned(), text(command, "findAndModify")?.to_owned());
    compare(state, &name, command)?;
    let query = document(command, "query")?;
    let update = command.get("update").ok_or_else(|| mistyped("update", None))?;
    let new = command.get_bool("new").unwrap_or(false);
    let documents =
        state.storage.now.get_mut(&name).map_or(&mut [][..], |collection| &mut collection.documents);
    let mut value = None;
    for held in documents {
        if finds(query, held)? {
            let before = std::mem::replace(held, updated(held, update)?);
            value = Some(if new { held.clone() } else { before });
            break;
        }
    }
    let found = i32::from(value.is_some());
    let reply = doc! { "lastErrorObject": { "n": found, "updatedExisting": found == 1 }, "value": value };
    Ok(acknowledged(state, &concern, reply))
}

/// Refuses another collection than the command names by its identity.
fn compare(state: &State, name: &(String, String), command: &Document) -> Result<(), Failure> {
    let Some(expected) = command.get("collectionUUID") else { return Ok(()) };
    let held = state.storage.now.get(name).map(|collection| Bson::Binary(collection.uuid.clone()));
    if held.as_ref() == Some(expected) {
        return Ok(());
    }
    Err(Failure::new(361, "CollectionUUIDMismatch", "Collection UUID does not match that specified"))
}

/// How a write is to be acknowledged; a server that takes no writes refuses here.
fn concern(state: &State, command: &Document) -> Result<Document, Failure> {
    if state.role == Role::Secondary {
        return Err(Failure::new(10107, "NotWritablePrimary", "not primary"));
    }
    let concern = command.get_document("writeConcern").cloned().unwrap_or_default();
    for (field, value) in &concern {
        match (field.as_str(), value) {
            ("w", Bson::String(word)) if word == "majority" => {}
            ("w", Bson::Int32(1)) | ("j", Bson::Boolean(_)) | ("wtimeout", Bson::Int32(_)) => {}
            _ => return Err(Failure::unknown(&format!("write concern {field}: {value:?}"))),
        }
    }
    if concern.get_bool("j").unwrap_or(false) && state.lacks(Lack::Journal) {
        let text = "cannot use 'j' option when a host does not have journaling enabled";
        return Err(Failure::new(2, "BadValue", text));
    }
    Ok(concern)
}

/// The write is done; now it is acknowledged, or not.
fn acknowledged(state: &mut State, concern: &Document, mut reply: Document) -> Document {
    if concern.get_bool("j").unwrap_or(false) {
        state.storage.journal();
    }
    if concern.contains_key("w") && state.lacks(Lack::Majority) && concern.get_str("w").is_ok() {
        let text = "waiting for replication timed out";
        reply.insert(
            "writeConcernError",
            doc! { "code": 64, "codeName": "WriteConcernTimeout", "errmsg": text },
        );
    }
    reply
}
