//! Attempts to write to MariaDB, with and without the rules.

use windlass_ports::database::{
    Access, DatabaseAddress, DatabaseFailure, SqlEngine::MySql as Engine,
};
use windlass_stack_diagnose::guard::sql;
use windlass_testkit::servers::{MariaDb, at_socket, reading};

use super::ask::run;

async fn change(address: &DatabaseAddress, statements: &[&str]) {
    for statement in statements {
        let mut request = reading(Engine, address, statement);
        request.access = Access::LocalUnrestricted;
        if let Err(failure) = run(&request).await {
            panic!("{statement}: {failure}");
        }
    }
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
        assert!(sql::check(Engine, statement, &[]).is_err(), "{statement}");
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
