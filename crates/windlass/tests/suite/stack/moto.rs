//! Against moto, an independent implementation of AWS's services; stacks are the double's.
//!
//! Needs moto's server program in `WINDLASS_TEST_MOTO`; `cargo xtask test` sets it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use windlass_aws::Aws;
use windlass_config::env::Environment;
use windlass_ports::{
    Clock as _,
    aws::{ActionShape, AwsCalls as _, ServiceShape, SignedCall, Target, services},
};
use windlass_system::{OsEntropy, SystemClock};
use windlass_testkit::servers;

use super::world::{REGION, World, args};
use crate::suite::support::library::runtime;

pub(super) struct Moto {
    _server: servers::Moto,
    url: String,
}

impl Moto {
    pub(super) fn start() -> Option<Self> {
        let server = servers::Moto::start()?;
        Some(Self {
            url: server.url().to_owned(),
            _server: server,
        })
    }

    /// A world with nothing of ours in it: stacks and services are moto's.
    pub(super) fn whole(&self) -> World {
        World::new().env("AWS_ENDPOINT_URL", &self.url)
    }

    /// A world whose stacks are the double's and whose services are moto's.
    fn world(&self) -> World {
        let world = World::new();
        // The code is in moto's buckets, which the double does not see.
        let unseen = windlass_cfn_double::Command::VerifyCode { verify: false };
        world.control.apply(unseen).unwrap();
        let stacks = world.endpoint.clone();
        world
            .env("AWS_ENDPOINT_URL", &self.url)
            .env("AWS_ENDPOINT_URL_CLOUDFORMATION", &stacks)
    }

    /// Where it listens.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Calls a service to prepare the account.
    fn set(&self, service: &'static ServiceShape, action: &'static str, input: Value) {
        self.ask(service, action, input);
    }

    /// Calls a service.
    pub(super) fn ask(
        &self,
        service: &'static ServiceShape,
        action: &'static str,
        input: Value,
    ) -> Value {
        let environment = Environment::from_pairs([
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_REGION", REGION),
            ("AWS_ENDPOINT_URL", self.url.as_str()),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("HOME", "/nonexistent"),
        ]);
        runtime().block_on(async {
            let aws = Aws::new(&environment, Arc::new(SystemClock), Arc::new(OsEntropy));
            let call = SignedCall::new(ActionShape::new(service, action), input);
            aws.call(&Target::default(), call).await.unwrap()
        })
    }
}

const CONFIG: &str = "
serviceName: shop
resources:
  api:
    type: function
    properties:
      packaging:
        type: custom-artifact
        properties:
          packagePath: code
          handler: index.handler
      runtime: nodejs24.x
  items:
    type: dynamo-db-table
    properties:
      primaryKey:
        partitionKey: { name: id, type: string }
";

