//! Read-only examination of SQL stores.

use std::collections::HashMap;

use sequent_core::{CellPage, Epoch, ErrorKind, Examination, Key, Sight};

use super::{SqlCounting, StoreSession, identity};
use crate::{net::Fault, sql::SqlRow, store::Examining};

/// Cells of one page.
const CELLS_A_PAGE: u32 = 4096;

impl<S: StoreSession, E: SqlCounting<S>> Examining<S> for E {
    async fn examine(&self, session: &mut S, keys: &[Key]) -> Result<Examination, Fault> {
        let (inspection, mark) = identity::inspect(session).await?;
        let facts = self.facts(session).await?;
        let asked = keys.iter().map(|key| [S::text(key.as_str())]).collect();
        let rows = S::STATEMENTS.cells.rows(session, asked).await?;
        let mut found = rows.into_iter().map(sight).collect::<Result<HashMap<String, Sight>, Fault>>()?;
        let mut cells = Vec::with_capacity(keys.len());
        for key in keys {
            let mut seen = found.remove(key.as_str()).unwrap_or(Sight::Missing);
            if let Sight::Held { value, open, .. } = &mut seen {
                match self.reached(session, key, *value).await {
                    Ok((highest, true)) => *value = highest,
                    Ok((_, false)) if *open => seen = Sight::Missing,
                    Ok((_, false)) => {}
                    Err(Fault::Answer(error)) if error.kind() == ErrorKind::Unfit => {
                        seen = Sight::Odd(error.context().to_owned());
                    }
                    Err(fault) => return Err(fault),
                }
            }
            cells.push(seen);
        }
        Ok(Examination { inspection, mark, cells, facts })
    }

    async fn cells(&self, session: &mut S, from: Option<&str>) -> Result<CellPage, Fault> {
        // Every key is above the empty text, so a listing from it is complete.
        let params = vec![S::text(from.unwrap_or_default()), u64::from(CELLS_A_PAGE).into()];
        let mut cells = Vec::new();
        for mut row in session.rows(S::STATEMENTS.page, params).await? {
            cells.push((Key::from_stored(&row.key()?), row.count()?));
        }
        for (key, value) in &mut cells {
            match self.reached(session, key, *value).await {
                Ok((reached, _)) => *value = reached,
                // What can't count is told by `examine`. Its row is a lower bound.
                Err(Fault::Answer(error)) if error.kind() == ErrorKind::Unfit => {}
                Err(fault) => return Err(fault),
            }
        }
        let is_full = cells.len() == CELLS_A_PAGE as usize;
        let next = cells.last().filter(|_| is_full).map(|(key, _)| key.as_str().to_owned());
        Ok(CellPage { cells, next, is_partial: false })
    }
}

fn sight(mut row: SqlRow) -> Result<(String, Sight), Fault> {
    let key = row.key()?;
    let (epoch, open, value) = (Epoch::from_stored(row.int()?), row.int()? != 0, row.int()?);
    let seen = match u64::try_from(value) {
        Ok(value) => Sight::Held { epoch, open, value, expires_ms: None },
        Err(_) => Sight::Odd(value.to_string()),
    };
    Ok((key, seen))
}
