//! Functions that may be called and functions that may not, in every way a call can be written.

use proptest::prelude::*;
use windlass_ports::database::{AllowedFunction, FunctionCall, Notation};

use super::SqlEngine::{MySql, Postgres};
use super::functions::is_built_in;
use super::tests::{check, passes, refused};
use crate::guard::Rule;

/// Functions that act, wait, lock, read files, leave the server, or run SQL given as text; and
/// functions nobody knows.
const ACTING: &[&str] = &[
    "autoprewarm_start_worker",
    "brin_summarize_range",
    "connectby",
    "crosstab",
    "crosstab2",
    "crosstab3",
    "crosstab4",
    "crosstab_hash",
    "currval",
    "cursor_to_xml",
    "database_to_xml",
    "dblink",
    "dblink_connect",
    "dblink_exec",
    "dblink_send_query",
    "gin_clean_pending_list",
    "heap_force_kill",
    "http_delete",
    "http_get",
    "http_head",
    "http_post",
    "lastval",
    "lo_export",
    "lo_get",
    "lo_import",
    "lo_put",
    "lo_unlink",
    "loread",
    "lowrite",
    "my_function",
    "nextval",
    "oracle_close_connections",
    "oracle_execute",
    "pg_advisory_lock",
    "pg_advisory_xact_lock_shared",
    "pg_background_launch",
    "pg_backup_start",
    "pg_buffercache_evict",
    "pg_buffercache_evict_all",
    "pg_cancel_backend",
    "pg_copy_physical_replication_slot",
    "pg_create_restore_point",
    "pg_current_xact_id",
    "pg_drop_replication_slot",
    "pg_export_snapshot",
    "pg_file_write",
    "pg_import_system_collations",
    "pg_log_backend_memory_contexts",
    "pg_logical_emit_message",
    "pg_logical_slot_get_changes",
    "pg_logical_slot_peek_changes",
    "pg_ls_dir",
    "pg_ls_waldir",
    "pg_notify",
    "pg_prewarm",
    "pg_promote",
    "pg_read_binary_file",
    "pg_read_file",
    "pg_reload_conf",
    "pg_replication_origin_create",
    "pg_rotate_logfile",
    "pg_sleep",
    "pg_sleep_for",
    "pg_sleep_until",
    "pg_stat_file",
    "pg_stat_reset",
    "pg_stat_statements_reset",
    "pg_switch_wal",
    "pg_terminate_backend",
    "pg_try_advisory_lock",
    "pg_wal_replay_pause",
    "plpgsql_call_handler",
    "postgres_fdw_disconnect_all",
    "query_to_xml",
    "query_to_xml_and_xmlschema",
    "query_to_xmlschema",
    "schema_to_xml",
    "set_config",
    "setseed",
    "setval",
    "sys_eval",
    "table_to_xml",
    "ts_rewrite",
    "ts_stat",
    "txid_current",
    "xpath_table",
];

const MYSQL_ACTING: &[&str] = &[
    "asynchronous_connection_failover_add_source",
    "audit_log_rotate",
    "benchmark",
    "encode_user",
    "get_lock",
    "group_replication_set_as_primary",
    "is_free_lock",
    "is_used_lock",
    "keyring_key_fetch",
    "lambda_async",
    "lambda_sync",
    "lastval",
    "load_file",
    "master_gtid_wait",
    "master_pos_wait",
    "my_function",
    "mysql_firewall_flush_status",
    "nextval",
    "release_all_locks",
    "release_lock",
    "service_get_read_locks",
    "setval",
    "sleep",
    "source_pos_wait",
    "spider_direct_sql",
    "sys_eval",
    "sys_exec",
    "uuid_short",
    "version_tokens_set",
    "wait_for_executed_gtid_set",
];

