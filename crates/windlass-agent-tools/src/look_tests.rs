//! What the built-in policy says about calls, from what their tools see.

use serde_json::json;
use windlass_policy::{
    Attendance, Extent, Mode, Place, Policy, Profile, Sandbox, Taint, ToolClass, ToolRequest,
    Verdict,
};
use windlass_types::{Principal, Timestamp};

use crate::test_support::Session;

#[test]
fn calls_as_policy_decides_them() {
    let session = Session::new();
    let root = session.root();
    session.write("dir/a", "x");
    for index in 0..60 {
        session.write(&format!("many/{index}"), "x");
    }
    let text = |below: &str| root.join(below).display().to_string();
    let (work, home, own_home) = (text("work"), text("home"), text("home/.windlass"));
    let principal = Principal::local_agent("ada", "agent");
    let policy = Policy::built_in();
    let decided: Vec<String> = [
        ("view", json!({ "path": "dir/a" })),
        ("view", json!({ "path": "../outside/secret" })),
        ("view", json!({ "path": "~/.ssh/id_rsa" })),
        ("view", json!({ "path": "~/.windlass/auth.toml" })),
        ("create", json!({ "path": "new", "file_text": "" })),
        ("remove", json!({ "path": "dir", "recursive": true })),
        ("remove", json!({ "path": "many", "recursive": true })),
        ("run_command", json!({ "command": "git status" })),
        ("run_command", json!({ "command": "make" })),
        ("run_command", json!({ "command": "rm -rf ../x" })),
        (
            "run_command",
            json!({ "command": "rm -rf x", "cwd": "dir" }),
        ),
        (
            "run_command",
            json!({ "command": "git status", "env": { "LD_PRELOAD": "x.so" } }),
        ),
        (
            "run_command",
            json!({ "command": "git status [REDACTED_SECRET:a:bbbbbb]" }),
        ),
        ("run_command_task", json!({ "command": "npm start" })),
        ("view_web_page", json!({ "url": "https://example.org" })),
        ("generate_password", json!({})),
        (
            "ask_user",
            json!({ "questions": [{ "label": "a", "question": "b" }] }),
        ),
        ("get_all_tasks", json!({ "view": "" })),
        ("load_skill", json!({ "uri": "a" })),
    ]
    .into_iter()
    .map(|(tool, input)| {
        let places = &session.context.places;
        let look = session.tools.look(tool, &input, places).unwrap();
        let request = look.fill(ToolRequest {
            tool,
            class: ToolClass::Unknown,
            script: None,
            paths: &[],
            hosts: &[],
            principal: &principal,
            mode: Mode::Ask,
            profile: Profile::Default,
            attendance: Attendance::Attended,
            taint: Taint::Clean,
            sandbox: Sandbox::On,
            place: Place {
                work_tree: &work,
                directory: &work,
                home: &home,
                own_home: &own_home,
                scratch: &[],
            },
            extent: Extent::default(),
            grants: &[],
            now: Timestamp::EPOCH,
        });
        let decision = policy.decide_tool(&request);
        let verdict = match decision.verdict {
            Verdict::Allow => "allow",
            Verdict::Ask { .. } => "ask",
            Verdict::Deny => "deny",
        };
        let told = format!("{verdict:5} {tool} {input}: {}", decision.rule);
        told.replace(root.to_str().unwrap(), "")
    })
    .collect();
    insta::assert_snapshot!(decided.join("\n"), @r#"
    allow view {"path":"dir/a"}: built-in: class read is allowed
    ask   view {"path":"../outside/secret"}: built-in: class read-outside asks
    deny  view {"path":"~/.ssh/id_rsa"}: built-in: guard credentials
    deny  view {"path":"~/.windlass/auth.toml"}: built-in: guard credentials
    ask   create {"file_text":"","path":"new"}: built-in: class write asks
    ask   remove {"path":"dir","recursive":true}: built-in: class write asks
    ask   remove {"path":"many","recursive":true}: built-in: guard blast-radius
    allow run_command {"command":"git status"}: read-only: git status
    ask   run_command {"command":"make"}: built-in: commands ask
    ask   run_command {"command":"rm -rf ../x"}: built-in: guard delete-outside
    ask   run_command {"command":"rm -rf x","cwd":"dir"}: built-in: commands ask
    ask   run_command {"command":"git status","env":{"LD_PRELOAD":"x.so"}}: built-in: commands ask
    ask   run_command {"command":"git status [REDACTED_SECRET:a:bbbbbb]"}: built-in: commands ask
    ask   run_command_task {"command":"npm start"}: built-in: commands ask
    ask   view_web_page {"url":"https://example.org"}: built-in: class network asks
    ask   generate_password {}: built-in: class secret asks
    allow ask_user {"questions":[{"label":"a","question":"b"}]}: built-in: class meta is allowed
    allow get_all_tasks {"view":""}: built-in: class read is allowed
    allow load_skill {"uri":"a"}: built-in: class read is allowed
    "#);
}
