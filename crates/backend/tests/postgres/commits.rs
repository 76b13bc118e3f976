//! A number leaves only once its commit has succeeded; transactions that met others are tried again, so many times.

use sequent_core::{ErrorKind, Store, ledger::Identity};

use crate::support::{Counting, Site, failed};

/// Makes each change of a cell fail at its commit, after its row was returned, while `condition` holds.
async fn fail_commits(site: &Site, code: &str, condition: &str) {
    let sql = format!(
        "CREATE SEQUENCE public.tries;
         CREATE FUNCTION public.fail() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS $$
         BEGIN
             IF nextval('public.tries') {condition} THEN
                 RAISE EXCEPTION 'a commit that fails' USING ERRCODE = '{code}';
             END IF;
             RETURN NULL;
         END $$;
         CREATE CONSTRAINT TRIGGER fail AFTER UPDATE ON sequent_store.cells
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.fail();"
    );
    site.server.sql(&sql).await;
}

#[tokio::test]
async fn a_commit_that_fails_gives_no_number() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    assert_eq!(counting.take(5).await.unwrap().last(), 5);
    // disk_full.
    fail_commits(&site, "53100", "<= 3").await;
    for _ in 0..3 {
        failed(counting.take(5).await, ErrorKind::Unavailable, &["53100", "a commit that fails"]);
    }
    assert_eq!(counting.take(5).await.unwrap().first(), 6);
}

#[tokio::test]
async fn what_met_another_transaction_is_tried_again_within_a_bound() {
    for code in ["40001", "40P01"] {
        let site = Site::new().await;
        let counting = Counting::begin(site.store(), 0).await;
        fail_commits(&site, code, "<= 3").await;
        assert_eq!(counting.take(5).await.unwrap().first(), 1, "{code}");
        site.server.sql("CREATE OR REPLACE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM nextval('public.tries'); RAISE EXCEPTION 'met another' USING ERRCODE = '40001'; END $$;
            ALTER FUNCTION public.fail() SECURITY DEFINER;").await;
        failed(counting.take(5).await, ErrorKind::Contended, &["40001", "met another"]);
        let tries: u64 = site.server.sql("SELECT last_value FROM public.tries").await.trim().parse().unwrap();
        assert!((4 + 2..=4 + 16).contains(&tries), "{tries} tries");
        site.server.sql("DROP TRIGGER fail ON sequent_store.cells").await;
        assert_eq!(counting.take(5).await.unwrap().first(), 6);
        assert_eq!(
            site.server.sql("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%'").await,
            "0\n"
        );
    }
}

#[tokio::test]
async fn a_session_waits_for_its_commits_whatever_the_role_says() {
    let site = Site::new().await;
    let sql = "ALTER ROLE seq SET synchronous_commit = off; ALTER ROLE seq SET lock_timeout = 0;
        ALTER ROLE seq SET default_transaction_isolation = 'repeatable read';
        ALTER ROLE seq SET search_path = 'public';
        ALTER SYSTEM SET synchronous_commit = off; SELECT pg_reload_conf();";
    site.server.sql(sql).await;
    let counting = Counting::begin(site.store(), 0).await;
    counting.take(1).await.unwrap();
    let durability = counting.store.inspect().await.unwrap().durability;
    assert!(
        durability.settings.contains(&("synchronous_commit".to_owned(), "on".to_owned())),
        "{durability:?}"
    );
    let durability = site.ledger().inspect().await.unwrap().durability;
    assert!(
        durability.settings.contains(&("synchronous_commit".to_owned(), "on".to_owned())),
        "{durability:?}"
    );
}
