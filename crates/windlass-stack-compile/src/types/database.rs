//! Relational databases.
//!
//! What happens to the data when the stack lets go of a database: with `deletionProtection` AWS
//! refuses to delete it and the stack leaves it behind (`Retain`); otherwise AWS takes a last
//! snapshot (`Snapshot`, which is also AWS's own default).
//!
//! Long because instances and clusters share every decision but the resource they end in.

use serde_json::{Value, json};
use windlass_stack_config::Text;
use windlass_stack_config::model::database::{
    AccessibilityMode, AuroraEngine, AuroraServerlessV2Engine, DatabaseEngine, DatabaseFamily,
    EngineLogOptions, LogStatement, RdsEngine, RelationalDatabase,
};

use super::load_balancer::as_range;
use crate::cf::reference;
use crate::name::logical;
use crate::shared::{from_group, from_range};
use crate::stack::Stack;

/// What a database consists of, whichever engine it has.
pub(super) struct Plan<'a> {
    /// As RDS names the engine.
    pub(super) engine: &'static str,
    version: &'a Text,
    pub(super) db_name: Option<&'a Text>,
    port: u16,
    pub(super) shape: Shape<'a>,
}

pub(super) enum Shape<'a> {
    Instance(&'a RdsEngine),
    Cluster {
        classes: Vec<&'a str>,
        capacity: Option<(f64, f64)>,
    },
}

