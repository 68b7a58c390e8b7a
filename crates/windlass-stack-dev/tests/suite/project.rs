//! A project in a folder of its own, and its manager as a process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_stack_config::{Context, Interpreters, NoLookups, load_file};
use windlass_stack_dev::client::{self, Start, Wanted};
use windlass_stack_dev::{DevPlan, Envelope, Places, Session};
use windlass_types::Problem;

pub struct Project {
    folder: tempfile::TempDir,
    stage: &'static str,
    /// What the manager's environment has besides.
    pub environment: BTreeMap<String, String>,
}

impl Project {
    pub fn new(stage: &'static str, files: &[(&str, &str)]) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        // A PostgreSQL that may not run as root runs as another user and must get in.
        fs_err::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let project = Self {
            folder,
            stage,
            environment: BTreeMap::new(),
        };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    /// The sample of the repository.
    pub fn sample(stage: &'static str) -> Self {
        let project = Self::new(stage, &[]);
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stack/api");
        for name in [
            "stacktape.yml",
            "src/notes.mjs",
            "src/visits.py",
            "src/lib/postgres.mjs",
        ] {
            project.write(name, &fs_err::read_to_string(sample.join(name)).unwrap());
        }
        project
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, text).unwrap();
    }

    pub fn wanted(&self) -> Wanted {
        Wanted {
            directory: self.path().to_owned(),
            ..Wanted::default()
        }
    }

    pub fn places(&self) -> Places {
        Places::new(self.path(), "notes", self.stage)
    }

    pub fn session(&self) -> Session {
        Session::read(&self.places().session).unwrap()
    }

    pub fn plan(&self) -> DevPlan {
        let context = Context {
            project_name: Some("notes".to_owned()),
            stage: Some(self.stage.to_owned()),
            region: Some("eu-west-1".to_owned()),
            profile: None,
            arguments: serde_json::Map::new(),
            project_root: self.path().to_owned(),
            config_directory: self.path().to_owned(),
            allowed: Default::default(),
            lookups: &NoLookups,
        };
        let interpreters = Interpreters::find(&std::env::var_os("PATH").unwrap(), []);
        let loaded = load_file(
            &self.path().join("stacktape.yml"),
            &context,
            &interpreters,
            "dev",
        )
        .unwrap();
        DevPlan {
            project_name: "notes".to_owned(),
            stage: self.stage.to_owned(),
            region: "eu-west-1".to_owned(),
            directory: self.path().to_owned(),
            config: loaded.loaded.config,
            resources: Vec::new(),
            remote: Default::default(),
            agent_port: None,
            fresh_db: false,
            emulators: Default::default(),
        }
    }

    /// Starts a manager, or finds the one that runs.
    pub async fn start(&self) -> Result<Envelope, Problem> {
        self.start_with(&self.plan()).await
    }

    pub async fn start_with(&self, plan: &DevPlan) -> Result<Envelope, Problem> {
        let file = self.path().join(".plan.json");
        fs_err::write(&file, serde_json::to_vec(plan).unwrap()).unwrap();
        let mut manager = Command::new(manager_program());
        manager.arg(file).envs(&self.environment);
        client::start(Start {
            directory: self.path(),
            project_name: "notes",
            stage: self.stage,
            manager,
            wait: true,
            timeout: Duration::from_secs(90),
        })
        .await
    }

    /// One request to the manager.
    pub async fn agent(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Envelope) {
        let session = self.session();
        let mut request = http()
            .request(
                method.parse().unwrap(),
                format!("http://127.0.0.1:{}{path}", session.port),
            )
            .bearer_auth(session.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// Kills the manager and waits until it is not to be seen any more.
    pub async fn kill(&self) {
        let session = self.session();
        let killed = Command::new("kill")
            .args(["-9", &session.manager.pid.to_string()])
            .status();
        assert!(killed.unwrap().success());
        until("the manager is gone", async || {
            (!session.is_live()).then_some(())
        })
        .await;
    }

    pub async fn processes(&self) -> Vec<i32> {
        let (_, status) = self.agent("GET", "/status?verbose=true", None).await;
        let processes = status.data.unwrap()["processes"].clone();
        let ids = processes
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["pid"].as_i64().unwrap());
        ids.map(|pid| i32::try_from(pid).unwrap()).collect()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // A test that failed leaves no manager behind either.
        if let Some(session) = Session::read(&self.places().session).filter(Session::is_live) {
            let _ = Command::new("kill")
                .arg(session.manager.pid.to_string())
                .status();
        }
    }
}

/// Built along with the tests.
fn manager_program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/manager");
    assert!(
        program.is_file(),
        "{} is built with the tests",
        program.display()
    );
    program
}

pub fn http() -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(30))
        .build()
        .unwrap()
}

pub async fn call(method: &str, url: &str, body: Option<Value>) -> (u16, Value) {
    let mut request = http().request(method.parse().unwrap(), url);
    if let Some(body) = body {
        request = request.json(&body);
    }
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap();
    (
        status,
        serde_json::from_str(&text).unwrap_or_else(|_| json!(text)),
    )
}

/// Asks until it is so; for what happens on its own.
pub async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let began = std::time::Instant::now();
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "not within 30 s: {what}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether the servers of the sample are known.
pub fn has_servers() -> bool {
    let missing: Vec<&str> = ["WINDLASS_TEST_POSTGRES", "WINDLASS_TEST_REDIS"]
        .into_iter()
        .filter(|name| std::env::var_os(name).is_none())
        .collect();
    if !missing.is_empty() {
        eprintln!(
            "SKIPPED, NOTHING WAS TESTED: {} not set; `cargo xtask test` sets them",
            missing.join(", ")
        );
    }
    missing.is_empty()
}

pub fn is_running(pid: i32) -> bool {
    windlass_stack_dev::ProcessIdentity::of(pid).is_some()
}
