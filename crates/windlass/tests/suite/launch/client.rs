//! A client of the launch tools that judges every single answer: its form on the wire, the
//! published schema, the contract's own shape, and that nothing of the machine shows.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::shapes;
use crate::suite::support::mcp::Session;

/// Long enough for a loaded machine, short enough to notice a hang.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// A session at a launch server of its own.
pub(crate) struct Client {
    pub(crate) session: Session,
    /// The tools as they were listed, by name.
    pub(crate) tools: BTreeMap<String, Value>,
    /// Their published schemas, as far as they were needed.
    published: RefCell<BTreeMap<String, Validator>>,
    /// Which tool a request was for.
    asked: BTreeMap<u64, String>,
    home: String,
}

/// What a tool call gave: the whole envelope.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolReply(pub(crate) Value);

impl ToolReply {
    pub(crate) fn is_ok(&self) -> bool {
        self.0["ok"] == true
    }

    /// The envelope of a call that must have worked.
    #[track_caller]
    pub(crate) fn worked(&self) -> &Value {
        assert!(self.is_ok(), "{:#}", self.0);
        &self.0
    }

    /// The details of a call that must have failed with this code.
    #[track_caller]
    pub(crate) fn refused(&self, code: &str) -> &Value {
        assert!(!self.is_ok(), "{:#}", self.0);
        assert_eq!(self.0["error"]["code"], code, "{:#}", self.0);
        &self.0["error"]["details"]
    }

    /// The same, for this reason.
    #[track_caller]
    pub(crate) fn refused_for(&self, code: &str, reason: &str) -> &Value {
        let details = self.refused(code);
        assert_eq!(details["reason"], reason, "{:#}", self.0);
        details
    }

    pub(crate) fn code(&self) -> Option<&str> {
        self.0["error"]["code"].as_str()
    }

    pub(crate) fn is_retryable(&self) -> bool {
        self.0["error"]["retryable"] == true
    }
}

