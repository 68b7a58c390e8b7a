//! `windlass stack … --agent`: one JSON object per line and nothing else, the result last, whatever
//! happens.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use windlass_cfn_double::{Moment, Pace};

use super::{
    shapes::check_line,
    world::{QUEUE, STACK, STATEFUL, World, lines_of},
};
use crate::suite::support::binary::{Killed, Said};

const DEPLOY: [&str; 6] = [
    "deploy",
    "--stage",
    "dev",
    "--region",
    "eu-west-1",
    "--agent",
];

/// The events of a stream and its result.
#[track_caller]
fn events(said: &Said) -> (Vec<Value>, Value) {
    let mut events: Vec<Value> = said.stdout.lines().map(check_line).collect();
    let results = events.iter().filter(|it| it["type"] == "result").count();
    assert_eq!(
        results, 1,
        "exactly one result: {}\n{}",
        said.stdout, said.stderr
    );
    let result = events.pop().unwrap();
    assert_eq!(
        result["type"], "result",
        "the result is last: {}",
        said.stdout
    );
    assert_eq!(result["ok"], result["code"] == "OK", "{result}");
    assert_eq!(
        result["ok"] == true,
        said.code == Some(0),
        "{:?} {result}",
        said.code
    );
    let percents: Vec<f64> = events.iter().filter_map(|it| it["pct"].as_f64()).collect();
    assert!(
        percents.is_sorted(),
        "percentages never go down: {percents:?}"
    );
    (events, result)
}

#[test]
fn a_deployment_as_a_stream() {
    let world = World::new();
    world.config(QUEUE);
    let said = world.cli(&DEPLOY);
    let (lines_seen, result) = events(&said);
    assert_eq!(result["code"], "OK", "{result:#}\n{}", said.stderr);
    assert_eq!(result["data"]["stackName"], STACK);
    let url = result["data"]["outputs"]["queueUrl"].as_str();
    assert!(url.is_some(), "{result:#}");
    let phases: Vec<&str> = lines_seen
        .iter()
        .filter_map(|it| it["phase"].as_str())
        .collect();
    for phase in ["initializing", "packaging", "uploading", "deploying"] {
        let or_creating = phase == "deploying" && phases.contains(&"creating");
        assert!(
            phases.contains(&phase) || or_creating,
            "{phase}: {phases:?}"
        );
    }
    let last = lines_seen
        .iter()
        .filter_map(|it| it["pct"].as_f64())
        .next_back();
    assert_eq!(last, Some(100.0), "{lines_seen:#?}");
    // The peer's spelling of flags works too.
    let said = world.cli(&[
        "preview",
        "--projectName",
        "shop",
        "--stage",
        "dev",
        "--region",
        "eu-west-1",
        "--agent",
    ]);
    let (_, result) = events(&said);
    assert_eq!(result["data"]["noChanges"], true, "{result:#}");
}

