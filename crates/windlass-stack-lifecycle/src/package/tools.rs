//! Programs that build: which are installed, and the environment they get.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use windlass_ports::Bundler;

/// Programs that build. An absent one is named by the failure of the step that needs it.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// Where esbuild comes from. A project's own one is never run.
    pub bundler: Option<Arc<dyn Bundler>>,
    /// Node, which runs the TypeScript compiler for decorator metadata.
    pub node: Option<PathBuf>,
    /// Python 3 with pip.
    pub python: Option<PathBuf>,
    /// uv.
    pub uv: Option<PathBuf>,
    /// Poetry.
    pub poetry: Option<PathBuf>,
    /// Pipenv.
    pub pipenv: Option<PathBuf>,
    /// Go.
    pub go: Option<PathBuf>,
    /// Gradle; a trusted project's wrapper goes first.
    pub gradle: Option<PathBuf>,
    /// Podman or Docker.
    pub container: Option<PathBuf>,
    /// The program of Cloud Native Buildpacks.
    pub pack: Option<PathBuf>,
    /// Nixpacks.
    pub nixpacks: Option<PathBuf>,
    /// All of the environment the programs get. A build runs untrusted code, so credentials
    /// of the caller do not belong in it.
    pub environment: BTreeMap<OsString, OsString>,
}

impl Tools {
    /// Finds the programs on a `PATH`. The environment holds that `PATH` and nothing else.
    pub fn find(path: &OsStr) -> Self {
        let find = |name| windlass_process::find(name, path);
        Self {
            bundler: None,
            node: find("node"),
            python: find("python3").or_else(|| find("python")),
            uv: find("uv"),
            poetry: find("poetry"),
            pipenv: find("pipenv"),
            go: find("go"),
            gradle: find("gradle"),
            container: find("podman").or_else(|| find("docker")),
            pack: find("pack"),
            nixpacks: find("nixpacks"),
            environment: BTreeMap::from([(OsString::from("PATH"), path.to_owned())]),
        }
    }

    /// The same with a bundler.
    #[must_use]
    pub fn with_bundler(mut self, bundler: Arc<dyn Bundler>) -> Self {
        self.bundler = Some(bundler);
        self
    }

    /// The same with further variables of the environment.
    #[must_use]
    pub fn with_environment(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        self.environment.extend(variables);
        self
    }
}
