//! AWS on a bad day: throttled, broken, cut off, forbidden, with credentials that run out.

use serde_json::json;
use windlass_cfn_double::{CallEffect, Moment, Pace};

use super::world::{QUEUE, STACK, World, args};

fn status(world: &World) -> Option<String> {
    world.control.stack_status(STACK)
}

#[test]
fn storms_pass() {
    let every = [
        "DescribeStacks",
        "CreateChangeSet",
        "DescribeChangeSet",
        "ExecuteChangeSet",
        "DescribeStackEvents",
    ];
    for (effect, actions) in [
        (CallEffect::Throttle, &every[..]),
        (CallEffect::Internal, &every[..]),
        (CallEffect::CutBefore, &every),
    ] {
        let world = World::new();
        world.config(QUEUE);
        for action in actions {
            world.control.fail_call(action, 1, 1, effect.clone());
        }
        let deploy = world.tool_client().ops("deploy", &args(json!({})));
        assert_eq!(deploy.body["code"], "OK", "{effect:?}: {:#}", deploy.body);
        assert_eq!(status(&world).unwrap(), "CREATE_COMPLETE", "{effect:?}");
    }
}

/// Carried out without an answer: not done twice.
#[test]
fn an_answer_that_is_lost_repeats_nothing() {
    for action in ["CreateChangeSet", "ExecuteChangeSet"] {
        let world = World::new();
        world.config(QUEUE);
        world.control.fail_call(action, 1, 1, CallEffect::CutAfter);
        let deploy = world.tool_client().ops("deploy", &args(json!({})));
        assert_eq!(deploy.body["code"], "OK", "{action}: {:#}", deploy.body);
        let events = world.control.stack_events(STACK);
        let created = events.iter().filter(|it| *it == "shop-dev CREATE_COMPLETE");
        assert_eq!(created.count(), 1, "{action}: {events:?}");
    }
}

#[test]
fn throttled_until_the_deadline() {
    let world = World::new();
    world.config(QUEUE);
    world
        .control
        .fail_call("DescribeStackEvents", 1, 0, CallEffect::Throttle);
    let mut tool_client = world.tool_client();
    let late = tool_client.ops("deploy", &args(json!({ "timeoutSeconds": 3 })));
    assert!(
        late.refused("TIMEOUT")["runId"].is_string(),
        "{:#}",
        late.body
    );
}

#[test]
fn without_credentials() {
    let world = World::new()
        .env("AWS_ACCESS_KEY_ID", "")
        .env("AWS_SECRET_ACCESS_KEY", "");
    world.config(QUEUE);
    let mut tool_client = world.tool_client();
    for operation in ["preview_changes", "deploy", "rollback"] {
        tool_client
            .ops(operation, &args(json!({})))
            .refused("AUTH_ERROR");
    }
    tool_client
        .confirmed("delete", &args(json!({})))
        .refused("AUTH_ERROR");
    let secret = json!({ "secretName": "k", "region": "eu-west-1" });
    tool_client.ops("secret_get", &secret).refused("AUTH_ERROR");
    for operation in ["info_stack", "info_stacks", "info_whoami"] {
        tool_client
            .diagnose(operation, &args(json!({})))
            .refused("AUTH_ERROR");
    }
    assert_eq!(world.mark(), 0);
}

/// Hooks change things outside of the stack; nothing of a deploy that cannot work is done.
#[test]
fn credentials_are_looked_for_before_hooks_run() {
    let world = World::new()
        .env("AWS_ACCESS_KEY_ID", "")
        .env("AWS_SECRET_ACCESS_KEY", "");
    world.config(&format!(
        "{QUEUE}
scripts:
  migrate:
    type: local-script
    properties: {{ executeCommand: touch hook-ran }}
hooks:
  beforeDeploy:
    - scriptName: migrate
"
    ));
    world.trust();
    let refused = world.tool_client().ops("deploy", &args(json!({})));
    refused.refused("AUTH_ERROR");
    assert!(!world.project().join("hook-ran").exists());
}

#[test]
fn an_identity_needs_no_region() {
    let world = World::new().env("AWS_REGION", "");
    let who = world.tool_client().diagnose("info_whoami", &json!({}));
    assert_eq!(who.worked()["region"], serde_json::Value::Null);
    assert!(who.worked()["account"].is_string(), "{:#}", who.body);
}

#[test]
fn a_region_that_is_spelled_wrong_is_asked_nothing() {
    let world = World::new();
    world.config(QUEUE);
    for verb in ["validate", "template", "preview", "deploy"] {
        let said = world.cli(&[verb, "--stage", "dev", "--region", "eu-wets-1"]);
        assert_ne!(said.code, Some(0), "{verb}");
        assert!(
            said.stderr.contains("did you mean \"eu-west-1\"?"),
            "{}",
            said.stderr
        );
    }
    assert_eq!(world.mark(), 0);
}

#[test]
fn all_errors_of_a_config_are_shown() {
    let world = World::new();
    world.config(
        "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
    properties:
      visibility: 30
      redrivePolicy: { targetSqsQueueName: jobs, maxReceiveCount: 3 }
  nightly:
    type: function
    properties:
      packaging:
        type: custom-artifact
        properties: { packagePath: code }
      connectTo: [items]
      events:
        - type: schedule
          properties: { scheduleRate: rate(5 minuets) }
        - type: schedule
          properties: { scheduleRate: cron(0 9 * * MON) }
",
    );
    let said = world.cli(&["validate", "--stage", "dev", "--region", "eu-west-1"]);
    assert_ne!(said.code, Some(0));
    for part in [
        "unknown property \"visibility\"",
        "there is no resource \"items\"",
        "did you mean rate(5 minutes)?",
        "write cron(0 9 ? * MON *)",
    ] {
        assert!(said.stderr.contains(part), "{part} in {}", said.stderr);
    }
}

