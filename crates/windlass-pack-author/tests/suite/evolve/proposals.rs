//! Which edits are captured, in which form, and what is reported about the others.
//!
//! Long because every rule of proposing is one scene in a real repository.

use windlass_pack_author::evolve::{ProposeRequest, Scope};

use super::world::{World, edit, module};

const SKILL: &str = "---\nname: s\ndescription: d\n---\none\ntwo\nthree\nfour\nfive\nsix\nseven\n";
const KEY: &str = "overlays/skill_demo--f2b4dd2c0d";

/// A skill for codex and claude_code, in the user's directories.
fn skill_world() -> World {
    let world = World::new(&format!(
        "targets:\n  codex: {{mode: files, scope: user}}\n  claude_code: {{mode: files, scope: user, options: {{write_user_skills: true}}}}\nmodules:\n{}",
        module("skill:demo", "skill", "modules/skills/demo")
    ));
    world.file("modules/skills/demo/SKILL.md", SKILL);
    world.file("modules/skills/demo/run.sh", "echo 1\n");
    world.committed().deployed();
    world
}

/// Two instructions for every target that takes them.
fn instructions_world() -> World {
    let world = World::new(&format!(
        "targets:\n  codex: {{mode: files, scope: both}}\n  cursor: {{mode: files, scope: project}}\nmodules:\n{}{}",
        module("instructions:a", "instructions", "modules/a"),
        module("instructions:b", "instructions", "modules/b")
    ));
    world.file(
        "modules/a/AGENTS.md",
        "a one\na two\na three\na four\na five\n",
    );
    world.file("modules/b/AGENTS.md", "b without newline");
    world.committed().deployed();
    world
}

