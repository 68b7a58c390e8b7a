//! `doctor`: roots, ignore files, overlays, advice. Looks and does not write.

use std::path::Path;

use windlass_pack_author::{
    Authored, DoctorData, DoctorInput, GitCheckouts, doctor, read_manifest,
};
use windlass_pack_deploy::render::{RenderInput, render};
use windlass_pack_model::{NoHashCache, next_actions::Caller};
use windlass_types::Problem;

use super::world::{MANIFEST, World, caller};

#[derive(Clone, Copy, Default)]
struct Flags {
    fix: bool,
    strict: bool,
}

fn examine(world: &World, flags: Flags) -> Result<Authored<DoctorData>, Problem> {
    let repo = world.repo();
    let file = read_manifest(&repo).unwrap();
    let (project, places) = (world.project(), world.places());
    let checkouts = GitCheckouts::new(&world.home, &world.git);
    let desired = render(&RenderInput {
        repo: &repo,
        manifest: &file.manifest,
        profile: "default",
        target: None,
        machine_id: "box",
        project: Some(&project),
        places: &places,
        checkouts: &checkouts,
        lockfile: None,
        hashes: &NoHashCache,
    })
    .unwrap();
    let caller: Caller = caller();
    doctor(&DoctorInput {
        repo: &repo,
        manifest: &file.manifest,
        manifest_warnings: &file.warnings,
        desired: &desired,
        machine_id: "box",
        project: Some(&project),
        home: &world.home,
        git: &world.git,
        caller: &caller,
        json: true,
        fix: flags.fix,
        strict: flags.strict,
    })
}

const FIX: Flags = Flags {
    fix: true,
    strict: false,
};

