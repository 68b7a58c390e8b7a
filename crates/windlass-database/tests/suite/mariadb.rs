//! MariaDB: types, limits, timeouts, passwords, and attempts to write with and without the rules.

use std::time::Duration;

use serde_json::json;
use windlass_ports::database::{
    Access, DatabaseAddress, DatabaseFailure, SqlEngine::MySql as Engine,
};
use windlass_stack_guard::sql;
use windlass_testkit::servers::MariaDb;
use windlass_types::Secret;

use super::request::{at_socket, reading, run};

async fn change(address: &DatabaseAddress, statements: &[&str]) {
    for statement in statements {
        let mut request = reading(Engine, address, statement);
        request.access = Access::LocalUnrestricted;
        if let Err(failure) = run(&request).await {
            panic!("{statement}: {failure}");
        }
    }
}

#[tokio::test]
async fn rows_limits_errors_and_passwords() {
    let Some(server) = MariaDb::start() else {
        return;
    };
    let root = at_socket(server.socket(), "root", "");
    change(
        &root,
        &[
            "create database shop",
            "create table shop.t (n int, big bigint unsigned, price decimal(5,2), ratio double, body text, raw varbinary(9), \
             at datetime(1), ts timestamp, day date, bits bit(9), flag bool, kind enum('a', 'b'), nothing int)",
            "insert into shop.t values (1, 18446744073709551615, 1.10, 1.5, 'ß', x'00ff', '2024-01-02 03:04:05.5', \
             '2024-01-02 03:04:05', '2024-01-02', b'100000000', true, 'a', null)",
            "create user 'app'@'localhost' identified by 'only-for-tests'",
            "grant select on shop.* to 'app'@'localhost'",
        ],
    )
    .await;
    let mut app = at_socket(server.socket(), "app", "shop");
    app.password = Some(Secret::new("only-for-tests".to_owned()));
    let rows = run(&reading(Engine, &app, "select *, 1 as n from t"))
        .await
        .unwrap();
    assert_eq!(
        json!(rows.rows[0]),
        json!({
            "n": 1, "big": "18446744073709551615", "price": "1.10", "ratio": 1.5, "body": "ß", "raw": "AP8=",
            "at": "2024-01-02T03:04:05.5", "ts": "2024-01-02T03:04:05Z", "day": "2024-01-02", "bits": 256,
            "flag": 1, "kind": "a", "nothing": null, "n_2": 1
        })
    );
    assert_eq!(rows.fields[2].kind, "decimal");

    let mut request = reading(Engine, &app, "select seq from seq_1_to_1000000");
    for (limit, truncated) in [(10, true), (0, true)] {
        request.row_limit = limit;
        let rows = run(&request).await.unwrap();
        assert_eq!((rows.rows.len(), rows.truncated), (limit, truncated));
    }
    for statement in [
        "show tables",
        "describe t",
        "explain select * from t",
        "with x as (select 1) select * from x",
    ] {
        sql::check(Engine, statement).unwrap();
        run(&reading(Engine, &app, statement)).await.unwrap();
    }
    let failed = async |address: &DatabaseAddress, statement: &str| {
        let mut request = reading(Engine, address, statement);
        request.statement_timeout = Duration::from_millis(300);
        run(&request).await.unwrap_err()
    };
    assert!(
        matches!(failed(&app, "select nope from t").await, DatabaseFailure::Statement { code, .. } if code == "1054")
    );
    assert!(matches!(
        failed(&app, "select * from mysql.user").await,
        DatabaseFailure::Auth { .. }
    ));
    assert!(matches!(
        failed(
            &app,
            "select count(*) from seq_1_to_1000000 a, seq_1_to_1000000 b where a.seq + b.seq < 0"
        )
        .await,
        DatabaseFailure::Timeout { .. }
    ));
    app.password = Some(Secret::new("wrong".to_owned()));
    assert!(matches!(
        failed(&app, "select 1").await,
        DatabaseFailure::Auth { .. }
    ));
}

/// The rest of what could be tried is refused by the rules; these the server must hold by itself.
const ATTEMPTS: &[&str] = &[
    "insert into t values (9)",
    "insert into t select * from t",
    "replace into t values (9)",
    "update t set n = 9",
    "delete from t",
    "truncate table t",
    "drop table t",
    "alter table t add column x int",
    "create table x (a int)",
    "create table x as select * from t",
    "create view x as select 1",
    "create index i on t (n)",
    "drop database shop",
    "rename table t to u",
    "call wipe()",
    "select wipe_now()",
    "execute immediate 'delete from t'",
    "begin not atomic delete from t; end",
    "select 1; delete from t",
    "commit; delete from t",
    "analyze delete from t",
    "explain delete from t; delete from t",
    "/*! delete from t */",
    "select next value for counter",
    "grant all on *.* to 'eve'@'localhost'",
    "optimize table t",
    "load data local infile '/etc/passwd' into table t",
];

#[tokio::test]
async fn attempts_to_write_change_nothing_with_or_without_the_rules() {
    let Some(server) = MariaDb::start() else {
        return;
    };
    change(
        &at_socket(server.socket(), "root", ""),
        &[
            "create database shop",
            "set global log_bin_trust_function_creators = 1",
        ],
    )
    .await;
    let address = at_socket(server.socket(), "root", "shop");
    change(
        &address,
        &[
            "create table t (n int primary key)",
            "insert into t values (1), (2)",
            "create sequence counter",
            "create procedure wipe() delete from t",
            "create function wipe_now() returns int begin delete from t; return 1; end",
        ],
    )
    .await;
    let state = async || {
        let mut state = Vec::new();
        for statement in [
            "checksum table shop.t extended",
            "select table_name, table_type from information_schema.tables where table_schema = 'shop' order by 1",
            "select next_not_cached_value from shop.counter",
            "select user, host from mysql.user order by 1, 2",
            "show create table shop.t",
        ] {
            let mut request = reading(Engine, &address, statement);
            request.access = Access::LocalUnrestricted;
            state.push(run(&request).await.unwrap());
        }
        state
    };
    let before = state().await;
    for statement in ATTEMPTS {
        let own = statement.starts_with("select wipe_now");
        assert_eq!(sql::check(Engine, statement).is_ok(), own, "{statement}");
        let outcome = run(&reading(Engine, &address, statement)).await;
        assert_eq!(state().await, before, "{statement}: {outcome:?}");
        if own
            || ["insert", "update", "delete", "drop table"]
                .iter()
                .any(|verb| statement.starts_with(verb))
        {
            assert!(
                matches!(outcome, Err(DatabaseFailure::ReadOnly { .. })),
                "{statement}: {outcome:?}"
            );
        }
    }
}
