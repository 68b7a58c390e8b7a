//! Scripts that cannot be run, and those that do not end.

use std::time::Duration;

use serde_json::json;

use super::world::World;

#[tokio::test]
async fn what_is_not_there_is_named() {
    for (script, name, text, expected) in [
        (
            json!({ "executeScript": "gone.js" }),
            "other",
            "",
            "script_file_missing",
        ),
        (
            json!({ "executeScript": "plain" }),
            "plain",
            "text",
            "script_not_runnable",
        ),
        (
            json!({ "executeScript": "odd" }),
            "odd",
            "#!/usr/bin/env no-such-program\n",
            "interpreter_not_found",
        ),
    ] {
        let done = World::new(script).file(name, text).run().await;
        assert_eq!(
            done.code_and_reason(),
            ("INVALID_INPUT", expected.to_owned())
        );
        assert_eq!(done.result.unwrap_err().details()["script"], "it");
    }
    for (file, reason) in [
        ("a.js", "node_not_found"),
        ("a.py", "python_not_found"),
        ("a.ts", "node_not_found"),
    ] {
        let mut world = World::new(json!({ "executeScript": file })).file(file, "");
        (world.interpreters.node, world.interpreters.python) = (None, None);
        assert_eq!(
            world.run().await.code_and_reason(),
            ("INVALID_INPUT", reason.to_owned())
        );
    }
}

#[tokio::test]
async fn an_unknown_script_is_not_found_with_the_closest_names() {
    let mut world = World::command("true");
    world.config["scripts"] = json!({
        "migrate": { "type": "local-script", "properties": { "executeCommand": "true" } },
        "seed": { "type": "local-script", "properties": { "executeCommand": "true" } },
    });
    let done = world.run_script("migrat").await;
    assert_eq!(
        done.code_and_reason(),
        ("NOT_FOUND", "not_found".to_owned())
    );
    let details = done.result.as_ref().unwrap_err().details();
    assert_eq!(details["kind"], "script");
    assert_eq!(details["closest"], json!(["migrate", "seed"]));
}

#[tokio::test]
async fn a_script_is_ended_with_all_it_started_when_its_time_is_up() {
    let mut world = World::command("sleep 600 & echo $!; echo working; wait");
    world.time = Duration::from_millis(700);
    let done = world.run().await;
    assert_eq!(
        done.code_and_reason(),
        ("TIMEOUT", "script_timeout".to_owned())
    );
    let tail = done.tail();
    assert!(tail.ends_with("working"), "{tail}");
    let child = tail.lines().next().unwrap();
    // Killed with its group; when the kernel gets to it is the kernel's business.
    let is_gone = || {
        let state = fs_err::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    };
    let began = std::time::Instant::now();
    while !is_gone() {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "{child} lives on"
        );
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_signal_is_a_failure_without_a_code() {
    let done = World::command("kill -9 $$").run().await;
    assert_eq!(
        done.code_and_reason(),
        ("STEP_FAILED", "script_failed".to_owned())
    );
    assert!(done.result.unwrap_err().details()["exitCode"].is_null());
}
