//! Commands in the background.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::{
    TASKS_AT_ONCE, TaskState,
    test_support::{Session, code, text},
};

async fn start(session: &Session, command: &str) -> String {
    let told = session
        .text("run_command_task", json!({ "command": command }))
        .await;
    let id = told.split_whitespace().nth(1).unwrap().to_owned();
    assert!(
        id.len() == 6
            && id
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    );
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn from_start_to_end() {
    let session = Session::new();
    assert_eq!(
        session.text("get_all_tasks", json!({ "view": "" })).await,
        "There are no tasks."
    );
    let good = start(&session, "echo good").await;
    let bad = start(&session, "echo bad >&2; exit 4").await;
    let long = start(&session, "echo long; sleep 600").await;
    let ids = format!("{good}  {bad}");
    let told = session
        .text("wait_for_tasks", json!({ "task_ids": ids }))
        .await;
    assert!(
        told.contains("good\n") && told.contains("exited with code 4"),
        "{told}"
    );
    let waited = session
        .text("wait_for_tasks", json!({ "task_ids": long, "timeout": 1 }))
        .await;
    assert!(
        waited.starts_with("[not all have ended after 1 s]"),
        "{waited}"
    );
    let details = session
        .text("get_task_details", json!({ "task_id": long }))
        .await;
    assert!(
        details.contains("running") && details.contains("started at 1970-01-01T00:00:00"),
        "{details}"
    );
    assert!(details.ends_with("long\n"));
    let cancelled = session
        .text("cancel_task", json!({ "task_id": long }))
        .await;
    assert!(
        cancelled.contains("cancelled") && cancelled.ends_with("long\n"),
        "{cancelled}"
    );
    let all = session
        .text("get_all_tasks", json!({ "view": "all" }))
        .await;
    let states: Vec<&str> = all
        .lines()
        .map(|line| line.split("  ").nth(1).unwrap())
        .collect();
    assert_eq!(
        states,
        ["completed", "failed (exited with code 4)", "cancelled"]
    );
    for (tool, input) in [
        ("get_task_details", json!({ "task_id": "nothere" })),
        ("cancel_task", json!({ "task_id": "nothere" })),
        (
            "wait_for_tasks",
            json!({ "task_ids": format!("{good} nothere") }),
        ),
    ] {
        assert_eq!(
            code(&session.call(tool, input).await),
            "TASK_NOT_FOUND",
            "{tool}"
        );
    }
    assert_eq!(
        code(
            &session
                .call("wait_for_tasks", json!({ "task_ids": " " }))
                .await
        ),
        "INVALID_ARGUMENTS"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn they_end_with_the_session() {
    let session = Session::new();
    for _ in 0..TASKS_AT_ONCE {
        start(&session, "trap '' TERM; echo $$ >> pids; sleep 120").await;
    }
    let more = session
        .call("run_command_task", json!({ "command": "true" }))
        .await;
    assert!(text(&more).contains("16 tasks run already"));
    let began = Instant::now();
    session.context.tasks.end().await;
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(
        session
            .context
            .tasks
            .all()
            .iter()
            .all(|task| task.state == TaskState::Cancelled)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_whose_time_is_up() {
    let session = Session::new();
    let input = json!({ "command": "echo x; sleep 600", "timeout": 1 });
    let told = session.text("run_command_task", input).await;
    let id = told.split_whitespace().nth(1).unwrap().to_owned();
    let told = session
        .text("wait_for_tasks", json!({ "task_ids": id }))
        .await;
    assert!(
        told.contains("timed out") && told.ends_with("x\n"),
        "{told}"
    );
}
