//! Sessions of local development from outside: whose lines are shown, what scripts run with, and
//! what of AWS is there. Functions are shell programs, so that nothing has to be installed.

use std::{
    os::unix::fs::PermissionsExt as _,
    process::Stdio,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use windlass_ports::aws::services;

use super::{
    moto::Moto,
    world::{World, args, lines_of},
};

/// A program that prints a line and waits for events.
const BOOTSTRAP: &str = r#"#!/usr/bin/env bash
echo "SAYS"
exec 3<>"/dev/tcp/${AWS_LAMBDA_RUNTIME_API%:*}/${AWS_LAMBDA_RUNTIME_API##*:}"
printf 'GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: runtime\r\n\r\n' >&3
exec cat <&3 >/dev/null
"#;

/// A function with more in its properties, and more resources.
fn config(of_function: &str, resources: &str) -> String {
    format!(
        "
serviceName: shop
resources:
  api:
    type: function
    properties:
      packaging:
        type: custom-artifact
        properties:
          packagePath: local
      runtime: provided.al2023
{of_function}{resources}"
    )
}

fn says(world: &World, line: &str) {
    world.file("local/bootstrap", &BOOTSTRAP.replace("SAYS", line));
    let file = world.project().join("local/bootstrap");
    let mode = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(file, mode).unwrap();
}

/// Ends the session, also where the test fails.
struct Session<'a>(&'a World);

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.0.cli(&["dev", "stop"]);
    }
}

#[test]
fn a_session_shows_its_own_lines_and_not_those_of_the_one_before() {
    let world = World::new();
    world.config(&config("", ""));
    says(&world, "said by the first session");
    world.trust();
    let _session = Session(&world);
    let mut tool_client = world.tool_client();
    tool_client.dev("start", &json!({})).worked();
    tool_client.dev("stop", &json!({})).worked();

    says(&world, "said by the second session");
    world.trust();
    let started = tool_client.dev("start", &json!({}));
    let cursor = started.worked()["cursor"].clone();
    for input in [json!({}), json!({ "cursor": cursor })] {
        let page = tool_client.dev("logs", &input);
        let lines = page.worked()["logs"].as_str().unwrap().to_owned();
        assert!(lines.contains("said by the second session"), "{lines}");
        assert!(!lines.contains("said by the first session"), "{lines}");
    }
    // They are not lost.
    let all = tool_client.dev("logs", &json!({ "cursor": 0 }));
    let lines = all.worked()["logs"].as_str().unwrap();
    assert!(lines.contains("said by the first session"), "{lines}");
    tool_client.dev("stop", &json!({})).worked();

    says(&world, "said by the third session");
    world.trust();
    let mut live = world.command();
    live.args(["stack", "dev", "--stop-on-exit"]);
    live.stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut live = live.spawn().unwrap();
    let lines = lines_of(live.stdout.take().unwrap());
    let began = Instant::now();
    let mut shown = Vec::new();
    while !shown
        .iter()
        .any(|line: &String| line.contains("ready after"))
    {
        assert!(began.elapsed() < Duration::from_secs(60), "{shown:?}");
        shown.extend(lines.recv_timeout(Duration::from_secs(60)));
    }
    let id = i32::try_from(live.id()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), Signal::INT).unwrap();
    live.wait().unwrap();
    shown.extend(lines.iter());
    let shown = shown.join("\n");
    assert!(shown.contains("said by the third session"), "{shown}");
    assert!(
        !shown.contains("first session") && !shown.contains("second session"),
        "{shown}"
    );
}

const SCRIPTS: &str = "
  bastion:
    type: bastion
  gate:
    type: http-api-gateway
  jobs:
    type: sqs-queue
scripts:
  seed:
    type: local-script-with-bastion-tunneling
    properties:
      executeCommand: echo \"gate $STP_GATE_URL key $KEY account $ACCOUNT\"
      connectTo: [gate, jobs]
      environment:
        - name: KEY
          value: $Secret('mail.key')
        - name: ACCOUNT
          value: $AwsAccountId()
  far:
    type: bastion-script
    properties:
      executeCommand: df -h
";

