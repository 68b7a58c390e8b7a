//! The confirm hash against its formula, and the binding of arguments.

use std::path::PathBuf;

use serde_json::json;
use windlass_pack_model::Body;
use windlass_types::canonical::canonical_json;

use super::*;
use crate::change::{Op, Reason, UpdateKind, Written};

fn change(op: Op, path: &str, kind: Option<UpdateKind>, reason: Reason) -> PlanChange {
    PlanChange {
        target: Target::Codex,
        op,
        path: PathBuf::from(path),
        before_sha256: (op != Op::Create).then(|| Digest::of(b"before")),
        after_sha256: (op != Op::Delete).then(|| Digest::of(b"after")),
        update_kind: kind,
        reason,
        before_mode: None,
        after_mode: None,
        keys: Vec::new(),
        after: (op != Op::Delete).then(|| Written {
            body: Body::Memory((*b"after").into()),
            executable: false,
        }),
        found_mode: None,
    }
}

fn changes() -> Vec<PlanChange> {
    vec![
        change(Op::Create, "/h/a \"é\".md", None, Reason::FileMissing),
        change(
            Op::Update,
            "/h/b.md",
            Some(UpdateKind::ManagedUpdate),
            Reason::ContentDiffers,
        ),
        change(
            Op::Update,
            "/h/c.md",
            Some(UpdateKind::AdoptUpdate),
            Reason::WouldOverwrite,
        ),
        change(Op::Delete, "/h/d.md", None, Reason::NoLongerManaged),
    ]
}

#[test]
fn the_hash_is_that_of_the_formula() {
    let changes = changes();
    let binding = Binding {
        machine: None,
        profile: Some("work".to_owned()),
        repo: None,
        target: Some("codex".to_owned()),
    };
    let summary = PlanSummary::of(&changes);
    let hash = confirm_hash(&binding, "work", &[Target::Codex], &changes, summary);
    let value = json!({
        "binding": {"machine": null, "profile": "work", "repo": null, "target": "codex"},
        "data": {
            "applied": false,
            "changes": changes,
            "profile": "work",
            "summary": summary,
            "targets": ["codex"],
        },
    });
    assert_eq!(hash, Digest::of(canonical_json(&value).as_bytes()));
}

#[test]
fn the_hash_of_an_empty_plan_is_a_known_value() {
    // printf '%s' '{"binding":{"machine":null,"profile":null,"repo":null,"target":null},"data":{"applied":false,"changes":[],"profile":"default","summary":{"create":0,"delete":0,"update":0},"targets":["claude_code","codex"]}}' | sha256sum
    let hash = confirm_hash(
        &Binding::default(),
        "default",
        &[Target::ClaudeCode, Target::Codex],
        &[],
        PlanSummary::default(),
    );
    assert_eq!(
        hash.to_string(),
        "5eff4e34f168eb7ffbe62daf6073186bb90d58c78dce760a9db47bba9529b9a6"
    );
}

#[test]
fn additions_are_not_hashed_but_are_in_the_full_digest() {
    let plan = |changes: Vec<PlanChange>| DeployPlan {
        summary: PlanSummary::of(&changes),
        changes,
        local_edits: Vec::new(),
        warnings: Vec::new(),
        links: Vec::new(),
        purpose: crate::plan::Purpose::Deploy,
        roots: Vec::new(),
        shared: Vec::new(),
    };
    let plain = plan(changes()).hash(&Binding::default(), "default", &[]);
    let mut with_modes = changes();
    with_modes[1].before_mode = Some(windlass_pack_model::FileMode::REGULAR);
    with_modes[1].after_mode = Some(windlass_pack_model::FileMode::EXECUTABLE);
    let moded = plan(with_modes).hash(&Binding::default(), "default", &[]);
    assert_eq!(moded.confirm, plain.confirm);
    assert_ne!(moded.full, plain.full);
    let fewer = plan(changes()[1..].to_vec()).hash(&Binding::default(), "default", &[]);
    assert_ne!(fewer.confirm, plain.confirm);
}

#[test]
fn must_37_spelled_out_defaults_bind_like_none() {
    let defaults = BindingDefaults {
        machine: "my-laptop".to_owned(),
        repo: "/home/u/.agentpack/repo".to_owned(),
    };
    let given = |machine: &str, profile: &str, repo: &str, target: &str| {
        Binding {
            machine: Some(machine.to_owned()),
            profile: Some(profile.to_owned()),
            repo: Some(repo.to_owned()),
            target: Some(target.to_owned()),
        }
        .normalised(&defaults)
    };
    for repo in ["/home/u/.agentpack/repo", "/home/u/.agentpack/repo/"] {
        for machine in ["my-laptop", "My Laptop", " "] {
            assert_eq!(given(machine, "default", repo, "all"), Binding::default());
        }
    }
    let other = given("Other Box", "work", "/elsewhere", "codex");
    assert_eq!(
        other.machine.as_deref(),
        Some("Other Box"),
        "as it was given"
    );
    assert_eq!(other.profile.as_deref(), Some("work"));
    assert_ne!(other.digest(), Binding::default().digest());
}