/// Every way to call a function, with `F` in its place.
const WAYS: &[&str] = &[
    "select F(1)",
    "select F ( )",
    "select F/* ( */(1)",
    "select F -- x\n (1)",
    "SELECT\tF\n(1)",
    "select 1 + F(1)",
    "select -F(1)",
    "select 1, F(1)",
    "select (F(1))",
    "select distinct F(1)",
    "select all F(1)",
    "select distinct on (a) F(1) from t",
    "select distinct on (a, (b)) F(a) from t",
    "select count(distinct F(a)) from t",
    "select count(*) filter (where F(1)) from t",
    "select count(*) over (partition by F(1) order by F(2)) from t",
    "select percentile_cont(F(1)) within group (order by a) from t",
    "select F(a) filter (where a > 1) from t",
    "select F(0.5) within group (order by a) from t",
    "select F(distinct a order by a) from t",
    "select F(*) over w from t window w as (order by a)",
    "select coalesce(F(1), 2)",
    "select cast(F(1) as text)",
    "select F(1)::text",
    "select extract(year from F(1))",
    "select substring('a' from F(1) for F(2))",
    "select trim(both 'x' from F(1))",
    "select overlay('a' placing F(1) from 1)",
    "select position(F(1) in 'a')",
    "select nullif(F(1), greatest(F(2), least(F(3))))",
    "select case F(1) when F(2) then F(3) else F(4) end",
    "select array[F(1)], row(F(2))",
    "select array(select F(1))",
    "select a[F(1)] from t",
    "select a at time zone F(1) from t",
    "select a like 'x' escape F(1) from t",
    "select a between symmetric F(1) and F(2) from t",
    "select a is distinct from F(1) from t",
    "select a similar to F(1) from t",
    "select a in (F(1)) from t",
    "select a operator(pg_catalog.+) F(1) from t",
    "select xmlelement(name x, F(1))",
    "select xmlforest(F(1) as x)",
    "select json_object(key F(1) value F(2))",
    "select json_value(a, '$' default F(1) on empty) from t",
    "select * from F(1)",
    "select * from F(1) as f",
    "select * from F('select 1') as f(a int, b text)",
    "select * from F('select 1') as (a int, b text)",
    "select * from F('select 1') f",
    "select * from t, F(1)",
    "select * from t, F(a) as (values int)",
    "select * from t, lateral F(t.a)",
    "select * from t join F(1) on true",
    "select * from t cross join lateral F(1) with ordinality",
    "select * from rows from (F(1), F(2))",
    "select * from rows from (F(1) as (a int))",
    "select * from t tablesample F(1)",
    "select * from xmltable('/a' passing F(1) columns a int path 'b' default F(2))",
    "select * from json_table(F(1), '$' columns (a int path '$.a'))",
    "select 1 where F(1)",
    "select 1 from t group by F(1) having F(2)",
    "select 1 from t group by rollup (F(1)), grouping sets ((F(2)))",
    "select 1 from t order by F(1) limit F(2) offset F(3)",
    "select 1 from t fetch first F(1) rows only",
    "select sum(a) over (rows between F(1) preceding and current row) from t",
    "with x as (select F(1)) select * from x",
    "with x(a) as (select F(1)) select * from x",
    "with recursive x as (select 1 union all select F(a) from x) select * from x",
    "with x as materialized (select F(1)) table x",
    "values (F(1))",
    "select exists (select F(1))",
    "select 1 union all select F(1)",
    "(select F(1))",
    "explain select F(1)",
    "explain analyze select F(1)",
    "explain (analyze, verbose) select F(1)",
    "explain insert into t (a, b) values (F(1), 2)",
    "explain update t set a = F(1)",
    "select length(F(1))",
    "select length(a => F(1))",
    "select concat(variadic F(1))",
    "select (select F(1)).a",
    "select F(1).a",
    "select (F(1)).a",
];

