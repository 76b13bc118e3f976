//! Detection of a ledger that went back, and of a ledger and stores that were replaced.

use std::sync::Arc;

use sequent_core::{InstanceId, LedgerExamination, MarkPlace, SlotIndex, SourceError};
use sequent_engine::{data::VersionFile, ledger_timeout::within, stores::Shard};
use sequent_guard::LedgerFault;

use super::{
    Doctor, Seen, collect,
    examined::Examined,
    findings::Kind,
    report::{Finding, Site},
    ring,
};

impl Doctor<'_> {
    /// The highest version found in any mark.
    pub(super) async fn mark(
        &self,
        examined: &mut Examined<'_>,
        (held, seen): (Option<&LedgerExamination>, &Seen),
    ) -> u64 {
        let limit = self.limit();
        let home = VersionFile::new(&self.config.data, limit, Arc::clone(&self.options.env.entropy));
        let left = match within(limit, "read the mark", home.bear(0, None)).await {
            Ok(mark) => {
                // Compared under the layout that the mark was left under, if that differs from the ledger's.
                if let Ok(Some(fault)) = sequent_guard::other_era(&*self.ledger, mark, limit).await {
                    let kind = match fault {
                        LedgerFault::Outrun { .. } => Kind::LedgerBeforeResize,
                        _ => Kind::LedgerBehind,
                    };
                    examined.found([Finding::new(kind, Site::Ring, fault.error().to_string())]);
                }
                mark.version
            }
            Err(error) => {
                examined.found([Finding::new(Kind::CopiedOrRestored, Site::Ring, error.to_string())]);
                0
            }
        };
        seen.iter()
            .filter_map(|(_, looked)| looked.found.as_ref().ok())
            .filter(|found| ring::is_marked_by(found, held))
            .map(|found| found.mark)
            .fold(left, u64::max)
    }

    /// Whether ledger and stores, all of them files, are other files than those on record.
    pub(super) async fn has_moved(
        &self,
        held: Option<&LedgerExamination>,
        shards: &[Shard],
        seen: &Seen,
    ) -> bool {
        let is_embedded =
            self.config.ledger.place.is_file() && shards.iter().all(|shard| shard.part.place.is_file());
        let Some(held) = held.filter(|_| is_embedded) else { return false };
        let limit = self.limit();
        let Ok(known) = within(limit, "read the instances on record", self.ledger.known()).await else {
            return false;
        };
        let found: Vec<(SlotIndex, &InstanceId)> = seen
            .iter()
            .filter_map(|(slot, looked)| Some((*slot, &looked.found.as_ref().ok()?.inspection.instance)))
            .collect();
        sequent_guard::all_moved(&known, &held.inspection.instance, &found)
    }

    /// The ledger's version, read again if a mark is above the version read before it. If the second read
    /// fails, its error is returned, and the ledger is not reported as gone back: marks are read later than
    /// the first version.
    pub(super) async fn version_beside(
        &self,
        mark: u64,
        held: Option<&LedgerExamination>,
    ) -> Option<Result<u64, SourceError>> {
        let version = held?.inspection.version;
        if version >= mark {
            return Some(Ok(version));
        }
        let again = collect::into_ledger(&*self.ledger, &self.options.env).await;
        Some(again.found.map(|held| held.inspection.version))
    }
}
