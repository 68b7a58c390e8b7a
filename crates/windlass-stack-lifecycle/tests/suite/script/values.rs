//! Variables from the deployed stack, from secrets, parameters and other stacks.

use serde_json::{Value, json};
use windlass_ports::aws::Export;

use super::world::{World, resource, stack};

const CANARY: &str = "canary-9f3b-value";

fn runtime(value: Value) -> Value {
    json!({ "$runtime": value })
}

/// A script that prints the variables whose names begin with `SHOWN` or `STP`.
fn with(environment: Value, connect_to: Value) -> World {
    World::new(json!({
        "executeCommand": "env | grep -E '^(SHOWN|STP|AWS_)' | sort",
        "environment": environment,
        "connectTo": connect_to,
    }))
}

fn database() -> Value {
    json!({ "db": {
        "type": "relational-database",
        "properties": {
            "credentials": {
                "masterUserName": "ada",
                "masterUserPassword": runtime(json!({ "directive": "secret", "name": "db-password" })),
            },
            "engine": { "type": "postgres", "properties": {
                "version": "16.2", "dbName": "shop",
                "primaryInstance": { "instanceSize": "db.t4g.micro" },
            } },
        },
    } })
}

fn answers(world: &mut World, answers: &[(&str, &str, Value)]) {
    for (permission, name, answer) in answers {
        let key = ((*permission).to_owned(), (*name).to_owned());
        world.cloud.answers.insert(key, answer.clone());
    }
}

#[tokio::test]
async fn literals_need_no_aws_and_the_call_wins() {
    let environment = json!([
        { "name": "SHOWN_A", "value": "text" },
        { "name": "SHOWN_B", "value": 7 },
        { "name": "SHOWN_C", "value": true },
    ]);
    let mut world = with(environment, json!([]));
    world.env = vec![("SHOWN_C".to_owned(), "mine".to_owned())];
    world
        .inherited
        .insert("SHOWN_A".to_owned(), "inherited".to_owned());
    let done = world.run().await;
    insta::assert_snapshot!(done.tail(), @r"
    AWS_DEFAULT_REGION=eu-west-1
    AWS_REGION=eu-west-1
    SHOWN_A=text
    SHOWN_B=7
    SHOWN_C=mine
    ");
    assert!(done.asked.is_empty(), "{:?}", done.asked);
}

#[tokio::test]
async fn a_connected_database_is_built_from_outputs_and_its_secret() {
    let mut world = with(json!([]), json!(["db"])).resources(database());
    world.cloud.stack = Some(stack(&[
        ("DbHost", "db.example"),
        ("DbPort", "5432"),
        ("DbDbName", "shop"),
    ]));
    world.cloud.resources = vec![resource(
        "DbDbInstance",
        "AWS::RDS::DBInstance",
        "shop-dev-db",
    )];
    world.cloud.template = json!({ "Outputs": {
        "DbHost": { "Value": { "Fn::GetAtt": ["DbDbInstance", "Endpoint.Address"] } },
        "DbPort": { "Value": { "Fn::GetAtt": ["DbDbInstance", "Endpoint.Port"] } },
    } })
    .to_string();
    answers(
        &mut world,
        &[(
            "secretsmanager:GetSecretValue",
            "db-password",
            json!({ "SecretString": CANARY }),
        )],
    );
    let script = "env | grep ^STP | sort; [ \"$STP_DB_CONNECTION_STRING\" = \"postgresql://ada:canary-9f3b-value@db.example:5432/shop\" ] && echo exact";
    world.config["scripts"]["it"]["properties"]["executeCommand"] = json!(script);
    let done = world.run().await;
    let tail = done.tail();
    assert!(!tail.contains(CANARY), "{tail}");
    assert!(tail.contains("STP_DB_HOST=db.example"), "{tail}");
    assert!(tail.ends_with("exact"), "{tail}");
    assert!(!done.redactor.redact(CANARY).contains(CANARY));
    // Each thing is asked for once.
    let mut asked = done.asked.clone();
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), done.asked.len(), "{:?}", done.asked);
}

