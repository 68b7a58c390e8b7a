//! Previews: what they say, and that they leave nothing behind.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use windlass_cfn_double::Command;
use windlass_types::Digest;

use super::world::{QUEUE, REGION, STACK, STATEFUL, World, args};
use crate::suite::support::binary::{Daemon, free_address};

/// Actions that would change something a preview must not change.
const FORBIDDEN: [&str; 7] = [
    "ExecuteChangeSet",
    "CreateStack",
    "UpdateStack",
    "PutObject",
    "CreateBucket",
    "CreateSecret",
    "PutSecretValue",
];

#[test]
fn before_the_first_deploy_nothing_is_left_behind() {
    let world = World::new();
    world.config(STATEFUL);
    let mut tool_client = world.tool_client();
    let empty = world.leftovers();
    let preview = tool_client.ops("preview_changes", &args(json!({})));
    let data = preview.worked();
    assert_eq!(data["stackName"], STACK);
    assert_eq!(data["isNewStack"], true, "{data:#}");
    assert_eq!(data["noChanges"], false);
    assert_eq!(data["source"], "change-set");
    assert_eq!(data["cost"], Value::Null);
    assert_eq!(data["drift"], Value::Null);
    assert_eq!(data["missingSecrets"], json!([]));
    assert_eq!(data["statefulChanges"], json!([]), "creation loses nothing");
    let changes = data["resourceChanges"].as_array().unwrap();
    assert!(changes.iter().all(|change| change["action"] == "create"));
    let names: Vec<&str> = changes
        .iter()
        .filter_map(|change| change["resourceName"].as_str())
        .collect();
    for name in ["jobs", "items", "files"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert_eq!(data["counts"]["create"], json!(changes.len()), "{data:#}");
    assert_eq!(
        data["changes"].as_array().unwrap().len(),
        changes.len(),
        "what CloudFormation said is there too"
    );
    for text in ["planDigest", "confirmToken", "confirmTokenExpiresAt"] {
        assert!(
            data[text].as_str().is_some_and(|it| !it.is_empty()),
            "{text}"
        );
    }
    assert_eq!(world.leftovers(), empty, "nothing is left");
    let actions = world.actions_since(0);
    for action in FORBIDDEN {
        assert!(
            !actions.iter().any(|it| it == action),
            "{action}: {actions:?}"
        );
    }
    assert!(actions.iter().any(|it| it == "DeleteStack"), "{actions:?}");
}

#[test]
fn an_existing_stack_keeps_no_change_sets() {
    let world = World::new();
    world.config(QUEUE);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    let same = tool_client.ops("preview_changes", &args(json!({})));
    let data = same.worked();
    assert_eq!(data["noChanges"], true, "{data:#}");
    assert_eq!(data["isNewStack"], false);
    assert_eq!(data["resourceChanges"], json!([]));
    world.config(&QUEUE.replace(
        "visibilityTimeoutSeconds: 30",
        "visibilityTimeoutSeconds: 60",
    ));
    let mark = world.mark();
    let preview = tool_client.ops("preview_changes", &args(json!({})));
    let data = preview.worked();
    assert_eq!(data["noChanges"], false, "{data:#}");
    let change = &data["resourceChanges"][0];
    assert_eq!(change["action"], "update", "{data:#}");
    assert_eq!(change["resourceName"], "jobs");
    assert_eq!(change["resourceType"], "AWS::SQS::Queue");
    assert_eq!(change["willReplace"], json!([]));
    let stack = &world.stacks()[0];
    let open: Vec<&Value> = stack["change_sets"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|set| set["execution"] == "AVAILABLE")
        .collect();
    assert!(open.is_empty(), "{open:?}");
    let actions = world.actions_since(mark);
    assert!(
        !actions.iter().any(|it| FORBIDDEN.contains(&it.as_str())),
        "{actions:?}"
    );
}

#[test]
fn drift_is_reported_on_request() {
    let world = World::new();
    world.config(QUEUE);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    world
        .control
        .apply(Command::Drift {
            stack: STACK.to_owned(),
            logical_id: "JobsQueue".to_owned(),
            path: "/VisibilityTimeout".to_owned(),
            value: json!(5),
        })
        .unwrap();
    let plain = tool_client.ops("preview_changes", &args(json!({})));
    assert_eq!(plain.worked()["drift"], Value::Null);
    let asked = tool_client.ops("preview_changes", &args(json!({ "detectDrift": true })));
    let drift = &asked.worked()["drift"];
    assert_eq!(drift["status"], "DRIFTED", "{drift:#}");
    let resources = drift["resources"].as_array().unwrap();
    let queue = resources
        .iter()
        .find(|it| it["logicalId"] == "JobsQueue")
        .unwrap_or_else(|| panic!("{drift:#}"));
    assert_eq!(queue["status"], "MODIFIED");
    assert_ne!(queue["differences"], json!([]));
    assert!(drift["notChecked"].is_array());
}

#[test]
fn secrets_that_are_missing_are_listed_and_stop_a_deploy() {
    let world = World::new();
    world.config(
        "
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
      environment:
        - name: TOKEN
          value: $Secret('payment.token')
",
    );
    world.file("code/index.mjs", "export const handler = async () => 1;\n");
    let mut tool_client = world.tool_client();
    let preview = tool_client.ops("preview_changes", &args(json!({})));
    assert_eq!(
        preview.worked()["missingSecrets"],
        json!(["payment"]),
        "{:#}",
        preview.body
    );
    let deploy = tool_client.ops("deploy", &args(json!({})));
    deploy.refused_for("VALIDATION_ERROR", "missing_secret");
    let next = deploy.next_actions().join("\n");
    assert!(next.contains("secret create payment"), "{next}");
    assert_eq!(world.stacks(), Vec::<Value>::new());
}

#[test]
fn what_cloudformation_refuses_is_reported() {
    let world = World::new();
    world.config(QUEUE);
    world
        .control
        .apply(Command::FailChangeSet {
            reason: "Template error: the moon is in the way".to_owned(),
        })
        .unwrap();
    let mut tool_client = world.tool_client();
    let empty = world.leftovers();
    let preview = tool_client.ops("preview_changes", &args(json!({})));
    preview.refused_for("VALIDATION_ERROR", "change_set_failed");
    assert!(
        preview.message().contains("the moon is in the way"),
        "{}",
        preview.message()
    );
    assert_eq!(world.leftovers(), empty, "nothing is left");
}

#[test]
fn invalid_configs_are_refused_with_their_position() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    let missing = tool_client.ops("preview_changes", &args(json!({})));
    assert!(["NOT_FOUND", "VALIDATION_ERROR"].contains(&missing.body["code"].as_str().unwrap()));
    assert!(
        missing.message().contains("stacktape.yml"),
        "{}",
        missing.message()
    );
    for (config, reason, says) in [
        ("resources: [", "config_invalid", "stacktape.yml"),
        (
            "resources:\n  a:\n    type: sqs-queue\n    properties:\n      visibilityTimeout: 3\n",
            "config_invalid",
            "visibilityTimeoutSeconds",
        ),
        (
            "resources:\n  a:\n    type: sqs-queu\n",
            "config_invalid",
            "sqs-queue",
        ),
        (
            "resources:\n  a:\n    type: nextjs-web\n",
            "unsupported_resource_type",
            "nextjs-web",
        ),
        (
            "resources:\n  a:\n    type: sqs-queue\nscripts:\n  b:\n    type: local-script\n    properties:\n      executeCommand: $Var().nothing\n",
            "directive_error",
            "variables",
        ),
    ] {
        world.config(config);
        for operation in ["preview_changes", "deploy", "compile_template"] {
            let answer = tool_client.ops(operation, &args(json!({})));
            let data = answer.refused("VALIDATION_ERROR");
            if config.contains("sqs-queu\n") {
                // An unknown type is no known one that is missing.
                assert!(answer.message().contains(says), "{}", answer.message());
                continue;
            }
            assert_eq!(data["reason"], reason, "{config}: {:#}", answer.body);
            assert!(
                answer.message().contains(says),
                "{config}: {}",
                answer.message()
            );
        }
    }
    let changed: Vec<String> = world.actions_since(0);
    assert!(
        !changed.iter().any(|it| it == "CreateChangeSet"),
        "{changed:?}"
    );
}