#[test]
fn a_refusal_names_action_and_principal() {
    for action in ["CreateChangeSet", "ExecuteChangeSet", "DescribeStackEvents"] {
        let world = World::new();
        world.config(QUEUE);
        world.control.deny(action, true);
        let mut tool_client = world.tool_client();
        let denied = tool_client.ops("deploy", &args(json!({ "timeoutSeconds": 20 })));
        denied.refused("AUTH_ERROR");
        let said = denied.body.to_string();
        assert!(said.contains(action), "{said}");
        assert!(said.contains("arn:aws:"), "{said}");
    }
}

/// The run waits for credentials and continues with them; a waiting caller learns it at once.
#[test]
fn credentials_that_run_out_on_the_way() {
    let world = World::at(Pace::PerCall(300));
    world.config(QUEUE);
    world.control.hang_resource("JobsQueue", Moment::Create);
    let mut tool_client = world.tool_client();
    let begun = tool_client.ops("deploy", &args(json!({ "wait": false })));
    let run = begun.worked()["runId"].as_str().unwrap().to_owned();
    let started = std::time::Instant::now();
    while status(&world).as_deref() != Some("CREATE_IN_PROGRESS") {
        assert!(started.elapsed().as_secs() < 60);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Far enough that the queue has its name.
    world.control.advance(5_000);
    world.control.expire_credentials(true);
    world.control.release("JobsQueue");
    let refused = tool_client.ops("deploy", &args(json!({ "timeoutSeconds": 20 })));
    assert_eq!(refused.body["ok"], false, "{:#}", refused.body);
    world.control.expire_credentials(false);
    loop {
        let known = tool_client.diagnose("info_operations", &args(json!({})));
        let all = known.worked()["operations"].as_array().unwrap().clone();
        let mine = all.into_iter().find(|it| it["runId"] == json!(run));
        let mine = mine.unwrap_or_else(|| panic!("{:#}", known.body));
        if mine["endedAt"].is_string() {
            assert_eq!(mine["code"], "OK", "{mine:#} {}", event_log(&world, &run));
            break;
        }
        assert!(started.elapsed().as_secs() < 100, "{mine:#}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(status(&world).unwrap(), "CREATE_COMPLETE");
}

/// Wherever it happens: a waiting caller learns it at once, the run waits, continues by itself and
/// does everything once.
#[test]
fn credentials_that_run_out_anywhere() {
    let from = |action: &'static str, nth: u32| {
        move |world: &World| {
            world.control.fail_call(
                action,
                nth,
                0,
                CallEffect::Error {
                    code: "ExpiredToken".to_owned(),
                    status: 403,
                    message: "The security token included in the request is expired".to_owned(),
                },
            );
        }
    };
    // Each waits for longer than it works.
    std::thread::scope(|tests| {
        tests.spawn(|| {
            reported_and_resumed("at the start", |it| it.control.expire_credentials(true))
        });
        tests.spawn(|| reported_and_resumed("CreateChangeSet", from("CreateChangeSet", 1)));
        tests.spawn(|| reported_and_resumed("DescribeChangeSet", from("DescribeChangeSet", 1)));
        tests.spawn(|| reported_and_resumed("ExecuteChangeSet", from("ExecuteChangeSet", 1)));
        // The first two questions come before the change set is executed.
        tests.spawn(|| reported_and_resumed("DescribeStackEvents", from("DescribeStackEvents", 3)));
    });
}

fn reported_and_resumed(when: &str, expire: impl Fn(&World)) {
    let world = World::new();
    world.config(QUEUE);
    expire(&world);
    let mut tool_client = world.tool_client();
    let expired = tool_client.ops("deploy", &args(json!({ "timeoutSeconds": 60 })));
    let data = expired.refused_for("AUTH_ERROR", "credentials_expired");
    let run = data["runId"].as_str().unwrap().to_owned();
    assert!(!expired.next_actions().is_empty(), "{:#}", expired.body);
    world.control.clear_faults();
    world.control.expire_credentials(false);
    // Given again, the command finds its run, which tries the new credentials at once.
    let again = tool_client.ops("deploy", &args(json!({ "timeoutSeconds": 60 })));
    let event_log = || event_log(&world, &run);
    assert!(
        again.body["ok"] == true,
        "{when}: {:#} {}",
        again.body,
        event_log()
    );
    assert_eq!(again.worked()["runId"], json!(run), "{when}");
    assert_eq!(status(&world).unwrap(), "CREATE_COMPLETE", "{when}");
    let calls = world.control.calls();
    let executed = calls
        .iter()
        .filter(|call| call.action == "ExecuteChangeSet" && call.outcome == "ok");
    assert_eq!(executed.count(), 1, "{when}: {calls:#?}");
}

/// What a run's journal says, for a test that failed.
fn event_log(world: &World, run: &str) -> String {
    let output = world
        .command()
        .args(["runs", "show", run])
        .output()
        .unwrap();
    let events = world.control.stack_events(STACK);
    format!("{} {events:#?}", String::from_utf8_lossy(&output.stdout))
}