impl Stack<'_> {
    pub fn relational_database(&mut self, name: &str, it: &RelationalDatabase) {
        let Some(plan) = plan(&it.engine) else {
            return self.refuse(
                "engine",
                format!("AWS no longer creates {} databases", it.engine.type_name()),
                Some("use the engine's -serverless-v2 form"),
            );
        };
        if plan.db_name.is_some() && it.engine.family() == DatabaseFamily::SqlServer {
            self.refuse(
                "engine.properties.dbName",
                "SQL Server creates no database at the start",
                Some("leave it out and create the database yourself"),
            );
        }
        let access = &it.accessibility;
        let mode = access.accessibility_mode;
        let is_public = !access.force_disable_public_ip
            && (matches!(
                mode,
                AccessibilityMode::Internet | AccessibilityMode::WhitelistedIpsOnly
            ) || !access.whitelisted_ips.is_empty());
        if mode == AccessibilityMode::WhitelistedIpsOnly && access.whitelisted_ips.is_empty() {
            self.refuse(
                "accessibility.whitelistedIps",
                "nobody could connect: the list is empty",
                Some("name addresses, such as 198.51.100.7/32"),
            );
        }
        let port = json!(plan.port);
        let mut ingress: Vec<Value> = match mode {
            AccessibilityMode::Internet => vec![from_range(port.clone(), json!("0.0.0.0/0"))],
            AccessibilityMode::Vpc => vec![from_range(port.clone(), self.network().cidr)],
            AccessibilityMode::ScopingWorkloadsInVpc => self
                .connected_groups(name)
                .iter()
                .map(|group| from_group(port.clone(), group))
                .collect(),
            AccessibilityMode::WhitelistedIpsOnly => Vec::new(),
        };
        for address in self.texts(&access.whitelisted_ips) {
            ingress.push(from_range(port.clone(), as_range(address)));
        }
        let what = format!("The database {}", self.physical(name, 128));
        let group = self.security_group(&logical(&[name, "SecurityGroup"]), &what, ingress);
        let subnets = self.network().public_subnets;
        let subnet_group = logical(&[name, "DBSubnetGroup"]);
        self.add(
            &subnet_group,
            "AWS::RDS::DBSubnetGroup",
            json!({ "DBSubnetGroupDescription": what, "SubnetIds": subnets }),
        );
        let common = Common {
            group,
            subnet_group,
            is_public,
            logs: log_types(it),
        };
        match &plan.shape {
            Shape::Instance(engine) => self.instance(name, it, &plan, engine, &common),
            Shape::Cluster { classes, capacity } => {
                self.cluster(name, it, &plan, classes, *capacity, &common);
            }
        }
        self.alarms(name, &it.alarms, &it.disabled_global_alarms);
    }

    fn instance(
        &mut self,
        name: &str,
        it: &RelationalDatabase,
        plan: &Plan<'_>,
        engine: &RdsEngine,
        common: &Common,
    ) {
        let id = logical(&[name, "DBInstance"]);
        let identifier = self.physical_plain(name, 63);
        let logs = self.database_logs(name, "Instance", "instance", &identifier, it, common);
        let parameters = self.parameter_group(name, "DBParameterGroup", plan, it);
        let options = self.option_group(name, plan, it);
        let version = self.text(plan.version);
        let user = self.text(&it.credentials.master_user_name);
        let password = self.text(&it.credentials.master_user_password);
        let db_name = plan.db_name.map(|it| self.text(it));
        let license = match it.engine {
            DatabaseEngine::OracleEe(_) => Some("bring-your-own-license"),
            DatabaseEngine::OracleSe2(_)
            | DatabaseEngine::SqlserverEe(_)
            | DatabaseEngine::SqlserverEx(_)
            | DatabaseEngine::SqlserverSe(_)
            | DatabaseEngine::SqlserverWeb(_) => Some("license-included"),
            _ => None,
        };
        let part = self.add(
            &id,
            "AWS::RDS::DBInstance",
            json!({
                "DBInstanceIdentifier": identifier,
                "DBInstanceClass": engine.primary_instance.instance_size,
                "MultiAZ": engine.primary_instance.multi_az,
                "Engine": plan.engine,
                "EngineVersion": version,
                "LicenseModel": license,
                "AllowMajorVersionUpgrade": true,
                "DBName": db_name,
                "MasterUsername": user,
                "MasterUserPassword": password,
                "Port": plan.port.to_string(),
                "AllocatedStorage": engine.storage.initial_size.to_string(),
                "MaxAllocatedStorage": (engine.storage.max_size > engine.storage.initial_size)
                    .then_some(engine.storage.max_size),
                "StorageType": "gp3",
                "StorageEncrypted": (it.engine.type_name() != "sqlserver-ex").then_some(true),
                "BackupRetentionPeriod": it.automated_backup_retention_days,
                "PreferredMaintenanceWindow": it.preferred_maintenance_window,
                "CopyTagsToSnapshot": true,
                "DeletionProtection": it.deletion_protection,
                "PubliclyAccessible": common.is_public,
                "VPCSecurityGroups": [common.group],
                "DBSubnetGroupName": reference(&common.subnet_group),
                "DBParameterGroupName": parameters.map(|id| reference(&id)),
                "OptionGroupName": options.map(|id| reference(&id)),
                "EnableCloudwatchLogsExports": common.logs,
            }),
        );
        part.on_removal(removal(it));
        logs.into_iter().for_each(|log| {
            part.after(log);
        });
        for (index, replica) in engine.read_replicas.iter().enumerate() {
            if it.automated_backup_retention_days == 0 {
                self.refuse(
                    "automatedBackupRetentionDays",
                    "a database with read replicas needs backups",
                    Some("keep them for at least 1 day"),
                );
            }
            let part = format!("Replica{index}");
            let identifier = self.physical_plain(&format!("{name}-replica-{index}"), 63);
            let logs = self.database_logs(name, &part, "instance", &identifier, it, common);
            let replica_id = logical(&[name, &part, "DBInstance"]);
            let part = self.add(
                replica_id,
                "AWS::RDS::DBInstance",
                json!({
                    "DBInstanceIdentifier": identifier,
                    "SourceDBInstanceIdentifier": reference(&id),
                    "DBInstanceClass": replica.instance_size,
                    "MultiAZ": replica.multi_az,
                    "StorageType": "gp3",
                    "PreferredMaintenanceWindow": it.preferred_maintenance_window,
                    "PubliclyAccessible": common.is_public,
                    "VPCSecurityGroups": [common.group],
                    "EnableCloudwatchLogsExports": common.logs,
                }),
            );
            // A copy holds nothing of its own.
            part.on_removal("Delete");
            logs.into_iter().for_each(|log| {
                part.after(log);
            });
        }
    }

    fn cluster(
        &mut self,
        name: &str,
        it: &RelationalDatabase,
        plan: &Plan<'_>,
        classes: &[&str],
        capacity: Option<(f64, f64)>,
        common: &Common,
    ) {
        let id = logical(&[name, "DBCluster"]);
        let identifier = self.physical_plain(name, 63);
        let logs = self.database_logs(name, "Cluster", "cluster", &identifier, it, common);
        let parameters = self.parameter_group(name, "DBClusterParameterGroup", plan, it);
        let version = self.text(plan.version);
        let user = self.text(&it.credentials.master_user_name);
        let password = self.text(&it.credentials.master_user_password);
        let db_name = plan.db_name.map(|it| self.text(it));
        let part = self.add(
            &id,
            "AWS::RDS::DBCluster",
            json!({
                "DBClusterIdentifier": identifier,
                "Engine": plan.engine,
                "EngineVersion": version,
                "DatabaseName": db_name,
                "MasterUsername": user,
                "MasterUserPassword": password,
                "Port": plan.port,
                "StorageEncrypted": true,
                "BackupRetentionPeriod": it.automated_backup_retention_days.max(1),
                "PreferredMaintenanceWindow": it.preferred_maintenance_window,
                "CopyTagsToSnapshot": true,
                "DeletionProtection": it.deletion_protection,
                "VpcSecurityGroupIds": [common.group],
                "DBSubnetGroupName": reference(&common.subnet_group),
                "DBClusterParameterGroupName": parameters.map(|id| reference(&id)),
                "EnableCloudwatchLogsExports": common.logs,
                "ServerlessV2ScalingConfiguration": capacity.map(|(least, most)| {
                    json!({ "MinCapacity": least, "MaxCapacity": most })
                }),
            }),
        );
        part.on_removal(removal(it));
        logs.into_iter().for_each(|log| {
            part.after(log);
        });
        for (index, class) in classes.iter().enumerate() {
            self.add(
                logical(&[name, &format!("DBInstance{index}")]),
                "AWS::RDS::DBInstance",
                json!({
                    "DBInstanceIdentifier": self.physical_plain(&format!("{name}-{index}"), 63),
                    "DBClusterIdentifier": reference(&id),
                    "DBInstanceClass": class,
                    "Engine": plan.engine,
                    "PubliclyAccessible": common.is_public,
                    "DBSubnetGroupName": reference(&common.subnet_group),
                }),
            )
            // The data is the cluster's.
            .on_removal("Delete");
        }
    }

    fn database_logs(
        &mut self,
        name: &str,
        part: &str,
        family: &str,
        identifier: &str,
        it: &RelationalDatabase,
        common: &Common,
    ) -> Vec<String> {
        let mut ids = Vec::new();
        for kind in common.logs.iter().flatten() {
            let id = logical(&[name, part, kind, "LogGroup"]);
            // RDS decides on the name.
            let group = format!("/aws/rds/{family}/{identifier}/{kind}");
            let forwarding = it.logging.log_forwarding.as_ref();
            self.log_group(&id, group, it.logging.retention_days, forwarding);
            ids.push(id);
        }
        ids
    }

    /// Settings of the engine, where the config asks for some.
    fn parameter_group(
        &mut self,
        name: &str,
        last: &str,
        plan: &Plan<'_>,
        it: &RelationalDatabase,
    ) -> Option<String> {
        if it.logging.disabled {
            return None;
        }
        let family = it.engine.family();
        let options = it
            .logging
            .engine_specific_options
            .clone()
            .unwrap_or_default();
        self.check_log_options(&options, family);
        let parameters = parameters(&options, family, it.engine.is_aurora());
        if parameters.is_empty() {
            return None;
        }
        let version = self.known(plan.version, "engine.properties.version")?;
        let group_family = parameter_family(plan.engine, version);
        let parameters: serde_json::Map<String, Value> = parameters.into_iter().collect();
        let id = logical(&[name, last]);
        self.add(
            &id,
            &format!("AWS::RDS::{last}"),
            json!({
                "Description": format!("Settings of {}", self.physical(name, 128)),
                "Family": group_family,
                "Parameters": parameters,
            }),
        );
        Some(id)
    }

    fn check_log_options(&mut self, options: &EngineLogOptions, family: DatabaseFamily) {
        let postgres = [
            ("log_connections", options.log_connections.is_some()),
            ("log_disconnections", options.log_disconnections.is_some()),
            ("log_lock_waits", options.log_lock_waits.is_some()),
            (
                "log_min_duration_statement",
                options.log_min_duration_statement.is_some(),
            ),
            ("log_statement", options.log_statement.is_some()),
        ];
        let mysql = [
            ("server_audit_events", options.server_audit_events.is_some()),
            ("long_query_time", options.long_query_time.is_some()),
        ];
        let foreign: Vec<(&str, bool)> = match family {
            DatabaseFamily::Postgres => mysql.into(),
            DatabaseFamily::Mysql => postgres.into(),
            DatabaseFamily::Oracle | DatabaseFamily::SqlServer => {
                postgres.into_iter().chain(mysql).collect()
            }
        };
        for (option, is_given) in foreign {
            if is_given {
                self.refuse(
                    &format!("logging.engineSpecificOptions.{option}"),
                    "the engine has no such option",
                    Some("leave it out"),
                );
            }
        }
    }

    /// The audit plugin of MySQL and MariaDB.
    fn option_group(
        &mut self,
        name: &str,
        plan: &Plan<'_>,
        it: &RelationalDatabase,
    ) -> Option<String> {
        let options = it.logging.engine_specific_options.as_ref()?;
        let events = options.server_audit_events.as_ref()?;
        if it.logging.disabled || it.engine.family() != DatabaseFamily::Mysql {
            return None;
        }
        let version = self.known(plan.version, "engine.properties.version")?;
        let major = major_version(plan.engine, version);
        let id = logical(&[name, "OptionGroup"]);
        self.add(
            &id,
            "AWS::RDS::OptionGroup",
            json!({
                "EngineName": plan.engine,
                "MajorEngineVersion": major,
                "OptionGroupDescription": format!("Options of {}", self.physical(name, 128)),
                "OptionConfigurations": [{
                    "OptionName": "MARIADB_AUDIT_PLUGIN",
                    "OptionSettings": [{
                        "Name": "SERVER_AUDIT_EVENTS",
                        "Value": events.join(","),
                    }],
                }],
            }),
        );
        Some(id)
    }
}

