//! What the tree of a settings file means.
//!
//! An unknown setting is a warning, since other tools have settings of their own; a setting that
//! would start something else than it says is an error. Settings of other tools that approve calls
//! are never taken over.

use std::{collections::BTreeMap, time::Duration};

use windlass_text::suggest;

use super::{
    ClientCredentials, ConfigError, ConfigWarning, RemoteConfig, START_LIMIT, ServerConfig,
    ServerTarget, Servers, SignIn, StdioConfig,
    tree::{self, Node, Value},
};
use crate::names;

/// Settings of a server.
const KNOWN: [&str; 25] = [
    "command",
    "args",
    "env",
    "env_pass",
    "cwd",
    "url",
    "httpUrl",
    "serverUrl",
    "headers",
    "http_headers",
    "type",
    "transport",
    "enabled",
    "disabled",
    "startup_timeout_s",
    "startup_timeout_sec",
    "call_timeout_s",
    "tool_timeout_sec",
    "timeout",
    "enabled_tools",
    "includeTools",
    "disabled_tools",
    "excludeTools",
    "disabledTools",
    "oauth",
];

/// Settings of other tools that would approve calls, or trust a server.
const APPROVALS: [&str; 5] = [
    "autoApprove",
    "alwaysAllow",
    "trust",
    "auto_approve",
    "allowedTools",
];

const OAUTH: [&str; 7] = [
    "client_id",
    "client_secret",
    "client_metadata_url",
    "scopes",
    "grant",
    "private_key",
    "algorithm",
];

/// The longest that a limit may be.
const LONGEST: f64 = 86_400.0;

/// Reads `[mcp.servers.NAME]` tables; other tables are another reader's.
pub fn parse_toml(text: &str) -> Result<Servers, ConfigError> {
    let root = tree::toml(text)?;
    let Some(mcp) = root.entry("mcp") else {
        return Ok(Servers::default());
    };
    match mcp.entry("servers") {
        Some(servers) => read(servers),
        None => Ok(Servers::default()),
    }
}

/// Reads the `mcp.json` of another tool: `mcpServers`, or `servers`, or `mcp.servers`.
pub fn parse_json(text: &str) -> Result<Servers, ConfigError> {
    let root = tree::json(text)?;
    let Value::Table(_) = root.value else {
        return fault(&root, "an object with `mcpServers` is expected");
    };
    let found = root
        .entry("mcpServers")
        .or_else(|| root.entry("servers"))
        .or_else(|| root.entry("mcp").and_then(|mcp| mcp.entry("servers")));
    match found {
        Some(servers) => read(servers),
        None => Ok(Servers {
            servers: Vec::new(),
            warnings: vec![ConfigWarning {
                place: root.place,
                message: "there is no `mcpServers` in it".to_owned(),
            }],
        }),
    }
}

fn read(servers: &Node) -> Result<Servers, ConfigError> {
    let mut found = Servers::default();
    for (name, node) in table(servers, "the servers")? {
        if let Err(why) = names::check_server(name) {
            return fault(node, format!("`{name}` is no name for a server: {why}"));
        }
        let server = Reader {
            node,
            warnings: &mut found.warnings,
        }
        .server(name)?;
        found.servers.push(server);
    }
    found
        .servers
        .sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

struct Reader<'a> {
    node: &'a Node,
    warnings: &'a mut Vec<ConfigWarning>,
}

