//! Policy at the gate: allow, ask, deny; who may answer, and what an answer is worth.

use serde_json::json;
use windlass_engine::run::ApprovalDecision;
use windlass_testkit::{Process, TestWorld, local};
use windlass_types::{Digest, Principal, Problem, RunId, RunState, Scope};

use super::support::{Scene, ended, problem_code, scene, story, waiting};

pub(super) const POLICY: &str = r#"
version = 1

[[rule]]
operation = "ledger.apply"
target = "free*"
effect = "write"
decision = "allow"

[[rule]]
operation = "ledger.apply"
target = "asked*"
decision = "ask"
approvers = ["local:boss", "key:key_lead"]

[[rule]]
operation = "ledger.apply"
target = "forbidden*"
decision = "deny"
reason = "nobody touches it"

[[rule]]
operation = "ledger.show"
principal = "key:*"
decision = "deny"
"#;

pub(super) fn clerk() -> Principal {
    Principal::key("key_clerk", vec![Scope::new("ledger")])
}

pub(super) fn lead() -> Principal {
    Principal::key("key_lead", vec![Scope::new("ledger"), Scope::approve()])
}

pub(super) fn boss() -> Principal {
    Principal::local("boss")
}

pub(super) async fn try_apply(
    process: &Process,
    who: &Principal,
    cell: &str,
    yes: bool,
) -> Result<RunId, Problem> {
    let input = json!({ "cell": cell, "value": 1 });
    let plan = process
        .call_as(who.clone(), "ledger.plan", input)
        .await?
        .output;
    let input =
        json!({ "cell": cell, "value": 1, "confirm_token": plan["confirm_token"], "yes": yes });
    Ok(process
        .call_as(who.clone(), "ledger.apply", input)
        .await?
        .run_id
        .unwrap())
}

