//! Overlays that follow their upstream.
//!
//! Long because every outcome of a rebase is one scene in a real repository.

use windlass_pack_author::evolve::{EditRequest, RebaseRequest, Scope};
use windlass_pack_model::OverlayKind;

use super::world::{World, edit, module, rebase};

const OVERLAY: &str = "overlays/skill_demo--f2b4dd2c0d";
const HEAD: &str = "---\nname: s\ndescription: d\n---\n";

fn lines(numbers: &[&str]) -> String {
    format!("{HEAD}{}\n", numbers.join("\n"))
}

fn base() -> String {
    lines(&["1", "2", "3", "4", "5", "6", "7"])
}

/// A committed skill with three files.
fn world() -> World {
    let world = World::new(&format!(
        "targets: {{codex: {{mode: files, scope: user}}}}\nmodules:\n{}",
        module("skill:demo", "skill", "modules/demo")
    ));
    world.file("modules/demo/SKILL.md", &base());
    world.file("modules/demo/plain.txt", "plain\n");
    world.file("modules/demo/gone.txt", "gone\n");
    world.committed();
    world
}

fn dir_world() -> World {
    let world = world();
    world.edit(edit("skill:demo"));
    world.committed();
    world
}

/// A world whose overlay patches the third line.
fn patch_world() -> World {
    let world = world();
    world.edit(EditRequest {
        kind: Some(OverlayKind::Patch),
        ..edit("skill:demo")
    });
    let patch = windlass_text::unified(
        &base(),
        &base().replace("3\n", "mine\n"),
        "a/SKILL.md",
        "b/SKILL.md",
    );
    world.file(
        &format!("{OVERLAY}/.agentpack/patches/SKILL.md.patch"),
        &patch,
    );
    world.committed();
    world
}

fn skill(world: &World) -> String {
    world.read(&format!("{OVERLAY}/SKILL.md"))
}

fn patch(world: &World) -> String {
    world.read(&format!("{OVERLAY}/.agentpack/patches/SKILL.md.patch"))
}

fn conflict_file(world: &World) -> String {
    world.read(&format!("{OVERLAY}/.agentpack/conflicts/SKILL.md"))
}

/// The baseline's digest of the file.
fn baseline_of(world: &World, path: &str) -> String {
    let text = world.read(&format!("{OVERLAY}/.agentpack/baseline.json"));
    let baseline: serde_json::Value = serde_json::from_str(&text).unwrap();
    let files = baseline["file_manifest"].as_array().unwrap();
    files
        .iter()
        .find(|file| file["path"] == path)
        .map_or("-".into(), |file| {
            file["sha256"].as_str().unwrap().to_owned()
        })
}

fn digest(text: &str) -> String {
    windlass_types::Digest::of(text.as_bytes()).to_string()
}

fn upstream(world: &World, from: &str, to: &str) {
    world.change("repo/modules/demo/SKILL.md", from, to);
    world.committed();
}

#[test]
fn without_changes_nothing_is_written() {
    let world = dir_world();
    assert_eq!(
        world.rebase(rebase("skill:demo")),
        "3 files: updated [] deleted [] skipped [] conflicts []"
    );
    // The baseline was created when the new overlay was not committed; now it is recreated once.
    world.committed();
    let rebased = world.try_rebase(rebase("skill:demo")).unwrap();
    assert!(rebased.writes.is_empty(), "{:?}", rebased.writes);
}

