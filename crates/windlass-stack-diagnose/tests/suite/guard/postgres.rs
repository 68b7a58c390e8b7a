//! Attempts to write, through the rules and, with the rules switched off, against the transaction
//! alone. Nothing changes either way.

use windlass_ports::database::{DatabaseAddress, DatabaseFailure, SqlEngine::Postgres as Engine};
use windlass_stack_diagnose::guard::sql;
use windlass_testkit::servers::{Postgres, at_socket, reading};

use super::ask::run;

/// What stops an attempt when the rules do not.
#[derive(Clone, Copy, PartialEq)]
enum Held {
    /// The transaction, which says so.
    ReadOnly,
    /// The server, for another reason.
    Otherwise,
    /// Nothing: it changes no data, or is rolled back.
    Undone,
}
use Held::{Otherwise, ReadOnly, Undone};

const ATTEMPTS: &[(&str, Held)] = &[
    ("insert into users values (9, 'x')", ReadOnly),
    ("insert into users values (9, 'x') returning id", ReadOnly),
    ("insert into users select * from users", ReadOnly),
    ("update users set name = 'x'", ReadOnly),
    ("delete from users", ReadOnly),
    ("DELETE/**/FROM users", ReadOnly),
    ("/* select */ delete from users", ReadOnly),
    ("-- select\ndelete from users", ReadOnly),
    (
        "merge into users u using users v on u.id = v.id when matched then delete",
        ReadOnly,
    ),
    ("truncate users", ReadOnly),
    ("drop table users", ReadOnly),
    ("drop table if exists users cascade", ReadOnly),
    ("alter table users add column x int", ReadOnly),
    ("create table x (a int)", ReadOnly),
    ("create table x as select * from users", ReadOnly),
    ("create temp table x (a int)", ReadOnly),
    ("create view x as select 1", ReadOnly),
    ("create index on users (name)", ReadOnly),
    (
        "create function f() returns int language sql as 'select 1'",
        ReadOnly,
    ),
    ("create sequence x", ReadOnly),
    ("create schema x", ReadOnly),
    ("create extension dblink", ReadOnly),
    ("grant all on users to public", ReadOnly),
    ("comment on table users is 'x'", ReadOnly),
    ("refresh materialized view summary", ReadOnly),
    ("reindex table users", Undone),
    ("vacuum users", ReadOnly),
    ("analyze users", Undone),
    ("cluster users using users_pkey", Undone),
    ("lock table users in access exclusive mode", Undone),
    ("copy users from stdin", ReadOnly),
    ("copy users to stdout", Otherwise),
    ("copy (select 1) to '/tmp/windlass-attempt'", Otherwise),
    ("copy users from program 'echo 9'", Otherwise),
    ("do $$ begin delete from users; end $$", ReadOnly),
    (
        "do $$ begin execute 'del' || 'ete from users'; end $$",
        ReadOnly,
    ),
    ("call wipe()", ReadOnly),
    ("select wipe_now()", ReadOnly),
    ("set transaction read write", ReadOnly),
    ("set transaction_read_only = off", ReadOnly),
    (
        "set session characteristics as transaction read write",
        Undone,
    ),
    ("set default_transaction_read_only = off", Undone),
    ("reset all", Undone),
    ("begin read write", ReadOnly),
    ("start transaction read write", ReadOnly),
    ("commit", Undone),
    ("commit and chain", Undone),
    ("rollback", Undone),
    ("abort", Undone),
    ("prepare transaction 'x'", Otherwise),
    ("savepoint a", Undone),
    ("prepare p as delete from users", Undone),
    (
        "declare c cursor for select * from users for update",
        ReadOnly,
    ),
    ("listen x", Undone),
    ("notify x", Undone),
    ("discard all", ReadOnly),
    ("select 1; insert into users values (9, 'x')", Otherwise),
    ("select 1; commit; delete from users", Otherwise),
    ("commit; delete from users", Otherwise),
    ("select 1 /* ; */; drop table users", Otherwise),
    ("select $$a$$; delete from users; select $$b$$", Otherwise),
    (
        "with t as (delete from users returning *) select * from t",
        ReadOnly,
    ),
    (
        "with t as (insert into users values (9, 'x') returning *) select * from t",
        ReadOnly,
    ),
    (
        "with t as materialized (update users set name = 'x' returning *) select count(*) from t",
        ReadOnly,
    ),
    ("with t as (select 1) delete from users", ReadOnly),
    (
        "with t as (select 1) insert into users select 9, 'x' from t",
        ReadOnly,
    ),
    (
        "with a as (with b as (select 1) select 1) update users set name = 'x'",
        ReadOnly,
    ),
    ("select * into x from users", ReadOnly),
    ("select * into temp x from users", ReadOnly),
    ("select 1into x", Otherwise),
    ("select * from users for update", ReadOnly),
    ("select * from users for share", ReadOnly),
    (
        "select * from users for no key update skip locked",
        ReadOnly,
    ),
    ("explain analyze delete from users", ReadOnly),
    (
        "explain (analyze) insert into users values (9, 'x')",
        ReadOnly,
    ),
    (
        "explain (\"analyze\") update users set name = 'x'",
        ReadOnly,
    ),
    ("explain analyze create table x as select 1", Undone),
    (
        "explain analyze with t as (delete from users returning 1) select * from t",
        ReadOnly,
    ),
    ("select nextval('counter')", ReadOnly),
    ("select setval('counter', 99)", ReadOnly),
    ("select pg_catalog.\"setval\"('counter', 99)", ReadOnly),
    ("select U&\"setv\\0061l\"('counter', 99)", ReadOnly),
    (
        "select set_config('transaction_read_only', 'off', true)",
        ReadOnly,
    ),
    (
        "select set_config('transaction_read_only', 'off', false)",
        ReadOnly,
    ),
    ("select lo_create(0)", Undone),
    ("select lo_from_bytea(0, 'x')", Undone),
    ("select lo_unlink(4242)", Otherwise),
    ("select pg_notify('x', 'y')", Undone),
    ("select pg_advisory_lock(1)", Undone),
    ("select pg_try_advisory_lock(1)", Undone),
    ("select pg_reload_conf()", Otherwise),
    ("select pg_read_file('/etc/passwd')", Otherwise),
    ("select pg_ls_dir('.')", Otherwise),
    ("select ('/etc/passwd'::text).pg_read_file", Otherwise),
    ("select pg_switch_wal()", Otherwise),
    ("select pg_create_restore_point('x')", Otherwise),
    (
        "select query_to_xml('delete from users returning 1', true, true, '')",
        Otherwise,
    ),
    (
        "select query_to_xml('select wipe_now()', true, true, '')",
        ReadOnly,
    ),
    ("select * from rows from (nextval('counter'))", ReadOnly),
    ("values (nextval('counter'))", ReadOnly),
];