/// What all instances of a database share.
struct Common {
    group: Value,
    subnet_group: String,
    is_public: bool,
    logs: Option<Vec<String>>,
}

fn removal(it: &RelationalDatabase) -> &'static str {
    match it.deletion_protection {
        true => "Retain",
        false => "Snapshot",
    }
}

/// None for engines that AWS makes no more.
pub(super) fn plan(engine: &DatabaseEngine) -> Option<Plan<'_>> {
    let usual = engine.family().default_port();
    let (name, it) = match engine {
        DatabaseEngine::Postgres(it) => ("postgres", it),
        DatabaseEngine::Mysql(it) => ("mysql", it),
        DatabaseEngine::Mariadb(it) => ("mariadb", it),
        DatabaseEngine::OracleEe(it) => ("oracle-ee", it),
        DatabaseEngine::OracleSe2(it) => ("oracle-se2", it),
        DatabaseEngine::SqlserverEe(it) => ("sqlserver-ee", it),
        DatabaseEngine::SqlserverEx(it) => ("sqlserver-ex", it),
        DatabaseEngine::SqlserverSe(it) => ("sqlserver-se", it),
        DatabaseEngine::SqlserverWeb(it) => ("sqlserver-web", it),
        DatabaseEngine::AuroraPostgresql(it) => {
            return Some(aurora("aurora-postgresql", it, usual));
        }
        DatabaseEngine::AuroraMysql(it) => return Some(aurora("aurora-mysql", it, usual)),
        DatabaseEngine::AuroraPostgresqlServerlessV2(it) => {
            return Some(serverless("aurora-postgresql", it, usual));
        }
        DatabaseEngine::AuroraMysqlServerlessV2(it) => {
            return Some(serverless("aurora-mysql", it, usual));
        }
        DatabaseEngine::AuroraPostgresqlServerless(_)
        | DatabaseEngine::AuroraMysqlServerless(_) => return None,
    };
    Some(Plan {
        engine: name,
        version: &it.version,
        db_name: it.db_name.as_ref(),
        port: it.port.unwrap_or(usual),
        shape: Shape::Instance(it),
    })
}

