//! Relational databases: engines, sizes, access, logs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::defaults::number;
use crate::model::alarms::Alarm;
use crate::model::common::{DevSettings, LogForwarding, RETENTION_DAYS};
use crate::tagged::tagged;
use crate::value::Text;

/// A relational database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RelationalDatabase {
    /// Who may do everything.
    pub credentials: DatabaseCredentials,
    /// The engine and its size.
    pub engine: DatabaseEngine,
    /// Who can reach it.
    #[serde(default)]
    pub accessibility: DatabaseAccessibility,
    /// Refuse to be deleted.
    #[serde(default)]
    pub deletion_protection: bool,
    /// For how many days backups are kept.
    #[serde(default = "number::<1>")]
    #[schemars(range(max = 35))]
    pub automated_backup_retention_days: u32,
    /// When maintenance may happen, such as `Sun:02:00-Sun:04:00` (UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_maintenance_window: Option<String>,
    /// Alarms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alarms: Vec<Alarm>,
    /// Alarms of the account that do not apply here. There are none in Windlass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled_global_alarms: Vec<String>,
    /// Logs.
    #[serde(default)]
    pub logging: DatabaseLogging,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DatabaseCredentials {
    /// The user's name.
    #[serde(default = "master_user_name")]
    pub master_user_name: Text,
    /// The user's password; give it as a secret.
    pub master_user_password: Text,
}

fn master_user_name() -> Text {
    "db_master_user".into()
}

tagged! {
    /// A database engine and its size.
    pub enum DatabaseEngine {
        /// PostgreSQL.
        Postgres(RdsEngine) = "postgres",
        /// MySQL.
        Mysql(RdsEngine) = "mysql",
        /// MariaDB.
        Mariadb(RdsEngine) = "mariadb",
        /// Oracle, Enterprise Edition.
        OracleEe(RdsEngine) = "oracle-ee",
        /// Oracle, Standard Edition Two.
        OracleSe2(RdsEngine) = "oracle-se2",
        /// SQL Server, Enterprise Edition.
        SqlserverEe(RdsEngine) = "sqlserver-ee",
        /// SQL Server, Express Edition.
        SqlserverEx(RdsEngine) = "sqlserver-ex",
        /// SQL Server, Standard Edition.
        SqlserverSe(RdsEngine) = "sqlserver-se",
        /// SQL Server, Web Edition.
        SqlserverWeb(RdsEngine) = "sqlserver-web",
        /// Aurora with PostgreSQL.
        AuroraPostgresql(AuroraEngine) = "aurora-postgresql",
        /// Aurora with MySQL.
        AuroraMysql(AuroraEngine) = "aurora-mysql",
        /// Aurora Serverless v1 with PostgreSQL.
        AuroraPostgresqlServerless(AuroraServerlessEngine) = "aurora-postgresql-serverless",
        /// Aurora Serverless v1 with MySQL.
        AuroraMysqlServerless(AuroraServerlessEngine) = "aurora-mysql-serverless",
        /// Aurora Serverless v2 with PostgreSQL.
        AuroraPostgresqlServerlessV2(AuroraServerlessV2Engine) = "aurora-postgresql-serverless-v2",
        /// Aurora Serverless v2 with MySQL.
        AuroraMysqlServerlessV2(AuroraServerlessV2Engine) = "aurora-mysql-serverless-v2",
    }
}

/// The language and wire protocol of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseFamily {
    /// PostgreSQL.
    Postgres,
    /// MySQL or MariaDB.
    Mysql,
    /// Oracle.
    Oracle,
    /// SQL Server.
    SqlServer,
}

impl DatabaseFamily {
    /// The port servers of the family listen on.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Postgres => 5432,
            Self::Mysql => 3306,
            Self::Oracle => 1521,
            Self::SqlServer => 1433,
        }
    }
}

impl DatabaseEngine {
    /// The language and wire protocol.
    pub fn family(&self) -> DatabaseFamily {
        match self {
            Self::Postgres(_)
            | Self::AuroraPostgresql(_)
            | Self::AuroraPostgresqlServerless(_)
            | Self::AuroraPostgresqlServerlessV2(_) => DatabaseFamily::Postgres,
            Self::Mysql(_)
            | Self::Mariadb(_)
            | Self::AuroraMysql(_)
            | Self::AuroraMysqlServerless(_)
            | Self::AuroraMysqlServerlessV2(_) => DatabaseFamily::Mysql,
            Self::OracleEe(_) | Self::OracleSe2(_) => DatabaseFamily::Oracle,
            Self::SqlserverEe(_)
            | Self::SqlserverEx(_)
            | Self::SqlserverSe(_)
            | Self::SqlserverWeb(_) => DatabaseFamily::SqlServer,
        }
    }

