//! `import`: scan, ids, destinations, conflicts, the manifest in place.

use windlass_pack_author::{ImportRequest, import};
use windlass_pack_model::{Project, next_actions::Caller, parse_manifest};
use windlass_types::Digest;

use super::world::{MANIFEST, World, caller, code_and_next_steps};

const SKILL: &str = "---\nname: s\ndescription: d\n---\nbody\n";
const COMMAND: &str = "---\ndescription: d\n---\nbody\n";

fn furnished() -> World {
    let world = World::with_manifest(&format!("# mine\n{MANIFEST}"));
    world.write("user/.codex/prompts/Draft PR.md", "prompt");
    world.write("user/.codex/prompts/notes.txt", "no prompt");
    world.write("user/.codex/skills/demo/SKILL.md", SKILL);
    world.write("user/.codex/skills/demo/run.sh", "#!/bin/sh\n");
    world.write("user/.codex/skills/broken/readme", "no skill");
    world.write("user/.claude/commands/hello.md", COMMAND);
    world.write("project/AGENTS.md", "rules");
    world.write("project/.claude/commands/hello.md", COMMAND);
    world.write("project/.codex/skills/demo/SKILL.md", SKILL);
    world
}

fn ask<'a>(world: &'a World, project: &'a Project, caller: &'a Caller, apply: bool) -> Asked<'a> {
    Asked {
        repo: world.repo(),
        home: world.path("user"),
        project,
        caller,
        apply,
    }
}

struct Asked<'a> {
    repo: std::path::PathBuf,
    home: std::path::PathBuf,
    project: &'a Project,
    caller: &'a Caller,
    apply: bool,
}

impl Asked<'_> {
    fn request(&self) -> ImportRequest<'_> {
        ImportRequest {
            repo: &self.repo,
            home_root: &self.home,
            project: self.project,
            codex_home: None,
            apply: self.apply,
            caller: self.caller,
            json: true,
        }
    }
}

