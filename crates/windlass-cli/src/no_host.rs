//! A host that opens and serves nothing, for tests of commands that need none.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, LazyLock},
};

use serde_json::Value;
use windlass_engine::{
    contract::{Contract, Plain},
    operation::Catalogue,
};
use windlass_ports::{
    BoxFuture, Sandbox, SandboxFeatures, SandboxRefusal, SandboxRequest, SandboxedCommand,
    sandbox::{Backend, Feature, Network},
};
use windlass_types::Problem;

use crate::{Host, HttpRequest, McpRequest, OpenOptions, Opened, TourRequest, TuiRequest};

pub(crate) struct NoHost;

impl Host for NoHost {
    fn contract(&self, _: &str) -> &'static dyn Contract {
        &Plain
    }

    fn line_contract(&self) -> &'static dyn Contract {
        &Plain
    }

    fn open<'a>(&'a self, _: &'a OpenOptions) -> BoxFuture<'a, Result<Opened, Problem>> {
        Box::pin(async { Err(Problem::internal("test", "not here")) })
    }

    fn serve_stdio<'a>(&'a self, _: Opened, _: McpRequest) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn serve_http<'a>(&'a self, _: Opened, _: HttpRequest) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn show_tui<'a>(&'a self, _: Opened, _: TuiRequest) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn run_dev_manager<'a>(
        &'a self,
        _: &'a OpenOptions,
        _: &'a Path,
    ) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn sandbox(&self, _: Option<&OsStr>) -> Arc<dyn Sandbox> {
        Arc::new(NoSandbox)
    }

    fn enter_sandbox(&self, _: &[OsString]) -> ExitCode {
        ExitCode::FAILURE
    }

    fn serve_double<'a>(&'a self) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn play_tour(&self, _: TourRequest<'_>) -> Result<Value, Problem> {
        Ok(Value::Null)
    }

    fn generate(&self, _: &Catalogue) -> Result<Vec<(PathBuf, String)>, Problem> {
        Ok(Vec::new())
    }

    fn man_pages(&self) -> Result<Vec<(String, String)>, Problem> {
        Ok(Vec::new())
    }

    fn command_page(&self, command: &clap::Command, name: &str) -> String {
        format!("page of {name}: {}", command.get_name())
    }
}

/// A machine that offers nothing.
struct NoSandbox;

impl Sandbox for NoSandbox {
    fn features(&self) -> &SandboxFeatures {
        static NOTHING: LazyLock<SandboxFeatures> = LazyLock::new(|| SandboxFeatures {
            kernel: "5.4.0".to_owned(),
            landlock: None,
            seccomp: true,
            namespaces: Err("they cannot be created".to_owned()),
            bubblewrap: Err("it is not installed".to_owned()),
        });
        &NOTHING
    }

    fn backend(&self, _: &Network) -> Result<Backend, SandboxRefusal> {
        Err(SandboxRefusal::Missing {
            feature: Feature::Landlock(1),
            why: "the kernel 5.4.0 is too old".to_owned(),
            remedy: "use Linux 5.13 or later",
        })
    }

    fn prepare(&self, request: SandboxRequest<'_>) -> Result<SandboxedCommand, SandboxRefusal> {
        let backend = self.backend(&request.confinement.network)?;
        Err(SandboxRefusal::Failed(backend.to_string()))
    }
}
