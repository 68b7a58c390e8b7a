//! PostgreSQL's statements let through and refused, with the rule that refuses; both lexers
//! with texts made to confuse them.

use proptest::prelude::*;

use super::SqlEngine::{MySql, Postgres};
use super::*;
use crate::guard::{Refusal, Rule};

/// The rules without settings.
pub(super) fn check(engine: SqlEngine, text: &str) -> Result<Statement, Refusal> {
    super::check(engine, text, &[])
}

pub(super) fn passes(engine: SqlEngine, statements: &[&str]) {
    for statement in statements {
        if let Err(refusal) = check(engine, statement) {
            panic!("{statement}\n{refusal}");
        }
    }
}

pub(super) fn refused(engine: SqlEngine, statements: &[(&str, Rule)]) {
    for (statement, rule) in statements {
        match check(engine, statement) {
            Ok(_) => panic!("let through: {statement}"),
            Err(refusal) => assert_eq!(refusal.rule, *rule, "{statement}\n{refusal}"),
        }
    }
}

#[test]
fn postgres_queries_pass() {
    passes(
        Postgres,
        &[
            "select 1",
            "SELECT 1;",
            "select 1 ; ; -- done",
            "-- a comment first\nselect 1",
            "/* a /* nested */ comment */ select 1",
            "WITH t AS (SELECT 1) SELECT * FROM t",
            "with recursive t(n) as (values (1) union all select n + 1 from t where n < 5) select * from t",
            "WITH t AS MATERIALIZED (SELECT 1) TABLE t",
            "(select 1) union (select 2)",
            "((select 1))",
            "values (1), (2)",
            "table users",
            "show server_version",
            "SHOW ALL",
            "explain select 1",
            "explain analyze select 1",
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT 1",
            "explain analyze verbose with t as (select 1) select * from t",
            "explain (select 1)",
            "explain delete from users",
            "explain insert into users select 1",
            "explain (costs off) update users set a = 1",
            "select 'insert into users'",
            "select 'it''s; delete from users'",
            "select E'it\\'s; delete from users'",
            "select $$ ; delete from users $$",
            "select $tag$ $$; drop table users $tag$",
            "select \"delete\" from users",
            "select \"into\" from users",
            "select u.delete, u.update, u.into from users u",
            "select update from users",
            "select insert, delete, update, 1 from rights",
            "select count(*) filter (where a > 1) over (partition by b) from t",
            "select replace(a, 'x', 'y') from t",
            "select substring(a for 3) from t",
            "select a from t order by a limit 10 offset 5",
            "select a::text, b->>'x', c @> '{1}' from t",
            "select * from t where a ~* '^x' and b <@ array[1, 2]",
            "select lo_orderkey from lineorder l",
            "select l.lo_orderkey from lineorder l",
            "select pg_size_pretty(pg_database_size(current_database()))",
            "select * from pg_stat_activity where query like '%delete%'",
            "select pid, pg_blocking_pids(pid) from pg_locks",
            "select * from pg_read_all_data_users",
            "select deleted_at, updated_at, inserted_by from audit",
            "select 1 as один, 'ß'",
            "select date '2024-01-01', interval '1 day', timestamp with time zone 'now'",
            "select 'a'\n'b'",
            "select B'101', X'1F', N'x', U&'d\\0061t'",
            "select U&\"d\\0061ta\" from t",
            "select 1e5, .5, 0x1f, 1_000",
            "select has_table_privilege('users', 'INSERT')",
            "select a -- trailing\n from t",
            "select json_build_object('a', 1) -> 'a'",
            "select 1 where 1 = any($$ {1} $$::int[])",
            "with x as (select 1) (select * from x)",
            "select case when a then 1 else 2 end from t",
            "select * from t tablesample system (1)",
            "select * from generate_series(1, 3) g(n) cross join lateral (select n * 2) d(m)",
            "select extract(epoch from now()), position('a' in 'b'), overlay('abc' placing 'x' from 1 for 2)",
        ],
    );
}

