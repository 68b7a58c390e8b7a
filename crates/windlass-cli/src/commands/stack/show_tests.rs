//! Answers as people see them.

use serde_json::json;
use windlass_types::{Problem, code};

use super::*;
use crate::{
    commands::stack::{
        alarms, dev, docs, dynamodb, info, init, logs, metrics, opensearch, redis, rollback, sql,
        validate,
    },
    output::{Captured, Mode},
};

fn drawn(draw: impl FnOnce(&Screen<'_>, &Value), output: Value) -> String {
    let captured = Captured::new(Mode::Human);
    draw(&Screen::data(&captured.printer), &output);
    assert_eq!(captured.stderr(), "");
    captured.stdout()
}

fn sample_plan() -> Value {
    json!({
        "stackName": "shop-dev", "isNewStack": false, "noChanges": false, "source": "change-set",
        "resourceChanges": [
            { "action": "create", "resourceName": "api", "logicalId": "ApiFunction", "resourceType": "AWS::Lambda::Function", "willReplace": [], "mayReplace": [], "highlights": [], "reason": null },
            { "action": "update", "resourceName": "web", "logicalId": "WebService", "resourceType": "AWS::ECS::Service", "willReplace": [], "mayReplace": ["LaunchType"], "highlights": [], "reason": null },
            { "action": "replace", "resourceName": "db", "logicalId": "Db", "resourceType": "AWS::RDS::DBInstance", "willReplace": ["Engine"], "mayReplace": [], "highlights": [], "reason": "Engine: postgres → mysql" },
            { "action": "delete", "resourceName": "files", "logicalId": "Files", "resourceType": "AWS::S3::Bucket", "willReplace": [], "mayReplace": [], "highlights": [], "reason": null },
        ],
        "counts": { "create": 1, "update": 1, "replace": 1, "delete": 1, "retain": 0, "total": 4 },
        "statefulChanges": [
            { "resourceName": "db", "logicalId": "Db", "type": "AWS::RDS::DBInstance", "action": "replace", "reason": "Engine: postgres → mysql", "needsConfirm": true },
            { "resourceName": "jobs", "logicalId": "Jobs", "type": "AWS::SQS::Queue", "action": "delete", "reason": "", "needsConfirm": false },
        ],
        "missingSecrets": [{ "name": "shop.key" }],
        "drift": { "status": "DRIFTED", "checked": 3, "notChecked": ["Role"], "resources": [
            { "logicalId": "Web", "resourceType": "AWS::ECS::Service", "status": "MODIFIED", "differences": [
                { "path": "/DesiredCount", "expected": "1", "actual": "4", "kind": "NOT_EQUAL" } ] } ] },
        "cost": { "currency": "USD", "monthlyBefore": 10, "monthlyAfter": 12.5, "monthlyDelta": 2.5, "unpriced": ["Role"] },
    })
}

#[test]
fn a_plan_says_what_happens_and_what_is_lost() {
    insta::assert_snapshot!(drawn(plan::plan, sample_plan()), @"
    shop-dev: an update
    ACTION     RESOURCE  LOGICAL ID   TYPE                   WHY
    + create   api       ApiFunction  AWS::Lambda::Function
    ~ update   web       WebService   AWS::ECS::Service      LaunchType may replace it
    ! replace  db        Db           AWS::RDS::DBInstance   Engine: postgres → mysql
    - delete   files     Files        AWS::S3::Bucket
    1 to create, 1 to update, 1 to replace, 1 to delete
    Data will be lost:
      db (AWS::RDS::DBInstance) is replaced: Engine: postgres → mysql
    Also holds data, but needs no confirmation:
      jobs (AWS::SQS::Queue) is deleted
    Secrets that do not exist:
      shop.key   windlass stack secret create shop.key
    drift: DRIFTED, 3 resources checked
      Web (AWS::ECS::Service) MODIFIED
        /DesiredCount: 1 → 4
      not checked, so not known: Role
    cost per month: 10 → 12.5 USD (2.5)
      without a price: Role
    ");
    insta::assert_snapshot!(
        drawn(plan::plan, json!({ "stackName": "shop-dev", "noChanges": true, "drift": null, "cost": null })),
        @"shop-dev: no changes"
    );
    assert!(plan::loses_data(&sample_plan()));
    assert!(!plan::loses_data(
        &json!({ "statefulChanges": [{ "needsConfirm": false }] })
    ));
}

#[test]
fn a_plan_says_that_a_failed_stack_is_deleted_first() {
    let data = json!({
        "stackName": "shop-dev", "isNewStack": true, "recreate": true, "source": "local",
        "resourceChanges": [{ "action": "create", "resourceName": "jobs", "logicalId": "JobsQueue",
            "resourceType": "AWS::SQS::Queue" }],
        "counts": { "create": 1 },
        "statefulChanges": [{ "resourceName": "files", "type": "AWS::S3::Bucket",
            "action": "retain", "needsConfirm": false, "reason": "the stack is deleted" }],
    });
    insta::assert_snapshot!(drawn(plan::plan, data), @"
    shop-dev: a new stack in place of the failed one
    ACTION    RESOURCE  LOGICAL ID  TYPE             WHY
    + create  jobs      JobsQueue   AWS::SQS::Queue
    1 to create
    Also holds data, but needs no confirmation:
      files (AWS::S3::Bucket) is kept, no longer managed: the stack is deleted
    Its first creation failed: the failed stack is deleted first. Read from the template, because CloudFormation cannot plan while it exists.
    ");
}

#[test]
fn a_failure_names_the_resource_the_cause_and_what_helps() {
    let problem = Problem::new(&code::DEPLOY_FAILED, "Db (AWS::RDS::DBInstance) failed: too small")
        .with("runId", "run_1")
        .with("phase", "deploying")
        .with("failure", json!({
            "logicalId": "DbInstance", "resourceName": "db", "resourceType": "AWS::RDS::DBInstance",
            "status": "CREATE_FAILED", "reason": "Resource handler returned: too small", "cause": "too small",
            "logs": [{ "source": "db", "ts": null, "message": "storage \u{1b}[31mexhausted" }],
            "alsoFailed": [{ "logicalId": "Api", "resourceType": "AWS::Lambda::Function", "reason": "no role" }],
            "cancelled": 2, "stackStatus": "UPDATE_ROLLBACK_COMPLETE",
            "remedies": [{ "operation": "deploy", "text": "fix the cause and redeploy" }],
        }))
        .next("windlass runs show run_1");
    let captured = Captured::new(Mode::Human);
    failure::failure(&captured.printer, &problem, &windlass_stack::StackContract);
    insta::assert_snapshot!(captured.stderr(), @"
    error: Db (AWS::RDS::DBInstance) failed: too small
      code: DEPLOY_FAILED
      phase: deploying
      runId: run_1
      failed first: db (AWS::RDS::DBInstance) CREATE_FAILED
      cause: too small
      reason: Resource handler returned: too small
      | db: storage exhausted
      also failed: Api (AWS::Lambda::Function): no role
      stopped because of it: 2 resources
      the stack is now UPDATE_ROLLBACK_COMPLETE
      what helps: fix the cause and redeploy
    hint: windlass runs show run_1
    ");
}

#[test]
fn a_refusal_shows_what_it_is_about() {
    let problem = Problem::new(&code::CONFIRM_REQUIRED, "Deleting shop-dev removes 1 stateful resource")
        .with("stackName", "shop-dev")
        .with("statefulChanges", json!([{ "resourceName": "db", "type": "AWS::RDS::DBInstance", "action": "delete", "reason": "" }]))
        .next("repeat with --yes");
    let captured = Captured::new(Mode::Human);
    failure::failure(&captured.printer, &problem, &windlass_stack::StackContract);
    insta::assert_snapshot!(captured.stderr(), @"
    error: Deleting shop-dev removes 1 stateful resource
      code: CONFIRMATION_REQUIRED
    Data will be lost:
      db (AWS::RDS::DBInstance) is deleted
    hint: repeat with --yes
    ");
}

#[test]
fn a_stack() {
    insta::assert_snapshot!(drawn(info::stack::show, json!({
        "stackName": "shop-dev", "stackId": "arn:aws:x", "status": "UPDATE_ROLLBACK_FAILED", "statusReason": "blocked",
        "version": "v000003", "managedBy": "windlass", "lastUpdateTime": "2026-02-12T10:00:01.000Z",
        "outputs": { "apiUrl": "https://x", "table": "t" },
        "resources": [{ "logicalId": "Db", "type": "AWS::RDS::DBInstance", "status": "UPDATE_FAILED", "physicalId": "db-1" }],
        "drift": { "status": "DRIFTED", "resources": [{ "logicalId": "Db", "status": "MODIFIED", "properties": ["/Size"] }] },
        "stuck": { "meaning": "the rollback is blocked", "blockers": [{ "logicalId": "Db", "reason": "in use" }], "remedies": ["rollback"] },
    })), @"
    shop-dev  UPDATE_ROLLBACK_FAILED
    reason      blocked
    version     v000003
    managed by  windlass
    updated     2026-02-12 10:00:01
    id          arn:aws:x
    stuck: the rollback is blocked
      Db in use
      what helps: rollback
    apiUrl  https://x
    table   t

    LOGICAL ID  TYPE                  STATUS         PHYSICAL ID
    Db          AWS::RDS::DBInstance  UPDATE_FAILED  db-1
    drift: DRIFTED
      Db MODIFIED /Size
    ");
}

#[test]
fn lists() {
    insta::assert_snapshot!(drawn(info::stacks::show, json!({ "stacks": [
        { "stackName": "shop-dev", "stage": "dev", "stackStatus": "CREATE_COMPLETE", "creationTime": "2026-02-12T10:00:01Z", "lastUpdateTime": null, "managedBy": "windlass" } ] })), @"
    STACK     STAGE  STATUS           CHANGED              MANAGED BY
    shop-dev  dev    CREATE_COMPLETE  2026-02-12 10:00:01  windlass
    ");
    insta::assert_snapshot!(drawn(info::operations::show, json!({ "operations": [
        { "runId": "run_1", "operation": "deploy", "stackName": "shop-dev", "principal": "local:ada", "state": "completed", "code": "OK", "startedAt": "2026-02-12T10:00:01Z" },
        { "runId": null, "operation": "delete", "stackName": "old", "principal": null, "state": "failed", "code": "DELETE_FAILED", "startedAt": "2026-02-12T10:00:01Z", "source": "cloudformation" } ] })), @"
    STARTED              OPERATION  STACK     STATE      CODE           BY              RUN
    2026-02-12 10:00:01  deploy     shop-dev  completed  OK             local:ada       run_1
    2026-02-12 10:00:01  delete     old       failed     DELETE_FAILED  cloudformation
    ");
    insta::assert_snapshot!(drawn(info::whoami::show, json!({ "account": "1", "arn": "arn:x", "region": "eu-west-1", "credentialSource": "env", "profile": null,
        "policy": { "stack.deploy": "ask", "stack.delete": "allow", "stack.init": "allow" } })), @"
    account      1
    identity     arn:x
    region       eu-west-1
    credentials  env
    policy       allow stack.delete, stack.init; ask stack.deploy
    ");
    insta::assert_snapshot!(drawn(rollback::versions, json!({ "versions": [{ "version": "v000002", "createdAt": "2026-02-12T10:00:01Z", "runId": "run_1" }, "v000001"] })), @"
    VERSION  DEPLOYED             RUN
    v000002  2026-02-12 10:00:01  run_1
    v000001
    ");
    insta::assert_snapshot!(drawn(alarms::show, json!({ "alarms": [
        { "state": "ALARM", "name": "errors", "resource": "Api", "metric": "Errors", "comparison": "GreaterThanThreshold", "threshold": 5.0, "lastUpdated": "2026-02-12T10:00:01Z", "reason": "6 > 5" } ] })), @"
    STATE  ALARM   RESOURCE  RINGS WHEN    SINCE                REASON
    ALARM  errors  Api       Errors > 5.0  2026-02-12 10:00:01  6 > 5
    ");
    insta::assert_snapshot!(drawn(init::show, json!({ "file": "stacktape.yml", "found": ["package.json", { "what": "Dockerfile", "as": "web-service" }] })), @"
    found package.json
    found web-service  Dockerfile
    ");
    insta::assert_snapshot!(drawn(validate::show, json!({ "valid": true, "checked": { "config": true, "packaging": false }, "warnings": [{ "message": "470 resources" }] })), @"
    ✓ config
    · packaging  not checked
    warning: 470 resources
    ");
    insta::assert_snapshot!(drawn(dev::status::show, json!({ "phase": "ready", "ready": true,
        "workloads": { "api": "http://127.0.0.1:4000", "web": "error: exit 1" }, "databases": { "db": "running" }, "elsewhere": { "files": "not-local: needs an emulator" } })), @"
    ready
    NAME   WHAT       WHERE
    api    workload   http://127.0.0.1:4000
    web    workload   error: exit 1
    db     database   running
    files  elsewhere  not local
    files: needs an emulator
    ");
}

#[test]
fn numbers_and_lines() {
    let points: Vec<Value> = (0..5).map(|i| json!({ "timestamp": format!("2026-02-12T10:0{i}:00Z"), "value": f64::from(i) * 1.5 })).collect();
    insta::assert_snapshot!(drawn(metrics::show, json!({ "resource": "api", "metric": "Errors", "stat": "Sum", "unit": "Count", "period": 60, "datapoints": points })), @"
    Errors of api, Sum, Count, every 60 s
    ▁▃▅▆█
    5 values from 2026-02-12 10:00:00 to 2026-02-12 10:04:00; least 0, most 6
    TIME                 VALUE
    2026-02-12 10:00:00  0
    2026-02-12 10:01:00  1.5
    2026-02-12 10:02:00  3
    2026-02-12 10:03:00  4.5
    2026-02-12 10:04:00  6
    ");
    insta::assert_snapshot!(drawn(logs::show, json!({ "events": [{ "timestamp": "2026-02-12T10:00:01.250Z", "message": "\u{1b}[31mred\u{1b}[0m\n" }] })), @"2026-02-12 10:00:01  red");
}

#[test]
fn rows_and_documents() {
    insta::assert_snapshot!(drawn(sql::show, json!({ "fields": ["id", "name"], "rows": [{ "id": 1, "name": "a" }, { "id": 22, "name": null }], "truncated": true })), @"
    id  name
    1   a
    22  null
    there are more rows
    ");
    insta::assert_snapshot!(drawn(dynamodb::show, json!({ "items": [{ "id": "1" }, { "id": "2", "tags": ["x"] }], "message": "2 items" })), @r#"
    id  tags
    1
    2   ["x"]
    "#);
    insta::assert_snapshot!(drawn(dynamodb::show, json!({ "item": null })), @"no such item");
    insta::assert_snapshot!(drawn(redis::show, json!({ "keys": ["a", "b"], "truncated": false })), @"
    a
    b
    ");
    insta::assert_snapshot!(drawn(redis::show, json!({ "result": null, "type": "string" })), @"(nil)");
    insta::assert_snapshot!(drawn(opensearch::show, json!({ "result": { "count": 2 }, "message": "x" })), @r#"
    {
      "count": 2
    }
    "#);
}

#[test]
fn an_answer_of_the_documentation() {
    insta::assert_snapshot!(drawn(docs::show, json!({
        "answer": "List it in connectTo. [stack/config-ref/function.md#connectto]",
        "snippets": [{ "language": "yaml", "code": "connectTo:\n  - db" }],
        "references": [{ "title": "function", "path": "stack/config-ref/function.md", "docType": "config-ref" }],
    })), @"
    List it in connectTo. [stack/config-ref/function.md#connectto]

    ```yaml
    connectTo:
      - db
    ```

    function  docs/stack/config-ref/function.md (config-ref)
    ");
}
