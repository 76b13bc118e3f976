//! Stores that belong to a ledger which is missing: it was emptied, or replaced by another one. Starting a new cluster
//! over them would repeat numbers, so commands report them instead of suggesting a first start.
//!
//! A cluster that is being created has none: its layout is written before any stamp or mark. Therefore the ledger is
//! read once more after stores and data directory were inspected.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use sequent_core::{Layout, LedgerId, SequenceName, SlotIndex, Stamp};
use tokio::task::JoinSet;

use crate::{
    config::{Config, Place},
    data::VersionFile,
    error::OpenError,
    ledger_timeout::within,
    open::{bootstrap::FIRST_CALL_FACTOR, options::Options},
    stores::{self, Files, Shard},
};

/// The ledger that was found instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InPlace {
    /// A ledger without a layout.
    Nothing,
    /// The ledger that the stores are stamped with, without its layout.
    Stripped,
    /// A ledger with a layout, which the stores do not belong to.
    Another(LedgerId),
}

/// Slots by the cluster and the ledger that their stamps name.
type Slots = BTreeMap<(SequenceName, String), Vec<SlotIndex>>;

/// The advice if there is a backup.
const BACKUP: &str = "stop every process; put the ledger's newest backup back, or name the right ledger in the configuration; then, \
    where `sequent doctor` says that this one went back, `sequent recover --since INSTANT`, when the backup was made, or \
    `--bump N`: each counter goes on so far above its ceiling there";

/// The message about a ledger that was emptied while servers use it, from the ledger's own error.
pub(crate) fn emptied(said: &str) -> String {
    format!(
        "the ledger was emptied, or its tables were dropped, while servers use it: numbers that are permitted go on, no new key, \
         no dense number and no server begins; {BACKUP}; if there is no backup: drop what is left of its tables, and `sequent \
         recover --bump N`, N at least the highest raw id that any one counter has reached: an empty ledger takes up the cluster \
         from the stamps of its stores, and each sequence is to be defined again ({said})"
    )
}

/// The stores and the version file that name a missing ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignStores {
    in_place: InPlace,
    slots: Slots,
    /// The data directory, and the version in its version file.
    home: Option<(PathBuf, u64)>,
}

impl ForeignStores {
    /// The stores of a ledger without a layout, whose id may be unknown. Every stamp names a ledger that had a layout.
    /// If no store has a stamp, the version file is evidence enough.
    pub fn of_nothing(
        stamps: impl Iterator<Item = Stamp>,
        at_hand: Option<LedgerId>,
        (data, marked): (&Path, u64),
    ) -> Option<Self> {
        let (slots, is_own) = grouped(stamps, at_hand);
        let home = (marked > 0).then(|| (data.to_owned(), marked));
        let tells = !slots.is_empty() || home.is_some();
        let in_place = if is_own { InPlace::Stripped } else { InPlace::Nothing };
        tells.then_some(Self { in_place, slots, home })
    }

    /// The stores of a ledger with a layout, if every stamp found names another ledger.
    pub fn of_another(stamps: impl Iterator<Item = Stamp>, at_hand: LedgerId) -> Option<Self> {
        let (slots, is_own) = grouped(stamps, Some(at_hand));
        let are_orphans = !is_own && !slots.is_empty();
        are_orphans.then_some(Self { in_place: InPlace::Another(at_hand), slots, home: None })
    }

    /// What was found, and what is expected.
    pub fn found(&self) -> String {
        let tells: Vec<String> = self.slots.iter().map(told).collect();
        let tells = match &self.home {
            Some((data, version)) if tells.is_empty() => {
                format!("the marker in {} says that it was at version {version}", data.display())
            }
            _ => tells.join("; "),
        };
        match self.in_place {
            InPlace::Nothing => {
                format!("the ledger holds nothing, but {tells}: it was emptied, or this is another one")
            }
            InPlace::Stripped => format!("the ledger has no layout any more, but {tells}: it was emptied"),
            InPlace::Another(id) => {
                format!("another ledger is in the place of this cluster's: found {id}, but {tells}")
            }
        }
    }

    /// What an operator can do, and the effect.
    pub fn mend(&self) -> String {
        let backup = BACKUP;
        let nothing_left = match (self.in_place, self.slots.is_empty()) {
            (InPlace::Nothing, false) => {
                "if there is no backup: `sequent recover --bump N`, N at least the highest raw id that any one counter has reached: the \
                 empty ledger takes up the cluster from the stamps of its stores, and each sequence is to be defined again"
            }
            (InPlace::Nothing, true) => {
                "if there is no backup: a `sequent serve` writes the layout, and gives nothing; stop it, and `sequent recover --bump N`, N \
                 at least the highest raw id that any one counter has reached; then define each sequence again"
            }
            (InPlace::Stripped | InPlace::Another(_), _) => {
                "if there is no backup: put an empty ledger in its place, a fresh database with the grants, and `sequent recover --bump N`, \
                 N at least the highest raw id that any one counter has reached: it takes up the cluster from the stamps of its \
                 stores, and each sequence is to be defined again"
            }
        };
        format!("{backup}; {nothing_left}")
    }

    /// The same as an error of a command that needs the ledger.
    pub(crate) fn error(&self) -> OpenError {
        OpenError::Recovery(format!("{}; {}", self.found(), self.mend()))
    }
}

/// The slots by what their stamps name, and whether one of them names this ledger.
fn grouped(stamps: impl Iterator<Item = Stamp>, at_hand: Option<LedgerId>) -> (Slots, bool) {
    let (mut slots, mut is_own) = (Slots::new(), false);
    for Stamp { cluster, ledger, slot, .. } in stamps {
        is_own |= Some(ledger) == at_hand;
        slots.entry((cluster, ledger.to_string())).or_default().push(slot);
    }
    (slots, is_own)
}

