//! What this machine offers, found out by trying.

use std::{
    ffi::OsStr,
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{
    fs::{Mode, OFlags, open},
    mount::{MountFlags, MountPropagationFlags, mount, mount_change},
};
use windlass_ports::sandbox::SandboxFeatures;
use windlass_process::Ended;

use crate::sys;

/// A bubblewrap that takes longer is not usable.
const BUBBLEWRAP_TIME: Duration = Duration::from_secs(5);

/// Looks at the kernel and for bubblewrap in a `PATH`.
pub fn detect(path: Option<&OsStr>) -> SandboxFeatures {
    SandboxFeatures {
        kernel: rustix::system::uname()
            .release()
            .to_string_lossy()
            .into_owned(),
        landlock: sys::landlock_version(),
        seccomp: sys::has_seccomp_filters(),
        namespaces: namespaces(),
        bubblewrap: bubblewrap(path.unwrap_or_default()),
    }
}

/// Tries what the namespaces are needed for: some systems let them be created and refuse to mount
/// in them.
fn namespaces() -> Result<(), String> {
    let user = rustix::process::getuid().as_raw();
    let map = format!("{user} {user} 1\n");
    let outcome = sys::probe(move || {
        let at = |step: u8| move |error: rustix::io::Errno| (step, io::Error::from(error));
        enter_namespaces().map_err(|error| (1, error))?;
        let file = open(
            "/proc/self/uid_map",
            OFlags::WRONLY | OFlags::CLOEXEC,
            Mode::empty(),
        );
        file.and_then(|file| rustix::io::write(file, map.as_bytes()))
            .map_err(at(2))?;
        let private = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
        mount_change("/", private).map_err(at(3))?;
        mount("tmpfs", "/proc", "tmpfs", MountFlags::empty(), None).map_err(at(3))
    });
    outcome.map_err(|(step, error)| {
        let what = match step {
            1 => "they cannot be created",
            2 => "users cannot be mapped in them",
            3 => "nothing can be mounted in them",
            _ => "they could not be tried",
        };
        format!("{what} ({error})")
    })
}

#[expect(unsafe_code, reason = "rustix marks every unshare that way")]
fn enter_namespaces() -> io::Result<()> {
    use rustix::thread::{UnshareFlags, unshare_unsafe};
    let all = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS;
    // SAFETY: descriptors stay shared; only namespaces change, of a process with one thread.
    unsafe { unshare_unsafe(all) }.map_err(io::Error::from)
}

/// A bubblewrap that belongs to root and works. One that others may replace protects from nobody.
fn bubblewrap(path: &OsStr) -> Result<PathBuf, String> {
    let found = windlass_process::find("bwrap", path).ok_or("it is not installed")?;
    let real = fs_err::canonicalize(&found).map_err(|error| error.to_string())?;
    if !is_roots_alone(&real) {
        return Err(format!(
            "{} may be changed by others than root",
            real.display()
        ));
    }
    let mut command = windlass_process::command(&real);
    command
        .args([
            "--unshare-user",
            "--unshare-pid",
            "--unshare-net",
            "--as-pid-1",
        ])
        .args([
            "--ro-bind",
            "/",
            "/",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "true",
        ])
        .current_dir("/");
    let ended = windlass_process::run(&mut command, None, BUBBLEWRAP_TIME);
    match ended {
        Ok(Ended::Itself { code: Some(0), .. }) => Ok(real),
        Ok(Ended::Itself { mut stderr, .. }) => {
            let text = stderr.all().unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let first = text.lines().next().unwrap_or("it failed").to_owned();
            Err(format!("{} does not work here: {first}", real.display()))
        }
        Ok(Ended::Stopped) => Err(format!("{} takes too long", real.display())),
        Err(error) => Err(format!("{} cannot be started: {error}", real.display())),
    }
}

fn is_roots_alone(program: &Path) -> bool {
    program.ancestors().all(|path| {
        fs_err::metadata(path).is_ok_and(|found| found.uid() == 0 && found.mode() & 0o022 == 0)
    })
}
