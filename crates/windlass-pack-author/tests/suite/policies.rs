//! `policy lint`, `policy audit` and `policy lock`.

use serde_json::json;
use windlass_pack_author::{GitCheckouts, LintReport, LintRequest, audit, lint, lock, policy_lock};
use windlass_pack_model::NoHashCache;
use windlass_types::Problem;

use super::world::{MANIFEST, World, code_and_next_steps, now};

fn report(world: &World, strict: bool) -> LintReport {
    lint(&LintRequest {
        repo: &world.repo(),
        strict,
        program: "windlass pack",
    })
    .unwrap()
}

/// Rule and path of every issue.
fn issues(world: &World) -> Vec<String> {
    let report = report(world, false);
    assert_eq!(report.summary.violations, report.issues.len());
    report
        .issues
        .iter()
        .map(|issue| format!("{} {}", issue.rule, issue.path_posix))
        .collect()
}

#[test]
fn files_are_found_once_and_counted() {
    let world = World::with_manifest(MANIFEST);
    let good = "---\nname: a\ndescription: b\n---\n";
    world.write("repo/modules/skills/a/SKILL.md", good);
    world.write("repo/modules/skills/b/SKILL.md", "none\n");
    world.write("repo/node_modules/x/SKILL.md", "ignored\n");
    world.write("repo/.git/SKILL.md", "ignored\n");
    world.write("repo/overlays/k/.agentpack/SKILL.md", "ignored\n");
    world.write(
        "repo/.claude/commands/deep/x.md",
        "!bash\nagentpack deploy --apply\n",
    );
    world.write("repo/modules/claude-commands/y.md", "fine\n");
    world.write(
        "repo/modules/claude-commands/z.txt",
        "!bash\nagentpack lock\n",
    );
    fs_err::write(world.path("repo/modules/claude-commands/bad.md"), [0xff]).unwrap();
    let report = report(&world, false);
    let summary = serde_json::to_value(&report.summary).unwrap();
    assert_eq!(
        summary,
        json!({
            "violations": 4,
            "files_scanned": 5,
            "skill_files": 2,
            "claude_command_files": 3,
            "rules": {
                "claude_command_allowed_tools": 1,
                "dangerous_defaults": 1,
                "io_read": 1,
                "skill_frontmatter": 1,
            },
        })
    );
    let dangerous = &report.issues[1];
    assert_eq!(
        dangerous.details,
        Some(json!({
            "line": 2,
            "command_id": "deploy --apply",
            "invocation": "deploy --apply",
            "missing": ["--json", "--yes"],
        }))
    );
    let problem = report.passed().unwrap_err();
    insta::assert_snapshot!(code_and_next_steps(&problem), @"E_POLICY_VIOLATIONS policy_violations fix_policy_violations,retry_policy_lint");
    assert_eq!(problem.details()["issues"].as_array().unwrap().len(), 4);
    assert_eq!(problem.details()["summary"]["violations"], 4);
}

#[test]
fn a_clean_repository_passes() {
    let world = World::with_manifest(MANIFEST);
    let report = report(&world, true).passed().unwrap();
    assert_eq!(report.root, world.repo().display().to_string());
}