impl Reader<'_> {
    fn server(&mut self, name: &str) -> Result<ServerConfig, ConfigError> {
        let node = self.node;
        for (key, value) in table(node, name)? {
            self.look_at(key, value);
        }
        let url = ["url", "httpUrl", "serverUrl"]
            .iter()
            .find_map(|key| node.entry(key));
        let target = match (node.entry("command"), url) {
            (Some(_), Some(url)) => {
                return fault(url, "give either `command` or `url`, not both");
            }
            (Some(command), None) => ServerTarget::Stdio(self.stdio(command)?),
            (None, Some(url)) => ServerTarget::Remote(self.remote(url)?),
            (None, None) => {
                return fault(node, format!("`{name}` needs `command` or `url`"));
            }
        };
        self.check_kind(&target)?;
        let enabled = match (node.entry("enabled"), node.entry("disabled")) {
            (Some(enabled), _) => boolean(enabled)?,
            (None, Some(disabled)) => !boolean(disabled)?,
            (None, None) => true,
        };
        Ok(ServerConfig {
            name: name.to_owned(),
            target,
            enabled,
            start_limit: self
                .seconds(&["startup_timeout_s", "startup_timeout_sec"])?
                .unwrap_or(START_LIMIT),
            call_limit: match self.seconds(&["call_timeout_s", "tool_timeout_sec"])? {
                Some(limit) => Some(limit),
                // Tools that write it so count milliseconds.
                None => self.milliseconds("timeout")?,
            },
            only_tools: self.texts(&["enabled_tools", "includeTools"])?,
            without_tools: self.texts(&["disabled_tools", "excludeTools", "disabledTools"])?,
        })
    }

    fn look_at(&mut self, key: &str, value: &Node) {
        if APPROVALS.contains(&key) {
            self.warn(
                value,
                format!("`{key}` is not taken over; write a rule of the policy instead"),
            );
        } else if !KNOWN.contains(&key) {
            let meant = suggest::question(key, KNOWN)
                .map_or_else(String::new, |question| format!("; {question}"));
            self.warn(
                value,
                format!("`{}` is not known{meant}", suggest::shown(key)),
            );
        }
    }

    fn warn(&mut self, node: &Node, message: String) {
        self.warnings.push(ConfigWarning {
            place: node.place,
            message,
        });
    }

    fn stdio(&mut self, command: &Node) -> Result<StdioConfig, ConfigError> {
        let node = self.node;
        // Some tools write the program and its arguments as one list.
        let (program, mut arguments) = match &command.value {
            Value::List(items) => {
                let mut words = items.iter().map(text).collect::<Result<Vec<_>, _>>()?;
                if words.is_empty() {
                    return fault(command, "the command is empty");
                }
                let arguments = words.split_off(1);
                (words.remove(0), arguments)
            }
            _ => (text(command)?, Vec::new()),
        };
        if program.trim().is_empty() {
            return fault(command, "the command is empty");
        }
        arguments.extend(self.texts(&["args"])?);
        let environment = match node.entry("env") {
            Some(env) => texts_by_name(env, "env")?,
            None => BTreeMap::new(),
        };
        for name in environment.keys() {
            if name.is_empty() || name.contains(['=', '\0']) {
                return fault(
                    node.entry("env").unwrap_or(node),
                    format!("`{name}` is no name of a variable"),
                );
            }
        }
        for key in ["headers", "http_headers", "oauth"] {
            if let Some(value) = node.entry(key) {
                self.warn(value, format!("`{key}` has no effect on a program"));
            }
        }
        Ok(StdioConfig {
            command: program,
            arguments,
            environment,
            pass: self.texts(&["env_pass"])?,
            directory: match node.entry("cwd") {
                Some(cwd) => Some(text(cwd)?.into()),
                None => None,
            },
        })
    }

    fn remote(&mut self, url: &Node) -> Result<RemoteConfig, ConfigError> {
        let node = self.node;
        let mut headers = BTreeMap::new();
        for key in ["headers", "http_headers"] {
            if let Some(value) = node.entry(key) {
                headers.extend(texts_by_name(value, key)?);
            }
        }
        for key in ["args", "env", "env_pass", "cwd"] {
            if let Some(value) = node.entry(key) {
                self.warn(value, format!("`{key}` has no effect on an address"));
            }
        }
        let address = text(url)?;
        let is_web = address.starts_with("https://")
            || address.starts_with("http://")
            || address.starts_with('$');
        if !is_web {
            return fault(url, "the address must start with https:// or http://");
        }
        Ok(RemoteConfig {
            url: address,
            headers,
            sign_in: match node.entry("oauth") {
                Some(oauth) => self.sign_in(oauth)?,
                None => SignIn::default(),
            },
        })
    }

    fn sign_in(&mut self, oauth: &Node) -> Result<SignIn, ConfigError> {
        for (key, value) in table(oauth, "oauth")? {
            if !OAUTH.contains(&key.as_str()) {
                let meant = suggest::question(key, OAUTH)
                    .map_or_else(String::new, |question| format!("; {question}"));
                self.warn(
                    value,
                    format!("`{}` is not known{meant}", suggest::shown(key)),
                );
            }
        }
        let one = |key: &str| oauth.entry(key).map(text).transpose();
        let grant = one("grant")?;
        let credentials = match (grant.as_deref(), oauth.entry("grant")) {
            (Some("client_credentials"), _) => Some(match one("private_key")? {
                Some(pem) => ClientCredentials::PrivateKey {
                    pem,
                    algorithm: one("algorithm")?.unwrap_or_else(|| "ES256".to_owned()),
                },
                None => ClientCredentials::Secret,
            }),
            (None | Some("authorization_code"), _) => None,
            (Some(_), place) => {
                return fault(
                    place.unwrap_or(oauth),
                    "`grant` is `authorization_code` or `client_credentials`",
                );
            }
        };
        let sign_in = SignIn {
            client_id: one("client_id")?,
            client_secret: one("client_secret")?,
            client_metadata_url: one("client_metadata_url")?,
            scopes: match oauth.entry("scopes") {
                Some(scopes) => list(scopes)?,
                None => Vec::new(),
            },
            credentials,
        };
        if sign_in.client_id.is_none()
            && (sign_in.client_secret.is_some() || sign_in.credentials.is_some())
        {
            return fault(oauth, "`client_id` is missing");
        }
        Ok(sign_in)
    }

    /// What the settings call the kind of server must be what they describe.
    fn check_kind(&self, target: &ServerTarget) -> Result<(), ConfigError> {
        for key in ["type", "transport"] {
            let Some(kind) = self.node.entry(key) else {
                continue;
            };
            let word = text(kind)?;
            let fits = match (word.as_str(), target) {
                ("stdio" | "local", ServerTarget::Stdio(_)) => true,
                (
                    "http" | "streamable-http" | "streamable_http" | "streamableHttp" | "remote",
                    ServerTarget::Remote(_),
                ) => true,
                ("sse", ServerTarget::Remote(_)) => {
                    return fault(
                        kind,
                        "the old HTTP+SSE transport is not spoken; use the server's streamable \
                         HTTP address and `http`",
                    );
                }
                _ => false,
            };
            if !fits {
                return fault(
                    kind,
                    format!("`{word}` does not fit the other settings of this server"),
                );
            }
        }
        Ok(())
    }

    fn seconds(&self, keys: &[&str]) -> Result<Option<Duration>, ConfigError> {
        self.limit(keys, 1.0)
    }

    fn milliseconds(&self, key: &str) -> Result<Option<Duration>, ConfigError> {
        self.limit(&[key], 1000.0)
    }

    fn limit(&self, keys: &[&str], per_second: f64) -> Result<Option<Duration>, ConfigError> {
        let Some(node) = keys.iter().find_map(|key| self.node.entry(key)) else {
            return Ok(None);
        };
        match node.value {
            Value::Number(number) if number > 0.0 && number / per_second <= LONGEST => {
                Ok(Some(Duration::from_secs_f64(number / per_second)))
            }
            _ => fault(node, "a limit is a number above zero, and at most a day"),
        }
    }

    fn texts(&self, keys: &[&str]) -> Result<Vec<String>, ConfigError> {
        match keys.iter().find_map(|key| self.node.entry(key)) {
            Some(node) => list(node),
            None => Ok(Vec::new()),
        }
    }
}