    /// Whether it is an Aurora cluster.
    pub fn is_aurora(&self) -> bool {
        self.type_name().starts_with("aurora-")
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RdsEngine {
    /// The engine's version, such as `"16.6"`.
    pub version: Text,
    /// The instance that accepts writes.
    pub primary_instance: RdsInstance,
    /// The database's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db_name: Option<Text>,
    /// The port; the engine's usual one without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1150))]
    pub port: Option<u16>,
    /// Disk.
    #[serde(default)]
    pub storage: RdsStorage,
    /// Copies that take reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 15))]
    pub read_replicas: Vec<RdsInstance>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RdsInstance {
    /// The instance class, such as `db.t4g.micro`.
    #[schemars(regex(pattern = "^db\\."))]
    pub instance_size: String,
    /// Keep a standby in another zone.
    #[serde(default)]
    pub multi_az: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RdsStorage {
    /// Gigabytes at first.
    #[serde(default = "number::<20>")]
    #[schemars(range(min = 20))]
    pub initial_size: u32,
    /// Gigabytes it may grow to.
    #[serde(default = "number::<200>")]
    #[schemars(range(min = 20))]
    pub max_size: u32,
}

impl Default for RdsStorage {
    fn default() -> Self {
        Self {
            initial_size: 20,
            max_size: 200,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuroraEngine {
    /// The instances; the first accepts writes.
    #[schemars(length(min = 1, max = 16))]
    pub instances: Vec<AuroraInstance>,
    /// The engine's version.
    pub version: Text,
    /// The database's name.
    #[serde(default = "aurora_db_name")]
    pub db_name: Text,
    /// The port; the engine's usual one without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1150))]
    pub port: Option<u16>,
}

fn aurora_db_name() -> Text {
    "defdb".into()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuroraInstance {
    /// The instance class, such as `db.t4g.medium`.
    #[schemars(regex(pattern = "^db\\."))]
    pub instance_size: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuroraServerlessEngine {
    /// The engine's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Text>,
    /// The database's name.
    #[serde(default = "aurora_db_name")]
    pub db_name: Text,
    /// The least capacity in units.
    #[serde(default = "number::<2>")]
    pub min_capacity: u32,
    /// The most capacity in units.
    #[serde(default = "number::<4>")]
    pub max_capacity: u32,
    /// Pause after this many seconds without connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 300, max = 86_400))]
    pub pause_after_seconds: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuroraServerlessV2Engine {
    /// The engine's version.
    pub version: Text,
    /// The database's name.
    #[serde(default = "aurora_db_name")]
    pub db_name: Text,
    /// The least capacity in units.
    #[serde(default = "least_capacity")]
    #[schemars(range(min = 0, max = 256))]
    pub min_capacity: f64,
    /// The most capacity in units.
    #[serde(default = "most_capacity")]
    #[schemars(range(min = 0.5, max = 256))]
    pub max_capacity: f64,
    /// How many instances take reads only.
    #[serde(default)]
    #[schemars(range(max = 15))]
    pub serverless_readers_count: u32,
    /// The port; the engine's usual one without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1150))]
    pub port: Option<u16>,
}

fn least_capacity() -> f64 {
    0.5
}

fn most_capacity() -> f64 {
    10.0
}

/// Who can reach a relational database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DatabaseAccessibility {
    /// From where.
    pub accessibility_mode: AccessibilityMode,
    /// Give the database no public address, whatever the mode. Cannot be changed later.
    #[serde(default)]
    pub force_disable_public_ip: bool,
    /// Addresses and ranges that may connect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whitelisted_ips: Vec<Text>,
}

/// From where a database can be reached.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AccessibilityMode {
    #[default]
    Internet,
    Vpc,
    ScopingWorkloadsInVpc,
    WhitelistedIpsOnly,
}

/// Logs of a relational database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DatabaseLogging {
    /// Keep no logs.
    #[serde(default)]
    pub disabled: bool,
    /// For how many days logs are kept.
    #[serde(default = "number::<90>")]
    #[schemars(extend("enum" = RETENTION_DAYS))]
    pub retention_days: u32,
    /// Which logs; those the engine usually has without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_types: Option<Vec<String>>,
    /// What the engine writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_specific_options: Option<EngineLogOptions>,
    /// Send a copy of the logs elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_forwarding: Option<LogForwarding>,
}

impl Default for DatabaseLogging {
    fn default() -> Self {
        Self {
            disabled: false,
            retention_days: 90,
            log_types: None,
            engine_specific_options: None,
            log_forwarding: None,
        }
    }
}

/// What an engine writes to its logs. Which of them apply follows from the engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EngineLogOptions {
    /// PostgreSQL: log connections.
    #[serde(
        rename = "log_connections",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub log_connections: Option<bool>,
    /// PostgreSQL: log disconnections.
    #[serde(
        rename = "log_disconnections",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub log_disconnections: Option<bool>,
    /// PostgreSQL: log waits for locks.
    #[serde(
        rename = "log_lock_waits",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub log_lock_waits: Option<bool>,
    /// PostgreSQL: log statements that take at least this many milliseconds; -1 for none.
    #[serde(
        rename = "log_min_duration_statement",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = -1))]
    pub log_min_duration_statement: Option<i32>,
    /// PostgreSQL: `none`, `ddl`, `mod` or `all` statements.
    #[serde(
        rename = "log_statement",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub log_statement: Option<LogStatement>,
    /// MySQL, MariaDB: events the audit log has, such as `CONNECT` and `QUERY`.
    #[serde(
        rename = "server_audit_events",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub server_audit_events: Option<Vec<String>>,
    /// MySQL, MariaDB: log statements that take at least this many seconds.
    #[serde(
        rename = "long_query_time",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 0))]
    pub long_query_time: Option<f64>,
}

/// Which statements PostgreSQL logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogStatement {
    None,
    Ddl,
    Mod,
    All,
}
