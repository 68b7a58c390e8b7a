//! The three doors to the tools: MCP on standard input and output, MCP over HTTP, and REST. Every
//! answer is judged on the way: its form on the wire, the published schema, the contract's shape.

use std::collections::BTreeMap;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::{shapes, site::Site};
use crate::suite::support::{
    binary::windlass,
    http::{Ask, Reply},
    mcp::{Session, initialize},
};

/// What a call gave.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The status, where there is one of the call's own.
    pub(super) status: Option<u16>,
    pub(super) is_error: bool,
    pub(super) body: Value,
}

impl Answer {
    /// The output of a call that must have worked.
    #[track_caller]
    pub(super) fn worked(&self) -> &Value {
        assert!(!self.is_error, "{:#}", self.body);
        &self.body
    }

    /// The details of a call that must have failed with this code.
    #[track_caller]
    pub(super) fn refused(&self, code: &str) -> &Value {
        assert!(self.is_error, "{:#}", self.body);
        assert_eq!(self.body["error"]["code"], code, "{:#}", self.body);
        &self.body["error"]["details"]
    }
}

/// MCP over HTTP, in a session.
pub(super) struct Remote<'a> {
    site: &'a Site,
    path: &'static str,
    session: String,
}

impl<'a> Remote<'a> {
    fn open(site: &'a Site, path: &'static str) -> Self {
        let mut remote = Self {
            site,
            path,
            session: String::new(),
        };
        let reply = remote.send(&initialize("init", "2025-06-18"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        remote.session = reply.header("mcp-session-id").unwrap().to_owned();
        let opened = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(remote.send(&opened).status, 202);
        remote
    }

    pub(super) fn send(&self, message: &Value) -> Reply {
        let mut ask = Ask::post(self.path, message.to_string())
            .with("accept", "application/json, text/event-stream");
        if !self.session.is_empty() {
            ask = ask
                .with("mcp-session-id", &self.session)
                .with("mcp-protocol-version", "2025-06-18");
        }
        self.site.ask(ask)
    }

    fn request(&self, method: &str, params: &Value) -> Value {
        let reply =
            self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        assert_eq!(reply.status, 200, "{}", reply.text());
        let kind = reply.header("content-type").unwrap_or_default();
        if kind.starts_with("application/json") {
            return reply.json();
        }
        let text = reply.text();
        let messages = text.lines().filter_map(|line| line.strip_prefix("data:"));
        messages
            .filter_map(|data| serde_json::from_str::<Value>(data).ok())
            .find(|message| message["id"] == 1)
            .unwrap_or_else(|| panic!("no answer: {text}"))
    }
}

/// A way in.
enum Way<'a> {
    Stdio(Session),
    Remote(Remote<'a>),
    Rest(&'a Site),
}

/// A way in that judges what comes out.
pub(super) struct Door<'a> {
    pub(super) name: &'static str,
    way: Way<'a>,
    published: BTreeMap<String, Validator>,
    home: String,
}

/// All of them: a process of its own on the site's home, both paths of the MCP endpoint, REST.
pub(super) fn doors(site: &Site) -> Vec<Door<'_>> {
    let home = site.place.home();
    let mut command = windlass(&home);
    command.args(["mcp", "serve", "--toolset", "pipeline"]);
    let mut session = Session::of(command);
    let listed = session.request("tools/list", &json!({}));
    let published = || {
        let tools = listed["result"]["tools"].as_array().unwrap();
        let validators = tools.iter().map(|tool| {
            let name = tool["name"].as_str().unwrap().to_owned();
            let schema = &tool["outputSchema"];
            assert_eq!(schema["type"], "object", "{name}");
            (name, jsonschema::validator_for(schema).unwrap())
        });
        validators.collect::<BTreeMap<_, _>>()
    };
    let names: Vec<String> = published().into_keys().collect();
    assert_eq!(
        names,
        shapes::TOOLS,
        "the tools of the contract and no others"
    );
    [
        ("MCP on stdio", Way::Stdio(session)),
        ("MCP at /v1/mcp", Way::Remote(Remote::open(site, "/v1/mcp"))),
        ("MCP at /v1", Way::Remote(Remote::open(site, "/v1"))),
        ("REST", Way::Rest(site)),
    ]
    .into_iter()
    .map(|(name, way)| Door {
        name,
        way,
        published: published(),
        home: home.to_str().unwrap().to_owned(),
    })
    .collect()
}

impl Door<'_> {
    /// Calls a tool; `None` where this door has no way to say such a thing.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Option<Answer> {
        let answer = match &mut self.way {
            Way::Stdio(session) => {
                let id = session.ask_tool(tool, arguments);
                let answer = session.answer();
                assert_eq!(answer["id"], id, "{answer}");
                tool_answer(tool, &answer)
            }
            Way::Remote(remote) => {
                let params = json!({ "name": tool, "arguments": arguments });
                tool_answer(tool, &remote.request("tools/call", &params))
            }
            Way::Rest(site) => rest_answer(&site.ask(rest(tool, arguments)?)),
        };
        self.judge(tool, &answer);
        Some(answer)
    }

    fn judge(&self, tool: &str, answer: &Answer) {
        let (door, body) = (self.name, &answer.body);
        if let Err(error) = self.published[tool].validate(body) {
            panic!("{door} {tool}: not as its schema says: {error}: {body:#}");
        }
        if answer.is_error {
            shapes::check_error(body);
            let code = body["error"]["code"].as_str().unwrap();
            if let Some(status) = answer.status {
                assert!(
                    shapes::statuses(code).contains(&status),
                    "{status} {body:#}"
                );
            }
        } else {
            shapes::check(tool, body);
        }
        let text = body.to_string();
        assert!(!text.contains(&self.home), "{door} {tool}: a path: {text}");
    }
}

