//! MySQL's statements let through and refused, with the rule that refuses.

use super::SqlEngine::MySql;
use super::tests::{passes, refused};
use crate::guard::Rule;

#[test]
fn mysql_queries_pass() {
    passes(
        MySql,
        &[
            "select 1",
            "# comment\nselect 1",
            "-- comment\nselect 1",
            "select 1--1",
            "/* comment */ select `delete`, `into` from `t`",
            "select 'it\\'s; delete from users'",
            "select \"a; delete from users\"",
            "select \"it's\"",
            "with t as (select 1) select * from t",
            "table users",
            "values row(1)",
            "show tables",
            "show create table delete_log",
            "show full processlist",
            "describe users",
            "desc users",
            "explain users",
            "explain select 1",
            "explain format=json select 1",
            "explain analyze select 1",
            "explain format = tree select 1",
            "explain delete from users",
            "select insert('abc', 1, 2, 'x'), replace('a', 'b', 'c')",
            "select /*+ NO_INDEX_MERGE(t) */ * from t",
            "select @a := 1",
            "select * from t use index for order by (i)",
            "select 1 from dual where x like 'a\\_%'",
        ],
    );
}

#[test]
fn mysql_writes_are_refused() {
    refused(
        MySql,
        &[
            ("insert into t values (1)", Rule::SqlStatementKind),
            ("replace into t values (1)", Rule::SqlStatementKind),
            ("update t set a = 1", Rule::SqlStatementKind),
            ("delete from t", Rule::SqlStatementKind),
            ("load data infile 'x' into table t", Rule::SqlStatementKind),
            ("load xml infile 'x' into table t", Rule::SqlStatementKind),
            ("handler t open", Rule::SqlStatementKind),
            ("set global read_only = 0", Rule::SqlStatementKind),
            ("set @a = 1", Rule::SqlStatementKind),
            ("call p()", Rule::SqlStatementKind),
            ("do sleep(1)", Rule::SqlStatementKind),
            ("kill 1", Rule::SqlStatementKind),
            ("flush tables", Rule::SqlStatementKind),
            ("lock tables t write", Rule::SqlStatementKind),
            ("start transaction", Rule::SqlStatementKind),
            ("xa start 'a'", Rule::SqlStatementKind),
            ("analyze table t", Rule::SqlStatementKind),
            ("analyze delete from t", Rule::SqlStatementKind),
            ("optimize table t", Rule::SqlStatementKind),
            ("use mysql", Rule::SqlStatementKind),
            ("install plugin x soname 'y'", Rule::SqlStatementKind),
            ("prepare p from 'delete from t'", Rule::SqlStatementKind),
            ("execute immediate 'delete from t'", Rule::SqlStatementKind),
            ("begin not atomic delete from t", Rule::SqlStatementKind),
            ("rename table t to u", Rule::SqlStatementKind),
            ("select 1; delete from t", Rule::SqlOneStatement),
            (
                "select 'a\\'; delete from t; -- '; delete from t",
                Rule::SqlOneStatement,
            ),
            ("select \"a'\"; delete from t", Rule::SqlOneStatement),
            ("select 1 # x\n; delete from t", Rule::SqlOneStatement),
            ("select 1 into outfile '/tmp/x'", Rule::SqlInto),
            ("select 1 into dumpfile '/tmp/x'", Rule::SqlInto),
            ("select 1 into @a", Rule::SqlInto),
            ("select * from t into outfile s3 's3://x'", Rule::SqlInto),
            (
                "select 1 /*comment*/into/**/outfile '/tmp/x'",
                Rule::SqlInto,
            ),
            ("select 1 from t for update", Rule::SqlRowLock),
            ("select 1 from t for share", Rule::SqlRowLock),
            ("select 1 from t lock in share mode", Rule::SqlRowLock),
            ("with t as (select 1) delete from u", Rule::SqlNestedWrite),
            (
                "with t as (select 1) delete u from u join t",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (select 1) update u set a = 1",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (select 1) update offset set a = 1",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (select 1) update (u join t) set a = 1",
                Rule::SqlNestedWrite,
            ),
            (
                "with t as (select 1) update `u` set a = 1",
                Rule::SqlNestedWrite,
            ),
            ("explain analyze delete from t", Rule::SqlExplainAnalyze),
            ("describe analyze delete from t", Rule::SqlExplainAnalyze),
            (
                "explain analyze format=tree update t set a = 1",
                Rule::SqlExplainAnalyze,
            ),
            (
                "explain analyze with x as (select 1) delete from t",
                Rule::SqlExplainAnalyze,
            ),
            ("explain into @a format=json select 1", Rule::SqlInto),
            ("select /*!50000 sleep(1) */", Rule::SqlExecutableComment),
            ("/*! delete from t */", Rule::SqlExecutableComment),
            ("/*M!100100 delete from t */", Rule::SqlExecutableComment),
            (
                "select /*+ SET_VAR(sql_mode='') */ 1",
                Rule::SqlExecutableComment,
            ),
            (
                "select /*+ max_execution_time(1000000) */ 1",
                Rule::SqlExecutableComment,
            ),
            ("select get_lock('a', 1)", Rule::SqlFunction),
            ("select GET_LOCK ('a', 1)", Rule::SqlFunction),
            ("select `release_all_locks`()", Rule::SqlFunction),
            ("select load_file('/etc/passwd')", Rule::SqlFunction),
            ("select sys_exec('sh')", Rule::SqlFunction),
            ("select lambda_sync('f', '{}')", Rule::SqlFunction),
            ("select nextval(s)", Rule::SqlFunction),
            ("select next value for s", Rule::SqlFunction),
            ("select 'a", Rule::SqlUnreadable),
            ("select `a", Rule::SqlUnreadable),
            ("select /* a", Rule::SqlUnreadable),
        ],
    );
}
