//! Every target: its roots, its options, its files.

use windlass_pack_model::Target;

use super::world::{World, module, write};

/// A repository with one module of every v1 type.
fn world(targets: &str) -> World {
    let mut text = format!("targets:\n{targets}modules:\n");
    text += &module("instructions:base", "instructions", "modules/base");
    text += &module("instructions:more", "instructions", "modules/more");
    text += &module("skill:demo", "skill", "modules/demo");
    text += &module("prompt:draft", "prompt", "modules/draft.md");
    text += &module("command:plan", "command", "modules/plan.md");
    let world = World::new(&text);
    world
        .file("modules/base/AGENTS.md", "# Base\n")
        .file("modules/more/AGENTS.md", "# More")
        .skill("modules/demo")
        .file("modules/demo/scripts/run.sh", "echo\n")
        .file("modules/draft.md", "Draft.\n")
        .file("modules/plan.md", "---\ndescription: plan\n---\nPlan.\n");
    world
}

#[test]
fn codex() {
    let world = world("  codex: {mode: files, scope: both}\n");
    insta::assert_snapshot!(world.rendered(), @"
    root codex $HOME/.codex User
    root codex $HOME/.codex/prompts User scan
    root codex $HOME/.codex/skills User scan
    root codex $PROJECT Project
    root codex $PROJECT/.codex/skills Project scan
    codex $HOME/.codex/AGENTS.md Aggregate instructions:base:AGENTS.md@upstream instructions:more:AGENTS.md@upstream
    codex $HOME/.codex/prompts/draft.md Verbatim prompt:draft:draft.md@upstream
    codex $HOME/.codex/skills/demo/SKILL.md Verbatim skill:demo:SKILL.md@upstream
    codex $HOME/.codex/skills/demo/scripts/run.sh Verbatim skill:demo:scripts/run.sh@upstream
    codex $PROJECT/.codex/skills/demo/SKILL.md Verbatim skill:demo:SKILL.md@upstream
    codex $PROJECT/.codex/skills/demo/scripts/run.sh Verbatim skill:demo:scripts/run.sh@upstream
    codex $PROJECT/AGENTS.md Aggregate instructions:base:AGENTS.md@upstream instructions:more:AGENTS.md@upstream
    ");
    let desired = world.render().unwrap();
    insta::assert_snapshot!(world.text(&desired, "$PROJECT/AGENTS.md"), @"
    <!-- agentpack:module=instructions:base -->
    # Base
    <!-- /agentpack -->

    ---

    <!-- agentpack:module=instructions:more -->
    # More
    <!-- /agentpack -->
    ");
}

#[test]
fn codex_scopes_and_options() {
    for (options, expected) in [
        ("scope: user", "home home/prompts home/skills"),
        ("scope: project", "project project/.codex/skills"),
        (
            "scope: both, options: {write_agents_global: false, write_user_prompts: 'no', write_user_skills: '0', write_agents_repo_root: false, write_repo_skills: false}",
            "",
        ),
        (
            "scope: both, options: {write_agents_skills_user: true, write_agents_skills_repo: true, write_user_skills: false, write_repo_skills: false}",
            "home home/prompts agents project project/.agents/skills",
        ),
        (
            "scope: user, options: {write_user_prompts: maybe}",
            "home home/prompts home/skills",
        ),
    ] {
        let world = world(&format!("  codex: {{mode: files, {options}}}\n"));
        let desired = world.render().unwrap();
        let mut roots: Vec<String> = desired
            .roots
            .iter()
            .map(|root| {
                world
                    .short(&root.path)
                    .replace("$HOME/.codex", "home")
                    .replace("$HOME/.agents/skills", "agents")
                    .replace("$PROJECT", "project")
            })
            .collect();
        roots.sort_by_key(|root| expected.find(root.as_str()));
        let mut expected: Vec<&str> = expected.split_whitespace().collect();
        expected.sort_by_key(|root| roots.iter().position(|found| found == root));
        assert_eq!(roots, expected, "{options}");
        assert_eq!(
            world.with(windlass_pack_deploy::render::roots).unwrap(),
            desired.roots
        );
    }
}

#[test]
fn must_26_codex_home_of_the_environment_beats_the_option() {
    let targets = "  codex: {mode: files, scope: user, options: {codex_home: ~/mine}}\n";
    let mut world = world(targets);
    let first = |world: &World| world.short(&world.render().unwrap().roots[0].path);
    assert_eq!(first(&world), "$HOME/mine");
    world.places.codex_home = Some(world.root().join("elsewhere"));
    assert_eq!(first(&world), "$ROOT/elsewhere");
    world.places.codex_home = Some("~/from-env".into());
    assert_eq!(first(&world), "$HOME/from-env");
    world.places.codex_home = Some("".into());
    assert_eq!(first(&world), "$HOME/mine");
    world.places.codex_home = Some("some/dir".into());
    insta::assert_snapshot!(world.problem(), @r#"
    E_CONFIG_INVALID: CODEX_HOME of target codex is some/dir, which is relative; give an absolute path or one that starts with ~/
    {
      "option": "CODEX_HOME",
      "reason_code": "config_invalid",
      "target": "codex"
    }
    "#);
}

#[test]
fn claude_code() {
    let world = world("  claude_code: {mode: files, scope: both}\n");
    insta::assert_snapshot!(world.rendered(), @"
    root claude_code $HOME/.claude/commands User scan
    root claude_code $PROJECT/.claude/commands Project scan
    claude_code $HOME/.claude/commands/plan.md Verbatim command:plan:plan.md@upstream
    claude_code $PROJECT/.claude/commands/plan.md Verbatim command:plan:plan.md@upstream
    ");
}

#[test]
fn claude_code_with_everything() {
    let world = world(
        "  claude_code: {mode: files, scope: both, options: {write_user_skills: true, write_repo_skills: true, write_claude_md_repo: true, write_claude_md_user: true}}\n  codex: {mode: files, scope: both, options: {write_user_prompts: false, write_user_skills: false, write_repo_skills: false}}\n",
    );
    insta::assert_snapshot!(world.rendered(), @"
    root claude_code $HOME/.claude User
    root claude_code $HOME/.claude/commands User scan
    root claude_code $HOME/.claude/skills User scan
    root claude_code $PROJECT Project
    root claude_code $PROJECT/.claude/commands Project scan
    root claude_code $PROJECT/.claude/skills Project scan
    root codex $HOME/.codex User
    root codex $PROJECT Project
    claude_code $HOME/.claude/CLAUDE.md Generated instructions:base:AGENTS.md@upstream instructions:more:AGENTS.md@upstream
    claude_code $HOME/.claude/commands/plan.md Verbatim command:plan:plan.md@upstream
    claude_code $HOME/.claude/skills/demo/SKILL.md Verbatim skill:demo:SKILL.md@upstream
    claude_code $HOME/.claude/skills/demo/scripts/run.sh Verbatim skill:demo:scripts/run.sh@upstream
    claude_code $PROJECT/.claude/commands/plan.md Verbatim command:plan:plan.md@upstream
    claude_code $PROJECT/.claude/skills/demo/SKILL.md Verbatim skill:demo:SKILL.md@upstream
    claude_code $PROJECT/.claude/skills/demo/scripts/run.sh Verbatim skill:demo:scripts/run.sh@upstream
    claude_code $PROJECT/CLAUDE.md Generated instructions:base:AGENTS.md@upstream instructions:more:AGENTS.md@upstream
    codex $HOME/.codex/AGENTS.md Aggregate instructions:base:AGENTS.md@upstream instructions:more:AGENTS.md@upstream
    codex $PROJECT/AGENTS.md Aggregate instructions:base:AGENTS.md@upstream instructions:more:AGENTS.md@upstream
    ");
    let desired = world.render().unwrap();
    assert_eq!(world.text(&desired, "$PROJECT/CLAUDE.md"), "@AGENTS.md\n");
    assert_eq!(
        world.text(&desired, "$HOME/.claude/CLAUDE.md"),
        "@~/.codex/AGENTS.md\n"
    );
}

/// What `CLAUDE.md` says, by how `AGENTS.md` is managed.
#[test]
fn claude_md_imports_only_what_is_managed_alike() {
    let claude = "scope: both, options: {write_claude_md_repo: true, write_claude_md_user: true, write_user_commands: false, write_repo_commands: false";
    let codex = "scope: both, options: {write_user_prompts: false, write_user_skills: false, write_repo_skills: false";
    let whole = "<!-- agentpack:module=instructions:base -->\n# Base\n<!-- /agentpack -->\n\n---\n\n<!-- agentpack:module=instructions:more -->\n# More\n<!-- /agentpack -->";
    for (name, targets, repo, user) in [
        (
            "no codex",
            format!("  claude_code: {{mode: files, {claude}}}}}\n"),
            whole,
            whole,
        ),
        (
            "inline",
            format!(
                "  claude_code: {{mode: files, {claude}, claude_md: inline}}}}\n  codex: {{mode: files, {codex}}}}}\n"
            ),
            whole,
            whole,
        ),
        (
            "codex for the project only",
            format!(
                "  claude_code: {{mode: files, {claude}}}}}\n  codex: {{mode: files, scope: project}}\n"
            ),
            "@AGENTS.md\n",
            whole,
        ),
        (
            "AGENTS.md switched off in the project",
            format!(
                "  claude_code: {{mode: files, {claude}}}}}\n  codex: {{mode: files, {codex}, write_agents_repo_root: false}}}}\n"
            ),
            whole,
            "@~/.codex/AGENTS.md\n",
        ),
        (
            "codex elsewhere",
            format!(
                "  claude_code: {{mode: files, {claude}}}}}\n  codex: {{mode: files, {codex}, codex_home: /srv/codex}}}}\n"
            ),
            "@AGENTS.md\n",
            "@/srv/codex/AGENTS.md\n",
        ),
        (
            "codex behind a blank",
            format!(
                "  claude_code: {{mode: files, {claude}}}}}\n  codex: {{mode: files, {codex}, codex_home: '/srv/a b'}}}}\n"
            ),
            "@AGENTS.md\n",
            whole,
        ),
    ] {
        let mut world = world(&targets);
        // A filter must not change what a file says.
        for target in [None, Some(Target::ClaudeCode)] {
            world.target = target;
            let desired = world.render().unwrap();
            assert_eq!(world.text(&desired, "$PROJECT/CLAUDE.md"), repo, "{name}");
            assert_eq!(
                world.text(&desired, "$HOME/.claude/CLAUDE.md"),
                user,
                "{name}"
            );
        }
    }

    // Another choice of modules: importing would bring the wrong ones.
    let mut world = world(&format!(
        "  claude_code: {{mode: files, {claude}}}}}\n  codex: {{mode: files, {codex}}}}}\n"
    ));
    let more = world
        .manifest
        .modules
        .iter_mut()
        .find(|module| module.id == "instructions:more");
    more.unwrap().targets = vec![Target::ClaudeCode];
    let desired = world.render().unwrap();
    assert_eq!(world.text(&desired, "$PROJECT/CLAUDE.md"), whole);
    assert_eq!(world.text(&desired, "$PROJECT/AGENTS.md"), "# Base\n");
}

#[test]
fn cursor() {
    let world = world("  cursor: {mode: files, scope: project}\n");
    insta::assert_snapshot!(world.rendered(), @"
    root cursor $PROJECT/.cursor/rules Project scan
    cursor $PROJECT/.cursor/rules/instructions_base--d39861fff1.mdc CursorRule instructions:base:AGENTS.md@upstream
    cursor $PROJECT/.cursor/rules/instructions_more--70789dbd2a.mdc CursorRule instructions:more:AGENTS.md@upstream
    ");
    let desired = world.render().unwrap();
    let rule = world.short(&desired.files[0].path);
    insta::assert_snapshot!(world.text(&desired, &rule), @r#"
    ---
    description: "agentpack: instructions:base"
    globs: []
    alwaysApply: true
    ---

    # Base
    "#);
}

#[test]
fn vscode() {
    let world = world("  vscode: {mode: files, scope: project}\n");
    insta::assert_snapshot!(world.rendered(), @"
    root vscode $PROJECT/.github Project
    root vscode $PROJECT/.github/prompts Project scan
    vscode $PROJECT/.github/copilot-instructions.md Aggregate instructions:base:AGENTS.md@upstream instructions:more:AGENTS.md@upstream
    vscode $PROJECT/.github/prompts/draft.prompt.md Verbatim prompt:draft:draft.md@upstream
    ");
}

#[test]
fn vscode_prompts_end_in_prompt_md_once() {
    let mut text = "targets:\n  vscode: {mode: files, scope: project}\nmodules:\n".to_owned();
    text += &module("prompt:a", "prompt", "a.md");
    text += &module("prompt:b", "prompt", "b.prompt.md");
    let world = World::new(&text);
    world.file("a.md", "a").file("b.prompt.md", "b");
    insta::assert_snapshot!(world.rendered(), @"
    root vscode $PROJECT/.github Project
    root vscode $PROJECT/.github/prompts Project scan
    vscode $PROJECT/.github/prompts/a.prompt.md Verbatim prompt:a:a.md@upstream
    vscode $PROJECT/.github/prompts/b.prompt.md Verbatim prompt:b:b.prompt.md@upstream
    ");
}

#[test]
fn jetbrains_and_zed() {
    let world =
        world("  jetbrains: {mode: files, scope: project}\n  zed: {mode: files, scope: both}\n");
    insta::assert_snapshot!(world.rendered(), @"
    root jetbrains $PROJECT/.junie Project scan
    root zed $PROJECT Project
    jetbrains $PROJECT/.junie/guidelines.md Aggregate instructions:base:AGENTS.md@upstream instructions:more:AGENTS.md@upstream
    zed $PROJECT/.rules Aggregate instructions:base:AGENTS.md@upstream instructions:more:AGENTS.md@upstream
    ");
}

#[test]
fn project_targets_can_be_switched_off() {
    let world = world(
        "  cursor: {mode: files, scope: project, options: {write_rules: false}}\n  vscode: {mode: files, scope: project, options: {write_instructions: false, write_prompts: false}}\n  jetbrains: {mode: files, scope: project, options: {write_guidelines: false}}\n  zed: {mode: files, scope: project, options: {write_rules: false}}\n",
    );
    assert_eq!(world.rendered(), "");
}

#[test]
fn export_dir() {
    let world = world(
        "  export_dir: {mode: files, scope: both, options: {root: out, scan_extras: false}}\n",
    );
    insta::assert_snapshot!(world.rendered(), @"
    root export_dir $PROJECT/out/project Project
    root export_dir $PROJECT/out/user User
    export_dir $PROJECT/out/project/AGENTS.md Aggregate instructions:base:AGENTS.md@upstream instructions:more:AGENTS.md@upstream
    export_dir $PROJECT/out/project/commands/plan.md Verbatim command:plan:plan.md@upstream
    export_dir $PROJECT/out/project/prompts/draft.md Verbatim prompt:draft:draft.md@upstream
    export_dir $PROJECT/out/project/skills/demo/SKILL.md Verbatim skill:demo:SKILL.md@upstream
    export_dir $PROJECT/out/project/skills/demo/scripts/run.sh Verbatim skill:demo:scripts/run.sh@upstream
    export_dir $PROJECT/out/user/AGENTS.md Aggregate instructions:base:AGENTS.md@upstream instructions:more:AGENTS.md@upstream
    export_dir $PROJECT/out/user/commands/plan.md Verbatim command:plan:plan.md@upstream
    export_dir $PROJECT/out/user/prompts/draft.md Verbatim prompt:draft:draft.md@upstream
    export_dir $PROJECT/out/user/skills/demo/SKILL.md Verbatim skill:demo:SKILL.md@upstream
    export_dir $PROJECT/out/user/skills/demo/scripts/run.sh Verbatim skill:demo:scripts/run.sh@upstream
    ");
}

#[test]
fn export_dir_roots() {
    for (scope, root, expected) in [
        ("user", "~/out", "$HOME/out"),
        ("project", "out", "$PROJECT/out"),
        ("both", "/srv/out", "/srv/out/project /srv/out/user"),
    ] {
        let world = world(&format!(
            "  export_dir: {{mode: files, scope: {scope}, options: {{root: {root}}}}}\n"
        ));
        let desired = world.render().unwrap();
        let roots: Vec<String> = desired
            .roots
            .iter()
            .map(|root| world.short(&root.path))
            .collect();
        assert_eq!(roots.join(" "), expected);
        assert!(desired.roots.iter().all(|root| root.scan_extras));
    }
    let world = world("  export_dir: {mode: files, scope: user}\n");
    insta::assert_snapshot!(world.problem(), @r#"
    E_CONFIG_INVALID: target export_dir needs options.root: the directory to export to
    {
      "option": "root",
      "reason_code": "config_invalid",
      "target": "export_dir"
    }
    "#);
}

#[test]
fn one_module_is_copied_as_it_is() {
    let mut world = world("  zed: {mode: files, scope: project}\n");
    world
        .manifest
        .modules
        .retain(|module| module.id == "instructions:more");
    let desired = world.render().unwrap();
    assert_eq!(world.text(&desired, "$PROJECT/.rules"), "# More");
}

#[test]
fn a_target_filter_must_name_a_configured_target() {
    let mut world =
        world("  zed: {mode: files, scope: project}\n  jetbrains: {mode: files, scope: project}\n");
    world.target = Some(Target::Zed);
    let desired = world.render().unwrap();
    assert!(desired.roots.iter().all(|root| root.target == Target::Zed));
    world.target = Some(Target::Codex);
    assert_eq!(world.render().unwrap_err().code().name, "E_CONFIG_INVALID");
}

#[test]
fn without_a_project_only_user_scope_works() {
    let mut world = world("  codex: {mode: files, scope: both}\n");
    world.project = None;
    insta::assert_snapshot!(world.problem(), @r#"
    E_CONFIG_INVALID: target codex writes into a project, but no project is set; start the server with --project <dir>, or give the target scope user
    {
      "reason_code": "config_invalid",
      "scope": "both",
      "target": "codex"
    }
    "#);
    let mut world = self::world(
        "  codex: {mode: files, scope: both}\n  claude_code: {mode: files, scope: user, options: {write_claude_md_user: true}}\n",
    );
    world.project = None;
    world.target = Some(Target::ClaudeCode);
    let desired = world.render().unwrap();
    assert_eq!(
        world.text(&desired, "$HOME/.claude/CLAUDE.md"),
        "@~/.codex/AGENTS.md\n"
    );
}

#[test]
fn module_targets_limit_where_it_goes() {
    let mut world =
        world("  zed: {mode: files, scope: project}\n  jetbrains: {mode: files, scope: project}\n");
    world.manifest.modules[1].targets = vec![Target::Jetbrains];
    let desired = world.render().unwrap();
    assert_eq!(world.text(&desired, "$PROJECT/.rules"), "# Base\n");
    assert!(
        world
            .text(&desired, "$PROJECT/.junie/guidelines.md")
            .contains("# More")
    );
}

#[test]
fn unused_modules_are_not_read() {
    let mut text = "targets:\n  zed: {mode: files, scope: project}\nmodules:\n".to_owned();
    text += &module("instructions:base", "instructions", "base");
    text += &module("skill:gone", "skill", "not/there");
    let world = World::new(&text);
    world.file("base/AGENTS.md", "# Base\n");
    assert!(world.render().is_ok());
}

#[test]
fn must_4_ids_cannot_escape_their_root() {
    for id in [
        "skill:../../evil",
        "skill:/etc",
        "skill:..",
        "skill:",
        "skill:a/../../b",
    ] {
        let mut text = "targets:\n  codex: {mode: files, scope: user}\nmodules:\n".to_owned();
        text += &module(id, "skill", "s");
        let world = World::new(&text);
        world.skill("s");
        let problem = world.render().unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{id}");
        assert_eq!(problem.details()["module_id"], id);
    }
}

#[test]
fn names_come_from_ids() {
    let mut text = "targets:\n  codex: {mode: files, scope: user}\nmodules:\n".to_owned();
    text += &module("skill:team/demo", "skill", "s");
    text += &module("plain.id", "skill", "s");
    let world = World::new(&text);
    world.skill("s");
    let desired = world.render().unwrap();
    let paths: Vec<String> = desired
        .files
        .iter()
        .map(|file| world.short(&file.path))
        .collect();
    assert_eq!(
        paths,
        [
            "$HOME/.codex/skills/plain_id/SKILL.md",
            "$HOME/.codex/skills/team/demo/SKILL.md"
        ]
    );
}

#[test]
fn one_path_has_one_content() {
    let mut text = "targets:\n  codex: {mode: files, scope: user}\nmodules:\n".to_owned();
    text += &module("prompt:a", "prompt", "a/p.md");
    text += &module("prompt:b", "prompt", "b/p.md");
    let world = World::new(&text);
    world.file("a/p.md", "same").file("b/p.md", "same");
    let desired = world.render().unwrap();
    assert_eq!(desired.files.len(), 1);
    assert_eq!(desired.files[0].module_ids, ["prompt:a", "prompt:b"]);
    assert_eq!(desired.files[0].origins.len(), 2);

    write(&world.repo().join("b/p.md"), "other");
    insta::assert_snapshot!(world.problem(), @r#"
    E_DESIRED_STATE_CONFLICT: modules prompt:a and prompt:b want different content at $HOME/.codex/prompts/p.md of codex; rename one, exclude one, or limit its targets
    {
      "existing": {
        "module_ids": [
          "prompt:a"
        ],
        "sha256": "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5"
      },
      "new": {
        "module_ids": [
          "prompt:b"
        ],
        "sha256": "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa"
      },
      "path": "$HOME/.codex/prompts/p.md",
      "path_posix": "$HOME/.codex/prompts/p.md",
      "reason_code": "desired_state_conflict",
      "target": "codex"
    }
    "#);
}

#[test]
fn a_file_cannot_be_inside_a_file() {
    let mut text = "targets:\n  codex: {mode: files, scope: user}\nmodules:\n".to_owned();
    text += &module("skill:a", "skill", "a");
    text += &module("skill:a/b", "skill", "b");
    let world = World::new(&text);
    world
        .skill("a")
        .skill("b")
        .file("a/b", "a file")
        .file("a/b-c", "between");
    let problem = world.render().unwrap_err();
    assert_eq!(problem.code().name, "E_DESIRED_STATE_CONFLICT");
    assert_eq!(problem.details()["new"]["module_ids"][0], "skill:a/b");
}

#[test]
fn lists_are_in_byte_order() {
    let mut text = "targets:\n  codex: {mode: files, scope: user}\nmodules:\n".to_owned();
    text += &module("skill:a", "skill", "a");
    text += &module("skill:a-b", "skill", "a");
    let world = World::new(&text);
    world
        .skill("a")
        .file("a/x/y", "")
        .file("a/x-y", "")
        .file("a/x.y", "");
    let desired = world.render().unwrap();
    let paths: Vec<String> = desired
        .files
        .iter()
        .map(|file| file.path.display().to_string())
        .collect();
    assert!(paths.is_sorted(), "{paths:#?}");
}
