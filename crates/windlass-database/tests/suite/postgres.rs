//! Reading from PostgreSQL: types, limits, errors, timeouts.

use std::time::Duration;

use serde_json::json;
use windlass_ports::database::{Access, DatabaseFailure, SqlEngine::Postgres as Engine};
use windlass_testkit::servers::{Postgres, at_socket, reading};

use super::ask::run;

#[tokio::test]
async fn rows_come_as_json_of_the_right_types() {
    let Some(server) = Postgres::start("types") else {
        return;
    };
    server
        .run("create type mood as enum ('sad', 'ok'); create table cats (id int, mood mood)")
        .unwrap();
    let address = at_socket(server.socket(), "postgres", "postgres");
    let statement = r#"
        select 1 as n, 9007199254740993 as big, 1.10::numeric as price, 1.5::float8 as ratio, 'NaN'::float8 as nan,
          true as yes, null::int as nothing, 'ß' as text, '\x00ff'::bytea as bytes,
          '{"a": [1, 9007199254740993]}'::jsonb as doc, array[1, null, 3] as list, array['a,b', '"'] as texts,
          '{{1,2},{3,4}}'::int[] as grid, 'ok'::mood as mood, array['ok', 'sad']::mood[] as moods,
          timestamp '2024-01-02 03:04:05.5' as at, timestamptz '2024-01-02 03:04:05+02' as atz, date '2024-01-02' as day,
          interval '1 day 2 hours' as span, '5f0c9a1e-0000-4000-8000-000000000000'::uuid as uuid, point '(1,2)' as point,
          row(1, 'a') as record, 1 as n
        -- a comment at the end"#;
    let rows = run(&reading(Engine, &address, statement)).await.unwrap();
    assert_eq!(
        json!(rows.rows[0]),
        json!({
            "n": 1, "big": "9007199254740993", "price": "1.10", "ratio": 1.5, "nan": "NaN", "yes": true,
            "nothing": null, "text": "ß", "bytes": "AP8=", "doc": { "a": [1, "9007199254740993"] },
            "list": [1, null, 3], "texts": ["a,b", "\""], "grid": [[1, 2], [3, 4]], "mood": "ok",
            "moods": ["ok", "sad"], "at": "2024-01-02T03:04:05.5", "atz": "2024-01-02T01:04:05Z",
            "day": "2024-01-02", "span": "P1DT2H", "uuid": "5f0c9a1e-0000-4000-8000-000000000000",
            "point": "(1,2)", "record": "(1,a)", "n_2": 1
        })
    );
    let kinds: Vec<&str> = rows
        .fields
        .iter()
        .map(|field| field.kind.as_str())
        .collect();
    assert!(kinds.contains(&"mood") && kinds.contains(&"_mood") && kinds.contains(&"point"));
    assert_eq!((rows.truncated, rows.affected), (false, None));

    for (statement, expected) in [
        ("show server_encoding", json!({ "server_encoding": "UTF8" })),
        ("values (1)", json!({ "column1": 1 })),
        ("with t as (select 2 as x) table t", json!({ "x": 2 })),
        (
            "select current_setting('transaction_read_only') as ro",
            json!({ "ro": "on" }),
        ),
        ("select 'a\\' as x", json!({ "x": "a\\" })),
    ] {
        let rows = run(&reading(Engine, &address, statement)).await.unwrap();
        assert_eq!(json!(rows.rows[0]), expected, "{statement}");
    }
    let plan = run(&reading(
        Engine,
        &address,
        "explain analyze select * from cats",
    ))
    .await
    .unwrap();
    assert!(plan.rows.len() > 1 && plan.fields[0].name == "QUERY PLAN");
}

