//! A repository, a home and a project in a scratch directory, and processes that work on them.
//!
//! The first state of the repository and the second differ in every way a deploy can: files to
//! create, update and delete, an executable, a key in an unmanaged file, a file in the way.

use std::{
    collections::HashMap,
    ffi::OsString,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_engine::{
    Domain,
    operation::{CallContext, CallRequest},
};
use windlass_git::GitProgram;
use windlass_pack::PackEnvironment;
use windlass_pack_deploy::state::PackState;
use windlass_pack_model::PackHome;
use windlass_ports::RunStore as _;
use windlass_testkit::{Process, TestWorld, local};
use windlass_types::{Digest, Problem, RunId, RunRecord, Surface, Timestamp};

/// The kind of run.
pub(super) const KIND: &str = "pack.apply";
/// When the past of a scene takes place: before the clock of any test begins.
const PAST: i64 = 1_740_000_000_000;
const HOUR: i64 = 3_600_000;

const MANIFEST: &str = "\
version: 1
profiles:
  default: { include_tags: [base] }
targets:
  codex: { mode: files, scope: both }
  claude_code: { mode: files, scope: project }
modules:
";

/// The settings of a user with their own server.
pub(super) const MCP_FILE: &str =
    "{\n  // mine\n  \"mcpServers\": {\n    \"own\": { \"command\": \"x\" }\n  }\n}\n";

/// A scratch directory with a config repository, a user's home and a project in it.
pub(super) struct Scene {
    pub(super) scratch: TempDir,
}

/// A run that an operation planned and created, not yet begun.
#[derive(Clone)]
pub(super) struct Planned {
    /// Its input.
    pub(super) input: Value,
    /// The transaction the input names.
    transaction: Vec<u8>,
}

impl Planned {
    /// The input, with the transaction where another engine finds it.
    pub(super) async fn bring_to(&self, process: &Process) -> Value {
        let stored = process.engine.blobs.put(self.transaction.clone()).await;
        assert_eq!(json!(stored.unwrap()), self.input["transaction"]);
        self.input.clone()
    }
}

impl Scene {
    /// The repository in its first state; nothing is deployed.
    pub(super) fn new() -> Self {
        // In memory where there is such a place: proofs flush thousands of files.
        let scratch = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let scene = Self {
            scratch: scratch.unwrap(),
        };
        for directory in [scene.user(), scene.project()] {
            fs_err::create_dir_all(directory).unwrap();
        }
        scene.put("project/.mcp.json", MCP_FILE);
        scene.put("project/README.md", "nobody's business\n");
        scene.put("user/.codex/prompts/mine.md", "in the way\n");
        scene.module("instructions/base/AGENTS.md", "one\n");
        scene.module("skills/old/SKILL.md", &skill("old"));
        scene.module("skills/old/notes/a.md", "notes\n");
        scene.module("prompts/draft.md", "draft\n");
        scene.manifest(&[
            ("instructions:base", "instructions", "instructions/base"),
            ("skill:old", "skill", "skills/old"),
            ("prompt:draft", "prompt", "prompts/draft.md"),
        ]);
        scene
    }

    /// Brings the repository into its second state.
    pub(super) fn change(&self) {
        self.module("instructions/base/AGENTS.md", "two\n");
        self.module("skills/new/SKILL.md", &skill("new"));
        self.module("skills/new/scripts/run.sh", "#!/bin/sh\n");
        let script = self.repo().join("modules/skills/new/scripts/run.sh");
        fs_err::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.module("prompts/mine.md", "theirs\n");
        self.module(
            "mcp/demo.yaml",
            "name: demo\ntransport: stdio\ncommand: demo\n",
        );
        self.manifest(&[
            ("instructions:base", "instructions", "instructions/base"),
            ("skill:new", "skill", "skills/new"),
            ("prompt:draft", "prompt", "prompts/draft.md"),
            ("prompt:mine", "prompt", "prompts/mine.md"),
            ("mcp:demo", "mcp_server", "mcp/demo.yaml"),
        ]);
    }

    fn manifest(&self, modules: &[(&str, &str, &str)]) {
        let mut text = MANIFEST.to_owned();
        for (id, kind, path) in modules {
            text.push_str(&format!(
                "  - {{ id: \"{id}\", type: {kind}, tags: [base], \
                 source: {{ local_path: {{ path: modules/{path} }} }} }}\n"
            ));
        }
        self.put("user/.agentpack/repo/agentpack.yaml", &text);
    }

    pub(super) fn module(&self, path: &str, text: &str) {
        self.put(&format!("user/.agentpack/repo/modules/{path}"), text);
    }

    pub(super) fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    pub(super) fn text(&self, path: &str) -> Option<String> {
        fs_err::read_to_string(self.path(path)).ok()
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.scratch.path().join(path)
    }

    pub(super) fn user(&self) -> PathBuf {
        self.path("user")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.path("project")
    }

    pub(super) fn repo(&self) -> PathBuf {
        self.path("user/.agentpack/repo")
    }

    /// What pack remembers.
    pub(super) fn state(&self) -> PackState {
        PackState::open(PackHome::at(self.path("user/.agentpack")))
    }

    /// The domain, as one process has it.
    pub(super) fn domain(&self) -> Box<dyn Domain> {
        domain(self.scratch.path())
    }

    /// Processes on one disk whose clock has reached an hour of the past.
    pub(super) fn past(&self, hour: i64) -> TestWorld {
        let scratch = self.scratch.path().to_owned();
        let world = TestWorld::new(move || vec![domain(&scratch)]).with_threads();
        let world = world.with_seed(u64::try_from(hour).unwrap());
        let now = Timestamp::from_millis(PAST + hour * HOUR);
        world.clock.set(now);
        world
    }

    /// Calls an operation in the project.
    pub(super) async fn call(
        &self,
        process: &Process,
        operation: &str,
        input: Value,
    ) -> Result<Value, Problem> {
        self.call_in(process, self.project(), operation, input)
            .await
    }

    /// Calls an operation in a directory.
    pub(super) async fn call_in(
        &self,
        process: &Process,
        directory: PathBuf,
        operation: &str,
        input: Value,
    ) -> Result<Value, Problem> {
        let context = CallContext {
            principal: local(),
            surface: Surface::Cli,
            request_id: "req_1".to_owned(),
            directory: Some(directory),
            terms: windlass_engine::operation::Terms::default(),
        };
        let request = CallRequest {
            operation: operation.to_owned(),
            input,
            context,
        };
        let answer = process.catalogue().call(request).await?;
        Ok(answer.output)
    }

    /// Something that happened: an operation whose run went to its end.
    pub(super) fn happened(&self, hour: i64, operation: &str, input: Value) -> Value {
        let world = self.past(hour);
        let done = world.life(world.disk.open_again(), |mut process| async move {
            process.drive().await;
            let done = self.call(&process, operation, input).await;
            process.stop().await;
            done
        });
        done.unwrap()
            .unwrap_or_else(|problem| panic!("{operation}: {problem:?}"))
    }

    /// What an operation plans, caught between the making of its run and the run's beginning.
    pub(super) fn planned(&self, hour: i64, operation: &str, input: Value) -> Planned {
        let world = self.past(hour);
        let planned = world.life(world.disk.open_again(), |process| async move {
            let mut changes = process.store.changes();
            let created = async {
                loop {
                    changes.mark_unchanged();
                    if let Some(record) = process.store.all_runs().pop() {
                        return record;
                    }
                    changes.changed().await.unwrap();
                }
            };
            let record = tokio::select! {
                record = created => record,
                answer = self.call(&process, operation, input) => panic!("no run: {answer:?}"),
            };
            let digest: Digest =
                serde_json::from_value(record.input["transaction"].clone()).unwrap();
            Planned {
                transaction: process.store.content(&digest).unwrap(),
                input: record.input,
            }
        });
        planned.unwrap()
    }
}

/// Starts a planned run and waits for its end.
pub(super) async fn run(process: &Process, planned: &Planned) -> RunRecord {
    let input = planned.bring_to(process).await;
    let run_id = process.start(KIND, input).await;
    process.end(&run_id).await
}

/// Takes a run back and waits for the end of that.
pub(super) async fn roll_back(process: &Process, run_id: &RunId) -> RunRecord {
    let asked = process
        .engine
        .request_rollback(&local(), run_id, None)
        .await;
    asked.unwrap();
    process.end(run_id).await
}

/// What a deploy from the command line says.
pub(super) fn deploy() -> (&'static str, Value) {
    ("pack.apply", json!({ "yes": true, "adopt": true }))
}

fn domain(scratch: &Path) -> Box<dyn Domain> {
    let user = scratch.join("user");
    let environment = PackEnvironment {
        pack_home: user.join(".agentpack"),
        home_dir: user.clone(),
        codex_home: None,
        machine_candidates: vec!["machine".to_owned()],
        fsync: false,
        link_destinations: Vec::new(),
        stat_cache: scratch.join("cache/stat"),
        program: "windlass pack".to_owned(),
    };
    let mut variables: HashMap<OsString, OsString> = HashMap::new();
    variables.insert("HOME".into(), user.into());
    variables.extend(std::env::var_os("PATH").map(|path| ("PATH".into(), path)));
    windlass_pack::domain(environment, Arc::new(GitProgram::new(variables)))
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: the {name} skill\n---\n\nbody\n")
}
