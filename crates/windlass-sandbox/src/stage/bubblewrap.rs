//! Namespaces made by bubblewrap, which is started with the mounts as arguments.

use std::{
    ffi::OsString,
    fs::File,
    os::fd::{AsFd, AsRawFd as _},
    os::unix::net::UnixStream,
};

use rustix::{
    io::{FdFlags, fcntl_setfd},
    process::Pid,
};

use super::{Doing as _, StageError};
use crate::{
    ENTRY,
    layout::Mount,
    spec::{Reach, Spec},
};

/// Where this program is inside: the confinement may hide the place where it is installed.
const STAGE: &str = "/run/windlass-stage";

/// Starts bubblewrap, and in it this program as the first process.
pub fn start(spec: &Spec, program: &[OsString]) -> Result<(Pid, UnixStream), StageError> {
    let (ours, channel) = UnixStream::pair().doing("making a channel")?;
    let missing = || std::io::Error::other("the confinement names none");
    let bubblewrap = spec.bubblewrap.as_ref().ok_or_else(missing);
    let mut command = windlass_process::command(bubblewrap.doing("finding bubblewrap")?);
    command.args([
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--as-pid-1",
    ]);
    command.args(["--cap-drop", "ALL"]);
    if spec.network != Reach::On {
        command.arg("--unshare-net");
    }
    // Descriptors that bubblewrap reads hidden files from: nothing.
    let mut nothing = Vec::new();
    for mount in &spec.mounts {
        match mount {
            Mount::Same { path, writable } => {
                command.arg(if *writable { "--bind" } else { "--ro-bind" });
                command.args([path, path]);
            }
            Mount::Memory { path, size } => {
                if let Some(size) = size {
                    command.args(["--size", &size.to_string()]);
                }
                command.args(["--perms", "1777", "--tmpfs"]).arg(path);
            }
            Mount::Link { path, target } => {
                command.arg("--symlink").args([target, path]);
            }
            Mount::Processes => {
                command.args(["--proc", "/proc"]);
            }
            Mount::Devices => {
                command.args(["--dev", "/dev"]);
            }
            Mount::HiddenFolder(path) => {
                command.args(["--perms", "0000", "--tmpfs"]).arg(path);
                command.arg("--remount-ro").arg(path);
            }
            Mount::HiddenFile(path) => {
                let empty = File::open("/dev/null").doing("opening /dev/null")?;
                hand_on(&empty)?;
                command.args(["--perms", "0000", "--ro-bind-data"]);
                command.arg(empty.as_raw_fd().to_string()).arg(path);
                nothing.push(empty);
            }
        }
    }
    let own = std::env::current_exe().doing("finding this program")?;
    command.arg("--ro-bind").arg(own).arg(STAGE);
    command.arg("--chdir").arg(&spec.directory);
    hand_on(&channel)?;
    let text = serde_json::to_string(spec)
        .map_err(std::io::Error::other)
        .doing("writing the confinement")?;
    command
        .args(["--", STAGE])
        .args(ENTRY)
        .arg(format!("first:{}", channel.as_raw_fd()))
        .args([text.as_str(), "--"])
        .args(program);
    let child = command.spawn().doing("starting bubblewrap")?;
    Ok((Pid::from_child(&child), ours))
}

/// Lets a program that is started have a descriptor.
fn hand_on(descriptor: &impl AsFd) -> Result<(), StageError> {
    fcntl_setfd(descriptor, FdFlags::empty()).doing("handing a descriptor on")
}