#[tokio::test]
async fn what_becomes_of_an_apply() {
    let Scene { world, .. } = scene();
    let process = world.with_policy(POLICY).driving().await;
    let mut lines = Vec::new();
    for target in ["free", "asked", "unknown", "forbidden"] {
        for (name, who) in [
            ("clerk", clerk()),
            ("lead", lead()),
            ("ada", local()),
            ("boss", boss()),
        ] {
            for yes in [false, true] {
                let cell = format!("{target}-{name}-{yes}");
                let outcome = match try_apply(&process, &who, &cell, yes).await {
                    Ok(run_id) => process.settle(&run_id).await.state.as_str().to_owned(),
                    Err(problem) => problem.code().name.to_owned(),
                };
                lines.push(format!(
                    "{target:9} {name:5} {} → {outcome}",
                    if yes { "yes" } else { "   " }
                ));
            }
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @"
    free      clerk     → completed
    free      clerk yes → completed
    free      lead      → completed
    free      lead  yes → completed
    free      ada       → completed
    free      ada   yes → completed
    free      boss      → completed
    free      boss  yes → completed
    asked     clerk     → waiting
    asked     clerk yes → waiting
    asked     lead      → waiting
    asked     lead  yes → completed
    asked     ada       → waiting
    asked     ada   yes → waiting
    asked     boss      → waiting
    asked     boss  yes → completed
    unknown   clerk     → waiting
    unknown   clerk yes → waiting
    unknown   lead      → waiting
    unknown   lead  yes → completed
    unknown   ada       → waiting
    unknown   ada   yes → completed
    unknown   boss      → waiting
    unknown   boss  yes → completed
    forbidden clerk     → POLICY_DENIED
    forbidden clerk yes → POLICY_DENIED
    forbidden lead      → POLICY_DENIED
    forbidden lead  yes → POLICY_DENIED
    forbidden ada       → POLICY_DENIED
    forbidden ada   yes → POLICY_DENIED
    forbidden boss      → POLICY_DENIED
    forbidden boss  yes → POLICY_DENIED
    ");
}

#[tokio::test]
async fn a_plan_says_beforehand_what_policy_will_say() {
    let Scene { world, .. } = scene();
    let process = world.with_policy(POLICY).process();
    let mut lines = Vec::new();
    for (target, who) in [
        ("free", clerk()),
        ("asked", clerk()),
        ("asked", lead()),
        ("forbidden", boss()),
    ] {
        let input = json!({ "cell": target, "value": 1 });
        let plan = process
            .call_as(who.clone(), "ledger.plan", input)
            .await
            .unwrap()
            .output;
        lines.push(format!("{who} {target}: {}", plan["policy"]));
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    key:key_clerk free: {"caller_may_approve":false,"reason":"","rule":"policy.toml:4","verdict":"allow"}
    key:key_clerk asked: {"approvers":["local:boss","key:key_lead"],"caller_may_approve":false,"reason":"","rule":"policy.toml:10","verdict":"ask"}
    key:key_lead asked: {"approvers":["local:boss","key:key_lead"],"caller_may_approve":true,"reason":"","rule":"policy.toml:10","verdict":"ask"}
    local:boss forbidden: {"caller_may_approve":false,"reason":"nobody touches it","rule":"policy.toml:16","verdict":"deny"}
    "#);
}

#[tokio::test]
async fn queries_can_be_denied() {
    let Scene { world, .. } = scene();
    let process = world.with_policy(POLICY).process();
    assert!(process.call("ledger.show", json!({})).await.is_ok());
    let refused = process
        .call_as(clerk(), "ledger.show", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        (refused.code().name, &refused.details()["rule"]),
        ("POLICY_DENIED", &json!("policy.toml:22"))
    );
}

/// A run of the clerk that waits at the gate, driven or not.
async fn gated(world: &TestWorld, process: &Process) -> (RunId, Digest) {
    let run_id = try_apply(process, &clerk(), "asked", false).await.unwrap();
    let record = world
        .disk
        .all_runs()
        .into_iter()
        .find(|record| record.run_id == run_id)
        .unwrap();
    (run_id, record.plan_digest.unwrap())
}

pub(super) fn answer(approved: bool, plan_digest: Option<Digest>) -> ApprovalDecision {
    ApprovalDecision {
        approved,
        plan_digest,
        reason: None,
    }
}

#[tokio::test]
async fn answers_count_only_from_approvers_and_for_the_plan() {
    let Scene { world, ledger } = scene();
    let world = world.with_policy(POLICY);
    let process = world.driving().await;
    let (run_id, plan_digest) = gated(&world, &process).await;
    waiting(&process, &run_id).await;
    let outsider = Principal::key("key_outsider", vec![Scope::new("ledger")]);
    let mut lines = Vec::new();
    for (name, who, digest) in [
        ("clerk", clerk(), Some(plan_digest)),
        ("outsider", outsider, Some(plan_digest)),
        ("ada", local(), Some(plan_digest)),
        ("engine", Principal::system(), Some(plan_digest)),
        (
            "boss, another plan",
            boss(),
            Some(Digest::of(b"another plan")),
        ),
        (
            "lead, another plan",
            lead(),
            Some(Digest::of(b"another plan")),
        ),
    ] {
        let refused = process
            .engine
            .answer_approval(&who, &run_id, answer(true, digest))
            .await
            .unwrap_err();
        lines.push(format!("{name}: {}", refused.code().name));
        assert_eq!(
            process.record(&run_id).await.state,
            RunState::Waiting,
            "{name}"
        );
    }
    insta::assert_snapshot!(lines.join("\n"), @"
    clerk: FORBIDDEN
    outsider: RUN_NOT_FOUND
    ada: FORBIDDEN
    engine: FORBIDDEN
    boss, another plan: CONFIRM_TOKEN_MISMATCH
    lead, another plan: CONFIRM_TOKEN_MISMATCH
    ");
    assert_eq!(ledger.changes(), [""; 0]);
    process
        .engine
        .answer_approval(&lead(), &run_id, answer(true, Some(plan_digest)))
        .await
        .unwrap();
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    assert_eq!(ledger.changes(), ["asked=1"]);
    // Who was asked no longer sees the run; whose run it is does.
    assert!(process.engine.visible_run(&lead(), &run_id).await.is_err());
    assert!(process.engine.visible_run(&clerk(), &run_id).await.is_ok());
    insta::assert_snapshot!(story(&process, &run_id), @"
    run.created
    run.started
    wait.started approval before start
    signal.received approval
    wait.completed approval before start
    step.started asked
    step.completed asked
    run.completed
    ");
}

#[tokio::test]
async fn a_no_at_the_gate_ends_the_run_before_it_did_anything() {
    let Scene { world, ledger } = scene();
    let world = world.with_policy(POLICY);
    let process = world.driving().await;
    let (run_id, _) = gated(&world, &process).await;
    waiting(&process, &run_id).await;
    process
        .engine
        .answer_approval(&boss(), &run_id, answer(false, None))
        .await
        .unwrap();
    let record = ended(&process, &run_id).await;
    assert_eq!(
        (record.state, problem_code(&record)),
        (RunState::Failed, "APPROVAL_REJECTED")
    );
    assert_eq!(ledger.changes(), [""; 0]);
}

#[tokio::test]
async fn a_yes_before_anybody_drives_counts() {
    let Scene { world, ledger } = scene();
    let world = world.with_policy(POLICY);
    let client = world.process();
    let (run_id, plan_digest) = gated(&world, &client).await;
    client
        .engine
        .answer_approval(&boss(), &run_id, answer(true, Some(plan_digest)))
        .await
        .unwrap();
    let process = world.driving().await;
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    assert_eq!(ledger.changes(), ["asked=1"]);
}

#[tokio::test]
async fn runs_are_seen_by_their_owner_and_the_owner_of_the_home() {
    let Scene { world, .. } = scene();
    let process = world.with_policy(POLICY).driving().await;
    let run_id = try_apply(&process, &clerk(), "free", false).await.unwrap();
    ended(&process, &run_id).await;
    let admin = Principal::key("key_admin", vec![Scope::new("admin")]);
    for (who, sees) in [
        (clerk(), true),
        (local(), true),
        (admin, true),
        (lead(), false),
    ] {
        let found = process.engine.visible_run(&who, &run_id).await;
        assert_eq!(found.is_ok(), sees, "{who}");
        if let Err(problem) = found {
            assert_eq!(problem.code().name, "RUN_NOT_FOUND");
        }
        assert_eq!(
            process
                .engine
                .cancel(&who, &run_id, None)
                .await
                .unwrap_err()
                .code()
                .name,
            if sees {
                "ILLEGAL_STATE"
            } else {
                "RUN_NOT_FOUND"
            }
        );
    }
}

const TOGETHER: &str = r#"
version = 1

[[rule]]
operation = "ledger.apply"
decision = "ask"
approvers = ["local:*", "scope:approve"]
quorum = 2
distinct_approver = true
"#;

/// Two different approvers have to say yes, neither of them the caller; the first no ends it. What
/// was said survives a restart.
#[tokio::test]
async fn several_approvers_other_than_the_caller() {
    let Scene { world, ledger } = scene();
    let world = world.with_policy(TOGETHER);
    let process = world.driving().await;
    let run_id = try_apply(&process, &lead(), "cell", true).await.unwrap();
    let record = waiting(&process, &run_id).await;
    let pending = windlass_engine::operation::approval_pending(&record).unwrap();
    let mut lines = vec![pending.message().replace(run_id.as_str(), "RUN")];
    let say = async |process: &Process, who: &Principal, yes: bool| {
        let engine = process.catalogue().engine();
        let told = engine
            .answer_approval(who, &run_id, answer(yes, None))
            .await;
        match told {
            Ok(()) => format!("{who}: counted"),
            Err(problem) => format!(
                "{who}: {}",
                problem.message().replace(run_id.as_str(), "RUN")
            ),
        }
    };
    lines.push(say(&process, &lead(), true).await);
    lines.push(say(&process, &boss(), true).await);
    lines.push(say(&process, &boss(), true).await);
    let record = waiting(&process, &run_id).await;
    let pending = windlass_engine::operation::approval_pending(&record).unwrap();
    lines.push(pending.message().replace(run_id.as_str(), "RUN"));
    assert_eq!(ledger.get("cell"), None);
    process.kill();
    let process = world.driving().await;
    lines.push(say(&process, &boss(), true).await);
    lines.push(say(&process, &local(), true).await);
    let record = ended(&process, &run_id).await;
    lines.push(record.state.as_str().to_owned());
    insta::assert_snapshot!(lines.join("\n"), @"
    run RUN (ledger.apply cell) waits for 2 approvals by local:* or scope:approve, not by key:key_lead (0 of 2 approvals)
    key:key_lead: key:key_lead may not answer approvals of run RUN: it is its own request, and policy wants another approver
    local:boss: counted
    local:boss: local:boss has approved run RUN already: 1 of 2 approvals; another approver has to
    run RUN (ledger.apply cell) waits for 2 approvals by local:* or scope:approve, not by key:key_lead (1 of 2 approvals)
    local:boss: local:boss has approved run RUN already: 1 of 2 approvals; another approver has to
    local:ada: counted
    completed
    ");

    let run_id = try_apply(&process, &lead(), "other", false).await.unwrap();
    waiting(&process, &run_id).await;
    let engine = process.catalogue().engine();
    engine
        .answer_approval(&boss(), &run_id, answer(true, None))
        .await
        .unwrap();
    engine
        .answer_approval(&local(), &run_id, answer(false, None))
        .await
        .unwrap();
    let record = ended(&process, &run_id).await;
    assert_eq!(record.state, RunState::Failed);
    assert_eq!(ledger.get("other"), None, "the first no ends it");
}

/// Approvals that were given before anyone drove the run count as well.
#[tokio::test]
async fn approvals_before_the_first_driver_count() {
    let Scene { world, ledger } = scene();
    let world = world.with_policy(TOGETHER);
    let process = world.process();
    let run_id = try_apply(&process, &lead(), "cell", false).await.unwrap();
    let engine = process.catalogue().engine();
    engine
        .answer_approval(&boss(), &run_id, answer(true, None))
        .await
        .unwrap();
    let again = engine
        .answer_approval(&boss(), &run_id, answer(true, None))
        .await;
    assert!(again.unwrap_err().message().contains("1 of 2 approvals"));
    let process = world.driving().await;
    waiting(&process, &run_id).await;
    let engine = process.catalogue().engine();
    engine
        .answer_approval(&local(), &run_id, answer(true, None))
        .await
        .unwrap();
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    assert!(ledger.get("cell").is_some());
}

/// What an approver reads has no character that changes how it reads.
#[tokio::test]
async fn hidden_characters_are_shown_to_approvers() {
    let Scene { world, .. } = scene();
    let process = world.with_policy(TOGETHER).driving().await;
    let cell = "safe\u{202e}txt.exe\u{200b}";
    let run_id = try_apply(&process, &clerk(), cell, false).await.unwrap();
    let record = waiting(&process, &run_id).await;
    let on = &record.waiting_on[0].1;
    let subject = record.subject.as_ref().unwrap();
    let mut shown = vec![record.title.as_str(), on.prompt.as_deref().unwrap()];
    shown.extend(
        subject
            .targets
            .iter()
            .chain(&subject.lines)
            .map(String::as_str),
    );
    shown.extend(on.lines.iter().map(String::as_str));
    assert!(
        shown.iter().any(|text| text.contains("\\u{202e}txt")),
        "{shown:?}"
    );
    for text in shown {
        assert!(!text.chars().any(windlass_text::is_hidden), "{text:?}");
    }
}

/// A rule for an operation that does not exist protects nothing, so it is refused.
#[tokio::test]
async fn a_rule_for_no_operation_is_refused() {
    for (pattern, expected) in [
        ("ledger.apply", None),
        ("ledger.*", None),
        (
            "ledger.aply",
            Some(
                "policy.toml:2: no operation is called `ledger.aply`; did you mean `ledger.apply`?",
            ),
        ),
        (
            "leger.*",
            Some("policy.toml:2: no operation is called `leger.*`"),
        ),
    ] {
        let Scene { world, .. } = scene();
        let rule =
            format!("version = 1\n[[rule]]\noperation = \"{pattern}\"\ndecision = \"deny\"\n");
        let process = world.with_policy(&rule).process();
        let checked = process.catalogue().check_policy();
        let message = checked.err().map(|problem| problem.message().to_owned());
        assert_eq!(message.as_deref(), expected, "{pattern}");
    }
}