#[test]
fn a_project_from_nothing_to_its_logs() {
    let Some(moto) = Moto::start() else { return };
    let world = moto.world();
    world.config(CONFIG);
    world.file("code/index.mjs", "export const handler = async () => 1;\n");
    let mut tool_client = world.tool_client();
    let who = tool_client.diagnose("info_whoami", &json!({}));
    assert_eq!(who.worked()["account"], "123456789012");
    tool_client
        .ops("preview_changes", &args(json!({})))
        .worked();
    let deployed = tool_client.ops("deploy", &args(json!({})));
    assert_eq!(deployed.worked()["version"], "v000001");

    let (group, now) = ("/aws/lambda/shop-dev-api", SystemClock.now().as_millis());
    moto.set(
        &services::LOGS,
        "CreateLogGroup",
        json!({ "logGroupName": group }),
    );
    let stream = json!({ "logGroupName": group, "logStreamName": "s" });
    moto.set(&services::LOGS, "CreateLogStream", stream);
    let lines = json!({ "logGroupName": group, "logStreamName": "s", "logEvents": [
        { "timestamp": now - 2, "message": "one order failed" },
        { "timestamp": now - 1, "message": "fine" },
        { "timestamp": now, "message": "two order failed" },
    ] });
    moto.set(&services::LOGS, "PutLogEvents", lines);
    let later = SystemClock.now().after(Duration::from_secs(60)).to_string();
    let asked = json!({ "resourceName": "api", "filter": "\"order failed\"", "endTime": later, "limit": 1 });
    let first = tool_client.diagnose("logs", &args(asked.clone()));
    let data = first.worked();
    assert_eq!(data["logGroup"], group, "{data:#}");
    assert_eq!(data["events"][0]["message"], "one order failed");
    let mut next = asked;
    next["cursor"] = data["nextCursor"].clone();
    let second = tool_client.diagnose("logs", &args(next));
    assert_eq!(second.worked()["events"][0]["message"], "two order failed");

    let table = json!({
        "TableName": "shop-dev-items", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{ "AttributeName": "id", "AttributeType": "S" }],
        "KeySchema": [{ "AttributeName": "id", "KeyType": "HASH" }],
    });
    moto.set(&services::DYNAMODB, "CreateTable", table);
    for (id, number) in [("a", "1"), ("b", "2")] {
        let item = json!({ "id": { "S": id }, "n": { "N": number } });
        let put = json!({ "TableName": "shop-dev-items", "Item": item });
        moto.set(&services::DYNAMODB, "PutItem", put);
    }
    let scan = json!({ "resourceName": "items", "operation": "scan" });
    let scanned = tool_client.diagnose("dynamodb", &args(scan));
    assert_eq!(scanned.worked()["count"], 2, "{:#}", scanned.body);
    let get = json!({ "resourceName": "items", "operation": "get", "pk": "b" });
    assert_eq!(
        tool_client.diagnose("dynamodb", &args(get)).worked()["item"]["n"],
        2
    );
    let write = json!({ "resourceName": "items", "operation": "put" });
    let refused = tool_client.diagnose("dynamodb", &args(write));
    assert_eq!(refused.body["ok"], false, "{:#}", refused.body);

    let datum = json!({ "MetricName": "Errors", "Value": 4, "Unit": "Count",
        "Dimensions": [{ "Name": "FunctionName", "Value": "shop-dev-api" }],
        "Timestamp": SystemClock.now().to_string() });
    let metrics = json!({ "Namespace": "AWS/Lambda", "MetricData": [datum] });
    moto.set(&services::CLOUDWATCH, "PutMetricData", metrics);
    let asked =
        json!({ "resourceName": "api", "metric": "Errors", "stat": "Sum", "endTime": later });
    let answer = tool_client.diagnose("metrics", &args(asked));
    let data = answer.worked();
    assert_eq!(data["datapoints"][0]["value"], 4.0, "{data:#}");
    assert_eq!(data["unit"], "Count");
    assert_eq!(
        tool_client.diagnose("alarms", &args(json!({}))).worked()["alarms"],
        json!([])
    );
    let tables = json!({ "service": "dynamodb", "command": "ListTables", "region": REGION });
    let answer = tool_client.diagnose("aws_sdk", &tables);
    assert_eq!(
        answer.worked()["data"]["TableNames"],
        json!(["shop-dev-items"])
    );

    tool_client.confirmed("delete", &args(json!({}))).worked();
    assert_eq!(world.stacks(), Vec::<Value>::new());
}

#[test]
fn secrets_of_an_independent_secrets_manager() {
    let Some(moto) = Moto::start() else { return };
    let world = moto.world();
    let mut tool_client = world.tool_client();
    let of = |more: Value| {
        let mut all = json!({ "secretName": "key", "region": REGION });
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all
    };
    tool_client
        .ops(
            "secret_create",
            &of(json!({ "secretValue": "first-secret-value" })),
        )
        .worked();
    let taken = tool_client.ops(
        "secret_create",
        &of(json!({ "secretValue": "other-secret-value" })),
    );
    taken.refused_for("ALREADY_EXISTS", "exists");
    assert_eq!(
        tool_client.ops("secret_get", &of(json!({}))).worked()["value"],
        "firs...alue"
    );
    tool_client.ops("secret_delete", &of(json!({}))).worked();
    let waits = tool_client.ops(
        "secret_create",
        &of(json!({ "secretValue": "other-secret-value" })),
    );
    waits.refused_for("ALREADY_EXISTS", "scheduled_for_deletion");
    let forced = json!({ "secretValue": "other-secret-value", "forceUpdate": true });
    tool_client.ops("secret_create", &of(forced)).worked();
    assert_eq!(
        tool_client.ops("secret_get", &of(json!({}))).worked()["value"],
        "othe...alue"
    );
}
