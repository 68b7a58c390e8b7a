//! Functions of PostgreSQL as its catalogue knows them: the list against the catalogue, and names
//! that mean a function of a user.

use std::collections::BTreeSet;

use serde_json::json;
use windlass_ports::database::{DatabaseAddress, SqlEngine::Postgres as Engine};
use windlass_stack_diagnose::guard::sql;
use windlass_testkit::servers::{Postgres, at_socket};

use super::ask::guarded;

/// Functions on the list that the catalogue calls volatile because what they read changes.
const CHANGING: &[&str] = &[
    "bernoulli",
    "clock_timestamp",
    "current_query",
    "gen_random_uuid",
    "pg_blocking_pids",
    "pg_control_checkpoint",
    "pg_control_init",
    "pg_control_recovery",
    "pg_control_system",
    "pg_current_wal_flush_lsn",
    "pg_current_wal_insert_lsn",
    "pg_current_wal_lsn",
    "pg_database_size",
    "pg_get_wal_replay_pause_state",
    "pg_indexes_size",
    "pg_is_in_recovery",
    "pg_is_wal_replay_paused",
    "pg_last_committed_xact",
    "pg_last_wal_receive_lsn",
    "pg_last_wal_replay_lsn",
    "pg_last_xact_replay_timestamp",
    "pg_lock_status",
    "pg_notification_queue_usage",
    "pg_partition_ancestors",
    "pg_partition_tree",
    "pg_relation_size",
    "pg_safe_snapshot_blocking_pids",
    "pg_sequence_last_value",
    "pg_table_size",
    "pg_tablespace_size",
    "pg_total_relation_size",
    "pg_xact_commit_timestamp",
    "pg_xact_status",
    "random",
    "random_normal",
    "system",
    "timeofday",
    "txid_status",
    "array_sample",
    "array_shuffle",
    "uuidv4",
    "uuidv7",
];

#[test]
fn the_list_holds_nothing_that_the_catalogue_calls_volatile_or_internal() {
    let Some(server) = Postgres::start("listed") else {
        return;
    };
    let names = |condition: &str| -> BTreeSet<String> {
        let script = format!(
            "select distinct proname from pg_proc where pronamespace = 'pg_catalog'::regnamespace and {condition}"
        );
        let found = server.run(&script).unwrap();
        let names = found.lines().map(str::to_owned);
        names
            .filter(|name| sql::is_built_in(Engine, name))
            .collect()
    };
    let unexpected: Vec<String> = names("provolatile = 'v'")
        .into_iter()
        .filter(|name| !CHANGING.contains(&name.as_str()) && !name.starts_with("pg_stat_get_"))
        .collect();
    assert_eq!(unexpected, Vec::<String>::new());
    assert_eq!(
        names(
            "prorettype in ('trigger'::regtype, 'event_trigger'::regtype, 'language_handler'::regtype)"
        ),
        BTreeSet::new()
    );
    assert!(names("true").len() > 500);
}

#[test]
fn every_word_of_the_grammar_is_known() {
    let Some(server) = Postgres::start("words") else {
        return;
    };
    // After a plain name `x(…)` is an alias; after a word of the grammar it may be a call.
    assert!(sql::check(Engine, "select * from plain x(a)", &[]).is_ok());
    for word in server
        .run("select word from pg_get_keywords()")
        .unwrap()
        .lines()
        .filter(|word| *word != "as" && *word != "into")
    {
        let statement = format!("select * from {word} unknown_function(a)");
        assert!(sql::check(Engine, &statement, &[]).is_err(), "{statement}");
    }
}

