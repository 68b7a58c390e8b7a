//! Files and commands: by what they are run, where, with which output.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use windlass_stack_lifecycle::lines::Level;

use super::world::World;

#[tokio::test]
async fn every_kind_of_file_is_run() {
    for (name, text, expected) in [
        ("a.js", "console.log('js', process.argv.length)", "js 2"),
        ("a.mjs", "await 0; console.log('mjs')", "mjs"),
        (
            "a.cjs",
            "console.log('cjs', typeof require)",
            "cjs function",
        ),
        (
            "a.py",
            "import sys; print('py', sys.version_info[0])",
            "py 3",
        ),
        ("a.sh", "echo sh", "sh"),
        ("noted", "#!/bin/sh\necho noted", "noted"),
        ("by-env", "#!/usr/bin/env python3\nprint('env')", "env"),
        ("deep/er.sh", "echo deeper", "deeper"),
    ] {
        let done = World::new(json!({ "executeScript": name }))
            .file(name, text)
            .run()
            .await;
        assert_eq!(done.result.as_ref().map(|it| it.exit_code), Ok(0), "{name}");
        assert_eq!(done.tail(), expected, "{name}");
        assert_eq!(done.lines, [(Level::Info, expected.to_owned())], "{name}");
        assert!(done.asked.is_empty(), "{name} asked AWS: {:?}", done.asked);
    }
}

#[tokio::test]
async fn an_executable_file_runs_itself() {
    let world = World::new(json!({ "executeScript": "tool" })).file("tool", "#!/bin/sh\necho me");
    let tool = world.folder.path().join("tool");
    fs_err::set_permissions(tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(world.run().await.tail(), "me");
}

#[tokio::test]
async fn typescript_runs_with_a_suitable_interpreter() {
    let tsx = "#!/bin/sh\necho tsx \"$(basename \"$1\")\"";
    let world = World::new(json!({ "executeScript": "scripts/a.ts" }))
        .file("scripts/a.ts", "const a: number = 1;")
        .file("node_modules/.bin/tsx", tsx);
    let program = world.folder.path().join("node_modules/.bin/tsx");
    fs_err::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(world.run().await.tail(), "tsx a.ts");

    // Node of some version, and an esbuild: one makes a file of it, the other runs that.
    let fake = |world: &World, name: &str, text: &str| {
        let place = world.folder.path().join(name);
        fs_err::write(&place, text).unwrap();
        fs_err::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
        Some(place)
    };
    let world = || World::new(json!({ "executeScript": "a.ts" })).file("a.ts", "let a: 1;");
    let node = |version: &str| {
        format!("#!/bin/sh\n[ \"$1\" = --version ] && echo {version} && exit\necho node \"$@\"")
    };
    for (version, expected) in [
        ("v24.1.0", "node {}/a.ts"),
        ("v22.7.1", "node --experimental-strip-types {}/a.ts"),
    ] {
        let mut world = world();
        world.interpreters.node = fake(&world, "node", &node(version));
        let folder = world.folder.path().display().to_string();
        assert_eq!(world.run().await.tail(), expected.replace("{}", &folder));
    }
    let mut old = world();
    old.interpreters.node = fake(&old, "node", &node("v20.1.0"));
    (old.interpreters.tsx, old.interpreters.esbuild) = (None, None);
    assert_eq!(
        old.run().await.code_and_reason(),
        ("INVALID_INPUT", "typescript_not_found".to_owned())
    );
    let mut bundled = world();
    bundled.interpreters.node = fake(
        &bundled,
        "node",
        "#!/bin/sh\n[ \"$1\" = --version ] && echo v20.1.0 && exit\ncat \"$1\"",
    );
    bundled.interpreters.tsx = None;
    let esbuild = "#!/bin/sh\nfor a; do case $a in --outfile=*) echo \"bundle of $1\" > \"${a#--outfile=}\";; esac; done";
    bundled.interpreters.esbuild = fake(&bundled, "esbuild", esbuild);
    let folder = bundled.folder.path().display().to_string();
    assert_eq!(
        bundled.run().await.tail(),
        format!("bundle of {folder}/a.ts")
    );
}

#[tokio::test]
async fn commands_run_in_order_until_one_fails() {
    let commands = json!({ "executeCommands": ["echo one", "echo two >&2; exit 3", "echo three"] });
    let done = World::new(commands).run().await;
    assert_eq!(
        done.code_and_reason(),
        ("STEP_FAILED", "script_failed".to_owned())
    );
    let problem = done.result.as_ref().unwrap_err();
    assert_eq!(problem.details()["exitCode"], 3);
    assert_eq!(problem.details()["script"], "it");
    assert_eq!(problem.details()["outputTail"], "one\ntwo");
    insta::assert_snapshot!(problem.message(), @r#"the script "it" failed: `echo two >&2; exit 3` ended with code 3"#);
    assert_eq!(
        done.lines,
        [
            (Level::Info, "one".to_owned()),
            (Level::Warn, "two".to_owned())
        ]
    );
}

#[tokio::test]
async fn the_directory_is_where_the_command_was_started() {
    let world = World::new(json!({ "executeCommand": "pwd", "cwd": "sub" })).file("sub/x", "");
    let expected = fs_err::canonicalize(world.folder.path().join("sub")).unwrap();
    assert_eq!(world.run().await.tail(), expected.to_str().unwrap());
    let done = World::new(json!({ "executeCommand": "pwd", "cwd": "gone" }))
        .run()
        .await;
    assert_eq!(
        done.code_and_reason(),
        ("INVALID_INPUT", "directory_missing".to_owned())
    );
}

#[tokio::test]
async fn output_is_plain_bounded_and_kept_quiet_where_asked() {
    let script =
        "i=0; while [ $i -lt 200 ]; do printf '\\033[31mline %s\\033[0m\\n' $i; i=$((i+1)); done";
    let done = World::new(json!({ "executeCommand": script, "pipeStdio": false }))
        .run()
        .await;
    assert_eq!(done.lines, []);
    assert_eq!(done.tail().lines().count(), 80);
    assert!(
        done.tail().ends_with("line 198\nline 199"),
        "{}",
        done.tail()
    );
}
