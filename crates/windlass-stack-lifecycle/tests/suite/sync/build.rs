//! Websites built with values of the stack.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use windlass_ports::aws::{Stack, StackOutput};
use windlass_secrets::Redactor;
use windlass_stack_compile::Facts;
use windlass_stack_lifecycle::sync::{Built, Setting, build};
use windlass_types::Problem;

use super::memory::Memory;
use super::world::World;

fn world(properties: Value) -> World {
    let mut all = json!({ "uploadDirectoryPath": "dist" });
    for (key, value) in properties.as_object().unwrap() {
        all[key] = value.clone();
    }
    let memory = Memory {
        stack: Some(Stack {
            stack_id: "arn:aws:cloudformation:eu-west-1:123456789012:stack/shop-dev/1".to_owned(),
            stack_name: "shop-dev".to_owned(),
            stack_status: "UPDATE_COMPLETE".to_owned(),
            outputs: vec![StackOutput {
                output_key: "SiteName".to_owned(),
                output_value: "shop-dev-site-1".to_owned(),
                ..StackOutput::default()
            }],
            ..Stack::default()
        }),
        answers: BTreeMap::from([(
            "secretsmanager:GetSecretValue".to_owned(),
            json!({ "SecretString": "canary-4711-secret" }),
        )]),
        ..Memory::default()
    };
    World::new(
        Arc::new(memory),
        json!({ "type": "hosting-bucket", "properties": all }),
    )
}

async fn built(world: &World, time: Duration) -> (Result<Built, Problem>, Vec<String>) {
    let facts = Facts::new("shop", "dev", "eu-west-1");
    let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let setting = Setting {
        config: &world.config,
        facts: &facts,
        access: &world.access,
        redactor: &Redactor::new(),
        environment: &environment,
    };
    let heard = Mutex::new(Vec::new());
    let lines = |_, line: &str| heard.lock().unwrap().push(line.to_owned());
    let deadline = world.access.clock.now().after(time);
    let result = build(&world.source(), &setting, &lines, deadline).await;
    (result, heard.into_inner().unwrap())
}

const MINUTE: Duration = Duration::from_secs(60);

fn param(param: &str) -> Value {
    json!({ "$runtime": { "directive": "resourceParam", "resource": "site", "param": param } })
}

#[tokio::test]
async fn a_build_gets_values_and_creates_the_directory() {
    let world = world(json!({
        "build": { "command": "mkdir -p ../dist && echo \"<p>$BUCKET $(cat .env)\" > ../dist/index.html && echo built", "workingDirectory": "web" },
        "injectEnvironment": [{ "name": "BUCKET", "value": param("name") }, { "name": "N", "value": 1 }],
        "writeDotenvFilesTo": "web/.env",
    }));
    fs_err::create_dir(world.folder.path().join("web")).unwrap();
    fs_err::write(world.folder.path().join("web/.env"), "MINE=1\nN='0'\n").unwrap();
    let (result, lines) = built(&world, MINUTE).await;
    let done = result.unwrap();
    assert_eq!(lines, ["built"]);
    assert_eq!(done.output_tail, "built");
    assert_eq!(done.injected["BUCKET"], "shop-dev-site-1");
    let page = fs_err::read_to_string(world.folder.path().join("dist/index.html")).unwrap();
    assert_eq!(
        page,
        "<p>shop-dev-site-1 MINE=1\nBUCKET='shop-dev-site-1'\nN='1'\n"
    );
}

#[tokio::test]
async fn a_folder_for_the_values_gets_a_file() {
    let world = world(json!({
        "injectEnvironment": [{ "name": "N", "value": 1 }],
        "writeDotenvFilesTo": "web/",
    }));
    built(&world, MINUTE).await.0.unwrap();
    let text = fs_err::read_to_string(world.folder.path().join("web/.env")).unwrap();
    assert_eq!(text, "N='1'\n");
}

#[tokio::test]
async fn failures_of_a_build_are_reported() {
    for (properties, time, code, reason) in [
        (
            json!({ "build": { "command": "echo why; exit 4" } }),
            MINUTE,
            "DEPLOY_FAILED",
            "build_failed",
        ),
        (
            json!({ "build": { "command": "true", "workingDirectory": "gone" } }),
            MINUTE,
            "INVALID_INPUT",
            "directory_missing",
        ),
        (
            json!({ "build": { "command": "sleep 600" } }),
            Duration::from_millis(150),
            "TIMEOUT",
            "build_timeout",
        ),
        (
            json!({ "injectEnvironment": [{ "name": "S", "value": { "$runtime": { "directive": "secret", "name": "s" } } }] }),
            MINUTE,
            "INVALID_INPUT",
            "secret_in_public",
        ),
    ] {
        let (result, _) = built(&world(properties), time).await;
        let problem = result.unwrap_err();
        assert_eq!(problem.code().name, code);
        assert_eq!(problem.details()["reason"], reason);
        assert!(!format!("{problem:?}").contains("canary"), "{problem:?}");
        if reason == "build_failed" {
            assert_eq!(problem.details()["exitCode"], 4);
            assert_eq!(problem.details()["outputTail"], "why");
        }
    }
}
