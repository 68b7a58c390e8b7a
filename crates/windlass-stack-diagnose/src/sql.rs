//! One query of a relational database of the stack, in a transaction that cannot write.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_ports::aws::Stack;
use windlass_ports::database::{Access, DatabaseAddress, SqlEngine, SqlRequest, Tls};
use windlass_types::{Problem, Secret, code};

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::credentials;
use crate::failure::{aws_problem, database_problem, not_found, refused};
use crate::guard::sql::check;
use crate::info_stacks::counted;
use crate::names::{self, Found};
use crate::shapes::{list, number, reading, text};
use crate::through::Through;

const TYPES: &[&str] = &["AWS::RDS::DBCluster", "AWS::RDS::DBInstance"];
const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of values one answer holds.
const BYTES: usize = 1 << 20;

pub(crate) struct Ask {
    resource: String,
    statement: String,
    limit: usize,
    pub(crate) timeout: Duration,
    pub(crate) through: Through,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        Ok(Self {
            resource: arguments.needed("resourceName")?.to_owned(),
            statement: arguments.needed("sql")?.to_owned(),
            limit: arguments.count("limit", 1_000, 10_000)?,
            timeout: Duration::from_millis(arguments.number("timeout", 30_000, 1..=600_000)?),
            through: Through::read(arguments)?,
        })
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    // Before anything is asked: what no dialect lets through is refused without credentials.
    let allowed = call.outside.settings.allowed_functions.clone();
    let verdicts = [SqlEngine::Postgres, SqlEngine::MySql]
        .map(|engine| check(engine, &ask.statement, &allowed));
    if let [Err(refusal), Err(_)] = &verdicts {
        return Err(refused(refusal));
    }
    let stack = call.stack().await?;
    let resources = call.resources(&stack).await?;
    let found = names::find(&resources, &stack.stack_name, &ask.resource, TYPES)?;
    let server = described(call, &found, &ask.resource).await?;
    let statement =
        check(server.engine, &ask.statement, &allowed).map_err(|refusal| refused(&refusal))?;
    let password = password(call, &stack, &found, &server).await?;
    let way = ask
        .through
        .open(call, &stack, &resources, (&server.host, server.port))
        .await?;
    let request = SqlRequest {
        engine: server.engine,
        address: DatabaseAddress {
            listening: way.listening(),
            tls: Tls::Verified {
                server_name: way.server_name(),
                roots: call.outside.settings.database_roots.clone(),
            },
            user: server.user,
            password: Some(password),
            database: server.database,
        },
        access: Access::ReadOnly,
        statement: ask.statement.clone(),
        functions: Some(statement.to_look_up(&allowed)),
        // One more than is shown, to know whether there are more.
        row_limit: ask.limit + 1,
        byte_limit: BYTES,
        statement_timeout: ask.timeout,
        connect_timeout: CONNECT + ask.through.opening(),
    };
    let rows = call.outside.databases.query(&request).await;
    let mut rows = way
        .leave(rows.map_err(|failure| database_problem(&ask.resource, &failure)))
        .await?;
    let truncated = rows.truncated || rows.rows.len() > ask.limit;
    rows.rows.truncate(ask.limit);
    let fields: Vec<&str> = rows
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    let types: Vec<&str> = rows
        .fields
        .iter()
        .map(|field| field.kind.as_str())
        .collect();
    let count = rows.rows.len();
    let answer = Answer::new(
        counted(count, "row"),
        json!({
            "resource": ask.resource,
            "engine": server.engine.as_str(),
            "endpoint": { "host": server.host, "reader": server.is_reader },
            "fields": fields,
            "fieldTypes": types,
            "rows": rows.rows,
            "rowCount": count,
            "truncated": truncated,
        }),
    );
    Ok(if truncated {
        answer.next("repeat with a larger limit, or narrow the query")
    } else {
        answer
    })
}

/// A database server as RDS describes it.
struct Server {
    engine: SqlEngine,
    host: String,
    port: u16,
    is_reader: bool,
    user: String,
    database: String,
    managed_secret: Option<String>,
}