#[test]
fn each_file_of_a_directory_overlay_is_merged_separately() {
    let world = dir_world();
    world.change(&format!("repo/{OVERLAY}/SKILL.md"), "2\n", "two\n");
    world.file(&format!("{OVERLAY}/own.txt"), "only here\n");
    world.change("repo/modules/demo/SKILL.md", "6\n", "six\n");
    world.file("modules/demo/plain.txt", "plainer\n");
    fs_err::remove_file(world.repo().join("modules/demo/gone.txt")).unwrap();
    world.committed();
    let dry = world
        .try_rebase(RebaseRequest {
            dry_run: true,
            ..rebase("skill:demo")
        })
        .unwrap();
    assert!(dry.writes.is_empty());
    insta::assert_snapshot!(world.json(&dry.data()), @r#"
    {
      "dry_run": true,
      "module_id": "skill:demo",
      "overlay_dir": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "overlay_dir_posix": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "report": {
        "conflicts": [],
        "deleted": [
          "gone.txt"
        ],
        "skipped": [
          "own.txt"
        ],
        "summary": {
          "conflict_files": 0,
          "deleted_files": 1,
          "processed_files": 4,
          "skipped_files": 1,
          "updated_files": 2
        },
        "updated": [
          "SKILL.md",
          "plain.txt"
        ]
      },
      "scope": "global",
      "sparsify": false
    }
    "#);
    insta::assert_snapshot!(world.rebase(rebase("skill:demo")), @r#"4 files: updated ["SKILL.md", "plain.txt"] deleted ["gone.txt"] skipped ["own.txt"] conflicts []"#);
    assert_eq!(
        skill(&world),
        lines(&["1", "two", "3", "4", "5", "six", "7"])
    );
    assert_eq!(world.read(&format!("{OVERLAY}/plain.txt")), "plainer\n");
    assert_eq!(world.read(&format!("{OVERLAY}/gone.txt")), "-");
    assert_eq!(baseline_of(&world, "gone.txt"), "-");
    // Composing warns no longer.
    world.committed();
    assert_eq!(world.desired().warnings, Vec::<String>::new());
    assert!(world.rebase(rebase("skill:demo")).contains("updated []"));
}

#[test]
fn sparsify_leaves_only_what_differs() {
    let world = dir_world();
    world.change(&format!("repo/{OVERLAY}/SKILL.md"), "2\n", "two\n");
    world.change(&format!("repo/{OVERLAY}/plain.txt"), "plain", "plainer");
    world.change("repo/modules/demo/plain.txt", "plain", "plainer");
    world.committed();
    let sparse = RebaseRequest {
        sparsify: true,
        ..rebase("skill:demo")
    };
    insta::assert_snapshot!(world.rebase(sparse), @r#"3 files: updated [] deleted ["gone.txt", "plain.txt"] skipped [] conflicts []"#);
    assert_eq!(skill(&world), base().replace("2\n", "two\n"));
}

#[test]
fn an_edited_file_whose_upstream_is_gone_stays() {
    let world = dir_world();
    world.change(&format!("repo/{OVERLAY}/gone.txt"), "gone", "mine");
    fs_err::remove_file(world.repo().join("modules/demo/gone.txt")).unwrap();
    world.committed();
    insta::assert_snapshot!(world.rebase(rebase("skill:demo")), @r#"3 files: updated [] deleted [] skipped ["gone.txt"] conflicts []"#);
    assert_eq!(world.read(&format!("{OVERLAY}/gone.txt")), "mine\n");
}

#[test]
fn must_18_a_conflict_does_not_move_the_baseline_of_its_file() {
    let world = dir_world();
    world.change(&format!("repo/{OVERLAY}/SKILL.md"), "3\n", "mine\n");
    world.change("repo/modules/demo/SKILL.md", "3\n", "theirs\n");
    world.file("modules/demo/plain.txt", "plainer\n");
    world.committed();
    let rebased = world.try_rebase(rebase("skill:demo")).unwrap();
    let problem = rebased.conflict().unwrap();
    insta::assert_snapshot!(world.show(&problem), @r#"
    E_OVERLAY_REBASE_CONFLICT: the global overlay of module skill:demo conflicts with its upstream in SKILL.md; resolve what is between the markers (for patches in .agentpack/conflicts) and rebase again
    {
      "conflicts": [
        "SKILL.md"
      ],
      "dry_run": false,
      "module_id": "skill:demo",
      "overlay_dir": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "overlay_dir_posix": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "reason_code": "overlay_rebase_conflict",
      "scope": "global",
      "sparsify": false,
      "summary": {
        "conflict_files": 1,
        "deleted_files": 0,
        "processed_files": 3,
        "skipped_files": 0,
        "updated_files": 2
      }
    }
    "#);
    assert_eq!(
        problem.next_actions(),
        ["resolve_overlay_conflicts", "retry_overlay_rebase"]
    );
    world.write(&rebased.writes).unwrap();
    insta::assert_snapshot!(skill(&world), @"
    ---
    name: s
    description: d
    ---
    1
    2
    <<<<<<< overlay
    mine
    =======
    theirs
    >>>>>>> upstream
    4
    5
    6
    7
    ");
    assert_eq!(baseline_of(&world, "SKILL.md"), digest(&base()));
    assert_eq!(baseline_of(&world, "plain.txt"), digest("plainer\n"));
    world.committed();
    // Markers are not deployed.
    let refused = world.try_desired().unwrap_err();
    assert!(
        refused.message().contains(&format!("{OVERLAY}/SKILL.md:7")),
        "{refused}"
    );

    // Not resolved: a conflict still, and nothing changes.
    let again = world.try_rebase(rebase("skill:demo")).unwrap();
    assert_eq!(again.report.conflicts, ["SKILL.md"]);
    assert!(again.writes.is_empty(), "{:?}", again.writes);

    // Resolved, whatever to: the baseline moves and the resolution stays.
    world.file(
        &format!("{OVERLAY}/SKILL.md"),
        &base().replace("3\n", "both\n"),
    );
    assert!(world.rebase(rebase("skill:demo")).ends_with("conflicts []"));
    assert_eq!(skill(&world), base().replace("3\n", "both\n"));
    assert_eq!(
        baseline_of(&world, "SKILL.md"),
        digest(&base().replace("3\n", "theirs\n"))
    );
    assert_eq!(
        world.read(&format!("{OVERLAY}/.agentpack/rebase.json")),
        "-"
    );
    world.committed();
    assert_eq!(world.desired().warnings, Vec::<String>::new());
}

#[test]
fn a_resolution_is_merged_with_what_came_later() {
    let world = dir_world();
    world.change(&format!("repo/{OVERLAY}/SKILL.md"), "3\n", "mine\n");
    upstream(&world, "3\n", "theirs\n");
    world.rebase(rebase("skill:demo"));
    world.committed();
    world.file(
        &format!("{OVERLAY}/SKILL.md"),
        &base().replace("3\n", "both\n"),
    );
    upstream(&world, "7\n", "seven\n");
    assert!(world.rebase(rebase("skill:demo")).ends_with("conflicts []"));
    assert_eq!(
        skill(&world),
        lines(&["1", "2", "both", "4", "5", "6", "seven"])
    );
}

#[test]
fn an_overlay_reset_to_before_the_conflict_conflicts_again() {
    let world = dir_world();
    world.change(&format!("repo/{OVERLAY}/SKILL.md"), "3\n", "mine\n");
    upstream(&world, "3\n", "theirs\n");
    world.rebase(rebase("skill:demo"));
    world.file(
        &format!("{OVERLAY}/SKILL.md"),
        &base().replace("3\n", "mine\n"),
    );
    world.committed();
    assert!(
        world
            .rebase(rebase("skill:demo"))
            .ends_with("conflicts [\"SKILL.md\"]")
    );
    assert!(skill(&world).contains("<<<<<<< overlay"));
    // A second conflict on top of a settled one starts from the settled upstream.
    world.file(
        &format!("{OVERLAY}/SKILL.md"),
        &base().replace("3\n", "both\n"),
    );
    upstream(&world, "theirs\n", "later\n");
    assert!(
        world
            .rebase(rebase("skill:demo"))
            .ends_with("conflicts [\"SKILL.md\"]")
    );
    world.committed();
    world.file(
        &format!("{OVERLAY}/SKILL.md"),
        &base().replace("3\n", "both\n"),
    );
    assert!(
        world
            .rebase(rebase("skill:demo"))
            .ends_with("conflicts [\"SKILL.md\"]")
    );
    world.file(
        &format!("{OVERLAY}/SKILL.md"),
        &base().replace("3\n", "later\n"),
    );
    assert!(world.rebase(rebase("skill:demo")).ends_with("conflicts []"));
}

#[test]
fn bytes_that_cannot_be_merged_are_a_conflict_and_stay() {
    let world = world();
    let write = |path: &str, bytes: &[u8]| {
        fs_err::write(world.repo().join(path), bytes).unwrap();
    };
    write("modules/demo/plain.txt", b"\xff1");
    world.committed();
    world.edit(edit("skill:demo"));
    write(&format!("{OVERLAY}/plain.txt"), b"\xff2");
    write("modules/demo/plain.txt", b"\xff3");
    world.committed();
    assert!(
        world
            .rebase(rebase("skill:demo"))
            .ends_with("conflicts [\"plain.txt\"]")
    );
    assert_eq!(
        fs_err::read(world.repo().join(OVERLAY).join("plain.txt")).unwrap(),
        b"\xff2"
    );
    write(&format!("{OVERLAY}/plain.txt"), b"\xff4");
    assert!(world.rebase(rebase("skill:demo")).ends_with("conflicts []"));
}

#[test]
fn patches_are_recreated_against_the_new_upstream() {
    let world = patch_world();
    upstream(&world, "1\n", "0\n0\n1\n");
    insta::assert_snapshot!(world.rebase(rebase("skill:demo")), @r#"1 files: updated ["SKILL.md"] deleted [] skipped [] conflicts []"#);
    insta::assert_snapshot!(patch(&world), @"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -6,7 +6,7 @@
     0
     1
     2
    -3
    +mine
     4
     5
     6
    ");
    world.committed();
    assert_eq!(world.desired().warnings, Vec::<String>::new());
    // Upstream took the change over: no patch is needed.
    upstream(&world, "3\n", "mine\n");
    insta::assert_snapshot!(world.rebase(rebase("skill:demo")), @r#"1 files: updated [] deleted ["SKILL.md"] skipped [] conflicts []"#);
    assert_eq!(patch(&world), "-");
}

#[test]
fn must_18_a_patch_in_conflict_is_not_rewritten_with_markers() {
    let world = patch_world();
    let before = patch(&world);
    upstream(&world, "3\n", "theirs\n");
    assert!(
        world
            .rebase(rebase("skill:demo"))
            .ends_with("conflicts [\"SKILL.md\"]")
    );
    assert_eq!(patch(&world), before);
    insta::assert_snapshot!(conflict_file(&world), @"
    ---
    name: s
    description: d
    ---
    1
    2
    <<<<<<< overlay
    mine
    =======
    theirs
    >>>>>>> upstream
    4
    5
    6
    7
    ");
    assert_eq!(baseline_of(&world, "SKILL.md"), digest(&base()));
    // Not resolved: as before.
    world.committed();
    assert!(
        world
            .try_rebase(rebase("skill:demo"))
            .unwrap()
            .writes
            .is_empty()
    );
    // Resolved in the file with the markers.
    world.file(
        &format!("{OVERLAY}/.agentpack/conflicts/SKILL.md"),
        &base().replace("3\n", "both\n"),
    );
    insta::assert_snapshot!(world.rebase(rebase("skill:demo")), @r#"1 files: updated ["SKILL.md"] deleted [] skipped [] conflicts []"#);
    assert_eq!(conflict_file(&world), "-");
    insta::assert_snapshot!(patch(&world), @"
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -4,7 +4,7 @@
     ---
     1
     2
    -theirs
    +both
     4
     5
     6
    ");
    world.committed();
    assert_eq!(world.desired().warnings, Vec::<String>::new());
}

#[test]
fn a_conflict_is_resolved_by_a_new_patch_or_by_none() {
    let world = patch_world();
    upstream(&world, "3\n", "theirs\n");
    world.rebase(rebase("skill:demo"));
    let theirs = base().replace("3\n", "theirs\n");
    let new = windlass_text::unified(
        &theirs,
        &theirs.replace("theirs\n", "mine\n"),
        "a/SKILL.md",
        "b/SKILL.md",
    );
    let path = format!("{OVERLAY}/.agentpack/patches/SKILL.md.patch");
    world.file(&path, &new);
    world.committed();
    assert!(world.rebase(rebase("skill:demo")).ends_with("conflicts []"));
    assert_eq!(patch(&world), new);
    assert_eq!(conflict_file(&world), "-");

    let world = patch_world();
    fs_err::remove_file(world.repo().join("modules/demo/SKILL.md")).unwrap();
    world.committed();
    assert!(
        world
            .rebase(rebase("skill:demo"))
            .ends_with("conflicts [\"SKILL.md\"]")
    );
    insta::assert_snapshot!(conflict_file(&world), @"
    <<<<<<< overlay
    ---
    name: s
    description: d
    ---
    1
    2
    mine
    4
    5
    6
    7
    =======
    >>>>>>> upstream (deleted)
    ");
    fs_err::remove_file(world.repo().join(&path)).unwrap();
    assert!(world.rebase(rebase("skill:demo")).ends_with("conflicts []"));
    assert_eq!(conflict_file(&world), "-");
    assert_eq!(baseline_of(&world, "SKILL.md"), "-");
}

#[test]
fn a_patch_on_top_of_another_overlay_is_left_to_that_one() {
    let world = patch_world();
    let upper = "overlays/machines/box/skill_demo--f2b4dd2c0d";
    world.edit(EditRequest {
        scope: Scope::Machine,
        kind: Some(OverlayKind::Patch),
        ..edit("skill:demo")
    });
    let below = base().replace("3\n", "mine\n");
    let text = windlass_text::unified(
        &below,
        &below.replace("mine\n", "my own\n"),
        "a/SKILL.md",
        "b/SKILL.md",
    );
    world.file(&format!("{upper}/.agentpack/patches/SKILL.md.patch"), &text);
    upstream(&world, "7\n", "seven\n");
    let machine = RebaseRequest {
        scope: Scope::Machine,
        ..rebase("skill:demo")
    };
    insta::assert_snapshot!(world.rebase(machine), @r#"1 files: updated [] deleted [] skipped ["SKILL.md"] conflicts []"#);
}

#[test]
fn a_patch_that_does_not_apply_to_its_baseline_is_refused() {
    let world = patch_world();
    world.change(
        &format!("repo/{OVERLAY}/.agentpack/patches/SKILL.md.patch"),
        "-3\n",
        "-three\n",
    );
    upstream(&world, "7\n", "seven\n");
    let problem = world.try_rebase(rebase("skill:demo")).unwrap_err();
    assert_eq!(problem.code().name, "E_OVERLAY_PATCH_APPLY_FAILED");
    assert_eq!(problem.details()["relpath"], "SKILL.md");
}

#[test]
fn what_cannot_be_rebased_says_why() {
    let world = world();
    let problem = |world: &World| {
        let problem = world.try_rebase(rebase("skill:demo")).unwrap_err();
        world.show(&problem)
    };
    insta::assert_snapshot!(problem(&world), @r#"
    E_OVERLAY_NOT_FOUND: module skill:demo has no global overlay: $ROOT/repo/overlays/skill_demo--f2b4dd2c0d does not exist
    {
      "hint": "create it with `agentpack overlay edit skill:demo --scope global`",
      "module_id": "skill:demo",
      "overlay_dir": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "overlay_dir_posix": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "reason_code": "overlay_not_found",
      "scope": "global"
    }
    "#);
    world.edit(edit("skill:demo"));
    let baseline = format!("{OVERLAY}/.agentpack/baseline.json");
    let kept = world.read(&baseline);
    fs_err::remove_file(world.repo().join(&baseline)).unwrap();
    insta::assert_snapshot!(problem(&world), @r#"
    E_OVERLAY_BASELINE_MISSING: the global overlay of module skill:demo has no baseline: $ROOT/repo/overlays/skill_demo--f2b4dd2c0d/.agentpack/baseline.json does not exist
    {
      "baseline_path": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d/.agentpack/baseline.json",
      "hint": "write it with `agentpack overlay edit skill:demo --scope global`",
      "module_id": "skill:demo",
      "overlay_dir": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "overlay_dir_posix": "$ROOT/repo/overlays/skill_demo--f2b4dd2c0d",
      "reason_code": "overlay_baseline_missing",
      "scope": "global"
    }
    "#);

    // Both sides change, and the baseline is not to be found.
    world.file(&format!("{OVERLAY}/plain.txt"), "mine\n");
    world.file("modules/demo/plain.txt", "theirs\n");
    world.committed();
    let head = world.git_in("repo", &["rev-parse", "HEAD~1"]);
    for (name, text) in [
        (
            "the file at the commit is another",
            kept.replace(&digest("plain\n"), &digest("other\n")),
        ),
        ("no such commit", kept.replace(&head, &"0".repeat(40))),
        ("no commit", kept.replace("repo_git_rev", "no_rev")),
        ("no place", kept.replace("\"upstream\"", "\"no_upstream\"")),
        (
            "a path that leaves the repository",
            kept.replace("modules/demo", "../demo"),
        ),
        (
            "another directory",
            kept.replace("modules/demo", "modules/other"),
        ),
    ] {
        assert_ne!(text, kept, "{name}");
        world.file(&baseline, &text);
        let problem = world.try_rebase(rebase("skill:demo")).unwrap_err();
        assert_eq!(
            problem.code().name,
            "E_OVERLAY_BASELINE_UNSUPPORTED",
            "{name}"
        );
        assert!(problem.details().contains_key("hint"), "{name}");
    }
    world.file(&baseline, &kept);
    assert!(
        world
            .rebase(rebase("skill:demo"))
            .ends_with("conflicts [\"plain.txt\"]")
    );

    world.file(&format!("{OVERLAY}/.agentpack/patches/SKILL.md.patch"), "x");
    let mixed = world.try_rebase(rebase("skill:demo")).unwrap_err();
    assert_eq!(mixed.code().name, "E_CONFIG_INVALID");
}

#[test]
fn a_module_of_one_file_is_rebased() {
    let world = World::new(&format!(
        "targets: {{codex: {{mode: files, scope: user}}}}\nmodules:\n{}",
        module("prompt:p", "prompt", "modules/p.md")
    ));
    world.file("modules/p.md", "1\n2\n3\n4\n5\n");
    world.committed();
    let edited = world.edit(edit("prompt:p"));
    let file = edited.overlay_dir.join("p.md");
    fs_err::write(&file, "one\n2\n3\n4\n5\n").unwrap();
    world.file("modules/p.md", "1\n2\n3\n4\nfive\n");
    world.committed();
    assert!(
        world
            .rebase(rebase("prompt:p"))
            .contains("updated [\"p.md\"]")
    );
    assert_eq!(
        fs_err::read_to_string(file).unwrap(),
        "one\n2\n3\n4\nfive\n"
    );
}

#[test]
fn a_git_module_is_rebased_from_the_checkout_of_its_baseline() {
    let upstream_dir = tempfile::tempdir().unwrap();
    let url = format!(
        "file://{}",
        upstream_dir.path().canonicalize().unwrap().display()
    );
    let world = World::new(&format!(
        "targets: {{codex: {{mode: files, scope: user}}}}\nmodules:\n  - {{id: 'skill:demo', type: skill, tags: [base], source: {{git: {{url: '{url}', ref: main, subdir: skills/demo}}}}}}\n"
    ));
    world.committed();
    let source = upstream_dir.path();
    let commit = |text: &str| {
        super::world::write(&source.join("skills/demo/SKILL.md"), text);
        let dir = source.display().to_string();
        world.git_in(&dir, &["init", "--quiet"]);
        world.git_in(&dir, &["add", "--all"]);
        world.git_in(&dir, &["commit", "--quiet", "-m", "step"]);
        world.git_in(&dir, &["rev-parse", "HEAD"])
    };
    let first = commit(&base());
    world.edit(edit("skill:demo"));
    let baseline = world.read(&format!("{OVERLAY}/.agentpack/baseline.json"));
    assert!(baseline.contains(&first), "{baseline}");
    assert!(
        baseline.contains("\"subdir\": \"skills/demo\""),
        "{baseline}"
    );
    world.change(&format!("repo/{OVERLAY}/SKILL.md"), "2\n", "two\n");
    let second = commit(&base().replace("6\n", "six\n"));
    insta::assert_snapshot!(world.rebase(rebase("skill:demo")), @r#"1 files: updated ["SKILL.md"] deleted [] skipped [] conflicts []"#);
    assert_eq!(
        skill(&world),
        lines(&["1", "two", "3", "4", "5", "six", "7"])
    );
    let baseline = world.read(&format!("{OVERLAY}/.agentpack/baseline.json"));
    assert!(baseline.contains(&second), "{baseline}");
}

#[test]
fn an_overlay_that_does_not_know_its_upstream_is_refused_and_keeps_its_baseline() {
    let world = dir_world();
    let baseline = format!("{OVERLAY}/.agentpack/baseline.json");
    let text = world
        .read(&baseline)
        .replace("\"upstream\"", "\"no_upstream\"");
    world.file(&baseline, &text);
    // Only upstream changed: there would be nothing to merge.
    upstream(&world, "3\n", "theirs\n");
    let problem = world.try_rebase(rebase("skill:demo")).unwrap_err();
    assert_eq!(problem.code().name, "E_OVERLAY_BASELINE_UNSUPPORTED");
    assert_eq!(world.read(&baseline), text);
    assert_eq!(skill(&world), base());
}