#[test]
fn no_acting_or_unknown_function_is_called_in_any_way() {
    for way in WAYS {
        for name in ACTING {
            let dressed = [
                (*name).to_owned(),
                name.to_uppercase(),
                format!("\"{name}\""),
                format!("pg_catalog.{name}"),
                format!("pg_catalog . \"{name}\""),
                format!("\"public\".{name}"),
                format!("postgres.pg_catalog.{name}"),
                format!("U&\"\\00{:x}{}\"", name.as_bytes()[0], &name[1..]),
            ];
            for name in dressed {
                let statement = way.replace('F', &name);
                match check(Postgres, &statement) {
                    Ok(_) => panic!("let through: {statement}"),
                    Err(refusal) => {
                        assert_eq!(refusal.rule, Rule::SqlFunction, "{statement}\n{refusal}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_way_to_call_is_open_to_a_function_of_the_list() {
    for way in WAYS {
        if !way.contains("tablesample") {
            passes(Postgres, &[&way.replace('F', "lower")]);
            passes(Postgres, &[&way.replace('F', "pg_catalog.lower")]);
        }
    }
}

#[test]
fn mysql_functions_outside_the_list_are_refused() {
    for name in MYSQL_ACTING {
        for dressed in [
            (*name).to_owned(),
            name.to_uppercase(),
            format!("`{name}`"),
            format!("shop.{name}"),
            format!("`shop` . `{name}`"),
            format!("mysql.{name}"),
        ] {
            for way in [
                "select F(1)",
                "select F ('x')",
                "select F/**/(1)",
                "select sql_no_cache F(1)",
                "select 1 from t where F(1)",
                "select * from t order by F(1)",
                "select if(F(1), 2, 3)",
                "select cast(F(1) as char(10))",
                "select * from t where a in (select F(1))",
                "select interval F(1) day + now()",
                "select count(distinct F(a)) from t",
                "show tables where F(1)",
                "select * from t procedure F(1)",
                "values row(F(1))",
                "explain select F(1)",
                "with x(a) as (select F(1)) select a from x",
                "select * from (select F(1)) x",
                "select * from json_table(F(1), '$' columns (a int path '$')) as j",
            ] {
                refused(MySql, &[(&way.replace('F', &dressed), Rule::SqlFunction)]);
            }
        }
    }
    refused(
        MySql,
        &[
            ("select * from t procedure analyse()", Rule::SqlFunction),
            ("select 1 into outfile '/tmp/x'", Rule::SqlInto),
            (
                "select load_file('/x') into dumpfile '/y'",
                Rule::SqlFunction,
            ),
            (
                "select /*+ some_new_hint(1) */ 1",
                Rule::SqlExecutableComment,
            ),
            (
                "select /*+ NO_INDEX_MERGE(t) SET_VAR(a = 1) */ 1",
                Rule::SqlExecutableComment,
            ),
        ],
    );
    passes(
        MySql,
        &[
            "select count(*), group_concat(distinct a order by b separator ', ') from t",
            "select date_format(now(), '%Y-%m'), json_extract(a, '$.b') from t",
            "with x (a, b) as (select 1, 2), y (c) as (select 3) select * from x, y",
            "select * from t partition (p0) use index (i) where match (a) against ('x')",
            "select convert(a, decimal(10, 2)), cast(a as char(10)), char(65) from t",
            "select row_number() over (partition by a order by b) from t",
            "select a from t where (a, b) in ((1, 2)) and a not in (1) and not (b = 1)",
            "select * from t join u using (id) left join v on (v.id = u.id)",
            "explain insert into t (a) values (lower('x'))",
            "select /*+ JOIN_ORDER(t, u) NO_MERGE(v) */ * from t, u",
            "select * from json_table('[]', '$[*]' columns (a varchar(10) path '$.a', \
             nested path '$.b[*]' columns (c decimal(10, 2) path '$'))) as j",
            "select `count`(a), COUNT (a) from t",
            "select 1 from t where 1 member of(a) and a sounds like (b) and a like 'x' escape ('!')",
        ],
    );
}

#[test]
fn names_that_call_nothing_pass() {
    passes(
        Postgres,
        &[
            "with t (a, b) as (select 1, 2), u (c) as not materialized (values (1)) select * from t, u",
            "with recursive tree (id, depth) as (select 1, 0 union all select id, depth + 1 from tree) select * from tree",
            "select * from generate_series(1, 3) g(n)",
            "select * from generate_series(1, 3) with ordinality g(n, place)",
            "select * from generate_series(1, 3) with ordinality as g(n, place)",
            "select * from (values (1, 'a')) v(id, name)",
            "select * from (values (1, 'a')) \"V\" (id, name)",
            "select * from users u(a, b)",
            "select * from \"users\" \"u\"(a, b)",
            "select * from jsonb_to_recordset('[]') as r(id int, price numeric(10, 2), spot geometry(Point, 4326))",
            "select a::numeric(10, 2), b::character varying(10), c::geometry(Point, 4326), d::\"T\"(3) from t",
            "select cast(a as varchar(10)), cast(b as app.money(2)) from t",
            "select timestamp(3) '2024-01-01', interval(3) '1 s', interval '1' second(3)",
            "select a from t where (a, b) in ((1, 2)) and a = any (array[1]) and not (b = 1) or (a = 2)",
            "select a from t join u using (id) join v on (v.id = u.id) cross join lateral (select 1) l",
            "select sum(a) filter (where b) over (partition by (c) order by d) from t",
            "select a from t group by grouping sets ((a), ()), rollup (a, b), cube (a)",
            "select a from t order by (a) limit (1) offset (2)",
            "select a from t fetch first (5) rows only",
            "select * from t tablesample bernoulli (1) repeatable (2)",
            "select a at time zone ('UTC') from t",
            "explain (analyze, buffers) select 1",
            "explain (costs off) insert into app.t (a, b) values (1, 2) on conflict (a) do update set (a, b) = (1, 2)",
            "select (a).city, (t.b).street.name, (jsonb_each(c)).key, (d[1]).e from t",
            "select t.length, t.lower, app.t.name from app.t",
        ],
    );
}

#[test]
fn what_a_function_in_from_returns_is_a_value_that_functions_can_be_called_with() {
    for statement in [
        "select f.pg_read_file from lower('PG_VERSION') f",
        "select f.pg_read_file from lower('PG_VERSION') as f",
        "select \"f\".\"pg_read_file\" from lower('PG_VERSION') as \"f\"",
        "select f.pg_read_file from lower('PG_VERSION') f(x)",
        "select f.pg_read_file from lower('PG_VERSION') as f(x)",
        "select lower.pg_read_file from lower('PG_VERSION')",
        "select f.pg_read_file from rows from (lower('PG_VERSION')) f",
        "select f.pg_read_file from unnest(array['PG_VERSION']) f",
        "select f.pg_read_file from t, lateral lower(t.a) f",
        "select f.pg_read_file from cast('PG_VERSION' as text) f",
        "select f.pg_read_file from coalesce('PG_VERSION') as f",
        "select \"coalesce\".pg_read_file from coalesce('PG_VERSION')",
        "select f.pg_read_file from current_user f",
        "select f.pg_read_file from current_user as f",
        "select \"current_user\".pg_read_file from current_user",
        "select * from lower('PG_VERSION') f where f.pg_read_file is null",
    ] {
        refused(Postgres, &[(statement, Rule::SqlFunction)]);
        // With a name that may be a column the server decides.
        let other = statement.replace("pg_read_file", "lo_unlink");
        let calls = check(Postgres, &other).unwrap().calls;
        let call = calls.iter().find(|call| call.name == "lo_unlink").unwrap();
        assert_eq!(call.notation, Notation::Field, "{other}");
    }
    for statement in [
        "select s.city from (select 'x' as city) s",
        "select s.city from (values ('x')) as s",
        "select s.city from t s join (select 1) as u on true",
    ] {
        let calls = check(Postgres, statement).unwrap().calls;
        let call = calls.iter().find(|call| call.name == "city").unwrap();
        assert_eq!(call.notation, Notation::Column, "{statement}");
    }
}

#[test]
fn operators_by_schema_are_refused() {
    refused(
        Postgres,
        &[
            ("select 1 operator(app.+) 2", Rule::SqlOperator),
            ("select 1 OPERATOR ( \"app\" . + ) 2", Rule::SqlOperator),
            ("select 1 operator(+) 2", Rule::SqlOperator),
            (
                "select a from t order by a using operator(app.<)",
                Rule::SqlOperator,
            ),
        ],
    );
    passes(Postgres, &["select 1 operator(pg_catalog.+) 2"]);
}

#[test]
fn settings_allow_more_functions() {
    let allowed: Vec<AllowedFunction> = ["app.score", "tools.*", "pg_sleep"]
        .into_iter()
        .map(|entry| AllowedFunction::parse(entry).unwrap())
        .collect();
    for (engine, statement, passes) in [
        (Postgres, "select score(1)", true),
        (Postgres, "select app.score(1)", true),
        (Postgres, "select tools.anything(1)", true),
        (Postgres, "select pg_sleep(1), pg_catalog.pg_sleep(1)", true),
        (Postgres, "select other.score(1)", false),
        (Postgres, "select app.other(1)", false),
        (Postgres, "select app.pg_sleep(1)", false),
        (MySql, "select app.score(1)", true),
        (MySql, "select `APP`.`Score`(1)", true),
        (MySql, "select tools.anything(1)", true),
        (MySql, "select score(1)", false),
        (MySql, "select load_file('/x')", false),
        (MySql, "select sleep(1)", false),
    ] {
        let verdict = super::check(engine, statement, &allowed);
        assert_eq!(verdict.is_ok(), passes, "{statement}: {verdict:?}");
    }
}

#[test]
fn what_is_to_be_looked_up_is_handed_on() {
    let statement = check(
        Postgres,
        "select u.name, (u.address).city, lower(u.x), pg_catalog.max(y) from app.users u where a <> 'b'",
    )
    .unwrap();
    let call = |schema: Option<&str>, name: &str, notation, built_in| FunctionCall {
        schema: schema.map(str::to_owned),
        name: name.to_owned(),
        notation,
        built_in,
    };
    assert_eq!(
        statement.calls,
        [
            call(None, "name", Notation::Column, true),
            call(None, "address", Notation::Column, false),
            call(None, "city", Notation::Field, false),
            call(None, "lower", Notation::Call, true),
            call(None, "x", Notation::Column, false),
            call(Some("pg_catalog"), "max", Notation::Call, true),
            call(None, "users", Notation::Column, false),
        ]
        .into()
    );
    assert_eq!(statement.operator_characters, ['<', '>'].into());
}

#[test]
fn syntax_that_calls_what_it_names_is_no_way_around() {
    refused(
        Postgres,
        &[
            ("select treat('/etc/x' as pg_read_file)", Rule::SqlFunction),
            (
                "select * from treat('/etc' as pg_ls_dir)",
                Rule::SqlFunction,
            ),
            (
                "explain analyze select treat(60 as pg_sleep)",
                Rule::SqlFunction,
            ),
        ],
    );
    refused(
        MySql,
        &[
            ("select load_file 1.e+('/etc/x')", Rule::SqlUnreadable),
            ("select sleep 1.e-(5)", Rule::SqlUnreadable),
            ("select sleep 1.e(5)", Rule::SqlUnreadable),
        ],
    );
    passes(MySql, &["select 1.e3, 1.5e-2, 1e5, 1."]);
    // A user's function may have these names too: the server is asked.
    let statement = check(
        Postgres,
        "select substring('{}'::json), overlay('a', 'b', 1)",
    )
    .unwrap();
    let asked: Vec<&str> = statement.calls.iter().map(|call| &*call.name).collect();
    assert_eq!(asked, ["overlay", "substring"]);
}

#[test]
fn a_refusal_says_how_to_allow_the_function() {
    let said = |engine, statement| check(engine, statement).unwrap_err().to_string();
    insta::assert_snapshot!(said(Postgres, "select * from crosstab2('select 1')"), @r#"the function crosstab2 is not on the list of functions that only read; if it is harmless, allow it in config.toml: [stack] allowed_functions = ["SCHEMA.crosstab2"] (rule sql.function)"#);
    insta::assert_snapshot!(said(Postgres, "select app.score(1)"), @r#"the function app.score is not on the list of functions that only read; if it is harmless, allow it in config.toml: [stack] allowed_functions = ["app.score"] (rule sql.function)"#);
    insta::assert_snapshot!(said(MySql, "select sleep(1)"), @r#"the function sleep is not on the list of functions that only read; if it is harmless, allow it in config.toml: [stack] allowed_functions = ["sleep"] (rule sql.function)"#);
    insta::assert_snapshot!(said(MySql, "select /*+ SET_VAR(a=1) */ 1"), @"the optimizer hint set_var is not on the list of those that only choose a plan; leave it out (rule sql.executable_comment)");
}

proptest! {
    #[test]
    fn no_name_outside_the_list_is_called(name in "[a-z_][a-z0-9_]{0,12}", way in 0..WAYS.len(), quoted in any::<bool>()) {
        let is_syntax = check(Postgres, &format!("select {name} (1)")).is_ok();
        let shown = if quoted { format!("\"{name}\"") } else { name.clone() };
        if !is_built_in(Postgres, &name) && (quoted || !is_syntax) {
            let statement = WAYS[way].replace('F', &shown);
            prop_assert!(check(Postgres, &statement).is_err(), "{}", statement);
        }
        // A word of the grammar is no function, and one with letters of another kind is unknown.
        let strange = format!("select \"{name}é\"(1)");
        prop_assert!(check(Postgres, &strange).is_err(), "{}", strange);
        if !is_built_in(MySql, &name) {
            for statement in [format!("select `{name}`(1)"), format!("select x.{name}(1)")] {
                prop_assert!(check(MySql, &statement).is_err(), "{}", statement);
            }
        }
    }
}