#[test]
fn a_script_runs_with_the_session_of_its_stage() {
    let world = World::new().env(
        "AWS_ENDPOINT_URL_SQS",
        "https://sqs.eu-west-1.amazonaws.com",
    );
    world.config(&config("", SCRIPTS));
    world.file(".env.local", "MAIL_KEY=local-value-of-the-key\n");
    says(&world, "hello");
    world.trust();
    let _session = Session(&world);
    let started = world.cli(&["dev", "start", "--stage", "dev"]);
    assert_eq!(started.code, Some(0), "{}", started.stderr);

    let mark = world.mark();
    let ran = world.cli(&["script", "run", "seed", "--stage", "dev"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("gate http://127.0.0.1:"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("account 000000000000") && !ran.stdout.contains("local-value"),
        "{}",
        ran.stdout
    );
    for line in [
        "seed runs with the development session shop-dev on this machine",
        "jobs does not run locally; seed gets no variables for it",
    ] {
        assert!(ran.stderr.contains(line), "{line}\n{}", ran.stderr);
    }
    assert_eq!(world.mark(), mark, "nothing is asked of AWS");

    // Asked for, or of another stage: the deployed stack.
    for stage in [&["--stage", "dev", "--deployed"][..], &["--stage", "prod"]] {
        let mut command = vec!["script", "run", "seed"];
        command.extend(stage);
        let deployed = world.cli(&command);
        assert_eq!(deployed.code, Some(1), "{}", deployed.stdout);
        assert!(
            deployed
                .stderr
                .contains("seed runs with the deployed stack shop-"),
            "{}",
            deployed.stderr
        );
        assert!(world.mark() > mark);
    }
    let far = world.cli(&["script", "run", "far", "--stage", "dev"]);
    assert!(
        far.stderr
            .contains("far runs with the deployed stack shop-dev"),
        "{}",
        far.stderr
    );
    let role = world.cli(&[
        "script",
        "run",
        "seed",
        "--stage",
        "dev",
        "--assume-role-of-resource",
        "api",
    ]);
    assert!(
        role.stderr.contains("--deployed") && role.code != Some(0),
        "{}",
        role.stderr
    );
}

/// What was approved for this machine is not done to the deployed stack.
#[test]
fn a_script_that_was_approved_for_a_session_is_not_run_without_it() {
    let world = World::with_policy(
        "version = 1
approvers = [\"local:*\"]
[[rule]]
operation = \"stack.script_run\"
decision = \"ask\"
",
    );
    let scripts = "scripts: { hello: { type: local-script, properties: { executeCommand: 'touch ran.txt' } } }\n";
    world.config(&config("", scripts));
    says(&world, "hello");
    world.trust();
    let _session = Session(&world);
    let mut tool_client = world.tool_client();
    tool_client.dev("start", &json!({})).worked();
    let waiting = tool_client.ops("script_run", &args(json!({ "scriptName": "hello" })));
    let run = waiting.body["data"]["runId"].as_str();
    let run = run.unwrap_or_else(|| panic!("{waiting:#?}")).to_owned();
    let show = |format: &[&str]| {
        let mut show = world.command();
        let shown = show.args(["runs", "show", &run]).args(format).output();
        let shown = shown.unwrap();
        String::from_utf8(shown.stdout).unwrap() + &String::from_utf8(shown.stderr).unwrap()
    };
    let asked = show(&[]);
    assert!(
        asked.contains("with the development session shop-dev on this machine"),
        "{asked}"
    );
    tool_client.dev("stop", &json!({})).worked();
    let mut approve = world.command();
    approve.args(["runs", "approve", &run]).output().unwrap();
    let began = Instant::now();
    while !show(&["--json"]).contains("script_changed") {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", show(&[]));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!world.project().join("ran.txt").exists());
}

const DATA: &str = "
  items:
    type: dynamo-db-table
    properties:
      primaryKey:
        partitionKey: { name: id, type: string }
        sortKey: { name: at, type: number }
INDEXES
  files:
    type: bucket
    properties:
      versioning: true
  jobs:
    type: sqs-queue
    properties:
      visibilityTimeoutSeconds: 77
      redrivePolicy: { targetSqsQueueName: failed, maxReceiveCount: 4 }
  failed:
    type: sqs-queue
  ordered:
    type: sqs-queue
    properties:
      fifoEnabled: true
      contentBasedDeduplication: true
  news:
    type: sns-topic
";

const CONNECTED: &str = "      connectTo: [items, files, jobs, ordered]\n";

fn without_emulator() -> World {
    World::new().env("AWS_ENDPOINT_URL", "")
}

#[test]
fn what_is_not_local_is_said_with_what_to_set() {
    let world = without_emulator();
    let config = config(CONNECTED, &DATA.replace("INDEXES", ""));
    world.config(&config);
    says(&world, "table $STP_ITEMS_NAME endpoint $AWS_ENDPOINT_URL");
    world.trust();
    let _session = Session(&world);
    let started = world.cli(&["dev", "start"]);
    assert_eq!(started.code, Some(0), "{}", started.stderr);
    let status = world.cli(&["dev", "status"]);
    let logs = world.cli(&["dev", "logs"]);
    for (name, service, variable) in [
        ("items", "DynamoDB", "AWS_ENDPOINT_URL_DYNAMODB"),
        ("files", "S3", "AWS_ENDPOINT_URL_S3"),
        ("jobs", "SQS", "AWS_ENDPOINT_URL_SQS"),
    ] {
        let why = format!("{service} does not run locally: set {variable} ");
        let line = format!("{name}: {why}");
        for shown in [&started.stdout, &status.stdout, &logs.stdout] {
            assert!(shown.contains(&line), "{line}\n{shown}");
        }
        let mut tool_client = world.tool_client();
        let status = tool_client.dev("status", &json!({}));
        let shown = status.worked()["elsewhere"][name].as_str().unwrap();
        assert!(shown.starts_with(&format!("not-local: {why}")), "{shown}");
    }
    let again = world.tool_client().dev("start", &json!({}));
    assert_eq!(
        again.message(),
        "the session was already running; not running locally: failed, files, items, jobs, news, ordered"
    );
}

#[test]
fn an_emulator_that_does_not_answer_fails_the_start_with_its_address() {
    let world = without_emulator().env("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:9");
    world.config(&config("", "  jobs:\n    type: sqs-queue\n"));
    says(&world, "hello");
    world.trust();
    let _session = Session(&world);
    let mut tool_client = world.tool_client();
    let started = tool_client.dev("start", &json!({}));
    started.refused("INTERNAL_ERROR");
    assert!(
        started
            .message()
            .starts_with("jobs: jobs could not be created at http://127.0.0.1:9: "),
        "{}",
        started.message()
    );
    let status = tool_client.dev("status", &json!({}));
    assert_eq!(status.worked()["ready"], false, "{:#}", status.body);
}

#[test]
fn tables_buckets_and_queues_are_there_when_it_says_ready() {
    let Some(moto) = Moto::start() else { return };
    let world = without_emulator()
        .env("AWS_ENDPOINT_URL_DYNAMODB", moto.url())
        .env("AWS_ENDPOINT_URL_S3", moto.url())
        .env("AWS_ENDPOINT_URL_SQS", moto.url());
    world.config(&config(CONNECTED, &DATA.replace("INDEXES", "")));
    says(
        &world,
        "table $STP_ITEMS_NAME bucket $STP_FILES_NAME url $STP_JOBS_URL at $AWS_ENDPOINT_URL_SQS as $AWS_ACCESS_KEY_ID all <$AWS_ENDPOINT_URL>",
    );
    world.trust();
    let _session = Session(&world);
    let mut tool_client = world.tool_client();
    let started = tool_client.dev("start", &json!({}));
    let data = started.worked().clone();
    assert_eq!(data["ready"], true, "{data:#}");
    let shown = |name: &str| data["elsewhere"][name].as_str().unwrap().to_owned();
    assert_eq!(shown("items"), format!("{} (shop-dev-items)", moto.url()));
    // No variable names an emulator of topics.
    assert!(shown("news").starts_with("not-local: SNS does not run locally"));

    let table = moto.ask(
        &services::DYNAMODB,
        "DescribeTable",
        json!({ "TableName": "shop-dev-items" }),
    );
    assert_eq!(
        table["Table"]["KeySchema"],
        json!([
            { "AttributeName": "id", "KeyType": "HASH" },
            { "AttributeName": "at", "KeyType": "RANGE" },
        ])
    );
    let queue = |name: &str| attributes(&moto, name);
    let (jobs, failed, ordered) = (
        queue("shop-dev-jobs"),
        queue("shop-dev-failed"),
        queue("shop-dev-ordered.fifo"),
    );
    assert_eq!(jobs["VisibilityTimeout"], "77", "{jobs:#}");
    let redrive: Value = serde_json::from_str(jobs["RedrivePolicy"].as_str().unwrap()).unwrap();
    assert_eq!(redrive["deadLetterTargetArn"], failed["QueueArn"]);
    assert_eq!(
        (&ordered["FifoQueue"], &ordered["ContentBasedDeduplication"]),
        (&json!("true"), &json!("true"))
    );

    let logs = tool_client.dev("logs", &json!({ "workload": "api" }));
    let lines = logs.worked()["logs"].as_str().unwrap();
    let expected = format!(
        "table shop-dev-items bucket shop-dev-files url {}/123456789012/shop-dev-jobs at {} as local all <>",
        moto.url(),
        moto.url()
    );
    assert!(lines.contains(&expected), "{expected}\n{lines}");

    // The HTTP API works on the same table, and a next start finds everything, with an index that
    // the config has since.
    tool_client.dev("stop", &json!({})).worked();
    let index = "      secondaryIndexes:\n        - { name: byOwner, partitionKey: { name: owner, type: string } }";
    world.config(&config(CONNECTED, &DATA.replace("INDEXES", index)));
    world.trust();
    tool_client.dev("start", &json!({})).worked();
    let table = moto.ask(
        &services::DYNAMODB,
        "DescribeTable",
        json!({ "TableName": "shop-dev-items" }),
    );
    assert_eq!(
        table["Table"]["GlobalSecondaryIndexes"][0]["IndexName"],
        "byOwner"
    );

    // Another key is another table, and the data of this one is not thrown away.
    tool_client.dev("stop", &json!({})).worked();
    let other = DATA
        .replace("INDEXES", "")
        .replace("name: at", "name: time");
    world.config(&config("", &other));
    world.trust();
    let refused = tool_client.dev("start", &json!({}));
    refused.refused("INTERNAL_ERROR");
    assert!(
        refused.message().contains("is there with other keys"),
        "{}",
        refused.message()
    );
}

/// The attributes of a queue.
fn attributes(moto: &Moto, name: &str) -> Value {
    let url = moto.ask(&services::SQS, "GetQueueUrl", json!({ "QueueName": name }));
    let asked = json!({ "QueueUrl": url["QueueUrl"], "AttributeNames": ["All"] });
    moto.ask(&services::SQS, "GetQueueAttributes", asked)["Attributes"].take()
}
