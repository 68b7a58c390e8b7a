//! The stages: what the command that was prepared does when it runs.
//!
//! Every failure ends with exit code 125 and one line on standard error; the program is not started
//! unless everything before succeeded.

mod bubblewrap;
mod filter;
mod first;
mod grants;
mod inner;
mod mounts;
mod namespaces;
mod outer;

use std::{ffi::OsString, io, io::Write as _, process::ExitCode};

use windlass_ports::sandbox::AddressGuard;

use crate::{spec::Spec, sys};

/// The exit code of a sandbox that failed.
pub const FAILED: u8 = 125;

/// What failed, and how.
#[derive(Debug)]
pub struct StageError {
    doing: String,
    cause: io::Error,
}

/// Says what was tried.
trait Doing<T> {
    fn doing(self, what: impl Into<String>) -> Result<T, StageError>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl Into<String>) -> Result<T, StageError> {
        self.map_err(|error| StageError {
            doing: what.into(),
            cause: error.into(),
        })
    }
}

/// Runs the stage that `arguments` (what follows [`crate::ENTRY`]) name. To be called first thing in
/// the process, while it has one thread; `guard` judges addresses for the proxy.
pub fn enter(arguments: &[OsString], guard: &'static dyn AddressGuard) -> ExitCode {
    match stage(arguments, guard) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            tell(&error);
            ExitCode::from(FAILED)
        }
    }
}

fn tell(error: &StageError) {
    // There is nobody else to tell.
    let _ = writeln!(
        io::stderr(),
        "windlass sandbox: {} failed: {}",
        error.doing,
        error.cause
    );
}

fn stage(arguments: &[OsString], guard: &'static dyn AddressGuard) -> Result<u8, StageError> {
    let not_ours = || io::Error::other("the arguments are not those of a stage");
    let (name, spec, program) = match arguments {
        [name, spec, mark, program @ ..] if mark == "--" && !program.is_empty() => {
            (name.to_str().unwrap_or_default(), spec, program)
        }
        _ => return Err(not_ours()).doing("reading the arguments"),
    };
    let spec: Spec = serde_json::from_str(spec.to_str().unwrap_or_default())
        .map_err(io::Error::other)
        .doing("reading the confinement")?;
    match name.split_once(':') {
        None if name == "outer" => outer::run(&spec, program, guard),
        Some(("first", channel)) => {
            let channel = channel.parse().map_err(io::Error::other);
            let channel = channel
                .and_then(sys::inherited)
                .doing("taking the channel")?;
            first::run(&spec, program, channel)
        }
        _ => Err(not_ours()).doing("reading the arguments"),
    }
}
