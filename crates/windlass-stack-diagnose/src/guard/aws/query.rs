//! Query services: how lists are written in requests, what lists and scalars are in answers.
//!
//! Facts of AWS's public API. A line here is a permission: nothing that writes or shows a secret.

use windlass_ports::aws::ActionShape;
use windlass_ports::aws::services::{
    CLOUDFORMATION, CLOUDWATCH, ELASTICACHE, ELBV2, IAM, RDS, SNS, STS,
};

use super::{Allowed, masked, masks, plain};

pub(super) static ACTIONS: &[Allowed] = &[
    plain(ActionShape::new(&STS, "GetCallerIdentity")),
    plain(
        ActionShape::new(&IAM, "GetRole")
            .with_scalars(&["MaxSessionDuration", "TemplateMinorVersion"], &[]),
    ),
    plain(ActionShape::new(&IAM, "ListRolePolicies").with_scalars(&[], &["IsTruncated"])),
    plain(ActionShape::new(&IAM, "GetRolePolicy")),
    plain(ActionShape::new(&IAM, "ListAttachedRolePolicies").with_scalars(&[], &["IsTruncated"])),
    plain(
        ActionShape::new(&IAM, "SimulatePrincipalPolicy").with_scalars(
            &["Column", "Line"],
            &[
                "AllowedByOrganizations",
                "AllowedByPermissionsBoundary",
                "IsTruncated",
            ],
        ),
    ),
    plain(
        ActionShape::new(&CLOUDFORMATION, "DescribeStacks").with_scalars(
            &["MonitoringTimeInMinutes", "TimeoutInMinutes"],
            &[
                "DisableRollback",
                "EnableTerminationProtection",
                "RetainExceptOnCreate",
                "UsePreviousValue",
            ],
        ),
    ),
    plain(ActionShape::new(&CLOUDFORMATION, "DescribeStackEvents")),
    plain(ActionShape::new(&CLOUDFORMATION, "DescribeStackResource")),
    plain(ActionShape::new(&CLOUDFORMATION, "DescribeStackResources")),
    plain(ActionShape::new(&CLOUDFORMATION, "ListStackResources")),
    plain(ActionShape::new(&CLOUDFORMATION, "ListStacks")),
    plain(ActionShape::new(&CLOUDFORMATION, "GetTemplate")),
    plain(ActionShape::new(&CLOUDFORMATION, "GetTemplateSummary").with_scalars(&[], &["NoEcho"])),
    plain(ActionShape::new(&CLOUDFORMATION, "GetStackPolicy")),
    plain(ActionShape::new(&CLOUDFORMATION, "ListExports")),
    plain(ActionShape::new(&CLOUDFORMATION, "ListImports")),
    plain(
        ActionShape::new(&CLOUDFORMATION, "DescribeChangeSet").with_scalars(
            &["HookInvocationCount", "MonitoringTimeInMinutes"],
            &[
                "DisableRollback",
                "ImportExistingResources",
                "IncludeNestedStacks",
                "UsePreviousValue",
            ],
        ),
    ),
    plain(
        ActionShape::new(&CLOUDFORMATION, "ListChangeSets")
            .with_scalars(&[], &["ImportExistingResources", "IncludeNestedStacks"]),
    ),
    plain(ActionShape::new(
        &CLOUDFORMATION,
        "DescribeStackResourceDrifts",
    )),
    plain(ActionShape::new(&CLOUDWATCH, "ListMetrics")),
    plain(ActionShape::new(&CLOUDWATCH, "GetMetricData")),
    plain(
        ActionShape::new(&CLOUDWATCH, "GetMetricStatistics").with_scalars(
            &["Average", "Maximum", "Minimum", "SampleCount", "Sum"],
            &[],
        ),
    ),
    plain(
        ActionShape::new(&CLOUDWATCH, "DescribeAlarms").with_scalars(
            &[
                "ActionLogLineCount",
                "ActionsSuppressorExtensionPeriod",
                "ActionsSuppressorWaitPeriod",
                "DatapointsToAlarm",
                "EndTimeOffset",
                "EvaluationInterval",
                "EvaluationPeriods",
                "PendingPeriod",
                "Period",
                "QueryResultsToAlarm",
                "QueryResultsToEvaluate",
                "RecoveryPeriod",
                "StartTimeOffset",
                "Threshold",
                "WarmUpPeriodDurationInMinutes",
            ],
            &[
                "ActionsEnabled",
                "Enabled",
                "OnlyStartEvaluatingAfterWarmUpPeriodEnds",
                "ReturnData",
            ],
        ),
    ),
    plain(ActionShape::new(&CLOUDWATCH, "DescribeAlarmHistory")),
    plain(ActionShape::new(&SNS, "ListTopics")),
    plain(ActionShape::new(&SNS, "GetTopicAttributes")),
    plain(ActionShape::new(&SNS, "ListSubscriptionsByTopic")),
    plain(
        ActionShape::new(&RDS, "DescribeDBInstances")
            .with_list_names(&[("Filters", "Filter"), ("Values", "Value")])
            .with_lists(
                &[
                    "AssociatedRoles",
                    "DBInstanceAutomatedBackupsReplications",
                    "DBInstances",
                    "DBParameterGroups",
                    "DBSecurityGroups",
                    "DomainMemberships",
                    "OptionGroupMemberships",
                    "ProcessorFeatures",
                    "ReadReplicaDBClusterIdentifiers",
                    "ReadReplicaDBInstanceIdentifiers",
                    "StatusInfos",
                    "Subnets",
                    "TagList",
                    "VpcSecurityGroups",
                ],
                &[],
            )
            .with_scalars(
                &[
                    "AllocatedStorage",
                    "BackupRetentionPeriod",
                    "DbInstancePort",
                    "IOPS",
                    "Iops",
                    "MaxAllocatedStorage",
                    "MonitoringInterval",
                    "PerformanceInsightsRetentionPeriod",
                    "Port",
                    "PromotionTier",
                    "StorageOperationPercentProgress",
                    "StorageThroughput",
                ],
                &[
                    "ActivityStreamEngineNativeAuditFieldsIncluded",
                    "AutoMinorVersionUpgrade",
                    "CopyTagsToSnapshot",
                    "CustomerOwnedIpEnabled",
                    "DedicatedLogVolume",
                    "DeletionProtection",
                    "IAMDatabaseAuthenticationEnabled",
                    "IsStorageConfigUpgradeAvailable",
                    "MultiAZ",
                    "MultiTenant",
                    "Normal",
                    "PerformanceInsightsEnabled",
                    "PubliclyAccessible",
                    "StorageEncrypted",
                ],
            ),
    ),
    plain(
        ActionShape::new(&RDS, "DescribeDBClusters")
            .with_list_names(&[("Filters", "Filter"), ("Values", "Value")])
            .with_lists(
                &[
                    "AssociatedRoles",
                    "AvailabilityZones",
                    "DBClusterMembers",
                    "DBClusterOptionGroupMemberships",
                    "DBClusters",
                    "DomainMemberships",
                    "ReadReplicaIdentifiers",
                    "StatusInfos",
                    "TagList",
                    "VpcSecurityGroups",
                ],
                &[],
            )
            .with_scalars(
                &[
                    "AllocatedStorage",
                    "BacktrackConsumedChangeRecords",
                    "BacktrackWindow",
                    "BackupRetentionPeriod",
                    "Capacity",
                    "Iops",
                    "MaxCapacity",
                    "MinCapacity",
                    "MinRequiredACU",
                    "MonitoringInterval",
                    "PerformanceInsightsRetentionPeriod",
                    "Port",
                    "PromotionTier",
                    "SecondsBeforeTimeout",
                    "SecondsUntilAutoPause",
                    "StorageThroughput",
                ],
                &[
                    "AutoMinorVersionUpgrade",
                    "AutoPause",
                    "CopyTagsToSnapshot",
                    "CrossAccountClone",
                    "DeletionProtection",
                    "GlobalWriteForwardingRequested",
                    "HttpEndpointEnabled",
                    "IAMDatabaseAuthenticationEnabled",
                    "InternetAccessGatewayEnabled",
                    "IsClusterWriter",
                    "MultiAZ",
                    "Normal",
                    "PerformanceInsightsEnabled",
                    "PubliclyAccessible",
                    "StorageEncrypted",
                    "VPCNetworkingEnabled",
                ],
            ),
    ),
    plain(
        ActionShape::new(&RDS, "DescribeEvents")
            .with_list_names(&[
                ("EventCategories", "EventCategory"),
                ("Filters", "Filter"),
                ("Values", "Value"),
            ])
            .with_lists(&["EventCategories", "Events"], &[]),
    ),
    plain(
        ActionShape::new(&RDS, "DescribeDBLogFiles")
            .with_list_names(&[("Filters", "Filter"), ("Values", "Value")])
            .with_lists(&["DescribeDBLogFiles"], &[])
            .with_scalars(&["LastWritten", "Size"], &[]),
    ),
    plain(
        ActionShape::new(&ELASTICACHE, "DescribeReplicationGroups")
            .with_lists(
                &[
                    "LogDeliveryConfigurations",
                    "MemberClusters",
                    "MemberClustersOutpostArns",
                    "NodeGroupMembers",
                    "NodeGroups",
                    "ReplicationGroups",
                ],
                &[],
            )
            .with_scalars(
                &["Port", "ProgressPercentage", "SnapshotRetentionLimit"],
                &[
                    "AtRestEncryptionEnabled",
                    "AuthTokenEnabled",
                    "AutoMinorVersionUpgrade",
                    "ClusterEnabled",
                    "TransitEncryptionEnabled",
                ],
            ),
    ),
    plain(
        ActionShape::new(&ELASTICACHE, "DescribeCacheClusters")
            .with_lists(
                &[
                    "CacheClusters",
                    "CacheNodeIdsToReboot",
                    "CacheNodeIdsToRemove",
                    "CacheNodes",
                    "CacheSecurityGroups",
                    "LogDeliveryConfigurations",
                ],
                &[],
            )
            .with_scalars(
                &[
                    "NumCacheNodes",
                    "Port",
                    "ScaleIntervalMinutes",
                    "ScalePercentage",
                    "SnapshotRetentionLimit",
                ],
                &[
                    "AtRestEncryptionEnabled",
                    "AuthTokenEnabled",
                    "AutoMinorVersionUpgrade",
                    "ReplicationGroupLogDeliveryEnabled",
                    "TransitEncryptionEnabled",
                ],
            ),
    ),
    plain(ActionShape::new(&ELASTICACHE, "DescribeEvents").with_lists(&["Events"], &[])),
    plain(ActionShape::new(&ELBV2, "DescribeLoadBalancers")),
    plain(
        ActionShape::new(&ELBV2, "DescribeTargetGroups").with_scalars(
            &[
                "HealthCheckIntervalSeconds",
                "HealthCheckTimeoutSeconds",
                "HealthyThresholdCount",
                "Port",
                "TargetControlPort",
                "UnhealthyThresholdCount",
            ],
            &["HealthCheckEnabled"],
        ),
    ),
    plain(ActionShape::new(&ELBV2, "DescribeTargetHealth").with_scalars(&["Port"], &[])),
    masked(
        ActionShape::new(&ELBV2, "DescribeListeners").with_scalars(
            &["DurationSeconds", "Order", "SessionTimeout", "Weight"],
            &[
                "Enabled",
                "IgnoreClientCertificateExpiry",
                "IsDefault",
                "UseExistingClientSecret",
            ],
        ),
        masks::CLIENT_SECRET,
    ),
    masked(
        ActionShape::new(&ELBV2, "DescribeRules").with_scalars(
            &["DurationSeconds", "Order", "SessionTimeout", "Weight"],
            &["Enabled", "IsDefault", "UseExistingClientSecret"],
        ),
        masks::CLIENT_SECRET,
    ),
];
