//! Overlays: which apply, in which order, and what they may do.

use windlass_pack_deploy::render::load_upstream;
use windlass_pack_model::{Body, Layer, lockfile::module_hash};

use super::world::{World, module};

const SKILL: &str = "---\nname: s\ndescription: d\n---\nbody\n";

fn world() -> World {
    let text = format!(
        "targets:\n  codex: {{mode: files, scope: user, options: {{write_agents_global: false, write_user_prompts: false}}}}\nmodules:\n{}",
        module("skill:s", "skill", "s")
    );
    let world = World::new(&text);
    world
        .skill("s")
        .file("s/a.txt", "one\ntwo\nthree\n")
        .file("s/b.txt", "b\n");
    world
}

fn key() -> String {
    windlass_pack_model::module_id::module_fs_key("skill:s")
}

fn global() -> String {
    format!("overlays/{}", key())
}

/// Path, layer and text of every file of the composed module.
fn composed(world: &World) -> String {
    let composed = world.compose("skill:s").unwrap();
    let mut lines: Vec<String> = composed
        .tree
        .iter()
        .map(|(path, content)| {
            let text = match &content.body {
                Body::Memory(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
                Body::File(path) => fs_err::read_to_string(path).unwrap(),
            };
            let mode = if content.executable { " +x" } else { "" };
            format!("{path} {}{mode} {text:?}", content.layer)
        })
        .collect();
    lines.extend(
        composed
            .warnings
            .iter()
            .map(|warning| format!("warning: {}", world.shorten(warning))),
    );
    lines.join("\n")
}

#[test]
fn layers_replace_each_other_from_low_to_high() {
    let world = world();
    let (global, key) = (global(), key());
    world
        .file(&format!("{global}/a.txt"), "global")
        .file(&format!("{global}/b.txt"), "global")
        .file(&format!("{global}/new.txt"), "global")
        .file(&format!("overlays/machines/box/{key}/b.txt"), "machine")
        .file(
            &format!("overlays/machines/other/{key}/b.txt"),
            "other machine",
        )
        .file(
            &format!("projects/0123456789abcdef/overlays/{key}/new.txt"),
            "project",
        )
        .file(
            &format!("projects/ffff/overlays/{key}/new.txt"),
            "other project",
        );
    insta::assert_snapshot!(composed(&world), @r#"
    SKILL.md upstream "---\nname: s\ndescription: d\n---\nbody\n"
    a.txt global "global"
    b.txt machine "machine"
    new.txt project "project"
    "#);
    let upstream = world.compose("skill:s").unwrap();
    assert_eq!(upstream.upstream().len(), 3);
    assert!(
        upstream
            .upstream()
            .values()
            .all(|content| content.layer == Layer::Upstream)
    );
}

#[test]
fn must_20_the_true_layer_of_single_files_and_patches() {
    let text = format!(
        "targets:\n  codex: {{mode: files, scope: user}}\nmodules:\n{}",
        module("prompt:p", "prompt", "prompts/p.md")
    );
    let world = World::new(&text);
    let key = windlass_pack_model::module_id::module_fs_key("prompt:p");
    world.file("prompts/p.md", "one\n");
    world.file(&format!("overlays/machines/box/{key}/p.md"), "two\n");
    let layer = |world: &World| {
        let desired = world.render().unwrap();
        let file = desired
            .files
            .iter()
            .find(|file| file.path.ends_with("p.md"))
            .unwrap();
        (file.origins[0].layer, file.origins[0].module_type.clone())
    };
    assert_eq!(layer(&world), (Layer::Machine, "prompt".to_owned()));

    let patch = format!("projects/0123456789abcdef/overlays/{key}/.agentpack");
    world
        .file(
            &format!("{patch}/overlay.json"),
            r#"{"overlay_kind":"patch"}"#,
        )
        .file(
            &format!("{patch}/patches/p.md.patch"),
            "--- a/p.md\n+++ b/p.md\n@@ -1 +1 @@\n-two\n+three\n",
        );
    assert_eq!(layer(&world).0, Layer::Project);
    let desired = world.render().unwrap();
    assert_eq!(world.text(&desired, "$HOME/.codex/prompts/p.md"), "three\n");
}

#[test]
fn older_directory_names_are_found() {
    // The raw id, and the key of a long id without the cut.
    let world = world();
    if !cfg!(windows) {
        world.file("overlays/skill:s/b.txt", "raw");
        assert!(composed(&world).contains(r#"b.txt global "raw""#));
    }
    world.file(&format!("{}/b.txt", global()), "key");
    assert!(
        composed(&world).contains(r#"b.txt global "key""#),
        "the key goes first"
    );

    let id = format!("skill:{}", "x".repeat(80));
    let text = format!(
        "targets:\n  codex: {{mode: files, scope: user}}\nmodules:\n{}",
        module(&id, "skill", "s")
    );
    let world = World::new(&text);
    let names = windlass_pack_model::module_id::overlay_keys(&id);
    assert!(names.len() > 1 && names[1].len() > 64 + 12);
    world
        .skill("s")
        .file(&format!("overlays/{}/b.txt", names[1]), "uncut");
    let composed = world.compose(&id).unwrap();
    assert!(
        composed
            .tree
            .values()
            .any(|content| content.layer == Layer::Global)
    );
}

#[test]
fn metadata_and_git_directories_are_not_copied() {
    let world = world();
    let global = global();
    world
        .file(&format!("{global}/.agentpack/module_id"), "skill:s\n")
        .file(&format!("{global}/.agentpack/conflicts/a.txt"), "<<<")
        .file(&format!("{global}/.git/x"), "no")
        .file(&format!("{global}/sub/.git"), "no");
    assert!(!composed(&world).contains("global"));
}

#[test]
fn must_16_overlays_can_delete() {
    let world = world();
    let (global, key) = (global(), key());
    world
        .file(
            &format!("{global}/.agentpack/overlay.json"),
            r#"{"delete":["b.txt","gone.txt"]}"#,
        )
        .file(&format!("{global}/a.txt"), "global");
    insta::assert_snapshot!(composed(&world), @r#"
    SKILL.md upstream "---\nname: s\ndescription: d\n---\nbody\n"
    a.txt global "global"
    warning: overlay (global) module skill:s: delete names gone.txt, which no lower layer has
    "#);
    // A higher layer may bring it back, and delete together with its patches.
    let machine = format!("overlays/machines/box/{key}");
    world.file(&format!("{machine}/b.txt"), "back");
    assert!(composed(&world).contains(r#"b.txt machine "back""#));
    let project = format!("projects/0123456789abcdef/overlays/{key}/.agentpack");
    world
        .file(&format!("{project}/overlay.json"), r#"{"overlay_kind":"patch","delete":["b.txt"]}"#)
        .file(&format!("{project}/patches/a.txt.patch"), "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-global\n\\ No newline at end of file\n+project\n");
    let after = composed(&world);
    assert!(!after.contains("b.txt machine"), "{after}");
    assert!(after.contains(r#"a.txt project "project\n""#), "{after}");
}

#[test]
fn deleting_what_a_module_must_have_breaks_it() {
    let world = world();
    world.file(
        &format!("{}/.agentpack/overlay.json", global()),
        r#"{"delete":["SKILL.md"]}"#,
    );
    let problem = world.render().unwrap_err();
    assert_eq!(problem.details()["missing"], "SKILL.md");
}

#[cfg(unix)]
#[test]
fn must_13_the_mode_is_the_topmost_files_and_patches_keep_it() {
    let world = world();
    let (global, key) = (global(), key());
    world
        .executable(&format!("{global}/a.txt"), "one\ntwo\nthree\n")
        .file(
            &format!("overlays/machines/box/{key}/.agentpack/overlay.json"),
            r#"{"overlay_kind":"patch"}"#,
        )
        .file(
            &format!("overlays/machines/box/{key}/.agentpack/patches/a.txt.patch"),
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
        );
    let shown = composed(&world);
    assert!(
        shown.contains(r#"a.txt machine +x "one\n2\nthree\n""#),
        "{shown}"
    );
    world.file(
        &format!("projects/0123456789abcdef/overlays/{key}/a.txt"),
        "plain",
    );
    assert!(composed(&world).contains(r#"a.txt project "plain""#));
}

/// A patch overlay with one patch file.
fn patched(name: &str, text: &str) -> World {
    let world = world();
    let metadata = format!("{}/.agentpack", global());
    world
        .file(
            &format!("{metadata}/overlay.json"),
            r#"{"overlay_kind":"patch"}"#,
        )
        .file(&format!("{metadata}/patches/{name}"), text);
    world
}

#[test]
fn patches_change_files_and_supply_texts() {
    let world = patched(
        "SKILL.md.patch",
        "diff --git a/SKILL.md b/SKILL.md\n--- a/SKILL.md\n+++ b/SKILL.md\n@@ -3,3 +3,3 @@\n description: d\n ---\n-body\n+text\n",
    );
    let desired = world.render().unwrap();
    let text = world.text(&desired, "$HOME/.codex/skills/s/SKILL.md");
    assert_eq!(text, SKILL.replace("body", "text"));
}

#[test]
fn must_19_a_removed_line_that_looks_like_a_header() {
    let world = world();
    world.file("s/a.txt", "-- a\nkeep\n");
    let metadata = format!("{}/.agentpack", global());
    world
        .file(
            &format!("{metadata}/overlay.json"),
            r#"{"overlay_kind":"patch"}"#,
        )
        .file(
            &format!("{metadata}/patches/a.txt.patch"),
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n keep\n",
        );
    assert!(composed(&world).contains(r#"a.txt global "++ b\nkeep\n""#));
}

#[test]
fn a_patch_that_does_not_apply() {
    let world = patched(
        "a.txt.patch",
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-zwei\n+2\n",
    );
    insta::assert_snapshot!(world.problem(), @r#"
    E_OVERLAY_PATCH_APPLY_FAILED: the global overlay of module skill:s does not apply to a.txt: hunk 1 (`@@ -1,2 +1,2 @@`, patch line 3) does not apply: line 2 is "two" where the patch expects "zwei"
    {
      "hint": "regenerate the patch against the current content of the lower layers, or switch to a directory overlay",
      "module_id": "skill:s",
      "overlay_dir": "$REPO/overlays/skill_s--df092f8d77",
      "overlay_dir_posix": "$REPO/overlays/skill_s--df092f8d77",
      "patch_file": "$REPO/overlays/skill_s--df092f8d77/.agentpack/patches/a.txt.patch",
      "patch_file_posix": "$REPO/overlays/skill_s--df092f8d77/.agentpack/patches/a.txt.patch",
      "reason_code": "overlay_patch_apply_failed",
      "relpath": "a.txt",
      "scope": "global",
      "stderr": "hunk 1 (`@@ -1,2 +1,2 @@`, patch line 3) does not apply: line 2 is \"two\" where the patch expects \"zwei\""
    }
    "#);
}

#[test]
fn patches_an_overlay_may_not_have() {
    for (name, text, says) in [
        (
            "gone.txt.patch",
            "--- a/gone.txt\n+++ b/gone.txt\n@@ -1 +1 @@\n-a\n+b\n",
            "no lower layer has",
        ),
        (
            "a.txt.patch",
            "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+c\n",
            "headers say b.txt",
        ),
        (
            "a.txt.patch",
            "--- a/a.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-one\n+c\n",
            "headers say a.txt and c.txt",
        ),
        (
            "a.txt.patch",
            "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n",
            "creates or deletes",
        ),
        (
            "b.txt.patch",
            "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n",
            "creates or deletes",
        ),
        ("a.txt.patch", "this is no diff\n", "cannot be read"),
        ("a.txt.patch", "", "cannot be read"),
    ] {
        let world = patched(name, text);
        let problem = world.render().unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{name} {text}");
        assert!(problem.message().contains(says), "{problem}");
        for key in [
            "module_id",
            "scope",
            "overlay_dir",
            "patch_file",
            "relpath",
            "hint",
        ] {
            assert!(problem.details().contains_key(key), "{key} {problem}");
        }
    }
    let world = patched(
        "a.txt.patch",
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n",
    );
    fs_err::write(world.repo().join("s/a.txt"), b"\xff\xfe").unwrap();
    assert!(world.problem().contains("not UTF-8 text"));
}

#[test]
fn kinds_do_not_mix() {
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n";
    let global = global();
    for (kind, file, with_patch) in [
        ("dir", true, true),
        ("patch", true, true),
        ("dir", false, true),
        ("patch", true, false),
    ] {
        let world = world();
        world.file(
            &format!("{global}/.agentpack/overlay.json"),
            &format!(r#"{{"overlay_kind":"{kind}"}}"#),
        );
        if file {
            world.file(&format!("{global}/b.txt"), "b");
        }
        if with_patch {
            world.file(&format!("{global}/.agentpack/patches/a.txt.patch"), patch);
        }
        let problem = world.render().unwrap_err();
        assert_eq!(
            problem.code().name,
            "E_CONFIG_INVALID",
            "{kind} {file} {with_patch}"
        );
        assert_eq!(problem.details()["scope"], "global");
        assert_eq!(
            problem.details()["override_files"]
                .as_array()
                .unwrap()
                .len(),
            usize::from(file)
        );
        assert_eq!(
            problem.details()["patch_files"].as_array().unwrap().len(),
            usize::from(with_patch)
        );
    }
}

#[test]
fn metadata_that_cannot_be_read() {
    let world = world();
    world.file(
        &format!("{}/.agentpack/overlay.json", global()),
        r#"{"overlay_kind":"zip"}"#,
    );
    let problem = world.render().unwrap_err();
    assert_eq!(problem.code().name, "E_CONFIG_INVALID");
    assert_eq!(problem.details()["module_id"], "skill:s");
}

/// A baseline of the module as it is now.
fn baseline(world: &World) -> String {
    let module = world.manifest.module("skill:s").unwrap();
    let records = world
        .with(|input| load_upstream(input, module))
        .unwrap()
        .records();
    serde_json::json!({
        "version": 2,
        "created_at": "2026-01-01T00:00:00Z",
        "upstream_sha256": module_hash(&records).to_string(),
        "file_manifest": serde_json::to_value(&records).unwrap(),
    })
    .to_string()
}

#[test]
fn drift_of_the_upstream_is_a_warning() {
    let world = world();
    let global = global();
    world.file(&format!("{global}/a.txt"), "mine").file(
        &format!("{global}/.agentpack/baseline.json"),
        &baseline(&world),
    );
    let warnings = |world: &World| -> Vec<String> {
        let short = |text: &String| {
            // Digests are not what this is about.
            text.split(' ')
                .map(|word| {
                    if word.trim_matches(['(', ')']).len() == 64 {
                        "#"
                    } else {
                        word
                    }
                })
                .collect::<Vec<_>>()
                .join(" ")
        };
        world.render().unwrap().warnings.iter().map(short).collect()
    };
    assert_eq!(warnings(&world), Vec::<String>::new());
    world.file("s/b.txt", "changed, but not in the overlay");
    assert_eq!(
        warnings(&world),
        ["overlay drift (global) module skill:s: upstream changed # -> #"]
    );
    world.file("s/a.txt", "changed");
    assert_eq!(
        warnings(&world),
        ["overlay drift (global) module skill:s: upstream changed for a.txt # -> #"]
    );
    fs_err::remove_file(world.repo().join("s/a.txt")).unwrap();
    assert_eq!(
        warnings(&world),
        ["overlay drift (global) module skill:s: upstream removed a.txt (baseline #"]
    );

    world.file(&format!("{global}/.agentpack/baseline.json"), "{");
    let unreadable = warnings(&world);
    assert!(
        unreadable[0].starts_with("overlay baseline (global) module skill:s:"),
        "{unreadable:?}"
    );
}

#[test]
fn a_module_in_two_targets_warns_once() {
    let mut world = world();
    world.manifest.targets.extend(
        World::new("targets:\n  claude_code: {mode: files, scope: user, options: {write_user_skills: true}}\nmodules: []\n")
            .manifest
            .targets,
    );
    let global = global();
    world
        .file(&format!("{global}/a.txt"), "mine")
        .file(
            &format!("{global}/.agentpack/baseline.json"),
            &baseline(&world),
        )
        .file("s/a.txt", "changed");
    assert_eq!(world.render().unwrap().warnings.len(), 1);
}

#[cfg(unix)]
#[test]
fn must_14_overlays_stay_in_the_repository_too() {
    let world = world();
    super::world::write(&world.root().join("outside/b.txt"), "x");
    world.link(
        &format!("{}/b.txt", global()),
        world.root().join("outside/b.txt"),
    );
    assert_eq!(world.render().unwrap_err().details()["scope"], "global");

    let world = self::world();
    super::world::write(&world.root().join("outside/b.txt"), "x");
    world.link(&global(), world.root().join("outside"));
    assert_eq!(world.render().unwrap_err().code().name, "E_CONFIG_INVALID");

    let world = self::world();
    let outside = format!("outside/{}/b.txt", key());
    super::world::write(&world.root().join(outside), "x");
    world.link("overlays", world.root().join("outside"));
    assert_eq!(world.render().unwrap_err().code().name, "E_CONFIG_INVALID");

    let world = self::world();
    world
        .file("shared/b.txt", "shared")
        .link(&global(), "../shared");
    assert!(composed(&world).contains(r#"b.txt global "shared""#));
}

const CONFLICT: &str = "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> main\n";

#[test]
fn conflict_markers_are_refused_with_files_and_lines() {
    let world = world();
    world
        .file("s/a.txt", &format!("one\n{CONFLICT}"))
        .file("s/SKILL.md", &format!("---\n{CONFLICT}---\n"))
        .file(
            &format!("{}/b.txt", global()),
            &format!("x\ny\n{CONFLICT}{CONFLICT}").replace("HEAD", "overlay"),
        );
    let problem = world.render().unwrap_err();
    assert_eq!(problem.code().name, "E_CONFIG_INVALID");
    insta::assert_snapshot!(world.shorten(problem.message()), @"conflict markers of an unfinished merge or rebase are left in $REPO/s/SKILL.md:2, $REPO/s/a.txt:2, $REPO/overlays/skill_s--df092f8d77/b.txt:3, $REPO/overlays/skill_s--df092f8d77/b.txt:8; resolve the conflicts, then run the command again");
    let lines: Vec<_> = problem.details()["unmerged"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["lines"].to_string())
        .collect();
    assert_eq!(lines, ["[2]", "[2]", "[3,8]"]);
}

#[test]
fn conflict_markers_in_a_code_block_count_only_while_a_merge_is_unfinished() {
    let example = format!("---\nname: s\ndescription: d\n---\n```\n{CONFLICT}```\n");
    let conflicted = |world: &World| world.render().is_err();
    let world = world();
    world.file("s/SKILL.md", &example);
    assert!(!conflicted(&world));
    fs_err::create_dir_all(world.repo().join(".git/rebase-merge")).unwrap();
    assert!(conflicted(&world));
    fs_err::remove_dir_all(world.repo().join(".git")).unwrap();

    // `overlay rebase` leaves its conflicts in the overlay, wherever in the file they are.
    world
        .skill("s")
        .file(&format!("{}/SKILL.md", global()), &example);
    assert!(!conflicted(&world));
    world.file(&format!("{}/.agentpack/rebase.json", global()), "{}");
    assert!(conflicted(&world));
}

#[test]
fn a_file_with_conflict_markers_is_refused_every_time_it_is_looked_at() {
    #[derive(Default)]
    struct Cache(
        std::sync::Mutex<std::collections::HashMap<std::path::PathBuf, windlass_types::Digest>>,
    );
    impl windlass_pack_model::HashCache for Cache {
        fn digest(
            &self,
            path: &std::path::Path,
            _: &std::fs::Metadata,
        ) -> Option<windlass_types::Digest> {
            self.0.lock().unwrap().get(path).copied()
        }

        fn remember(
            &self,
            path: &std::path::Path,
            _: &std::fs::Metadata,
            digest: windlass_types::Digest,
        ) {
            self.0.lock().unwrap().insert(path.to_owned(), digest);
        }
    }
    let mut world = world();
    world.hashes = Box::new(Cache::default());
    world.file("s/a.txt", CONFLICT);
    assert!(world.render().is_err());
    assert!(world.render().is_err());
    world.file("s/a.txt", "resolved\n");
    assert!(world.render().is_ok());
}
