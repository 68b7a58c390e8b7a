//! Scripts with the permissions of a resource.

use std::collections::BTreeMap;

use serde_json::json;
use windlass_ports::aws::Target;

use super::world::{World, resource, stack};

const SHOW: &str =
    "echo id=$AWS_ACCESS_KEY_ID token=${AWS_SESSION_TOKEN:+set} profile=$AWS_PROFILE";

fn world(script: serde_json::Value) -> World {
    let mut world = World::new(script).resources(json!({ "api": {
        "type": "function",
        "properties": { "packaging": {
            "type": "stacktape-lambda-buildpack",
            "properties": { "entryfilePath": "a.js" },
        } },
    } }));
    world.cloud.stack = Some(stack(&[]));
    world.cloud.resources = vec![resource("ApiRole", "AWS::IAM::Role", "shop-dev-ApiRole-X")];
    world.inherited.extend(BTreeMap::from([
        ("AWS_ACCESS_KEY_ID".to_owned(), "caller".to_owned()),
        ("AWS_SECRET_ACCESS_KEY".to_owned(), "caller-key".to_owned()),
        ("AWS_PROFILE".to_owned(), "mine".to_owned()),
    ]));
    world
}

#[tokio::test]
async fn the_role_replaces_the_callers_credentials() {
    let script = json!({ "executeCommand": format!("{SHOW}; echo $AWS_SECRET_ACCESS_KEY"), "assumeRoleOfResource": "api" });
    for by_argument in [false, true] {
        let mut world = world(script.clone());
        world.cloud.role = Some(("role-id".to_owned(), "canary-role-key-4711".to_owned()));
        if by_argument {
            let properties = &mut world.config["scripts"]["it"]["properties"];
            properties["assumeRoleOfResource"] = json!("other");
            world.role_of = Some("api".to_owned());
        }
        let done = world.run().await;
        let tail = done.tail();
        assert!(
            tail.starts_with("id=role-id token=set profile=\n"),
            "{tail}"
        );
        assert!(!tail.contains("canary"), "{tail}");
        assert!(
            done.asked.contains(
                &"AssumeRole arn:aws:iam::123456789012:role/shop-dev-ApiRole-X".to_owned()
            )
        );
    }
}

#[tokio::test]
async fn a_role_that_cannot_be_assumed_runs_nothing() {
    let script = json!({ "executeCommand": "touch ran", "assumeRoleOfResource": "api" });
    let denied = world(script.clone());
    let ran = denied.folder.path().join("ran");
    let done = denied.run().await;
    assert_eq!(
        done.code_and_reason(),
        ("UNAUTHORIZED", "role_not_assumable".to_owned())
    );
    assert!(!ran.exists());
    let problem = done.result.unwrap_err();
    insta::assert_snapshot!(problem.message(), @r#"arn:aws:iam::123456789012:user/ada may not assume the role of "api" (arn:aws:iam::123456789012:role/shop-dev-ApiRole-X)"#);

    let mut unknown = world(script.clone());
    unknown.role_of = Some("apo".to_owned());
    let done = unknown.run().await;
    assert_eq!(
        done.code_and_reason(),
        ("NOT_FOUND", "not_found".to_owned())
    );
    let problem = done.result.unwrap_err();
    assert_eq!(problem.details()["closest"], json!(["api"]));

    let mut roleless = world(script);
    roleless.cloud.resources.clear();
    let done = roleless.run().await;
    assert_eq!(
        done.code_and_reason(),
        ("NOT_FOUND", "not_found".to_owned())
    );
    assert_eq!(done.result.unwrap_err().details()["kind"], "role");
}

#[tokio::test]
async fn without_a_role_the_caller_stays_the_caller() {
    let show = json!({ "executeCommand": SHOW });
    let done = world(show.clone()).run().await;
    assert_eq!(done.tail(), "id=caller token= profile=mine");
    assert!(done.asked.is_empty());

    let mut named = world(show.clone());
    named.target.profile = Some("other".to_owned());
    assert_eq!(named.run().await.tail(), "id= token= profile=other");

    let mut held = world(show);
    held.target = Target {
        role_arn: Some("arn:aws:iam::1:role/deployer".to_owned()),
        ..Target::default()
    };
    let done = held.run().await;
    // The key id is known to the redactor by its shape.
    assert!(
        done.tail().contains("token=set profile="),
        "{}",
        done.tail()
    );
    assert!(!done.tail().contains("caller"));
}
