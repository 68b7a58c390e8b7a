//! `mcp_server` modules: one MCP server, and how each target spells it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_pack_model::{KeyFormat, Module, Tree};
use windlass_types::Problem;

use crate::render::{
    definition::{self, Part, check_text, parts},
    shape::broken,
};

const EXPECTED: &str =
    "{name, transport: stdio, command, args?, env?} or {name, transport: http, url, headers?}";

/// A server as its module defines it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) name: String,
    transport: Transport,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Transport {
    Stdio,
    Http,
}

/// How a target spells servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `.mcp.json`; `${NAME}` is expanded.
    Claude,
    /// `config.toml`; variables are named in keys of their own.
    Codex,
    /// `.cursor/mcp.json`; `${env:NAME}`.
    Cursor,
    /// `.vscode/mcp.json`; `${env:NAME}`.
    Vscode,
}

impl Dialect {
    pub(crate) fn format(self) -> KeyFormat {
        match self {
            Self::Codex => KeyFormat::Toml,
            Self::Claude | Self::Cursor | Self::Vscode => KeyFormat::Json,
        }
    }

    /// The table the servers are in.
    pub(crate) fn table(self) -> &'static str {
        match self {
            Self::Claude | Self::Cursor => "mcpServers",
            Self::Codex => "mcp_servers",
            Self::Vscode => "servers",
        }
    }
}

impl Server {
    /// Reads and checks a module.
    pub(crate) fn read(module: &Module, tree: &Tree) -> Result<Self, Problem> {
        let server: Self = definition::read(module, tree, EXPECTED)?;
        server.check(module)?;
        Ok(server)
    }

    fn check(&self, module: &Module) -> Result<(), Problem> {
        let named = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if self.name.is_empty() || !self.name.bytes().all(named) {
            return Err(broken(module, &format!("has the name {:?}", self.name))
                .with("field", "name")
                .with("expected", "letters, digits, _ and -"));
        }
        match self.transport {
            Transport::Stdio => {
                self.needs(module, "command", self.command.as_deref())?;
                self.refuses(module, "url", self.url.is_some())?;
                self.refuses(module, "headers", !self.headers.is_empty())?;
            }
            Transport::Http => {
                let url = self.needs(module, "url", self.url.as_deref())?;
                if !["https://", "http://", "${"]
                    .iter()
                    .any(|start| url.starts_with(start))
                {
                    return Err(broken(module, "has a url that is not http or https")
                        .with("field", "url")
                        .with("expected", "https://…"));
                }
                self.refuses(module, "command", self.command.is_some())?;
                self.refuses(module, "args", !self.args.is_empty())?;
                self.refuses(module, "env", !self.env.is_empty())?;
            }
        }
        self.check_texts(module)
    }

    fn check_texts(&self, module: &Module) -> Result<(), Problem> {
        for (field, value) in [("command", &self.command), ("url", &self.url)] {
            if let Some(value) = value {
                check_text(module, field, "", value)?;
            }
        }
        for (index, value) in self.args.iter().enumerate() {
            // `--token abc` and `--token=abc`: the flag says what the value is.
            let before = index
                .checked_sub(1)
                .map_or("", |before| self.args[before].as_str());
            let (name, value) = match value.split_once('=') {
                Some((flag, value)) if flag.starts_with('-') => (flag, value),
                _ if before.starts_with('-') && !before.contains('=') => (before, value.as_str()),
                _ => ("", value.as_str()),
            };
            let name = name.trim_start_matches('-');
            check_text(module, &format!("args[{index}]"), name, value)?;
        }
        for (table, values) in [("env", &self.env), ("headers", &self.headers)] {
            for (name, value) in values {
                check_text(module, &format!("{table}.{name}"), name, value)?;
            }
        }
        Ok(())
    }

