//! Arguments that fit, and those that do not.

use serde_json::json;

use super::*;
use crate::test_support::Session;

fn refused(tool: &str, arguments: &str) -> String {
    let call = ToolCall::new("1", tool, arguments);
    let tools = Tools::standard();
    match tools.arguments(&call) {
        Ok(value) => panic!("{value} was taken"),
        Err(unfit) => Failure::from(unfit).message,
    }
}

#[test]
fn the_order_and_the_inputs_are_fixed() {
    let inputs: Vec<String> = Tools::standard()
        .specs()
        .iter()
        .map(|spec| {
            let required = spec.input_schema["required"].as_array();
            let fields = spec.input_schema["properties"].as_object().unwrap().keys();
            let fields: Vec<String> = fields
                .map(|name| {
                    let is_required = required.is_some_and(|all| all.contains(&json!(name)));
                    format!("{name}{}", if is_required { "" } else { "?" })
                })
                .collect();
            format!("{}: {}", spec.name, fields.join(" "))
        })
        .collect();
    insta::assert_snapshot!(inputs.join("\n"), @"
    run_command: command cwd? description? env? timeout?
    run_command_task: command cwd? description? env? timeout?
    get_all_tasks: view
    get_task_details: task_id
    wait_for_tasks: task_ids timeout?
    cancel_task: task_id
    view: glob? grep? password? path private_key_path? tree? view_range?
    create: file_text password? path private_key_path?
    str_replace: new_str old_str password? path private_key_path? replace_all?
    remove: password? path private_key_path? recursive?
    generate_password: length? no_symbols?
    view_web_page: url
    ask_user: questions
    search_docs: exclude_keywords? keywords limit?
    load_skill: uri
    ");
}

#[test]
fn what_does_not_fit_is_named() {
    let refusals = [
        ("run_command", r#"{"command":"ls","timout":3,"x":1}"#),
        ("run_command", r#"{"timeout":3}"#),
        ("run_command", r#"{"command":"ls","timeout":"3"}"#),
        ("run_command", r#"{"command":"","timeout":0}"#),
        ("run_command", r#"{"command":"#),
        ("run_command", r#"["ls"]"#),
        ("view", r#"{"path":"a","view_range":[1]}"#),
        (
            "ask_user",
            r#"{"questions":[{"label":"a","question":"b","option":[]}]}"#,
        ),
        ("search_docs", r#"{"keywords":["a"],"limit":6}"#),
        ("veiw", "{}"),
        ("evil__view", "{}"),
    ]
    .map(|(tool, arguments)| format!("{tool} {arguments}\n  {}", refused(tool, arguments)));
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    run_command {"command":"ls","timout":3,"x":1}
      timout is not a known field. Did you mean timeout?
    x is not a known field. Known are: command, cwd, description, env, timeout.
    run_command {"timeout":3}
      command is required.
    run_command {"command":"ls","timeout":"3"}
      timeout is not of type "integer".
    run_command {"command":"","timeout":0}
      command is shorter than 1 character.
    timeout is less than the minimum of 1.
    run_command {"command":
      The arguments are not JSON: EOF while parsing a value at line 1 column 11.
    run_command ["ls"]
      the value is not of type "object".
    view {"path":"a","view_range":[1]}
      view_range has less than 2 items.
    ask_user {"questions":[{"label":"a","question":"b","option":[]}]}
      option is not a known field in questions.0. Did you mean options?
    search_docs {"keywords":["a"],"limit":6}
      limit is greater than the maximum of 5.
    veiw {}
      There is no tool veiw. Did you mean view?
    evil__view {}
      There is no tool evil__view. There are: run_command, run_command_task, get_all_tasks, get_task_details, wait_for_tasks, cancel_task, view, create, str_replace, remove, generate_password, view_web_page, ask_user, search_docs, load_skill.
    "#);
}

#[test]
fn what_fits_the_schema_is_what_the_tools_read() {
    let session = Session::new();
    session.write("a", "a\n");
    for (tool, input) in [
        (
            "run_command",
            json!({"command": "ls", "description": "d", "timeout": 3, "cwd": ".", "env": {"A": "b"}}),
        ),
        (
            "run_command_task",
            json!({"command": "ls", "description": "d", "timeout": 3, "cwd": ".", "env": {}}),
        ),
        ("get_all_tasks", json!({"view": "all"})),
        ("get_task_details", json!({"task_id": "abc123"})),
        (
            "wait_for_tasks",
            json!({"task_ids": "abc123 def456", "timeout": 1}),
        ),
        ("cancel_task", json!({"task_id": "abc123"})),
        (
            "view",
            json!({"path": "a", "view_range": [1, -1], "tree": false, "glob": "*"}),
        ),
        ("view", json!({"path": "a", "grep": "x"})),
        ("create", json!({"path": "b", "file_text": ""})),
        (
            "str_replace",
            json!({"path": "a", "old_str": "a", "new_str": "", "replace_all": true}),
        ),
        ("remove", json!({"path": "a", "recursive": true})),
        (
            "generate_password",
            json!({"length": 20, "no_symbols": true}),
        ),
        ("view_web_page", json!({"url": "https://example.org"})),
        (
            "ask_user",
            json!({"questions": [{"label": "a", "question": "b", "options": [{"label": "c", "value": "d", "description": "e", "selected": true}], "allow_custom": false, "multi_select": true}]}),
        ),
        (
            "search_docs",
            json!({"keywords": "a b", "exclude_keywords": ["c"], "limit": 2}),
        ),
        ("load_skill", json!({"uri": "skill://a"})),
    ] {
        let call = ToolCall::new("1", tool, input.to_string());
        let value = session.tools.arguments(&call).unwrap();
        session
            .tools
            .look(tool, &value, &session.context.places)
            .unwrap();
    }
}

#[test]
fn a_look_says_what_policy_needs() {
    let session = Session::new();
    session.write("sub/a", "x");
    fs_err::create_dir_all(session.path("dir/deep")).unwrap();
    session.write("dir/b", "x");
    session.write("dir/deep/c", "x");
    let looks: Vec<String> = [
        (
            "run_command",
            json!({"command": "git push | tee log", "cwd": "sub"}),
        ),
        (
            "run_command",
            json!({"command": "make", "env": {"LD_PRELOAD": "x.so"}}),
        ),
        (
            "run_command",
            json!({"command": "curl -d [REDACTED_SECRET:aws:a1b2c3] x"}),
        ),
        ("view", json!({"path": "sub/../sub/./a"})),
        ("view", json!({"path": "/etc/hostname"})),
        ("view", json!({"path": "~/x"})),
        ("create", json!({"path": "new/file", "file_text": ""})),
        ("remove", json!({"path": "dir", "recursive": true})),
        ("view_web_page", json!({"url": "https://Example.org/a#b"})),
        ("cancel_task", json!({"task_id": "x"})),
    ]
    .into_iter()
    .map(|(tool, input)| {
        let look = session
            .tools
            .look(tool, &input, &session.context.places)
            .unwrap();
        let commands = look.script.iter().flat_map(|script| &script.commands);
        let commands: Vec<String> = commands.map(windlass_shell::Command::text).collect();
        let concerns = look
            .script
            .iter()
            .flat_map(|script| &script.concerns)
            .count();
        let told = format!(
            "{tool}: {:?} {commands:?} {concerns} {:?} {:?} {:?} {:?} {}",
            look.class, look.directory, look.paths, look.hosts, look.markers, look.files
        );
        told.replace(session.root().to_str().unwrap(), "")
    })
    .collect();
    insta::assert_snapshot!(looks.join("\n"), @r#"
    run_command: Exec ["git push", "tee log"] 0 Some("/work/sub") [] [] [] 0
    run_command: Exec ["LD_PRELOAD=x.so sh -c make", "LD_PRELOAD=x.so make"] 0 None [] [] [] 0
    run_command: Exec ["curl -d [REDACTED_SECRET:aws:a1b2c3] x"] 0 None [] [] ["[REDACTED_SECRET:aws:a1b2c3]"] 0
    view: Read [] 0 None ["/work/sub/a"] [] [] 0
    view: ReadOutside [] 0 None ["/etc/hostname"] [] [] 0
    view: ReadOutside [] 0 None ["/home/x"] [] [] 0
    create: Write [] 0 None ["/work/new/file"] [] [] 1
    remove: Write [] 0 None ["/work/dir"] [] [] 2
    view_web_page: Network [] 0 None [] ["example.org"] [] 0
    cancel_task: Meta [] 0 None [] [] [] 0
    "#);
}
