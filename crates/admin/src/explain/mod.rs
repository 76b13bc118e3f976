//! Origin of a number, according to what the ledger has witnessed.

mod dense;
mod report;
mod spread;
mod text;

use sequent_core::{Key, SequenceName, Span, ledger::Fence};
use sequent_engine::{Body, EngineError, Placement, Reason};
use sequent_format::Values;

use crate::{admin::Admin, named_floor::floor};

pub use report::{DenseOrigin, EpochReport, Explained, Origin, SpreadOrigin};
use text::{key_of, partition_of};

/// Why the ledger has no ceiling for the number in question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    /// No loss and no end of a period is known.
    Nothing,
    /// The period is over for good, and counters of such periods are forgotten.
    Over,
    /// A loss of so many was named: counters may have come as far without a remaining row.
    Lost(u64),
}

impl Without {
    /// The sentence for a counter without a row.
    fn unbegun(self) -> String {
        match self {
            Self::Nothing => "whose counter has not begun: not given".to_owned(),
            Self::Over => {
                "of a period that is over, whose counters are deleted: given, if at all, before that"
                    .to_owned()
            }
            Self::Lost(loss) => format!("whose counter the ledger does not know: {}", before_loss(loss)),
        }
    }
}

fn before_loss(loss: u64) -> String {
    format!("given, if at all, before `sequent recover` named a loss (--bump {loss} the last time)")
}

/// A sequence to explain: its highest version.
struct Held {
    body: Body,
    version: u32,
}

impl Held {
    /// The numbers that any version may have given. Versions share start and step, but may have had another
    /// end.
    fn span(&self) -> Span {
        let own = self.body.span();
        if self.version == 1 { own } else { own.endless() }
    }
}

impl Admin {
    /// The origin of a number, for a sequence with a single counter.
    pub async fn explain(&self, name: &SequenceName, number: u64) -> Result<Explained, EngineError> {
        let held = self.held(name).await?;
        let counter = Key::of(held.body.counted_by(name));
        if held.body.example_key(name).is_ok_and(|key| key != counter) {
            let bound = "each period and each tuple of values has numbers of its own: name a text instead";
            return Err(EngineError::invalid("number", number, bound));
        }
        self.explain_of(counter, &held, name, number).await
    }

    /// The origin of a text; without a template, of the digits of a number. `with`: values that partition the
    /// counter and that the text does not contain.
    pub async fn explain_text(
        &self,
        name: &SequenceName,
        text: &str,
        with: &Values,
    ) -> Result<Explained, EngineError> {
        let held = self.held(name).await?;
        let Some(texts) = held.body.texts() else {
            let number = text.parse().ok().filter(|number| i64::try_from(*number).is_ok());
            let bound = || format!("0 to {} are numbers", i64::MAX);
            let number = number.ok_or_else(|| EngineError::invalid_text("number", text, bound()))?;
            if let Some((value, _)) = with.iter().next() {
                let bound = format!("{name} has no template: its numbers need no values");
                return Err(EngineError::invalid("with", value, bound));
            }
            return self.explain(name, number).await;
        };
        let parsed = texts.read(text).map_err(|fault| EngineError::of_read(text, fault))?;
        let writer = texts.formats().find(|(_, format)| format.decode(text).is_ok_and(|read| read == parsed));
        let partition = match &writer {
            Some((_, format)) => partition_of(format, &parsed, with)?,
            None => parsed.partition.clone(),
        };
        let key = key_of(held.body.counted_by(name), &parsed, &partition)?;
        let mut explained = self.explain_of(key, &held, name, parsed.number).await?;
        if let Some((former, _)) = writer.filter(|_| texts.formats().nth(1).is_some()) {
            let version = former.unwrap_or(held.version);
            let of_text = format!(
                "; the text is as version {version} writes it. All versions share the number, and which was in effect when it was \
                 given is not recorded"
            );
            explained.verdict.push_str(&of_text);
        }
        Ok(explained)
    }

    async fn held(&self, name: &SequenceName) -> Result<Held, EngineError> {
        let definition = self.0.definition(name).await?;
        let body = Body::from_text(&definition.body).map_err(|error| {
            let text = format!("version {} of {name} can't be read: {error}", definition.version);
            EngineError::new(Reason::DefinitionConflict, text)
        })?;
        Ok(Held { body, version: definition.version })
    }

    async fn explain_of(
        &self,
        key: Key,
        held: &Held,
        name: &SequenceName,
        number: u64,
    ) -> Result<Explained, EngineError> {
        let span = held.span();
        let explained = match held.body.placement() {
            Placement::Spread => self.of_ring(key, span, number).await?,
            Placement::Dense => self.of_dense(key, span, number).await?,
        };
        let Some((origin, verdict)) = explained.filter(|_| number <= span.limit()) else {
            let (start, step, end) = (span.start(), span.step(), span.limit());
            let bound = format!("{name} gives {start} to {end} in steps of {step}");
            return Err(EngineError::invalid("number", number, bound));
        };
        Ok(Explained { sequence: name.clone(), number, origin, verdict })
    }

    /// Why nothing is known of a counter at that id.
    async fn without(&self, key: &Key, reached: u64) -> Result<Without, EngineError> {
        if let Some(own) = Fence::of(key) {
            let about = own.about();
            let over = self.0.within("read which periods are over", self.ledger().noted(&about)).await?;
            if over >= own.to {
                return Ok(Without::Over);
            }
        }
        let loss = self.named_loss().await;
        Ok(if loss >= reached { Without::Lost(loss) } else { Without::Nothing })
    }

    /// The loss that was named last, as far as the ledger has noted it; 0: none.
    async fn named_loss(&self) -> u64 {
        floor(self.ledger(), self.0.record.generation, self.limit()).await
    }
}
