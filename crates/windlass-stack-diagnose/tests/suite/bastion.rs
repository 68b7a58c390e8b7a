//! Databases asked through a bastion of the stack.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_database::Databases;
use windlass_ports::aws::StackResource;
use windlass_ports::database::{DatabaseFailure, Listening, Tls};
use windlass_secrets::Redactor;
use windlass_stack_diagnose::{Answer, Operation, Outside, Settings, answer};
use windlass_system::SystemClock;
use windlass_testkit::SeededEntropy;
use windlass_testkit::agent::{Machine, Manner, Place, SessionAgent};
use windlass_testkit::servers::Redis;
use windlass_types::Problem;

use super::world::{
    Journal, Projects, World, code_and_reason, of_stack, with_cache, with_database,
};

/// A world with a bastion `jump`.
fn world(agent: &SessionAgent) -> World {
    let mut world = World::new();
    world.cloud.agent = Some(agent.clone());
    world.cloud.resources.push(StackResource {
        logical_resource_id: "JumpAutoScalingGroup".to_owned(),
        physical_resource_id: Some("shop-dev-jump-1".to_owned()),
        resource_type: "AWS::AutoScaling::AutoScalingGroup".to_owned(),
        resource_status: "CREATE_COMPLETE".to_owned(),
        ..StackResource::default()
    });
    with_database(&world.cloud, "postgres", "pass-word-1");
    with_cache(&world.cloud, "cache-token-1");
    world.sockets = Some(Arc::new(agent.clone()));
    world
}

fn sql(more: Value) -> Value {
    let mut arguments = of_stack(json!({ "resourceName": "db", "sql": "select 1" }));
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

#[tokio::test]
async fn the_connection_goes_to_this_machine_and_is_verified_under_the_databases_name() {
    let agent = SessionAgent::default();
    let database = {
        let world = world(&agent);
        let database = Arc::clone(&world.database);
        let asked = sql(json!({ "bastionResource": "jump" }));
        let (answered, left) = world.ask("sql", asked).await;
        assert_eq!(answered.unwrap().data["endpoint"]["host"], "db.example");
        let groups = left.cloud.inputs("autoscaling:DescribeAutoScalingGroups");
        assert_eq!(
            groups,
            [json!({ "AutoScalingGroupNames": ["shop-dev-jump-1"] })]
        );
        database
    };
    let queries = database.queries.lock().unwrap();
    let address = &queries[0].address;
    let Listening::Tcp { host, port } = &address.listening else {
        panic!("a port");
    };
    assert_eq!(host, "127.0.0.1");
    assert_ne!(*port, 5433);
    let Tls::Verified { server_name, .. } = &address.tls else {
        panic!("encrypted");
    };
    assert_eq!(server_name.as_deref(), Some("db.example"));
    // Nothing connected, so no session was needed; and nobody listens any more.
    assert!(agent.started().is_empty());
    assert!(std::net::TcpStream::connect(("127.0.0.1", *port)).is_err());
}

#[tokio::test]
async fn bastion_arguments_are_checked() {
    let pending = Manner {
        machine: Machine::Pending,
        ..Manner::default()
    };
    for (more, manner, code, reason, field) in [
        (
            json!({ "port": 15_432 }),
            Manner::default(),
            "INVALID_INPUT",
            "invalid_argument",
            "port",
        ),
        (
            json!({ "bastionResource": "jump", "port": 70_000 }),
            Manner::default(),
            "INVALID_INPUT",
            "invalid_argument",
            "port",
        ),
        (
            json!({ "bastionResource": "jumpp" }),
            Manner::default(),
            "NOT_FOUND",
            "not_found",
            "bastionResource",
        ),
        (
            json!({ "bastionResource": "api" }),
            Manner::default(),
            "INVALID_INPUT",
            "wrong_resource_type",
            "bastionResource",
        ),
        (
            json!({ "bastionResource": "jump" }),
            pending,
            "NOT_FOUND",
            "bastion_not_running",
            "",
        ),
    ] {
        let agent = SessionAgent::new(manner);
        let (answered, _) = world(&agent).ask("sql", sql(more.clone())).await;
        let problem = answered.unwrap_err();
        assert_eq!(
            code_and_reason(&problem),
            (code, reason.to_owned()),
            "{more}"
        );
        if !field.is_empty() {
            assert_eq!(problem.details()["field"], field, "{more}");
        }
    }
    let mut world = world(&SessionAgent::default());
    world.sockets = None;
    let asked = sql(json!({ "bastionResource": "jump" }));
    let (answered, _) = world.ask("sql", asked).await;
    assert_eq!(
        code_and_reason(&answered.unwrap_err()).1,
        "no_message_sockets"
    );
}

async fn redis(agent: &SessionAgent, more: Value) -> Result<Answer, Problem> {
    let world = world(agent);
    // The newest answer stays: a cache without TLS, as the server below.
    world
        .cloud
        .answers
        .lock()
        .unwrap()
        .remove("elasticache:DescribeReplicationGroups");
    world.cloud.answer(
        "elasticache:DescribeReplicationGroups",
        json!({ "ReplicationGroups": [{
            "MemberClusters": ["shop-dev-cache-001"],
            "NodeGroups": [{ "PrimaryEndpoint": { "Address": "primary.cache", "Port": 6379 } }],
        }] }),
    );
    let outside = Outside {
        cloud: Arc::new(world.cloud),
        databases: Arc::new(Databases),
        journal: Arc::new(Journal(Vec::new())),
        projects: Arc::new(Projects),
        sockets: world.sockets,
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SeededEntropy::new(1)),
        redactor: Redactor::new(),
        settings: Settings::default(),
    };
    let mut arguments = of_stack(json!({ "resourceName": "cache" }));
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    answer(&outside, Operation::named("redis").unwrap(), &arguments).await
}

#[tokio::test]
async fn a_real_redis_answers_through_the_bastion() {
    let Some(server) = Redis::start(&[]) else {
        return;
    };
    let agent = SessionAgent::default();
    agent.knows("primary.cache", 6379, Place::Socket(server.socket()));
    let asked = json!({ "bastionResource": "jump", "operation": "info" });
    let data = redis(&agent, asked).await.unwrap().data;
    assert!(data["info"]["Server"]["redis_version"].is_string());
    let started = agent.started();
    assert!(!started.is_empty());
    assert_eq!(started[0]["Parameters"]["host"], json!(["primary.cache"]));
    assert_eq!(agent.terminated().len(), started.len());
}

#[tokio::test]
async fn a_database_the_bastion_does_not_reach_is_reported_as_that() {
    let agent = SessionAgent::default();
    let asked = json!({ "bastionResource": "jump", "operation": "info" });
    let problem = redis(&agent, asked).await.unwrap_err();
    assert_eq!(
        code_and_reason(&problem),
        ("UPSTREAM_ERROR", "bastion_cannot_reach".to_owned())
    );
    assert_eq!(
        problem.message(),
        "the bastion jump could not reach primary.cache:6379"
    );
    // What the database itself says is reported as it is.
    let world = world(&agent);
    *world.database.sql.lock().unwrap() = Some(Err(DatabaseFailure::Statement {
        code: "42P01".to_owned(),
        message: "no such table".to_owned(),
        position: None,
    }));
    let asked = sql(json!({ "bastionResource": "jump" }));
    let (answered, _) = world.ask("sql", asked).await;
    assert_eq!(code_and_reason(&answered.unwrap_err()).1, "sql_error");
}
