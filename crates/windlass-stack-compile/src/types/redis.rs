//! Redis clusters. Connections are encrypted, so that the password is too.
//!
//! With backups a last one is taken when the stack lets go of the cluster; without, the data
//! goes with it.

use serde_json::{Value, json};
use windlass_stack_config::model::database::{RedisCluster, RedisLogFormat};

use crate::cf::{attribute, join, reference};
use crate::connect::is_scoped;
use crate::name::logical;
use crate::shared::{from_group, from_range};
use crate::stack::Stack;

impl Stack<'_> {
    pub fn redis_cluster(&mut self, name: &str, it: &RedisCluster) {
        if it.num_shards > 1 && !it.enable_sharding {
            self.refuse(
                "numShards",
                "several shards need sharding",
                Some("set enableSharding: true"),
            );
        }
        if it.enable_automatic_failover && it.num_replica_nodes == 0 {
            self.refuse(
                "enableAutomaticFailover",
                "there is no copy that could take over",
                Some("set numReplicaNodes to 1 or more"),
            );
        }
        let port = json!(it.port);
        let ingress: Vec<Value> = match is_scoped(it.accessibility.accessibility_mode) {
            true => self
                .connected_groups(name)
                .iter()
                .map(|group| from_group(port.clone(), group))
                .collect(),
            false => vec![from_range(port, self.network().cidr)],
        };
        let what = format!("The Redis cluster {}", self.physical(name, 128));
        let group = self.security_group(&logical(&[name, "SecurityGroup"]), &what, ingress);
        let subnets = self.network().public_subnets;
        let subnet_group = logical(&[name, "SubnetGroup"]);
        self.add(
            &subnet_group,
            "AWS::ElastiCache::SubnetGroup",
            json!({ "Description": what, "SubnetIds": subnets }),
        );
        let parameters = logical(&[name, "ParameterGroup"]);
        let sharding = if it.enable_sharding { "yes" } else { "no" };
        self.add(
            &parameters,
            "AWS::ElastiCache::ParameterGroup",
            json!({
                "CacheParameterGroupFamily": family(&it.engine_version),
                "Description": what,
                "Properties": { "cluster-enabled": sharding },
            }),
        );
        let logs = (!it.logging.disabled).then(|| {
            let id = logical(&[name, "LogGroup"]);
            self.log_group(
                &id,
                self.log_group_name("redis", name, "slow-log"),
                it.logging.retention_days,
                it.logging.log_forwarding.as_ref(),
            );
            let format = match it.logging.format {
                RedisLogFormat::Json => "json",
                RedisLogFormat::Text => "text",
            };
            json!([{
                "DestinationType": "cloudwatch-logs",
                "DestinationDetails": { "CloudWatchLogsDetails": { "LogGroup": reference(&id) } },
                "LogFormat": format,
                "LogType": "slow-log",
            }])
        });
        let password = self.text(&it.default_user_password);
        // A sharded cluster always fails over by itself.
        let fails_over = it.enable_automatic_failover || it.enable_sharding;
        let has_copies = it.num_replica_nodes > 0;
        let nodes = (!it.enable_sharding).then_some(it.num_replica_nodes + 1);
        let removal = match it.automated_backup_retention_days {
            0 => "Delete",
            _ => "Snapshot",
        };
        self.add(
            logical(&[name, "ReplicationGroup"]),
            "AWS::ElastiCache::ReplicationGroup",
            json!({
                "ReplicationGroupId": self.physical_plain(name, 40),
                "ReplicationGroupDescription": what,
                "Engine": "redis",
                "EngineVersion": it.engine_version,
                "CacheNodeType": it.instance_size,
                "Port": it.port,
                "AuthToken": password,
                "TransitEncryptionEnabled": true,
                "AtRestEncryptionEnabled": true,
                "AutomaticFailoverEnabled": fails_over,
                "MultiAZEnabled": (fails_over && has_copies).then_some(true),
                "NumCacheClusters": nodes,
                "NumNodeGroups": it.enable_sharding.then_some(it.num_shards),
                "ReplicasPerNodeGroup": it.enable_sharding.then_some(it.num_replica_nodes),
                "SnapshotRetentionLimit": it.automated_backup_retention_days,
                "CacheParameterGroupName": reference(&parameters),
                "CacheSubnetGroupName": reference(&subnet_group),
                "SecurityGroupIds": [group],
                "LogDeliveryConfigurations": logs,
            }),
        )
        .on_removal(removal);
    }

    pub fn redis_param(&mut self, name: &str, it: &RedisCluster, param: &str) -> Option<Value> {
        let id = logical(&[name, "ReplicationGroup"]);
        let main = if it.enable_sharding {
            "ConfigurationEndPoint"
        } else {
            "PrimaryEndPoint"
        };
        let host = attribute(&id, &format!("{main}.Address"));
        let port = attribute(&id, &format!("{main}.Port"));
        let reader = attribute(&id, "ReaderEndPoint.Address");
        Some(match param {
            "host" => host,
            "port" => port,
            "readerHost" => reader,
            "sharding" => json!(if it.enable_sharding {
                "enabled"
            } else {
                "disabled"
            }),
            "connectionString" => self.redis_string(it, host, port),
            "readerConnectionString" => self.redis_string(it, reader, port),
            _ => return None,
        })
    }

    fn redis_string(&mut self, it: &RedisCluster, host: Value, port: Value) -> Value {
        let password = self.text(&it.default_user_password);
        join([
            json!("rediss://default:"),
            password,
            json!("@"),
            host,
            json!(":"),
            port,
        ])
    }
}

/// From 6.0 on one family serves all minor versions.
fn family(version: &str) -> String {
    let mut numbers = version.split('.');
    let major = numbers.next().unwrap_or(version);
    match major.parse::<u32>() {
        Ok(6) => "redis6.x".to_owned(),
        Ok(7..) => format!("redis{major}"),
        _ => format!("redis{major}.{}", numbers.next().unwrap_or("0")),
    }
}
