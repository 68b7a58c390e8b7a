//! The tool list that MCP clients get: what is in it, how large it is, and what the hints promise.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::support::{binary::windlass, home::Place, mcp::Session};

/// Bytes of the default list; slightly more than measured.
const LARGEST: usize = 70_000;

fn opened(place: &Place, options: &[&str]) -> Session {
    let mut command = windlass(&place.home());
    command.args(["mcp", "serve"]).args(options);
    Session::of(command)
}

fn tools(session: &mut Session) -> BTreeMap<String, Value> {
    let answer = session.request("tools/list", &json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.clone()))
        .collect()
}

#[test]
fn administration_is_offered_where_it_is_asked_for() {
    let place = Place::new();
    for (options, has_admin) in [
        (&[][..], false),
        (&["--toolset", "default"], false),
        (&["--toolset", "all"], true),
        (&["--toolset", "admin"], true),
        (&["--tools", "lean"], false),
    ] {
        let mut session = opened(&place, options);
        let call = json!({ "name": "admin_doctor", "arguments": {} });
        let answer = session.request("tools/call", &call);
        let is_lean = options.contains(&"lean");
        let listed = tools(&mut session);
        let admin = listed.keys().filter(|name| name.starts_with("admin_"));
        assert_eq!(admin.count() > 0, has_admin && !is_lean, "{options:?}");
        match has_admin {
            true => assert_eq!(answer["result"]["isError"], false, "{answer}"),
            false => {
                let message = answer["error"]["message"].as_str().unwrap();
                assert!(message.contains("--toolset admin"), "{message}");
            }
        }
    }
}

#[test]
fn the_list_is_compact_and_its_hints_are_true() {
    let place = Place::new();
    let mut session = opened(&place, &[]);
    let tools = tools(&mut session);
    let size = json!(tools.values().collect::<Vec<_>>()).to_string().len();
    assert!(size <= LARGEST, "{size} bytes");
    let outside = [
        "launch_open_pr",
        "launch_resume",
        "launch_start_run",
        "stacktape_dev",
        "stacktape_diagnose",
        "stacktape_ops",
    ];
    for (name, tool) in &tools {
        let lists = type_lists(&tool["inputSchema"]) + type_lists(&tool["outputSchema"]);
        assert_eq!(lists, 0, "{name} has lists of types");
        let title = tool["title"].as_str().unwrap();
        assert!(
            !title.contains('(') && !title.contains('_'),
            "{name}: {title}"
        );
        assert_eq!(
            tool["annotations"]["openWorldHint"],
            outside.contains(&name.as_str()),
            "{name}"
        );
    }
    for name in outside {
        assert!(tools.contains_key(name), "{name}");
    }
}

fn type_lists(schema: &Value) -> usize {
    match schema {
        Value::Object(members) => {
            let own = usize::from(members.get("type").is_some_and(Value::is_array));
            own + members.values().map(type_lists).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(type_lists).sum(),
        _ => 0,
    }
}