    fn needs<'v>(
        &self,
        module: &Module,
        field: &str,
        value: Option<&'v str>,
    ) -> Result<&'v str, Problem> {
        match value.map(str::trim) {
            Some(value) if !value.is_empty() => Ok(value),
            _ => Err(broken(module, &format!("has no {field}"))
                .with("missing", field)
                .with("field", field)
                .with("expected", EXPECTED)),
        }
    }

    fn refuses(&self, module: &Module, field: &str, present: bool) -> Result<(), Problem> {
        if !present {
            return Ok(());
        }
        let transport = match self.transport {
            Transport::Stdio => "stdio",
            Transport::Http => "http",
        };
        Err(broken(
            module,
            &format!("has {field}, which transport {transport} does not take"),
        )
        .with("field", field)
        .with("expected", EXPECTED))
    }

    /// The value in a target's file.
    pub(crate) fn value(&self, module: &Module, dialect: Dialect) -> Result<Value, Problem> {
        if dialect == Dialect::Codex {
            return self.codex(module);
        }
        let spell = |text: &str| match dialect {
            Dialect::Cursor | Dialect::Vscode => text.replace("${", "${env:"),
            Dialect::Claude | Dialect::Codex => text.to_owned(),
        };
        let table = |values: &BTreeMap<String, String>| -> Value {
            values
                .iter()
                .map(|(name, value)| (name.clone(), Value::from(spell(value))))
                .collect::<Map<_, _>>()
                .into()
        };
        let mut value = Map::new();
        match self.transport {
            Transport::Stdio => {
                value.insert("type".into(), json!("stdio"));
                value.insert(
                    "command".into(),
                    spell(self.command.as_deref().unwrap_or_default()).into(),
                );
                if !self.args.is_empty() {
                    let args: Vec<String> = self.args.iter().map(|arg| spell(arg)).collect();
                    value.insert("args".into(), args.into());
                }
                if !self.env.is_empty() {
                    value.insert("env".into(), table(&self.env));
                }
            }
            Transport::Http => {
                // Cursor derives the transport from the key.
                if dialect != Dialect::Cursor {
                    value.insert("type".into(), json!("http"));
                }
                value.insert(
                    "url".into(),
                    spell(self.url.as_deref().unwrap_or_default()).into(),
                );
                if !self.headers.is_empty() {
                    value.insert("headers".into(), table(&self.headers));
                }
            }
        }
        Ok(value.into())
    }

    /// Codex expands nothing: it forwards variables under their own names and takes header
    /// values and bearer tokens from variables.
    fn codex(&self, module: &Module) -> Result<Value, Problem> {
        let plain = |field: &str, text: &str| -> Result<Value, Problem> {
            match variables(text) {
                Spelled::Plain => Ok(text.into()),
                _ => Err(inexpressible(
                    module,
                    field,
                    "Codex does not expand variables there",
                )),
            }
        };
        let mut value = Map::new();
        match self.transport {
            Transport::Stdio => {
                let command = self.command.as_deref().unwrap_or_default();
                value.insert("command".into(), plain("command", command)?);
                let args = self
                    .args
                    .iter()
                    .enumerate()
                    .map(|(index, arg)| plain(&format!("args[{index}]"), arg))
                    .collect::<Result<Vec<_>, _>>()?;
                if !args.is_empty() {
                    value.insert("args".into(), args.into());
                }
                let (mut literals, mut forwarded) = (Map::new(), Vec::new());
                for (name, text) in &self.env {
                    match variables(text) {
                        Spelled::Plain => {
                            literals.insert(name.clone(), text.as_str().into());
                        }
                        Spelled::Variable(variable) if variable == name => {
                            forwarded.push(Value::from(variable));
                        }
                        _ => {
                            return Err(inexpressible(
                                module,
                                &format!("env.{name}"),
                                "Codex can only forward a variable under its own name",
                            ));
                        }
                    }
                }
                insert_filled(&mut value, "env", literals);
                if !forwarded.is_empty() {
                    value.insert("env_vars".into(), forwarded.into());
                }
            }
            Transport::Http => {
                let url = self.url.as_deref().unwrap_or_default();
                value.insert("url".into(), plain("url", url)?);
                let (mut literals, mut from_env) = (Map::new(), Map::new());
                for (name, text) in &self.headers {
                    match variables(text) {
                        Spelled::Plain => {
                            literals.insert(name.clone(), text.as_str().into());
                        }
                        Spelled::Variable(variable) => {
                            from_env.insert(name.clone(), variable.into());
                        }
                        Spelled::Bearer(variable) if name.eq_ignore_ascii_case("authorization") => {
                            value.insert("bearer_token_env_var".into(), variable.into());
                        }
                        Spelled::Bearer(_) | Spelled::Mixed => {
                            return Err(inexpressible(
                                module,
                                &format!("headers.{name}"),
                                "Codex takes a header's value from a variable as a whole",
                            ));
                        }
                    }
                }
                insert_filled(&mut value, "http_headers", literals);
                insert_filled(&mut value, "env_http_headers", from_env);
            }
        }
        Ok(value.into())
    }
}

fn insert_filled(value: &mut Map<String, Value>, key: &str, table: Map<String, Value>) {
    if !table.is_empty() {
        value.insert(key.to_owned(), table.into());
    }
}

/// How a text uses variables.
enum Spelled<'t> {
    Plain,
    Variable(&'t str),
    /// `Bearer ${NAME}`.
    Bearer(&'t str),
    Mixed,
}

fn variables(text: &str) -> Spelled<'_> {
    match parts(text).as_deref() {
        Ok([] | [Part::Plain(_)]) => Spelled::Plain,
        Ok([Part::Variable(name)]) => Spelled::Variable(name),
        Ok([Part::Plain(scheme), Part::Variable(name)])
            if scheme.trim_end().eq_ignore_ascii_case("bearer") =>
        {
            Spelled::Bearer(name)
        }
        _ => Spelled::Mixed,
    }
}

fn inexpressible(module: &Module, field: &str, why: &str) -> Problem {
    broken(
        module,
        &format!("cannot be written for codex: {field}: {why}"),
    )
    .with("target", "codex")
    .with("field", field)
    .with("expected", "a literal, or ${NAME} where Codex can take it")
    .with(
        "hint",
        "change the value, or leave codex out of the module's targets",
    )
}
