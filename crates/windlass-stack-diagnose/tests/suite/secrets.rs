//! Secrets made, shown masked, deleted.

use serde_json::{Value, json};

use super::world::{World, code_and_reason};

fn made() -> Value {
    json!({ "ARN": "arn:secret", "VersionId": "2", "Name": "key" })
}

#[tokio::test]
async fn a_secret_is_created_from_a_value_or_a_file() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("text"), "file-value").unwrap();
    fs_err::write(folder.path().join("bytes"), [0xff, 0xfe]).unwrap();
    fs_err::write(folder.path().join("long"), vec![b'x'; 65_537]).unwrap();
    fs_err::write(folder.path().join("empty"), "").unwrap();
    for (source, expected) in [
        (
            json!({ "secretValue": "s3cret-value" }),
            Some(("SecretString", "s3cret-value")),
        ),
        (
            json!({ "secretFile": "text" }),
            Some(("SecretString", "file-value")),
        ),
        (
            json!({ "secretFile": "bytes" }),
            Some(("SecretBinary", "//4=")),
        ),
        (json!({ "secretFile": "long" }), None),
        (json!({ "secretFile": "empty" }), None),
        (json!({ "secretFile": "absent" }), None),
    ] {
        let mut world = World::new();
        world.settings.working_directory = folder.path().to_owned();
        world.cloud.answer("secretsmanager:CreateSecret", made());
        let mut arguments = source;
        arguments["secretName"] = json!("key");
        let (answered, left) = world.ask("secret_create", arguments).await;
        match expected {
            Some((member, value)) => {
                assert_eq!(answered.unwrap().data["arn"], "arn:secret");
                assert_eq!(
                    left.cloud.inputs("secretsmanager:CreateSecret")[0][member],
                    value
                );
            }
            None => assert_eq!(code_and_reason(&answered.unwrap_err()).0, "INVALID_INPUT"),
        }
    }
}

#[tokio::test]
async fn a_name_that_is_taken_needs_force() {
    let exists = ("ResourceExistsException", "already exists");
    let waits = (
        "InvalidRequestException",
        "the secret is already scheduled for deletion",
    );
    for (failure, deleted, reason) in [
        (exists, Value::Null, "exists"),
        (waits, json!(1_700_000_000), "scheduled_for_deletion"),
        (exists, json!(1_700_000_000), "scheduled_for_deletion"),
    ] {
        for force in [false, true] {
            let world = World::new();
            world
                .cloud
                .fail("secretsmanager:CreateSecret", failure.0, failure.1)
                .answer(
                    "secretsmanager:DescribeSecret",
                    json!({ "DeletedDate": deleted }),
                )
                .answer("secretsmanager:RestoreSecret", json!({}))
                .answer("secretsmanager:PutSecretValue", made());
            let arguments =
                json!({ "secretName": "key", "secretValue": "s3cret-value", "forceUpdate": force });
            let (answered, left) = world.ask("secret_create", arguments).await;
            let restored = left.cloud.inputs("secretsmanager:RestoreSecret").len();
            if force {
                assert_eq!(answered.unwrap().data["versionId"], "2");
                assert_eq!(restored, usize::from(!deleted.is_null()));
            } else {
                assert_eq!(
                    code_and_reason(&answered.unwrap_err()),
                    ("ALREADY_EXISTS", reason.to_owned())
                );
                assert_eq!(restored, 0);
            }
        }
    }
}

#[tokio::test]
async fn a_secret_is_shown_masked() {
    for (value, shown) in [
        ("12345678", "********"),
        ("123456789", "1234...6789"),
        ("ключ-секрет", "ключ...крет"),
    ] {
        let world = World::new();
        world.cloud.answer("secretsmanager:GetSecretValue", json!({
            "Name": "key", "ARN": "arn:secret", "VersionId": "1", "SecretString": value, "CreatedDate": 1_700_000_000.5,
        }));
        let (answered, _) = world
            .ask("secret_get", json!({ "secretName": "key" }))
            .await;
        let data = answered.unwrap().data;
        assert_eq!(data["value"], shown);
        assert_eq!(data["created"], "2023-11-14T22:13:20.500Z");
    }
    for (code, message, reason) in [
        ("ResourceNotFoundException", "no", "not_found"),
        (
            "InvalidRequestException",
            "marked for deletion",
            "scheduled_for_deletion",
        ),
    ] {
        let world = World::new();
        world
            .cloud
            .fail("secretsmanager:GetSecretValue", code, message);
        let (answered, _) = world
            .ask("secret_get", json!({ "secretName": "key" }))
            .await;
        assert_eq!(
            code_and_reason(&answered.unwrap_err()),
            ("NOT_FOUND", reason.to_owned())
        );
    }
}

#[tokio::test]
async fn deletion_is_scheduled_and_force_needs_a_yes() {
    let ask = |arguments: Value| {
        let world = World::new();
        world
            .cloud
            .answer("secretsmanager:DescribeSecret", json!({}))
            .answer(
                "secretsmanager:DeleteSecret",
                json!({ "ARN": "arn:secret", "DeletionDate": 1_700_000_000 }),
            );
        world.ask("secret_delete", arguments)
    };
    let (answered, left) = ask(json!({ "secretName": "key" })).await;
    assert_eq!(
        answered.unwrap().data["deletionDate"],
        "2023-11-14T22:13:20.000Z"
    );
    assert_eq!(
        left.cloud.inputs("secretsmanager:DeleteSecret")[0]["RecoveryWindowInDays"],
        30
    );
    let (answered, left) = ask(json!({ "secretName": "key", "force": true })).await;
    assert_eq!(
        code_and_reason(&answered.unwrap_err()).0,
        "CONFIRM_REQUIRED"
    );
    assert!(left.cloud.asked.lock().unwrap().is_empty());
    let (answered, left) =
        ask(json!({ "secretName": "key", "force": true, "confirm": true })).await;
    assert_eq!(answered.unwrap().data["recoverable"], false);
    assert_eq!(
        left.cloud.inputs("secretsmanager:DeleteSecret")[0]["ForceDeleteWithoutRecovery"],
        true
    );
    let world = World::new();
    world.cloud.fail(
        "secretsmanager:DescribeSecret",
        "ResourceNotFoundException",
        "no",
    );
    let (answered, _) = world
        .ask("secret_delete", json!({ "secretName": "key" }))
        .await;
    assert_eq!(code_and_reason(&answered.unwrap_err()).0, "NOT_FOUND");
}

#[tokio::test]
async fn a_server_that_only_reads_changes_nothing() {
    for (name, arguments) in [
        (
            "secret_create",
            json!({ "secretName": "key", "secretValue": "x" }),
        ),
        ("secret_delete", json!({ "secretName": "key" })),
        (
            "container_exec",
            json!({ "stackName": "shop-dev", "resourceName": "web", "command": "ls", "confirm": true }),
        ),
    ] {
        let mut world = World::new();
        world.settings.read_only = true;
        let (answered, left) = world.ask(name, arguments).await;
        let problem = answered.unwrap_err();
        assert_eq!(code_and_reason(&problem).0, "READ_ONLY_VIOLATION");
        assert_eq!(problem.details()["rule"], "server.read_only");
        assert!(left.cloud.asked.lock().unwrap().is_empty());
    }
}
