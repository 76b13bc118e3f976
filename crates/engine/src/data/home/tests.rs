//! What stays, what is refused, and what a copy is told by.

use super::*;
use sequent_testkit::SeededEntropy;

fn home(data: &Path) -> Home {
    Home::new(data, Duration::from_secs(20), Arc::new(SeededEntropy::new(1)))
}

/// The text into the file that is there: what `cp -a bak/. data/` does.
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
    assert_eq!(home.mark(0).await.unwrap(), 0, "reading creates nothing");
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
    assert_eq!(home.mark(7).await.unwrap(), 7);
    assert_eq!(home.mark(3).await.unwrap(), 7);
    assert_eq!(self::home(data.path()).mark(0).await.unwrap(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_at_once_the_greatest_stays() {
    let data = tempfile::tempdir().unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for version in 1..=16 {
        let home = home(data.path());
        tasks.spawn(async move { assert!(home.mark(version).await.unwrap() >= version) });
    }
    tasks.join_all().await;
    assert_eq!(home(data.path()).mark(0).await.unwrap(), 16);
}

#[tokio::test]
async fn a_foreign_content_is_refused_not_overwritten() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join(FILE), "mine\n").unwrap();
    let error = home(data.path()).mark(1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("found \"mine\\n\""), "{error}");
}

#[tokio::test]
async fn a_marker_that_cannot_be_read_is_written_anew_by_a_recovery_alone() {
    for (found, version) in [(&b"sequent/1 mark=7\n"[..], 7), (b"mine\n", 0), (b"\xff\xfe", 0), (b"", 0)] {
        let data = tempfile::tempdir().unwrap();
        fs::write(data.path().join(FILE), found).unwrap();
        let home = home(data.path());
        for mark in [0, 9] {
            let error = home.mark(mark).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
            assert!(error.to_string().contains("sequent recover --moved"), "{error}");
        }
        assert!(home.unreadable().await.unwrap().is_some());
        assert_eq!(Unjudged(&home).mark(0).await.unwrap(), version, "of an older form the version counts");
        home.renew(0).await.unwrap();
        assert_eq!((home.mark(0).await.unwrap(), home.unreadable().await.unwrap()), (version, None));
    }
}

#[tokio::test]
async fn an_older_copy_over_the_file_in_place_is_told_even_with_the_same_version() {
    let data = tempfile::tempdir().unwrap();
    let home = home(data.path());
    home.mark(7).await.unwrap();
    let older = fs::read(data.path().join(FILE)).unwrap();
    home.mark(7).await.unwrap();
    assert_eq!(home.mark(0).await.unwrap(), 7);
    overwrite(data.path(), &older);
    for version in [0, 9] {
        let error = home.mark(version).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LedgerBehind, "{error}");
        assert!(error.to_string().contains("sequent recover --moved"), "{error}");
    }
    assert_eq!(home.version().await.unwrap(), 7);
    home.renew(8).await.unwrap();
    assert_eq!(home.mark(0).await.unwrap(), 8, "it names itself again");
}

#[tokio::test]
async fn a_copied_directory_is_told_and_a_moved_one_is_not() {
    let data = tempfile::tempdir().unwrap();
    let (was, moved, copy) = (data.path().join("a"), data.path().join("b"), data.path().join("c"));
    fs::create_dir(&was).unwrap();
    home(&was).mark(7).await.unwrap();
    fs::rename(&was, &moved).unwrap();
    assert_eq!(home(&moved).mark(0).await.unwrap(), 7);
    fs::create_dir(&copy).unwrap();
    fs::copy(moved.join(FILE), copy.join(FILE)).unwrap();
    assert_eq!(home(&copy).mark(0).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
}

#[tokio::test]
async fn a_lock_that_is_never_given_back_is_an_error() {
    let data = tempfile::tempdir().unwrap();
    let lock = File::create(data.path().join(LOCK_FILE)).unwrap();
    lock.lock().unwrap();
    let home = Home { patience: Duration::from_millis(50), ..home(data.path()) };
    let error = home.mark(1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("home.lock"), "{error}");
    drop(lock);
    assert_eq!(home.mark(1).await.unwrap(), 1);
}