/// What a tool said over MCP: once for programs, once as text, both the same.
fn tool_answer(tool: &str, message: &Value) -> Answer {
    let result = &message["result"];
    let body = result["structuredContent"].clone();
    assert!(body.is_object(), "{tool}: {message}");
    let content = result["content"].as_array().unwrap();
    let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, body, "{tool}: text and structured content differ");
    Answer {
        status: None,
        is_error: result["isError"] == true,
        body,
    }
}

fn rest_answer(reply: &Reply) -> Answer {
    let body = reply.json();
    let is_error = reply.status >= 400;
    let id = reply.header("x-request-id").unwrap();
    if is_error {
        assert_eq!(body["error"]["request_id"], id, "{body:#}");
    }
    for name in [
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ] {
        let value = reply.header(name).unwrap_or_else(|| panic!("no {name}"));
        assert!(value.parse::<u64>().is_ok(), "{name}: {value}");
    }
    Answer {
        status: Some(reply.status),
        is_error,
        body,
    }
}

/// The request that says the same as a call of a tool, where there is one.
fn rest(tool: &str, arguments: &Value) -> Option<Ask> {
    let path = |name: &str| {
        let text = arguments[name].as_str()?;
        let plain =
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        plain.then(|| text.to_owned())
    };
    let post = |path: &str| Some(Ask::post(path, arguments.to_string()));
    match tool {
        "aios_strategize" => post("/v1/strategize"),
        "aios_design_architecture" => post("/v1/architecture"),
        "aios_design_ux" => post("/v1/ux"),
        "aios_generate_code" => post("/v1/code"),
        "aios_full_pipeline" => post("/v1/pipelines"),
        "aios_get_status" => Some(Ask::get(&format!("/v1/pipelines/{}", path("job_id")?))),
        _ => {
            let (job, kind) = (path("job_id")?, path("artifact_type")?);
            Some(Ask::get(&format!("/v1/pipelines/{job}/artifacts/{kind}")))
        }
    }
}
