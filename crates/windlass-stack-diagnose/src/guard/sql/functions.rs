//! Functions that do more than compute: by name, in any schema, however the name is written.
//!
//! A read-only transaction stops what changes tables. These act outside it: on sessions, locks,
//! files, logs, replication, other servers, or by running SQL given as text.

use super::SqlEngine;
use super::token::Token;

const POSTGRES_NAMES: &[&str] = &[
    // SQL given as text: its functions would not be seen here.
    "crosstab",
    "connectby",
    "cursor_to_xml",
    "cursor_to_xmlschema",
    "query_to_xml",
    "query_to_xml_and_xmlschema",
    "query_to_xmlschema",
    "ts_rewrite",
    "ts_stat",
    "xpath_table",
    // Settings, sequences, messages, snapshots.
    "nextval",
    "pg_export_snapshot",
    "pg_notify",
    "set_config",
    "setval",
    // Sessions and the server.
    "pg_cancel_backend",
    "pg_log_backend_memory_contexts",
    "pg_promote",
    "pg_reload_conf",
    "pg_rotate_logfile",
    "pg_rotate_logfile_old",
    "pg_terminate_backend",
    // Backups, the log, replication.
    "pg_create_restore_point",
    "pg_drop_replication_slot",
    "pg_import_system_collations",
    "pg_switch_wal",
    "pg_switch_xlog",
    "pg_sync_replication_slots",
    "pg_wal_replay_pause",
    "pg_wal_replay_resume",
    // Indexes and statistics.
    "brin_desummarize_range",
    "brin_summarize_new_values",
    "brin_summarize_range",
    "gin_clean_pending_list",
    "pg_stat_clear_snapshot",
    "pg_stat_force_next_flush",
    "pg_prewarm",
    "pg_truncate_visibility_map",
    // Files.
    "pg_logdir_ls",
    "pg_stat_file",
    // Amazon's extensions, and others that leave the database.
    "query_export_to_s3",
    "table_import_from_s3",
    "http",
    "http_delete",
    "http_get",
    "http_patch",
    "http_post",
    "http_put",
    "plpgsql_call_handler",
];

/// Whole families; a name that starts so and is called is refused.
const POSTGRES_FAMILIES: &[&str] = &[
    "autoprewarm_",
    "dblink",
    "heap_force_",
    "lo_",
    "pg_advisory",
    "pg_backup_",
    "pg_clear_",
    "pg_copy_",
    "pg_create_",
    "pg_file_",
    "pg_logical_",
    "pg_ls_",
    "pg_read_",
    "pg_replication_",
    "pg_restore_",
    "pg_set_",
    "pg_start_backup",
    "pg_stat_reset",
    "pg_stat_statements_reset",
    "pg_stop_backup",
    "pg_try_advisory",
    "pg_unload_",
    "postgres_fdw_disconnect",
];

/// Schemas whose functions act outside the database.
const POSTGRES_SCHEMAS: &[&str] = &["aws_lambda", "aws_s3", "cron", "net", "pglogical", "pgmq"];

/// Large objects: spelled out, since columns are often called `lo_…` too.
const LARGE_OBJECTS: &[&str] = &[
    "lo_close",
    "lo_creat",
    "lo_create",
    "lo_export",
    "lo_from_bytea",
    "lo_get",
    "lo_import",
    "lo_lseek",
    "lo_lseek64",
    "lo_open",
    "lo_put",
    "lo_tell",
    "lo_tell64",
    "lo_truncate",
    "lo_truncate64",
    "lo_unlink",
    "loread",
    "lowrite",
];

const MYSQL_NAMES: &[&str] = &[
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "lambda_async",
    "lambda_sync",
    "lastval",
    "load_file",
    "master_gtid_wait",
    "master_pos_wait",
    "nextval",
    "release_all_locks",
    "release_lock",
    "set_user_var",
    "setval",
    "source_pos_wait",
    "spider_bg_direct_sql",
    "spider_copy_tables",
    "spider_direct_sql",
    "spider_flush_table_mon_cache",
    "sys_eval",
    "sys_exec",
    "sys_get",
    "sys_set",
    "wait_for_executed_gtid_set",
    "wait_until_sql_thread_after_gtids",
];

const MYSQL_FAMILIES: &[&str] = &[
    "asynchronous_connection_failover_",
    "audit_log_",
    "firewall_",
    "group_replication_",
    "keyring_",
    "mysql_firewall_",
    "service_get_",
    "service_release_",
    "version_tokens_",
];

/// The first call of a denied function.
pub fn denied(engine: SqlEngine, tokens: &[Token]) -> Option<String> {
    tokens.iter().enumerate().find_map(|(index, token)| {
        let name = token.name()?;
        let before = |back: usize| index.checked_sub(back).and_then(|at| tokens.get(at));
        let qualified = before(1).is_some_and(|dot| dot.is_symbol('.'));
        let called = tokens
            .get(index + 1)
            .is_some_and(|next| next.is_symbol('('));
        let schema = before(2)
            .filter(|_| qualified)
            .and_then(Token::name)
            .unwrap_or_default();
        is_denied(engine, &name, &schema, called, qualified).then_some(name)
    })
}

fn is_denied(engine: SqlEngine, name: &str, schema: &str, called: bool, qualified: bool) -> bool {
    let starts = |families: &[&str]| families.iter().any(|family| name.starts_with(family));
    match engine {
        // `(argument).function` is a call too.
        SqlEngine::Postgres => {
            ((called || qualified)
                && (POSTGRES_NAMES.contains(&name) || LARGE_OBJECTS.contains(&name)))
                || (called && (starts(POSTGRES_FAMILIES) || POSTGRES_SCHEMAS.contains(&schema)))
                || (qualified && name.starts_with("pg_") && starts(POSTGRES_FAMILIES))
        }
        SqlEngine::MySql => called && (MYSQL_NAMES.contains(&name) || starts(MYSQL_FAMILIES)),
    }
}
