//! The pack domain in this process: virtual time, callers of choice, real files.

use std::{collections::HashMap, ffi::OsString, path::PathBuf, sync::Arc};

use serde_json::Value;
use windlass_engine::operation::{CallContext, CallRequest};
use windlass_git::GitProgram;
use windlass_pack::PackEnvironment;
use windlass_testkit::{Process, TestWorld, local};
use windlass_types::{Principal, Problem, Surface};

use super::place::{MACHINE, PackPlace};

/// A place, and an engine with nothing but packs in it.
pub(crate) struct Room {
    pub(crate) place: PackPlace,
    pub(crate) world: TestWorld,
}

impl Room {
    pub(crate) fn new(place: PackPlace) -> Self {
        let environment = PackEnvironment {
            pack_home: place.pack_home(),
            home_dir: place.user(),
            codex_home: None,
            machine_candidates: vec![MACHINE.to_owned()],
            fsync: false,
            link_destinations: Vec::new(),
            stat_cache: place.windlass_home().join("cache"),
            program: "windlass pack".to_owned(),
        };
        let mut variables: HashMap<OsString, OsString> = HashMap::new();
        variables.insert("HOME".into(), place.user().into());
        variables.extend(std::env::var_os("PATH").map(|path| ("PATH".into(), path)));
        let git = Arc::new(GitProgram::new(variables));
        let world = TestWorld::new(move || {
            let git = Arc::clone(&git);
            vec![windlass_pack::domain(environment.clone(), git)]
        });
        Self {
            place,
            world: world.with_threads(),
        }
    }

    /// Calls an operation as an MCP client in the project.
    pub(crate) async fn call_as(
        &self,
        process: &Process,
        principal: Principal,
        operation: &str,
        input: Value,
    ) -> Result<Value, Problem> {
        self.call_in(
            process,
            principal,
            Some(self.place.project()),
            operation,
            input,
        )
        .await
    }

    pub(crate) async fn call(
        &self,
        process: &Process,
        operation: &str,
        input: Value,
    ) -> Result<Value, Problem> {
        self.call_as(process, local(), operation, input).await
    }

    pub(crate) async fn call_in(
        &self,
        process: &Process,
        principal: Principal,
        directory: Option<PathBuf>,
        operation: &str,
        input: Value,
    ) -> Result<Value, Problem> {
        let context = CallContext {
            principal,
            surface: Surface::Mcp,
            request_id: "req_1".to_owned(),
            directory,
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
}
