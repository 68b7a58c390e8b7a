//! A project, an AWS account of its own and the binary between them.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::mpsc,
};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use windlass_cfn_double::{Control, Double, Handle, Options, Pace};

use super::tool_client::ToolClient;
use crate::suite::support::{
    binary::{Said, windlass},
    home::Place,
};

pub(super) const PROJECT: &str = "shop";
pub(super) const STAGE: &str = "dev";
pub(super) const STACK: &str = "shop-dev";
pub(super) const REGION: &str = "eu-west-1";

/// A queue alone.
pub(super) const QUEUE: &str = "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
    properties:
      visibilityTimeoutSeconds: 30
stackConfig:
  outputs:
    - name: queueUrl
      value: $ResourceParam('jobs', 'url')
";

/// A queue and two things that hold data.
pub(super) const STATEFUL: &str = "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
  items:
    type: dynamo-db-table
    properties:
      primaryKey:
        partitionKey: { name: id, type: string }
  files:
    type: bucket
";

/// Every call takes the account a minute, so nothing has to be waited for.
pub(super) const AT_ONCE: Pace = Pace::PerCall(60_000);

/// A home, a project directory and an account.
pub(super) struct World {
    pub(super) place: Place,
    pub(super) control: Control,
    pub(super) endpoint: String,
    environment: Vec<(String, String)>,
    _double: Handle,
    _runtime: Runtime,
}

impl World {
    /// An account in which everything is done at once.
    pub(super) fn new() -> Self {
        Self::at(AT_ONCE)
    }

    /// An account with a pace of its own.
    pub(super) fn at(pace: Pace) -> Self {
        Self::of(Place::new(), pace)
    }

    /// The same with rules of its own.
    pub(super) fn with_policy(text: &str) -> Self {
        Self::of(Place::with_policy(text), AT_ONCE)
    }

    fn of(place: Place, pace: Pace) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let options = Options {
            pace,
            ..Options::default()
        };
        let double = runtime.block_on(Double::start(options)).unwrap();
        // There is no registry here. Code is packaged as it is.
        let settings = place.home().join("config.toml");
        fs_err::write(settings, "[stack]\nrefuse_downloads = true\n").unwrap();
        let world = Self {
            place,
            control: double.control.clone(),
            endpoint: double.endpoint.clone(),
            environment: Vec::new(),
            _double: double,
            _runtime: runtime,
        };
        world
            .env("AWS_ACCESS_KEY_ID", "AKIDDOUBLE")
            .env("AWS_SECRET_ACCESS_KEY", "only-for-tests")
            .env("AWS_REGION", REGION)
            .env("AWS_EC2_METADATA_DISABLED", "true")
    }

    /// The same with one more variable in the environment of every command; the last one counts.
    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes the config of the project.
    pub(super) fn config(&self, text: &str) {
        self.file("stacktape.yml", text);
    }

    /// Writes a file of the project.
    pub(super) fn file(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    pub(super) fn project(&self) -> PathBuf {
        self.place.scratch()
    }

    /// A command of the binary in the project's directory.
    pub(super) fn command(&self) -> Command {
        let mut command = windlass(&self.place.home());
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .env("PATH", path)
            .env("HOME", self.place.root())
            .env("AWS_ENDPOINT_URL", &self.endpoint)
            .current_dir(self.project());
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command
    }

    /// Runs `windlass stack …` to its end, with nothing on standard input.
    pub(super) fn cli(&self, arguments: &[&str]) -> Said {
        let mut command = self.command();
        command.arg("stack").args(arguments).stdin(Stdio::null());
        command.output().unwrap().into()
    }

    /// The user trusts the project as it is now.
    pub(super) fn trust(&self) {
        let mut command = self.command();
        command.args(["trust", "--yes"]).stdin(Stdio::null());
        let said = Said::from(command.output().unwrap());
        assert_eq!(said.code, Some(0), "{}", said.stderr);
    }

    /// A client at a server of its own.
    pub(super) fn tool_client(&self) -> ToolClient {
        let mut command = self.command();
        command
            .args(["mcp", "serve", "--toolset", "stack"])
            .stderr(Stdio::null());
        ToolClient::open(command)
    }

    /// Stack by stack, newest last: what is there, deleted ones left out.
    pub(super) fn stacks(&self) -> Vec<Value> {
        let state = self.control.state();
        let stacks = state["stacks"].as_array().unwrap().iter();
        stacks
            .filter(|stack| stack["status"] != "DELETE_COMPLETE")
            .cloned()
            .collect()
    }

    /// Everything the account holds.
    pub(super) fn leftovers(&self) -> Value {
        let state = self.control.state();
        json!({ "stacks": self.stacks(), "buckets": state["buckets"], "kept": state["kept"] })
    }

    /// The actions that were called since a mark.
    pub(super) fn actions_since(&self, mark: usize) -> Vec<String> {
        let calls = self.control.calls();
        calls[mark..]
            .iter()
            .map(|call| call.action.clone())
            .collect()
    }

    pub(super) fn mark(&self) -> usize {
        self.control.calls().len()
    }
}

/// The arguments that name the stack, and more.
pub(super) fn args(more: Value) -> Value {
    let mut all = json!({ "projectName": PROJECT, "stage": STAGE, "region": REGION });
    let Value::Object(more) = more else {
        panic!("arguments are an object");
    };
    all.as_object_mut().unwrap().extend(more);
    all
}

/// The lines a process prints, as they come.
pub(super) fn lines_of(output: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    use std::io::BufRead as _;
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::BufReader::new(output)
            .lines()
            .map_while(Result::ok)
        {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    lines
}
