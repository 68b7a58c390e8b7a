//! Databases of a plan: installed servers first, containers where there are none.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use windlass_ports::database::{Access, SqlEngine, SqlRequest};
use windlass_stack_config::Text;
use windlass_stack_config::model::database::{DatabaseEngine, DatabaseFamily, RelationalDatabase};
use windlass_types::{Problem, Secret};

use super::Bench;
use crate::container::{ContainerSpec, Network};
use crate::database::{Dialect, LocalDatabase, PostgresServer, redis_launch};
use crate::manager::random_text;
use crate::status::{Condition, Role};
use crate::supervise::{Make, Probe, Supervised, listens};

fn literal(text: &Text, otherwise: &str) -> String {
    text.literal().unwrap_or(otherwise).to_owned()
}

/// The name of a database's first schema.
fn database_name(engine: &DatabaseEngine) -> String {
    let named = match engine {
        DatabaseEngine::Postgres(rds)
        | DatabaseEngine::Mysql(rds)
        | DatabaseEngine::Mariadb(rds) => rds.db_name.clone(),
        DatabaseEngine::AuroraPostgresql(aurora) | DatabaseEngine::AuroraMysql(aurora) => {
            Some(aurora.db_name.clone())
        }
        DatabaseEngine::AuroraPostgresqlServerless(aurora)
        | DatabaseEngine::AuroraMysqlServerless(aurora) => Some(aurora.db_name.clone()),
        DatabaseEngine::AuroraPostgresqlServerlessV2(aurora)
        | DatabaseEngine::AuroraMysqlServerlessV2(aurora) => Some(aurora.db_name.clone()),
        _ => None,
    };
    named.map_or_else(|| "defdb".to_owned(), |name| literal(&name, "defdb"))
}

pub(crate) type Databases = BTreeMap<String, (LocalDatabase, Arc<Supervised>)>;

pub(super) fn relational(
    bench: &mut Bench,
    name: &str,
    database: &RelationalDatabase,
    databases: &mut Databases,
) -> Result<(), Problem> {
    let kind = "relational-database";
    let (dialect, preferred) = match database.engine.family() {
        DatabaseFamily::Postgres => (Dialect::Postgres, 5432),
        DatabaseFamily::Mysql => (Dialect::MySql, 3306),
        DatabaseFamily::Oracle | DatabaseFamily::SqlServer => {
            let remedy = format!(
                "{} does not run locally; set dev.remote",
                database.engine.type_name()
            );
            bench
                .board
                .add(name, Role::Elsewhere, kind, Condition::NotLocal(remedy));
            return Ok(());
        }
    };
    let local = LocalDatabase {
        dialect,
        port: bench.ports.number(name, Some(preferred))?,
        user: literal(&database.credentials.master_user_name, "db_master_user"),
        password: Secret::new(random_text(&bench.outside)),
        database: database_name(&database.engine),
    };
    bench.host.log.hide(&local.password);
    bench.params.insert(name.to_owned(), local.params());
    bench
        .board
        .add(name, Role::Database, kind, Condition::Starting);
    let native = (dialect == Dialect::Postgres)
        .then(|| PostgresServer::programs(&bench.outside.programs))
        .flatten();
    let make: Make = match native {
        Some(programs) => {
            let server = PostgresServer {
                programs,
                setpriv: bench.outside.programs.setpriv.clone(),
                data: bench.data(name),
                port: local.port,
                user: local.user.clone(),
                password: local.password.clone(),
                database: local.database.clone(),
            };
            Box::new(move || server.launch())
        }
        None => container_database(bench, name, &local),
    };
    let probe = answers(bench, &local);
    databases.insert(name.to_owned(), supervised(bench, name, local, make, probe));
    Ok(())
}

