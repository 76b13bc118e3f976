//! A look into a shard that changes nothing.

use sequent_core::{BoxFuture, Examination, Examine, Key, Life, Sight, SourceError};
use sqlx::query_as;

use super::{SqliteStore, identity::Inspect};
use crate::sqlite::{
    disk,
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Examine for SqliteStore {
    fn examine<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Examination, SourceError>> {
        Box::pin(self.database.look(Look { keys }))
    }
}

struct Look<'a> {
    keys: &'a [Key],
}

impl Work for Look<'_> {
    type Out = Examination;
    const VERB: &'static str = "examine";
    const FRAME: Frame = Frame::Read;

    async fn run(&self, link: &mut Link) -> Result<Examination, Fault> {
        let inspection = Inspect.run(link).await?;
        let (mark,): (i64,) = link.only(query_as("SELECT mark FROM identity")).await?;
        let mut cells = Vec::with_capacity(self.keys.len());
        for key in self.keys {
            cells.push(sight(link, key).await?);
        }
        let facts = disk::facts(link).await?;
        Ok(Examination { inspection, mark: mark.unsigned_abs(), cells, facts })
    }
}

async fn sight(link: &mut Link, key: &Key) -> Result<Sight, Fault> {
    let query = query_as("SELECT life, open, v FROM cells WHERE k = ?1").bind(key.as_str());
    let found: Option<(i64, bool, i64)> = link.row(query).await?;
    Ok(match found {
        None => Sight::Missing,
        Some((life, open, value)) => match u64::try_from(value) {
            Ok(value) => Sight::Held { life: Life::from_stored(life), open, value, expires_ms: None },
            Err(_) => Sight::Odd(value.to_string()),
        },
    })
}