#[test]
fn nothing_changed_is_no_drift() {
    let world = skill_world();
    let proposal = world.propose(Scope::Global);
    assert_eq!(proposal.nothing(), Some("no_drift"));
    assert!(proposal.writes.is_empty());
    insta::assert_snapshot!(world.json(&proposal.dry_run_data()), @r#"
    {
      "created": false,
      "reason": "no_drift",
      "skipped": [],
      "summary": {
        "drifted_proposeable": 0,
        "drifted_skipped": 0,
        "skipped_missing": 0,
        "skipped_multi_module": 0,
        "skipped_read_error": 0
      }
    }
    "#);
}

#[test]
fn an_edit_goes_into_a_new_overlay_with_baseline_and_metadata() {
    let world = skill_world();
    world.change("home/.codex/skills/demo/run.sh", "1", "2");
    let proposal = world.propose(Scope::Machine);
    insta::assert_snapshot!(world.listing(&proposal), @"
    + skill:demo codex $ROOT/home/.codex/skills/demo/run.sh
    > overlays/machines/box/skill_demo--f2b4dd2c0d/.agentpack/baseline.json
    > overlays/machines/box/skill_demo--f2b4dd2c0d/.agentpack/module_id
    > overlays/machines/box/skill_demo--f2b4dd2c0d/.agentpack/overlay.json
    > overlays/machines/box/skill_demo--f2b4dd2c0d/run.sh
    ");
    assert_eq!(
        proposal.branch,
        "evolve/propose-machine-skill_demo-20260102T030405Z-000006789"
    );
    insta::assert_snapshot!(world.json(&proposal.dry_run_data()), @r#"
    {
      "candidates": [
        {
          "module_id": "skill:demo",
          "path": "$ROOT/home/.codex/skills/demo/run.sh",
          "path_posix": "$ROOT/home/.codex/skills/demo/run.sh",
          "target": "codex"
        }
      ],
      "created": false,
      "reason": "dry_run",
      "skipped": [],
      "summary": {
        "drifted_proposeable": 1,
        "drifted_skipped": 0,
        "skipped_missing": 0,
        "skipped_multi_module": 0,
        "skipped_read_error": 0
      }
    }
    "#);
    world.write(&proposal.writes).unwrap();
    let overlay = "overlays/machines/box/skill_demo--f2b4dd2c0d";
    assert_eq!(world.read(&format!("{overlay}/run.sh")), "echo 2\n");
    assert_eq!(
        world.read(&format!("{overlay}/.agentpack/module_id")),
        "skill:demo\n"
    );
    let head = world.git_in("repo", &["rev-parse", "HEAD"]);
    let baseline = world.read(&format!("{overlay}/.agentpack/baseline.json"));
    insta::assert_snapshot!(baseline.replace(&head, "$HEAD"), @r#"
    {
      "version": 2,
      "created_at": "2026-01-02T03:04:05.000006789Z",
      "upstream_sha256": "07bc3c67d1445d999ef323a1f13075b9d5cc4ae64c79b3b9c3cbb7fb50e32013",
      "file_manifest": [
        {
          "path": "SKILL.md",
          "sha256": "fe525400c88fbf6b2a7c54f04e08cc5ea92d1ef3f93d01d2a76738815b7cd614",
          "bytes": 65
        },
        {
          "path": "run.sh",
          "sha256": "c44090c3f318c724c480b810801ef2974b32e2b9ee7ca29ca861cedd6896f798",
          "bytes": 7
        }
      ],
      "upstream": {
        "kind": "local_path",
        "repo_rel_path": "modules/skills/demo",
        "repo_git_rev": "$HEAD",
        "repo_dirty": false
      }
    }
    "#);
    insta::assert_snapshot!(world.read(&format!("{overlay}/.agentpack/overlay.json")), @r#"
    {
      "overlay_kind": "dir"
    }
    "#);
    // Deployed again, nothing differs in codex any more, and claude_code gets the edit too.
    world.deployed();
    assert_eq!(world.propose(Scope::Machine).nothing(), Some("no_drift"));
}

#[test]
fn missing_outputs_are_skipped_with_the_way_back() {
    let world = skill_world();
    fs_err::remove_file(world.root().join("home/.claude/skills/demo/run.sh")).unwrap();
    let proposal = world.propose(Scope::Global);
    assert_eq!(proposal.nothing(), Some("no_proposeable_drift"));
    insta::assert_snapshot!(world.json(&proposal.dry_run_data()), @r#"
    {
      "created": false,
      "reason": "no_proposeable_drift",
      "skipped": [
        {
          "module_id": "skill:demo",
          "next_actions": [
            "agentpack evolve restore --module-id skill:demo --yes --json",
            "agentpack deploy --apply --yes --json"
          ],
          "path": "$ROOT/home/.claude/skills/demo/run.sh",
          "path_posix": "$ROOT/home/.claude/skills/demo/run.sh",
          "reason": "missing",
          "reason_code": "missing",
          "reason_message": "the file is wanted but not there; recreate it with evolve restore or deploy",
          "suggestions": [
            {
              "action": "agentpack evolve restore",
              "reason": "writes the missing files again and touches no other"
            },
            {
              "action": "agentpack deploy --apply",
              "reason": "writes everything as wanted and brings the manifests up to date"
            }
          ],
          "target": "claude_code"
        }
      ],
      "summary": {
        "drifted_proposeable": 0,
        "drifted_skipped": 1,
        "skipped_missing": 1,
        "skipped_multi_module": 0,
        "skipped_read_error": 0
      }
    }
    "#);
}

#[test]
fn unreadable_outputs_are_counted_and_named() {
    let world = skill_world();
    let path = world.root().join("home/.claude/skills/demo/run.sh");
    fs_err::remove_file(&path).unwrap();
    fs_err::create_dir(&path).unwrap();
    let proposal = world.propose(Scope::Global);
    assert_eq!(proposal.summary.skipped_read_error, 1);
    insta::assert_snapshot!(world.listing(&proposal), @"! evolve.propose: skipped claude_code $ROOT/home/.claude/skills/demo/run.sh: it is not a file");
}

#[test]
fn must_17_equal_and_mergeable_edits_of_one_file_are_taken_together() {
    let world = skill_world();
    world.change("home/.codex/skills/demo/SKILL.md", "one\n", "ONE\n");
    world.change("home/.claude/skills/demo/SKILL.md", "seven\n", "SEVEN\n");
    for home in [".codex", ".claude"] {
        world.change(&format!("home/{home}/skills/demo/run.sh"), "1", "2");
    }
    let proposal = world.propose(Scope::Global);
    // Each output is a candidate, each file is listed once.
    insta::assert_snapshot!(world.listing(&proposal), @"
    + skill:demo claude_code $ROOT/home/.claude/skills/demo/SKILL.md
    + skill:demo claude_code $ROOT/home/.claude/skills/demo/run.sh
    + skill:demo codex $ROOT/home/.codex/skills/demo/SKILL.md
    + skill:demo codex $ROOT/home/.codex/skills/demo/run.sh
    > overlays/skill_demo--f2b4dd2c0d/.agentpack/baseline.json
    > overlays/skill_demo--f2b4dd2c0d/.agentpack/module_id
    > overlays/skill_demo--f2b4dd2c0d/.agentpack/overlay.json
    > overlays/skill_demo--f2b4dd2c0d/SKILL.md
    > overlays/skill_demo--f2b4dd2c0d/run.sh
    ");
    world.write(&proposal.writes).unwrap();
    assert_eq!(
        world.read(&format!("{KEY}/SKILL.md")),
        SKILL.replace("one", "ONE").replace("seven", "SEVEN")
    );
    assert_eq!(world.read(&format!("{KEY}/run.sh")), "echo 2\n");
}

#[test]
fn must_17_different_edits_of_one_file_are_conflicting_edits() {
    let world = skill_world();
    world.change("home/.codex/skills/demo/SKILL.md", "three", "codex");
    world.change("home/.claude/skills/demo/SKILL.md", "three", "claude");
    world.change("home/.codex/skills/demo/run.sh", "1", "2");
    let proposal = world.propose(Scope::Project);
    insta::assert_snapshot!(world.listing(&proposal), @"
    + skill:demo codex $ROOT/home/.codex/skills/demo/run.sh
    - conflicting_edits skill:demo claude_code $ROOT/home/.claude/skills/demo/SKILL.md
    - conflicting_edits skill:demo codex $ROOT/home/.codex/skills/demo/SKILL.md
    > projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d/.agentpack/baseline.json
    > projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d/.agentpack/module_id
    > projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d/.agentpack/overlay.json
    > projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d/run.sh
    ");
    insta::assert_snapshot!(world.json(&serde_json::json!(proposal.skipped[0])), @r#"
    {
      "module_id": "skill:demo",
      "next_actions": [
        "agentpack --target claude_code evolve propose --module-id skill:demo --scope project --yes --json",
        "agentpack --target codex evolve propose --module-id skill:demo --scope project --yes --json"
      ],
      "path": "$ROOT/home/.claude/skills/demo/SKILL.md",
      "path_posix": "$ROOT/home/.claude/skills/demo/SKILL.md",
      "reason": "conflicting_edits",
      "reason_code": "conflicting_edits",
      "reason_message": "outputs of the same module file were edited differently, and the edits cannot be merged",
      "suggestions": [
        {
          "action": "make the outputs agree, then propose again",
          "reason": "equal edits, and edits of different places, are taken together"
        }
      ],
      "target": "claude_code"
    }
    "#);
    assert_eq!(proposal.summary.skipped_conflicting, 2);
    // One target's edits can be proposed alone, as the next action says.
    let mut world = world;
    world.target = Some(windlass_pack_model::Target::Codex);
    assert_eq!(world.propose(Scope::Project).candidates.len(), 2);
}

#[test]
fn sections_of_an_aggregate_belong_to_their_modules() {
    let world = instructions_world();
    for root in ["home/.codex", "project"] {
        world.change(&format!("{root}/AGENTS.md"), "a two", "A TWO");
        world.change(&format!("{root}/AGENTS.md"), "without", "still without");
    }
    let proposal = world.propose(Scope::Global);
    // Equal sections of two files count once.
    insta::assert_snapshot!(world.listing(&proposal), @"
    + instructions:a codex $ROOT/home/.codex/AGENTS.md
    + instructions:b codex $ROOT/home/.codex/AGENTS.md
    > overlays/instructions_a--1b59cb31ea/.agentpack/baseline.json
    > overlays/instructions_a--1b59cb31ea/.agentpack/module_id
    > overlays/instructions_a--1b59cb31ea/.agentpack/overlay.json
    > overlays/instructions_a--1b59cb31ea/AGENTS.md
    > overlays/instructions_b--349bcb0697/.agentpack/baseline.json
    > overlays/instructions_b--349bcb0697/.agentpack/module_id
    > overlays/instructions_b--349bcb0697/.agentpack/overlay.json
    > overlays/instructions_b--349bcb0697/AGENTS.md
    ");
    world.write(&proposal.writes).unwrap();
    let overlay = |id: &str| {
        let key = windlass_pack_model::module_id::module_fs_key(id);
        world.read(&format!("overlays/{key}/AGENTS.md"))
    };
    assert_eq!(
        overlay("instructions:a"),
        "a one\nA TWO\na three\na four\na five\n"
    );
    assert_eq!(overlay("instructions:b"), "b still without newline");
    world.deployed();
    assert_eq!(world.propose(Scope::Global).nothing(), Some("no_drift"));
}

#[test]
fn aggregates_without_markers_or_with_edits_outside_are_skipped() {
    for (name, from, to) in [
        ("a marker is gone", "<!-- /agentpack -->\n\n---", "\n---"),
        ("the edit is outside", "\n---\n", "\n-----\n"),
        (
            "a section is renamed",
            "module=instructions:a",
            "module=instructions:c",
        ),
    ] {
        let world = instructions_world();
        world.change("project/AGENTS.md", from, to);
        let listing = world.listing(&world.propose(Scope::Global));
        assert_eq!(
            listing,
            "- multi_module_output instructions:a+instructions:b codex $ROOT/project/AGENTS.md",
            "{name}"
        );
    }
    let world = instructions_world();
    world.change("project/AGENTS.md", "\n---\n", "\n-----\n");
    let proposal = world.propose(Scope::Global);
    insta::assert_snapshot!(world.json(&serde_json::json!(proposal.skipped)), @r#"
    [
      {
        "module_ids": [
          "instructions:a",
          "instructions:b"
        ],
        "next_actions": [],
        "path": "$ROOT/project/AGENTS.md",
        "path_posix": "$ROOT/project/AGENTS.md",
        "reason": "multi_module_output",
        "reason_code": "multi_module_output",
        "reason_message": "the file comes from several modules and its markers do not separate the edits",
        "suggestions": [
          {
            "action": "put the module markers back and edit between them",
            "reason": "each edit then belongs to one module"
          },
          {
            "action": "write the modules to files of their own",
            "reason": "a file of one module needs no markers"
          }
        ],
        "target": "codex"
      }
    ]
    "#);
}

#[test]
fn must_17_cursor_rules_come_back_without_their_frontmatter() {
    let world = instructions_world();
    let rule = |id: &str| {
        let key = windlass_pack_model::module_id::module_fs_key(id);
        format!("project/.cursor/rules/{key}.mdc")
    };
    world.change(&rule("instructions:a"), "a five", "A FIVE");
    world.change("project/AGENTS.md", "a one", "A ONE");
    world.change(&rule("instructions:b"), "without", "w/o");
    let proposal = world.propose(Scope::Global);
    insta::assert_snapshot!(world.listing(&proposal), @"
    + instructions:a cursor $ROOT/project/.cursor/rules/instructions_a--1b59cb31ea.mdc
    + instructions:a codex $ROOT/project/AGENTS.md
    + instructions:b cursor $ROOT/project/.cursor/rules/instructions_b--349bcb0697.mdc
    > overlays/instructions_a--1b59cb31ea/.agentpack/baseline.json
    > overlays/instructions_a--1b59cb31ea/.agentpack/module_id
    > overlays/instructions_a--1b59cb31ea/.agentpack/overlay.json
    > overlays/instructions_a--1b59cb31ea/AGENTS.md
    > overlays/instructions_b--349bcb0697/.agentpack/baseline.json
    > overlays/instructions_b--349bcb0697/.agentpack/module_id
    > overlays/instructions_b--349bcb0697/.agentpack/overlay.json
    > overlays/instructions_b--349bcb0697/AGENTS.md
    ");
    world.write(&proposal.writes).unwrap();
    let overlay = |id: &str| {
        let key = windlass_pack_model::module_id::module_fs_key(id);
        world.read(&format!("overlays/{key}/AGENTS.md"))
    };
    assert_eq!(
        overlay("instructions:a"),
        "A ONE\na two\na three\na four\nA FIVE\n"
    );
    assert_eq!(overlay("instructions:b"), "b w/o newline");

    // What is generated cannot be captured; neither can a newline that every rule gets.
    let world = instructions_world();
    world.change(
        &rule("instructions:a"),
        "alwaysApply: true",
        "alwaysApply: false",
    );
    world.change(&rule("instructions:b"), "newline\n", "newline");
    insta::assert_snapshot!(world.listing(&world.propose(Scope::Global)), @"
    - generated_output instructions:a cursor $ROOT/project/.cursor/rules/instructions_a--1b59cb31ea.mdc
    - generated_output instructions:b cursor $ROOT/project/.cursor/rules/instructions_b--349bcb0697.mdc
    ");
}

#[test]
fn must_17_prompts_keep_the_name_of_their_source() {
    let world = World::new(&format!(
        "targets:\n  vscode: {{mode: files, scope: project}}\nmodules:\n{}{}",
        module("prompt:draft", "prompt", "modules/prompts/draft.md"),
        module("prompt:kept", "prompt", "modules/prompts/kept.prompt.md")
    ));
    world.file("modules/prompts/draft.md", "draft\n");
    world.file("modules/prompts/kept.prompt.md", "kept\n");
    world.committed().deployed();
    world.change("project/.github/prompts/draft.prompt.md", "draft", "DRAFT");
    world.change("project/.github/prompts/kept.prompt.md", "kept", "KEPT");
    let proposal = world.propose(Scope::Global);
    insta::assert_snapshot!(world.listing(&proposal), @"
    + prompt:draft vscode $ROOT/project/.github/prompts/draft.prompt.md
    + prompt:kept vscode $ROOT/project/.github/prompts/kept.prompt.md
    > overlays/prompt_draft--4c683d0b2e/.agentpack/baseline.json
    > overlays/prompt_draft--4c683d0b2e/.agentpack/module_id
    > overlays/prompt_draft--4c683d0b2e/.agentpack/overlay.json
    > overlays/prompt_draft--4c683d0b2e/draft.md
    > overlays/prompt_kept--59cf40dbe7/.agentpack/baseline.json
    > overlays/prompt_kept--59cf40dbe7/.agentpack/module_id
    > overlays/prompt_kept--59cf40dbe7/.agentpack/overlay.json
    > overlays/prompt_kept--59cf40dbe7/kept.prompt.md
    ");
    world.write(&proposal.writes).unwrap();
    world.deployed();
    assert_eq!(world.propose(Scope::Global).nothing(), Some("no_drift"));
}

#[test]
fn must_17_a_patch_overlay_gets_a_patch() {
    let world = skill_world();
    world.edit(windlass_pack_author::evolve::EditRequest {
        kind: Some(windlass_pack_model::OverlayKind::Patch),
        ..edit("skill:demo")
    });
    world.committed();
    world.change("home/.codex/skills/demo/SKILL.md", "four", "FOUR");
    world.change("home/.codex/skills/demo/run.sh", "echo 1\n", "echo 2");
    let proposal = world.propose(Scope::Global);
    insta::assert_snapshot!(world.listing(&proposal), @"
    + skill:demo codex $ROOT/home/.codex/skills/demo/SKILL.md
    + skill:demo codex $ROOT/home/.codex/skills/demo/run.sh
    > overlays/skill_demo--f2b4dd2c0d/.agentpack/patches/SKILL.md.patch
    > overlays/skill_demo--f2b4dd2c0d/.agentpack/patches/run.sh.patch
    ");
    world.write(&proposal.writes).unwrap();
    insta::assert_snapshot!(world.read(&format!("{KEY}/.agentpack/patches/SKILL.md.patch")), @"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     one
     two
     three
    -four
    +FOUR
     five
     six
     seven
    ");
    world.deployed();
    assert_eq!(world.propose(Scope::Global).nothing(), Some("no_drift"));

    // Edited again: the patch is recreated against the file below, not stacked.
    world.committed();
    world.change("home/.codex/skills/demo/SKILL.md", "five", "FIVE");
    let proposal = world.propose(Scope::Global);
    world.write(&proposal.writes).unwrap();
    insta::assert_snapshot!(world.read(&format!("{KEY}/.agentpack/patches/SKILL.md.patch")), @"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -5,7 +5,7 @@
     one
     two
     three
    -four
    -five
    +FOUR
    +FIVE
     six
     seven
    ");

    // Edited back: there is nothing left to patch.
    world.deployed();
    let path = world.root().join("home/.codex/skills/demo/SKILL.md");
    fs_err::write(path, SKILL).unwrap();
    let proposal = world.propose(Scope::Global);
    assert_eq!(
        proposal.files,
        [format!("{KEY}/.agentpack/patches/SKILL.md.patch")]
    );
    world.write(&proposal.writes).unwrap();
    assert_eq!(
        world.read(&format!("{KEY}/.agentpack/patches/SKILL.md.patch")),
        "-"
    );
}

#[test]
fn what_a_patch_cannot_hold_is_skipped() {
    let world = skill_world();
    world.edit(windlass_pack_author::evolve::EditRequest {
        kind: Some(windlass_pack_model::OverlayKind::Patch),
        ..edit("skill:demo")
    });
    let path = world.root().join("home/.codex/skills/demo/run.sh");
    fs_err::write(path, b"\xff\xfe").unwrap();
    insta::assert_snapshot!(world.listing(&world.propose(Scope::Global)), @"- not_patchable skill:demo codex $ROOT/home/.codex/skills/demo/run.sh");
    // Into a scope without patches it goes.
    assert_eq!(world.propose(Scope::Machine).candidates.len(), 1);
}

#[test]
fn a_higher_scope_that_replaces_the_file_is_named() {
    let world = skill_world();
    world.file(
        "projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d/run.sh",
        "echo p\n",
    );
    world.committed().deployed();
    world.change("home/.codex/skills/demo/run.sh", "p", "q");
    let proposal = world.propose(Scope::Global);
    insta::assert_snapshot!(world.listing(&proposal), @"
    + skill:demo codex $ROOT/home/.codex/skills/demo/run.sh
    > overlays/skill_demo--f2b4dd2c0d/.agentpack/baseline.json
    > overlays/skill_demo--f2b4dd2c0d/.agentpack/module_id
    > overlays/skill_demo--f2b4dd2c0d/.agentpack/overlay.json
    > overlays/skill_demo--f2b4dd2c0d/run.sh
    ! the project overlay of module skill:demo replaces run.sh, so a change of the global overlay does not show here; propose into scope project to change what is deployed
    ");
    world.write(&proposal.writes).unwrap();
    // The same again changes nothing: now it is only hidden.
    insta::assert_snapshot!(world.listing(&world.propose(Scope::Global)), @"- hidden_by_higher_scope skill:demo codex $ROOT/home/.codex/skills/demo/run.sh");
}

#[test]
fn an_edit_goes_below_the_patch_of_a_higher_scope_where_that_shows() {
    let world = skill_world();
    let patches = "projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d/.agentpack";
    world.file(
        &format!("{patches}/overlay.json"),
        "{\"overlay_kind\": \"patch\"}\n",
    );
    world.file(
        &format!("{patches}/patches/SKILL.md.patch"),
        "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -4,4 +4,4 @@\n ---\n-one\n+ONE\n two\n three\n",
    );
    world.committed().deployed();
    world.change("home/.codex/skills/demo/SKILL.md", "seven", "SEVEN");
    let proposal = world.propose(Scope::Global);
    world.write(&proposal.writes).unwrap();
    // The patched line stays out of the lower overlay.
    assert_eq!(
        world.read(&format!("{KEY}/SKILL.md")),
        SKILL.replace("seven", "SEVEN")
    );
    world.deployed();
    assert_eq!(world.propose(Scope::Global).nothing(), Some("no_drift"));
    // An edit of the patched line itself can only be made there.
    world.change("home/.codex/skills/demo/SKILL.md", "ONE", "UNO");
    let proposal = world.propose(Scope::Global);
    insta::assert_snapshot!(world.json(&serde_json::json!(proposal.skipped)), @r#"
    [
      {
        "module_id": "skill:demo",
        "next_actions": [
          "agentpack evolve propose --module-id skill:demo --scope project --yes --json"
        ],
        "path": "$ROOT/home/.codex/skills/demo/SKILL.md",
        "path_posix": "$ROOT/home/.codex/skills/demo/SKILL.md",
        "reason": "hidden_by_higher_scope",
        "reason_code": "hidden_by_higher_scope",
        "reason_message": "an overlay of a higher scope changes the same lines, so the edit would not show",
        "suggestions": [
          {
            "action": "propose into scope project",
            "reason": "the overlay there has precedence for the file"
          }
        ],
        "target": "codex"
      }
    ]
    "#);
    assert_eq!(world.propose(Scope::Project).candidates.len(), 1);
}

#[test]
fn one_module_can_be_asked_for() {
    let world = instructions_world();
    world.change("project/AGENTS.md", "a two", "A TWO");
    world.change("project/AGENTS.md", "b without", "b with");
    let only = |id| ProposeRequest {
        module_id: Some(id),
        ..ProposeRequest::default()
    };
    let proposal = world.try_propose(only("instructions:b")).unwrap();
    insta::assert_snapshot!(world.listing(&proposal), @"
    + instructions:b codex $ROOT/project/AGENTS.md
    > overlays/instructions_b--349bcb0697/.agentpack/baseline.json
    > overlays/instructions_b--349bcb0697/.agentpack/module_id
    > overlays/instructions_b--349bcb0697/.agentpack/overlay.json
    > overlays/instructions_b--349bcb0697/AGENTS.md
    ");
    assert!(
        proposal
            .branch
            .starts_with("evolve/propose-global-instructions_b-")
    );
    assert!(
        world
            .propose(Scope::Global)
            .branch
            .starts_with("evolve/propose-global-multi-")
    );
    let proposal = world.try_propose(only("instructions:bb")).unwrap();
    insta::assert_snapshot!(world.listing(&proposal), @r#"! agentpack.yaml has no module "instructions:bb"; did you mean "instructions:b"?"#);
    assert_eq!(proposal.nothing(), Some("no_drift"));
}

#[test]
fn an_added_execute_bit_is_included() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = skill_world();
    world.change("home/.codex/skills/demo/run.sh", "1", "2");
    let path = world.root().join("home/.codex/skills/demo/run.sh");
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.write(&world.propose(Scope::Global).writes).unwrap();
    let written = fs_err::metadata(world.repo().join(KEY).join("run.sh")).unwrap();
    assert_eq!(written.permissions().mode() & 0o111, 0o111);
}

#[test]
fn must_4_and_25_a_bad_branch_is_refused_before_anything_is_read() {
    let world = skill_world();
    let problem = world
        .try_propose(ProposeRequest {
            branch: Some("--orphan"),
            ..ProposeRequest::default()
        })
        .unwrap_err();
    insta::assert_snapshot!(world.show(&problem), @r#"
    E_CONFIG_INVALID: the branch name "--orphan" is refused: it starts with `-`; choose another with --branch, or leave it out
    {
      "branch": "--orphan",
      "field": "branch",
      "hint": "it starts with `-`",
      "reason_code": "config_invalid"
    }
    "#);
}

#[test]
fn the_project_scope_needs_a_project() {
    let mut world = skill_world();
    world.change("home/.codex/skills/demo/run.sh", "1", "2");
    world.project = None;
    let request = ProposeRequest {
        scope: Scope::Project,
        ..ProposeRequest::default()
    };
    let problem = world.try_propose(request).unwrap_err();
    assert_eq!(problem.code().name, "E_CONFIG_INVALID");
    assert_eq!(world.propose(Scope::Global).candidates.len(), 1);
}
