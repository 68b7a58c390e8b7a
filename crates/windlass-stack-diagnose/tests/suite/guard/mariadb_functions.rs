//! Stored functions of MariaDB behind names of the list, and functions that settings allow.

use serde_json::json;
use windlass_ports::database::{Access, DatabaseFailure, SqlEngine::MySql as Engine};
use windlass_stack_diagnose::guard::sql;
use windlass_testkit::servers::{MariaDb, at_socket, reading};

use super::ask::{guarded, run};

#[tokio::test]
async fn stored_functions_are_called_only_if_settings_allow_them() {
    let Some(server) = MariaDb::start() else {
        return;
    };
    let root = at_socket(server.socket(), "root", "");
    let shop = at_socket(server.socket(), "root", "shop");
    for (address, statement) in [
        (&root, "create database shop"),
        (&root, "create database other"),
        (&root, "set global log_bin_trust_function_creators = 1"),
        (
            &shop,
            "create function half(n int) returns int no sql return n div 2",
        ),
        (
            &shop,
            "create function act(n int) returns int modifies sql data return n",
        ),
        (
            &shop,
            "create function lower_all(n text) returns text no sql return lower(n)",
        ),
        (
            &root,
            "create function other.soundex (n text) returns text no sql return 'other'",
        ),
        (
            &shop,
            "create function soundex (n text) returns text no sql return 'hidden'",
        ),
    ] {
        let mut request = reading(Engine, address, statement);
        request.access = Access::LocalUnrestricted;
        run(&request).await.unwrap();
    }
    for (statement, allowed, outcome) in [
        (
            "select half(4) as n",
            &[] as &[&str],
            Err("the function half is not on the list"),
        ),
        (
            "select shop.half(4) as n",
            &[],
            Err("the function shop.half is not on the list"),
        ),
        ("select shop.half(4) as n", &["shop.half"], Ok(json!(2))),
        ("select `shop`.`HALF`(4) as n", &["shop.*"], Ok(json!(2))),
        (
            "select half(4) as n",
            &["shop.*"],
            Err("the function half is not on the list"),
        ),
        (
            "select shop.act(1) as n",
            &["shop.*"],
            Err("act calls shop.act(), which may change things"),
        ),
        ("select shop.act(1) as n", &["shop.act"], Ok(json!(1))),
        (
            "select soundex('a') as n",
            &[],
            Err("soundex calls shop.soundex()"),
        ),
        (
            "select sleep(0) as n",
            &[],
            Err("the function sleep is not on the list"),
        ),
        ("select sleep(0) as n", &["sleep"], Ok(json!(0))),
        (
            "select benchmark(1, 1) as n",
            &["shop.*"],
            Err("the function benchmark is not on the list"),
        ),
        (
            "select load_file('/etc/passwd') as n",
            &[],
            Err("the function load_file is not on the list"),
        ),
        (
            "select get_lock('a', 1) as n",
            &[],
            Err("the function get_lock is not on the list"),
        ),
    ] {
        let found = guarded(Engine, &shop, statement, allowed).await;
        match (found, outcome) {
            (Ok(rows), Ok(value)) => assert_eq!(rows.rows[0]["n"], value, "{statement}"),
            (Err(said), Err(part)) => assert!(said.contains(part), "{statement}: {said}"),
            (found, _) => panic!("{statement}: {found:?}"),
        }
    }
    // The session's limit of rows is the statement's; the look-up sees all functions of a name.
    let statement = "select soundex('a')";
    let mut request = reading(Engine, &shop, statement);
    request.row_limit = 0;
    let checked = sql::check(Engine, statement, &[]).unwrap();
    request.functions = Some(checked.to_look_up(&[]));
    assert!(matches!(
        run(&request).await,
        Err(DatabaseFailure::ReadOnly { .. })
    ));
}

#[tokio::test]
async fn what_people_ask_of_mariadb_passes() {
    let Some(server) = MariaDb::start() else {
        return;
    };
    let root = at_socket(server.socket(), "root", "information_schema");
    for statement in [
        "select version(), database(), current_user(), now()",
        "select table_schema, round(sum(data_length + index_length) / 1024 / 1024, 1) as mb from tables group by table_schema order by mb desc",
        "select table_name, table_rows, engine from tables where table_schema not in ('mysql', 'sys') order by coalesce(table_rows, 0) desc limit 10",
        "select id, user, host, db, command, time, state, left(info, 80) as query from processlist where command <> 'Sleep' order by time desc",
        "select * from innodb_trx",
        "show full processlist",
        "show engine innodb status",
        "show global status like 'Threads%'",
        "show variables where variable_name in ('max_connections', 'innodb_buffer_pool_size')",
        "select variable_name, variable_value from global_status where variable_name like 'Innodb_row_lock%'",
        "select index_name, group_concat(column_name order by seq_in_index separator ', ') as columns from statistics where table_schema = 'mysql' group by table_name, index_name",
        "select constraint_name, count(*) from key_column_usage group by constraint_name having count(*) > 1",
        "select date_format(create_time, '%Y-%m') as month, count(*) from tables group by month",
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 5) select i, i * i, if(i % 2 = 0, 'even', 'odd') from n",
        "select row_number() over (partition by table_schema order by table_name) as place, table_name from tables limit 5",
        "select json_extract('{\"a\": [1, 2]}', '$.a[0]'), json_unquote('\"x\"'), json_length('[1]')",
        "select concat_ws('-', upper('a'), lpad('1', 3, '0'), substring_index('a.b.c', '.', 2)), md5('x')",
        "select timestampdiff(second, '2024-01-01', now()), date_sub(now(), interval 1 day), unix_timestamp()",
        "explain select * from tables where table_name = 'x'",
        "select cast('1.5' as decimal(10, 2)), convert('a' using utf8mb4), greatest(1, 2), ifnull(null, 1)",
    ] {
        if let Err(said) = guarded(Engine, &root, statement, &[]).await {
            panic!("{statement}: {said}");
        }
    }
}
