//! The way back from what tools keep to what modules hold: MCP servers, hooks and sub-agents as
//! `import` finds them. Only what a module can say completely is taken; the rest is named.

use serde_json::{Map, Value, json};

use crate::render::mcp::Dialect;

/// The keys of a server that a module can say.
const SERVER_KEYS: [&str; 6] = ["type", "command", "args", "env", "url", "headers"];

/// The tools' files with MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerFile {
    /// `.mcp.json` of Claude Code.
    Claude,
    /// `config.toml` of Codex.
    Codex,
    /// `.cursor/mcp.json`.
    Cursor,
    /// `.vscode/mcp.json`.
    Vscode,
}

impl ServerFile {
    fn dialect(self) -> Dialect {
        match self {
            Self::Claude => Dialect::Claude,
            Self::Codex => Dialect::Codex,
            Self::Cursor => Dialect::Cursor,
            Self::Vscode => Dialect::Vscode,
        }
    }

    /// The table the servers are in.
    pub fn table(self) -> &'static str {
        self.dialect().table()
    }

    /// Whether the file is TOML; otherwise it is JSON.
    pub fn is_toml(self) -> bool {
        self == Self::Codex
    }
}

/// The definition of an MCP server, or why a module cannot say what the file does.
pub fn server_definition(file: ServerFile, name: &str, value: &Value) -> Result<Value, String> {
    let fields = object(value, "the server")?;
    let mut definition = Map::new();
    definition.insert("name".into(), name.into());
    match file {
        ServerFile::Codex => codex_server(fields, &mut definition)?,
        ServerFile::Claude | ServerFile::Cursor | ServerFile::Vscode => {
            only(fields, &SERVER_KEYS)?;
            let prefixed = file != ServerFile::Claude;
            let remote = fields.contains_key("url");
            let transport = match fields.get("type").and_then(Value::as_str) {
                Some("stdio") => "stdio",
                Some("http" | "streamable-http" | "streamableHttp") => "http",
                None if fields.contains_key("type") => return Err("its type is not text".into()),
                None if remote => "http",
                None => "stdio",
                Some(other) => {
                    return Err(format!("its type is {other}; a module has stdio or http"));
                }
            };
            definition.insert("transport".into(), transport.into());
            for key in ["command", "args", "env", "url", "headers"] {
                if let Some(value) = fields.get(key) {
                    definition.insert(key.into(), respelled(value, prefixed)?);
                }
            }
        }
    }
    Ok(definition.into())
}

/// `${env:NAME}` is `${NAME}` in a module; other references have no form there.
fn respelled(value: &Value, prefixed: bool) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) if prefixed => {
            let mut plain = String::new();
            let mut rest = text.as_str();
            while let Some(at) = rest.find("${") {
                let (before, reference) = rest.split_at(at);
                let Some(name) = reference.strip_prefix("${env:") else {
                    return Err(format!(
                        "it refers to {text:?}; a module refers to environment variables only"
                    ));
                };
                plain.push_str(before);
                plain.push_str("${");
                rest = name;
            }
            plain.push_str(rest);
            plain.into()
        }
        Value::Array(items) => items
            .iter()
            .map(|item| respelled(item, prefixed))
            .collect::<Result<Vec<_>, _>>()?
            .into(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| Ok((name.clone(), respelled(value, prefixed)?)))
            .collect::<Result<Map<_, _>, String>>()?
            .into(),
        other => other.clone(),
    })
}

fn codex_server(
    fields: &Map<String, Value>,
    definition: &mut Map<String, Value>,
) -> Result<(), String> {
    only(
        fields,
        &[
            "command",
            "args",
            "env",
            "env_vars",
            "url",
            "bearer_token_env_var",
            "http_headers",
            "env_http_headers",
        ],
    )?;
    let remote = fields.contains_key("url");
    definition.insert(
        "transport".into(),
        if remote { "http" } else { "stdio" }.into(),
    );
    for key in ["command", "args", "url"] {
        if let Some(value) = fields.get(key) {
            definition.insert(key.into(), value.clone());
        }
    }
    let mut env = table(fields, "env")?;
    for name in fields
        .get("env_vars")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let name = name.as_str().ok_or("an entry of env_vars is not text")?;
        env.insert(name.to_owned(), format!("${{{name}}}").into());
    }
    let mut headers = table(fields, "http_headers")?;
    for (name, variable) in table(fields, "env_http_headers")? {
        let variable = variable
            .as_str()
            .ok_or("an entry of env_http_headers is not text")?;
        headers.insert(name, format!("${{{variable}}}").into());
    }
    if let Some(variable) = fields.get("bearer_token_env_var") {
        let variable = variable
            .as_str()
            .ok_or("bearer_token_env_var is not text")?;
        headers.insert(
            "Authorization".into(),
            format!("Bearer ${{{variable}}}").into(),
        );
    }
    for (key, values) in [("env", env), ("headers", headers)] {
        if !values.is_empty() {
            definition.insert(key.into(), values.into());
        }
    }
    Ok(())
}

