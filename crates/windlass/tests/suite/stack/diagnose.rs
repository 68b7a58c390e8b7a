//! Questions about stacks: what is answered, and what is refused because it would change
//! something or show a secret.

use serde_json::{Value, json};

use super::world::{QUEUE, REGION, STACK, World, args};

#[test]
fn who_and_what_is_there() {
    let world = World::new();
    world.config(QUEUE);
    let mut tool_client = world.tool_client();
    let who = tool_client.diagnose("info_whoami", &json!({}));
    let data = who.worked();
    assert_eq!(data["account"], "123456789012", "{data:#}");
    assert_eq!(data["region"], REGION);
    assert!(data["arn"].as_str().unwrap().starts_with("arn:aws:"));
    tool_client.ops("deploy", &args(json!({}))).worked();

    let listed = tool_client.diagnose("info_stacks", &json!({ "region": REGION }));
    let stacks = listed.worked()["stacks"].as_array().unwrap();
    assert_eq!(stacks.len(), 1, "{:#}", listed.body);
    let stack = &stacks[0];
    assert_eq!(stack["stackName"], STACK);
    assert_eq!(stack["projectName"], "shop");
    assert_eq!(stack["stage"], "dev");
    assert_eq!(stack["stackStatus"], "CREATE_COMPLETE");
    assert_eq!(stack["managedBy"], "windlass");
    let other = json!({ "region": REGION, "projectName": "other" });
    assert_eq!(
        tool_client.diagnose("info_stacks", &other).worked()["stacks"],
        json!([])
    );

    // By its parts or by its name, and without a config in sight.
    fs_err::remove_file(world.project().join("stacktape.yml")).unwrap();
    for by in [
        args(json!({})),
        json!({ "stackName": STACK, "region": REGION }),
    ] {
        let info = tool_client.diagnose("info_stack", &by);
        let data = info.worked();
        assert_eq!(data["status"], "CREATE_COMPLETE", "{data:#}");
        assert!(
            data["stackId"]
                .as_str()
                .unwrap()
                .starts_with("arn:aws:cloudformation")
        );
        let resources = data["resources"].as_array().unwrap();
        assert!(!resources.is_empty());
        assert!(data["outputs"].is_object(), "{data:#}");
        assert_eq!(data["stuck"], Value::Null, "{data:#}");
    }
    let elsewhere = json!({ "stackName": STACK, "region": "us-east-1" });
    tool_client
        .diagnose("info_stack", &elsewhere)
        .refused("NOT_FOUND");
    let wrong = tool_client.diagnose(
        "metrics",
        &args(json!({ "resourceName": "job", "metric": "NumberOfMessagesSent" })),
    );
    let data = wrong.refused("NOT_FOUND");
    assert_eq!(data["closest"], json!(["JobsQueue"]), "{data:#}");
}

/// Refused before credentials or the stack are looked at, so nothing is asked of AWS.
#[test]
fn what_would_write_is_refused() {
    let world = World::new()
        .env("AWS_ACCESS_KEY_ID", "")
        .env("AWS_SECRET_ACCESS_KEY", "");
    let mut tool_client = world.tool_client();
    let sql = |text: &str| ("sql", args(json!({ "resourceName": "db", "sql": text })));
    let sdk = |service: &str, command: &str| {
        let call = json!({ "service": service, "command": command, "region": REGION });
        ("aws_sdk", call)
    };
    let redis = |command: &str| {
        let call = json!({ "resourceName": "c", "operation": "command", "command": command });
        ("redis", args(call))
    };
    let mut wrong = Vec::new();
    for (operation, call) in [
        sql("SELECT 1; INSERT INTO t VALUES (1)"),
        sql("EXPLAIN ANALYZE DELETE FROM t"),
        sql("SELECT * INTO u FROM t"),
        sql("WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone"),
        sql("delete from t"),
        sql("COPY t TO PROGRAM 'sh'"),
        sql("DO $$ begin end $$"),
        sql("SET ROLE admin"),
        sdk("dynamodb", "BatchWriteItem"),
        sdk("dynamodb", "BatchExecuteStatement"),
        sdk("dynamodb", "ExecuteStatement"),
        sdk("secretsmanager", "GetSecretValue"),
        sdk("secretsmanager", "BatchGetSecretValue"),
        sdk("ssm", "GetParameter"),
        sdk("ssm", "GetParameters"),
        sdk("kms", "Decrypt"),
        sdk("lambda", "GetFunction"),
        sdk("lambda", "Invoke"),
        sdk("s3", "GetObject"),
        sdk("sqs", "ReceiveMessage"),
        sdk("ecr", "GetAuthorizationToken"),
        sdk("cloudformation", "DeleteStack"),
        sdk("iam", "CreateUser"),
        sdk("no-such-service", "DescribeThings"),
        redis("FLUSHALL"),
        redis("EVAL 'return 1' 0"),
        redis("GETDEL a"),
        redis("CONFIG GET *"),
        redis("KEYS *"),
    ] {
        let answer = tool_client.diagnose(operation, &call);
        if answer.body["code"] != "READ_ONLY_VIOLATION" {
            wrong.push(format!("{operation} {call}\n  {}", answer.body));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(world.mark(), 0, "nothing is asked of AWS");
}

/// The false refusals of a rule by prefix: these read, and so they reach the question whose stack
/// it is.
#[test]
fn reads_are_allowed() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    let sql = |text: &str| ("sql", args(json!({ "resourceName": "db", "sql": text })));
    for (operation, call) in [
        sql("WITH u AS (SELECT 1) SELECT * FROM u"),
        sql("-- all of them\nSELECT 1"),
        sql("/* why */ select 1"),
        sql("EXPLAIN SELECT 1"),
        sql("VALUES (1)"),
    ] {
        let answer = tool_client.diagnose(operation, &call);
        answer.refused("NOT_FOUND");
    }
    let stacks =
        json!({ "service": "cloudformation", "command": "ListStacksCommand", "region": REGION });
    let answer = tool_client.diagnose("aws_sdk", &stacks);
    let data = answer.worked();
    assert_eq!(data["service"], "cloudformation", "{data:#}");
    assert!(data["data"].is_object(), "{data:#}");
}

#[test]
fn a_command_in_a_container_needs_a_yes() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    let call = json!({ "resourceName": "web", "command": "ls" });
    let answer = tool_client.diagnose("container_exec", &args(call));
    answer.refused("CONFIRMATION_REQUIRED");
    assert_eq!(world.mark(), 0);
    let call = json!({ "resourceName": "web", "command": "ls", "confirm": true });
    tool_client
        .diagnose("container_exec", &args(call))
        .refused("NOT_FOUND");
}

