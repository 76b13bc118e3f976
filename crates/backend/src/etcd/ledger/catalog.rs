//! Definitions: the one in force of each.

use std::cmp::Ordering;

use sequent_core::{
    BoxFuture, SourceError,
    ledger::{Advanced, Catalog, Defined, Definition},
};
use serde::{Deserialize, Serialize};

use super::{
    EtcdLedger,
    advances::{Advance, ReadAdvanced},
    rows::scan,
    transact::{Change, Step, look, transact},
};
use crate::{
    etcd::{
        gateway::{Kv, Op, Span},
        link::Link,
        value::{self, or_default, unreadable},
    },
    wire::{Fault, Work},
};

/// Definitions read at once: some are a few kilobytes long.
const PAGE: usize = 200;

impl Catalog for EtcdLedger {
    fn definitions(&self) -> BoxFuture<'_, Result<(u64, Vec<Definition>), SourceError>> {
        Box::pin(self.pool.perform(Read))
    }

    fn define<'a>(
        &'a self,
        definition: &'a Definition,
        judged: Option<u32>,
    ) -> BoxFuture<'a, Result<Defined, SourceError>> {
        Box::pin(self.pool.perform(Define { definition, judged }))
    }

    fn advanced(&self) -> BoxFuture<'_, Result<Vec<Advanced>, SourceError>> {
        Box::pin(self.pool.perform(ReadAdvanced))
    }

    fn advance<'a>(&'a self, advanced: &'a Advanced) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.pool.perform(Advance { advanced }))
    }
}

#[derive(Serialize, Deserialize)]
struct Kept {
    name: String,
    version: u32,
    body: String,
}

struct Read;

impl Work<Link> for Read {
    type Out = (u64, Vec<Definition>);
    const VERB: &'static str = "read definitions from";

    async fn run(&self, link: &mut Link) -> Result<(u64, Vec<Definition>), Fault> {
        let names = link.names();
        let mut answers = look(link, vec![Op::Read(Span::one(names.only("catalog")))]).await?;
        let (catalog, _) = or_default("catalog", answers.one().as_ref())?;
        // As they were at that version.
        let span = Span::under(names.definitions()).at(answers.revision);
        let kept = scan(link, span, usize::MAX, PAGE).await?;
        let definitions = kept.iter().map(definition).collect::<Result<_, SourceError>>()?;
        Ok((catalog, definitions))
    }
}

struct Define<'a> {
    definition: &'a Definition,
    judged: Option<u32>,
}

impl Work<Link> for Define<'_> {
    type Out = Defined;
    const VERB: &'static str = "define in";

    async fn run(&self, link: &mut Link) -> Result<Defined, Fault> {
        let names = link.names();
        let (catalog, own) = (names.only("catalog"), names.definition(self.definition.name.as_str()));
        let reads = [catalog.clone(), own.clone()].map(|name| Op::Read(Span::one(name)));
        let (defined, _) = transact(link, &reads, |mut answers| {
            let (version, revision): (u64, _) = or_default("catalog", answers.one().as_ref())?;
            let held = answers.one();
            let unchanged = vec![
                (catalog.clone(), revision),
                (own.clone(), held.as_ref().map_or(0, |kv| kv.mod_revision)),
            ];
            let held = held.map(|kv| definition(&kv)).transpose()?;
            if let Some(verdict) = self.judge(held) {
                return Ok(Step::Done(verdict));
            }
            let Definition { name, version: number, body } = self.definition;
            let kept = Kept { name: name.as_str().to_owned(), version: *number, body: body.clone() };
            let next = version.saturating_add(1).to_string();
            let ops = vec![Op::Put(own.clone(), value::text(&kept)), Op::Put(catalog.clone(), next)];
            Ok(Step::Write(Change { unchanged, ops }, Defined::Created))
        })
        .await?;
        Ok(defined)
    }
}

impl Define<'_> {
    /// What becomes of it where it is not to be written.
    fn judge(&self, held: Option<Definition>) -> Option<Defined> {
        let Definition { version, body, .. } = self.definition;
        if let Some(held) = &held {
            match version.cmp(&held.version) {
                Ordering::Less => return Some(Defined::Older { held: held.clone() }),
                Ordering::Equal if *body == held.body => return Some(Defined::Same),
                Ordering::Equal => return Some(Defined::Conflict { held: held.clone() }),
                Ordering::Greater => {}
            }
        }
        let is_judged = held.as_ref().map(|held| held.version) == self.judged;
        (!is_judged).then_some(Defined::Moved { held })
    }
}

fn definition(kv: &Kv) -> Result<Definition, SourceError> {
    let Kept { name, version, body } = value::of("definition", kv)?;
    let unreadable = |error: sequent_core::NameError| unreadable("definition").because(error);
    Ok(Definition { name: name.parse().map_err(unreadable)?, version, body })
}