#[test]
fn roots_are_described_and_missing_ones_can_be_created() {
    let world = World::with_manifest(MANIFEST);
    world.write("user/.codex/prompts", "a file");
    world.write("user/.claude/commands/x.md", "");
    let outcome = examine(&world, Flags::default()).unwrap();
    let top = world.path("").display().to_string();
    let lines: Vec<String> = outcome
        .data
        .roots
        .iter()
        .map(|root| {
            format!(
                "{} {} exists={} writable={} extras={} {:?} {}",
                root.target,
                root.root.replace(&top, ""),
                root.exists,
                root.writable,
                root.scan_extras,
                root.issues,
                root.suggestion.as_deref().unwrap_or("-").replace(&top, "/")
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    claude_code project/.claude/commands exists=false writable=false extras=true ["missing"] create directory: mkdir -p /project/.claude/commands
    claude_code user/.claude/commands exists=true writable=true extras=true [] -
    codex project exists=true writable=true extras=false [] -
    codex project/.codex/skills exists=false writable=false extras=true ["missing"] create directory: mkdir -p /project/.codex/skills
    codex user/.codex exists=true writable=true extras=false [] -
    codex user/.codex/prompts exists=true writable=false extras=true ["not_a_directory"] a file is in the way; move it away
    codex user/.codex/skills exists=false writable=false extras=true ["missing"] create directory: mkdir -p /user/.codex/skills
    "#);
    let data = serde_json::to_value(&outcome.data).unwrap();
    assert_eq!(data["machine_id"], "box");
    assert_eq!(data["gitignore_fixes"], serde_json::json!([]));
    let actions = data["next_actions"].as_array().unwrap();
    assert!(
        actions[0].as_str().unwrap().starts_with("mkdir -p "),
        "{actions:?}"
    );
}

#[test]
fn must_31_looking_changes_no_directory() {
    let world = World::with_manifest(MANIFEST);
    let commands = world.path("user/.claude/commands");
    fs_err::create_dir_all(&commands).unwrap();
    world.run(&world.path("project"), &["init", "--quiet"]);
    let seen = |path: &Path| {
        let metadata = fs_err::metadata(path).unwrap();
        (metadata.modified().unwrap(), metadata.len())
    };
    let directories = [
        commands,
        world.path("project"),
        world.repo(),
        world.path("user"),
    ];
    let before: Vec<_> = directories.iter().map(|path| seen(path)).collect();
    let files = world.files("");
    let outcome = examine(&world, Flags::default()).unwrap();
    assert!(outcome.writes.is_empty());
    let after: Vec<_> = directories.iter().map(|path| seen(path)).collect();
    assert_eq!(before, after);
    assert_eq!(world.files(""), files);
    assert!(!world.path("pack").exists());
}

#[test]
fn a_directory_without_permission_is_reported() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::with_manifest(MANIFEST);
    let closed = world.path("user/.claude/commands");
    fs_err::create_dir_all(&closed).unwrap();
    fs_err::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    let outcome = examine(&world, Flags::default()).unwrap();
    let root = closed.display().to_string();
    let check = outcome
        .data
        .roots
        .iter()
        .find(|check| check.root == root)
        .unwrap();
    // The superuser may write everywhere.
    if rustix::process::geteuid().is_root() {
        assert!(check.writable);
    } else {
        assert_eq!(check.issues, ["not_writable"]);
    }
}

#[test]
fn manifests_that_git_would_show_are_reported_and_ignored() {
    let world = World::with_manifest(MANIFEST);
    world.run(&world.path("project"), &["init", "--quiet"]);
    world.write("project/.gitignore", "*.log");
    fs_err::create_dir_all(world.path("project/.claude/commands")).unwrap();
    let outcome = examine(&world, Flags::default()).unwrap();
    let about: Vec<&String> = outcome
        .warnings
        .iter()
        .filter(|warning| warning.contains("`.agentpack.manifest*.json`"))
        .collect();
    assert_eq!(about.len(), 2, "{:#?}", outcome.warnings);
    assert_eq!(
        outcome.data.next_actions[0],
        "windlass pack doctor --fix --yes --json"
    );
    let fixed = examine(&world, FIX).unwrap();
    assert_eq!(fixed.roots, [world.path("project")]);
    let data = world.apply(fixed);
    assert_eq!(data.gitignore_fixes.len(), 1);
    assert!(data.gitignore_fixes[0].updated);
    insta::assert_snapshot!(world.read("project/.gitignore"), @r"
    *.log
    # >>> agentpack
    .agentpack.manifest*.json
    # <<< agentpack
    ");
    let again = examine(&world, FIX).unwrap();
    assert!(again.writes.is_empty() && again.data.gitignore_fixes.is_empty());
}

#[test]
fn an_old_line_counts_as_done() {
    let world = World::with_manifest(MANIFEST);
    world.run(&world.path("project"), &["init", "--quiet"]);
    world.write("project/.gitignore", ".agentpack.manifest*.json\n");
    let outcome = examine(&world, FIX).unwrap();
    assert!(outcome.writes.is_empty() && outcome.data.gitignore_fixes.is_empty());
}

#[test]
fn the_private_ignore_file_is_used_when_asked_for_also_in_linked_work_trees() {
    let world = World::with_manifest(&format!("{MANIFEST}gitignore_mode: exclude\n"));
    world.write("main/x", "");
    world.commit("main", "first");
    fs_err::remove_dir(world.path("project")).unwrap();
    let project = world.path("project").display().to_string();
    world.run(
        &world.path("main"),
        &["worktree", "add", "--quiet", &project],
    );
    let data = world.apply(examine(&world, FIX).unwrap());
    assert!(
        data.gitignore_fixes[0]
            .gitignore_path
            .ends_with("info/exclude")
    );
    assert!(
        world
            .read("main/.git/info/exclude")
            .contains("# >>> agentpack")
    );
    assert!(!world.path("project/.gitignore").exists());
    assert!(examine(&world, FIX).unwrap().writes.is_empty());
}

const OUTPUTS: &str = "version: 1
profiles:
  default: {include_tags: [base]}
targets:
  codex: {mode: files, scope: project, options: {write_agents_skills_repo: true}}
modules:
  - {id: skill:demo, type: skill, tags: [base], source: {local_path: {path: demo}}}
  - {id: instructions:base, type: instructions, tags: [base], source: {local_path: {path: base}}}
gitignore_outputs: true
";

fn with_outputs() -> World {
    let world = World::with_manifest(OUTPUTS);
    world.write("repo/demo/SKILL.md", "---\nname: d\ndescription: d\n---\n");
    world.write("repo/demo/deep/x", "x");
    world.write("repo/base/AGENTS.md", "rules");
    world
}

#[test]
fn outputs_are_hidden_when_asked_for_and_shown_again_afterwards() {
    let world = with_outputs();
    world.run(&world.path("project"), &["init", "--quiet"]);
    for below in ["project/.codex/skills", "project/.agents/skills"] {
        fs_err::create_dir_all(world.path(below)).unwrap();
    }
    world.apply(examine(&world, FIX).unwrap());
    insta::assert_snapshot!(world.read("project/.gitignore"), @r"
    # >>> agentpack
    .agentpack.manifest*.json
    /.agents/skills/demo/
    /.codex/skills/demo/
    /AGENTS.md
    # <<< agentpack
    ");
    assert!(examine(&world, FIX).unwrap().writes.is_empty());
    world.write(
        "repo/agentpack.yaml",
        &OUTPUTS.replace("gitignore_outputs: true", ""),
    );
    let stale = examine(&world, Flags::default()).unwrap();
    assert!(
        stale
            .warnings
            .iter()
            .any(|warning| warning.contains("not up to date"))
    );
    world.apply(examine(&world, FIX).unwrap());
    insta::assert_snapshot!(world.read("project/.gitignore"), @r"
    # >>> agentpack
    .agentpack.manifest*.json
    # <<< agentpack
    ");
}

#[test]
fn programs_of_the_repository_that_are_off_are_named() {
    use std::os::unix::fs::PermissionsExt as _;
    use windlass_ports::git::Git as _;

    let world = World::with_manifest(MANIFEST);
    world.git.init(&world.repo()).unwrap();
    let about = |world: &World| {
        let warnings = examine(world, Flags::default()).unwrap().warnings;
        let about = warnings.into_iter().filter(|it| it.contains("are off"));
        about.collect::<Vec<_>>()
    };
    assert_eq!(about(&world), Vec::<String>::new());
    world.write("repo/.git/hooks/pre-commit", "#!/bin/sh\n");
    let hook = world.path("repo/.git/hooks/pre-commit");
    fs_err::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let said = about(&world);
    assert_eq!(said.len(), 1);
    for part in ["hook pre-commit", "windlass trust /"] {
        assert!(said[0].contains(part), "{part}: {said:?}");
    }
}

#[test]
fn a_skill_in_two_places_is_reported() {
    let world = with_outputs();
    let outcome = examine(&world, Flags::default()).unwrap();
    let about: Vec<&String> = outcome
        .warnings
        .iter()
        .filter(|warning| warning.contains("the skill demo lands in"))
        .collect();
    assert_eq!(about.len(), 1, "{:#?}", outcome.warnings);
}

#[test]
fn duplicate_or_foreign_overlays_are_reported() {
    let world = with_outputs();
    world.write("repo/overlays/skill_demo--f2b4dd2c0d/x", "1");
    world.write(
        "repo/overlays/skill_demo--f2b4dd2c0d/.agentpack/module_id",
        "skill:other\n",
    );
    world.write("repo/overlays/skill:demo/x", "2");
    let outcome = examine(&world, Flags::default()).unwrap();
    let overlay: Vec<&str> = outcome
        .warnings
        .iter()
        .map(String::as_str)
        .filter(|warning| warning.starts_with("overlay "))
        .collect();
    insta::assert_snapshot!(overlay.join("\n"), @r#"
    overlay layout (global) module skill:demo: there are several overlay directories: overlays/skill_demo--f2b4dd2c0d, overlays/skill:demo; overlays/skill_demo--f2b4dd2c0d is used, remove or merge the others
    overlay metadata (global) module skill:demo: overlays/skill_demo--f2b4dd2c0d/.agentpack/module_id says "skill:other" instead of "skill:demo"
    "#);
}

#[test]
fn strict_fails_on_unknown_keys() {
    let world = World::with_manifest(&format!("{MANIFEST}modlues: []\n"));
    let strict = Flags {
        strict: true,
        ..Flags::default()
    };
    let problem = examine(&world, strict).unwrap_err();
    assert_eq!(problem.code().name, "E_CONFIG_INVALID");
    assert!(
        problem.message().contains("did you mean \"modules\"?"),
        "{}",
        problem.message()
    );
    assert_eq!(problem.details()["unknown"].as_array().unwrap().len(), 1);
    examine(&world, Flags::default()).unwrap();
}

#[test]
fn new_types_and_newer_places_are_worth_knowing() {
    let text = format!(
        "{}  - {{id: hook:h, type: hook, source: {{local_path: {{path: h.yaml}}}}}}\n",
        OUTPUTS.split("gitignore_outputs").next().unwrap()
    );
    let text = text
        .replace("options: {write_agents_skills_repo: true}", "options: {}")
        .replace(
            "modules:",
            "  claude_code: {mode: files, scope: project}\nmodules:",
        );
    let world = with_outputs();
    world.write("repo/agentpack.yaml", &text);
    let outcome = examine(&world, Flags::default()).unwrap();
    insta::assert_snapshot!(outcome.data.information.join("\n"), @"
    this repository needs Windlass: agentpack 0.9.1 refuses the types of hook:h (hook)
    Codex now reads skills from .agents/skills: set write_agents_skills_user and write_agents_skills_repo, and switch write_user_skills and write_repo_skills off
    Claude Code reads CLAUDE.md and not AGENTS.md: set write_claude_md_repo or write_claude_md_user to give it the instructions
    ");
}