#[tokio::test]
async fn an_output_of_the_config_is_not_mistaken_for_a_parameter() {
    let mut world = with(json!([]), json!(["files"]))
        .resources(json!({ "files": { "type": "bucket", "properties": {} } }));
    world.config["stackConfig"] = json!({ "outputs": [{ "name": "filesName", "value": "other" }] });
    world.cloud.stack = Some(stack(&[("FilesName", "other"), ("FilesArn", "arn:files")]));
    let done = world.run().await;
    let tail = done.tail();
    assert!(tail.contains("STP_FILES_ARN=arn:files\n"), "{tail}");
    assert!(tail.contains("STP_FILES_NAME=shop-dev-files-"), "{tail}");
}

#[tokio::test]
async fn a_stack_that_is_not_there_is_named() {
    let done = with(json!([]), json!(["db"]))
        .resources(database())
        .run()
        .await;
    assert_eq!(
        done.code_and_reason(),
        ("NOT_FOUND", "not_found".to_owned())
    );
    let problem = done.result.unwrap_err();
    assert_eq!(problem.details()["kind"], "stack");
    assert_eq!(problem.details()["name"], "shop-dev");

    let mut empty = with(json!([]), json!(["db"])).resources(database());
    empty.cloud.stack = Some(stack(&[]));
    answers(
        &mut empty,
        &[(
            "secretsmanager:GetSecretValue",
            "db-password",
            json!({ "SecretString": CANARY }),
        )],
    );
    let done = empty.run().await;
    // Its name and port follow from the config; that does not make it be there.
    assert_eq!(
        done.code_and_reason(),
        ("NOT_FOUND", "not_found".to_owned())
    );
    let problem = done.result.unwrap_err();
    insta::assert_snapshot!(problem.message(), @r#"the script "it" connects to "db", which the stack shop-dev does not have"#);
}

#[tokio::test]
async fn secrets_parameters_formats_and_exports() {
    let secret =
        |key: Option<&str>| runtime(json!({ "directive": "secret", "name": "app", "key": key }));
    let environment = json!([
        { "name": "SHOWN_KEY", "value": secret(Some("key")) },
        { "name": "SHOWN_PORT", "value": secret(Some("port")) },
        { "name": "SHOWN_PLAIN", "value": runtime(json!({ "directive": "ssmParam", "name": "/plain" })) },
        { "name": "SHOWN_SECURE", "value": runtime(json!({ "directive": "ssmParam", "name": "/secure", "version": 2 })) },
        { "name": "SHOWN_VPC", "value": runtime(json!({ "directive": "cfStackOutput", "stack": "net", "output": "vpc" })) },
        { "name": "SHOWN_URL", "value": runtime(json!({ "directive": "cfFormat", "parts": [
            "https://", runtime(json!({ "directive": "resourceParam", "resource": "files", "param": "name" })), "/x",
        ] })) },
        { "name": "SHOWN_ATTRIBUTE", "value": runtime(json!({
            "directive": "cfResourceParam", "logicalId": "FilesBucket", "attribute": "Arn" })) },
    ]);
    let mut world = with(environment, json!([]))
        .resources(json!({ "files": { "type": "bucket", "properties": {} } }));
    world.cloud.stack = Some(stack(&[
        ("FilesName", "shop-files-1"),
        ("FilesArn", "arn:aws:s3:::f"),
    ]));
    world.cloud.resources = vec![resource("FilesBucket", "AWS::S3::Bucket", "shop-files-1")];
    world.cloud.template = json!({ "Outputs": {
        "FilesArn": { "Value": { "Fn::GetAtt": ["FilesBucket", "Arn"] } },
    } })
    .to_string();
    world.cloud.exports = vec![Export {
        name: "net-vpc".to_owned(),
        value: "vpc-1".to_owned(),
        ..Export::default()
    }];
    let whole = json!({ "key": CANARY, "port": 5432 }).to_string();
    answers(
        &mut world,
        &[
            (
                "secretsmanager:GetSecretValue",
                "app",
                json!({ "SecretString": whole }),
            ),
            (
                "ssm:GetParameter",
                "/plain",
                json!({ "Parameter": { "Value": "open", "Type": "String" } }),
            ),
            (
                "ssm:GetParameter",
                "/secure:2",
                json!({ "Parameter": { "Value": "second-canary-77", "Type": "SecureString" } }),
            ),
        ],
    );
    let done = world.run().await;
    assert_eq!(
        done.asked.iter().filter(|it| it.ends_with(" app")).count(),
        1
    );
    insta::assert_snapshot!(done.tail(), @r"
    AWS_DEFAULT_REGION=eu-west-1
    AWS_REGION=eu-west-1
    SHOWN_ATTRIBUTE=arn:aws:s3:::f
    SHOWN_KEY=[redacted:secret-value]
    SHOWN_PLAIN=open
    SHOWN_PORT=5432
    SHOWN_SECURE=[redacted:secret-value]
    SHOWN_URL=https://shop-files-1/x
    SHOWN_VPC=vpc-1
    ");
}

#[tokio::test]
async fn missing_parts_of_a_value_are_reported() {
    let bucket = json!({ "files": { "type": "bucket", "properties": {} } });
    let cases = [
        (
            json!({ "directive": "secret", "name": "gone" }),
            "INVALID_INPUT",
            "missing_secret",
        ),
        (
            json!({ "directive": "secret", "name": "app", "key": "gone" }),
            "INVALID_INPUT",
            "missing_secret",
        ),
        (
            json!({ "directive": "secret", "name": "binary" }),
            "INVALID_INPUT",
            "binary_secret",
        ),
        (
            json!({ "directive": "ssmParam", "name": "/gone" }),
            "INVALID_INPUT",
            "missing_parameter",
        ),
        (
            json!({ "directive": "cfStackOutput", "stack": "a", "output": "b" }),
            "NOT_FOUND",
            "not_found",
        ),
        (
            json!({ "directive": "resourceParam", "resource": "files", "param": "gone" }),
            "INVALID_INPUT",
            "unknown_parameter",
        ),
        (
            json!({ "directive": "cfResourceParam", "logicalId": "Gone", "attribute": "Arn" }),
            "NOT_FOUND",
            "not_found",
        ),
        (
            json!({ "directive": "cfResourceParam", "logicalId": "FilesBucket", "attribute": "Gone" }),
            "NOT_FOUND",
            "not_found",
        ),
    ];
    for (value, code, reason) in cases {
        let environment = json!([{ "name": "SHOWN", "value": runtime(value.clone()) }]);
        let mut world = with(environment, json!([])).resources(bucket.clone());
        world.cloud.stack = Some(stack(&[]));
        world.cloud.template = "{}".to_owned();
        world.cloud.resources = vec![resource("FilesBucket", "AWS::S3::Bucket", "b")];
        answers(
            &mut world,
            &[
                (
                    "secretsmanager:GetSecretValue",
                    "app",
                    json!({ "SecretString": format!("{{\"key\":\"{CANARY}\"}}") }),
                ),
                (
                    "secretsmanager:GetSecretValue",
                    "binary",
                    json!({ "SecretBinary": "AAAA" }),
                ),
            ],
        );
        let done = world.run().await;
        assert_eq!(done.code_and_reason(), (code, reason.to_owned()), "{value}");
        let shown = format!("{:?}", done.result);
        assert!(!shown.contains(CANARY), "{shown}");
    }
}

#[tokio::test]
async fn no_way_of_printing_shows_a_secret() {
    let environment = json!([{
        "name": "SHOWN", "value": runtime(json!({ "directive": "secret", "name": "app" })),
    }]);
    let commands = [
        "echo $SHOWN",
        "echo \"x${SHOWN}y\" >&2; exit 1",
        "printf '%s' \"$SHOWN\" | cut -c1-17; exit 2",
        "printf '\\033[1m%s\\033[0m' \"$SHOWN\"",
        "sh -c \"exit 3\" \"$SHOWN\" || { echo \"failed with $SHOWN\"; false; }",
    ];
    for command in commands {
        let mut world = with(environment.clone(), json!([]));
        world.config["scripts"]["it"]["properties"]["executeCommand"] = json!(command);
        answers(
            &mut world,
            &[(
                "secretsmanager:GetSecretValue",
                "app",
                json!({ "SecretString": CANARY }),
            )],
        );
        let done = world.run().await;
        let everything = format!("{:?} {:?}", done.result, done.lines);
        assert!(!everything.contains(CANARY), "{command}: {everything}");
        assert!(everything.contains("redacted"), "{command}: {everything}");
    }
}
