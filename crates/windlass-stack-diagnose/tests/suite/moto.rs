//! Against moto: an independent implementation of AWS's APIs, behind the real adapter.
//!
//! Needs moto's server program in `WINDLASS_TEST_MOTO`; `cargo xtask test` sets it.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_aws::Aws;
use windlass_config::env::Environment;
use windlass_database::Databases;
use windlass_ports::Clock as _;
use windlass_ports::aws::{
    ActionShape, AwsCalls as _, ChangeSetAddress, ChangeSetKind, CloudFormation as _,
    CreateChangeSet, ExecuteChangeSet, ServiceShape, SignedCall, Target, TemplateSource, services,
};
use windlass_secrets::Redactor;
use windlass_stack_diagnose::{Answer, Operation, Outside, Settings, answer};
use windlass_system::{OsEntropy, SystemClock};
use windlass_testkit::servers;
use windlass_types::Problem;

use super::world::{Journal, Projects, code_and_reason};

struct Moto {
    _server: servers::Moto,
    url: String,
    home: tempfile::TempDir,
}

impl Moto {
    fn start() -> Option<Self> {
        let server = servers::Moto::start()?;
        Some(Self {
            url: server.url().to_owned(),
            _server: server,
            home: tempfile::tempdir().unwrap(),
        })
    }

    fn aws(&self) -> Aws {
        let home = self.home.path().display().to_string();
        let environment = Environment::from_pairs([
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_ENDPOINT_URL", self.url.as_str()),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("HOME", home.as_str()),
        ]);
        Aws::new(&environment, Arc::new(SystemClock), Arc::new(OsEntropy))
    }
}

struct Asked(Arc<Aws>);

impl Asked {
    async fn ask(&self, name: &str, arguments: Value) -> Result<Answer, Problem> {
        let outside = Outside {
            cloud: Arc::clone(&self.0) as _,
            databases: Arc::new(Databases),
            journal: Arc::new(Journal(Vec::new())),
            projects: Arc::new(Projects),
            sockets: None,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
            redactor: Redactor::new(),
            settings: Settings::default(),
        };
        answer(&outside, Operation::named(name).unwrap(), &arguments).await
    }

    async fn set(&self, service: &'static ServiceShape, action: &'static str, input: Value) {
        let call = SignedCall::new(ActionShape::new(service, action), input);
        self.0.call(&Target::default(), call).await.unwrap();
    }
}

