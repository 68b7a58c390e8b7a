//! Other systems: there is no sandbox, and every request is refused.

use std::{ffi::OsString, path::Path, process::ExitCode};

use windlass_ports::sandbox::{
    AddressGuard, Backend, Feature, Network, Sandbox, SandboxFeatures, SandboxRefusal,
    SandboxRequest, SandboxedCommand,
};

/// Refuses.
pub struct KernelSandbox(SandboxFeatures);

impl KernelSandbox {
    /// What this machine offers: nothing.
    pub fn of_this_machine(_: &Path, _: Option<&std::ffi::OsStr>) -> Self {
        let why = || "this is not Linux".to_owned();
        Self(SandboxFeatures {
            kernel: std::env::consts::OS.to_owned(),
            landlock: None,
            seccomp: false,
            namespaces: Err(why()),
            bubblewrap: Err(why()),
        })
    }
}

impl Sandbox for KernelSandbox {
    fn features(&self) -> &SandboxFeatures {
        &self.0
    }

    fn backend(&self, _: &Network) -> Result<Backend, SandboxRefusal> {
        Err(SandboxRefusal::Missing {
            feature: Feature::Linux,
            why: format!("this is {}", std::env::consts::OS),
            remedy: "run it on Linux 5.13 or later, or in a virtual machine",
        })
    }

    fn prepare(&self, request: SandboxRequest<'_>) -> Result<SandboxedCommand, SandboxRefusal> {
        self.backend(&request.confinement.network)?;
        Err(SandboxRefusal::Failed("no backend".to_owned()))
    }
}

/// Nothing can be entered here.
pub fn enter(_: &[OsString], _: &'static dyn AddressGuard) -> ExitCode {
    ExitCode::from(125)
}