fn database(server: &Postgres) -> DatabaseAddress {
    server
        .run(
            "create role app login;
             create schema app authorization app;
             create schema tools authorization app;
             set search_path = app;
             set role app;
             create type address as (street text, city text);
             create table users (id int primary key, name varchar(20), home address);
             insert into users values (1, 'ada', ('Main St', 'York'));
             create table touched (at timestamptz);
             create function length(varchar) returns int language sql immutable as 'select -1';
             create function full_name(users) returns text language sql stable as 'select $1.name || ''!''';
             create function city(text) returns text language sql as 'select $1';
             create function score(int) returns int language sql stable as 'select $1 * 2';
             create function wipe() returns int language plpgsql as $$ begin delete from app.users; return 1; end $$;
             create function tools.half(int) returns int language sql immutable as 'select $1 / 2';
             create function tools.act(int) returns int language plpgsql as $$ begin return pg_backend_pid(); end $$;
             create function plus_acting(text, int) returns int language plpgsql as $$ begin return pg_backend_pid(); end $$;
             create operator +# (leftarg = text, rightarg = int, function = plus_acting);
             create function plus_reading(text, int) returns int language sql immutable as 'select $2';
             create operator ++# (leftarg = text, rightarg = int, function = plus_reading);
             reset role;
             alter role app set search_path = app;",
        )
        .unwrap();
    at_socket(server.socket(), "app", "postgres")
}

#[tokio::test]
async fn a_name_means_the_servers_own_function_or_is_refused() {
    let Some(server) = Postgres::start("shadowed") else {
        return;
    };
    let address = database(&server);
    for (statement, allowed, outcome) in [
        // Hidden behind a function of the user's schema that fits better.
        (
            "select length(name) as n from users",
            &[] as &[&str],
            Err(
                "length calls app.length(character varying); write pg_catalog.length for the server's own",
            ),
        ),
        (
            "select pg_catalog.length(name) as n from users",
            &[],
            Ok(json!(3)),
        ),
        (
            "select length(name) as n from users",
            &["app.length"],
            Ok(json!(-1)),
        ),
        // Unknown, by name.
        (
            "select score(1) as n",
            &[],
            Err("the function score is not on the list"),
        ),
        (
            "select app.score(1) as n",
            &[],
            Err("the function app.score is not on the list"),
        ),
        ("select score(1) as n", &["app.score"], Ok(json!(2))),
        ("select app.score(1) as n", &["app.*"], Ok(json!(2))),
        ("select score(1) as n", &["app.*"], Ok(json!(2))),
        // Volatile: only by its own name, and still in a transaction that reads.
        ("select tools.half(4) as n", &["tools.*"], Ok(json!(2))),
        (
            "select tools.act(1) is null as n",
            &["tools.*"],
            Err("act calls tools.act(integer), which may change things"),
        ),
        (
            "select tools.act(1) is null as n",
            &["tools.act"],
            Ok(json!(false)),
        ),
        (
            "select wipe() as n",
            &["app.wipe"],
            Err("cannot execute DELETE in a read-only transaction"),
        ),
        // A schema that is allowed does not open the server's own.
        (
            "select pg_read_file('PG_VERSION') as n",
            &["app.*"],
            Err("pg_read_file calls pg_catalog.pg_read_file("),
        ),
        (
            "select pg_catalog.pg_sleep(0)::text as n",
            &["pg_sleep"],
            Ok(json!("")),
        ),
        // Called without parentheses.
        ("select u.name as n from users u", &[], Ok(json!("ada"))),
        (
            "select u.full_name as n from users u",
            &[],
            Err("full_name without a column of that name calls app.full_name("),
        ),
        (
            "select u.full_name as n from users u",
            &["app.full_name"],
            Ok(json!("ada!")),
        ),
        (
            "select (u.home).street as n from users u",
            &[],
            Ok(json!("Main St")),
        ),
        (
            "select ('x'::text).city as n",
            &[],
            Err("city without a column of that name calls app.city(text), which may change things"),
        ),
        (
            "select ('PG_VERSION'::text).pg_read_file as n",
            &[],
            Err("the function pg_read_file is not on the list"),
        ),
        (
            "select (1).lo_unlink as n",
            &[],
            Err("lo_unlink without a column of that name calls pg_catalog.lo_unlink(oid)"),
        ),
        (
            "select (jsonb_each('{\"a\": 1}')).key as n",
            &[],
            Ok(json!("a")),
        ),
        (
            "select f.city as n from lower('X') f",
            &[],
            Err("city without a column of that name calls app.city(text)"),
        ),
        (
            "select f.lo_unlink as n from length('X'::text) f",
            &["app.length"],
            Err("lo_unlink without a column of that name calls pg_catalog.lo_unlink(oid)"),
        ),
        (
            "select f.key as n from jsonb_each('{\"a\": 1}') f",
            &[],
            Ok(json!("a")),
        ),
        // Operators.
        (
            "select 'a'::text +# 1 as n",
            &[],
            Err("the operator +# could call app.plus_acting, which may change things"),
        ),
        (
            "select 'a'::text +# 1 is null as n",
            &["app.plus_acting"],
            Ok(json!(false)),
        ),
        ("select 1 + 1 as n", &[], Ok(json!(2))),
        (
            "select 'a'::text operator(app.+#) 1 as n",
            &[],
            Err("OPERATOR(…) may call a function of a user"),
        ),
    ] {
        let found = guarded(Engine, &address, statement, allowed).await;
        match (found, outcome) {
            (Ok(rows), Ok(value)) => assert_eq!(rows.rows[0]["n"], value, "{statement}"),
            (Err(said), Err(part)) => assert!(said.contains(part), "{statement}: {said}"),
            (found, _) => panic!("{statement}: {found:?}"),
        }
    }
}