/// What a script prints is shown while it runs, and is not lost when it fails.
#[test]
fn script_output_is_shown_while_it_runs() {
    let world = World::new();
    world.config(&format!(
        "{QUEUE}
scripts:
  slow:
    type: local-script
    properties:
      executeCommand: echo begun; until test -e go; do sleep 0.05; done; echo ended >&2; exit 4
"
    ));
    world.trust();
    let mut command = world.command();
    command
        .args(["stack", "script", "run", "slow", "--stage", "dev"])
        .args(["--region", "eu-west-1", "--agent"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut running = Killed(command.spawn().unwrap());
    let lines = lines_of(running.0.stdout.take().unwrap());
    let limit = std::time::Duration::from_secs(60);
    let next = || check_line(&lines.recv_timeout(limit).unwrap());
    while next()["message"] != "begun" {}
    world.file("go", "");
    let ended = next();
    assert_eq!(
        (
            &ended["type"],
            &ended["source"],
            &ended["level"],
            &ended["message"]
        ),
        (
            &json!("log"),
            &json!("slow"),
            &json!("warn"),
            &json!("ended")
        )
    );
    let result = next();
    assert_eq!(result["code"], "INTERNAL_ERROR", "{result:#}");
    assert_eq!(result["data"]["exitCode"], 4, "{result:#}");
}

/// Of a long output, the beginning and the end are recorded, and what is missing is noted.
#[test]
fn a_verbose_script_does_not_fill_the_journal() {
    let world = World::new();
    world.config(&format!(
        "{QUEUE}
scripts:
  long:
    type: local-script
    properties:
      executeCommand: seq 5000
"
    ));
    world.trust();
    let said = world.cli(&[
        "script",
        "run",
        "long",
        "--stage",
        "dev",
        "--region",
        "eu-west-1",
        "--agent",
    ]);
    let (lines_seen, _) = events(&said);
    let logs = lines_seen.iter().filter(|it| it["type"] == "log");
    let said: Vec<&str> = logs.map(|it| it["message"].as_str().unwrap()).collect();
    let (with, said) = said.split_first().unwrap();
    assert_eq!(
        *with,
        "long runs with the deployed stack shop-dev in eu-west-1"
    );
    assert_eq!(said.len(), 1_501);
    assert_eq!(
        (said[0], said[999], said[1_000], said[1_001], said[1_500]),
        ("1", "1000", "3500 lines are left out here", "4501", "5000")
    );
}

#[test]
fn failures_end_with_a_result_too() {
    let world = World::new();
    world.config(QUEUE);
    world
        .control
        .fail_resource("JobsQueue", Moment::Create, "no room");
    let said = world.cli(&DEPLOY);
    let (lines_seen, result) = events(&said);
    assert_eq!(result["code"], "DEPLOY_FAILED", "{result:#}");
    assert_eq!(said.code, Some(1));
    assert_eq!(result["data"]["failure"]["logicalId"], "JobsQueue");
    assert!(result["data"]["nextActions"].is_array(), "{result:#}");
    let errors: Vec<&Value> = lines_seen
        .iter()
        .filter(|it| it["level"] == "error")
        .collect();
    assert!(
        errors
            .iter()
            .any(|it| it["message"].as_str().unwrap().contains("no room")),
        "{lines_seen:#?}"
    );
}

#[test]
fn bad_flags_and_broken_configs_are_results() {
    let world = World::new();
    for arguments in [
        &["deploy", "--stagee", "dev", "--agent"][..],
        &["deploy", "--agent", "--stage"],
        &["--agent", "deploi"],
        &["deploy", "--agent", "--region", "eu-west-1"],
        &["delete", "--agent", "--stage", "dev"],
        &["--agent"],
    ] {
        let said = world.cli(arguments);
        let (lines_seen, result) = events(&said);
        assert_eq!(
            result["code"], "VALIDATION_ERROR",
            "{arguments:?}: {result:#}"
        );
        assert!(lines_seen.iter().all(|it| it["type"] != "result"));
        assert_eq!(said.stdout.lines().count(), lines_seen.len() + 1);
    }
    world.config("resources: [");
    let (_, result) = events(&world.cli(&DEPLOY));
    assert_eq!(result["code"], "VALIDATION_ERROR", "{result:#}");
    assert_eq!(result["data"]["reason"], "config_invalid", "{result:#}");
    assert_eq!(world.control.state()["stacks"], serde_json::json!([]));
}

/// `--agent` is no yes.
#[test]
fn a_stream_confirms_nothing() {
    let world = World::new();
    world.config(STATEFUL);
    let (_, result) = events(&world.cli(&DEPLOY));
    assert_eq!(result["code"], "OK", "{result:#}");
    let delete = [
        "delete",
        "--project-name",
        "shop",
        "--stage",
        "dev",
        "--region",
        "eu-west-1",
        "--agent",
    ];
    let said = world.cli(&delete);
    let (_, result) = events(&said);
    assert_eq!(result["code"], "CONFIRMATION_REQUIRED", "{result:#}");
    assert_eq!(world.stacks().len(), 1);
    let said = world.cli(&[&delete[..], &["--yes"]].concat());
    let (_, result) = events(&said);
    assert_eq!(result["code"], "OK", "{result:#}");
    assert_eq!(world.stacks().len(), 0);
}

/// The client goes, the result names the run, and the run continues.
#[test]
fn signals_end_with_a_result_and_the_run_continues() {
    for signal in [Signal::TERM, Signal::INT] {
        let world = World::at(Pace::PerCall(1_000));
        world.config(QUEUE);
        world.control.hang_resource("JobsQueue", Moment::Create);
        let mut command = world.command();
        command
            .arg("stack")
            .args(DEPLOY)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut client = Killed(command.spawn().unwrap());
        let lines = lines_of(client.0.stdout.take().unwrap());
        let mut stdout = String::new();
        let mut sent = false;
        for line in lines {
            let event = check_line(&line);
            let message = event["message"].as_str().unwrap_or_default();
            if !sent && message.contains("JobsQueue") {
                kill_process(Pid::from_child(&client.0), signal).unwrap();
                sent = true;
            }
            stdout.push_str(&format!("{line}\n"));
        }
        assert!(sent, "{stdout}");
        let said = Said {
            code: client.0.wait().unwrap().code(),
            stdout,
            stderr: String::new(),
        };
        let (_, result) = events(&said);
        assert_eq!(result["ok"], false, "{signal:?}: {result:#}");
        assert_eq!(
            result["data"]["reason"], "interrupted",
            "{signal:?}: {result:#}"
        );
        let run = result["data"]["runId"].as_str().unwrap().to_owned();
        assert_eq!(said.code, Some(130), "{signal:?}");
        world.control.release("JobsQueue");
        let (_, result) = events(&world.cli(&DEPLOY));
        assert_eq!(result["ok"], true, "{signal:?}: {result:#}");
        let said = world.cli(&[
            "info",
            "operations",
            "--project-name",
            "shop",
            "--stage",
            "dev",
            "--region",
            "eu-west-1",
            "--agent",
        ]);
        let (_, result) = events(&said);
        let operations = result["data"]["operations"].as_array().unwrap().clone();
        let first = operations
            .into_iter()
            .find(|it| it["runId"] == run.as_str());
        assert_eq!(first.unwrap()["code"], "OK", "{signal:?}: {result:#}");
        assert_eq!(
            world.control.stack_status(STACK).unwrap(),
            "CREATE_COMPLETE"
        );
    }
}

/// No reader is left: the run continues to its end.
#[test]
fn a_closed_pipe_stops_nothing() {
    let world = World::at(Pace::PerCall(1_000));
    world.config(QUEUE);
    let mut command = world.command();
    command
        .arg("stack")
        .args(DEPLOY)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut client = Killed(command.spawn().unwrap());
    drop(client.0.stdout.take());
    client.0.wait().unwrap();
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "CREATE_COMPLETE"
    );
}

/// Every command answers in the stream's words.
#[test]
fn short_commands_are_one_line() {
    let world = World::new();
    world.config(QUEUE);
    for arguments in [
        &["info", "whoami"][..],
        &["info", "stacks", "--region", "eu-west-1"],
        &["template", "--stage", "dev", "--region", "eu-west-1"],
        &["validate", "--stage", "dev", "--region", "eu-west-1"],
        &["docs", "how do I add a queue"],
    ] {
        let said = world.cli(&[arguments, &["--agent"]].concat());
        let (_, result) = events(&said);
        assert_eq!(result["code"], "OK", "{arguments:?}: {result:#}");
        assert!(result["data"].is_object(), "{arguments:?}");
    }
    let said = world.cli(&[
        "secret",
        "get",
        "nothing",
        "--region",
        "eu-west-1",
        "--agent",
    ]);
    let (_, result) = events(&said);
    assert_eq!(result["code"], "NOT_FOUND", "{result:#}");
}