fn database(server: &Postgres) -> DatabaseAddress {
    server
        .run(
            "create role app login;
             grant create on database postgres to app;
             set role app;
             create schema app authorization app;
             set search_path = app;
             create table users (id int primary key, name text);
             insert into users values (1, 'ada'), (2, 'bob');
             create materialized view summary as select count(*) from users;
             create sequence counter;
             create procedure wipe() language sql as 'delete from app.users';
             create function wipe_now() returns int language plpgsql as $$ begin delete from app.users; return 1; end $$;
             alter role app set search_path = app;",
        )
        .unwrap();
    at_socket(server.socket(), "app", "postgres")
}

/// Everything that an attempt could have changed.
fn state(server: &Postgres) -> String {
    server
        .run(
            "select md5(string_agg(u::text, ',' order by u.id)) from app.users u;
             select last_value, is_called from app.counter;
             select md5(string_agg(relname::text || relkind::text || coalesce(relacl::text, ''), ',' order by relnamespace, relname))
               from pg_class where relnamespace not in (select oid from pg_namespace where nspname like 'pg_t%');
             select md5(string_agg(proname, ',' order by oid)) from pg_proc;
             select md5(string_agg(nspname, ',' order by oid)) from pg_namespace where nspname not like 'pg_t%';
             select count(*) from pg_largeobject_metadata;
             select count(*) from pg_description where description = 'x';
             select count(*) from pg_prepared_xacts;
             select md5(string_agg(setconfig::text, ',')) from pg_db_role_setting;
             select count(*) from pg_extension;
             select count(*) from pg_attribute where attrelid = 'app.users'::regclass;
             select count(*) from pg_locks where locktype = 'advisory'",
        )
        .unwrap()
}

#[test]
fn the_rules_refuse_every_attempt() {
    for (statement, _) in ATTEMPTS {
        assert!(sql::check(Engine, statement, &[]).is_err(), "{statement}");
    }
    assert!(ATTEMPTS.len() >= 60);
}

#[tokio::test]
async fn the_transaction_protects_without_the_rules() {
    let Some(server) = Postgres::start("held") else {
        return;
    };
    let address = database(&server);
    let before = state(&server);
    let mut wrong = Vec::new();
    for (statement, held) in ATTEMPTS {
        let outcome = run(&reading(Engine, &address, statement)).await;
        let as_expected = match (held, &outcome) {
            (ReadOnly, Err(DatabaseFailure::ReadOnly { .. })) | (Undone, Ok(_)) => true,
            (Otherwise, Err(failure)) => !matches!(failure, DatabaseFailure::ReadOnly { .. }),
            _ => false,
        };
        if !as_expected {
            wrong.push(format!("{statement}: {outcome:?}"));
        }
        assert_eq!(state(&server), before, "{statement}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
