//! Detection of a ledger that went back, and of a ledger and stores that were replaced.

use std::sync::Arc;

use sequent_core::{Examination, InstanceId, LedgerExamination, MarkPlace, SlotIndex, SourceError};
use sequent_engine::{config::Place, data::VersionFile, ledger_timeout::within, stores::Shard};

use super::{Doctor, collect, examined::Examined, ring};

impl Doctor<'_> {
    /// The highest version found in any mark.
    pub(super) async fn mark(
        &self,
        examined: &mut Examined<'_>,
        (held, seen): (Option<&LedgerExamination>, &[(SlotIndex, collect::Looked<Examination>)]),
    ) -> u64 {
        let limit = self.config.ring.attempt_timeout;
        let home = VersionFile::new(&self.config.data, limit, Arc::clone(&self.options.env.entropy));
        let left = match within(limit, "read the mark", home.bear(0, None)).await {
            Ok(mark) => {
                // Compared under the layout that the mark was left under, if that differs from the ledger's.
                if let Ok(Some(trouble)) = sequent_guard::other_era(&*self.ledger, mark, limit).await {
                    examined.marker(&trouble.error());
                }
                mark.version
            }
            Err(error) => {
                examined.marker(&error);
                0
            }
        };
        seen.iter()
            .filter_map(|(_, looked)| looked.found.as_ref().ok())
            .filter(|found| ring::speaks_of(found, held))
            .map(|found| found.mark)
            .fold(left, u64::max)
    }

    /// Whether ledger and stores, all of them files, are other files than those on record.
    pub(super) async fn has_moved(
        &self,
        held: Option<&LedgerExamination>,
        shards: &[Shard],
        seen: &[(SlotIndex, collect::Looked<Examination>)],
    ) -> bool {
        let is_file = |place: &Place| matches!(place, Place::Sqlite(_));
        let is_embedded =
            is_file(&self.config.ledger.place) && shards.iter().all(|shard| is_file(&shard.part.place));
        let Some(held) = held.filter(|_| is_embedded) else { return false };
        let limit = self.config.ring.attempt_timeout;
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
