//! Local development from outside: the sample application through the real binary, with a manager
//! that is killed. Needs Node, PostgreSQL and Redis; says so aloud where they are not.

use std::{
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use windlass_cfn_double::{Double, Options, Pace};
use windlass_stack_dev::ProcessIdentity;

use super::support::{
    binary::{Said, windlass},
    home::{ALLOW_ALL, Place},
    http::{Ask, Reply},
    mcp::Session,
};

/// How long things may take on a loaded machine.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

const NODE: &str = "WINDLASS_TEST_NODE";
const POSTGRES: &str = "WINDLASS_TEST_POSTGRES";
const REDIS: &str = "WINDLASS_TEST_REDIS";

/// The folders of the programs that variables name; nothing, aloud, where one is not set.
fn programs(variables: &[&str]) -> Option<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for variable in variables {
        let Some(found) = std::env::var_os(variable).map(PathBuf::from) else {
            println!("SKIPPED, NOTHING WAS TESTED: {variable} not set; `cargo xtask test` sets it");
            return None;
        };
        let is_program = found.is_file();
        folders.push(match found.parent() {
            Some(folder) if is_program => folder.to_owned(),
            _ => found,
        });
    }
    Some(folders)
}

/// A project, and the binary that works on it.
struct Project {
    place: Place,
    folder: tempfile::TempDir,
    path: std::ffi::OsString,
    environment: Vec<(&'static str, String)>,
}

impl Project {
    fn new(programs: &[PathBuf]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // A PostgreSQL that may not run as root runs as another user and must get in.
        let mode = std::fs::Permissions::from_mode(0o755);
        fs_err::set_permissions(folder.path(), mode).unwrap();
        let own = std::env::var_os("PATH").unwrap_or_default();
        let folders = programs.iter().cloned();
        Self {
            place: Place::with_policy(ALLOW_ALL),
            path: std::env::join_paths(folders.chain(std::env::split_paths(&own))).unwrap(),
            folder,
            environment: Vec::new(),
        }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.root().join(name);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.root().join(name)).unwrap()
    }

