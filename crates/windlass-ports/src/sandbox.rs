//! Confinement of other programs as data, and the port that turns it into a command to run.
//!
//! A confinement says what a program and everything it starts may read, write and connect to. An
//! implementation enforces all of it or refuses; it never runs a program with less. Not here: how
//! a kernel does it (`windlass-sandbox`), and who chooses a confinement.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// What a program may touch. Everything else is refused by the kernel, also for its children.
#[derive(Clone, Debug)]
pub struct Confinement {
    /// Where it starts.
    pub directory: PathBuf,
    /// Files and folders it may read and start programs from. `/` is everything that is not denied.
    pub read: Vec<PathBuf>,
    /// Files and folders below the read roots that it may not read.
    pub deny_read: Vec<PathBuf>,
    /// Folders it may change. None: only its private temporary directory.
    pub write: Vec<PathBuf>,
    /// What stays as it is inside the write roots, also what does not exist yet.
    pub protected: Vec<Protected>,
    /// What it may connect to.
    pub network: Network,
    /// How much it may use.
    pub limits: Limits,
    /// Environment variables it gets besides the usual harmless ones.
    pub variables: Vec<String>,
}

/// What every program needs of the system: the read roots of a confinement that does not start
/// from `/`.
pub const SYSTEM_ROOTS: [&str; 12] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/opt",
    "/etc",
    "/nix/store",
    "/gnu/store",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
];

/// Files and folders of a home directory that hold credentials.
pub const CREDENTIALS: [&str; 19] = [
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/op",
    ".local/share/keyrings",
    ".password-store",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    ".pypirc",
    ".cargo/credentials.toml",
    ".terraform.d/credentials.tfrc.json",
    ".windlass",
];

/// Files of a home directory that a shell or git executes or obeys at its next start.
const START_FILES: [&str; 10] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".gitconfig",
    ".config/git",
];

impl Confinement {
    /// Everything may be read except credentials, nothing written, nothing connected to.
    pub fn read_only(directory: PathBuf, home: Option<&Path>) -> Self {
        let secrets = home.into_iter().flat_map(|home| {
            let below = CREDENTIALS.iter().map(|name| home.join(name));
            below.collect::<Vec<_>>()
        });
        Self {
            directory,
            read: vec![PathBuf::from("/")],
            deny_read: secrets.chain(["/etc/shadow".into()]).collect(),
            write: Vec::new(),
            protected: Vec::new(),
            network: Network::Off,
            limits: Limits::default(),
            variables: Vec::new(),
        }
    }

    /// The same with write roots, in which what other programs execute or trust stays as it is.
    #[must_use]
    pub fn writing(
        mut self,
        roots: impl IntoIterator<Item = PathBuf>,
        home: Option<&Path>,
    ) -> Self {
        for root in roots {
            self.protected.extend(Protected::of_project(&root));
            self.write.push(root);
        }
        for name in home
            .iter()
            .flat_map(|_| START_FILES.iter().chain(&CREDENTIALS))
        {
            let path = home.map(|home| home.join(name)).unwrap_or_default();
            if self.write.iter().any(|root| path.starts_with(root)) {
                self.protected.push(Protected::new(path, StandIn::Folder));
            }
        }
        self
    }
}

/// A path that stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protected {
    /// Where.
    pub path: PathBuf,
    /// What takes its place while it does not exist.
    pub stand_in: StandIn,
}

/// Takes the place of a protected path that does not exist, for as long as the program runs, so
/// that it cannot be created. Chosen to mean nothing to the programs that look there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StandIn {
    /// An empty folder.
    Folder,
    /// A file with this text.
    File(String),
}

impl Protected {
    /// A protected path.
    pub fn new(path: PathBuf, stand_in: StandIn) -> Self {
        Self { path, stand_in }
    }

    /// What stays as it is in a project: git's hooks and settings, and Windlass's own files.
    pub fn of_project(root: &Path) -> Vec<Self> {
        let git = root.join(".git");
        let mut found = vec![Self::new(root.join(".windlass"), StandIn::Folder)];
        if git.is_file() {
            // It names the directory with hooks and settings.
            found.push(Self::new(git, StandIn::Folder));
            return found;
        }
        found.extend([
            Self::new(git.join("hooks"), StandIn::Folder),
            Self::new(git.join("config"), StandIn::File(String::new())),
            Self::new(git.join("config.worktree"), StandIn::File(String::new())),
            // Would make git read hooks and settings elsewhere; `.` is where it reads them anyway.
            Self::new(git.join("commondir"), StandIn::File(".\n".to_owned())),
        ]);
        found
    }
}

