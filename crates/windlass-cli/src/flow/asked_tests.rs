//! What an approver is shown, and who is told what to do.

use serde_json::{Value, json};
use windlass_testkit::local;
use windlass_types::{Body, Timestamp};

use super::*;

fn record(extra: Value) -> RunRecord {
    let mut created = json!({
        "kind": "demo", "surface": "cli", "trace_id": "0".repeat(32), "input": {},
        "principal": { "kind": "local", "name": "ada", "scopes": ["*"] },
        "config_hash": "0".repeat(64), "title": "demo.apply /srv/x",
    });
    let fields = created.as_object_mut().unwrap();
    fields.extend(extra.as_object().unwrap().clone());
    let created = Body::decode("run.created", &created.into()).unwrap();
    let Some(Body::RunCreated(created)) = created else {
        panic!("not a run");
    };
    RunRecord::created("run_1".parse().unwrap(), created, Timestamp::EPOCH)
}

fn asking() -> RunRecord {
    let lines: Vec<String> = (1..=4)
        .map(|number| format!("create {number}.txt"))
        .collect();
    record(json!({
        "approval": { "state": "wanted", "approvers": ["key:ops", "scope:approve"], "rule": "r" },
        "subject": {
            "operation": "demo.apply", "targets": ["/srv/x"], "effect": "destructive", "lines": lines,
        },
    }))
}

fn text(asked: &Asked, most: usize) -> String {
    let lines = asked.shown(most).into_iter().map(|(_, line)| line);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_approver_sees_operation_target_effect_and_plan() {
    let asked = Asked::by_default(&asking(), &[]).unwrap();
    insta::assert_snapshot!(text(&asked, 3), @r"
    asks to approve: demo.apply on /srv/x (destructive)
      create 1.txt
      create 2.txt
      create 3.txt
      … and 1 line more
    ");
    assert_eq!(asked.wanted(), "an approval by key:ops or scope:approve");
}

#[test]
fn a_question_of_the_run_itself_is_shown_and_an_echo_is_not() {
    let mut run = asking();
    let mut ask = |prompt: &str| {
        let on = json!({ "what": "approval", "prompt": prompt, "approvers": ["key:ops"] });
        let on = serde_json::from_value(on).unwrap();
        run.waiting_on = vec![("half-way".to_owned(), on)];
        Asked::by_default(&run, &[]).unwrap()
    };
    assert_eq!(ask("Continue?").question.as_deref(), Some("Continue?"));
    let echo = ask("demo.apply on /srv/x (approvers: key:ops)");
    assert_eq!(echo.question, None);
    assert_eq!(echo.terms.approvers, ["key:ops"]);
}

#[test]
fn a_run_without_an_approval_asks_nothing() {
    assert!(Asked::by_default(&record(json!({})), &[]).is_none());
}

#[test]
fn one_who_may_not_approve_is_told_who_has_to() {
    let actions = [
        "windlass runs approve run_1".to_owned(),
        "windlass runs reject run_1 --reason \"…\"".to_owned(),
        "windlass runs watch run_1".to_owned(),
    ];
    let approvers = |name: &str| ApprovalTerms::by([name]);
    let own = addressed(&local(), &approvers("local:ada"), &actions);
    assert_eq!(own, actions);
    let others = addressed(&local(), &approvers("key:ops"), &actions);
    insta::assert_snapshot!(others.join("\n"), @r"
    key:ops has to approve it: windlass runs approve run_1
    windlass runs watch run_1
    ");
    let problem = Problem::new(&windlass_types::code::APPROVAL_REQUIRED, "waits")
        .with("approvers", json!(["key:ops"]))
        .next("windlass runs approve run_1");
    let problem = addressed_problem(&local(), problem);
    assert_eq!(
        problem.next_actions(),
        ["key:ops has to approve it: windlass runs approve run_1"]
    );
}