    /// The binary, started in the project's folder.
    fn binary(&self) -> Command {
        let mut command = windlass(&self.place.home());
        command
            .current_dir(self.root())
            .env("PATH", &self.path)
            .env("HOME", self.place.root())
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Calls an operation; its envelope. The user trusts what a session runs.
    fn call(&self, operation: &str, input: &Value) -> Value {
        if operation == "start" {
            let mut trust = self.binary();
            let said = trust.args(["trust", "--yes"]).stdin(Stdio::null()).output();
            let said = Said::from(said.unwrap());
            assert_eq!(said.code, Some(0), "{}", said.stderr);
        }
        self.operation(&format!("stack.dev_{operation}"), input)
    }

    fn operation(&self, name: &str, input: &Value) -> Value {
        let output = self
            .binary()
            .args(["--json", "ops", "call", name])
            .args(["--input", &input.to_string()])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = Said::from(output);
        let answer = said.json();
        assert_eq!(said.code == Some(0), answer["ok"] == true, "{answer}");
        answer
    }

    /// The data of a call that worked.
    fn data(&self, operation: &str, input: &Value) -> Value {
        let mut answer = self.call(operation, input);
        assert_eq!(answer["ok"], true, "{answer}");
        answer["data"].take()
    }

    /// Every process of the session.
    fn processes(&self) -> Vec<i32> {
        let status = self.data("status", &json!({ "verbose": true }));
        let processes = status["processes"].as_array().unwrap();
        let ids = processes.iter().map(|it| it["pid"].as_i64().unwrap());
        ids.map(|pid| i32::try_from(pid).unwrap()).collect()
    }

    fn session_file(&self, project: &str) -> PathBuf {
        self.root()
            .join(format!(".windlass/dev/{project}-dev.json"))
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // A test that failed leaves nothing running either.
        let input = ["--json", "ops", "call", "stack.dev_stop", "--input", "{}"];
        let _ = self.binary().args(input).stdin(Stdio::null()).output();
    }
}

fn is_running(pid: i32) -> bool {
    ProcessIdentity::of(pid).is_some()
}

fn pid_of(data: &Value) -> i32 {
    i32::try_from(data["pid"].as_i64().unwrap()).unwrap()
}

/// Asks until it is so; for what happens on its own.
fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(began.elapsed() < WAIT_LIMIT, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends a process and waits until it is gone.
fn end(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    until("the process is gone", || (!is_running(pid)).then_some(()));
}

fn address(url: &Value) -> SocketAddr {
    let url = url.as_str().unwrap();
    url.strip_prefix("http://").unwrap().parse().unwrap()
}

fn get(api: SocketAddr, path: &str) -> Reply {
    Ask::get(path).send(api).unwrap()
}

#[test]
fn the_sample_starts_changes_is_killed_and_ends() {
    let Some(programs) = programs(&[NODE, POSTGRES, REDIS]) else {
        return;
    };
    let project = Project::new(&programs);
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stack/api");
    for name in [
        "stacktape.yml",
        "src/notes.mjs",
        "src/visits.py",
        "src/lib/postgres.mjs",
    ] {
        project.write(name, &fs_err::read_to_string(sample.join(name)).unwrap());
    }

    let nothing = project.call("status", &json!({}));
    assert_eq!(nothing["code"], "NOT_FOUND", "{nothing}");

    let began = Instant::now();
    let started = project.data("start", &json!({}));
    println!("started after {} ms", began.elapsed().as_millis());
    let api = address(&started["workloads"]["api"]);
    let status = project.data("status", &json!({}));
    assert_eq!(
        (&status["phase"], &status["ready"]),
        (&json!("ready"), &json!(true))
    );
    let params = project.root().join(".windlass/dev/dev/params.json");
    for private in [&project.session_file("notes"), &params] {
        let mode = fs_err::metadata(private).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", private.display());
    }
    let plan = project.root().join(".windlass/dev/dev/plan.json");
    assert!(!plan.exists(), "the manager has taken it");

    stores_and_counts(api);
    goes_live(&project, api);
    pages_its_log(&project);
    answers_agents(&project);
    refuses_what_cannot_be(&project);

    // Killed: the status says so, and the next start takes over with the existing data.
    let processes = project.processes();
    assert!(processes.len() >= 4, "{processes:?}");
    end(pid_of(&started), Signal::KILL);
    let truth = project.data("status", &json!({}));
    assert_eq!(
        (&truth["phase"], &truth["ready"]),
        (&json!("stopped"), &json!(false))
    );
    let left = truth["leftBehind"].to_string();
    assert!(
        left.contains("database") && left.contains("cache"),
        "{left}"
    );
    let again = project.data("start", &json!({}));
    assert_eq!(again["reused"], false);
    assert!(processes.iter().all(|pid| !is_running(*pid)));
    assert_eq!(address(&again["workloads"]["api"]), api);
    assert_eq!(get(api, "/notes").json()["notes"][0]["text"], "buy rope");

    // Stopped: nothing is left.
    let mut processes = project.processes();
    processes.push(pid_of(&again));
    let stopped = project.data("stop", &json!({}));
    assert_eq!(stopped["leftBehind"], json!([]));
    until("all processes are gone", || {
        processes.iter().all(|pid| !is_running(*pid)).then_some(())
    });
    assert!(!project.session_file("notes").exists());
}

fn stores_and_counts(api: SocketAddr) {
    let note = json!({ "text": "buy rope" }).to_string();
    let written = Ask::post("/notes", note).send(api).unwrap();
    assert_eq!(written.status, 201, "{}", written.text());
    assert_eq!(get(api, "/notes/1").json()["text"], "buy rope");
    for visits in 1..=2 {
        let counted = Ask::post("/visits/home", "").send(api).unwrap();
        assert_eq!(counted.json()["visits"], visits);
    }
}

fn goes_live(project: &Project, api: SocketAddr) {
    let code = project.read("src/notes.mjs");
    let changed = code.replace("greeting: process.env.GREETING", "greeting: 'changed'");
    assert_ne!(code, changed);
    let began = Instant::now();
    project.write("src/notes.mjs", &changed);
    until("the change is live", || {
        let reply = get(api, "/notes");
        assert_eq!(reply.status, 200, "no request fails during this");
        (reply.json()["greeting"] == "changed").then_some(())
    });
    let took = began.elapsed();
    println!("a change was live after {} ms", took.as_millis());
    // How fast it is, is measured by `bench stack`; a busy machine takes longer.
    assert!(took < Duration::from_secs(60), "{took:?}");

    project.write("src/notes.mjs", "export const handler = ;");
    let broken = project.call("rebuild", &json!({ "workload": "notes" }));
    assert_eq!(broken["code"], "INTERNAL_ERROR", "{broken}");
    assert_eq!(broken["data"]["reason"], "workload_failed");
    let output = broken["data"]["output"].as_str().unwrap();
    assert!(output.contains("SyntaxError"), "{output}");
    assert_eq!(get(api, "/notes").status, 200, "the old code keeps running");
    project.write("src/notes.mjs", &changed);
    let rebuilt = project.data("rebuild_all", &json!({}));
    let each = json!({ "notes": { "ok": true }, "visits": { "ok": true } });
    assert_eq!(rebuilt["workloads"], each);
}

fn pages_its_log(project: &Project) {
    let lines = |page: &Value| -> Vec<String> {
        let text = page["logs"].as_str().unwrap();
        text.lines().map(str::to_owned).collect()
    };
    let everything = json!({ "workload": "notes", "cursor": 0, "limit": 1000 });
    let whole = lines(&project.data("logs", &everything));
    assert!(
        whole
            .iter()
            .any(|line| line.ends_with("[notes] note 1 was written")),
        "{whole:?}"
    );
    let (mut seen, mut cursor) = (Vec::new(), 0);
    loop {
        let ask = json!({ "workload": "notes", "cursor": cursor, "limit": 2 });
        let page = project.data("logs", &ask);
        cursor = page["nextCursor"].as_u64().unwrap();
        if page["count"] == 0 {
            break;
        }
        seen.extend(lines(&page));
    }
    assert_eq!(seen, whole);
}

/// The contract's tool, in a server that did not start the session, and in the next one.
fn answers_agents(project: &Project) {
    for _ in 0..2 {
        let mut command = project.binary();
        command.args(["mcp", "serve"]).stderr(Stdio::null());
        let mut session = Session::of(command);
        let call = json!({
            "name": "stacktape_dev",
            "arguments": { "operation": "status", "args": {} },
        });
        let answer = session.request("tools/call", &call);
        let said = &answer["result"]["structuredContent"];
        assert_eq!(
            (&said["ok"], &said["data"]["ready"]),
            (&json!(true), &json!(true)),
            "{answer}"
        );
    }
}

fn refuses_what_cannot_be(project: &Project) {
    for (operation, input, code, reason) in [
        (
            "start",
            json!({ "freshDb": true }),
            "VALIDATION_ERROR",
            "session_running",
        ),
        (
            "start",
            json!({ "agentPort": 1 }),
            "VALIDATION_ERROR",
            "session_running",
        ),
        (
            "start",
            json!({ "fresh": true }),
            "VALIDATION_ERROR",
            "unknown_argument",
        ),
        ("rebuild", json!({}), "VALIDATION_ERROR", "missing_argument"),
        ("status", json!({ "stage": "other" }), "NOT_FOUND", ""),
        ("rebuild", json!({ "workload": "nobody" }), "NOT_FOUND", ""),
    ] {
        let refused = project.call(operation, &input);
        let found = refused["data"]["reason"].as_str().unwrap_or_default();
        assert_eq!(
            (refused["code"].as_str(), found),
            (Some(code), reason),
            "{refused}"
        );
    }
}

const SECRETIVE: &str = "
resources:
  hello:
    type: function
    properties:
      packaging:
        type: stacktape-lambda-buildpack
        properties:
          entryfilePath: hello.mjs
      url:
        enabled: true
      environment:
        - name: MAIL_KEY
          value: $Secret('mail.api-key')
scripts:
  before:
    type: local-script
    properties:
      executeCommand: echo before > moments
  after:
    type: local-script
    properties:
      executeCommand: echo \"after $STP_HELLO_URL $KEY\" >> moments
      connectTo: [hello]
      environment:
        - name: KEY
          value: $Secret('mail.api-key')
hooks:
  beforeDev: [{ scriptName: before }]
  afterDev: [{ scriptName: after }]
";

const HELLO: &str = "
export const handler = async () => {
  console.log(`the key is ${process.env.MAIL_KEY}`);
  return { statusCode: 200, body: process.env.MAIL_KEY };
};
";

#[test]
fn secrets_hooks_ports_and_signals() {
    let Some(programs) = programs(&[NODE]) else {
        return;
    };
    let project = Project::new(&programs);
    project.write("stacktape.yml", SECRETIVE);
    project.write("hello.mjs", HELLO);
    let name = json!({ "projectName": "hello" });

    // Without a value the message names the variable and the file; nothing of AWS is asked.
    let lacking = project.call("start", &name);
    let message = lacking["message"].as_str().unwrap();
    assert!(
        lacking["ok"] == false && message.contains("set MAIL_API_KEY in .env.local"),
        "{lacking}"
    );
    project.data("stop", &json!({}));

    let value = "local-value-4711-of-the-key";
    project.write(".env.local", &format!("MAIL_API_KEY={value}\n"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut wish = name.clone();
    wish["agentPort"] = json!(port);
    let busy = project.call("start", &wish);
    assert_eq!(
        (&busy["code"], &busy["data"]["field"]),
        (&json!("VALIDATION_ERROR"), &json!("agentPort")),
        "{busy}"
    );
    drop(taken);

    let started = project.data("start", &name);
    assert_eq!(started.get("hookFailures"), None, "{started}");
    let url = started["workloads"]["hello"].clone();
    let moments = project.read("moments");
    let expected = format!("before\nafter {} {value}\n", url.as_str().unwrap());
    assert_eq!(moments, expected);
    assert_eq!(get(address(&url), "/").text(), value);
    let logs = project.data("logs", &json!({ "limit": 1000 })).to_string();
    assert!(
        logs.contains("the key is ") && !logs.contains(value),
        "{logs}"
    );

    // A second start uses the session and runs no hook; a polite end leaves nothing.
    assert_eq!(project.data("start", &name)["reused"], true);
    assert_eq!(project.read("moments"), expected);
    let processes = project.processes();
    end(pid_of(&started), Signal::TERM);
    assert!(
        processes.iter().all(|pid| !is_running(*pid)),
        "{processes:?}"
    );
    assert!(!project.session_file("hello").exists());
}

const QUEUE: &str = "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
";

const WORKER: &str = "
  worker:
    type: function
    properties:
      packaging:
        type: stacktape-lambda-buildpack
        properties:
          entryfilePath: worker.mjs
      url:
        enabled: true
      connectTo: [jobs]
      environment:
        - name: ACCOUNT
          value: $AwsAccountId()
";

const WORKER_CODE: &str = "
export const handler = async () => ({
  statusCode: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ url: process.env.STP_JOBS_URL, account: process.env.ACCOUNT }),
});
";

#[test]
fn what_is_deployed_is_used_only_where_it_is_asked_for() {
    let Some(programs) = programs(&[NODE]) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let options = Options {
        // Every call takes the account a minute, so nothing has to be waited for.
        pace: Pace::PerCall(60_000),
        ..Options::default()
    };
    let account = runtime.block_on(Double::start(options)).unwrap();
    let mut project = Project::new(&programs);
    // By service: one address for all would be an emulator of queues, too.
    project.environment = vec![
        ("AWS_ENDPOINT_URL_CLOUDFORMATION", account.endpoint.clone()),
        ("AWS_ENDPOINT_URL_S3", account.endpoint.clone()),
        ("AWS_ENDPOINT_URL_STS", account.endpoint.clone()),
        ("AWS_ACCESS_KEY_ID", "AKIDDOUBLE".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "only-for-tests".to_owned()),
        ("AWS_REGION", "eu-west-1".to_owned()),
        ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
    ];
    project.write("worker.mjs", WORKER_CODE);
    let settings_for = |input: Value| {
        let started = project.data("start", &input);
        let reply = get(address(&started["workloads"]["worker"]), "/").json();
        project.data("stop", &json!({}));
        reply
    };

    // Nothing is deployed yet, and a session that needs it says so.
    project.write("stacktape.yml", &format!("{QUEUE}{WORKER}"));
    let early = project.call("start", &json!({ "remote": ["jobs"] }));
    assert_eq!(
        (&early["code"], &early["data"]["kind"]),
        (&json!("NOT_FOUND"), &json!("stack")),
        "{early}"
    );

    project.write("stacktape.yml", QUEUE);
    let deployed = project.operation("stack.deploy", &json!({ "stage": "dev" }));
    assert_eq!(deployed["ok"], true, "{deployed}");
    project.write("stacktape.yml", &format!("{QUEUE}{WORKER}"));

    // A local session calls nobody.
    let before = account.control.calls().len();
    assert_eq!(
        settings_for(json!({})),
        json!({ "account": "000000000000" })
    );
    let calls = account.control.calls();
    assert_eq!(calls.len(), before, "{:?}", &calls[before..]);

    let remote = settings_for(json!({ "remote": ["jobs"] }));
    let url = remote["url"].as_str().unwrap();
    assert!(url.contains("shop-dev-jobs"), "{remote}");
    assert_ne!(remote["account"], "000000000000");
}
