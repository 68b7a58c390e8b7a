//! MariaDB: types, limits, timeouts, passwords.

use std::time::Duration;

use serde_json::json;
use windlass_ports::database::{
    Access, DatabaseAddress, DatabaseFailure, SqlEngine::MySql as Engine,
};
use windlass_testkit::servers::{MariaDb, at_socket, reading};
use windlass_types::Secret;

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
