//! What a store says of itself, its stamp and its mark.

use sequent_core::{ErrorKind, Incarnation, Inspection, SourceError, Stamp};

use crate::mysql::{
    fault::{ER_DUP_ENTRY, Fault},
    link::Link,
};
use crate::sql::{TxMode, Work};

pub(super) struct Inspect;

impl Work<Link> for Inspect {
    type Out = Inspection;
    const VERB: &'static str = "inspect";
    const MODE: TxMode = TxMode::Single;
    const LOOKS_AGAIN: bool = true;

    async fn run(&self, link: &mut Link) -> Result<Inspection, Fault> {
        let sql = "SELECT (SELECT said FROM sequent_identity WHERE name = 'stamp'), \
            EXISTS (SELECT 1 FROM sequent_cells), CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED)";
        let (stamp, has_cells, clock_ms): (Option<String>, bool, u64) = link.only(sql, ()).await?;
        let unreadable = |error| SourceError::new(ErrorKind::Refused, "stamp").because(error);
        Ok(Inspection {
            incarnation: link.incarnation().clone(),
            stamp: stamp.map(|text| text.parse::<Stamp>()).transpose().map_err(unreadable)?,
            has_cells,
            durability: link.settings().durability(),
            clock_ms,
            version: link.settings().engine(),
        })
    }
}

pub(super) struct Restamp<'a> {
    pub(super) under: &'a Incarnation,
    pub(super) expected: Option<&'a Stamp>,
    pub(super) new: &'a Stamp,
}

impl Work<Link> for Restamp<'_> {
    type Out = ();
    const VERB: &'static str = "stamp";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.under)
    }

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let (new, expected) = (self.new.to_string(), self.expected.map(ToString::to_string));
        let stamped = match &expected {
            None => {
                let sql = "INSERT INTO sequent_identity (name, said) VALUES ('stamp', ?)";
                match link.exec(sql, (new,)).await {
                    Ok(_) => true,
                    Err(fault) if fault.is(ER_DUP_ENTRY) => false,
                    Err(fault) => return Err(fault),
                }
            }
            Some(expected) => {
                let sql = "UPDATE sequent_identity SET said = ? WHERE name = 'stamp' AND said = ?";
                link.exec(sql, (new, expected)).await?.found == 1
            }
        };
        if stamped {
            return Ok(());
        }
        let sql = "SELECT said FROM sequent_identity WHERE name = 'stamp'";
        let found: Option<(Option<String>,)> = link.row(sql, ()).await?;
        let [found, expected] = [found.and_then(|(said,)| said), expected]
            .map(|stamp| stamp.unwrap_or_else(|| "none".to_owned()));
        let context = format!("stamp: found {found}, expected {expected}");
        Err(SourceError::new(ErrorKind::Refused, context).into())
    }
}

pub(super) struct Mark<'a> {
    pub(super) under: &'a Incarnation,
    pub(super) version: u64,
}

impl Work<Link> for Mark<'_> {
    type Out = u64;
    const VERB: &'static str = "mark";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.under)
    }

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        let version = i64::try_from(self.version).map_err(|_| {
            let context = format!("mark is {}: at most {} is allowed", self.version, i64::MAX);
            SourceError::new(ErrorKind::Exhausted, context)
        })?;
        if version == 0 {
            let sql = "SELECT held FROM sequent_identity WHERE name = 'mark'";
            let held: Option<(u64,)> = link.row(sql, ()).await?;
            return Ok(held.map_or(0, |(held,)| held));
        }
        let sql = "UPDATE sequent_identity SET held = LAST_INSERT_ID(GREATEST(held, ?)) WHERE name = 'mark'";
        let done = link.exec(sql, (version,)).await?;
        if done.found == 1 {
            return Ok(done.id);
        }
        link.exec("INSERT IGNORE INTO sequent_identity (name, held) VALUES ('mark', 0)", ()).await?;
        let done = link.exec(sql, (version,)).await?;
        if done.found == 1 {
            Ok(done.id)
        } else {
            Err(Fault::refused("table sequent_identity keeps no mark"))
        }
    }
}
