//! Settings of Windlass and of other tools, and what is said about wrong ones.

use super::*;
use crate::config::{Place, parse_json, parse_toml};

#[test]
fn toml_tables_and_json_files_say_the_same() {
    let toml = parse_toml(
        r#"
[mcp]
other = 1
[mcp.servers.docs]
url = "https://docs.example.org/mcp"
headers = { Authorization = "Bearer ${TOKEN}" }
[mcp.servers.docs.oauth]
client_id = "windlass"
scopes = ["read"]
[mcp.servers.files]
command = "npx"
args = ["-y", "@scope/files", "."]
env = { LEVEL = 3, DEBUG = true }
env_pass = ["NODE_PATH"]
cwd = "work"
startup_timeout_s = 2.5
enabled_tools = ["read"]
enabled = false
[other]
x = 1
"#,
    )
    .unwrap();
    let json = parse_json(
        r#"{ "mcpServers": {
            "files": { "type": "stdio", "command": ["npx", "-y"], "args": ["@scope/files", "."],
                "env": { "LEVEL": "3", "DEBUG": "true" }, "env_pass": ["NODE_PATH"], "cwd": "work",
                "startup_timeout_sec": 2.5, "includeTools": ["read"], "disabled": true },
            "docs": { "type": "http", "url": "https://docs.example.org/mcp",
                "headers": { "Authorization": "Bearer ${TOKEN}" },
                "oauth": { "client_id": "windlass", "scopes": ["read"] } }
        } }"#,
    )
    .unwrap();
    assert_eq!(toml, json);
    assert_eq!(toml.warnings, []);
    assert_eq!(toml.servers.len(), 2);
    // Values of headers and variables are never shown.
    assert!(!format!("{toml:?}").contains("TOKEN"));
}

#[test]
fn other_tools_files_are_read() {
    for (text, names) in [
        (
            r#"{"servers":{"a":{"type":"stdio","command":"a"}}}"#,
            &["a"][..],
        ),
        (r#"{"mcp":{"servers":{"b":{"command":"b"}}}}"#, &["b"]),
        (r#"{"mcpServers":{"c":{"httpUrl":"https://c"}}}"#, &["c"]),
        (
            r#"{"mcpServers":{"d":{"serverUrl":"http://127.0.0.1:1"}}}"#,
            &["d"],
        ),
        ("\u{feff}{\"mcpServers\":{}}", &[]),
    ] {
        let found = parse_json(text).unwrap();
        let found: Vec<&str> = found
            .servers
            .iter()
            .map(|server| server.name.as_str())
            .collect();
        assert_eq!(found, names, "{text}");
    }
    let limits = parse_json(r#"{"mcpServers":{"a":{"command":"a","timeout":1500}}}"#).unwrap();
    let limit = limits.servers[0].call_limit;
    assert_eq!(limit, Some(Duration::from_millis(1500)));
}

#[test]
fn what_is_left_out_is_said_with_its_place() {
    let text = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"a\",\n      \
                \"autoApprove\": [\"*\"],\n      \"comand\": \"b\",\n      \"headers\": {}\n    }\n  }\n}";
    let warnings: Vec<String> = parse_json(text)
        .unwrap()
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_debug_snapshot!(warnings, @r#"
    [
        "line 5, column 22: `autoApprove` is not taken over; write a rule of the policy instead",
        "line 6, column 17: `comand` is not known; did you mean \"command\"?",
        "line 7, column 18: `headers` has no effect on a program",
    ]
    "#);
}

#[test]
fn errors_have_their_place() {
    let cases = [
        "{\"mcpServers\":\n  {\"a\": {\"command\": \"a\" \"args\": []}}}",
        "[]",
        "{\"mcpServers\": []}",
        "{\"mcpServers\": {\"a\": {}}}",
        "{\"mcpServers\": {\n\"a b\": {\"command\": \"x\"}}}",
        "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n \"args\": \"-v\"}}}",
        "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n \"url\": \"https://x\"}}}",
        "{\"mcpServers\": {\"a\": {\"url\": \"ftp://x\"}}}",
        "{\"mcpServers\": {\"a\": {\"type\": \"sse\", \"url\": \"https://x\"}}}",
        "{\"mcpServers\": {\"a\": {\"type\": \"http\", \"command\": \"x\"}}}",
        "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"timeout\": -1}}}",
        "{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\"}}}",
        "{\"mcpServers\": {\"a\": {\"command\": \"\"}}}",
        "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"A=B\": \"1\"}}}}",
        "{\"mcpServers\": {\"a\": {\"url\": \"https://x\", \"oauth\": {\"client_secret\": \"x\"}}}}",
    ];
    let json: Vec<String> = cases
        .iter()
        .map(|text| parse_json(text).unwrap_err().to_string())
        .collect();
    insta::assert_debug_snapshot!(json, @r#"
    [
        "line 2, column 25: not valid JSON: expected `,` or `}`",
        "line 1, column 1: an object with `mcpServers` is expected",
        "line 1, column 16: the servers: a table is expected, not a list",
        "line 1, column 22: `a` needs `command` or `url`",
        "line 2, column 8: `a b` is no name for a server: only letters, digits, `_` and `-` may be in it",
        "line 2, column 10: a list of texts is expected, not a text",
        "line 2, column 9: give either `command` or `url`, not both",
        "line 1, column 30: the address must start with https:// or http://",
        "line 1, column 31: the old HTTP+SSE transport is not spoken; use the server's streamable HTTP address and `http`",
        "line 1, column 31: `http` does not fit the other settings of this server",
        "line 1, column 50: a limit is a number above zero, and at most a day",
        "line 1, column 16: `a` is there twice",
        "line 1, column 34: the command is empty",
        "line 1, column 46: `A=B` is no name of a variable",
        "line 1, column 52: `client_id` is missing",
    ]
    "#);

    let toml: Vec<String> = [
        "[mcp.servers.a]\ncommand = \"x\"\nargs = \"-v\"\n",
        "[mcp.servers.a]\nurl = 1\n",
        "[mcp.servers.a]\ncommand =\n",
        "[mcp.servers]\na = { command = \"x\", enabled = \"yes\" }\n",
    ]
    .iter()
    .map(|text| parse_toml(text).unwrap_err().to_string())
    .collect();
    insta::assert_debug_snapshot!(toml, @r#"
    [
        "line 3, column 8: a list of texts is expected, not a text",
        "line 2, column 7: a text is expected, not a number",
        "line 2, column 10: not valid TOML: string values must be quoted, expected literal string",
        "line 2, column 32: true or false is expected, not a text",
    ]
    "#);
}

#[test]
fn a_deep_document_is_refused() {
    let deep = format!("{{\"mcpServers\": {}{}}}", "[".repeat(100), "]".repeat(100));
    let error = parse_json(&deep).unwrap_err();
    assert_eq!(error.message, "nested deeper than 32 levels");
    assert_eq!(error.place.line, 1);
    let _: Place = error.place;
}
