//! What people ask of a PostgreSQL server when something is wrong: every question passes the rules
//! and the look-up of its functions, and the server answers it.

use windlass_ports::database::SqlEngine::Postgres as Engine;
use windlass_testkit::servers::{Postgres, at_socket};

use super::ask::guarded;

const SHOP: &str = "
    create table customers (id int primary key, email text, tags text[], created_at timestamptz default now());
    create table orders (
        id int primary key, customer_id int references customers, total numeric(10, 2), status text,
        data jsonb default '{}', placed_at timestamptz default now());
    create index orders_status on orders (status);
    create index orders_data on orders using gin (data);
    insert into customers select n, 'user' || n || '@example.com', array['a', 'b'], now() - n * interval '1 day'
        from generate_series(1, 50) n;
    insert into orders select n, 1 + n % 50, n * 1.5, case when n % 3 = 0 then 'paid' else 'open' end,
        jsonb_build_object('items', jsonb_build_array(jsonb_build_object('sku', 'x' || n, 'qty', n % 4)), 'note', 'fast'),
        now() - n * interval '1 hour' from generate_series(1, 500) n;
    create materialized view totals as select status, sum(total) as total from orders group by status;
    create view open_orders as select * from orders where lower(status) = 'open';
    create table pg_stat_statements (queryid bigint, query text, calls bigint, total_exec_time float8,
        mean_exec_time float8, rows bigint, shared_blks_hit bigint, shared_blks_read bigint);
    insert into pg_stat_statements values (1, 'select 1', 10, 100, 10, 10, 5, 1);
    analyze;";

