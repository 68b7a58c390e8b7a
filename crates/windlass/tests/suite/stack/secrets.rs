//! Secrets are made and deleted by runs, and their values are in none of them.

use serde_json::{Value, json};

use super::world::{REGION, World};

fn of(more: Value) -> Value {
    let mut all = json!({ "secretName": "payment", "region": REGION });
    let members = all.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    all
}

fn operations(world: &World) -> Vec<String> {
    let mut tool_client = world.tool_client();
    let known = tool_client.diagnose("info_operations", &json!({ "region": REGION }));
    let operations = known.worked()["operations"].as_array().unwrap().iter();
    operations
        .map(|it| {
            assert!(
                it["runId"].is_string() && it["principal"].is_string(),
                "{it:#}"
            );
            let word = |name: &str| it[name].as_str().unwrap_or("-");
            format!("{} {} {}", word("operation"), word("state"), word("code"))
        })
        .collect()
}

#[test]
fn what_was_done_to_secrets_is_on_record() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    let value = json!({ "secretValue": "first-secret-value" });
    let made = tool_client.ops("secret_create", &of(value.clone()));
    let version = made.worked()["versionId"].as_str().unwrap();
    assert!(version.starts_with("windlass-run-"), "{version}");
    let taken = tool_client.ops("secret_create", &of(value));
    assert!(taken.refused("ALREADY_EXISTS")["runId"].is_string());
    tool_client.ops("secret_delete", &of(json!({}))).worked();
    // What is refused before it begins is no run.
    let unsure = tool_client.ops("secret_delete", &of(json!({ "force": true })));
    unsure.refused("CONFIRMATION_REQUIRED");
    drop(tool_client);
    assert_eq!(
        operations(&world),
        [
            "secret_delete completed OK",
            "secret_create failed ALREADY_EXISTS",
            "secret_create completed OK",
        ]
    );
}

/// A command that creates a secret drives its run, next to a server or alone.
#[test]
fn a_command_creates_a_secret_next_to_a_server() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    tool_client
        .ops("secret_get", &of(json!({})))
        .refused("NOT_FOUND");
    world.file("value.txt", "value-of-the-command-line");
    let create = [
        "secret",
        "create",
        "payment",
        "--region",
        REGION,
        "--value-file",
        "value.txt",
    ];
    world.cli(&create).worked();
    let shown = tool_client.ops("secret_get", &of(json!({})));
    assert_eq!(shown.worked()["value"], "valu...line");
    let taken = world.cli(&create);
    assert_eq!(taken.code, Some(1), "{}", taken.stdout);
    assert!(taken.stderr.contains("ALREADY_EXISTS"), "{}", taken.stderr);
    world
        .cli(&["secret", "delete", "payment", "--region", REGION])
        .worked();
    let forced = [&create[..], &["--force-update", "--json"]].concat();
    let again = world.cli(&forced).worked().json();
    assert_eq!(again["data"]["restored"], true, "{again:#}");
    drop(tool_client);
    world
        .cli(&[
            "secret", "delete", "payment", "--region", REGION, "--force", "--yes",
        ])
        .worked();
    assert_eq!(operations(&world).len(), 5);
}

/// Approvals of commands are by who calls: nothing waits, so no value is kept for later.
#[test]
fn no_value_is_kept_for_an_approval() {
    let world = World::with_policy(
        "version = 1
approvers = [\"key:*\"]
[[rule]]
operation = \"stack.secret_create\"
decision = \"ask\"
",
    );
    let mut tool_client = world.tool_client();
    let refused = tool_client.ops(
        "secret_create",
        &of(json!({ "secretValue": "first-secret-value" })),
    );
    refused.refused("CONFIRMATION_REQUIRED");
    assert_eq!(world.mark(), 0, "nothing is asked of AWS");
    drop(tool_client);
    assert_eq!(operations(&world), [] as [String; 0]);
}
