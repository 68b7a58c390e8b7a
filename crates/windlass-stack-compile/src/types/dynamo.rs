//! DynamoDB tables: a global table with one replica, here.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_stack_config::model::database::{
    DynamoDbTable, KeyAttribute, KeyType, StreamType, ThroughputScaling,
};

use crate::name::logical;
use crate::stack::Stack;

impl Stack<'_> {
    pub fn dynamo_db_table(&mut self, name: &str, it: &DynamoDbTable) {
        let mut attributes: BTreeMap<&str, KeyType> = BTreeMap::new();
        let keys = [
            Some(&it.primary_key.partition_key),
            it.primary_key.sort_key.as_ref(),
        ];
        let of_indexes = it
            .secondary_indexes
            .iter()
            .flat_map(|index| [Some(&index.partition_key), index.sort_key.as_ref()]);
        for key in keys.into_iter().chain(of_indexes).flatten() {
            let before = attributes.insert(&key.name, key.kind);
            if before.is_some_and(|before| before != key.kind) {
                self.refuse(
                    "secondaryIndexes",
                    format!("the attribute \"{}\" has two types", key.name),
                    Some("give it the same type everywhere"),
                );
            }
        }
        let attributes: Vec<Value> = attributes
            .into_iter()
            .map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": key_type(kind) }))
            .collect();
        let throughput = it.provisioned_throughput.as_ref();
        let write = throughput.map(|it| write_settings(it.write_units, it.write_scaling.as_ref()));
        let read = throughput.map(|it| read_settings(it.read_units, it.read_scaling.as_ref()));
        let indexes: Vec<Value> = it
            .secondary_indexes
            .iter()
            .map(|index| {
                let projection = match &index.projections {
                    Some(names) => json!({
                        "ProjectionType": "INCLUDE",
                        "NonKeyAttributes": names,
                    }),
                    None => json!({ "ProjectionType": "ALL" }),
                };
                json!({
                    "IndexName": index.name,
                    "KeySchema": key_schema(&index.partition_key, index.sort_key.as_ref()),
                    "Projection": projection,
                    "WriteProvisionedThroughputSettings": write,
                })
            })
            .collect();
        let read_of_indexes: Option<Vec<Value>> = read.as_ref().map(|read| {
            it.secondary_indexes
                .iter()
                .map(|index| {
                    json!({
                        "IndexName": index.name,
                        "ReadProvisionedThroughputSettings": read,
                    })
                })
                .collect()
        });
        let recovery = it
            .enable_point_in_time_recovery
            .then(|| json!({ "PointInTimeRecoveryEnabled": true }));
        self.add(
            logical(&[name, "GlobalTable"]),
            "AWS::DynamoDB::GlobalTable",
            json!({
                "TableName": self.physical(name, 255),
                "AttributeDefinitions": attributes,
                "KeySchema": key_schema(
                    &it.primary_key.partition_key,
                    it.primary_key.sort_key.as_ref(),
                ),
                "BillingMode": if throughput.is_some() { "PROVISIONED" } else { "PAY_PER_REQUEST" },
                "WriteProvisionedThroughputSettings": write,
                "GlobalSecondaryIndexes": (!indexes.is_empty()).then_some(indexes),
                "StreamSpecification": it.stream_type.map(|kind| {
                    json!({ "StreamViewType": stream_type(kind) })
                }),
                "Replicas": [{
                    "Region": { "Ref": "AWS::Region" },
                    "PointInTimeRecoverySpecification": recovery,
                    "ReadProvisionedThroughputSettings": read,
                    "GlobalSecondaryIndexes": read_of_indexes.filter(|it| !it.is_empty()),
                }],
            }),
        )
        .on_removal("Delete");
    }
}

fn key_schema(partition: &KeyAttribute, sort: Option<&KeyAttribute>) -> Vec<Value> {
    let mut schema = vec![json!({ "AttributeName": partition.name, "KeyType": "HASH" })];
    if let Some(sort) = sort {
        schema.push(json!({ "AttributeName": sort.name, "KeyType": "RANGE" }));
    }
    schema
}

fn key_type(kind: KeyType) -> &'static str {
    match kind {
        KeyType::Binary => "B",
        KeyType::Number => "N",
        KeyType::String => "S",
    }
}

fn stream_type(kind: StreamType) -> &'static str {
    match kind {
        StreamType::KeysOnly => "KEYS_ONLY",
        StreamType::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        StreamType::NewImage => "NEW_IMAGE",
        StreamType::OldImage => "OLD_IMAGE",
    }
}

/// Global tables only know write units that follow the load; without scaling they have one place
/// to go.
fn write_settings(units: u32, scaling: Option<&ThroughputScaling>) -> Value {
    let (least, most, target) = match scaling {
        Some(it) => (it.min_units, it.max_units, it.keep_utilization_under),
        None => (units, units, 70),
    };
    json!({
        "WriteCapacityAutoScalingSettings": {
            "MinCapacity": least,
            "MaxCapacity": most,
            "SeedCapacity": units,
            "TargetTrackingScalingPolicyConfiguration": { "TargetValue": target },
        }
    })
}

fn read_settings(units: u32, scaling: Option<&ThroughputScaling>) -> Value {
    match scaling {
        Some(it) => json!({
            "ReadCapacityAutoScalingSettings": {
                "MinCapacity": it.min_units,
                "MaxCapacity": it.max_units,
                "SeedCapacity": units,
                "TargetTrackingScalingPolicyConfiguration": {
                    "TargetValue": it.keep_utilization_under,
                },
            }
        }),
        None => json!({ "ReadCapacityUnits": units }),
    }
}