#[tokio::test]
async fn secrets_logs_metrics_tables_and_the_caller() {
    let Some(moto) = Moto::start() else { return };
    let asked = Asked(Arc::new(moto.aws()));

    let data = asked.ask("info_whoami", json!({})).await.unwrap().data;
    assert_eq!(data["account"], "123456789012");
    assert_eq!(data["region"], "eu-west-1");

    let secret = json!({ "secretName": "key", "secretValue": "first-secret-value" });
    asked.ask("secret_create", secret.clone()).await.unwrap();
    let taken = asked.ask("secret_create", secret).await.unwrap_err();
    assert_eq!(
        code_and_reason(&taken),
        ("ALREADY_EXISTS", "exists".to_owned())
    );
    let shown = asked
        .ask("secret_get", json!({ "secretName": "key" }))
        .await
        .unwrap()
        .data;
    assert_eq!(shown["value"], "firs...alue");
    let deleted = asked
        .ask(
            "secret_delete",
            json!({ "secretName": "key", "recoveryDays": 7 }),
        )
        .await
        .unwrap();
    assert!(deleted.data["deletionDate"].is_string());
    let again = json!({ "secretName": "key", "secretValue": "other-secret-value" });
    let waits = asked.ask("secret_create", again.clone()).await.unwrap_err();
    assert_eq!(
        code_and_reason(&waits),
        ("ALREADY_EXISTS", "scheduled_for_deletion".to_owned())
    );
    let mut forced = again;
    forced["forceUpdate"] = json!(true);
    assert_eq!(
        asked.ask("secret_create", forced).await.unwrap().data["restored"],
        true
    );
    let shown = asked
        .ask("secret_get", json!({ "secretName": "key" }))
        .await
        .unwrap()
        .data;
    assert_eq!(shown["value"], "othe...alue");
    let force = json!({ "secretName": "key", "force": true, "confirm": true });
    asked.ask("secret_delete", force).await.unwrap();
    let gone = asked
        .ask("secret_get", json!({ "secretName": "key" }))
        .await
        .unwrap_err();
    assert_eq!(code_and_reason(&gone).0, "NOT_FOUND");

    stack(&asked.0).await;
    let of = |more: Value| {
        let mut arguments = json!({ "projectName": "shop", "stage": "dev" });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        arguments
    };
    let data = asked.ask("info_stack", of(json!({}))).await.unwrap().data;
    assert_eq!(data["resourceCount"], 2, "{data}");
    let stacks = asked
        .ask("info_stacks", json!({ "projectName": "shop" }))
        .await
        .unwrap()
        .data;
    assert_eq!(stacks["stacks"][0]["managedBy"], "windlass");

    let (group, now) = ("/shop/api", SystemClock.now().as_millis());
    let stream = json!({ "logGroupName": group, "logStreamName": "s" });
    asked.set(&services::LOGS, "CreateLogStream", stream).await;
    let lines = json!({ "logGroupName": group, "logStreamName": "s", "logEvents": [
        { "timestamp": now - 2, "message": "one order failed" },
        { "timestamp": now - 1, "message": "fine" },
        { "timestamp": now, "message": "two order failed" },
    ] });
    asked.set(&services::LOGS, "PutLogEvents", lines).await;
    let later = SystemClock
        .now()
        .after(std::time::Duration::from_secs(60))
        .to_string();
    let mut arguments =
        of(json!({ "resourceName": "api", "filter": "\"order failed\"", "endTime": later }));
    let data = asked.ask("logs", arguments.clone()).await.unwrap().data;
    assert_eq!(data["count"], 2, "{data}");
    arguments["limit"] = json!(1);
    let data = asked.ask("logs", arguments.clone()).await.unwrap().data;
    assert_eq!(data["events"][0]["message"], "one order failed");
    arguments["cursor"] = data["nextCursor"].clone();
    let data = asked.ask("logs", arguments).await.unwrap().data;
    assert_eq!(data["events"][0]["message"], "two order failed", "{data}");

    for (id, number) in [("a", "1"), ("b", "2"), ("c", "3")] {
        let item = json!({ "id": { "S": id }, "n": { "N": number } });
        asked
            .set(
                &services::DYNAMODB,
                "PutItem",
                json!({ "TableName": "shop-dev-items", "Item": item }),
            )
            .await;
    }
    let items = |more: Value| {
        let mut arguments = of(json!({ "resourceName": "items" }));
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        asked.ask("dynamodb", arguments)
    };
    assert_eq!(
        items(json!({ "operation": "scan", "limit": 2 }))
            .await
            .unwrap()
            .data["truncated"],
        true
    );
    assert_eq!(items(json!({})).await.unwrap().data["count"], 3);
    assert_eq!(
        items(json!({ "operation": "query", "pk": "b" }))
            .await
            .unwrap()
            .data["items"],
        json!([{ "id": "b", "n": 2 }])
    );
    assert_eq!(
        items(json!({ "operation": "get", "key": { "id": "c" } }))
            .await
            .unwrap()
            .data["item"]["n"],
        3
    );
    assert_eq!(
        code_and_reason(
            &items(json!({ "operation": "get", "pk": "z" }))
                .await
                .unwrap_err()
        )
        .0,
        "NOT_FOUND"
    );
    assert_eq!(
        items(json!({ "operation": "schema" })).await.unwrap().data["keySchema"][0]["AttributeName"],
        "id"
    );

    let datum = json!({ "MetricName": "ConsumedReadCapacityUnits", "Value": 4, "Unit": "Count",
        "Dimensions": [{ "Name": "TableName", "Value": "shop-dev-items" }], "Timestamp": SystemClock.now().to_string() });
    asked
        .set(
            &services::CLOUDWATCH,
            "PutMetricData",
            json!({ "Namespace": "AWS/DynamoDB", "MetricData": [datum] }),
        )
        .await;
    let arguments = of(
        json!({ "resourceName": "items", "metric": "ConsumedReadCapacityUnits", "stat": "Sum", "endTime": later }),
    );
    let data = asked.ask("metrics", arguments).await.unwrap().data;
    assert_eq!(data["datapoints"][0]["value"], 4.0, "{data}");
    assert_eq!(data["unit"], "Count");
    assert_eq!(
        asked.ask("alarms", of(json!({}))).await.unwrap().data["count"],
        0
    );

    let sdk = json!({ "service": "dynamodb", "command": "ListTables" });
    let data = asked.ask("aws_sdk", sdk).await.unwrap().data;
    assert_eq!(data["data"]["TableNames"], json!(["shop-dev-items"]));
}

/// A stack of what moto really makes.
async fn stack(aws: &Aws) {
    let template = json!({
        "Description": "windlass-stack shop dev",
        "Resources": {
            "ApiLogGroup": { "Type": "AWS::Logs::LogGroup", "Properties": { "LogGroupName": "/shop/api" } },
            "ItemsTable": { "Type": "AWS::DynamoDB::Table", "Properties": {
                "TableName": "shop-dev-items", "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{ "AttributeName": "id", "AttributeType": "S" }],
                "KeySchema": [{ "AttributeName": "id", "KeyType": "HASH" }],
            } },
        },
    });
    let target = Target::default();
    let address = ChangeSetAddress {
        stack: "shop-dev".to_owned(),
        change_set: "first".to_owned(),
    };
    let template = TemplateSource::Body(template.to_string());
    let mut request = CreateChangeSet::new("shop-dev", "first", ChangeSetKind::Create, template);
    for (key, value) in [("windlass:project", "shop"), ("windlass:stage", "dev")] {
        request.tags.insert(key.to_owned(), value.to_owned());
    }
    aws.create_change_set(&target, request).await.unwrap();
    let execute = ExecuteChangeSet {
        address,
        client_request_token: None,
        disable_rollback: None,
    };
    aws.execute_change_set(&target, execute).await.unwrap();
}