#[test]
fn postgres_writes_are_refused() {
    refused(
        Postgres,
        &[
            ("insert into users values (1)", Rule::SqlStatementKind),
            ("INSERT INTO users DEFAULT VALUES", Rule::SqlStatementKind),
            ("update users set a = 1", Rule::SqlStatementKind),
            ("delete from users", Rule::SqlStatementKind),
            (
                "merge into users u using v on true when matched then delete",
                Rule::SqlStatementKind,
            ),
            ("truncate users", Rule::SqlStatementKind),
            ("drop table users", Rule::SqlStatementKind),
            ("create table x (a int)", Rule::SqlStatementKind),
            ("create table x as select 1", Rule::SqlStatementKind),
            ("create view x as select 1", Rule::SqlStatementKind),
            ("alter table users add b int", Rule::SqlStatementKind),
            ("grant all on users to public", Rule::SqlStatementKind),
            ("copy users from stdin", Rule::SqlStatementKind),
            ("copy users to program 'sh'", Rule::SqlStatementKind),
            ("copy (select 1) to '/tmp/x'", Rule::SqlStatementKind),
            (
                "do $$ begin delete from users; end $$",
                Rule::SqlStatementKind,
            ),
            ("call wipe()", Rule::SqlStatementKind),
            ("lock table users", Rule::SqlStatementKind),
            ("set transaction read write", Rule::SqlStatementKind),
            (
                "set session characteristics as transaction read write",
                Rule::SqlStatementKind,
            ),
            ("set role postgres", Rule::SqlStatementKind),
            ("reset all", Rule::SqlStatementKind),
            ("begin", Rule::SqlStatementKind),
            ("commit", Rule::SqlStatementKind),
            ("rollback", Rule::SqlStatementKind),
            ("savepoint a", Rule::SqlStatementKind),
            ("prepare p as delete from users", Rule::SqlStatementKind),
            ("execute p", Rule::SqlStatementKind),
            ("declare c cursor for select 1", Rule::SqlStatementKind),
            ("fetch all from c", Rule::SqlStatementKind),
            ("vacuum", Rule::SqlStatementKind),
            ("analyze users", Rule::SqlStatementKind),
            ("reindex table users", Rule::SqlStatementKind),
            ("cluster users", Rule::SqlStatementKind),
            ("refresh materialized view v", Rule::SqlStatementKind),
            ("comment on table users is 'x'", Rule::SqlStatementKind),
            ("notify channel", Rule::SqlStatementKind),
            ("listen channel", Rule::SqlStatementKind),
            ("discard all", Rule::SqlStatementKind),
            ("checkpoint", Rule::SqlStatementKind),
            ("load 'lib'", Rule::SqlStatementKind),
            (
                "import foreign schema x from server y into z",
                Rule::SqlStatementKind,
            ),
            (
                "security label on table users is 'x'",
                Rule::SqlStatementKind,
            ),
            ("explain execute p", Rule::SqlStatementKind),
            (
                "explain analyze create table x as select 1",
                Rule::SqlStatementKind,
            ),
            (
                "explain declare c cursor for select 1",
                Rule::SqlStatementKind,
            ),
            ("\\copy users from 'x'", Rule::SqlStatementKind),
            ("sеlect 1", Rule::SqlStatementKind),
            ("\u{a0}select 1", Rule::SqlStatementKind),
            ("/* comment */ delete from users", Rule::SqlStatementKind),
            ("-- select\ndelete from users", Rule::SqlStatementKind),
            ("-- select\rdelete from users", Rule::SqlStatementKind),
            ("(delete from users returning 1)", Rule::SqlStatementKind),
            ("\"select\" 1", Rule::SqlStatementKind),
            ("", Rule::SqlEmpty),
            (" ; ", Rule::SqlEmpty),
            ("-- only a comment", Rule::SqlEmpty),
            (
                "select 1; insert into users values (1)",
                Rule::SqlOneStatement,
            ),
            ("select 1; select 2", Rule::SqlOneStatement),
            (
                "select 1 /* ; */ ; delete from users",
                Rule::SqlOneStatement,
            ),
            ("select ';'; delete from users", Rule::SqlOneStatement),
            (
                "select $$a$$; delete from users; select $$b$$",
                Rule::SqlOneStatement,
            ),
            (
                "select $a$ $b$ $a$; delete from users",
                Rule::SqlOneStatement,
            ),
            (
                "select E'\\\\'; delete from users --'",
                Rule::SqlOneStatement,
            ),
            ("select 'a\\'; delete from users --'", Rule::SqlOneStatement),
            (
                "select \"a\"\"b\"; delete from users",
                Rule::SqlOneStatement,
            ),
            (
                "select /* /* */ */ 1; delete from users",
                Rule::SqlOneStatement,
            ),
            ("commit; delete from users", Rule::SqlOneStatement),
            ("select 1 into x", Rule::SqlInto),
            ("select * into temp x from users", Rule::SqlInto),
            ("select 1into x", Rule::SqlInto),
            ("select 1.into x", Rule::SqlInto),
            ("with t as (select 1) select * into x from t", Rule::SqlInto),
            ("select 1 /**/into/**/ x", Rule::SqlInto),
            (
                "with t as (delete from users returning *) select * from t",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (insert into users values (1) returning *) select 1",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (update users set a = 1 returning *) select 1",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (update only users set a = 1) select 1",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (update \"users\" set a = 1) select 1",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (merge users using v on true when matched then do nothing) select 1",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as not materialized (delete from users) select 1",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (with u as (delete from users) select 1) select 1",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (select 1) delete from users",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (select 1) update users set a = 1",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (select 1) insert into users select * from t",
                Rule::SqlNestedWrite,
            ),
            (
                "with t(n) as (select 1) search depth first by n set o delete from users",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (DeLeTe/**/from users) select 1",
                Rule::SqlNestedWrite,
            ),
            ("select * from users for update", Rule::SqlRowLock),
            ("select * from users for no key update", Rule::SqlRowLock),
            ("select * from users for share", Rule::SqlRowLock),
            (
                "select * from users for key share skip locked",
                Rule::SqlRowLock,
            ),
            (
                "select * from (select * from users for update) x",
                Rule::SqlRowLock,
            ),
            ("explain analyze delete from users", Rule::SqlExplainAnalyze),
            ("explain analyse delete from users", Rule::SqlExplainAnalyze),
            (
                "explain analyze verbose insert into users values (1)",
                Rule::SqlExplainAnalyze,
            ),
            (
                "explain (analyze) update users set a = 1",
                Rule::SqlExplainAnalyze,
            ),
            (
                "explain (costs off, ANALYZE true) delete from users",
                Rule::SqlExplainAnalyze,
            ),
            (
                "explain (\"analyze\") delete from users",
                Rule::SqlExplainAnalyze,
            ),
            (
                "explain (format json, analyze) with t as (delete from users returning 1) select 1",
                Rule::SqlExplainAnalyze,
            ),
            (
                "explain analyze with t as (update users set a = 1 returning 1) select 1",
                Rule::SqlExplainAnalyze,
            ),
            ("explain analyze select 1 into x", Rule::SqlInto),
            ("select pg_terminate_backend(1)", Rule::SqlFunction),
            ("select PG_TERMINATE_BACKEND(1)", Rule::SqlFunction),
            (
                "select pg_catalog.pg_terminate_backend(1)",
                Rule::SqlFunction,
            ),
            (
                "select \"pg_catalog\".\"pg_terminate_backend\"(1)",
                Rule::SqlFunction,
            ),
            ("select \"pg_terminate_backend\" (1)", Rule::SqlFunction),
            ("select pg_terminate_backend/**/(1)", Rule::SqlFunction),
            (
                "select U&\"pg_\\0074erminate_backend\"(1)",
                Rule::SqlFunction,
            ),
            (
                "select u&\"pg_!0074erminate_backend\" uescape '!' (1)",
                Rule::SqlFunction,
            ),
            (
                "select U&\"pg_\\+000074erminate_backend\"(1)",
                Rule::SqlFunction,
            ),
            (
                "select pg_cancel_backend(pid) from pg_stat_activity",
                Rule::SqlFunction,
            ),
            ("select pg_reload_conf()", Rule::SqlFunction),
            ("select pg_advisory_lock(1)", Rule::SqlFunction),
            ("select pg_try_advisory_xact_lock(1)", Rule::SqlFunction),
            ("select pg_read_file('/etc/passwd')", Rule::SqlFunction),
            ("select * from pg_read_binary_file('x')", Rule::SqlFunction),
            (
                "select ('pg_hba.conf'::text).pg_read_file",
                Rule::SqlFunction,
            ),
            ("select (1234).pg_terminate_backend", Rule::SqlFunction),
            (
                "select * from rows from (pg_ls_dir('.'))",
                Rule::SqlFunction,
            ),
            ("select lo_import('/etc/passwd')", Rule::SqlFunction),
            ("select lo_export(1, '/tmp/x')", Rule::SqlFunction),
            ("select lo_unlink(1)", Rule::SqlFunction),
            (
                "select dblink_exec('dbname=x', 'delete from users')",
                Rule::SqlFunction,
            ),
            (
                "select * from dblink('dbname=x', 'select 1') as t(a int)",
                Rule::SqlFunction,
            ),
            (
                "select set_config('transaction_read_only', 'off', true)",
                Rule::SqlFunction,
            ),
            ("select pg_switch_wal()", Rule::SqlFunction),
            ("select nextval('s')", Rule::SqlFunction),
            ("select setval('s', 1)", Rule::SqlFunction),
            (
                "select query_to_xml('select pg_reload_conf()', true, true, '')",
                Rule::SqlFunction,
            ),
            ("select ts_stat('select 1')", Rule::SqlFunction),
            (
                "select pg_create_physical_replication_slot('x')",
                Rule::SqlFunction,
            ),
            ("select pg_drop_replication_slot('x')", Rule::SqlFunction),
            ("select pg_stat_reset()", Rule::SqlFunction),
            ("select pg_stat_statements_reset()", Rule::SqlFunction),
            ("select pg_notify('a', 'b')", Rule::SqlFunction),
            ("select aws_lambda.invoke('f', '{}')", Rule::SqlFunction),
            (
                "select aws_s3.query_export_to_s3('select 1', 'b')",
                Rule::SqlFunction,
            ),
            (
                "select query_export_to_s3('select 1', 'b')",
                Rule::SqlFunction,
            ),
            (
                "select cron.schedule('* * * * *', 'delete from users')",
                Rule::SqlFunction,
            ),
            ("select net.http_post('http://x')", Rule::SqlFunction),
            ("explain analyze select pg_reload_conf()", Rule::SqlFunction),
            ("explain select pg_reload_conf()", Rule::SqlFunction),
            ("values (pg_reload_conf())", Rule::SqlFunction),
            ("select 'a", Rule::SqlUnreadable),
            ("select \"a", Rule::SqlUnreadable),
            ("select $$a", Rule::SqlUnreadable),
            ("select /* a", Rule::SqlUnreadable),
            ("select /* /* */ 1", Rule::SqlUnreadable),
            ("select (1", Rule::SqlUnreadable),
            ("select 1)", Rule::SqlUnreadable),
            ("select 1\0", Rule::SqlUnreadable),
            (
                "select E'a'\n'\\'; delete from users --'",
                Rule::SqlUnreadable,
            ),
            ("select U&\"\\zzzz\"", Rule::SqlUnreadable),
        ],
    );
}

