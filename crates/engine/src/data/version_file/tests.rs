//! Tests of the version file: what is kept, what is refused, how a copy is detected.

use super::*;
use sequent_core::Layout;
use sequent_testkit::SeededEntropy;

fn home(data: &Path) -> VersionFile {
    VersionFile::new(data, Duration::from_secs(20), Arc::new(SeededEntropy::new(1)))
}

/// The version held after `version` was written.
async fn mark(home: &VersionFile, version: u64) -> Result<u64, SourceError> {
    home.bear(version, None).await.map(|mark| mark.version)
}

/// Writes the text into the existing file, as `cp -a bak/. data/` does.
fn overwrite(data: &Path, text: &[u8]) {
    OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(data.join(FILE))
        .and_then(|mut file| file.write_all(text))
        .unwrap();
}

#[tokio::test]
async fn the_greatest_stays() {
    let data = tempfile::tempdir().unwrap();
    let home = home(data.path());
    assert_eq!(mark(&home, 0).await.unwrap(), 0, "reading creates nothing");
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
    assert_eq!(mark(&home, 7).await.unwrap(), 7);
    assert_eq!(mark(&home, 3).await.unwrap(), 7);
    assert_eq!(mark(&self::home(data.path()), 0).await.unwrap(), 7);
}

#[tokio::test]
async fn who_must_leave_a_mark_later_makes_the_directory_and_leaves_nothing_of_the_proof() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("new/data");
    home(&data).prepare().await.unwrap();
    mark(&home(&data), 7).await.unwrap();
    let before = fs::read_to_string(data.join(FILE)).unwrap();
    home(&data).prepare().await.unwrap();
    assert_eq!(fs::read_to_string(data.join(FILE)).unwrap(), before, "no marker is changed");
    let mut held: Vec<_> = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    held.sort();
    assert_eq!(held, [FILE, LOCK_FILE]);
    let error = home(&data.join(FILE)).prepare().await.unwrap_err();
    assert!(error.to_string().contains("mark in ") && error.to_string().contains("new/data/home"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_at_once_the_greatest_stays() {
    let data = tempfile::tempdir().unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for version in 1..=16 {
        let home = home(data.path());
        tasks.spawn(async move { assert!(mark(&home, version).await.unwrap() >= version) });
    }
    tasks.join_all().await;
    assert_eq!(mark(&home(data.path()), 0).await.unwrap(), 16);
}

#[tokio::test]
async fn a_foreign_content_is_refused_not_overwritten() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join(FILE), "mine\n").unwrap();
    let error = mark(&home(data.path()), 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("found \"mine\\n\""), "{error}");
}

#[tokio::test]
async fn a_marker_that_cannot_be_read_is_written_anew_by_a_recovery_alone() {
    for (found, version) in [(&b"sequent/1 mark=7\n"[..], 7), (b"mine\n", 0), (b"\xff\xfe", 0), (b"", 0)] {
        let data = tempfile::tempdir().unwrap();
        fs::write(data.path().join(FILE), found).unwrap();
        let home = home(data.path());
        for version in [0, 9] {
            let error = mark(&home, version).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
            assert!(error.to_string().contains("sequent recover --moved"), "{error}");
        }
        assert!(home.unreadable().await.unwrap().is_some());
        assert_eq!(
            Unjudged(&home).bear(0, None).await.unwrap().version,
            version,
            "of an older form the version counts"
        );
        home.renew(None).await.unwrap();
        assert_eq!((mark(&home, 0).await.unwrap(), home.unreadable().await.unwrap()), (version, None));
    }
}

#[tokio::test]
async fn an_older_copy_over_the_file_in_place_is_told_even_with_the_same_version() {
    let data = tempfile::tempdir().unwrap();
    let home = home(data.path());
    mark(&home, 7).await.unwrap();
    let older = fs::read(data.path().join(FILE)).unwrap();
    mark(&home, 7).await.unwrap();
    assert_eq!(mark(&home, 0).await.unwrap(), 7);
    overwrite(data.path(), &older);
    for version in [0, 9] {
        let error = mark(&home, version).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LedgerBehind, "{error}");
        assert!(error.to_string().contains("sequent recover --moved"), "{error}");
    }
    assert_eq!(home.mark().await.unwrap().version, 7);
    home.renew(None).await.unwrap();
    assert_eq!(mark(&home, 0).await.unwrap(), 7, "it names itself again");
}

#[tokio::test]
async fn the_layout_that_a_mark_was_left_under_is_kept_and_a_marker_without_one_is_read() {
    let data = tempfile::tempdir().unwrap();
    let home = home(data.path());
    let era = |generation, n| Some(Era { generation, layout: Layout::new(n, 3).unwrap() });
    mark(&home, 7).await.unwrap();
    assert_eq!(
        home.bear(0, None).await.unwrap(),
        Mark { version: 7, era: None },
        "as versions before wrote it"
    );
    let (text, file) =
        (fs::read_to_string(data.path().join(FILE)).unwrap(), fs::metadata(data.path().join(FILE)).unwrap());
    assert_eq!(text, format!("sequent/1 mark=7 {}\n", Identity::of(&file)), "byte for byte");
    assert_eq!(home.bear(9, era(2, 1)).await.unwrap(), Mark { version: 9, era: era(2, 1) });
    assert_eq!(
        home.bear(8, era(1, 2)).await.unwrap(),
        Mark { version: 9, era: era(2, 1) },
        "late, from before"
    );
    assert_eq!(mark(&home, 10).await.unwrap(), 10);
    home.renew(era(3, 4)).await.unwrap();
    assert_eq!(self::home(data.path()).bear(0, None).await.unwrap(), Mark { version: 10, era: era(3, 4) });
}

#[tokio::test]
async fn a_copied_directory_is_told_and_a_moved_one_is_not() {
    let data = tempfile::tempdir().unwrap();
    let (was, moved, copy) = (data.path().join("a"), data.path().join("b"), data.path().join("c"));
    fs::create_dir(&was).unwrap();
    mark(&home(&was), 7).await.unwrap();
    fs::rename(&was, &moved).unwrap();
    assert_eq!(mark(&home(&moved), 0).await.unwrap(), 7);
    fs::create_dir(&copy).unwrap();
    fs::copy(moved.join(FILE), copy.join(FILE)).unwrap();
    assert_eq!(mark(&home(&copy), 0).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
}

#[tokio::test]
async fn a_lock_that_is_never_given_back_is_an_error() {
    let data = tempfile::tempdir().unwrap();
    let lock = File::create(data.path().join(LOCK_FILE)).unwrap();
    lock.lock().unwrap();
    let home = VersionFile { patience: Duration::from_millis(50), ..home(data.path()) };
    let error = mark(&home, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("home.lock"), "{error}");
    drop(lock);
    assert_eq!(mark(&home, 1).await.unwrap(), 1);
}

/// In a directory of another user the link would lead to a file that this user may write.
#[tokio::test]
async fn a_link_in_the_place_of_the_lock_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (data, target) = (folder.path().join("data"), folder.path().join("target"));
    fs::create_dir(&data).unwrap();
    std::os::unix::fs::symlink(&target, data.join(LOCK_FILE)).unwrap();
    home(&data).prepare().await.unwrap_err();
    mark(&home(&data), 7).await.unwrap_err();
    let env = sequent_core::Env::default();
    let turn = super::super::turn_to_make(&data, Duration::from_secs(1), &env).await;
    assert!(turn.is_none() && !target.exists());
}