/// The definition of a hook, or why a module cannot say what the element does.
pub fn hook_definition(event: &str, element: &Value) -> Result<Value, String> {
    let fields = object(element, "the hook")?;
    only(fields, &["matcher", "hooks"])?;
    let handlers = fields.get("hooks").and_then(Value::as_array);
    let [handler] = handlers.map(Vec::as_slice).unwrap_or_default() else {
        return Err(
            "it does not have exactly one command; split it into one element per command".into(),
        );
    };
    let handler = object(handler, "its command")?;
    only(handler, &["type", "command", "timeout"])?;
    if handler.get("type").and_then(Value::as_str) != Some("command") {
        return Err("its type is not command".into());
    }
    let mut definition = Map::new();
    definition.insert("event".into(), event.into());
    if let Some(matcher) = fields.get("matcher") {
        definition.insert("matcher".into(), matcher.clone());
    }
    definition.insert(
        "command".into(),
        handler.get("command").cloned().unwrap_or_default(),
    );
    if let Some(timeout) = handler.get("timeout") {
        definition.insert("timeout_s".into(), timeout.clone());
    }
    Ok(definition.into())
}

/// The Markdown of a sub-agent that Codex keeps as TOML, or why there is none.
pub fn subagent_markdown(toml: &str) -> Result<String, String> {
    let document: toml_edit::DocumentMut = toml
        .parse()
        .map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let known = ["name", "description", "developer_instructions"];
    if let Some((key, _)) = document.iter().find(|(key, _)| !known.contains(key)) {
        return Err(format!("it has {key}, which a module cannot say"));
    }
    let [name, description, body] =
        known.map(|key| document.get(key).and_then(|item| item.as_str()));
    let (Some(name), Some(description), Some(body)) = (name, description, body) else {
        return Err(format!("it needs {}", known.join(", ")));
    };
    let (name, description) = (json!(name), json!(description));
    Ok(format!(
        "---\nname: {name}\ndescription: {description}\n---\n\n{body}"
    ))
}

fn object<'v>(value: &'v Value, what: &str) -> Result<&'v Map<String, Value>, String> {
    value
        .as_object()
        .ok_or_else(|| format!("{what} is not a table"))
}

fn table(fields: &Map<String, Value>, key: &str) -> Result<Map<String, Value>, String> {
    match fields.get(key) {
        None => Ok(Map::new()),
        Some(value) => object(value, key).cloned(),
    }
}

fn only(fields: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!("it has {key}, which a module cannot say")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_read_as_modules_say_them() {
        use ServerFile::{Claude, Codex, Cursor, Vscode};
        for (file, value, expected) in [
            (
                Claude,
                json!({ "command": "npx", "args": ["-y", "x"], "env": { "A": "${A}" } }),
                Ok(
                    json!({ "name": "s", "transport": "stdio", "command": "npx", "args": ["-y", "x"], "env": { "A": "${A}" } }),
                ),
            ),
            (
                Cursor,
                json!({ "url": "https://x", "headers": { "Authorization": "Bearer ${env:T}" } }),
                Ok(
                    json!({ "name": "s", "transport": "http", "url": "https://x", "headers": { "Authorization": "Bearer ${T}" } }),
                ),
            ),
            (
                Codex,
                json!({ "url": "https://x", "bearer_token_env_var": "T", "env_http_headers": { "X-A": "A" } }),
                Ok(
                    json!({ "name": "s", "transport": "http", "url": "https://x", "headers": { "Authorization": "Bearer ${T}", "X-A": "${A}" } }),
                ),
            ),
            (
                Codex,
                json!({ "command": "c", "env_vars": ["A"], "env": { "B": "b" } }),
                Ok(
                    json!({ "name": "s", "transport": "stdio", "command": "c", "env": { "A": "${A}", "B": "b" } }),
                ),
            ),
            (
                Vscode,
                json!({ "type": "sse", "url": "https://x" }),
                Err("its type is sse; a module has stdio or http"),
            ),
            (
                Vscode,
                json!({ "command": "c", "args": ["${input:x}"] }),
                Err("it refers to \"${input:x}\"; a module refers to environment variables only"),
            ),
            (
                Codex,
                json!({ "command": "c", "startup_timeout_sec": 3 }),
                Err("it has startup_timeout_sec, which a module cannot say"),
            ),
            (Claude, json!("x"), Err("the server is not a table")),
        ] {
            let read = server_definition(file, "s", &value);
            assert_eq!(read, expected.map_err(str::to_owned), "{value}");
        }
    }

    #[test]
    fn hooks_and_agents_are_read_or_say_why_not() {
        let one = json!({ "type": "command", "command": "x", "timeout": 3 });
        assert_eq!(
            hook_definition("Stop", &json!({ "matcher": "Bash", "hooks": [one] })),
            Ok(json!({ "event": "Stop", "matcher": "Bash", "command": "x", "timeout_s": 3 }))
        );
        for broken in [
            json!({ "hooks": [one, one] }),
            json!({}),
            json!({ "hooks": [{ "type": "prompt" }] }),
        ] {
            assert!(hook_definition("Stop", &broken).is_err(), "{broken}");
        }
        assert_eq!(
            subagent_markdown(
                "name = \"a\"\ndescription = \"b: c\"\ndeveloper_instructions = \"do\\n\"\n"
            ),
            Ok("---\nname: \"a\"\ndescription: \"b: c\"\n---\n\ndo\n".to_owned())
        );
        assert!(subagent_markdown("name = \"a\"\nmodel = \"m\"\n").is_err());
        assert!(subagent_markdown("name = ").is_err());
    }
}