#[test]
fn a_refusal_says_what_to_do() {
    insta::assert_snapshot!(check(Postgres, "vacuum").unwrap_err(), @"VACUUM is not a statement that only reads; allowed are SELECT, WITH … SELECT, VALUES, TABLE, SHOW and EXPLAIN (rule sql.statement_kind)");
    insta::assert_snapshot!(check(Postgres, "explain analyze delete from t").unwrap_err(), @"EXPLAIN ANALYZE executes the statement, so it is allowed of queries only; leave ANALYZE out to see the plan (rule sql.explain_analyze)");
    insta::assert_snapshot!(check(Postgres, "select U&\"lo_unlin\\006b\"(1)").unwrap_err(), @r#"the function lo_unlink is not on the list of functions that only read; if it is harmless, allow it in config.toml: [stack] allowed_functions = ["SCHEMA.lo_unlink"] (rule sql.function)"#);
}

/// Ways to write a statement that mean the same to the server.
fn disguises() -> impl Strategy<Value = (String, String)> {
    let space = prop_oneof![
        Just(" ".to_owned()),
        Just("\n\t".to_owned()),
        Just("/* x /* y */ */".to_owned()),
        Just("-- '\n".to_owned()),
    ];
    (space, any::<u64>()).prop_map(|(space, bits)| (space, format!("{bits:064b}")))
}

fn disguise(statement: &str, space: &str, bits: &str) -> String {
    let mut upper = bits.chars().cycle();
    statement
        .chars()
        .map(|character| match character {
            ' ' => space.to_owned(),
            letter if upper.next() == Some('1') => letter.to_ascii_uppercase().to_string(),
            letter => letter.to_string(),
        })
        .collect()
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,80}", mysql in any::<bool>()) {
        let _ = check(if mysql { MySql } else { Postgres }, &text);
    }

    #[test]
    fn no_mixture_of_tricks_panics(text in r#"(['"$`\\/*\-#;() ]|select|delete from|into|E'|U&"|\$a\$|\n){0,20}"#) {
        for engine in [Postgres, MySql] {
            let _ = check(engine, &text);
        }
    }

    #[test]
    fn a_disguised_write_stays_refused((space, bits) in disguises(), which in 0_usize..8) {
        let write = [
            "delete from users",
            "with t as ( delete from users returning 1 ) select 1",
            "select 1 ; drop table users",
            "explain analyze delete from users",
            "select * into x from users",
            "select 1 from users for update",
            "select pg_catalog . pg_terminate_backend ( 1 )",
            "with t as ( select 1 ) update users set a = 1",
        ][which];
        prop_assert!(check(Postgres, &disguise(write, &space, &bits)).is_err());
    }

    #[test]
    fn a_disguised_query_still_passes((space, bits) in disguises()) {
        let query = "with t as ( select a from users where a > 1 ) select * from t";
        prop_assert!(check(Postgres, &disguise(query, &space, &bits)).is_ok());
    }

    #[test]
    fn what_is_inside_a_string_is_no_statement(contents in "\\PC{0,40}") {
        let quoted = format!("select '{}'", contents.replace('\'', "''"));
        prop_assert!(check(Postgres, &quoted).is_ok());
        if !contents.contains("$x$") {
            let dollars = ["select $x$", &contents, " $x$"].concat();
            prop_assert!(check(Postgres, &dollars).is_ok());
        }
    }

    #[test]
    fn nothing_can_be_added_to_what_passes(
        text in r#"(select|with t as \(select 1\)|explain|show|values|\(1\)|a|\.| |\n|'x'|E'\\''|\$\$|;|--|/\*|\*/|"q"|`q`|U&"d\\0061"|uescape '!'|1|,|\*|from){0,12}"#,
    ) {
        for engine in [Postgres, MySql] {
            let Ok(statement) = check(engine, &text) else {
                continue;
            };
            let with = |added: &str| check(engine, &[text.as_str(), added].concat());
            prop_assert_eq!(check(engine, &["/* first */\n", &text].concat()), Ok(statement.clone()));
            prop_assert!(with("\n; delete from users").is_err());
            prop_assert!(with("\n union select nextval('a')").is_err());
            if statement.kind == StatementKind::Query {
                prop_assert!(with("\n + 1 for update").is_err());
            }
        }
    }
}
