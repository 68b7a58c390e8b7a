//! How a relational database is reached: its hosts, its connection strings.

use serde_json::{Value, json};
use windlass_stack_config::model::database::{DatabaseFamily, RelationalDatabase};

use super::database::{Plan, Shape, plan};
use crate::cf::{attribute, join, join_with};
use crate::name::logical;
use crate::stack::Stack;

impl Stack<'_> {
    pub fn database_param(
        &mut self,
        name: &str,
        it: &RelationalDatabase,
        param: &str,
    ) -> Option<Value> {
        let plan = plan(&it.engine)?;
        let main = match plan.shape {
            Shape::Instance(_) => logical(&[name, "DBInstance"]),
            Shape::Cluster { .. } => logical(&[name, "DBCluster"]),
        };
        let host = attribute(&main, "Endpoint.Address");
        let port = attribute(&main, "Endpoint.Port");
        let replicas = match plan.shape {
            Shape::Instance(engine) => engine.read_replicas.len(),
            Shape::Cluster { .. } => 0,
        };
        let replica = |index: usize, which: &str| {
            let id = logical(&[name, &format!("Replica{index}"), "DBInstance"]);
            attribute(&id, which)
        };
        let reader = || attribute(&main, "ReadEndpoint.Address");
        Some(match param {
            "host" => host,
            "port" => port,
            "dbName" => self.database_name(it, &plan),
            "connectionString" => self.connection_string(it, &plan, host, port),
            "jdbcConnectionString" => self.jdbc_string(it, &plan, host, port),
            "readerHost" => reader(),
            "readerPort" => port,
            "readerConnectionString" => self.connection_string(it, &plan, reader(), port),
            "readerJdbcConnectionString" => self.jdbc_string(it, &plan, reader(), port),
            "readReplicaHosts" => join_with(
                ",",
                (0..replicas).map(|index| replica(index, "Endpoint.Address")),
            ),
            "readReplicaConnectionStrings" | "readReplicaJdbcConnectionStrings" => {
                let all: Vec<Value> = (0..replicas)
                    .map(|index| {
                        let host = replica(index, "Endpoint.Address");
                        let port = replica(index, "Endpoint.Port");
                        match param {
                            "readReplicaConnectionStrings" => {
                                self.connection_string(it, &plan, host, port)
                            }
                            _ => self.jdbc_string(it, &plan, host, port),
                        }
                    })
                    .collect();
                join_with(",", all)
            }
            _ => return None,
        })
    }

    /// The database's name; what the engine has at the start where the config names none.
    fn database_name(&mut self, it: &RelationalDatabase, plan: &Plan<'_>) -> Value {
        match (plan.db_name, it.engine.family()) {
            (Some(name), _) => self.text(name),
            (None, DatabaseFamily::Postgres) => json!("postgres"),
            (None, DatabaseFamily::Oracle) => json!("ORCL"),
            (None, DatabaseFamily::SqlServer) => json!("master"),
            (None, DatabaseFamily::Mysql) => json!(""),
        }
    }

    fn connection_string(
        &mut self,
        it: &RelationalDatabase,
        plan: &Plan<'_>,
        host: Value,
        port: Value,
    ) -> Value {
        let scheme = match it.engine.family() {
            DatabaseFamily::Postgres => "postgresql",
            DatabaseFamily::Mysql if plan.engine == "mariadb" => "mariadb",
            DatabaseFamily::Mysql => "mysql",
            DatabaseFamily::Oracle => "oracle",
            DatabaseFamily::SqlServer => "sqlserver",
        };
        let user = self.text(&it.credentials.master_user_name);
        let password = self.text(&it.credentials.master_user_password);
        let name = self.database_name(it, plan);
        join([
            json!(format!("{scheme}://")),
            user,
            json!(":"),
            password,
            json!("@"),
            host,
            json!(":"),
            port,
            json!("/"),
            name,
        ])
    }

    fn jdbc_string(
        &mut self,
        it: &RelationalDatabase,
        plan: &Plan<'_>,
        host: Value,
        port: Value,
    ) -> Value {
        let user = self.text(&it.credentials.master_user_name);
        let password = self.text(&it.credentials.master_user_password);
        let name = self.database_name(it, plan);
        let text = |text: &str| json!(text);
        match it.engine.family() {
            DatabaseFamily::Postgres | DatabaseFamily::Mysql => {
                let scheme = match (it.engine.family(), plan.engine) {
                    (DatabaseFamily::Postgres, _) => "postgresql",
                    (_, "mariadb") => "mariadb",
                    _ => "mysql",
                };
                join([
                    json!(format!("jdbc:{scheme}://")),
                    host,
                    text(":"),
                    port,
                    text("/"),
                    name,
                    text("?user="),
                    user,
                    text("&password="),
                    password,
                ])
            }
            DatabaseFamily::Oracle => join([
                text("jdbc:oracle:thin:"),
                user,
                text("/"),
                password,
                text("@//"),
                host,
                text(":"),
                port,
                text("/"),
                name,
            ]),
            DatabaseFamily::SqlServer => join([
                text("jdbc:sqlserver://"),
                host,
                text(":"),
                port,
                text(";databaseName="),
                name,
                text(";user="),
                user,
                text(";password="),
                password,
            ]),
        }
    }
}
