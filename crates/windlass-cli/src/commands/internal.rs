//! `windlass internal`: what the repository's own tools and other processes of Windlass call.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use windlass_files::{Access, FileError, create_named};
use windlass_types::{Problem, code};

use crate::{
    Host, OpenOptions,
    dispatch::LEAVE,
    session::{Report, Session},
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum InternalCommand {
    /// Write every generated document below a directory.
    Generate(GenerateArgs),
    /// Hold a session of local development, which another process of Windlass starts.
    DevManager(DevManagerArgs),
    /// A CloudFormation on this machine, for the tour: prints its address and serves.
    AwsDouble,
}

/// What follows the words that a stage of the sandbox is started with. Not a command of the argument
/// tree: building that takes longer than everything a stage does, and its arguments are not for
/// people.
pub(crate) fn sandbox_stage(args: &[OsString]) -> Option<&[OsString]> {
    match args {
        [_, group, name, rest @ ..] if group == "internal" && name == "sandbox-stage" => Some(rest),
        _ => None,
    }
}

/// Serves the double until the process is killed.
pub(crate) fn run_double(host: &dyn Host) -> Result<Report, Problem> {
    let runtime =
        tokio::runtime::Runtime::new().map_err(|error| Problem::internal("runtime", error))?;
    runtime.block_on(host.serve_double())?;
    Ok(Report::new("the double has ended", json!({})))
}

#[derive(Args, Debug)]
pub(crate) struct DevManagerArgs {
    /// The plan of the session.
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
}

impl DevManagerArgs {
    /// Runs until the session is stopped. The session hears signals itself, and opens no store:
    /// it outlives the process that started it.
    pub(crate) fn run(&self, host: &dyn Host, options: &OpenOptions) -> Result<Report, Problem> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| Problem::internal("runtime", error))?;
        let outcome = runtime.block_on(host.run_dev_manager(options, &self.plan));
        runtime.shutdown_timeout(LEAVE);
        let redactor = &options.redactor;
        outcome
            .map_err(|problem| problem.map_text(&mut |text| redactor.redact(text).into_owned()))?;
        Ok(Report::new("the session has ended", json!({})))
    }
}

#[derive(Args, Debug)]
pub(crate) struct GenerateArgs {
    /// The directory that stands for the root of the repository.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl InternalCommand {
    pub(crate) fn run(self, session: &Session, host: &dyn Host) -> Result<Report, Problem> {
        let Self::Generate(args) = self else {
            return Err(Problem::internal("dispatch", "the command needs no engine"));
        };
        let catalogue = session.catalogue();
        catalogue
            .check()
            .map_err(|error| Problem::internal("operation catalogue", error))?;
        let files = host.generate(catalogue)?;
        let unwritable = |error: FileError| {
            error.into_problem(|error| {
                Problem::new(
                    &code::CONFIG_INVALID,
                    format!("the documents cannot be written: {error}"),
                )
            })
        };
        let root = create_named(&args.directory, Access::Usual).map_err(unwritable)?;
        for (path, text) in &files {
            root.write(path.as_ref(), text.as_bytes(), Access::Usual)
                .map_err(unwritable)?;
        }
        let message = format!(
            "{} documents written to {}",
            files.len(),
            args.directory.display()
        );
        session.printer.data(&message);
        Ok(Report::new(message, json!({ "documents": files.len() })))
    }
}
