//! A fresh data directory, made once for a build directory and copied for each server: making one takes seconds.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use rustix::process::geteuid;
use tokio::time::sleep;

use super::{
    engine::{Engine, Place},
    home::Home,
    tool,
};

/// Counts the ways in which templates were made: one made in an older way is not used.
const GENERATION: u32 = 2;
/// Between two tries to be the one who makes it.
const TRY_EVERY: Duration = Duration::from_millis(50);
/// How often that is tried: as long as the slowest machine takes to make one, and more.
const TRIES_MAX: usize = 4_000;

/// Puts a fresh data directory into a home.
pub(crate) async fn unpack<E: Engine>(home: &Home) {
    let data = home.data();
    if let Some(template) = template::<E>(home).await {
        tool::copy(&template, &data).await;
    } else {
        fs::create_dir(&data).unwrap_or_else(|e| panic!("{}: {e}", data.display()));
        home.give(&data).await;
    }
}

/// The template's folder, made if need be; none for an engine that begins with an empty one.
async fn template<E: Engine>(home: &Home) -> Option<PathBuf> {
    if !E::HAS_TEMPLATE {
        return None;
    }
    let (template, lock) = place(&name::<E>(home));
    lock_it(&lock, &template).await;
    if !template.exists() {
        let workshop = Home::new(E::NAME, home.account()).await;
        E::create(&Place { home: &workshop, port: 0, settings: &BTreeMap::new() }).await;
        let partial = template.with_extension("partial");
        tool::remove(&partial).await;
        tool::copy(&workshop.data(), &partial).await;
        fs::rename(&partial, &template).unwrap_or_else(|e| panic!("{}: {e}", template.display()));
    }
    Some(template)
}

/// Where it is or is to be, and the file that is locked to make it: beside the test's own program, so that it goes when
/// the build goes, or among temporary files where the build is somebody else's.
fn place(name: &str) -> (PathBuf, File) {
    let program = std::env::current_exe().unwrap_or_default();
    let build = program.ancestors().find(|folder| folder.ends_with("deps")).and_then(Path::parent);
    let of_build = build.map(|build| build.join("server-templates"));
    let of_user = std::env::temp_dir().join(format!("sequent-templates-{}", geteuid().as_raw()));
    let open = |shelf: PathBuf| {
        fs::create_dir_all(&shelf).ok()?;
        let template = shelf.join(name);
        let lock = File::create(template.with_extension("lock")).ok()?;
        Some((template, lock))
    };
    of_build.into_iter().chain([of_user.clone()]).find_map(open).unwrap_or_else(|| {
        panic!("no place for a template of {name}: {} can't be written either", of_user.display())
    })
}

/// A template holds for one build of the program and one user.
fn name<E: Engine>(home: &Home) -> String {
    let program = fs::metadata(E::PROGRAM.path());
    let made =
        program.as_ref().ok().and_then(|program| program.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    let (size, made) = (program.map_or(0, |program| program.len()), made.unwrap_or_default().as_secs());
    let owner = home
        .account()
        .map_or_else(|| geteuid().as_raw().to_string(), |account| account.owner().replace(':', "-"));
    format!("{}-{GENERATION}-{size}-{made}-{owner}", E::NAME)
}

/// Waits for the right to make it, which ends with the file.
async fn lock_it(file: &File, template: &Path) {
    for _ in 0..TRIES_MAX {
        if file.try_lock().is_ok() {
            return;
        }
        sleep(TRY_EVERY).await;
    }
    panic!("{}: another process makes it for too long", template.display());
}
