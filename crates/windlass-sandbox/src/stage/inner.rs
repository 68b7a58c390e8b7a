//! The inner stage: gives everything up that the program must not have, and becomes the program.
//!
//! The order matters. Capabilities first, while dropping them is still allowed; then no new
//! privileges, which Landlock and seccomp require; Landlock before seccomp, which forbids what
//! Landlock needs.

use std::{
    ffi::OsString,
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::{fs::FileTypeExt as _, process::CommandExt as _},
    },
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus,
    Scope,
};
use rustix::{
    process::{DumpableBehavior, Resource, Rlimit, chdir, set_dumpable_behavior, setrlimit},
    thread::{
        CapabilitySet, CapabilitySets, capabilities, capability_is_in_ambient_set,
        clear_ambient_capability_set, no_new_privs, remove_capability_from_bounding_set,
        set_capabilities, set_no_new_privs,
    },
};
use windlass_ports::sandbox::{Backend, Limits};

use super::{Doing as _, FAILED, StageError, filter, grants, tell};
use crate::{
    spec::{Reach, Spec},
    sys,
};

/// The newest version of Landlock that this code asks for. Older kernels enforce what they know;
/// what must not be missing is checked before (`prepare`).
const NEWEST: ABI = ABI::V9;

/// Confines this process and executes the program. Never returns.
pub fn become_program(spec: &Spec, program: &[OsString], temporary: Option<&Path>) -> ! {
    let code = match confine(spec, temporary) {
        Ok(()) => execute(program, temporary),
        Err(error) => {
            tell(&error);
            FAILED
        }
    };
    std::process::exit(code.into());
}

fn confine(spec: &Spec, temporary: Option<&Path>) -> Result<(), StageError> {
    // Nobody looks into this process before the program has replaced it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).doing("protecting the inner stage")?;
    chdir(&spec.directory).doing(format!("entering {}", spec.directory.display()))?;
    limit(&spec.limits).doing("limiting resources")?;
    sys::close_on_exec_from_3().doing("closing files")?;
    drop_capabilities().doing("dropping capabilities")?;
    set_no_new_privs(true).doing("refusing new privileges")?;
    if !no_new_privs().doing("checking privileges")? {
        return Err(io::Error::other("they were not refused")).doing("refusing new privileges");
    }
    restrict(spec, temporary)?;
    filter::install(spec)
}

fn execute(program: &[OsString], temporary: Option<&Path>) -> u8 {
    let Some((name, arguments)) = program.split_first() else {
        return FAILED;
    };
    let mut command = windlass_process::command(name);
    command.args(arguments);
    if let Some(temporary) = temporary {
        command.env("TMPDIR", temporary);
    }
    sys::unblock_signals();
    let error = command.exec();
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    tell(&StageError {
        doing: format!("starting {}", name.display()),
        cause: error,
    });
    if is_missing { 127 } else { 126 }
}

/// Gives every capability up, also those that executing a program as root would give back, and checks
/// that none is left.
pub fn drop_capabilities() -> io::Result<()> {
    for number in 0..64 {
        if let Some(capability) = CapabilitySet::from_bits(1 << number) {
            // Fails for those the kernel does not know, and where nothing is left to drop.
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none)?;
    let left = capabilities(None)?;
    let ambient = |number| {
        CapabilitySet::from_bits(1_u64 << number)
            .is_some_and(|capability| capability_is_in_ambient_set(capability).unwrap_or(false))
    };
    if left != none || (0..64).any(ambient) {
        return Err(io::Error::other(format!("{left:?} survived")));
    }
    Ok(())
}

fn limit(limits: &Limits) -> io::Result<()> {
    for (resource, most) in [
        (Resource::Core, Some(0)),
        (Resource::Data, limits.memory),
        (Resource::Nproc, limits.processes),
        (Resource::Fsize, limits.file_size),
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::Nofile, limits.open_files),
    ] {
        let Some(most) = most else { continue };
        // A limit that is lower already stays.
        let now = rustix::process::getrlimit(resource).maximum;
        let most = now.map_or(most, |now| now.min(most));
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

fn restrict(spec: &Spec, temporary: Option<&Path>) -> Result<(), StageError> {
    let grants = grants::of(spec, temporary).doing("looking at the files")?;
    let result = ruleset(spec, &grants).map_err(io::Error::other);
    let status = result.doing("installing Landlock")?;
    if status == RulesetStatus::NotEnforced {
        return Err(io::Error::other("the kernel did not enforce it")).doing("installing Landlock");
    }
    Ok(())
}

fn ruleset(spec: &Spec, grants: &grants::Grants) -> Result<RulesetStatus, landlock::RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(NEWEST))?;
    if spec.network == Reach::Off {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    if spec.backend == Backend::Landlock {
        // Without namespaces nothing else enforces these.
        rules = rules
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V3))?
            .scope(Scope::from_all(ABI::V6))?
            .set_compatibility(CompatLevel::BestEffort);
    }
    let mut rules = rules.create()?;
    let read = AccessFs::from_read(NEWEST);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    // Named sockets are only for those who may write where they are.
    for (paths, access) in [
        (&grants.read, read),
        (&grants.list, BitFlags::from(AccessFs::ReadDir)),
        (&grants.write, all),
        (&grants.devices, device),
    ] {
        for path in paths {
            rules = grant(rules, path, access)?;
        }
    }
    // Scripts open /dev/stderr; that opens the file or terminal behind it again.
    for stream in [
        io::stdin().as_fd(),
        io::stdout().as_fd(),
        io::stderr().as_fd(),
    ] {
        if is_openable(stream) {
            rules = rules.add_rule(PathBeneath::new(stream, device))?;
        }
    }
    Ok(rules.restrict_self()?.ruleset)
}

fn grant(
    rules: RulesetCreated,
    path: &PathBuf,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    // What this user cannot open, the program cannot either.
    let Ok(opened) = PathFd::new(path) else {
        return Ok(rules);
    };
    let is_folder = rustix::fs::fstat(&opened)
        .is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir());
    let access = if is_folder {
        access
    } else {
        access & AccessFs::from_file(NEWEST)
    };
    rules.add_rule(PathBeneath::new(opened, access))
}

fn is_openable(stream: BorrowedFd<'_>) -> bool {
    let Ok(file) = stream.try_clone_to_owned().map(File::from) else {
        return false;
    };
    file.metadata().is_ok_and(|found| {
        let kind = found.file_type();
        kind.is_file() || kind.is_char_device()
    })
}