fn aurora<'a>(engine: &'static str, it: &'a AuroraEngine, usual: u16) -> Plan<'a> {
    Plan {
        engine,
        version: &it.version,
        db_name: Some(&it.db_name),
        port: it.port.unwrap_or(usual),
        shape: Shape::Cluster {
            classes: it
                .instances
                .iter()
                .map(|it| it.instance_size.as_str())
                .collect(),
            capacity: None,
        },
    }
}

fn serverless<'a>(engine: &'static str, it: &'a AuroraServerlessV2Engine, usual: u16) -> Plan<'a> {
    let count = usize::try_from(it.serverless_readers_count).unwrap_or_default() + 1;
    Plan {
        engine,
        version: &it.version,
        db_name: Some(&it.db_name),
        port: it.port.unwrap_or(usual),
        shape: Shape::Cluster {
            classes: vec!["db.serverless"; count],
            capacity: Some((it.min_capacity, it.max_capacity)),
        },
    }
}

/// The logs that are kept, by the names RDS gives them.
fn log_types(it: &RelationalDatabase) -> Option<Vec<String>> {
    if it.logging.disabled {
        return None;
    }
    if let Some(types) = &it.logging.log_types {
        return (!types.is_empty()).then(|| types.clone());
    }
    let options = it.logging.engine_specific_options.as_ref();
    let is_audited = options.is_some_and(|it| it.server_audit_events.is_some());
    let mut types = match it.engine.family() {
        DatabaseFamily::Postgres => vec!["postgresql"],
        DatabaseFamily::Mysql => vec!["error", "slowquery"],
        DatabaseFamily::Oracle => vec!["alert", "listener", "trace"],
        DatabaseFamily::SqlServer => vec!["error"],
    };
    if is_audited {
        types.insert(0, "audit");
    }
    Some(types.into_iter().map(str::to_owned).collect())
}

