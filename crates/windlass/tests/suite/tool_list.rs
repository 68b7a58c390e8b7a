//! The tool list that MCP clients get: what is in it, how large it is, and what the hints promise.

use std::{collections::BTreeMap, path::Path};

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

/// A row of the table of sizes in `docs/mcp.md`.
struct Row {
    tools: String,
    bytes: String,
    tokens: String,
}

impl Row {
    fn number(text: &str) -> f64 {
        text.replace(',', "").parse().unwrap()
    }
}

fn page(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs_err::read_to_string(root.join(path)).unwrap()
}

fn row(name: &str) -> Row {
    let page = page("docs/mcp.md");
    let line = page
        .lines()
        .find(|line| line.starts_with(&format!("| {name} |")));
    let mut cells = line.unwrap().split('|').skip(2).map(str::trim);
    let mut next = || cells.next().unwrap().to_owned();
    Row {
        tools: next(),
        bytes: next(),
        tokens: next(),
    }
}

#[test]
fn the_documented_sizes_are_those_of_the_list() {
    let place = Place::new();
    let mut wrong = Vec::new();
    for (name, options) in [
        ("default", &[][..]),
        ("the same without output schemas", &[]),
        ("`--toolset all`", &["--toolset", "all"]),
        ("`--toolset pack`", &["--toolset", "pack"]),
        ("`--toolset stack`", &["--toolset", "stack"]),
        ("`--tools lean`", &["--tools", "lean"]),
    ] {
        let mut session = opened(&place, options);
        let mut answer = session.request("tools/list", &json!({}));
        let tools = answer["result"]["tools"].as_array_mut().unwrap();
        if name.contains("without output schemas") {
            for tool in tools.iter_mut() {
                tool.as_object_mut().unwrap().remove("outputSchema");
            }
        }
        let count = tools.len();
        let bytes = json!({ "tools": tools }).to_string().len();
        let row = row(name);
        // Small changes of wording do not make a page wrong.
        let is_near = (Row::number(&row.bytes) / bytes as f64 - 1.0).abs() < 0.02;
        // Bytes per token of these lists; the suite has no tokenizer.
        let bytes_per_token = Row::number(&row.bytes) / Row::number(&row.tokens);
        if row.tools != count.to_string() || !is_near || !(3.6..4.2).contains(&bytes_per_token) {
            let tokens = bytes as f64 / bytes_per_token;
            wrong.push(format!(
                "{name}: {count} tools, {bytes} bytes, about {tokens:.0} tokens"
            ));
        }
    }
    assert!(wrong.is_empty(), "docs/mcp.md: {}", wrong.join("\n"));
    let (full, lean) = (row("default"), row("`--tools lean`"));
    let summary = format!(
        "{} tools, {} tokens instead of {}",
        lean.tools, lean.tokens, full.tokens
    );
    let readme = page("README.md");
    let words: Vec<&str> = readme.split_whitespace().collect();
    assert!(words.join(" ").contains(&summary), "README.md: {summary}");
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
