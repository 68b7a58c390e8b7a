//! Any valid config compiles, to the same bytes each time, and every reference leads somewhere.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_stack_compile::{compile, connections};
use windlass_stack_config::Config;

use super::world::facts;

/// What can be connected to, by kind.
#[derive(Clone, Debug)]
struct Piece {
    name: String,
    kind: Value,
    is_workload: bool,
}

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-zA-Z0-9]{0,12}"
}

fn function() -> impl Strategy<Value = Value> {
    (
        prop::sample::select(vec!["src/a.ts", "b.py", "c.go", "d.rb"]),
        prop::option::of(128u32..2048),
        1u32..900,
        any::<bool>(),
        prop::option::of(1u32..5),
        any::<bool>(),
    )
        .prop_map(|(file, memory, timeout, has_url, ready, has_cdn)| {
            let mut properties = json!({
                "packaging": {"type": "stacktape-lambda-buildpack", "properties": {"entryfilePath": file}},
                "timeout": timeout,
                "joinDefaultVpc": true,
            });
            if let Some(memory) = memory {
                properties["memory"] = json!(memory);
            }
            if let Some(ready) = ready {
                properties["provisionedConcurrency"] = json!(ready);
            }
            if has_url {
                properties["url"] = json!({"enabled": true});
                if has_cdn {
                    properties["cdn"] = json!({"enabled": true});
                }
            }
            json!({"type": "function", "properties": properties})
        })
}

fn service() -> impl Strategy<Value = Value> {
    let load_balancing =
        prop::sample::select(vec!["http-api-gateway", "application-load-balancer"]);
    (
        any::<bool>(),
        1u32..4,
        0u32..4,
        load_balancing,
        any::<bool>(),
    )
        .prop_map(|(is_web, least, more, load_balancing, is_private)| {
            let mut properties = json!({
                "packaging": {"type": "prebuilt-image", "properties": {"image": "nginx:1"}},
                "resources": {"cpu": 0.25, "memory": 512},
                "scaling": {"minInstances": least, "maxInstances": least + more},
                "usePrivateSubnetsWithNAT": is_private,
            });
            if is_web {
                properties["loadBalancing"] = json!({"type": load_balancing});
            }
            let kind = if is_web {
                "web-service"
            } else {
                "worker-service"
            };
            json!({"type": kind, "properties": properties})
        })
}

fn database() -> impl Strategy<Value = Value> {
    let mode = prop::sample::select(vec!["internet", "vpc", "scoping-workloads-in-vpc"]);
    let engine = prop::sample::select(vec!["postgres", "mysql", "mariadb"]);
    (mode, engine, any::<bool>(), 0usize..3).prop_map(|(mode, engine, is_kept, replicas)| {
        let replica = json!({"instanceSize": "db.t4g.micro"});
        json!({"type": "relational-database", "properties": {
            "credentials": {"masterUserPassword": {"$runtime": {"directive": "secret", "name": "db"}}},
            "engine": {"type": engine, "properties": {
                "version": "8.0",
                "primaryInstance": {"instanceSize": "db.t4g.micro"},
                "readReplicas": vec![replica; replicas],
            }},
            "accessibility": {"accessibilityMode": mode},
            "deletionProtection": is_kept,
        }})
    })
}

fn plain() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>()
            .prop_map(|fifo| json!({"type": "sqs-queue", "properties": {"fifoEnabled": fifo}})),
        any::<bool>()
            .prop_map(|fifo| json!({"type": "sns-topic", "properties": {"fifoEnabled": fifo}})),
        Just(json!({"type": "event-bus", "properties": {"archivation": {"enabled": true}}})),
        (1u32..5).prop_map(|shards| json!({"type": "kinesis-stream", "properties": {
            "capacityMode": "PROVISIONED", "shardCount": shards,
        }})),
        any::<bool>().prop_map(|stream| {
            let mut table = json!({"type": "dynamo-db-table", "properties": {
                "primaryKey": {"partitionKey": {"name": "id", "type": "string"}},
            }});
            if stream {
                table["properties"]["streamType"] = json!("NEW_IMAGE");
            }
            table
        }),
        (any::<bool>(), any::<bool>()).prop_map(
            |(versioning, cdn)| json!({"type": "bucket", "properties": {
                "versioning": versioning, "cdn": {"enabled": cdn},
            }})
        ),
        Just(json!({"type": "user-auth-pool", "properties": {"enableHostedUi": true}})),
        Just(json!({"type": "open-search-domain", "properties": {}})),
        Just(json!({"type": "http-api-gateway", "properties": {"cors": {"enabled": true}}})),
        Just(json!({"type": "redis-cluster", "properties": {
            "instanceSize": "cache.t4g.micro",
            "defaultUserPassword": {"$runtime": {"directive": "secret", "name": "redis", "key": "password"}},
        }})),
    ]
}

fn piece() -> impl Strategy<Value = Piece> {
    let kind = prop_oneof![
        3 => function().prop_map(|kind| (kind, true)),
        1 => service().prop_map(|kind| (kind, true)),
        1 => database().prop_map(|kind| (kind, false)),
        4 => plain().prop_map(|kind| (kind, false)),
    ];
    (name(), kind).prop_map(|(name, (kind, is_workload))| Piece {
        name,
        kind,
        is_workload,
    })
}

