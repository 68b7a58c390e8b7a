//! Must 29: every type says in the same way what its files lack.

use super::world::{World, module};

fn world(kind: &str, files: &[(&str, &str)]) -> World {
    let text = format!(
        "targets:\n  codex: {{mode: files, scope: both}}\n  claude_code: {{mode: files, scope: both}}\nmodules:\n{}",
        module("m:x", kind, "m")
    );
    let world = World::new(&text);
    fs_err::create_dir_all(world.repo().join("m")).unwrap();
    for (path, text) in files {
        world.file(&format!("m/{path}"), text);
    }
    world
}

/// Type, files, and a detail with its value.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);

#[test]
fn must_29_shape_failures_share_their_details() {
    let front = |fields: &str| format!("---\n{fields}\n---\nbody\n");
    let bash = format!("{}!bash ls\n", front("description: d"));
    let bash_quoted = format!(
        "{}!`bash`\n",
        front("description: d\nallowed-tools: [Read]")
    );
    let (no_name, no_description, blank, number, list) = (
        front("description: d"),
        front("name: n"),
        front("name: ' '\ndescription: d"),
        front("name: n\ndescription: 7"),
        front("- a"),
    );
    let cases: &[Case<'_>] = &[
        ("instructions", &[], "missing", "AGENTS.md"),
        (
            "instructions",
            &[("README.md", "x")],
            "missing",
            "AGENTS.md",
        ),
        (
            "instructions",
            &[("sub/AGENTS.md", "x")],
            "missing",
            "AGENTS.md",
        ),
        ("skill", &[("README.md", "x")], "missing", "SKILL.md"),
        (
            "skill",
            &[("SKILL.md", "# no frontmatter\n")],
            "missing",
            "frontmatter",
        ),
        (
            "skill",
            &[("SKILL.md", "---\nname: n\n")],
            "field",
            "frontmatter",
        ),
        (
            "skill",
            &[("SKILL.md", "---\na: [\n---\n")],
            "field",
            "frontmatter",
        ),
        ("skill", &[("SKILL.md", &list)], "field", "frontmatter"),
        ("skill", &[("SKILL.md", &no_name)], "missing", "name"),
        (
            "skill",
            &[("SKILL.md", &no_description)],
            "missing",
            "description",
        ),
        ("skill", &[("SKILL.md", &blank)], "field", "name"),
        ("skill", &[("SKILL.md", &number)], "field", "description"),
        ("prompt", &[], "expected", "exactly one file, named .md"),
        (
            "prompt",
            &[("a.md", ""), ("b.md", "")],
            "expected",
            "exactly one file, named .md",
        ),
        ("prompt", &[("a.txt", "")], "path", "a.txt"),
        (
            "command",
            &[("a.md", ""), ("b.md", "")],
            "expected",
            "exactly one file, named .md",
        ),
        (
            "command",
            &[("a.md", "no frontmatter")],
            "missing",
            "frontmatter",
        ),
        (
            "command",
            &[("a.md", &no_description)],
            "missing",
            "description",
        ),
        ("command", &[("a.md", &bash)], "field", "allowed-tools"),
        (
            "command",
            &[("a.md", &bash_quoted)],
            "field",
            "allowed-tools",
        ),
        ("subagent", &[("a.txt", "")], "path", "a.txt"),
        ("subagent", &[("a.md", &no_name)], "missing", "name"),
        (
            "subagent",
            &[("a.md", "---\nname: ../x\ndescription: d\n---\n")],
            "field",
            "name",
        ),
    ];
    for (kind, files, detail, value) in cases {
        let problem = world(kind, files).render().unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{kind} {files:?}");
        let details = problem.details();
        assert_eq!(details[*detail], *value, "{kind} {files:?} {details:?}");
        assert_eq!(details["module_id"], "m:x");
        assert_eq!(details["module_type"], *kind);
        assert!(details.contains_key("expected"), "{details:?}");
        assert!(problem.message().contains("m:x"), "{problem}");
    }
}

#[test]
fn well_formed_modules_pass() {
    let bash =
        "---\ndescription: d\nallowed-tools: Bash(git status), Read\n---\n!bash git status\n";
    let list = "---\ndescription: d\nallowed-tools:\n  - Read\n  - Bash(ls)\n---\n!`bash` ls\n";
    for (kind, path, text) in [
        ("instructions", "AGENTS.md", ""),
        (
            "skill",
            "SKILL.md",
            "---\r\nname: n\r\ndescription: d\r\n---\r\n",
        ),
        ("prompt", "deep/p.md", "anything"),
        ("command", "c.md", bash),
        ("command", "c.md", list),
        (
            "command",
            "c.md",
            "---\ndescription: d\n---\nno shell here\n",
        ),
        ("subagent", "a.md", "---\nname: a\ndescription: d\n---\n"),
    ] {
        let rendered = world(kind, &[(path, text)]).render();
        assert!(rendered.is_ok(), "{kind} {text} {:?}", rendered.err());
    }
}

#[test]
fn instructions_must_be_text() {
    let world = world("instructions", &[]);
    fs_err::write(world.repo().join("m/AGENTS.md"), b"\xff").unwrap();
    let problem = world.render().unwrap_err();
    assert_eq!(problem.details()["expected"], "UTF-8 text");
}

#[test]
fn the_shape_of_what_overlays_leave_counts() {
    let world = world("prompt", &[("a.md", "a")]);
    let key = windlass_pack_model::module_id::module_fs_key("m:x");
    world.file(&format!("overlays/{key}/b.md"), "b");
    let problem = world.render().unwrap_err();
    assert_eq!(
        problem.details()["files"],
        serde_json::json!(["a.md", "b.md"])
    );
}