const QUERIES: &[&str] = &[
    // Activity and locks.
    "select pid, usename, state, wait_event_type, wait_event, now() - query_start as running, left(query, 80) as query \
     from pg_stat_activity where state <> 'idle' and pid <> pg_backend_pid() order by running desc nulls last",
    "select state, count(*) from pg_stat_activity group by state order by count(*) desc",
    "select pid, pg_blocking_pids(pid) as blocked_by, query from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0",
    "select blocked.pid, blocking.pid, blocked_activity.query from pg_locks blocked \
     join pg_stat_activity blocked_activity on blocked_activity.pid = blocked.pid \
     join pg_locks blocking on blocking.locktype = blocked.locktype and blocking.database is not distinct from blocked.database \
     and blocking.relation is not distinct from blocked.relation and blocking.pid <> blocked.pid where not blocked.granted",
    "select locktype, relation::regclass, mode, granted, count(*) from pg_locks group by 1, 2, 3, 4 order by 5 desc",
    "select pid, age(clock_timestamp(), xact_start) as xact_age from pg_stat_activity \
     where state = 'idle in transaction' and xact_start < now() - interval '5 minutes'",
    "select datname, numbackends, xact_commit, xact_rollback, deadlocks, conflicts, temp_files, pg_size_pretty(temp_bytes) from pg_stat_database",
    "select application_name, client_addr, count(*) from pg_stat_activity group by 1, 2 having count(*) > 0",
    "select count(*) as used, (select setting::int from pg_settings where name = 'max_connections') as most from pg_stat_activity",
    // Sizes, bloat, vacuum.
    "select pg_size_pretty(pg_database_size(current_database()))",
    "select datname, pg_size_pretty(pg_database_size(datname)) from pg_database order by pg_database_size(datname) desc",
    "select c.oid::regclass as name, pg_size_pretty(pg_total_relation_size(c.oid)) as total, pg_size_pretty(pg_relation_size(c.oid)) as heap, \
     pg_size_pretty(pg_indexes_size(c.oid)) as indexes from pg_class c join pg_namespace n on n.oid = c.relnamespace \
     where c.relkind in ('r', 'm') and n.nspname !~ '^pg_' order by pg_total_relation_size(c.oid) desc limit 20",
    "select relname, n_live_tup, n_dead_tup, round(100.0 * n_dead_tup / greatest(n_live_tup + n_dead_tup, 1), 1) as dead_percent, \
     last_vacuum, last_autovacuum from pg_stat_user_tables order by n_dead_tup desc",
    "select relname, coalesce(last_autoanalyze, last_analyze) as analyzed from pg_stat_user_tables where coalesce(n_mod_since_analyze, 0) >= 0",
    "select datname, age(datfrozenxid), mxid_age(datminmxid) from pg_database order by age(datfrozenxid) desc",
    "select c.relname, age(c.relfrozenxid) from pg_class c where c.relkind = 'r' order by 2 desc limit 5",
    "select relname, reltuples::bigint, relpages, pg_size_pretty(relpages::bigint * current_setting('block_size')::int) \
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
    "select schemaname, tablename, attname, null_frac, n_distinct, array_to_string(most_common_freqs, ', ') from pg_stats where schemaname = 'public'",
    "select tablename, sum((1 - null_frac) * avg_width) as width from pg_stats where schemaname = 'public' group by tablename",
    // Indexes.
    "select relname, indexrelname, idx_scan, pg_size_pretty(pg_relation_size(indexrelid)) from pg_stat_user_indexes \
     where idx_scan = 0 order by pg_relation_size(indexrelid) desc",
    "select indrelid::regclass, array_agg(indexrelid::regclass) from pg_index group by indrelid, indkey having count(*) > 1",
    "select tablename, indexname, indexdef, pg_get_indexdef((schemaname || '.' || indexname)::regclass) from pg_indexes where schemaname = 'public'",
    "select relname, seq_scan, idx_scan, 100 * idx_scan / nullif(seq_scan + idx_scan, 0) as percent from pg_stat_user_tables",
    "select sum(heap_blks_hit) / nullif(sum(heap_blks_hit) + sum(heap_blks_read), 0)::numeric as ratio from pg_statio_user_tables",
    "select c.relname, i.indisvalid, string_agg(a.attname, ', ' order by k.place) from pg_index i join pg_class c on c.oid = i.indexrelid \
     cross join lateral unnest(i.indkey) with ordinality as k(attnum, place) join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum \
     group by 1, 2",
    // Statements.
    "select queryid, calls, round(total_exec_time::numeric, 2) as total, round(mean_exec_time::numeric, 2) as mean, left(query, 60) \
     from pg_stat_statements order by total_exec_time desc limit 10",
    "select query, 100.0 * shared_blks_hit / nullif(shared_blks_hit + shared_blks_read, 0) as hit, \
     sum(calls) over () as all_calls, rank() over (order by mean_exec_time desc) from pg_stat_statements",
    "explain (analyze, buffers, format json) select * from orders where status = 'paid' order by total desc limit 5",
    "explain select o.* from orders o join customers c on c.id = o.customer_id where lower(c.email) like 'user1%'",
    // Definitions and rights.
    "select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'orders'::regclass",
    "select pg_get_viewdef('open_orders'::regclass, true)",
    "select p.proname, pg_get_function_arguments(p.oid), l.lanname from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = 'public'::regnamespace",
    "select column_name, data_type, is_nullable, column_default, col_description('orders'::regclass, ordinal_position) \
     from information_schema.columns where table_name = 'orders' order by ordinal_position",
    "select rolname, has_database_privilege(rolname, current_database(), 'connect'), pg_has_role(rolname, 'pg_monitor', 'member') from pg_roles",
    "select a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid) from pg_attribute a \
     left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum where a.attrelid = to_regclass('orders') and a.attnum > 0",
    "select name, setting, unit, context from pg_settings where name ~* '(shared_buffers|work_mem|wal_level)'",
    "select relname, obj_description(oid, 'pg_class'), (aclexplode(coalesce(relacl, acldefault('r', relowner)))).grantee from pg_class where relname = 'orders'",
    "select inhparent::regclass, count(*) from pg_inherits group by 1",
    "select sequencename, last_value, round(100.0 * coalesce(last_value, 0) / max_value, 4) as used from pg_sequences",
    // Replication and the server.
    "select application_name, state, sync_state, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) as behind from pg_stat_replication",
    "select slot_name, active, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) as kept from pg_replication_slots",
    "select pg_is_in_recovery(), pg_last_wal_replay_lsn(), now() - pg_last_xact_replay_timestamp() as behind",
    "select version(), current_setting('server_version_num')::int, pg_postmaster_start_time(), now() - pg_postmaster_start_time() as up",
    "select * from pg_stat_bgwriter",
    "select p.pid, p.datname, p.relid::regclass, p.phase, round(100.0 * p.heap_blks_scanned / nullif(p.heap_blks_total, 0), 1) from pg_stat_progress_vacuum p",
    "show all",
    // The application's data.
    "select status, count(*), sum(total), avg(total)::numeric(10, 2), min(placed_at), max(placed_at) from orders group by status",
    "select date_trunc('day', placed_at) as day, count(*) filter (where status = 'paid') as paid from orders group by 1 order by 1 desc limit 7",
    "select d::date as day, count(o.id) from generate_series(current_date - 7, current_date, interval '1 day') as d \
     left join orders o on o.placed_at::date = d::date group by 1 order by 1",
    "select percentile_cont(array[0.5, 0.9, 0.99]) within group (order by total) as p, mode() within group (order by status) from orders",
    "select percentile_disc(0.5) within group (order by total), stddev_pop(total), variance(total), corr(id, total) from orders",
    "select id, total, row_number() over w, lag(total) over w, lead(total, 2, 0) over w, sum(total) over (partition by status order by id \
     rows between 3 preceding and current row), ntile(4) over w from orders window w as (partition by status order by id) limit 20",
    "select c.email, string_agg(o.status, ', ' order by o.id) from customers c join orders o on o.customer_id = c.id group by c.email limit 5",
    "select data ->> 'note', data #>> '{items,0,sku}', jsonb_array_length(data -> 'items'), jsonb_typeof(data) from orders where data @> '{\"note\": \"fast\"}' limit 5",
    "select item ->> 'sku' as sku, (item ->> 'qty')::int as qty from orders o, jsonb_array_elements(o.data -> 'items') as item limit 5",
    "select r.sku, sum(r.qty) from orders, jsonb_to_recordset(data -> 'items') as r(sku text, qty int) group by 1 order by 2 desc limit 3",
    "select key, count(*) from orders, jsonb_each_text(data) group by key",
    "select jsonb_path_query_first(data, '$.items[*].sku'), jsonb_pretty(data), to_jsonb(o) - 'data' from orders o limit 1",
    "select json_agg(row_to_json(o)) from (select id, total from orders order by id limit 3) o",
    "select json_build_object('open', count(*)), jsonb_object_agg(status, total) from totals",
    "select unnest(tags) as tag, count(*) from customers group by 1",
    "select * from unnest(array[1, 2], array['a', 'b']) with ordinality as u(n, t, place)",
    "select email, split_part(email, '@', 2), regexp_replace(email, '\\d+', ''), upper(substring(email from 1 for 3)), md5(email), \
     length(email), position('@' in email), trim(both ' ' from email) from customers where email ~ '^user[0-9]+@' limit 3",
    "select extract(dow from placed_at), to_char(placed_at, 'YYYY-MM-DD HH24:MI'), placed_at at time zone 'Europe/Berlin', \
     date_part('hour', placed_at), date_bin('15 minutes', placed_at, timestamptz '2024-01-01') from orders limit 3",
    "select case when total > 100 then 'large' else 'small' end as size, count(*), width_bucket(total, 0, 800, 4) from orders group by 1, 3",
    "select coalesce(status, 'none'), nullif(status, ''), greatest(total, 1), least(total, 2), cast(total as int), total::text from orders limit 1",
    "with recursive t(n) as (values (1) union all select n + 1 from t where n < 5) select array_agg(n), sum(n) from t",
    "with big as materialized (select * from orders where total > 100), paid (id) as (select id from big where status = 'paid') select count(*) from paid",
    "select status, grouping(status), sum(total) from orders group by rollup (status)",
    "select status, customer_id, count(*) from orders group by grouping sets ((status), (customer_id), ()) limit 5",
    "select distinct on (status) status, id, round(total, 1) from orders order by status, placed_at desc",
    "select * from orders tablesample system (10) repeatable (1) limit 1",
    "select c.id from customers c where not exists (select from orders o where o.customer_id = c.id) and c.id = any (array[1, 2]) \
     and (c.id, c.email) in (select id, email from customers)",
    "select to_tsvector('english', 'the fast fox') @@ to_tsquery('english', 'fox'), ts_headline('fox', plainto_tsquery('fox'))",
    "select tstzrange(now() - interval '1 day', now()) @> now(), lower(int4range(1, 5)), upper_inf(daterange('2024-01-01', null))",
    "select host('10.0.0.1/8'::inet), masklen('10.0.0.0/8'::cidr), '10.1.1.1'::inet << '10.0.0.0/8'::inet",
    "select encode(sha256('x'), 'hex'), decode('aGk=', 'base64'), convert_from('\\x6869', 'UTF8'), gen_random_uuid() is not null, random() < 1",
    "select x.* from xmltable('/r/i' passing xml '<r><i n=\"1\"/></r>' columns n int path '@n') as x",
    "select (xpath('/a/text()', xml '<a>1</a>'))[1]::text, overlay('abc' placing 'X' from 2 for 1), format('%s-%I', 'a', 'b')",
    "table totals",
    "values (1, now()), (2, current_timestamp)",
];

#[tokio::test]
async fn what_people_ask_passes_and_is_answered() {
    assert!(QUERIES.len() >= 40);
    let Some(server) = Postgres::start("asked") else {
        return;
    };
    server.run(SHOP).unwrap();
    let address = at_socket(server.socket(), "postgres", "postgres");
    let mut wrong = Vec::new();
    for statement in QUERIES {
        if let Err(said) = guarded(Engine, &address, statement, &[]).await {
            wrong.push(format!("{statement}\n  {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