/// What may be connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// Nothing; also no server on this machine.
    Off,
    /// These hosts, through a proxy that resolves names itself.
    Hosts(Vec<HostRule>),
    /// Everything.
    On,
}

/// Bounds on what a confined program uses. The kernel counts per process where it says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory that each process may allocate, in bytes.
    pub memory: Option<u64>,
    /// Processes and threads of the user; enforced where the program has a user namespace.
    pub processes: Option<u64>,
    /// The largest file, in bytes.
    pub file_size: Option<u64>,
    /// Processor time of each process, in seconds.
    pub cpu_seconds: Option<u64>,
    /// Files that each process may have open.
    pub open_files: Option<u64>,
    /// Size of the private temporary directory, in bytes.
    pub temporary: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: None,
            processes: None,
            file_size: None,
            cpu_seconds: None,
            open_files: None,
            temporary: Some(1 << 30),
        }
    }
}

/// A host as a name or an address. Parsed in one place, so that what is compared with a list is
/// what is resolved and connected to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Host {
    /// A name in lower case, without a trailing dot.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// Why a text is not a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a host: {why}")]
pub struct InvalidHost {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl Host {
    /// Reads a host. IPv6 addresses may be in brackets.
    pub fn parse(text: &str) -> Result<Self, InvalidHost> {
        let refuse = |why| {
            Err(InvalidHost {
                text: text.to_owned(),
                why,
            })
        };
        if text.is_empty() {
            return refuse("it is empty");
        }
        if !text.is_ascii() {
            return refuse("write international names in their xn-- form");
        }
        if text.bytes().any(|byte| byte.is_ascii_control()) {
            return refuse("it has control characters");
        }
        let bare = match text.strip_prefix('[') {
            Some(rest) => match rest.strip_suffix(']') {
                Some(inside) if inside.contains(':') => inside,
                _ => return refuse("the brackets do not hold an IPv6 address"),
            },
            None => text,
        };
        if bare.contains(':') {
            return match bare.parse() {
                Ok(address) => Ok(Self::Address(IpAddr::V6(address))),
                Err(_) => refuse("it is not an IPv6 address"),
            };
        }
        if let Ok(address) = bare.parse::<Ipv4Addr>() {
            return Ok(Self::Address(IpAddr::V4(address)));
        }
        if bare.len() > 253 {
            return refuse("it is longer than 253 characters");
        }
        for label in bare.split('.') {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            match label {
                "" => return refuse("a part between dots is empty"),
                _ if label.len() > 63 => return refuse("a part is longer than 63 characters"),
                _ if !label.bytes().all(fits) => {
                    return refuse("only letters, digits, hyphens and dots may be in a name");
                }
                _ if label.starts_with('-') || label.ends_with('-') => {
                    return refuse("a part begins or ends with a hyphen");
                }
                _ => {}
            }
        }
        // Other spellings of addresses (`0x7f.1`, `2130706433`) are names to some resolvers only.
        let last = bare.rsplit('.').next().unwrap_or_default();
        let looks_like_number = last.bytes().all(|byte| byte.is_ascii_digit())
            || (last.len() > 1 && last.as_bytes()[..2].eq_ignore_ascii_case(b"0x"));
        if looks_like_number {
            return refuse("write an IPv4 address as four decimal numbers");
        }
        Ok(Self::Name(bare.to_ascii_lowercase()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
            Self::Address(address) => write!(formatter, "{address}"),
        }
    }
}

/// An entry of an allow-list: `host`, `host:port`, `*.domain` or `*.domain:port`. Without a port,
/// 80 and 443.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRule {
    /// The host, or the domain whose subdomains are meant.
    pub host: Host,
    /// Whether only names below it are meant.
    pub subdomains: bool,
    /// The port.
    pub port: Option<u16>,
}

impl HostRule {
    /// Reads an entry.
    pub fn parse(text: &str) -> Result<Self, InvalidHost> {
        let refuse = |why| InvalidHost {
            text: text.to_owned(),
            why,
        };
        let (subdomains, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        // An address in version 6 has colons of its own, so a port needs brackets before it.
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                let port = port.parse().ok().filter(|port| *port != 0);
                (
                    host,
                    Some(port.ok_or_else(|| refuse("the port is not a number from 1 to 65535"))?),
                )
            }
            _ => (rest, None),
        };
        let host = Host::parse(host)?;
        match (&host, subdomains) {
            (Host::Address(_), true) => Err(refuse("an address has no subdomains")),
            (Host::Address(address), false)
                if address.is_unspecified() || address.is_multicast() =>
            {
                Err(refuse("it is not the address of one host"))
            }
            (Host::Name(name), true) if !name.contains('.') => {
                Err(refuse("every name of a whole top-level domain is too much"))
            }
            _ => Ok(Self {
                host,
                subdomains,
                port,
            }),
        }
    }

