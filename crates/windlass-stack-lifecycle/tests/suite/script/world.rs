//! A project in a directory of its own, its config, and what came of running its scripts.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use windlass_ports::aws::{Stack, StackOutput, StackResource, Target};
use windlass_secrets::Redactor;
use windlass_stack_compile::Facts;
use windlass_stack_config::Config;
use windlass_stack_lifecycle::Access;
use windlass_stack_lifecycle::lines::Level;
use windlass_stack_lifecycle::script::{Interpreters, ScriptCall, ScriptOutcome, run};
use windlass_system::SystemClock;
use windlass_testkit::SeededEntropy;
use windlass_testkit::agent::SessionAgent;
use windlass_types::Problem;

use super::cloud::FakeCloud;

pub struct World {
    pub folder: tempfile::TempDir,
    pub cloud: FakeCloud,
    pub config: Value,
    pub interpreters: Interpreters,
    pub env: Vec<(String, String)>,
    pub inherited: BTreeMap<String, String>,
    pub role_of: Option<String>,
    pub target: Target,
    pub time: Duration,
    /// The agent of the bastion, where there is one.
    pub agent: Option<SessionAgent>,
}

/// The result.
pub struct Done {
    pub result: Result<ScriptOutcome, Problem>,
    pub lines: Vec<(Level, String)>,
    pub asked: Vec<String>,
    pub redactor: Redactor,
}

impl Done {
    /// The contract's code and the reason of the problem.
    pub fn code_and_reason(&self) -> (&'static str, String) {
        let problem = self.result.as_ref().unwrap_err();
        let reason = problem.details().get("reason").and_then(Value::as_str);
        (problem.code().name, reason.unwrap_or_default().to_owned())
    }

    pub fn tail(&self) -> &str {
        match &self.result {
            Ok(outcome) => &outcome.output_tail,
            Err(problem) => problem.details()["outputTail"].as_str().unwrap(),
        }
    }
}

impl World {
    /// A project with one script, `it`.
    pub fn new(script: Value) -> Self {
        let path = "/usr/local/bin:/usr/bin:/bin";
        Self {
            folder: tempfile::tempdir().unwrap(),
            cloud: FakeCloud::default(),
            config: json!({
                "resources": {},
                "scripts": { "it": { "type": "local-script", "properties": script } },
            }),
            interpreters: Interpreters::find(&everything()),
            env: Vec::new(),
            inherited: BTreeMap::from([("PATH".to_owned(), path.to_owned())]),
            role_of: None,
            target: Target::default(),
            time: Duration::from_secs(60),
            agent: None,
        }
    }

    pub fn command(command: &str) -> Self {
        Self::new(json!({ "executeCommand": command }))
    }

    pub fn file(self, name: &str, text: &str) -> Self {
        let place = self.folder.path().join(name);
        fs_err::create_dir_all(place.parent().unwrap()).unwrap();
        fs_err::write(place, text).unwrap();
        self
    }

    pub fn resources(mut self, resources: Value) -> Self {
        self.config["resources"] = resources;
        self
    }

    pub async fn run(self) -> Done {
        self.run_script("it").await
    }

    pub async fn run_script(self, name: &str) -> Done {
        let config: Config = serde_json::from_value(self.config).unwrap();
        let facts = Facts::new("shop", "dev", "eu-west-1");
        let mut cloud = self.cloud;
        cloud.agent = self.agent.clone();
        let cloud = Arc::new(cloud);
        let access = Access {
            cloud: Arc::clone(&cloud) as _,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SeededEntropy::new(1)),
            target: self.target,
        };
        let redactor = Redactor::new();
        let call = ScriptCall {
            config: &config,
            facts: &facts,
            script: name,
            directory: self.folder.path().to_owned(),
            config_directory: self.folder.path().to_owned(),
            env: self.env,
            assume_role_of_resource: self.role_of,
            inherited: self.inherited,
            interpreters: &self.interpreters,
            sockets: self.agent.clone().map(|agent| Arc::new(agent) as _),
        };
        let heard = Mutex::new(Vec::new());
        let lines = |level, line: &str| heard.lock().unwrap().push((level, line.to_owned()));
        let deadline = access.clock.now().after(self.time);
        let result = run(&call, &access, &redactor, &lines, deadline).await;
        Done {
            result,
            lines: heard.into_inner().unwrap(),
            asked: cloud.asked(),
            redactor,
        }
    }
}

/// Where this machine has its programs.
fn everything() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_else(|| OsStr::new("/usr/bin:/bin").to_owned())
}

pub fn stack(outputs: &[(&str, &str)]) -> Stack {
    Stack {
        stack_id: "arn:aws:cloudformation:eu-west-1:123456789012:stack/shop-dev/1".to_owned(),
        stack_name: "shop-dev".to_owned(),
        stack_status: "CREATE_COMPLETE".to_owned(),
        outputs: outputs
            .iter()
            .map(|(key, value)| StackOutput {
                output_key: (*key).to_owned(),
                output_value: (*value).to_owned(),
                ..StackOutput::default()
            })
            .collect(),
        ..Stack::default()
    }
}

pub fn resource(id: &str, kind: &str, physical: &str) -> StackResource {
    StackResource {
        logical_resource_id: id.to_owned(),
        physical_resource_id: Some(physical.to_owned()),
        resource_type: kind.to_owned(),
        resource_status: "CREATE_COMPLETE".to_owned(),
        ..StackResource::default()
    }
}
