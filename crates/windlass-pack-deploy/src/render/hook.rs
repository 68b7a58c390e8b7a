//! `hook` modules: a command that runs at an event. Claude Code and Codex spell it alike.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_pack_model::{Module, Tree};
use windlass_types::Problem;

use crate::render::{
    definition::{self, check_text},
    shape::broken,
};

const EXPECTED: &str = "{event, matcher?, command, timeout_s?}";

/// A hook as its module defines it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hook {
    pub(crate) event: String,
    matcher: Option<String>,
    command: String,
    timeout_s: Option<u64>,
}

impl Hook {
    /// Reads and checks a module.
    pub(crate) fn read(module: &Module, tree: &Tree) -> Result<Self, Problem> {
        let hook: Self = definition::read(module, tree, EXPECTED)?;
        if hook.event.is_empty() || !hook.event.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(broken(module, &format!("has the event {:?}", hook.event))
                .with("field", "event")
                .with("expected", "an event's name, such as PreToolUse"));
        }
        if hook.command.trim().is_empty() {
            return Err(broken(module, "has an empty command")
                .with("field", "command")
                .with("expected", "a command line"));
        }
        if hook.timeout_s == Some(0) {
            return Err(broken(module, "has a timeout of 0 seconds")
                .with("field", "timeout_s")
                .with("expected", "a number of seconds above 0"));
        }
        hook.check_command(module)?;
        Ok(hook)
    }

    /// A shell expands more than `${NAME}`, so only secrets are looked for.
    fn check_command(&self, module: &Module) -> Result<(), Problem> {
        let shell = self.command.replace("${", "$ {");
        check_text(module, "command", "", &shell)
    }

    /// The element of `hooks.<event>`.
    pub(crate) fn value(&self) -> Value {
        let mut handler = Map::new();
        handler.insert("type".into(), json!("command"));
        handler.insert("command".into(), json!(self.command));
        if let Some(seconds) = self.timeout_s {
            handler.insert("timeout".into(), json!(seconds));
        }
        let mut element = Map::new();
        if let Some(matcher) = &self.matcher {
            element.insert("matcher".into(), json!(matcher));
        }
        element.insert("hooks".into(), json!([handler]));
        element.into()
    }
}
