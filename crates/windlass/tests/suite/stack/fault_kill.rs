//! Kill −9 of the client at every event: the next command resumes the run where it was and reports
//! how it really ended.

use std::process::Stdio;

use serde_json::{Value, json};
use windlass_cfn_double::{Moment, Pace};

use super::{
    shapes::check_line,
    world::{STACK, World, lines_of},
};
use crate::suite::support::binary::Killed;

const CONFIG: &str = "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
  news:
    type: sns-topic
";
const DEPLOY: [&str; 6] = [
    "deploy",
    "--stage",
    "dev",
    "--region",
    "eu-west-1",
    "--agent",
];
/// Slow enough that a deployment takes several questions.
const PACE: Pace = Pace::PerCall(900);

/// Starts a command and kills it right after this many lines; the lines, and whether it was alive.
fn killed_after(world: &World, arguments: &[&str], most: usize) -> (Vec<Value>, bool) {
    let mut command = world.command();
    command
        .arg("stack")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut client = Killed(command.spawn().unwrap());
    let lines = lines_of(client.0.stdout.take().unwrap());
    let mut lines_seen = Vec::new();
    for line in lines {
        let event = check_line(&line);
        let is_result = event["type"] == "result";
        lines_seen.push(event);
        if is_result {
            return (lines_seen, false);
        }
        if lines_seen.len() >= most {
            client.kill();
            return (lines_seen, true);
        }
    }
    panic!("no result: {lines_seen:#?}");
}

#[track_caller]
fn result(world: &World, arguments: &[&str]) -> Value {
    let said = world.cli(arguments);
    let last = said.stdout.lines().last();
    let last = last.unwrap_or_else(|| panic!("nothing said: {}", said.stderr));
    let result = check_line(last);
    assert_eq!(result["type"], "result", "{}", said.stdout);
    result
}

/// Whatever is still running is resumed and finished by the next commands.
fn settled(world: &World) -> Vec<Value> {
    let mut tool_client = world.tool_client();
    let started = std::time::Instant::now();
    loop {
        let known = tool_client.diagnose("info_operations", &json!({ "limit": 100 }));
        let operations = known.worked()["operations"].as_array().unwrap().clone();
        let mine: Vec<Value> = operations
            .into_iter()
            .filter(|it| it["runId"].is_string())
            .collect();
        if mine.iter().all(|it| it["endedAt"].is_string()) {
            return mine;
        }
        assert!(started.elapsed().as_secs() < 120, "{:#}", known.body);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_creation_survives_a_kill_at_every_event() {
    let undisturbed = World::at(PACE);
    undisturbed.config(CONFIG);
    let (whole, _) = killed_after(&undisturbed, &DEPLOY, usize::MAX);
    assert_eq!(whole.last().unwrap()["code"], "OK", "{whole:#?}");
    let mut killed = 0;
    for most in 1..whole.len() {
        let world = World::at(PACE);
        world.config(CONFIG);
        let (lines_seen, was_alive) = killed_after(&world, &DEPLOY, most);
        if was_alive {
            killed += 1;
        }
        let operations = settled(&world);
        let at = &lines_seen.last().unwrap()["message"];
        assert_eq!(operations.len(), 1, "killed at {at}: {operations:#?}");
        assert_eq!(
            operations[0]["code"], "OK",
            "killed at {at}: {operations:#?}"
        );
        let events = world.control.stack_events(STACK);
        let completed = events.iter().filter(|it| *it == "shop-dev CREATE_COMPLETE");
        assert_eq!(completed.count(), 1, "killed at {at}: {events:?}");
        let again = result(&world, &DEPLOY);
        assert_eq!(
            again["data"]["reason"], "no_changes",
            "killed at {at}: {again:#}"
        );
        assert_eq!(world.stacks().len(), 1, "killed at {at}");
    }
    println!("killed {killed} clients at {} events", whole.len());
    assert!(killed > 3);
}

/// A failure that nobody saw is reported to the next caller.
#[test]
fn a_failure_that_nobody_saw_is_reported_later() {
    let world = World::at(PACE);
    world.config(CONFIG);
    world
        .control
        .fail_resource("JobsQueue", Moment::Create, "no room");
    let mut command = world.command();
    command
        .arg("stack")
        .args(DEPLOY)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut client = Killed(command.spawn().unwrap());
    for line in lines_of(client.0.stdout.take().unwrap()) {
        let event = check_line(&line);
        assert_ne!(event["type"], "result", "{event:#}");
        if world.control.stack_status(STACK).as_deref() == Some("CREATE_IN_PROGRESS") {
            break;
        }
    }
    client.kill();
    // It fails while nobody is there.
    world.control.advance(60_000);
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "ROLLBACK_COMPLETE"
    );
    let operations = settled(&world);
    assert_eq!(operations.len(), 1, "{operations:#?}");
    assert_eq!(operations[0]["code"], "DEPLOY_FAILED", "{operations:#?}");
}

/// A preview that died leaves nothing once anything of the home runs again.
#[test]
fn a_preview_that_died_is_cleaned_up() {
    let preview = [
        "preview",
        "--stage",
        "dev",
        "--region",
        "eu-west-1",
        "--agent",
    ];
    let whole = {
        let world = World::at(PACE);
        world.config(CONFIG);
        killed_after(&world, &preview, usize::MAX).0.len()
    };
    for most in 1..whole {
        let world = World::at(PACE);
        world.config(CONFIG);
        killed_after(&world, &preview, most);
        settled(&world);
        let started = std::time::Instant::now();
        while !world.stacks().is_empty() {
            assert!(started.elapsed().as_secs() < 60, "{:#?}", world.stacks());
            settled(&world);
            world.control.advance(1_000);
        }
    }
}

/// A deletion continues as well.
#[test]
fn a_deletion_survives_a_kill() {
    for most in [1, 2, 3] {
        let world = World::at(PACE);
        world.config(CONFIG);
        assert_eq!(result(&world, &DEPLOY)["code"], "OK");
        let delete = [
            "delete",
            "--project-name",
            "shop",
            "--stage",
            "dev",
            "--region",
            "eu-west-1",
            "--yes",
            "--agent",
        ];
        killed_after(&world, &delete, most);
        let operations = settled(&world);
        assert!(
            operations
                .iter()
                .any(|it| it["operation"] == "delete" && it["code"] == "OK"),
            "{operations:#?}"
        );
        assert!(world.stacks().is_empty(), "{:#?}", world.stacks());
    }
}
