//! What the configuration and the modes of files allow: the engine's cautions as findings.

use sequent_engine::{
    config::{Caution, CautionKind, CautionPlace, Config},
    data,
};

use super::{
    findings::Kind,
    report::{Finding, Site},
};

/// The findings.
pub(super) async fn findings(config: &Config, now_ms: u64) -> Vec<Finding> {
    let (secrets, data) = (data::exposed_settings(config).await, data::exposed_data(config).await);
    config.cautions(now_ms).into_iter().chain(secrets).chain(data).map(finding).collect()
}

fn finding(Caution { kind, place, found }: Caution) -> Finding {
    let kind = match kind {
        CautionKind::SecretReadable => Kind::SecretReadable,
        CautionKind::SettingsWritable => Kind::SettingsWritable,
        CautionKind::DataReadable => Kind::DataReadable,
        CautionKind::Plaintext => Kind::Plaintext,
        CautionKind::AutoCreateOpen => Kind::AutoCreateOpen,
        CautionKind::PrincipalExpires => Kind::PrincipalExpires,
        CautionKind::OneHost => Kind::OneHost,
        CautionKind::NotDefinable => Kind::NotDefinable,
    };
    let site = match place {
        CautionPlace::Ledger => Site::Ledger,
        CautionPlace::Slot(slot) => Site::Slot(slot),
        CautionPlace::Cluster => Site::Ring,
    };
    Finding::new(kind, site, found)
}
