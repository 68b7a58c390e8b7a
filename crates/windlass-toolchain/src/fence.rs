//! The fence around a process: files it may touch, no network, bounds on what it may use.
//!
//! On Linux the kernel keeps it (Landlock, as far as the kernel has it, and resource limits).
//! Elsewhere there is none, and only Hugo's own rules and the check of mounts stand.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::Duration,
};

use url::Url;
use windlass_process::Running;

/// What a process may touch. Everything else is out of its reach.
#[derive(Clone, Debug, Default)]
pub struct Fence {
    /// Files and folders it may read and start programs from.
    pub read: Vec<PathBuf>,
    /// Folders that are its own.
    pub write: Vec<PathBuf>,
    /// Whether programs in its own folders may be started.
    pub start_own: bool,
    /// Ports it may connect to; the kernel knows no hosts.
    pub ports: Vec<u16>,
}

/// What programs need of the system: libraries, time zones, certificates, the machine's size.
const SYSTEM: [&str; 24] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl",
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

impl Fence {
    /// A fence that lets the system's own files be read.
    pub fn around(write: Vec<PathBuf>) -> Self {
        Self {
            read: SYSTEM.iter().map(PathBuf::from).collect(),
            write,
            start_own: false,
            ports: Vec::new(),
        }
    }

    /// Lets a program be started.
    #[must_use]
    pub fn with_program(mut self, program: &Path) -> Self {
        let real = fs_err::canonicalize(program).ok();
        self.read.extend(real);
        self.read.push(program.to_owned());
        self
    }

    /// Lets programs of these folders, and those of the fence's own, be started.
    #[must_use]
    pub fn with_programs_in(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        for folder in folders.into_iter().filter(|folder| folder.is_absolute()) {
            // Scripts find their parts next to the folder they are started from.
            if let (Some("bin"), Some(above)) = (
                folder.file_name().and_then(|name| name.to_str()),
                folder.parent(),
            ) {
                self.read.push(above.join("lib"));
            }
            self.read.push(folder);
        }
        self.start_own = true;
        self
    }

    /// Lets hosts be looked up and connected to. Which of them is the program's own rule.
    #[must_use]
    pub fn with_hosts(mut self, hosts: impl IntoIterator<Item = Url>) -> Self {
        self.ports.extend(
            hosts
                .into_iter()
                .filter_map(|url| url.port_or_known_default()),
        );
        if !self.ports.is_empty() {
            for file in [
                "/etc/resolv.conf",
                "/etc/hosts",
                "/etc/nsswitch.conf",
                "/etc/gai.conf",
            ] {
                self.read.push(PathBuf::from(file));
                self.read.extend(fs_err::canonicalize(file).ok());
            }
        }
        self
    }