async fn described(call: &Call<'_>, found: &Found, name: &str) -> Result<Server, Problem> {
    let is_cluster = found.kind == "AWS::RDS::DBCluster";
    let (action, argument, member) = if is_cluster {
        ("DescribeDBClusters", "DBClusterIdentifier", "DBClusters")
    } else {
        ("DescribeDBInstances", "DBInstanceIdentifier", "DBInstances")
    };
    let answer = call
        .aws(
            reading("rds", action)?,
            json!({ argument: found.physical_id }),
        )
        .await
        .map_err(|failure| aws_problem(&failure))?;
    let described = list(&answer, member).first().ok_or_else(|| {
        not_found(
            "database",
            &found.physical_id,
            format!("RDS does not know {}", found.physical_id),
            [],
        )
    })?;
    let engine = engine(text(described, "Engine").unwrap_or_default(), name)?;
    let (host, port, is_reader) = if is_cluster {
        let reader = text(described, "ReaderEndpoint");
        let host = reader.or_else(|| text(described, "Endpoint"));
        (
            host.map(str::to_owned),
            described.get("Port").and_then(number),
            reader.is_some(),
        )
    } else {
        match replica(call, described).await? {
            Some((host, port)) => (Some(host), port, true),
            None => {
                let (host, port) = endpoint(described);
                (host, port, false)
            }
        }
    };
    let host = host.ok_or_else(|| {
        Problem::new(
            &code::NOT_FOUND,
            format!(
                "{name} has no endpoint yet; RDS says it is {}",
                text(described, "Status")
                    .or_else(|| text(described, "DBInstanceStatus"))
                    .unwrap_or("not available")
            ),
        )
        .with("reason", "not_available")
        .with("kind", "endpoint")
    })?;
    let default_port = match engine {
        SqlEngine::Postgres => 5432,
        SqlEngine::MySql => 3306,
    };
    let user = text(described, "MasterUsername")
        .unwrap_or_default()
        .to_owned();
    let database = text(described, "DBName").or_else(|| text(described, "DatabaseName"));
    let database = database.unwrap_or(match engine {
        SqlEngine::Postgres => "postgres",
        SqlEngine::MySql => "",
    });
    Ok(Server {
        engine,
        host,
        port: port.map_or(default_port, as_port),
        is_reader,
        user,
        database: database.to_owned(),
        managed_secret: described
            .pointer("/MasterUserSecret/SecretArn")
            .and_then(Value::as_str)
            .map(str::to_owned),
    })
}

fn engine(name: &str, resource: &str) -> Result<SqlEngine, Problem> {
    if name.contains("postgres") {
        return Ok(SqlEngine::Postgres);
    }
    if name.contains("mysql") || name.contains("mariadb") || name == "aurora" {
        return Ok(SqlEngine::MySql);
    }
    Err(Problem::new(
        &code::INVALID_INPUT,
        format!(
            "{resource} runs {name}; sql supports Postgres, MySQL and MariaDB and their Aurora variants"
        ),
    )
    .with("reason", "unsupported_engine")
    .with("engine", name))
}

fn endpoint(instance: &Value) -> (Option<String>, Option<f64>) {
    let endpoint = instance.get("Endpoint");
    (
        endpoint
            .and_then(|endpoint| text(endpoint, "Address"))
            .map(str::to_owned),
        endpoint.and_then(|endpoint| number(endpoint.get("Port")?)),
    )
}

/// The first replica that answers; a replica elsewhere or in the making is no reason to fail.
async fn replica(
    call: &Call<'_>,
    instance: &Value,
) -> Result<Option<(String, Option<f64>)>, Problem> {
    for id in list(instance, "ReadReplicaDBInstanceIdentifiers") {
        let Some(id) = id.as_str().filter(|id| !id.starts_with("arn:")) else {
            continue;
        };
        let found = call
            .aws(
                reading("rds", "DescribeDBInstances")?,
                json!({ "DBInstanceIdentifier": id }),
            )
            .await;
        let Ok(found) = found else { continue };
        let replica = list(&found, "DBInstances").first();
        let available =
            replica.filter(|replica| text(replica, "DBInstanceStatus") == Some("available"));
        if let Some((Some(host), port)) = available.map(endpoint) {
            return Ok(Some((host, port)));
        }
    }
    Ok(None)
}

fn as_port(port: f64) -> u16 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a port outside its range saturates, and connecting to it fails"
    )]
    let port = port as u16;
    port
}

async fn password(
    call: &Call<'_>,
    stack: &Stack,
    found: &Found,
    server: &Server,
) -> Result<Secret<String>, Problem> {
    if let Some(arn) = &server.managed_secret {
        return credentials::secret(call, &found.logical_id, arn, Some("password")).await;
    }
    let property =
        credentials::property(call, stack, &found.logical_id, "MasterUserPassword").await?;
    let Some(property) = property else {
        return Err(Problem::new(
            &code::UNAUTHORIZED,
            format!(
                "the template does not say where the password of {} is",
                found.logical_id
            ),
        )
        .with("reason", "credentials_unknown")
        .with("resource", found.logical_id.as_str()));
    };
    credentials::resolve(call, stack, &found.logical_id, &property).await
}