    /// Whether it names this host and port.
    pub fn fits(&self, host: &Host, port: u16) -> bool {
        let port_fits = match self.port {
            Some(own) => own == port,
            None => matches!(port, 80 | 443),
        };
        let host_fits = match (&self.host, host) {
            (Host::Name(domain), Host::Name(name)) if self.subdomains => name
                .strip_suffix(domain.as_str())
                .is_some_and(|front| front.len() > 1 && front.ends_with('.')),
            (own, other) => own == other,
        };
        port_fits && host_fits
    }
}

/// How an address that a name was resolved to may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// On the public internet.
    Public,
    /// This machine, a private network, link-local, metadata or reserved.
    Inner,
}

/// Judges addresses after resolution.
pub trait AddressGuard: Send + Sync {
    /// What kind of address it is.
    fn kind(&self, address: IpAddr) -> AddressKind;
}

/// How confinement is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// Namespaces made by the bubblewrap program; Landlock and seccomp inside.
    Bubblewrap,
    /// Namespaces of our own; Landlock and seccomp inside.
    Namespaces,
    /// Landlock and seccomp alone.
    Landlock,
}

impl fmt::Display for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bubblewrap => "bubblewrap + Landlock + seccomp",
            Self::Namespaces => "namespaces + Landlock + seccomp",
            Self::Landlock => "Landlock + seccomp",
        })
    }
}

/// What this machine offers for confinement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxFeatures {
    /// The version of the kernel.
    pub kernel: String,
    /// The version of Landlock's interface; none without Landlock.
    pub landlock: Option<u32>,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// Whether namespaces can be created; otherwise why not.
    pub namespaces: Result<(), String>,
    /// Where a bubblewrap that works is; otherwise why there is none.
    pub bubblewrap: Result<PathBuf, String>,
}

/// Something the kernel or the system must offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// Linux itself.
    Linux,
    /// Landlock, of at least this version.
    Landlock(u32),
    /// Filters of system calls.
    Seccomp,
    /// User, mount, process and network namespaces, or bubblewrap.
    Namespaces,
}

impl fmt::Display for Feature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linux => formatter.write_str("Linux"),
            Self::Landlock(version) => write!(formatter, "Landlock version {version}"),
            Self::Seccomp => formatter.write_str("seccomp filters"),
            Self::Namespaces => formatter.write_str("namespaces"),
        }
    }
}

/// Why a program was not prepared. It was not run either.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SandboxRefusal {
    /// The machine lacks what the confinement needs.
    #[error("the sandbox needs {feature}, which this machine does not offer: {why}")]
    Missing {
        /// What.
        feature: Feature,
        /// What was found instead.
        why: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The confinement cannot be enforced as it is written.
    #[error("{path}: {why}", path = path.display())]
    Unenforceable {
        /// The path it is about.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The machine failed while the confinement was prepared.
    #[error("the sandbox could not be prepared: {0}")]
    Failed(String),
}

/// A program to confine.
#[derive(Clone, Copy, Debug)]
pub struct SandboxRequest<'a> {
    /// The program; a name is looked up in `PATH` inside the sandbox.
    pub program: &'a OsStr,
    /// Its arguments.
    pub arguments: &'a [OsString],
    /// The whole environment; only what is harmless or named by the confinement is handed on.
    pub environment: &'a [(OsString, OsString)],
    /// What it may touch.
    pub confinement: &'a Confinement,
}

/// The command to run instead. Its exit code is the program's, or 128 and the number of the signal
/// that ended it; 125 when the sandbox failed, 126 and 127 when the program could not be started
/// or found.
#[derive(Clone, Debug)]
pub struct SandboxedCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts.
    pub directory: PathBuf,
    /// What enforces the confinement.
    pub backend: Backend,
}

/// Confines programs.
pub trait Sandbox: Send + Sync {
    /// What this machine offers.
    fn features(&self) -> &SandboxFeatures;

    /// What would enforce a confinement that needs the network restricted as named.
    fn backend(&self, network: &Network) -> Result<Backend, SandboxRefusal>;

    /// The command that runs the program confined. The command, and everything it started, ends
    /// with the process that called this.
    fn prepare(&self, request: SandboxRequest<'_>) -> Result<SandboxedCommand, SandboxRefusal>;
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
