//! Reload of the configuration of a server that runs.

use std::{
    os::unix::fs::MetadataExt as _,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use sequent_core::{Clock, SystemClock};
use sequent_engine::config::{Config, TlsMode, TlsSection};
use sequent_server::{Audit, ConfigChange, ServerOptions, ServerTls, TlsWatch, principal_changes};
use tokio::signal::unix::Signal;

use crate::{failure::Failure, open_cluster::Cluster, run_files::RunFile};

/// How often the configuration file is checked for changes.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Puts a configuration in force. Principals come first: whoever is to be kept out must not wait for files of TLS, for the
/// ledger, or for a restart. `admitted` is the configuration of which the principals are in force.
async fn put(
    cluster: &Cluster,
    serving: &ServerOptions,
    in_force: &Config,
    admitted: &mut Config,
) -> Result<Config, Failure> {
    // This reads files, and their disks may hang.
    let config = tokio::task::block_in_place(|| cluster.config())?;
    check_not_weaker("auth.mode", config.auth.mode < in_force.auth.mode)?;
    serving.auth.reload(&config);
    admitted.clone_from(&config);
    let (was, is) = (&in_force.tls, &config.tls);
    check_not_weaker("tls.mode", is.mode < was.mode)?;
    check_not_weaker("tls.client_auth", is.client_auth < was.client_auth)?;
    let files = tokio::task::block_in_place(|| serving.tls.read(&config.tls))?;
    serving.engine.reload(&config).await?;
    serving.tls.put(files);
    Ok(config)
}

/// Checks that a reload opens nothing: a file that is half written, or empty on a full disk, would let everybody in.
fn check_not_weaker(key: &str, is_weaker: bool) -> Result<(), Failure> {
    if !is_weaker {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "{key} is weaker in the file than in this server: only a restart makes it weaker (or is the file incomplete?)"
    )))
}

/// Reloads the configuration at each SIGHUP and each change of the file, again and again until it is in force. A file with a
/// fault changes nothing. A file is read once two looks have found it the same, also at SIGHUP, since it may be half written.
pub(super) async fn reload(
    cluster: &Cluster,
    mut in_force: Config,
    (serving, audit, mut presence): (&ServerOptions, &Audit, Option<&mut RunFile>),
    mut hangups: Signal,
) {
    let (mut seen, mut refused) = (cluster.file().and_then(stamp), None);
    let (mut at_last_look, mut asked) = (seen, false);
    let mut watch = TlsWatch::new(&in_force.tls);
    let mut admitted = in_force.clone();
    loop {
        tokio::select! {
            Some(()) = hangups.recv() => {
                asked = true;
                audit.reopen();
            }
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        let now = cluster.file().and_then(stamp);
        let is_steady = std::mem::replace(&mut at_last_look, now) == now;
        if !is_steady {
            continue;
        }
        if !asked && now == seen && refused.is_none() {
            // This reads files, and their disks may hang.
            tokio::task::block_in_place(|| reload_tls(&serving.tls, audit, &mut watch, &in_force.tls));
            continue;
        }
        let is_new = std::mem::take(&mut asked) || now != seen;
        seen = now;
        let user = cluster.file().and_then(owner);
        let before = admitted.clone();
        match put(cluster, serving, &in_force, &mut admitted).await {
            Ok(config) => {
                refused = None;
                serving.recorder.reloaded(Some(SystemClock.wall_ms()));
                let changes = serving.limits.reload(&in_force, &config);
                audit.reloaded(false, &changes, user);
                say(&changes);
                if let Some(presence) = presence.as_mut().filter(|_| config.tls.mode == TlsMode::Require)
                    && let Err(error) = presence.require_tls()
                {
                    tracing::warn!(%error, "other commands won't reach this server by TLS");
                }
                watch = TlsWatch::new(&config.tls);
                in_force = config;
            }
            Err(failure) => {
                let failure = failure.to_string().replace("\n ", "");
                let principals = principal_changes(&before, &admitted);
                // Each look tries again, and says so only if there is something new.
                if is_new || refused.as_ref() != Some(&failure) || !principals.is_empty() {
                    serving.recorder.reloaded(None);
                    audit.reloaded(true, &principals, user);
                    let principals = principals.len();
                    tracing::error!(
                        failure,
                        principals,
                        "configuration not reloaded: the old one stays in force, but for its principals, of which so many keys have changed"
                    );
                }
                refused = Some(failure);
            }
        }
    }
}

/// Puts certificate, key and authorities in force if their files have changed. A faulty one changes nothing.
fn reload_tls(tls: &ServerTls, audit: &Audit, watch: &mut TlsWatch, section: &TlsSection) {
    if !watch.has_changed(section) {
        return;
    }
    match tls.read(section) {
        Ok(files) => {
            tls.put(files);
            audit.tls_reloaded();
            tracing::info!("certificate, key and authorities of [tls] read again");
        }
        Err(faults) => {
            let faults = faults.to_string().replace("\n ", "");
            tracing::error!(
                faults,
                "certificate, key and authorities of [tls] not reloaded: the old ones stay in force"
            );
        }
    }
}

fn say(changes: &[ConfigChange]) {
    tracing::info!(changes = changes.len(), "configuration read again");
    for change in changes {
        let ConfigChange { key, was, is, in_force } = change;
        if *in_force {
            tracing::info!(key, was, is, "in force");
        } else {
            tracing::warn!(key, was, is, "needs a restart");
        }
    }
}

/// Whose file it is.
fn owner(file: &PathBuf) -> Option<u32> {
    std::fs::metadata(file).ok().map(|found| found.uid())
}

/// The file's last modification and length. If either differs, the content has changed.
fn stamp(file: &PathBuf) -> Option<(SystemTime, u64)> {
    let found = std::fs::metadata(file).ok()?;
    Some((found.modified().ok()?, found.len()))
}