fn table<'a>(node: &'a Node, what: &str) -> Result<&'a [(String, Node)], ConfigError> {
    match &node.value {
        Value::Table(entries) => Ok(entries),
        other => fault(
            node,
            format!("{what}: a table is expected, not {}", other.describe()),
        ),
    }
}

fn text(node: &Node) -> Result<String, ConfigError> {
    match &node.value {
        Value::Text(text) if text.contains('\0') => fault(node, "a text has no NUL character"),
        Value::Text(text) => Ok(text.clone()),
        other => fault(
            node,
            format!("a text is expected, not {}", other.describe()),
        ),
    }
}

fn boolean(node: &Node) -> Result<bool, ConfigError> {
    match &node.value {
        Value::Boolean(truth) => Ok(*truth),
        other => fault(
            node,
            format!("true or false is expected, not {}", other.describe()),
        ),
    }
}

fn list(node: &Node) -> Result<Vec<String>, ConfigError> {
    match &node.value {
        Value::List(items) => items.iter().map(text).collect(),
        other => fault(
            node,
            format!("a list of texts is expected, not {}", other.describe()),
        ),
    }
}

fn texts_by_name(node: &Node, what: &str) -> Result<BTreeMap<String, String>, ConfigError> {
    table(node, what)?
        .iter()
        .map(|(key, value)| {
            // Numbers and truths are written without quotes in many files.
            let value = match &value.value {
                Value::Number(number) => number.to_string(),
                Value::Boolean(truth) => truth.to_string(),
                _ => text(value)?,
            };
            Ok((key.clone(), value))
        })
        .collect()
}

fn fault<T>(node: &Node, message: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError {
        place: node.place,
        message: message.into(),
    })
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
