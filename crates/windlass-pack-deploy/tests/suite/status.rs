//! Drift.

use windlass_pack_deploy::DriftKind;
use windlass_pack_model::Target::{ClaudeCode, Codex};

use super::world::{World, want};

fn shown(world: &World, report: &windlass_pack_deploy::DriftReport) -> Vec<String> {
    report
        .items
        .iter()
        .map(|item| {
            let path = item.path.strip_prefix(world.temp.path()).unwrap();
            let deployed = if item.deployed { "" } else { " (not deployed)" };
            format!("{:?} {}{deployed}", item.kind, path.display())
        })
        .collect()
}

#[test]
fn every_kind_of_drift() {
    let world = World::new();
    let roots = [
        (Codex, "home/.codex/skills"),
        (ClaudeCode, "home/.claude/commands"),
    ];
    let mut script = want(Codex, "home/.codex/skills/d/run.sh", "run");
    script.executable = true;
    let mut wants = vec![
        want(Codex, "home/.codex/skills/d/SKILL.md", "skill"),
        want(Codex, "home/.codex/skills/d/gone.md", "gone"),
        want(Codex, "home/.codex/skills/d/old.md", "old"),
        script,
        want(ClaudeCode, "home/.claude/commands/c.md", "c"),
    ];
    world.deploy(&world.desired(&roots, &wants));
    assert!(
        world
            .status(&world.desired(&roots, &wants))
            .summary
            .is_clean()
    );

    wants.remove(2);
    wants.push(want(Codex, "home/.codex/skills/d/later.md", "later"));
    wants.push(want(Codex, "home/.codex/skills/d/inway.md", "wanted"));
    wants.push(want(Codex, "home/.codex/skills/d/same.md", "same"));
    world.write("home/.codex/skills/d/SKILL.md", "edited");
    fs_err::remove_file(world.path("home/.codex/skills/d/gone.md")).unwrap();
    world.chmod("home/.codex/skills/d/run.sh", 0o644);
    world.write("home/.codex/skills/d/own.md", "own");
    world.write("home/.codex/skills/d/inway.md", "something else");
    world.write("home/.codex/skills/d/same.md", "same");
    world.write("home/.codex/skills/.agentpack.tmp.run_x-1", "half");
    let desired = world.desired(&roots, &wants);
    let report = world.status(&desired);
    insta::assert_debug_snapshot!(shown(&world, &report), @r#"
    [
        "Modified home/.codex/skills/d/SKILL.md",
        "Missing home/.codex/skills/d/gone.md",
        "Modified home/.codex/skills/d/inway.md (not deployed)",
        "Missing home/.codex/skills/d/later.md (not deployed)",
        "Extra home/.codex/skills/d/old.md",
        "Modified home/.codex/skills/d/run.sh",
        "Extra home/.codex/skills/d/own.md",
    ]
    "#);
    assert_eq!(
        (
            report.summary.modified,
            report.summary.missing,
            report.summary.extra
        ),
        (3, 2, 2)
    );
    assert!(report.any_manifest && !report.needs_deploy);
    let by_root = report.summary_by_root();
    assert_eq!(by_root.len(), 1);
    assert_eq!(by_root[0].summary, report.summary);
    let mode = report
        .items
        .iter()
        .find(|item| item.actual_mode.is_some())
        .unwrap();
    insta::assert_snapshot!(super::world::json(&world, mode), @r#"
    {
      "actual": "sha256:acba25512100f80b56fc3ccd14c65be55d94800cda77585c5f41a887e398f9be",
      "actual_mode": "0644",
      "expected": "sha256:acba25512100f80b56fc3ccd14c65be55d94800cda77585c5f41a887e398f9be",
      "expected_mode": "0755",
      "kind": "modified",
      "path": "…/home/.codex/skills/d/run.sh",
      "path_posix": "…/home/.codex/skills/d/run.sh",
      "root": "…/home/.codex/skills",
      "root_posix": "…/home/.codex/skills",
      "target": "codex"
    }
    "#);

    let only = report.clone().only(&[DriftKind::Missing]);
    assert_eq!(only.items.len(), 2);
    assert_eq!(only.summary.missing, 2);
    assert_eq!(only.summary.modified, 0);
    assert_eq!(only.summary_total, Some(report.summary));
    assert_eq!(report.clone().only(&[]), report);
}

#[test]
fn must_21_files_never_deployed_are_shown() {
    let world = World::new();
    let desired = world.desired(&[(Codex, "a")], &[want(Codex, "a/AGENTS.md", "x")]);
    let report = world.status(&desired);
    assert_eq!(
        shown(&world, &report),
        ["Missing a/AGENTS.md (not deployed)"]
    );
    assert!(report.needs_deploy && !report.any_manifest);
    assert!(report.warnings[0].contains("no target manifests found"));
    world.write("a/AGENTS.md", "other");
    assert_eq!(
        shown(&world, &world.status(&desired)),
        ["Modified a/AGENTS.md (not deployed)"]
    );
}

#[test]
fn a_root_without_a_manifest_is_compared_with_a_warning() {
    let world = World::new();
    let roots = [(Codex, "a"), (Codex, "home/.codex/skills")];
    let desired = world.desired(
        &roots,
        &[
            want(Codex, "a/AGENTS.md", "x"),
            want(Codex, "home/.codex/skills/d/SKILL.md", "y"),
        ],
    );
    world.deploy(&desired);
    fs_err::write(world.path("a/.agentpack.manifest.codex.json"), "{").unwrap();
    world.write("a/AGENTS.md", "edited");
    world.write("a/own.md", "own");
    let report = world.status(&desired);
    assert_eq!(shown(&world, &report), ["Modified a/AGENTS.md"]);
    assert!(report.needs_deploy);
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.contains("no usable target manifest")),
        "{:?}",
        report.warnings
    );
}

#[test]
fn files_of_a_root_that_is_off_are_extra() {
    let world = World::new();
    let both = [(Codex, "a"), (Codex, "home/.codex/prompts")];
    world.deploy(&world.desired(&both, &[want(Codex, "home/.codex/prompts/p.md", "p")]));
    let report = world.status(&world.desired(&both[..1], &[]));
    assert_eq!(shown(&world, &report), ["Extra home/.codex/prompts/p.md"]);
}

#[test]
fn a_nested_root_keeps_its_own_files() {
    let world = World::new();
    let roots = [(Codex, "a"), (Codex, "a/.codex/skills")];
    let desired = world.desired(
        &roots,
        &[
            want(Codex, "a/AGENTS.md", "x"),
            want(Codex, "a/.codex/skills/d/SKILL.md", "y"),
        ],
    );
    world.deploy(&desired);
    world.write("a/.codex/skills/own/SKILL.md", "own");
    let report = world.status(&desired);
    assert_eq!(
        shown(&world, &report),
        ["Extra a/.codex/skills/own/SKILL.md"]
    );
    assert!(report.items[0].root.ends_with("a/.codex/skills"));
}