pub(super) fn redis(
    bench: &mut Bench,
    name: &str,
    preferred: u16,
    databases: &mut Databases,
) -> Result<(), Problem> {
    let local = LocalDatabase {
        dialect: Dialect::Redis,
        port: bench.ports.number(name, Some(preferred))?,
        user: String::new(),
        password: Secret::new(random_text(&bench.outside)),
        database: "0".to_owned(),
    };
    bench.host.log.hide(&local.password);
    bench.params.insert(name.to_owned(), local.params());
    bench
        .board
        .add(name, Role::Database, "redis-cluster", Condition::Starting);
    let make: Make = match bench.outside.programs.redis.clone() {
        Some(program) => {
            let (data, port, password) = (bench.data(name), local.port, local.password.clone());
            Box::new(move || redis_launch(&program, &data, port, &password))
        }
        None => container_database(bench, name, &local),
    };
    let probe = listens(local.port);
    databases.insert(name.to_owned(), supervised(bench, name, local, make, probe));
    Ok(())
}

fn supervised(
    bench: &Bench,
    name: &str,
    local: LocalDatabase,
    make: Make,
    probe: Probe,
) -> (LocalDatabase, Arc<Supervised>) {
    let address = Some(format!("127.0.0.1:{}", local.port));
    let (host, board) = (bench.host.clone(), bench.board.clone());
    let server = Supervised::new(name, name, address, host, board, make, Some(probe));
    (local, server)
}

/// A database in a container, where its server is not installed.
fn container_database(bench: &mut Bench, name: &str, local: &LocalDatabase) -> Make {
    let engine = match bench.engine() {
        Ok(engine) => engine,
        Err(problem) => return Box::new(move || Err(problem.clone())),
    };
    let password = local.password.clone();
    let variable = |name: &str, value: &str| (name.to_owned(), Secret::new(value.to_owned()));
    let (image, inside, environment, command) = match local.dialect {
        Dialect::Postgres => (
            "docker.io/library/postgres:17",
            5432,
            vec![
                variable("POSTGRES_USER", &local.user),
                ("POSTGRES_PASSWORD".to_owned(), password),
                variable("POSTGRES_DB", &local.database),
            ],
            Vec::new(),
        ),
        Dialect::MySql => (
            "docker.io/library/mysql:8.4",
            3306,
            vec![
                variable("MYSQL_USER", &local.user),
                ("MYSQL_PASSWORD".to_owned(), password.clone()),
                ("MYSQL_ROOT_PASSWORD".to_owned(), password),
                variable("MYSQL_DATABASE", &local.database),
            ],
            Vec::new(),
        ),
        Dialect::Redis => (
            "docker.io/library/redis:7",
            6379,
            vec![("REDIS_PASSWORD".to_owned(), password)],
            // The shell in the container reads the variable, so the password is in no argument.
            vec![
                "sh".to_owned(),
                "-c".to_owned(),
                "printf 'requirepass %s\\n' \"$REDIS_PASSWORD\" | exec redis-server -".to_owned(),
            ],
        ),
    };
    let spec = ContainerSpec {
        name: format!(
            "windlass-dev-{}-{}-{name}",
            bench.plan.project_name, bench.plan.stage
        ),
        image: image.to_owned(),
        network: Network::Published {
            local: local.port,
            inside,
        },
        environment,
        entry_point: None,
        command,
        directory: bench.plan.directory.clone(),
        grace: Duration::from_secs(10),
    };
    Box::new(move || Ok(engine.launch(&spec)))
}

/// Whether a database answers a query.
fn answers(bench: &Bench, local: &LocalDatabase) -> Probe {
    let databases = bench.outside.databases.clone();
    let request = Arc::new(SqlRequest {
        engine: if local.dialect == Dialect::Postgres {
            SqlEngine::Postgres
        } else {
            SqlEngine::MySql
        },
        address: local.address(),
        access: Access::LocalUnrestricted,
        statement: "select 1".to_owned(),
        functions: None,
        row_limit: 1,
        byte_limit: 1024,
        statement_timeout: Duration::from_secs(2),
        connect_timeout: Duration::from_secs(2),
    });
    Box::new(move || {
        let (databases, request) = (databases.clone(), request.clone());
        Box::pin(async move { databases.query(&request).await.is_ok() })
    })
}
