//! OpenSearch domains. The data goes with the domain.

use serde_json::{Value, json};
use windlass_stack_config::model::common::Logging;
use windlass_stack_config::model::database::{OpenSearchAccessibilityMode, OpenSearchDomain};

use crate::cf::{attribute, reference, sub};
use crate::connect::allow;
use crate::name::logical;
use crate::shared::{from_group, from_range, policy};
use crate::stack::Stack;

impl Stack<'_> {
    pub fn open_search_domain(&mut self, name: &str, it: &OpenSearchDomain) {
        let mode = it.accessibility.accessibility_mode;
        let is_inside = mode != OpenSearchAccessibilityMode::Internet;
        let cluster = it.cluster_config.as_ref();
        let count = cluster.map_or(1, |it| it.instance_count);
        let zones = match cluster {
            Some(it) if it.standby_enabled => 3,
            Some(it) if !it.multi_az_disabled && count > 1 => 2,
            _ => 1,
        };
        let network = is_inside.then(|| {
            let ingress: Vec<Value> = match mode {
                OpenSearchAccessibilityMode::ScopingWorkloadsInVpc => self
                    .connected_groups(name)
                    .iter()
                    .map(|group| from_group(json!(443), group))
                    .collect(),
                _ => vec![from_range(json!(443), self.network().cidr)],
            };
            let what = format!("The search domain {}", self.physical(name, 128));
            let group = self.security_group(&logical(&[name, "SecurityGroup"]), &what, ingress);
            let mut subnets = self.network().public_subnets;
            if subnets.len() < zones {
                self.refuse(
                    "clusterConfig",
                    format!("the domain needs {zones} zones, and the network has fewer"),
                    Some("set stackConfig.vpc.nat.availabilityZones: 3, or standbyEnabled: false"),
                );
            }
            subnets.truncate(zones);
            json!({ "SecurityGroupIds": [group], "SubnetIds": subnets })
        });
        let storage = it.storage.as_ref().map_or_else(
            || json!({ "EBSEnabled": true, "VolumeType": "gp3", "VolumeSize": 10 }),
            |it| {
                json!({
                    "EBSEnabled": true,
                    "VolumeType": "gp3",
                    "VolumeSize": it.size,
                    "Iops": it.iops,
                    "Throughput": it.throughput,
                })
            },
        );
        let logs = self.search_logs(name, it);
        let cognito = it
            .user_pool
            .as_ref()
            .map(|pool| self.dashboard_access(name, pool));
        let domain = self.physical_plain(name, 28);
        // Inside the network the security group decides; outside, requests must be signed.
        let principal = match is_inside {
            true => json!({ "AWS": "*" }),
            false => json!({ "AWS": sub("arn:${AWS::Partition}:iam::${AWS::AccountId}:root") }),
        };
        let part = self.add(
            logical(&[name, "Domain"]),
            "AWS::OpenSearchService::Domain",
            json!({
                "DomainName": domain,
                "EngineVersion": format!("OpenSearch_{}", it.version),
                "ClusterConfig": {
                    "InstanceType": cluster.map_or("t3.small.search", |it| &it.instance_type),
                    "InstanceCount": count,
                    "DedicatedMasterEnabled": cluster.and_then(|it| it.dedicated_master_type.as_ref()).map(|_| true),
                    "DedicatedMasterType": cluster.and_then(|it| it.dedicated_master_type.clone()),
                    "DedicatedMasterCount": cluster.and_then(|it| it.dedicated_master_count),
                    "WarmEnabled": cluster.and_then(|it| it.warm_type.as_ref()).map(|_| true),
                    "WarmType": cluster.and_then(|it| it.warm_type.clone()),
                    "WarmCount": cluster.and_then(|it| it.warm_count),
                    "ZoneAwarenessEnabled": (zones > 1).then_some(true),
                    "ZoneAwarenessConfig": (zones > 1).then(|| json!({ "AvailabilityZoneCount": zones })),
                    "MultiAZWithStandbyEnabled": cluster.map(|it| it.standby_enabled),
                },
                "EBSOptions": storage,
                "EncryptionAtRestOptions": { "Enabled": true },
                "NodeToNodeEncryptionOptions": { "Enabled": true },
                "DomainEndpointOptions": {
                    "EnforceHTTPS": true,
                    "TLSSecurityPolicy": "Policy-Min-TLS-1-2-2019-07",
                },
                "AccessPolicies": policy(vec![json!({
                    "Effect": "Allow",
                    "Principal": principal,
                    "Action": "es:ESHttp*",
                    "Resource": crate::cf::arn(&format!("es:domain/{domain}/*")),
                })]),
                "CognitoOptions": cognito,
                "VPCOptions": network,
                "LogPublishingOptions": logs,
            }),
        );
        part.on_removal("Delete");
        let policy_id = logical(&[name, "ResourcePolicy"]);
        if self.parts.contains_key(&policy_id)
            && let Some(part) = self.parts.get_mut(&logical(&[name, "Domain"]))
        {
            part.after(policy_id);
        }
    }

    fn search_logs(&mut self, name: &str, it: &OpenSearchDomain) -> Option<Value> {
        let kinds: [(&str, &str, &Logging<14>); 3] = [
            ("errorLogs", "ES_APPLICATION_LOGS", &it.logging.error_logs),
            (
                "searchSlowLogs",
                "SEARCH_SLOW_LOGS",
                &it.logging.search_slow_logs,
            ),
            (
                "indexSlowLogs",
                "INDEX_SLOW_LOGS",
                &it.logging.index_slow_logs,
            ),
        ];
        let mut options = serde_json::Map::new();
        for (part, key, logging) in kinds {
            let group = self.log_group_name("open-search", name, part);
            let id = logical(&[name, "Instance", part, "LogGroup"]);
            if let Some(id) = self.logs(&id, group, logging) {
                options.insert(
                    key.to_owned(),
                    json!({ "Enabled": true, "CloudWatchLogsLogGroupArn": attribute(&id, "Arn") }),
                );
            }
        }
        if options.is_empty() {
            return None;
        }
        let groups = crate::cf::arn(&format!(
            "logs:log-group:{}",
            self.log_group_name("open-search", name, "*")
        ));
        let arn = groups
            .get("Fn::Sub")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let document = format!(
            "{{\"Version\":\"2012-10-17\",\"Statement\":[{{\"Effect\":\"Allow\",\
             \"Principal\":{{\"Service\":\"es.amazonaws.com\"}},\
             \"Action\":[\"logs:CreateLogStream\",\"logs:PutLogEvents\"],\
             \"Resource\":\"{arn}\"}}]}}"
        );
        self.add(
            logical(&[name, "ResourcePolicy"]),
            "AWS::Logs::ResourcePolicy",
            json!({ "PolicyName": self.physical(&format!("{name}-logs"), 128), "PolicyDocument": sub(document) }),
        );
        Some(Value::Object(options))
    }

    /// Users of a pool sign in to the dashboards.
    fn dashboard_access(&mut self, name: &str, pool: &str) -> Value {
        let user_pool = logical(&[pool, "UserPool"]);
        let identities = logical(&[name, "IdentityPool"]);
        self.add(
            &identities,
            "AWS::Cognito::IdentityPool",
            json!({ "AllowUnauthenticatedIdentities": false }),
        );
        let role = self.role(
            &logical(&[name, "Dashboards", "Role"]),
            "opensearchservice.amazonaws.com",
            &["AmazonOpenSearchServiceCognitoAccess"],
            Vec::new(),
        );
        let domain = crate::cf::arn(&format!("es:domain/{}/*", self.physical_plain(name, 28)));
        let users = logical(&[name, "DashboardUsers", "Role"]);
        self.add(
            &users,
            "AWS::IAM::Role",
            json!({
                "AssumeRolePolicyDocument": policy(vec![json!({
                    "Effect": "Allow",
                    "Principal": { "Federated": "cognito-identity.amazonaws.com" },
                    "Action": "sts:AssumeRoleWithWebIdentity",
                    "Condition": {
                        "StringEquals": {
                            "cognito-identity.amazonaws.com:aud": reference(&identities),
                        },
                        "ForAnyValue:StringLike": {
                            "cognito-identity.amazonaws.com:amr": "authenticated",
                        },
                    },
                })]),
                "Policies": [{
                    "PolicyName": "windlass",
                    "PolicyDocument": policy(vec![allow(&["es:ESHttp*"], vec![domain])]),
                }],
            }),
        );
        self.add(
            logical(&[name, "IdentityPoolRoleAttachment"]),
            "AWS::Cognito::IdentityPoolRoleAttachment",
            json!({
                "IdentityPoolId": reference(&identities),
                "Roles": { "authenticated": attribute(&users, "Arn") },
            }),
        );
        let has_domain = match self.find(pool) {
            Some(windlass_stack_config::model::ResourceKind::UserAuthPool(it)) => {
                it.enable_hosted_ui || it.custom_domain.is_some()
            }
            _ => false,
        };
        if !has_domain {
            self.refuse(
                "userPool",
                format!("\"{pool}\" has no pages for signing in"),
                Some("set its enableHostedUi: true"),
            );
        }
        json!({
            "Enabled": true,
            "UserPoolId": reference(&user_pool),
            "IdentityPoolId": reference(&identities),
            "RoleArn": role,
        })
    }
}