fn told(((cluster, ledger), slots): (&(SequenceName, String), &Vec<SlotIndex>)) -> String {
    let slots: Vec<String> = slots.iter().map(ToString::to_string).collect();
    format!("stores bear stamps of cluster {cluster} and its ledger {ledger} (slots {})", slots.join(", "))
}

/// Searches for stores of a ledger without a layout, as far as the configuration names stores. Changes nothing.
///
/// # Errors
///
/// `Refused` if the configuration can't be used at all. A store that can't be reached is ignored.
pub(crate) async fn look(config: &Config, options: &Options) -> Result<Option<ForeignStores>, OpenError> {
    let mut files = Files::default();
    let at_hand = at_hand(config, options, &mut files).await;
    let stamps = stamps(config, options, &mut files).await;
    files.leave().await;
    let home = (&*config.data, marked(config, options).await);
    Ok(ForeignStores::of_nothing(stamps?.into_iter(), at_hand, home))
}

/// The stores that exist, whatever the layout is: a missing file has no stamp.
pub fn existing(config: &Config, options: &Options, files: &mut Files) -> Result<Vec<Shard>, OpenError> {
    let mut parts = config.shards_of(Layout::WIDEST);
    parts.retain(|part| !matches!(&part.place, Place::Sqlite(path) if !path.exists()));
    stores::shards(parts, &config.cluster, false, &options.env, files)
}

/// The stamps of the stores that exist, read concurrently.
async fn stamps(config: &Config, options: &Options, files: &mut Files) -> Result<Vec<Stamp>, OpenError> {
    let limit = config.ring.attempt_timeout;
    let looks = existing(config, options, files)?.into_iter().map(|Shard { store, .. }| async move {
        let inspected = async {
            match store.examiner() {
                Some(examiner) => Ok(examiner.examine(&[]).await?.inspection),
                None => store.inspect().await,
            }
        };
        within(limit, "look", inspected).await.ok()?.stamp
    });
    let looked = looks.collect::<JoinSet<_>>().join_all().await;
    let mut stamps: Vec<Stamp> = looked.into_iter().flatten().collect();
    stamps.sort_by_key(|stamp| stamp.slot);
    Ok(stamps)
}

/// The id of the configured ledger, if it can be read.
async fn at_hand(config: &Config, options: &Options, files: &mut Files) -> Option<LedgerId> {
    let ledger = stores::ledger(&config.ledger.place, false, &options.env, files).ok()?;
    let limit = config.ring.attempt_timeout * FIRST_CALL_FACTOR;
    Some(within(limit, "open the ledger", ledger.inspect()).await.ok()?.id)
}

/// The version in the data directory's version file, even if that was copied. 0 if there is none, or it can't be read.
pub async fn marked(config: &Config, options: &Options) -> u64 {
    let limit = config.ring.attempt_timeout;
    let home = VersionFile::new(&config.data, limit, Arc::clone(&options.env.entropy));
    home.mark().await.map_or(0, |mark| mark.version)
}

/// Whether stores of this configuration may belong to a cluster though the data directory is empty.
pub fn may_be_elsewhere(config: &Config) -> bool {
    config.shards_of(config.first_layout()).iter().any(|part| matches!(part.place, Place::Server(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(slot: SlotIndex, ledger: &str) -> Stamp {
        let text = format!("sequent/1 ledger={ledger} cluster=shop n=2 m=0 slot={slot} generation=1");
        text.parse().unwrap()
    }

    fn id(text: &str) -> LedgerId {
        text.parse().unwrap()
    }

    #[test]
    fn whoever_tells_of_another_ledger_is_named_with_what_to_do() {
        let data = Path::new("/data");
        assert_eq!(ForeignStores::of_nothing([].into_iter(), None, (data, 0)), None, "nobody has started it");
        let stamped =
            ForeignStores::of_nothing([stamp(0, "a"), stamp(2, "a")].into_iter(), Some(id("b")), (data, 9))
                .unwrap();
        let found = stamped.found();
        assert!(found.contains("cluster shop") && found.contains("(slots 0, 2)"), "{found}");
        assert!(stamped.mend().contains("takes up the cluster from the stamps"), "{}", stamped.mend());
        let marked = ForeignStores::of_nothing([].into_iter(), None, (data, 9)).unwrap();
        assert!(marked.found().contains("the marker in /data says that it was at version 9"), "{marked:?}");
        assert!(marked.mend().contains("`sequent serve` writes the layout"), "{}", marked.mend());
        let own = ForeignStores::of_nothing([stamp(0, "b")].into_iter(), Some(id("b")), (data, 9)).unwrap();
        assert!(own.found().starts_with("the ledger has no layout any more"), "{}", own.found());
        assert!(own.mend().contains("put an empty ledger in its place"), "{}", own.mend());
    }

    #[test]
    fn a_ledger_that_a_store_is_stamped_with_is_no_other_one() {
        let of = |ledgers: &[&str]| {
            let stamps = ledgers.iter().zip(0..).map(|(ledger, slot)| stamp(slot, ledger));
            ForeignStores::of_another(stamps.collect::<Vec<_>>().into_iter(), id("a"))
        };
        assert_eq!((of(&[]), of(&["a"]), of(&["b", "a", "b"])), (None, None, None));
        let found = of(&["b", "b"]).unwrap().found();
        assert!(found.starts_with("another ledger is in the place of this cluster's: found"), "{found}");
    }
}