#[tokio::test]
async fn limits_truncate_and_say_so() {
    let Some(server) = Postgres::start("limits") else {
        return;
    };
    let address = at_socket(server.socket(), "postgres", "postgres");
    let mut request = reading(Engine, &address, "select n from generate_series(1, 10) n");
    for (limit, truncated) in [(9, true), (10, false), (11, false), (0, true)] {
        request.row_limit = limit;
        let rows = run(&request).await.unwrap();
        assert_eq!(
            (rows.rows.len(), rows.truncated),
            (limit.min(10), truncated)
        );
    }
    // Endless, but the server stops after the rows that are wanted.
    request.statement =
        "with recursive t(n) as (select 1 union all select n + 1 from t) select n from t"
            .to_owned();
    request.row_limit = 1_000;
    let rows = run(&request).await.unwrap();
    assert_eq!((rows.rows.len(), rows.truncated), (1_000, true));
    request.statement = "select repeat('x', 1000) from generate_series(1, 1000)".to_owned();
    request.byte_limit = 10_500;
    let rows = run(&request).await.unwrap();
    assert_eq!((rows.rows.len(), rows.truncated), (10, true));
    request.statement = "select repeat('x', 100000000)".to_owned();
    let failure = run(&request).await.unwrap_err();
    assert!(
        matches!(failure, DatabaseFailure::Answer { .. }),
        "{failure}"
    );
}

#[tokio::test]
async fn errors_have_their_kind() {
    let Some(server) = Postgres::start("errors") else {
        return;
    };
    server
        .run("create role app login; create table secrets (a int); create function slow() returns int language plpgsql as $$ begin perform pg_sleep(60); return 1; end $$")
        .unwrap();
    let address = at_socket(server.socket(), "app", "postgres");
    let failed = async |statement: &str| {
        run(&reading(Engine, &address, statement))
            .await
            .unwrap_err()
    };
    assert_eq!(
        failed("select nope from pg_class").await,
        DatabaseFailure::Statement {
            code: "42703".to_owned(),
            message: "column \"nope\" does not exist".to_owned(),
            position: Some(8),
        }
    );
    assert!(matches!(
        failed("select * from secrets").await,
        DatabaseFailure::Auth { .. }
    ));
    assert!(matches!(
        failed("select $1").await,
        DatabaseFailure::Statement { .. }
    ));
    assert!(matches!(
        failed("select 1 \0").await,
        DatabaseFailure::Statement { .. }
    ));

    for statement in [
        "select pg_sleep(60)",
        "select slow()",
        "select count(*) from generate_series(1, 1000000000000)",
    ] {
        let mut slow = reading(Engine, &address, statement);
        slow.statement_timeout = Duration::from_millis(200);
        let started = std::time::Instant::now();
        let failure = run(&slow).await.unwrap_err();
        assert!(
            matches!(failure, DatabaseFailure::Timeout { .. }),
            "{failure}"
        );
        assert!(started.elapsed() < Duration::from_secs(15));
    }
    let nobody = at_socket(server.socket(), "nobody", "postgres");
    let failure = run(&reading(Engine, &nobody, "select 1"))
        .await
        .unwrap_err();
    assert!(matches!(failure, DatabaseFailure::Auth { .. }), "{failure}");
    let elsewhere = at_socket(server.socket(), "app", "no_such_database");
    let failure = run(&reading(Engine, &elsewhere, "select 1"))
        .await
        .unwrap_err();
    assert!(
        matches!(failure, DatabaseFailure::Statement { ref code, .. } if code == "3D000"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_local_database_may_be_changed_where_the_request_says_so() {
    let Some(server) = Postgres::start("local") else {
        return;
    };
    let address = at_socket(server.socket(), "postgres", "postgres");
    let mut request = reading(Engine, &address, "create table notes (id int, body text)");
    request.access = Access::LocalUnrestricted;
    run(&request).await.unwrap();
    request.statement =
        "insert into notes select n, 'x' from generate_series(1, 5) n returning id".to_owned();
    request.row_limit = 2;
    let rows = run(&request).await.unwrap();
    assert_eq!((rows.rows.len(), rows.truncated), (2, true));
    request.statement = "update notes set body = 'y' where id > 2".to_owned();
    assert_eq!(run(&request).await.unwrap().affected, Some(3));
    assert_eq!(
        server
            .run("select count(*) from notes where body = 'y'")
            .unwrap()
            .trim(),
        "3"
    );
    request.statement = "select pg_sleep(60)".to_owned();
    request.statement_timeout = Duration::from_millis(200);
    assert!(matches!(
        run(&request).await.unwrap_err(),
        DatabaseFailure::Timeout { .. }
    ));
}