/// A config: pieces with different names, workloads connected to what there is (and to
/// workloads in one direction only: two addresses cannot know each other), functions started by
/// some of it.
fn any_config() -> impl Strategy<Value = Value> {
    (prop::collection::vec(piece(), 1..12), any::<u64>()).prop_map(|(pieces, seed)| {
        let mut names = BTreeSet::new();
        let pieces: Vec<Piece> = pieces
            .into_iter()
            .filter(|piece| names.insert(piece.name.to_lowercase()))
            .collect();
        let mut resources = serde_json::Map::new();
        for (index, piece) in pieces.iter().enumerate() {
            let mut kind = piece.kind.clone();
            if piece.is_workload {
                let targets: Vec<&str> = pieces
                    .iter()
                    .enumerate()
                    .filter(|(other, piece)| *other > index || !piece.is_workload)
                    .filter(|(other, _)| *other != index && (seed >> (other % 64)) & 1 == 1)
                    .map(|(_, other)| other.name.as_str())
                    .collect();
                kind["properties"]["connectTo"] = json!(targets);
            }
            if kind["type"] == "function" {
                kind["properties"]["events"] = json!(events(&pieces));
            }
            resources.insert(piece.name.clone(), kind);
        }
        json!({ "resources": resources })
    })
}

fn events(pieces: &[Piece]) -> Vec<Value> {
    let param = |name: &str, param: &str| json!({"$runtime": {"directive": "resourceParam", "resource": name, "param": param}});
    let mut events =
        vec![json!({"type": "schedule", "properties": {"scheduleRate": "rate(1 hour)"}})];
    for piece in pieces {
        let name = piece.name.as_str();
        match piece.kind["type"].as_str().unwrap() {
            "sqs-queue" => {
                events.push(json!({"type": "sqs", "properties": {"sqsQueueName": name}}))
            }
            "sns-topic" => {
                events.push(json!({"type": "sns", "properties": {"snsTopicName": name}}))
            }
            "bucket" => events.push(json!({"type": "s3", "properties": {
                "bucketArn": param(name, "arn"), "s3EventType": "s3:ObjectCreated:*",
            }})),
            "kinesis-stream" => events.push(json!({"type": "kinesis-stream", "properties": {
                "kinesisStreamName": name, "autoCreateConsumer": true,
            }})),
            "event-bus" => events.push(json!({"type": "event-bus", "properties": {
                "eventBusName": name, "eventPattern": {"source": ["a"]},
            }})),
            "dynamo-db-table" if !piece.kind["properties"]["streamType"].is_null() => {
                events.push(json!({"type": "dynamo-db-stream", "properties": {
                    "streamArn": param(name, "streamArn"),
                }}));
            }
            _ => {}
        }
    }
    events
}

/// Every id that a value mentions.
fn mentioned(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| mentioned(item, found)),
        Value::Object(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value) {
                    ("Ref", Value::String(id)) => {
                        found.insert(id.clone());
                    }
                    ("Fn::GetAtt", Value::Array(parts)) => {
                        found.insert(parts[0].as_str().unwrap().to_owned());
                    }
                    ("Fn::Sub", Value::String(text)) => {
                        for piece in text.split("${").skip(1) {
                            found.insert(piece.split('}').next().unwrap().to_owned());
                        }
                    }
                    ("DependsOn", Value::Array(ids)) => {
                        found.extend(ids.iter().map(|id| id.as_str().unwrap().to_owned()));
                    }
                    (_, value) => mentioned(value, found),
                }
            }
        }
        _ => {}
    }
}

/// The template's parts in an order in which each comes after what it mentions.
fn has_order(template: &Value) -> bool {
    let resources = template["Resources"].as_object().unwrap();
    let mut waiting: Vec<(&String, BTreeSet<String>)> = resources
        .iter()
        .map(|(id, part)| {
            let mut found = BTreeSet::new();
            mentioned(part, &mut found);
            found.retain(|it| resources.contains_key(it));
            (id, found)
        })
        .collect();
    let mut made: BTreeSet<&String> = BTreeSet::new();
    loop {
        let before = waiting.len();
        waiting.retain(|(id, needs)| {
            let is_ready = needs.iter().all(|need| made.contains(need));
            if is_ready {
                made.insert(id);
            }
            !is_ready
        });
        if waiting.is_empty() {
            return true;
        }
        if waiting.len() == before {
            return false;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_config_compiles_and_every_reference_resolves(written in any_config()) {
        let config: Config = serde_json::from_value(written).unwrap();
        let facts = facts(&config);
        let compiled = match compile(&config, &facts) {
            Ok(compiled) => compiled,
            Err(refusals) => return Err(TestCaseError::fail(format!("{:#?}", refusals.list))),
        };
        let again = compile(&config, &facts).unwrap();
        prop_assert_eq!(compiled.body(), again.body());
        let resources = compiled.template["Resources"].as_object().unwrap();
        let mut found = BTreeSet::new();
        mentioned(&compiled.template, &mut found);
        for id in found {
            prop_assert!(id.starts_with("AWS::") || resources.contains_key(&id), "{}", id);
        }
        prop_assert!(has_order(&compiled.template), "parts wait for each other in a circle");
        for name in config.resources.keys() {
            for connection in connections(&config, &facts, name) {
                prop_assert!(connection.variable.starts_with("STP_"));
            }
        }
    }
}
