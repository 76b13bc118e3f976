//! The servers of the testkit do what its tests rely on.

mod mariadb {
    //! MariaDB: data outlives a kill, a suspended server hangs, a copy goes back.

    use sequent_testkit::servers::MariaDb;

    #[tokio::test]
    async fn data_outlives_a_kill_and_goes_back_with_a_copy() {
        let server = MariaDb::start().await;
        server
            .sql("CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY); INSERT INTO t VALUES (), ()")
            .await;
        let copy = server.copy().await;
        server.sql("INSERT INTO t VALUES ()").await;
        server.kill().await;
        assert!(!server.runs().await);
        server.restart().await;
        assert_eq!(server.sql("SELECT MAX(id), COUNT(*) FROM t").await, "3\t3\n");
        server.restore_from(&copy).await;
        assert_eq!(server.sql("SELECT MAX(id), COUNT(*) FROM t").await, "2\t2\n");
    }
}

mod postgres {
    //! PostgreSQL: the same.

    use sequent_testkit::servers::Postgres;

    #[tokio::test]
    async fn data_outlives_a_kill_and_goes_back_with_a_copy() {
        let server = Postgres::start().await;
        server.sql("CREATE TABLE t (id INT); INSERT INTO t VALUES (1), (2)").await;
        let copy = server.copy().await;
        server.sql("INSERT INTO t VALUES (3)").await;
        server.kill().await;
        assert!(!server.runs().await);
        server.restart().await;
        assert_eq!(server.sql("SELECT MAX(id), COUNT(*) FROM t").await, "3\t3\n");
        server.restore_from(&copy).await;
        assert_eq!(server.sql("SELECT MAX(id), COUNT(*) FROM t").await, "2\t2\n");
    }
}
