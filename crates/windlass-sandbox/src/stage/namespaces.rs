//! Namespaces of our own: a process with its own users, mounts, processes, names and network.

use std::{ffi::OsString, io, os::unix::net::UnixStream};

use rustix::process::{DumpableBehavior, Pid, set_dumpable_behavior};

use super::{Doing as _, FAILED, StageError, first, mounts, tell};
use crate::{
    spec::{Reach, Spec},
    sys,
};

/// Starts the first process of new namespaces.
pub fn start(spec: &Spec, program: &[OsString]) -> Result<(Pid, UnixStream), StageError> {
    let (ours, channel) = UnixStream::pair().doing("making a channel")?;
    let mut namespaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    if spec.network != Reach::On {
        namespaces |= libc::CLONE_NEWNET;
    }
    let user = rustix::process::getuid().as_raw();
    let group = rustix::process::getgid().as_raw();
    match sys::fork(namespaces).doing("making namespaces")? {
        sys::Side::Parent(child) => Ok((child, ours)),
        sys::Side::Child => {
            // With a copy of its own it would not notice that the supervisor is gone.
            drop(ours);
            let outcome =
                set_up(spec, user, group).and_then(|()| first::run(spec, program, channel.into()));
            let code = outcome.unwrap_or_else(|error| {
                tell(&error);
                FAILED
            });
            std::process::exit(code.into());
        }
    }
}

fn set_up(spec: &Spec, user: u32, group: u32) -> Result<(), StageError> {
    // The kernel lets only a process that may be looked into write its own maps.
    set_dumpable_behavior(DumpableBehavior::Dumpable).doing("mapping the user")?;
    map_user(user, group).doing("mapping the user")?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable).doing("protecting the first process")?;
    if spec.network != Reach::On {
        sys::loopback_up().doing("switching the loopback interface on")?;
    }
    mounts::build(spec)
}

/// The user is the same inside as outside, and the only one.
fn map_user(user: u32, group: u32) -> io::Result<()> {
    let write = |name: &str, text: String| {
        let path = format!("/proc/self/{name}");
        let file = rustix::fs::open(
            path,
            rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        )?;
        rustix::io::write(file, text.as_bytes()).map(drop)
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{user} {user} 1\n"))?;
    Ok(write("gid_map", format!("{group} {group} 1\n"))?)
}
