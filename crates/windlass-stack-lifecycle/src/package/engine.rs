//! A container engine: builds images and sends them. By the program of Podman or Docker.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_types::Problem;

use crate::package::failure::missing_tool;
use crate::package::program::{Call, Runner};
use crate::package::tools::Tools;

/// An image to build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageBuild {
    /// The workload, for messages.
    pub workload: String,
    /// The folder the build sees.
    pub context: PathBuf,
    /// The Dockerfile.
    pub dockerfile: PathBuf,
    /// Build arguments.
    pub arguments: Vec<(String, String)>,
    /// `linux/amd64` or `linux/arm64`.
    pub platform: &'static str,
    /// What the image is called.
    pub tag: String,
}

/// What makes and sends images. Every call blocks.
pub trait ContainerEngine: Send + Sync {
    /// Builds an image.
    fn build(&self, build: &ImageBuild) -> Result<(), Problem>;

    /// Whether an image of this name is on this machine.
    fn has(&self, workload: &str, tag: &str) -> Result<bool, Problem>;

    /// Signs in to a registry. The password is neither an argument nor part of an output.
    fn login(
        &self,
        workload: &str,
        registry: &str,
        user: &str,
        password: &str,
    ) -> Result<(), Problem>;

    /// Gives an image a second name.
    fn name(&self, workload: &str, tag: &str, second: &str) -> Result<(), Problem>;

    /// Sends an image to the registry its name says.
    fn push(&self, workload: &str, tag: &str) -> Result<(), Problem>;
}

/// The engine behind a program that understands Docker's commands.
#[derive(Clone, Debug)]
pub struct CliEngine {
    program: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    time: Duration,
    build_options: Vec<String>,
}

impl CliEngine {
    /// The engine that is installed, or a failure that says how to get one.
    pub fn of(tools: &Tools, workload: &str, time: Duration) -> Result<Self, Problem> {
        match &tools.container {
            Some(program) => Ok(Self {
                program: program.clone(),
                environment: tools.environment.clone(),
                time,
                build_options: Vec::new(),
            }),
            None => Err(missing_tool(
                workload,
                "podman or docker",
                "its image is built by a container engine",
                "install Podman (https://podman.io) or Docker and have it in the PATH",
            )),
        }
    }

    /// The same with further options of `build`, as the program takes them.
    #[must_use]
    pub fn with_build_options(mut self, options: Vec<String>) -> Self {
        self.build_options = options;
        self
    }

    fn run(
        &self,
        workload: &str,
        arguments: Vec<OsString>,
        input: Option<&[u8]>,
    ) -> Result<Vec<u8>, Problem> {
        let tool = self
            .program
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Runner {
            workload,
            environment: &self.environment,
            time: self.time,
            unwanted: &|| false,
        }
        .run(Call {
            tool: &tool,
            program: &self.program,
            arguments,
            directory: Path::new("/"),
            environment: Vec::new(),
            input,
        })
    }
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(Into::into).collect()
}

impl ContainerEngine for CliEngine {
    fn build(&self, build: &ImageBuild) -> Result<(), Problem> {
        let mut arguments = words(&["build", "--platform", build.platform, "--tag", &build.tag]);
        arguments.push("--file".into());
        arguments.push(build.dockerfile.clone().into());
        for (name, value) in &build.arguments {
            arguments.extend(words(&["--build-arg", &format!("{name}={value}")]));
        }
        arguments.extend(self.build_options.iter().map(Into::into));
        arguments.push(build.context.clone().into());
        self.run(&build.workload, arguments, None).map(drop)
    }

    fn has(&self, workload: &str, tag: &str) -> Result<bool, Problem> {
        let found = self.run(workload, words(&["images", "--quiet", tag]), None)?;
        Ok(!found.trim_ascii().is_empty())
    }

    fn login(
        &self,
        workload: &str,
        registry: &str,
        user: &str,
        password: &str,
    ) -> Result<(), Problem> {
        let arguments = words(&["login", "--username", user, "--password-stdin", registry]);
        self.run(workload, arguments, Some(password.as_bytes()))
            .map(drop)
    }

    fn name(&self, workload: &str, tag: &str, second: &str) -> Result<(), Problem> {
        self.run(workload, words(&["tag", tag, second]), None)
            .map(drop)
    }

    fn push(&self, workload: &str, tag: &str) -> Result<(), Problem> {
        self.run(workload, words(&["push", tag]), None).map(drop)
    }
}