#[test]
fn everything_at_the_known_places_is_planned() {
    let world = furnished();
    let (project, caller) = (world.project(), caller());
    let imported = import(&ask(&world, &project, &caller, false).request()).unwrap();
    assert!(imported.outcome.writes.is_empty());
    assert!(imported.taken.is_empty());
    let data = imported.outcome.data;
    assert_eq!((data.applied, data.reason), (false, Some("dry_run")));
    let repo = format!("{}/", world.repo().display());
    let lines: Vec<String> = data
        .plan
        .iter()
        .map(|item| {
            format!(
                "{:?} {} [{}] {} {}",
                item.op,
                item.module_id,
                item.tags.join(" "),
                item.dest_path.replace(&repo, ""),
                item.skip_reason.unwrap_or("-")
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    Create command:hello [base imported user claude_code] modules/claude-commands/imported/user/hello.md -
    Create command:project-0123456789abcdef-hello [imported project project-0123456789abcdef claude_code] modules/claude-commands/imported/project-0123456789abcdef/hello.md -
    Create instructions:project-0123456789abcdef [imported project project-0123456789abcdef codex cursor vscode] modules/instructions/imported/0123456789abcdef -
    Create prompt:draft-pr [base imported user codex] modules/prompts/imported/Draft PR.md -
    SkipInvalid skill:broken [base imported user codex] modules/skills/imported/broken invalid_module_source
    Create skill:demo [base imported user codex] modules/skills/imported/demo -
    Create skill:project-0123456789abcdef-demo [imported project project-0123456789abcdef codex] modules/skills/imported/project-0123456789abcdef-demo -
    ");
    insta::assert_snapshot!(data.next_actions.join("\n"), @"
    windlass pack --profile project-0123456789abcdef preview --diff --json
    windlass pack --profile project-0123456789abcdef deploy --apply --yes --json
    ");
    assert_eq!(data.summary.candidates, 7);
    assert_eq!((data.summary.create, data.summary.skipped_invalid), (6, 1));
    assert!(imported.outcome.warnings[0].contains("has no SKILL.md"));
}

#[test]
fn must_27_applying_copies_files_and_edits_the_manifest_in_place() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = furnished();
    let script = world.path("user/.codex/skills/demo/run.sh");
    fs_err::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (project, caller) = (world.project(), caller());
    let imported = import(&ask(&world, &project, &caller, true).request()).unwrap();
    // D14: exactly these originals may be owned later.
    assert_eq!(imported.taken[&script], Digest::of(b"#!/bin/sh\n"));
    assert_eq!(
        imported.taken[&world.path("project/AGENTS.md")],
        Digest::of(b"rules")
    );
    assert_eq!(imported.taken.len(), 7);
    let data = world.apply(imported.outcome);
    assert!(data.applied && data.reason.is_none());

    let copy = world.path("repo/modules/skills/imported/demo/run.sh");
    let mode = fs_err::metadata(copy).unwrap().permissions().mode();
    assert_eq!(mode & 0o100, 0o100);
    let instructions = "repo/modules/instructions/imported/0123456789abcdef/AGENTS.md";
    assert_eq!(world.read(instructions), "rules");
    let text = world.read("repo/agentpack.yaml");
    assert!(text.starts_with("# mine\nversion: 1\n"), "{text}");
    assert!(
        !text.contains("git:") && !text.contains("metadata"),
        "{text}"
    );
    let manifest = parse_manifest(&text).unwrap().manifest;
    assert_eq!(
        manifest.profiles["project-0123456789abcdef"].include_tags,
        ["base", "project-0123456789abcdef"]
    );
    let ids: Vec<&str> = manifest
        .modules
        .iter()
        .map(|module| module.id.as_str())
        .collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    assert_eq!((ids.len(), &ids), (6, &sorted));

    let again = import(&ask(&world, &project, &caller, true).request()).unwrap();
    let data = again.outcome.data;
    assert_eq!((data.applied, data.reason), (false, Some("no_changes")));
    assert_eq!(data.summary.skipped_existing_module, 6);
}

#[test]
fn sources_with_one_id_are_reported_and_the_first_is_taken() {
    let world = World::with_manifest(MANIFEST);
    world.write("user/.codex/prompts/a b.md", "one");
    world.write("user/.codex/prompts/a-b.md", "two");
    let (project, caller) = (world.project(), caller());
    let data = import(&ask(&world, &project, &caller, false).request())
        .unwrap()
        .outcome
        .data;
    let conflict = &data.conflicts[0];
    assert_eq!(conflict.kind, "duplicate_module_id_in_scan");
    assert_eq!(conflict.module_id.as_deref(), Some("prompt:a-b"));
    assert_eq!(conflict.count, 2);
    assert_eq!(
        data.plan[1].skip_reason,
        Some("duplicate_module_id_in_scan")
    );
    // Nothing of the project was found, so its profile is not needed.
    assert_eq!(
        data.next_actions,
        [
            "windlass pack preview --diff --json",
            "windlass pack deploy --apply --yes --json"
        ]
    );
}

#[test]
fn nothing_is_written_over() {
    let world = furnished();
    world.write("repo/modules/prompts/imported/Draft PR.md", "mine");
    let before = world.files("repo");
    let (project, caller) = (world.project(), caller());
    let plan = import(&ask(&world, &project, &caller, false).request()).unwrap();
    let conflict = plan.outcome.data.conflicts.last().unwrap().clone();
    assert_eq!((conflict.kind, conflict.count), ("dest_path_exists", 1));
    assert!(plan.outcome.data.plan.iter().any(|item| item.dest_exists));
    let problem = import(&ask(&world, &project, &caller, true).request()).unwrap_err();
    insta::assert_snapshot!(code_and_next_steps(&problem), @"E_IMPORT_CONFLICT import_conflict resolve_import_conflict,retry_import_apply");
    assert_eq!(problem.details()["count"], 1);
    assert_eq!(world.files("repo"), before);
}

#[test]
fn a_linked_skill_directory_is_followed() {
    let world = World::with_manifest(MANIFEST);
    world.write("user/dotfiles/linked/SKILL.md", SKILL);
    fs_err::create_dir_all(world.path("user/.codex/skills")).unwrap();
    std::os::unix::fs::symlink(
        world.path("user/dotfiles/linked"),
        world.path("user/.codex/skills/linked"),
    )
    .unwrap();
    let (project, caller) = (world.project(), caller());
    let imported = import(&ask(&world, &project, &caller, true).request()).unwrap();
    assert_eq!(imported.outcome.warnings, Vec::<String>::new());
    world.apply(imported.outcome);
    assert_eq!(
        world.read("repo/modules/skills/imported/linked/SKILL.md"),
        SKILL
    );
}

const TARGETS: &str = "version: 1
profiles:
  default:
    include_tags: [base]
targets:
  codex: {mode: files, scope: both, options: {write_agents_skills_repo: true, write_agents_skills_user: true}}
  claude_code: {mode: files, scope: both, options: {write_user_skills: true, write_repo_skills: true, write_claude_md_repo: true, write_claude_md_user: true}}
  cursor: {mode: files, scope: project}
  vscode: {mode: files, scope: project}
  jetbrains: {mode: files, scope: project}
  zed: {mode: files, scope: project}
";

const AGENT: &str = "---\nname: reviewer\ndescription: \"Reviews: all\"\n---\n\nRead the diff.\n";

/// A repository with every type of module, deployed to every target but one that exports.
fn deployed(claude_md: &str, instructions: &[&str]) -> World {
    let mut manifest = TARGETS.replace(
        "write_claude_md_user: true",
        &format!("write_claude_md_user: true, claude_md: {claude_md}"),
    );
    manifest.push_str("modules:\n");
    let world = World::new();
    let mut add = |id: &str, kind: &str, path: &str, text: &str| {
        let source = match kind {
            "instructions" | "skill" => path.rsplit_once('/').unwrap().0,
            _ => path,
        };
        manifest.push_str(&format!(
            "  - {{id: '{id}', type: {kind}, tags: [base], source: {{local_path: {{path: '{source}'}}}}}}\n"
        ));
        world.write(&format!("repo/{path}"), text);
    };
    for name in instructions {
        let path = format!("m/{name}/AGENTS.md");
        add(
            &format!("instructions:{name}"),
            "instructions",
            &path,
            &format!("# {name}\n"),
        );
    }
    add("skill:Demo_1", "skill", "m/demo/SKILL.md", SKILL);
    add("prompt:draft", "prompt", "m/Draft PR.md", "draft");
    add("command:hello", "command", "m/hello.md", COMMAND);
    add("subagent:reviewer", "subagent", "m/reviewer.md", AGENT);
    add(
        "mcp:tickets",
        "mcp_server",
        "m/tickets.yaml",
        "name: tickets\ntransport: http\nurl: https://t.example/mcp\nheaders: {Authorization: 'Bearer ${TOKEN}', X-Other: '${OTHER}'}\n",
    );
    add(
        "mcp:local",
        "mcp_server",
        "m/local.yaml",
        "name: local\ntransport: stdio\ncommand: npx\nargs: [-y, local]\nenv: {LEVEL: debug, HOME_OF: '${HOME_OF}'}\n",
    );
    add(
        "hook:stop",
        "hook",
        "m/stop.yaml",
        "event: Stop\ncommand: make check\ntimeout_s: 30\n",
    );
    add(
        "hook:tool",
        "hook",
        "m/tool.yaml",
        "event: PreToolUse\nmatcher: Bash\ncommand: echo\n",
    );
    world.write("repo/agentpack.yaml", &manifest);
    world.deploy("repo", "default");
    world
}

#[test]
fn what_was_deployed_can_be_imported_into_an_empty_repository_and_nothing_changes() {
    for (claude_md, instructions) in [
        ("import", &["base"][..]),
        ("inline", &["base"]),
        ("import", &["base", "second"]),
        ("inline", &["base", "second", "third"]),
    ] {
        let world = deployed(claude_md, instructions);
        let targets = TARGETS.replace(
            "write_claude_md_user: true",
            &format!("write_claude_md_user: true, claude_md: {claude_md}"),
        );
        world.write("other/agentpack.yaml", &format!("{targets}modules: []\n"));
        let (project, caller) = (world.project(), caller());
        let mut asked = ask(&world, &project, &caller, true);
        asked.repo = world.path("other");
        let imported = import(&asked.request()).unwrap();
        assert_eq!(
            imported.outcome.data.summary.skipped_invalid, 0,
            "{:#?}",
            imported.outcome.warnings
        );
        world.apply(imported.outcome);
        let changes = world.plan("other", "project-0123456789abcdef").changes;
        let lines: Vec<String> = changes
            .iter()
            .map(|change| {
                format!(
                    "{:?} {} {:?}",
                    change.op,
                    change.path.display(),
                    change.keys
                )
            })
            .collect();
        assert!(
            lines.is_empty(),
            "{claude_md} {instructions:?}\n{}\n{}",
            lines.join("\n"),
            world.read("other/agentpack.yaml")
        );
    }
}

#[test]
fn what_people_wrote_by_hand_for_any_tool_is_found() {
    let world = World::with_manifest(MANIFEST);
    let rule =
        "---\ndescription: Types\nglobs: \"*.ts\"\nalwaysApply: false\n---\n\nUse strict types.\n";
    for (path, text) in [
        ("project/AGENTS.md", "rules\n"),
        ("project/CLAUDE.md", "rules\n"),
        ("project/.rules", "for Zed\n"),
        ("project/.cursor/rules/ts/types.mdc", rule),
        ("project/.claude/skills/demo/SKILL.md", SKILL),
        (
            "project/.codex/skills/demo/SKILL.md",
            "---\nname: other\ndescription: d\n---\n",
        ),
        ("project/.github/prompts/fix.prompt.md", "fix"),
        ("project/.claude/agents/plain.md", "no frontmatter"),
        (
            "project/.mcp.json",
            "{\"mcpServers\": {\"a\": {\"command\": \"npx\"}, \"b\": {\"command\": \"x\", \"cwd\": \"/\"}}}",
        ),
        (
            "project/.cursor/mcp.json",
            "{\n  // mine\n  \"mcpServers\": {\"a\": {\"command\": \"npx\"}}\n}",
        ),
        ("project/.vscode/mcp.json", "{\"servers\": "),
        ("user/.claude/CLAUDE.md", "my own\n"),
        (
            "user/.claude/settings.json",
            "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}}",
        ),
    ] {
        world.write(path, text);
    }
    let (project, caller) = (world.project(), caller());
    let imported = import(&ask(&world, &project, &caller, true).request()).unwrap();
    let data = &imported.outcome.data;
    let lines: Vec<String> = data
        .plan
        .iter()
        .map(|item| {
            let targets: Vec<&str> = item.targets.iter().map(|target| target.as_str()).collect();
            format!("{:?} {} {}", item.op, item.module_id, targets.join(","))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    Create hook:stop-bc3d17cdaf5e claude_code
    Create instructions:project-0123456789abcdef claude_code,codex,vscode
    Create instructions:project-0123456789abcdef-cursor-ts-types cursor
    Create instructions:project-0123456789abcdef-zed zed
    Create instructions:user-claude_code claude_code
    Create mcp_server:project-0123456789abcdef-a claude_code,cursor
    SkipInvalid mcp_server:project-0123456789abcdef-b claude_code
    Create prompt:project-0123456789abcdef-fix vscode
    Create skill:project-0123456789abcdef-demo codex
    Create skill:project-0123456789abcdef-demo-claude_code claude_code
    SkipInvalid subagent:project-0123456789abcdef-plain claude_code
    ");
    let warnings = imported.outcome.warnings.join("\n");
    for expected in [
        "project/.vscode/mcp.json is left out: line 1",
        "it has cwd, which a module cannot say",
        "needs frontmatter in plain.md",
        "for cursor, which is not a target of agentpack.yaml",
        "set write_repo_skills: true in the options of claude_code",
        "codex has scope both",
    ] {
        assert!(warnings.contains(expected), "{expected}: {warnings}");
    }
    world.apply(imported.outcome);
    let text = world.read("repo/agentpack.yaml");
    assert!(text.contains("name: demo"), "{text}");
    // Cursor gets its rule back as it was written.
    world.write(
        "repo/agentpack.yaml",
        &text.replace(
            "modules:",
            "  cursor: {mode: files, scope: project}\nmodules:",
        ),
    );
    let plan = world.plan("repo", "project-0123456789abcdef");
    assert!(
        !plan
            .changes
            .iter()
            .any(|change| change.path.ends_with("types.mdc")),
        "{:?}",
        plan.changes
    );
}

#[test]
fn a_link_of_a_project_that_leaves_it_is_not_followed() {
    let world = World::with_manifest(MANIFEST);
    world.write("user/.ssh/key", "secret");
    world.write("project/docs/rules.md", "rules\n");
    for (link, to) in [
        ("project/AGENTS.md", world.path("user/.ssh/key")),
        ("project/CLAUDE.md", world.path("project/docs/rules.md")),
        ("user/mine.md", world.path("elsewhere.md")),
    ] {
        std::os::unix::fs::symlink(to, world.path(link)).unwrap();
    }
    let (project, caller) = (world.project(), caller());
    let imported = import(&ask(&world, &project, &caller, true).request()).unwrap();
    let ids: Vec<&str> = imported
        .outcome
        .data
        .plan
        .iter()
        .map(|item| item.module_id.as_str())
        .collect();
    assert_eq!(ids, ["instructions:project-0123456789abcdef-claude_code"]);
    assert!(imported.outcome.warnings[0].contains("leaves the project"));
}
