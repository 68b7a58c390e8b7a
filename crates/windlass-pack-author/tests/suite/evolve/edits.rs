//! Overlays that are made, completed and found.

use windlass_pack_author::evolve::{EditRequest, Scope, overlay_path};
use windlass_pack_model::OverlayKind;

use super::world::{World, edit, module};

const OVERLAY: &str = "overlays/skill_demo--f2b4dd2c0d";

fn world() -> World {
    let world = World::new(&format!(
        "targets: {{codex: {{mode: files, scope: user}}}}\nmodules:\n{}",
        module("skill:demo", "skill", "modules/demo")
    ));
    world.file(
        "modules/demo/SKILL.md",
        "---\nname: s\ndescription: d\n---\n",
    );
    world.file("modules/demo/bin/run.sh", "echo\n");
    world.file("modules/demo/.agentpack/hidden", "never copied\n");
    world.committed();
    world
}

/// The files of an overlay.
fn files(world: &World, dir: &str) -> String {
    let listed = std::process::Command::new("find")
        .current_dir(world.repo().join(dir))
        .args([".", "-type", "f"])
        .output()
        .unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let mut names: Vec<&str> = text.lines().map(|line| &line[2..]).collect();
    names.sort_unstable();
    names.join(" ")
}

#[test]
fn a_new_overlay_copies_the_module() {
    let world = world();
    let edited = world.edit(edit("skill:demo"));
    insta::assert_snapshot!(files(&world, OVERLAY), @".agentpack/baseline.json .agentpack/module_id .agentpack/overlay.json SKILL.md bin/run.sh");
    insta::assert_snapshot!(world.json(&edited.data()), @r#"
    {
      "created": true,
      "machine_id": null,
      "materialized": false,
      "module_id": "skill:demo",
      "overlay_dir": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "overlay_dir_posix": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "overlay_kind": "dir",
      "patches_dir": null,
      "patches_dir_posix": null,
      "project": false,
      "project_id": null,
      "scope": "global",
      "sparse": false
    }
    "#);
    assert_eq!(edited.editor_dir(), world.repo().join(OVERLAY));
    // Again: nothing to do.
    let again = world.edit(edit("skill:demo"));
    assert!(again.writes.is_empty());
    assert!(!again.created);
}

#[test]
fn sparse_and_materialised_overlays() {
    let world = world();
    let sparse = EditRequest {
        scope: Scope::Machine,
        sparse: true,
        ..edit("skill:demo")
    };
    let edited = world.edit(sparse);
    let dir = "overlays/machines/box/skill_demo--f2b4dd2c0d";
    insta::assert_snapshot!(files(&world, dir), @".agentpack/baseline.json .agentpack/module_id .agentpack/overlay.json");
    assert_eq!(edited.machine_id.as_deref(), Some("box"));
    assert!(edited.created && edited.sparse && !edited.materialized);

    world.file(&format!("{dir}/SKILL.md"), "mine\n");
    world.file(
        &format!("{dir}/.agentpack/overlay.json"),
        "{\"overlay_kind\": \"dir\", \"delete\": [\"bin/old.sh\"]}\n",
    );
    world.file("modules/demo/bin/old.sh", "echo\n");
    let materialised = EditRequest {
        sparse: false,
        materialize: true,
        ..sparse
    };
    let edited = world.edit(materialised);
    assert!(edited.materialized && !edited.created);
    // Only what is missing, and not what the overlay takes away.
    insta::assert_snapshot!(files(&world, dir), @".agentpack/baseline.json .agentpack/module_id .agentpack/overlay.json SKILL.md bin/run.sh");
    assert_eq!(world.read(&format!("{dir}/SKILL.md")), "mine\n");
}

#[test]
fn patch_overlays() {
    let world = world();
    let patch = EditRequest {
        scope: Scope::Project,
        kind: Some(OverlayKind::Patch),
        ..edit("skill:demo")
    };
    let edited = world.edit(patch);
    let dir = "projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d";
    insta::assert_snapshot!(files(&world, dir), @".agentpack/baseline.json .agentpack/module_id .agentpack/overlay.json");
    insta::assert_snapshot!(world.json(&edited.data()), @r#"
    {
      "created": true,
      "machine_id": null,
      "materialized": false,
      "module_id": "skill:demo",
      "overlay_dir": "$ROOT/repo/projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d",
      "overlay_dir_posix": "$ROOT/repo/projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d",
      "overlay_kind": "patch",
      "patches_dir": "$ROOT/repo/projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d/.agentpack/patches",
      "patches_dir_posix": "$ROOT/repo/projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d/.agentpack/patches",
      "project": true,
      "project_id": "0123456789abcdef",
      "scope": "project",
      "sparse": false
    }
    "#);
    // Without a kind it stays what it is.
    let again = world.edit(EditRequest {
        kind: None,
        ..patch
    });
    assert_eq!(again.overlay_kind, OverlayKind::Patch);
    assert!(again.writes.is_empty());
    let problem = world
        .try_edit(EditRequest {
            materialize: true,
            ..patch
        })
        .unwrap_err();
    insta::assert_snapshot!(world.show(&problem), @r#"
    E_CONFIG_INVALID: the project overlay of module skill:demo holds patches, not copies of files: --materialize does not apply
    {
      "hint": "leave --materialize out, or use --kind dir",
      "module_id": "skill:demo",
      "overlay_dir": "$ROOT/repo/projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d",
      "overlay_dir_posix": "$ROOT/repo/projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d",
      "reason_code": "config_invalid",
      "scope": "project"
    }
    "#);
    // An empty one may become the other kind; one with files or patches may not.
    let dir_kind = EditRequest {
        kind: Some(OverlayKind::Dir),
        ..patch
    };
    world.edit(dir_kind);
    assert!(
        world
            .read(&format!("{dir}/.agentpack/overlay.json"))
            .contains("\"dir\"")
    );
    world.file(&format!("{dir}/SKILL.md"), "mine\n");
    let problem = world.try_edit(patch).unwrap_err();
    insta::assert_snapshot!(world.show(&problem), @r#"
    E_CONFIG_INVALID: the project overlay of module skill:demo has override files, so its kind cannot be patch
    {
      "hint": "move the edits into .agentpack/patches/<path>.patch, or set overlay_kind to dir",
      "module_id": "skill:demo",
      "overlay_dir": "$ROOT/repo/projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d",
      "overlay_dir_posix": "$ROOT/repo/projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d",
      "override_files": [
        "SKILL.md"
      ],
      "patch_files": [],
      "reason_code": "config_invalid",
      "scope": "project"
    }
    "#);
}

#[test]
fn unknown_modules_are_refused_with_a_hint() {
    let world = world();
    let problem = world.try_edit(edit("skill:dem")).unwrap_err();
    assert!(problem.message().contains("skill:demo"), "{problem}");
}

#[test]
fn overlays_are_created_without_git_too() {
    let world = world();
    fs_err::remove_dir_all(world.repo().join(".git")).unwrap();
    world.edit(edit("skill:demo"));
    let baseline = world.read(&format!("{OVERLAY}/.agentpack/baseline.json"));
    assert!(
        baseline.contains("\"repo_rel_path\": \"modules/demo\""),
        "{baseline}"
    );
    assert!(!baseline.contains("repo_git_rev"), "{baseline}");
}

#[test]
fn the_path_is_the_overlay_that_exists() {
    let world = world();
    let path =
        |id: &str, scope| world.with(|context| overlay_path(&context.input, id, scope).unwrap());
    let found = path("skill:demo", Scope::Global);
    insta::assert_snapshot!(world.json(&found.data()), @r#"
    {
      "module_id": "skill:demo",
      "overlay_dir": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "overlay_dir_posix": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "scope": "global"
    }
    "#);
    world.file("overlays/skill:demo/SKILL.md", "old name\n");
    assert_eq!(
        path("skill:demo", Scope::Global).overlay_dir,
        world.repo().join("overlays/skill:demo")
    );
    // A module that is gone may still have an overlay.
    assert!(
        path("skill:gone", Scope::Project)
            .overlay_dir
            .starts_with(world.repo().join("projects"))
    );
    let mut world = world;
    world.project = None;
    let problem = world
        .with(|context| overlay_path(&context.input, "skill:demo", Scope::Project))
        .unwrap_err();
    assert_eq!(problem.code().name, "E_CONFIG_INVALID");
}
