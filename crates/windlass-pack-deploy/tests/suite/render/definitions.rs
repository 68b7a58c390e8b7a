//! MCP servers, hooks and sub-agents: files and keys of every target that knows them.

use windlass_pack_model::Target;

use super::world::{World, module};

const ALL: &str = "  claude_code: {mode: files, scope: project, options: {write_repo_commands: false}}\n  codex: {mode: files, scope: user, options: {write_agents_global: false, write_user_prompts: false, write_user_skills: false}}\n  cursor: {mode: files, scope: project, options: {write_rules: false}}\n  vscode: {mode: files, scope: project, options: {write_instructions: false, write_prompts: false}}\n  zed: {mode: files, scope: project, options: {write_rules: false}}\n";

fn world(targets: &str, kind: &str, file: &str, text: &str) -> World {
    let world = World::new(&format!(
        "targets:\n{targets}modules:\n{}",
        module("m:x", kind, &format!("m/{file}"))
    ));
    world.file(&format!("m/{file}"), text);
    world
}

#[test]
fn mcp_servers_over_stdio() {
    let world = world(
        ALL,
        "mcp_server",
        "s.yaml",
        "name: files\ntransport: stdio\ncommand: npx\nargs: ['-y', server, /srv]\nenv:\n  API_TOKEN: ${API_TOKEN}\n  PORT: 8080\n",
    );
    insta::assert_snapshot!(world.rendered(), @r#"
    root claude_code $PROJECT Project
    root codex $HOME/.codex User
    root cursor $PROJECT/.cursor Project
    root vscode $PROJECT/.vscode Project
    claude_code $PROJECT/.mcp.json#/mcpServers/files Json {"args":["-y","server","/srv"],"command":"npx","env":{"API_TOKEN":"${API_TOKEN}","PORT":"8080"},"type":"stdio"} m:x@upstream
    codex $HOME/.codex/config.toml#/mcp_servers/files Toml {"args":["-y","server","/srv"],"command":"npx","env":{"PORT":"8080"},"env_vars":["API_TOKEN"]} m:x@upstream
    cursor $PROJECT/.cursor/mcp.json#/mcpServers/files Json {"args":["-y","server","/srv"],"command":"npx","env":{"API_TOKEN":"${env:API_TOKEN}","PORT":"8080"},"type":"stdio"} m:x@upstream
    vscode $PROJECT/.vscode/mcp.json#/servers/files Json {"args":["-y","server","/srv"],"command":"npx","env":{"API_TOKEN":"${env:API_TOKEN}","PORT":"8080"},"type":"stdio"} m:x@upstream
    "#);
}

#[test]
fn mcp_servers_over_http() {
    let world = world(
        ALL,
        "mcp_server",
        "s.json",
        r#"{"name":"remote","transport":"http","url":"https://example.com/mcp","headers":{"Authorization":"Bearer ${TOKEN}","X-Key":"${KEY}","X-Team":"red"}}"#,
    );
    insta::assert_snapshot!(world.rendered(), @r#"
    root claude_code $PROJECT Project
    root codex $HOME/.codex User
    root cursor $PROJECT/.cursor Project
    root vscode $PROJECT/.vscode Project
    claude_code $PROJECT/.mcp.json#/mcpServers/remote Json {"headers":{"Authorization":"Bearer ${TOKEN}","X-Key":"${KEY}","X-Team":"red"},"type":"http","url":"https://example.com/mcp"} m:x@upstream
    codex $HOME/.codex/config.toml#/mcp_servers/remote Toml {"bearer_token_env_var":"TOKEN","env_http_headers":{"X-Key":"KEY"},"http_headers":{"X-Team":"red"},"url":"https://example.com/mcp"} m:x@upstream
    cursor $PROJECT/.cursor/mcp.json#/mcpServers/remote Json {"headers":{"Authorization":"Bearer ${env:TOKEN}","X-Key":"${env:KEY}","X-Team":"red"},"url":"https://example.com/mcp"} m:x@upstream
    vscode $PROJECT/.vscode/mcp.json#/servers/remote Json {"headers":{"Authorization":"Bearer ${env:TOKEN}","X-Key":"${env:KEY}","X-Team":"red"},"type":"http","url":"https://example.com/mcp"} m:x@upstream
    "#);
}

#[test]
fn hooks() {
    let text = "event: PreToolUse\nmatcher: Bash\ncommand: ./check.sh \"${CLAUDE_PROJECT_DIR:-.}\"\ntimeout_s: 10\n";
    insta::assert_snapshot!(world(ALL, "hook", "h.yml", text).rendered(), @r#"
    root claude_code $PROJECT/.claude Project
    root codex $HOME/.codex User
    claude_code $PROJECT/.claude/settings.json#/hooks/PreToolUse/- Json {"hooks":[{"command":"./check.sh \"${CLAUDE_PROJECT_DIR:-.}\"","timeout":10,"type":"command"}],"matcher":"Bash"} m:x@upstream
    codex $HOME/.codex/hooks.json#/hooks/PreToolUse/- Json {"hooks":[{"command":"./check.sh \"${CLAUDE_PROJECT_DIR:-.}\"","timeout":10,"type":"command"}],"matcher":"Bash"} m:x@upstream
    "#);
    let user = ALL.replace(
        "claude_code: {mode: files, scope: project",
        "claude_code: {mode: files, scope: user",
    );
    insta::assert_snapshot!(world(&user, "hook", "h.yml", "event: Stop\ncommand: x\n").rendered(), @r#"
    root claude_code $HOME/.claude User
    root claude_code $HOME/.claude/commands User scan
    root codex $HOME/.codex User
    claude_code $HOME/.claude/settings.json#/hooks/Stop/- Json {"hooks":[{"command":"x","type":"command"}]} m:x@upstream
    codex $HOME/.codex/hooks.json#/hooks/Stop/- Json {"hooks":[{"command":"x","type":"command"}]} m:x@upstream
    "#);
}

#[test]
fn subagents() {
    let text = "---\nname: reviewer\ndescription: Reviews \"changes\"\nmodel: inherit\n---\n\nRead the diff.\nSay what is wrong.\n";
    let world = world(ALL, "subagent", "rev.md", text);
    insta::assert_snapshot!(world.rendered(), @"
    root claude_code $PROJECT/.claude/agents Project scan
    root codex $HOME/.codex/agents User scan
    claude_code $PROJECT/.claude/agents/rev.md Verbatim m:x:rev.md@upstream
    codex $HOME/.codex/agents/reviewer.toml Generated m:x:rev.md@upstream
    ");
    let desired = world.render().unwrap();
    assert_eq!(world.text(&desired, "$PROJECT/.claude/agents/rev.md"), text);
    insta::assert_snapshot!(world.text(&desired, "$HOME/.codex/agents/reviewer.toml"), @r#"
    name = "reviewer"
    description = 'Reviews "changes"'
    developer_instructions = """
    Read the diff.
    Say what is wrong.
    """
    "#);
}

#[test]
fn where_there_is_no_place_there_is_a_warning() {
    let targets = "  claude_code: {mode: files, scope: user, options: {write_user_commands: false}}\n  codex: {mode: files, scope: project, options: {write_agents_repo_root: false, write_repo_skills: false}}\n";
    let world = world(
        targets,
        "mcp_server",
        "s.yaml",
        "name: a\ntransport: stdio\ncommand: a\n",
    );
    insta::assert_snapshot!(world.rendered(), @"
    warning: module m:x (mcp_server) is not deployed to claude_code: with scope user there is no place for it; Claude Code keeps shared servers in the project: use scope project or both, or leave claude_code out of the module's targets
    warning: module m:x (mcp_server) is not deployed to codex: with scope project there is no place for it; Codex keeps it in its home: use scope user or both, or leave codex out of the module's targets
    ");
}

#[test]
fn roots_of_new_types_exist_only_with_such_modules() {
    let world = world(ALL, "instructions", "AGENTS.md", "x");
    assert_eq!(world.rendered(), "");
}

#[test]
fn equal_keys_merge_and_different_ones_conflict() {
    let text = format!(
        "targets:\n{ALL}modules:\n{}{}",
        module("mcp:a", "mcp_server", "a.yaml"),
        module("mcp:b", "mcp_server", "b.yaml")
    );
    let world = World::new(&text);
    world
        .file("a.yaml", "name: s\ntransport: stdio\ncommand: x\n")
        .file("b.yaml", "{name: s, transport: stdio, command: x}");
    let desired = world.render().unwrap();
    assert_eq!(desired.keys.len(), 4);
    assert!(
        desired
            .keys
            .iter()
            .all(|key| key.module_ids == ["mcp:a", "mcp:b"])
    );
    world.file("b.yaml", "name: s\ntransport: stdio\ncommand: y\n");
    let problem = world.render().unwrap_err();
    assert_eq!(problem.code().name, "E_DESIRED_STATE_CONFLICT");
    assert_eq!(problem.details()["pointer"], "/mcpServers/s");
    assert_eq!(problem.details()["target"], "claude_code");
}

#[test]
fn hooks_of_one_event_are_listed_together() {
    let text = format!(
        "targets:\n{ALL}modules:\n{}{}{}",
        module("hook:a", "hook", "a.yaml"),
        module("hook:b", "hook", "b.yaml"),
        module("hook:c", "hook", "c.yaml")
    );
    let mut world = World::new(&text);
    world.target = Some(Target::Codex);
    world
        .file("a.yaml", "event: Stop\ncommand: one\n")
        .file("b.yaml", "event: Stop\ncommand: two\n")
        .file("c.yaml", "event: Stop\ncommand: one\n");
    let desired = world.render().unwrap();
    let mut ids: Vec<String> = desired
        .keys
        .iter()
        .map(|key| key.module_ids.join("+"))
        .collect();
    ids.sort();
    assert_eq!(ids, ["hook:a+hook:c", "hook:b"]);
}

#[test]
fn definitions_that_are_refused() {
    for (kind, text, field) in [
        (
            "mcp_server",
            "name: 'a b'\ntransport: stdio\ncommand: x\n",
            "name",
        ),
        ("mcp_server", "name: a\ntransport: stdio\n", "command"),
        ("mcp_server", "name: a\ntransport: http\n", "url"),
        (
            "mcp_server",
            "name: a\ntransport: http\nurl: ftp://x\n",
            "url",
        ),
        (
            "mcp_server",
            "name: a\ntransport: stdio\ncommand: x\nurl: https://x\n",
            "url",
        ),
        (
            "mcp_server",
            "name: a\ntransport: stdio\ncommand: x\nheaders: {A: b}\n",
            "headers",
        ),
        (
            "mcp_server",
            "name: a\ntransport: http\nurl: https://x\nenv: {A: b}\n",
            "env",
        ),
        (
            "mcp_server",
            "name: a\ntransport: stdio\ncommand: x\nenv: {A: '${A:-b}'}\n",
            "env.A",
        ),
        (
            "mcp_server",
            "name: a\ntransport: stdio\ncommand: x\nenv: {A: '${A'}\n",
            "env.A",
        ),
        ("hook", "event: ''\ncommand: x\n", "event"),
        ("hook", "event: a/b\ncommand: x\n", "event"),
        ("hook", "event: Stop\ncommand: ' '\n", "command"),
        (
            "hook",
            "event: Stop\ncommand: x\ntimeout_s: 0\n",
            "timeout_s",
        ),
    ] {
        let problem = world(ALL, kind, "d.yaml", text).render().unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{text}");
        assert_eq!(problem.details()["field"], field, "{text} {problem}");
    }
    for (kind, text) in [
        ("mcp_server", "name: a\ntransport: sse\nurl: https://x\n"),
        (
            "mcp_server",
            "name: a\ntransport: stdio\ncommand: x\ncomand: y\n",
        ),
        ("mcp_server", "- a\n"),
        ("hook", "event: Stop\n"),
        ("hook", "event: Stop\ncommand: x\ntimeout: 3\n"),
    ] {
        let problem = world(ALL, kind, "d.yaml", text).render().unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{text}");
        assert!(problem.details().contains_key("expected"), "{text}");
    }
}

#[test]
fn literal_secrets_are_refused_and_not_repeated() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    for (text, field) in [
        (
            format!("env: {{GITHUB_TOKEN: {token}}}"),
            "env.GITHUB_TOKEN",
        ),
        (format!("env: {{HARMLESS: {token}}}"), "env.HARMLESS"),
        ("env: {API_KEY: 'hunter2hunter2'}".to_owned(), "env.API_KEY"),
        (
            "env: {DB_PASSWORD: 'hunter2hunter2'}".to_owned(),
            "env.DB_PASSWORD",
        ),
        (format!("args: ['--token', {token}]"), "args[1]"),
        ("args: ['--api-key=hunter2hunter2']".to_owned(), "args[0]"),
        ("args: ['--password', hunter2hunter2]".to_owned(), "args[1]"),
        (
            "args: ['postgres://me:hunter2hunter2@db/x']".to_owned(),
            "args[0]",
        ),
    ] {
        let yaml = format!("name: a\ntransport: stdio\ncommand: x\n{text}\n");
        let problem = world(ALL, "mcp_server", "d.yaml", &yaml)
            .render()
            .unwrap_err();
        assert_eq!(problem.details()["field"], field, "{text}");
        let shown = format!("{problem} {:?}", problem.details());
        assert!(
            !shown.contains("hunter2") && !shown.contains(&token),
            "{shown}"
        );
    }
    for header in [
        "Authorization: Bearer abcdefghijkl",
        "Authorization: Basic YTpi",
        "X-Api-Key: hunter2hunter2",
        "Cookie: a=b",
    ] {
        let (name, value) = header.split_once(": ").unwrap();
        let yaml =
            format!("name: a\ntransport: http\nurl: https://x\nheaders: {{{name}: '{value}'}}\n");
        let problem = world(ALL, "mcp_server", "d.yaml", &yaml)
            .render()
            .unwrap_err();
        assert_eq!(
            problem.details()["field"],
            format!("headers.{name}"),
            "{header}"
        );
    }
    let hook = format!("event: Stop\ncommand: curl -H 'Authorization: token {token}' https://x\n");
    assert!(world(ALL, "hook", "h.yaml", &hook).render().is_err());
}

#[test]
fn harmless_literals_pass() {
    let targets = "  claude_code: {mode: files, scope: project}\n";
    let yaml = "name: a\ntransport: stdio\ncommand: x\nargs: ['--token', '${TOKEN}', '--port=80', '--verbose', run, '--auth=${USER}:${PASS}']\nenv:\n  MODE: production\n  GOOGLE_APPLICATION_CREDENTIALS: /etc/gcp.json\n  SSH_PRIVATE_KEY: ~/.ssh/id\n  API_KEY: '${API_KEY}'\n  DEBUG: ''\n";
    let rendered = world(targets, "mcp_server", "d.yaml", yaml).render();
    assert!(rendered.is_ok(), "{:?}", rendered.err());
}

#[test]
fn what_codex_cannot_express_is_refused_for_codex_alone() {
    for text in [
        "transport: stdio\ncommand: x\nenv: {A: '${B}'}",
        "transport: stdio\ncommand: x\nenv: {A: 'x${A}'}",
        "transport: stdio\ncommand: x\nargs: ['${A}']",
        "transport: stdio\ncommand: '${A}'",
        "transport: http\nurl: 'https://${HOST}/'",
        "transport: http\nurl: https://x\nheaders: {X: 'a ${A}'}",
    ] {
        let mut world = world(ALL, "mcp_server", "d.yaml", &format!("name: a\n{text}\n"));
        let problem = world.render().unwrap_err();
        assert_eq!(problem.details()["target"], "codex", "{text}");
        world.manifest.modules[0].targets =
            vec![Target::ClaudeCode, Target::Cursor, Target::Vscode];
        assert!(world.render().is_ok(), "{text}");
    }
}