#[test]
fn every_rule_of_the_policy_configuration_can_be_broken() {
    let git = |id: &str, url: &str, more: &str| {
        format!("  - {{id: {id}, type: skill, {more}source: {{git: {{url: \"{url}\"}}}}}}\n")
    };
    let manifest = format!(
        "{}modules:\n{}{}{}  - {{id: skill:off, type: skill, enabled: false, source: {{local_path: {{path: x}}}}}}\n",
        MANIFEST.replace("modules: []\n", ""),
        git("skill:ours", "https://github.com/org/a.git", ""),
        git("skill:theirs", "https://example.com/x", ""),
        git(
            "skill:unused",
            "git@github.com:org/b.git",
            "enabled: false, "
        ),
    );
    let supply = "supply_chain_policy: {allowed_git_remotes: [github.com/org, '']}\n";
    let required = "supply_chain_policy: {require_lockfile: true}\n";
    let entry = |id: &str, source: &str| {
        format!(
            r#"{{"id":"{id}","type":"skill","resolved_source":{source},"resolved_version":"x","sha256":"{}","file_manifest":[]}}"#,
            "0".repeat(64)
        )
    };
    let lockfile = |entries: &[String]| {
        format!(
            r#"{{"version":1,"generated_at":"t","modules":[{}]}}"#,
            entries.join(",")
        )
    };
    let commit = "1".repeat(40);
    let ours = entry(
        "skill:ours",
        &format!(r#"{{"git":{{"url":"git@github.com:org/a","commit":"{commit}"}}}}"#),
    );
    for (org, lock, expected) in [
        (
            "nonsense: [",
            None,
            vec!["policy_config agentpack.org.yaml"],
        ),
        (
            "version: 2\n",
            None,
            vec!["policy_config agentpack.org.yaml"],
        ),
        (
            "version: 1\npolicy_pack: {source: nowhere}\n",
            None,
            vec!["policy_config agentpack.org.yaml"],
        ),
        (
            "version: 1\npolicy_pack: {source: 'local:pack'}\n",
            None,
            vec!["policy_pack_lock agentpack.org.lock.json"],
        ),
        (
            "version: 1\ndistribution_policy: {required_targets: [codex, zed, ''], required_modules: [skill:ours, skill:gone, skill:off]}\n",
            None,
            vec![
                "policy_config agentpack.org.yaml",
                "distribution_required_modules agentpack.yaml",
                "distribution_required_targets agentpack.yaml",
            ],
        ),
        (
            &format!("version: 1\npolicy_pack: {{source: 'git:https://example.com/p'}}\n{supply}"),
            None,
            vec![
                "policy_pack_lock agentpack.org.lock.json",
                "policy_config agentpack.org.yaml",
                "policy_pack_allowed_git_remotes agentpack.org.yaml",
                "supply_chain_allowed_git_remotes agentpack.yaml",
            ],
        ),
        (
            &format!("version: 1\n{required}"),
            None,
            vec!["supply_chain_lockfile_missing agentpack.lock.json"],
        ),
        (
            &format!("version: 1\n{required}"),
            Some("{".to_owned()),
            vec!["supply_chain_lockfile_invalid agentpack.lock.json"],
        ),
        (
            &format!("version: 1\n{required}"),
            Some(lockfile(std::slice::from_ref(&ours))),
            vec!["supply_chain_lockfile_missing_module agentpack.lock.json"],
        ),
        (
            &format!("version: 1\n{required}"),
            Some(lockfile(&[
                ours,
                entry("skill:theirs", r#"{"local_path":{"path":"x"}}"#),
            ])),
            vec!["supply_chain_lockfile_source_mismatch agentpack.lock.json"],
        ),
        (
            &format!("version: 1\n{required}"),
            Some(lockfile(&[
                entry(
                    "skill:ours",
                    r#"{"git":{"url":"https://github.com/org/a","commit":"main"}}"#,
                ),
                entry(
                    "skill:theirs",
                    &format!(r#"{{"git":{{"url":"https://evil.com/x","commit":"{commit}"}}}}"#),
                ),
            ])),
            vec![
                "supply_chain_lockfile_unpinned_commit agentpack.lock.json",
                "supply_chain_lockfile_url_mismatch agentpack.lock.json",
            ],
        ),
    ] {
        let world = World::with_manifest(&manifest);
        world.write("repo/agentpack.org.yaml", org);
        if let Some(lock) = &lock {
            world.write("repo/agentpack.lock.json", lock);
        }
        assert_eq!(issues(&world), expected, "{org}\n{lock:?}");
    }
}

#[test]
fn policies_about_a_broken_manifest_say_so() {
    let world = World::with_manifest("version: 1\n");
    world.write(
        "repo/agentpack.org.yaml",
        "version: 1\ndistribution_policy: {required_targets: [codex]}\nsupply_chain_policy: {require_lockfile: true}\n",
    );
    assert_eq!(
        issues(&world),
        [
            "distribution_policy agentpack.yaml",
            "supply_chain_policy agentpack.yaml"
        ]
    );
}

#[test]
fn secrets_in_definitions_and_unknown_keys_are_issues() {
    let world = World::with_manifest(&format!(
        "{}modules:\n  - {{id: mcp_server:x, type: mcp_server, source: {{local_path: {{path: x.yaml}}}}}}\nmodlues: 1\n",
        MANIFEST.replace("modules: []\n", "")
    ));
    world.write(
        "repo/x.yaml",
        "name: x\ntransport: stdio\ncommand: x\nenv: {API_TOKEN: \"ghp_0123456789abcdefghijABCDEFGHIJ012345\"}\n",
    );
    assert_eq!(issues(&world), ["module_definition x.yaml"]);
    let strict: Vec<&str> = report(&world, true)
        .issues
        .iter()
        .map(|issue| issue.rule)
        .collect();
    assert_eq!(strict, ["unknown_key", "module_definition"]);
}

fn policy(world: &World) -> Result<windlass_pack_author::PolicyLockData, Problem> {
    let checkouts = GitCheckouts::new(&world.home, &world.git);
    let outcome = policy_lock(&world.repo(), &checkouts, &NoHashCache)?;
    world.try_apply(outcome)
}

#[test]
fn the_policy_pack_is_pinned_from_a_directory_and_from_git() {
    let world = World::with_manifest(MANIFEST);
    world.write("repo/pack/rules.md", "rules");
    world.write(
        "repo/agentpack.org.yaml",
        "version: 1\npolicy_pack: {source: 'local:pack'}\n",
    );
    let data = policy(&world).unwrap();
    assert_eq!((data.resolved_version.as_str(), data.files), ("local", 1));
    assert_eq!(issues(&world), Vec::<String>::new());
    let before = world.read("repo/agentpack.org.lock.json");
    let checkouts = GitCheckouts::new(&world.home, &world.git);
    let again = policy_lock(&world.repo(), &checkouts, &NoHashCache).unwrap();
    assert!(again.writes.is_empty());

    world.write("upstream/rules/a.md", "a");
    let commit = world.commit("upstream", "first");
    let url = world.url("upstream");
    world.write(
        "repo/agentpack.org.yaml",
        &format!("version: 1\npolicy_pack: {{source: 'git:{url}#subdir=rules'}}\n"),
    );
    assert_eq!(issues(&world), ["policy_pack_lock agentpack.org.lock.json"]);
    let data = policy(&world).unwrap();
    assert_eq!((data.resolved_version, data.files), (commit, 1));
    assert_ne!(world.read("repo/agentpack.org.lock.json"), before);
    assert_eq!(issues(&world), Vec::<String>::new());
}

#[test]
fn a_policy_pack_that_is_not_configured_is_reported_by_its_code() {
    let world = World::new();
    let mut codes = vec![code_and_next_steps(&policy(&world).unwrap_err())];
    for text in [
        "version: 1\n",
        "version: 3\n",
        "version: 1\npolicy_pack: {source: x}\n",
    ] {
        world.write("repo/agentpack.org.yaml", text);
        codes.push(code_and_next_steps(&policy(&world).unwrap_err()));
    }
    insta::assert_snapshot!(codes.join("\n"), @"
    E_POLICY_CONFIG_MISSING policy_config_missing create_policy_config,retry_command
    E_POLICY_CONFIG_INVALID policy_config_invalid fix_policy_config,retry_command
    E_POLICY_CONFIG_UNSUPPORTED_VERSION policy_config_unsupported_version upgrade_agentpack,fix_policy_config_version,retry_command
    E_POLICY_CONFIG_INVALID policy_config_invalid fix_policy_config,retry_command
    ");
}

#[test]
fn an_audit_shows_what_is_locked_and_what_changed() {
    let world = World::with_manifest(&format!(
        "{}modules:\n  - {{id: prompt:a, type: prompt, source: {{local_path: {{path: a.md}}}}}}\n  - {{id: prompt:b, type: prompt, source: {{local_path: {{path: b.md}}}}}}\n",
        MANIFEST.replace("modules: []\n", "")
    ));
    let missing = audit(&world.repo(), &world.git).unwrap_err();
    assert_eq!(missing.code().name, "E_LOCKFILE_MISSING");
    let relock = || {
        let checkouts = GitCheckouts::new(&world.home, &world.git);
        let locked = world
            .with_sources(&checkouts, |sources| lock(sources, now()))
            .unwrap();
        world.apply(locked.outcome);
    };
    world.write("repo/a.md", "a");
    world.write("repo/b.md", "b");
    relock();
    // No repository, nothing to compare with.
    let alone = audit(&world.repo(), &world.git).unwrap();
    assert_eq!((alone.data.change_summary, alone.warnings.len()), (None, 0));
    world.commit("repo", "first");
    let first = audit(&world.repo(), &world.git).unwrap();
    assert!(first.data.change_summary.is_none());
    assert!(
        first.warnings[0].contains("no commit HEAD^"),
        "{:?}",
        first.warnings
    );

    world.write("repo/a.md", "longer");
    let text = world
        .read("repo/agentpack.yaml")
        .replace("prompt:b", "prompt:c");
    world.write("repo/agentpack.yaml", &text);
    relock();
    world.commit("repo", "second");
    let data = audit(&world.repo(), &world.git).unwrap().data;
    assert_eq!(data.lockfile.modules, 2);
    assert_eq!((data.modules[0].files, data.modules[0].bytes), (1, 6));
    let changes = serde_json::to_value(data.change_summary.unwrap()).unwrap();
    assert_eq!(changes["base_ref"], "HEAD^");
    assert_eq!(changes["modules_added"], json!(["prompt:c"]));
    assert_eq!(changes["modules_removed"], json!(["prompt:b"]));
    let changed = &changes["modules_changed"][0];
    assert_eq!(changed["id"], "prompt:a");
    assert_eq!(changed["bytes"], json!({ "before": 1, "after": 6 }));
    assert!(changed.get("files").is_none());
}

#[test]
fn a_policy_pack_is_locked_from_allowed_addresses_only() {
    let world = World::with_manifest(MANIFEST);
    world.write("upstream/a.md", "a");
    world.commit("upstream", "first");
    let url = world.url("upstream");
    let configured = |allowed: &str| {
        world.write(
            "repo/agentpack.org.yaml",
            &format!("version: 1\npolicy_pack: {{source: 'git:{url}'}}\nsupply_chain_policy: {{allowed_git_remotes: [{allowed}]}}\n"),
        );
    };
    configured("'https://github.com/acme/'");
    let problem = policy(&world).unwrap_err();
    insta::assert_snapshot!(code_and_next_steps(&problem), @"E_POLICY_CONFIG_INVALID policy_config_invalid fix_policy_config,retry_command");
    assert!(
        problem
            .message()
            .contains("allowed_git_remotes does not allow")
    );
    assert!(!world.path("repo/agentpack.org.lock.json").exists());
    // Nothing was fetched from there.
    assert!(!world.home.root().join("cache/git").exists());
    for allowed in ["", &format!("'{url}'")] {
        configured(allowed);
        policy(&world).unwrap();
    }
}