fn parameters(
    options: &EngineLogOptions,
    family: DatabaseFamily,
    is_aurora: bool,
) -> Vec<(String, Value)> {
    let mut all: Vec<(&str, String)> = Vec::new();
    let flag = |flag: bool| if flag { "1" } else { "0" }.to_owned();
    match family {
        DatabaseFamily::Postgres => {
            if let Some(it) = options.log_connections {
                all.push(("log_connections", flag(it)));
            }
            if let Some(it) = options.log_disconnections {
                all.push(("log_disconnections", flag(it)));
            }
            if let Some(it) = options.log_lock_waits {
                all.push(("log_lock_waits", flag(it)));
            }
            if let Some(it) = options.log_min_duration_statement {
                all.push(("log_min_duration_statement", it.to_string()));
            }
            if let Some(it) = options.log_statement {
                let which = match it {
                    LogStatement::None => "none",
                    LogStatement::Ddl => "ddl",
                    LogStatement::Mod => "mod",
                    LogStatement::All => "all",
                };
                all.push(("log_statement", which.to_owned()));
            }
        }
        DatabaseFamily::Mysql => {
            // Slow queries are only written when asked for.
            all.push(("slow_query_log", "1".to_owned()));
            if !is_aurora {
                all.push(("log_output", "FILE".to_owned()));
            }
            if let Some(it) = options.long_query_time {
                all.push(("long_query_time", it.to_string()));
            }
            if let (Some(events), true) = (&options.server_audit_events, is_aurora) {
                all.push(("server_audit_logging", "1".to_owned()));
                all.push(("server_audit_events", events.join(",")));
            }
        }
        DatabaseFamily::Oracle | DatabaseFamily::SqlServer => {}
    }
    all.into_iter()
        .map(|(key, value)| (key.to_owned(), json!(value)))
        .collect()
}

/// `postgres` and `16.6` → `16`; `mysql` and `8.0.40` → `8.0`.
fn major_version(engine: &str, version: &str) -> String {
    let mut numbers = version.split('.');
    let first = numbers.next().unwrap_or(version);
    let second = numbers.next();
    match (engine, second) {
        ("postgres" | "aurora-postgresql", _) | (_, None) => first.to_owned(),
        (_, Some(second)) => format!("{first}.{second}"),
    }
}

fn parameter_family(engine: &str, version: &str) -> String {
    // Aurora MySQL versions name the engine they are compatible with: 8.0.mysql_aurora.3.08.0.
    let version = version.split(".mysql_aurora").next().unwrap_or(version);
    format!("{engine}{}", major_version(engine, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families() {
        for (engine, version, expected) in [
            ("postgres", "16.6", "postgres16"),
            ("mysql", "8.0.40", "mysql8.0"),
            ("mariadb", "10.11.10", "mariadb10.11"),
            ("aurora-postgresql", "16.4", "aurora-postgresql16"),
            ("aurora-mysql", "8.0.mysql_aurora.3.08.0", "aurora-mysql8.0"),
        ] {
            assert_eq!(parameter_family(engine, version), expected);
        }
    }
}