#[test]
fn secrets_are_created_and_deleted_without_being_shown() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    let of = |more: Value| {
        let mut all = json!({ "secretName": "payment", "region": REGION });
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all
    };
    let missing = tool_client.ops("secret_get", &of(json!({})));
    assert_eq!(
        missing.refused("NOT_FOUND")["kind"],
        "secret",
        "{:#}",
        missing.body
    );
    let made = tool_client.ops(
        "secret_create",
        &of(json!({ "secretValue": "first-secret-value" })),
    );
    let data = made.worked();
    assert_eq!(data["name"], "payment");
    assert!(
        data["arn"].is_string() && data["versionId"].is_string(),
        "{data:#}"
    );
    let taken = tool_client.ops(
        "secret_create",
        &of(json!({ "secretValue": "second-secret-value" })),
    );
    taken.refused_for("ALREADY_EXISTS", "exists");
    let shown = tool_client.ops("secret_get", &of(json!({})));
    assert_eq!(shown.worked()["value"], "firs...alue");
    let forced = json!({ "secretValue": "kurz", "forceUpdate": true });
    tool_client.ops("secret_create", &of(forced)).worked();
    assert_eq!(
        tool_client.ops("secret_get", &of(json!({}))).worked()["value"],
        "****"
    );
    world.file("value.txt", "from-a-file-value");
    let path = world.project().join("value.txt");
    let file = json!({ "secretFile": path, "forceUpdate": true });
    tool_client.ops("secret_create", &of(file)).worked();
    assert_eq!(
        tool_client.ops("secret_get", &of(json!({}))).worked()["value"],
        "from...alue"
    );
    let unsure = tool_client.ops("secret_delete", &of(json!({ "force": true })));
    unsure.refused("CONFIRMATION_REQUIRED");
    let later = tool_client.ops("secret_delete", &of(json!({ "recoveryDays": 7 })));
    assert!(
        later.worked()["deletionDate"].is_string(),
        "{:#}",
        later.body
    );
    let waits = tool_client.ops(
        "secret_create",
        &of(json!({ "secretValue": "third-secret-value" })),
    );
    waits.refused_for("ALREADY_EXISTS", "scheduled_for_deletion");
    let at_once = tool_client.confirmed("secret_delete", &of(json!({ "force": true })));
    at_once.worked();
    tool_client
        .ops("secret_get", &of(json!({})))
        .refused("NOT_FOUND");
    let both = json!({ "secretValue": "a", "secretFile": "b" });
    tool_client
        .ops("secret_create", &of(both))
        .refused("VALIDATION_ERROR");
}

/// Local sessions: none is there, and that is said in the contract's words.
#[test]
fn without_a_session_of_dev() {
    let world = World::new();
    world.config(QUEUE);
    let mut tool_client = world.tool_client();
    for (operation, args) in [
        ("status", json!({})),
        ("logs", json!({})),
        ("rebuild", json!({ "workload": "api" })),
        ("rebuild_all", json!({})),
        ("stop", json!({})),
    ] {
        let answer = tool_client.dev(operation, &args);
        answer.refused("NOT_FOUND");
    }
    assert_eq!(world.mark(), 0, "nothing is asked of AWS");
}