impl Client {
    /// Starts a server of the launch tools and opens a session.
    pub(crate) fn of(mut command: Command, home: &Path) -> Self {
        command.args(["mcp", "serve", "--toolset", "launch"]);
        let mut session = Session::of(command);
        let listed = session.request("tools/list", &json!({}));
        let tools: BTreeMap<String, Value> = listed["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.clone()))
            .collect();
        Self {
            session,
            tools,
            published: RefCell::default(),
            asked: BTreeMap::new(),
            home: home.to_str().unwrap().to_owned(),
        }
    }

    /// Sends a call and does not wait.
    pub(crate) fn ask(&mut self, tool: &str, arguments: &Value) -> u64 {
        let id = self.session.ask_tool(tool, arguments);
        self.asked.insert(id, tool.to_owned());
        id
    }

    /// The next answer and the request it is for.
    pub(crate) fn answer(&mut self) -> (u64, ToolReply) {
        let message = self.session.answer();
        let id = message["id"].as_u64().unwrap();
        let tool = self.asked.remove(&id).expect("it was asked for");
        (id, self.judge(&tool, &message))
    }

    /// Sends all calls before it reads the first answer; the answers in the calls' order.
    pub(crate) fn at_once(&mut self, calls: &[(&str, Value)]) -> Vec<ToolReply> {
        let ids: Vec<u64> = calls
            .iter()
            .map(|(tool, arguments)| self.ask(tool, arguments))
            .collect();
        let mut answers: BTreeMap<u64, ToolReply> = ids.iter().map(|_| self.answer()).collect();
        ids.iter().map(|id| answers.remove(id).unwrap()).collect()
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> ToolReply {
        let id = self.ask(tool, &arguments);
        let (answered, tool_reply) = self.answer();
        assert_eq!(answered, id);
        tool_reply
    }

    /// Calls a tool about a run.
    pub(crate) fn about(&mut self, tool: &str, run_id: &str) -> ToolReply {
        self.call(tool, json!({ "run_id": run_id }))
    }

    /// Starts a run.
    #[track_caller]
    pub(crate) fn start(&mut self, config: &Value) -> String {
        let tool_reply = self.call("launch_start_run", json!({ "run_config": config }));
        tool_reply.worked()["run_id"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn status(&mut self, run_id: &str) -> Value {
        let tool_reply = self.about("launch_get_status", run_id);
        tool_reply.worked()["status"].clone()
    }

    /// Looks until the status is as wanted; that status.
    #[track_caller]
    pub(crate) fn until(&mut self, run_id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let status = self.status(run_id);
            if wanted(&status) {
                return status;
            }
            assert!(started.elapsed() < WAIT_LIMIT, "it stays {status:#}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Looks until the run waits or has ended.
    #[track_caller]
    pub(crate) fn settled(&mut self, run_id: &str) -> Value {
        self.until(run_id, is_settled)
    }

    /// Starts a run and looks until it waits or has ended, in this state.
    #[track_caller]
    pub(crate) fn started(&mut self, config: &Value, state: &str) -> String {
        let run_id = self.start(config);
        let status = self.settled(&run_id);
        assert_eq!(status["state"], state, "{status:#}");
        run_id
    }

    /// An artifact's content, which must be text.
    #[track_caller]
    pub(crate) fn artifact(&mut self, run_id: &str, name: &str) -> String {
        let tool_reply = self.call(
            "launch_get_artifact",
            json!({ "run_id": run_id, "artifact_name": name }),
        );
        let artifact = &tool_reply.worked()["artifact"];
        assert!(artifact.get("encoding").is_none(), "{artifact}");
        artifact["content"].as_str().unwrap().to_owned()
    }

    /// The same, read as JSON.
    #[track_caller]
    pub(crate) fn artifact_json(&mut self, run_id: &str, name: &str) -> Value {
        serde_json::from_str(&self.artifact(run_id, name)).unwrap()
    }

    /// Judges an answer and gives its envelope.
    fn judge(&self, tool: &str, message: &Value) -> ToolReply {
        let result = &message["result"];
        let envelope = &result["structuredContent"];
        assert!(envelope.is_object(), "{tool}: no envelope: {message}");
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), 1, "{tool}: {message}");
        let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(
            text, *envelope,
            "{tool}: text and structured content differ"
        );
        let ok = envelope["ok"].as_bool().expect("ok is a boolean");
        assert_eq!(result["isError"], json!(!ok), "{tool}: {message}");
        let mut published = self.published.borrow_mut();
        let published = published.entry(tool.to_owned()).or_insert_with(|| {
            jsonschema::validator_for(&self.tools[tool]["outputSchema"]).unwrap()
        });
        if let Err(error) = published.validate(envelope) {
            panic!("{tool}: not as its schema says: {error}: {envelope:#}");
        }
        shapes::check(tool, envelope);
        self.assert_nothing_of_the_machine(tool, envelope);
        ToolReply(envelope.clone())
    }

    /// No answer says where this machine keeps things, but for the address of a pull request in
    /// a file.
    fn assert_nothing_of_the_machine(&self, tool: &str, envelope: &Value) {
        let mut text = envelope.to_string();
        let pulls = regex::Regex::new(r#"file://[^"\\ ]*/pr/[^"\\ ]*\.md"#).unwrap();
        text = pulls.replace_all(&text, "PULL").into_owned();
        assert!(
            !text.contains(&self.home),
            "{tool}: a path of this machine: {text}"
        );
    }
}

/// Whether a status says that the run waits or has ended.
pub(crate) fn is_settled(status: &Value) -> bool {
    let ended = ["DONE", "FAILED", "CANCELLED"].contains(&status["state"].as_str().unwrap());
    ended || status["parked"] == true
}

/// The digests of a status by name.
pub(crate) fn digests(status: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    status["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|artifact| (text(&artifact["name"]), text(&artifact["sha256"])))
        .collect()
}