    /// Starts a command inside.
    ///
    /// The fence goes up on a thread of its own, which the process inherits it from and which
    /// ends right after; the rest of this program stays outside.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        thread::scope(|scope| {
            let inside = thread::Builder::new()
                .name("fence".to_owned())
                .spawn_scoped(scope, || {
                    self.close()?;
                    command.spawn()
                })?;
            let failed = |_| Err(io::Error::other("the process could not be fenced"));
            inside.join().unwrap_or_else(failed)
        })
    }

    #[cfg(target_os = "linux")]
    fn close(&self) -> io::Result<()> {
        use landlock::{
            ABI, Access as _, AccessFs, AccessNet, NetPort, Ruleset, RulesetAttr as _,
            RulesetCreatedAttr as _, RulesetError, path_beneath_rules,
        };
        // Older kernels keep the part of it that they know.
        const KNOWN: ABI = ABI::V5;
        let mut own = AccessFs::from_all(KNOWN);
        if !self.start_own {
            own.remove(AccessFs::Execute);
        }
        let close =
            || {
                Ruleset::default()
                    .handle_access(AccessFs::from_all(KNOWN))?
                    .handle_access(AccessNet::from_all(KNOWN))?
                    .create()?
                    .add_rules(path_beneath_rules(&self.read, AccessFs::from_read(KNOWN)))?
                    .add_rules(path_beneath_rules(["/dev/null"], AccessFs::WriteFile))?
                    .add_rules(path_beneath_rules(&self.write, own))?
                    .add_rules(self.ports.iter().map(|port| {
                        Ok::<_, RulesetError>(NetPort::new(*port, AccessNet::ConnectTcp))
                    }))?
                    .restrict_self()
            };
        close().map(drop).map_err(io::Error::other)
    }

    #[cfg(not(target_os = "linux"))]
    fn close(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Bounds what a process and those it starts may use of the machine within `time`. The bounds
/// hold even when nobody is left to end it.
#[cfg(target_os = "linux")]
pub fn limit(process: &Running, time: Duration) {
    use rustix::process::{Resource, Rlimit, prlimit};
    const GIB: u64 = 1 << 30;
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let cpu_seconds = (time.as_secs() + 1).saturating_mul(cores as u64);
    for (resource, most) in [
        (Resource::Cpu, cpu_seconds),
        (Resource::Core, 0),
        // One file, and what a process allocates (not what it reserves, of which Go programs
        // reserve a lot).
        (Resource::Fsize, 2 * GIB),
        (Resource::Data, 8 * GIB),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // Fails when the process has ended, or is under a lower limit already.
        let _ = prlimit(Some(process.pid()), resource, limit);
    }
}

/// There is no way to limit a process from outside.
#[cfg(not(target_os = "linux"))]
pub fn limit(_: &Running, _: Duration) {}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{
        io::ErrorKind,
        net::{TcpListener, TcpStream},
    };

    use super::*;

    /// What a thread behind the fence gets to do.
    fn behind<T: Send>(fence: &Fence, work: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                fence.close().unwrap();
                work()
            });
            inside.join().unwrap()
        })
    }

    fn is_kept_by_this_kernel() -> bool {
        use landlock::{ABI, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _};
        let kept = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessNet::ConnectTcp)
            .is_ok();
        if !kept {
            eprintln!("SKIPPED: this kernel lacks Landlock {:?}", ABI::V4);
        }
        kept
    }

    #[test]
    fn outside_is_out_of_reach() {
        if !is_kept_by_this_kernel() {
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let place = |name: &str| root.path().join(name);
        for folder in ["own", "shared", "outside"] {
            fs_err::create_dir(place(folder)).unwrap();
            fs_err::write(place(folder).join("file"), folder).unwrap();
        }
        let mut fence = Fence::around(vec![place("own")]);
        fence.read.push(place("shared"));
        fence.read.push(place("missing"));

        let read = |name| move || fs_err::read_to_string(name).map_err(|error| error.kind());
        let refused = Err(ErrorKind::PermissionDenied);
        for (name, expected) in [
            ("own/file", Ok("own".to_owned())),
            ("shared/file", Ok("shared".to_owned())),
            ("outside/file", refused.clone()),
            ("own/../outside/file", refused),
        ] {
            assert_eq!(behind(&fence, read(place(name))), expected, "{name}");
        }
        let write = |name| move || fs_err::write(name, "new").map_err(|error| error.kind());
        for (name, expected) in [
            ("own/new", Ok(())),
            ("shared/file", Err(ErrorKind::PermissionDenied)),
            ("outside/new", Err(ErrorKind::PermissionDenied)),
        ] {
            assert_eq!(behind(&fence, write(place(name))), expected, "{name}");
        }

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connect = || TcpStream::connect(address).map(drop);
        let kind = behind(&fence, || connect().map_err(|error| error.kind()));
        assert_eq!(kind, Err(ErrorKind::PermissionDenied));
        // This thread never went behind it.
        connect().unwrap();
    }

    #[test]
    fn own_programs_start_only_when_allowed() {
        if !is_kept_by_this_kernel() {
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let copied = root.path().join("true");
        let real = windlass_process::find("true", "/usr/bin:/bin".as_ref()).unwrap();
        fs_err::copy(real, &copied).unwrap();
        let start = |fence: &Fence| {
            let child = fence.spawn(&mut Command::new(&copied));
            child
                .and_then(|mut child| child.wait())
                .map_err(|error| error.kind())
        };
        let fence = Fence::around(vec![root.path().to_owned()]);
        assert_eq!(start(&fence), Err(ErrorKind::PermissionDenied));
        let open = fence.with_programs_in([PathBuf::from("/usr/bin")]);
        assert!(start(&open).unwrap().success());
    }

    #[test]
    fn a_process_is_limited() {
        use windlass_process::{Bounds, Ended, Stragglers, start};
        let mut command = Command::new("sh");
        command.args(["-c", "while :; do :; done"]);
        let running = start(&mut command, None, Command::spawn).unwrap();
        limit(&running, Duration::ZERO);
        let ended = running.finish(&Bounds {
            time: Duration::from_secs(100),
            unwanted: &|| false,
            stragglers: Stragglers::End,
        });
        assert!(matches!(ended.unwrap(), Ended::Itself { code: None, .. }));
    }
}