#[tokio::test]
async fn a_search_path_cannot_hide_the_servers_own_schema() {
    let Some(server) = Postgres::start("path") else {
        return;
    };
    let address = database(&server);
    server
        .run(
            "create function app.lower(text) returns text language sql immutable as $$ select 'hidden' $$;
             create function app.wrong(int, int) returns int language sql immutable as 'select -1';
             create operator app.+ (leftarg = int, rightarg = int, function = app.wrong);
             alter role app set search_path = app, pg_catalog, \"$user\";",
        )
        .unwrap();
    let ask = async |statement: &str| guarded(Engine, &address, statement, &[]).await;
    let said = ask("select lower('X')").await.unwrap_err();
    assert!(said.contains("lower calls app.lower(text)"), "{said}");
    let rows = ask("select 1 + 1 as n, upper('x') as up, count(*)::int as all from users")
        .await
        .unwrap();
    assert_eq!(
        rows.rows[0],
        *json!({ "n": 2, "up": "X", "all": 1 }).as_object().unwrap()
    );
    // A path without the server's schema has it first, and stays as it is.
    server
        .run("alter role app set search_path = app, public")
        .unwrap();
    let rows = ask("select current_setting('search_path') as path")
        .await
        .unwrap();
    assert_eq!(rows.rows[0]["path"], "app, public");
}

#[tokio::test]
async fn extensions_may_give_known_names_a_further_type() {
    let Some(server) = Postgres::start("extended") else {
        return;
    };
    let has = |name: &str| {
        let found = format!("select count(*) from pg_available_extensions where name = '{name}'");
        server.run(&found).unwrap().trim() == "1"
    };
    let address = at_socket(server.socket(), "postgres", "postgres");
    let ask = async |statement: &str| guarded(Engine, &address, statement, &[]).await;
    if has("citext") {
        server
            .run("create extension citext; create table people (email citext); insert into people values ('A@b')")
            .unwrap();
        let rows = ask("select max(email) as email from people where email like 'a@%'")
            .await
            .unwrap();
        assert_eq!(rows.rows[0]["email"], "A@b");
    }
    if has("tablefunc") {
        server.run("create extension tablefunc").unwrap();
        for name in ["crosstab2", "crosstab3", "crosstab4"] {
            let said = ask(&format!(
                "select * from {name}('select ''a'', ''b'', pg_read_file(''PG_VERSION'')')"
            ))
            .await
            .unwrap_err();
            assert!(
                said.contains(&format!("the function {name} is not on the list")),
                "{said}"
            );
        }
    }
    if has("pg_prewarm") {
        server.run("create extension pg_prewarm").unwrap();
        assert!(ask("select pg_prewarm('pg_class')").await.is_err());
    }
}