/// The template is a value, and a file only where one is asked for.
#[test]
fn a_template_is_compiled_without_touching_the_stack() {
    let world = World::new();
    world.config(STATEFUL);
    let mut tool_client = world.tool_client();
    let answer = tool_client.ops("compile_template", &args(json!({})));
    let data = answer.worked();
    let resources = data["template"]["Resources"].as_object().unwrap();
    assert_eq!(data["resourceCount"], json!(resources.len()));
    assert!(
        resources.contains_key("ItemsGlobalTable"),
        "{:?}",
        resources.keys()
    );
    assert_eq!(data["sha256"].as_str().unwrap().len(), 64);
    let written = tool_client.ops(
        "compile_template",
        &args(json!({ "outFile": "template.json" })),
    );
    written.worked();
    let text = fs_err::read_to_string(world.project().join("template.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written, data["template"]);
    assert_eq!(world.leftovers()["stacks"], json!([]));
}

/// A password in the config is in the template and in the file, which is its owner's alone; a
/// language model is told where it is and not what.
#[test]
fn a_template_with_a_password_is_written_as_it_is() {
    const PASSWORD: &str = "credential-of-the-holder";
    let world = World::new();
    world.config(&format!(
        "
serviceName: shop
resources:
  db:
    type: relational-database
    properties:
      credentials: {{ masterUserPassword: {PASSWORD} }}
      engine:
        type: postgres
        properties: {{ version: '16.6', primaryInstance: {{ instanceSize: db.t4g.micro }} }}
"
    ));
    let mut tool_client = world.tool_client();
    let answer = tool_client.ops("compile_template", &args(json!({})));
    let data = answer.worked();
    let place = "Resources.DbDbInstance.Properties.MasterUserPassword";
    let places = data["literalSecrets"].as_array().unwrap();
    assert!(places.contains(&json!(place)), "{data:#}");
    assert_eq!(data["withheld"], true, "{data:#}");
    assert!(data["reason"].as_str().unwrap().contains(place), "{data:#}");
    assert!(!answer.body.to_string().contains(PASSWORD));

    fs_err::write(world.project().join("template.json"), "an older file").unwrap();
    let written = tool_client.ops(
        "compile_template",
        &args(json!({ "outFile": "template.json" })),
    );
    let data = written.worked();
    assert_eq!(data["fileMode"], "0600", "{data:#}");
    assert!(written.message().contains("0600"), "{}", written.message());
    let file = world.project().join("template.json");
    let mode = fs_err::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let bytes = fs_err::read(&file).unwrap();
    assert_eq!(data["sha256"], json!(Digest::of(&bytes)));
    assert_eq!(data["size"], json!(bytes.len()));
    let template: Value = serde_json::from_slice(&bytes).unwrap();
    assert!(template.to_string().contains(PASSWORD));

    let place = [
        "--project-name",
        "shop",
        "--stage",
        "dev",
        "--region",
        REGION,
    ];
    let shown = world.cli(&[&["template"], &place[..]].concat());
    let shown_template: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown_template, template);
    assert!(
        shown.stderr.contains("holds secrets at"),
        "{}",
        shown.stderr
    );
}

#[test]
fn a_template_is_written_through_no_link() {
    let world = World::new();
    world.config(STATEFUL);
    let outside = tempfile::tempdir().unwrap();
    let precious = outside.path().join("precious");
    fs_err::write(&precious, "precious\n").unwrap();
    let project = world.project();
    fs_err::create_dir_all(project.join("a/b")).unwrap();
    for (link, text) in [
        ("t.json", precious.clone()),
        ("new.json", outside.path().join("new.json")),
        ("loop.json", "loop.json".into()),
        ("out", outside.path().to_owned()),
        ("a/out", outside.path().to_owned()),
        ("a/b/out", outside.path().to_owned()),
    ] {
        std::os::unix::fs::symlink(text, project.join(link)).unwrap();
    }
    let mut tool_client = world.tool_client();
    for file in [
        "t.json",
        "new.json",
        "loop.json",
        "out/t.json",
        "a/out/t.json",
        "a/b/out/precious",
    ] {
        let answer = tool_client.ops("compile_template", &args(json!({ "outFile": file })));
        assert!(answer.is_error, "{file}");
        assert!(
            answer.message().contains("symbolic link"),
            "{file}: {}",
            answer.message()
        );
    }
    assert_eq!(fs_err::read_to_string(&precious).unwrap(), "precious\n");
    assert_eq!(fs_err::read_dir(outside.path()).unwrap().count(), 1);
}

/// A client names files below the working directory; any file of the machine is the user's to name,
/// and no file of the home anyone's. A rule about writing holds.
#[test]
fn only_the_user_writes_a_template_anywhere() {
    let world = World::new();
    world.config(STATEFUL);
    let outside = tempfile::tempdir().unwrap();
    let precious = outside.path().join("precious");
    fs_err::write(&precious, "precious\n").unwrap();
    let policy = world.place.home().join("policy.toml");
    let policy_before = fs_err::read(&policy).ok();
    let named = precious.to_str().unwrap();
    let mut tool_client = world.tool_client();
    for file in [named, "../precious", "/etc/precious"] {
        let answer = tool_client.ops("compile_template", &args(json!({ "outFile": file })));
        assert!(answer.is_error, "{file}");
        assert!(
            answer.message().contains("below the working directory"),
            "{file}: {}",
            answer.message()
        );
    }
    // The working directory is the client's to name, and leads no further.
    let answer = tool_client.ops(
        "compile_template",
        &args(json!({
            "outFile": "precious",
            "currentWorkingDirectory": outside.path(),
            "configPath": world.project().join("stacktape.yml"),
        })),
    );
    assert!(answer.is_error, "{}", answer.message());
    let mut daemon = Daemon::spawn_with(world.command(), free_address(), &["--no-auth"]);
    daemon.wait_until_ready();
    for (directory, file) in [
        (world.project(), named),
        (outside.path().to_owned(), "precious"),
    ] {
        let input = args(json!({
            "outFile": file,
            "currentWorkingDirectory": directory,
            "configPath": world.project().join("stacktape.yml"),
        }));
        let (status, answer) = daemon.call("stack.compile_template", &input);
        assert!(status >= 400, "{file}: {answer}");
        assert!(
            answer.to_string().contains("below the working directory"),
            "{answer}"
        );
    }
    drop(daemon);
    assert_eq!(fs_err::read_to_string(&precious).unwrap(), "precious\n");
    let mut place = vec!["template", "--project-name", "shop", "--stage", "dev"];
    place.extend(["--region", REGION, "--out-file"]);
    let said = world.cli(&[&place[..], &[named]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        fs_err::read_to_string(&precious)
            .unwrap()
            .contains("Resources")
    );
    let said = world.cli(&[&place[..], &[policy.to_str().unwrap()]].concat());
    assert_ne!(said.code, Some(0), "{}", said.stdout);
    assert!(said.stderr.contains("inside the home"), "{}", said.stderr);
    assert_eq!(fs_err::read(&policy).ok(), policy_before);
}
