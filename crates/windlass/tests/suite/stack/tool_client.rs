//! A client of the four tools that judges every answer on the way: its form on the wire, the
//! published schema, the contract's shape.

use std::{collections::BTreeMap, process::Command};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::shapes;
use crate::suite::support::mcp::Session;

/// What a call gave.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) body: Value,
    pub(super) is_error: bool,
}

impl Answer {
    /// The data of a call that must have worked.
    #[track_caller]
    pub(super) fn worked(&self) -> &Value {
        assert_eq!(self.body["code"], "OK", "{:#}", self.body);
        &self.body["data"]
    }

    /// The data of a call that must have failed with this code.
    #[track_caller]
    pub(super) fn refused(&self, code: &str) -> &Value {
        assert_eq!(self.body["code"], code, "{:#}", self.body);
        &self.body["data"]
    }

    /// The same with this reason.
    #[track_caller]
    pub(super) fn refused_for(&self, code: &str, reason: &str) -> &Value {
        let data = self.refused(code);
        assert_eq!(data["reason"], reason, "{:#}", self.body);
        data
    }

    pub(super) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }

    pub(super) fn next_actions(&self) -> Vec<&str> {
        let next = self.body["nextActions"].as_array();
        next.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }
}

/// A session at a server, and what the server publishes.
pub(super) struct ToolClient {
    session: Session,
    pub(super) tools: BTreeMap<String, Value>,
    published: BTreeMap<String, Validator>,
}

impl ToolClient {
    pub(super) fn open(command: Command) -> Self {
        let mut session = Session::of(command);
        let listed = session.request("tools/list", &json!({}));
        let listed = listed["result"]["tools"].as_array().unwrap().iter();
        let tools: BTreeMap<String, Value> = listed
            .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.clone()))
            .collect();
        let published = tools.iter().map(|(name, tool)| {
            let schema = &tool["outputSchema"];
            assert_eq!(schema["type"], "object", "{name}");
            (name.clone(), jsonschema::validator_for(schema).unwrap())
        });
        Self {
            published: published.collect(),
            session,
            tools,
        }
    }

    /// Calls a tool with any arguments.
    #[track_caller]
    pub(super) fn tool(&mut self, tool: &str, arguments: &Value) -> Answer {
        let id = self.session.ask_tool(tool, arguments);
        let message = self.session.answer();
        assert_eq!(message["id"], id, "{message}");
        let answer = tool_answer(&message);
        self.judge(tool, &answer);
        answer
    }

    #[track_caller]
    pub(super) fn ops(&mut self, operation: &str, args: &Value) -> Answer {
        let input = json!({ "operation": operation, "args": args });
        self.tool("stacktape_ops", &input)
    }

    /// The same with a yes.
    #[track_caller]
    pub(super) fn confirmed(&mut self, operation: &str, args: &Value) -> Answer {
        let input = json!({ "operation": operation, "args": args, "confirm": true });
        self.tool("stacktape_ops", &input)
    }

    #[track_caller]
    pub(super) fn dev(&mut self, operation: &str, args: &Value) -> Answer {
        let input = json!({ "operation": operation, "args": args });
        self.tool("stacktape_dev", &input)
    }

    #[track_caller]
    pub(super) fn diagnose(&mut self, operation: &str, args: &Value) -> Answer {
        let input = json!({ "operation": operation, "args": args });
        self.tool("stacktape_diagnose", &input)
    }

    #[track_caller]
    fn judge(&self, tool: &str, answer: &Answer) {
        let body = &answer.body;
        if let Err(error) = self.published[tool].validate(body) {
            panic!("{tool}: not as its schema says: {error}: {body:#}");
        }
        shapes::check(tool, body);
        let failed = if tool == "stacktape_docs" {
            body["answer"]
                .as_str()
                .unwrap()
                .starts_with("VALIDATION_ERROR: ")
        } else {
            body["ok"] == false
        };
        assert_eq!(answer.is_error, failed, "{tool}: {body:#}");
        let size = body.to_string().chars().count();
        assert!(size <= 30_000, "{tool}: {size} characters");
    }
}

#[track_caller]
fn tool_answer(message: &Value) -> Answer {
    let result = message
        .get("result")
        .unwrap_or_else(|| panic!("no result: {message:#}"));
    let body = result["structuredContent"].clone();
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "one text block: {result:#}");
    let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, body, "the text block is the same JSON");
    Answer {
        body,
        is_error: result["isError"] == true,
    }
}
