//! From a confinement to the command that runs the outer stage, or to a refusal.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    os::unix::fs::FileTypeExt as _,
    path::{Component, Path, PathBuf},
    sync::{Arc, OnceLock},
};

use windlass_ports::sandbox::{
    Backend, Confinement, Feature, Network, Protected, Sandbox, SandboxFeatures, SandboxRefusal,
    SandboxRequest, SandboxedCommand, StandIn,
};

use crate::{
    ENTRY, environment, features,
    layout::{self, Outside},
    spec::{Owner, Reach, Spec},
    stand_ins,
};

/// The kernel passes no longer argument on.
const LONGEST_ARGUMENT: usize = 120 * 1024;
/// Without namespaces this version is needed: the first that keeps signals and abstract sockets
/// inside.
const SCOPES: u32 = 6;
/// The first version that restricts connections to Unix sockets that have a name.
const NAMED_SOCKETS: u32 = 9;

/// The sandbox of this machine's kernel.
#[derive(Clone)]
pub struct KernelSandbox {
    program: PathBuf,
    path: Option<OsString>,
    features: Arc<OnceLock<SandboxFeatures>>,
}

impl KernelSandbox {
    /// What this machine offers. `program` is the one that calls [`crate::enter`] when it is started
    /// with [`ENTRY`]; bubblewrap is looked for in `path`. Nothing is tried before it is asked for.
    pub fn of_this_machine(program: &Path, path: Option<&OsStr>) -> Self {
        Self {
            program: program.to_owned(),
            path: path.map(OsStr::to_owned),
            features: Arc::default(),
        }
    }

    /// The same with features that were found before, or that a test takes away.
    pub fn with_features(program: &Path, features: SandboxFeatures) -> Self {
        Self {
            program: program.to_owned(),
            path: None,
            features: Arc::new(features.into()),
        }
    }

    fn spec(&self, confinement: &Confinement) -> Result<Spec, SandboxRefusal> {
        let backend = self.backend(&confinement.network)?;
        let (outside, protected) = look(confinement)?;
        let landlock = self.features().landlock.unwrap_or_default();
        let directory = real(&confinement.directory)?;
        let roots = [&outside.read[..], &outside.write[..]].concat();
        if !layout::shows(&roots, &directory) {
            let why = "the program starts there, but no root shows it";
            return Err(unenforceable(&confinement.directory, why));
        }
        let own_network = backend != Backend::Landlock && confinement.network != Network::On;
        let own = rustix::process::getpid().as_raw_nonzero().get();
        Ok(Spec {
            backend,
            bubblewrap: self.features().bubblewrap.clone().ok(),
            owner: Owner::of(own)
                .ok_or_else(|| SandboxRefusal::Failed("/proc cannot be read".to_owned()))?,
            directory,
            read: outside.read.clone(),
            deny_read: [&outside.hidden_folders[..], &outside.hidden_files[..]].concat(),
            write: outside.write.clone(),
            mounts: match backend {
                Backend::Landlock => Vec::new(),
                Backend::Bubblewrap | Backend::Namespaces => layout::plan(&outside),
            },
            protected,
            network: match &confinement.network {
                Network::Off => Reach::Off,
                Network::Hosts(rules) => Reach::Hosts(rules.clone()),
                Network::On => Reach::On,
            },
            // In namespaces, sockets that have a name are hidden and abstract ones belong to the
            // network; where the network is shared, Landlock has to keep them away.
            unix_sockets: landlock >= NAMED_SOCKETS
                || (backend != Backend::Landlock && (own_network || landlock >= SCOPES)),
            scopes: landlock >= SCOPES,
            limits: confinement.limits.clone(),
        })
    }
}

impl Sandbox for KernelSandbox {
    fn features(&self) -> &SandboxFeatures {
        self.features
            .get_or_init(|| features::detect(self.path.as_deref()))
    }

    fn backend(&self, network: &Network) -> Result<Backend, SandboxRefusal> {
        let found = self.features();
        let missing = |feature, why: String, remedy| {
            Err(SandboxRefusal::Missing {
                feature,
                why,
                remedy,
            })
        };
        if !found.seccomp {
            return missing(
                Feature::Seccomp,
                "the kernel has none, or a container refuses them".to_owned(),
                "use a kernel with CONFIG_SECCOMP_FILTER, or let the container install filters",
            );
        }
        let Some(landlock) = found.landlock else {
            return missing(
                Feature::Landlock(1),
                format!("the kernel {} has it switched off or too old", found.kernel),
                "use Linux 5.13 or later with landlock in the boot parameter lsm=, and let the \
                 container's seccomp profile pass landlock_*",
            );
        };
        let why = match (&found.bubblewrap, &found.namespaces) {
            (Ok(_), _) => return Ok(Backend::Bubblewrap),
            (_, Ok(())) => return Ok(Backend::Namespaces),
            (Err(bubblewrap), Err(namespaces)) => {
                format!("namespaces: {namespaces}; bubblewrap: {bubblewrap}")
            }
        };
        let remedy = "install bubblewrap (package bubblewrap), or allow unprivileged user namespaces \
                      (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0)";
        if matches!(network, Network::Hosts(_)) {
            // Landlock knows ports, not hosts: the list could only be pretended.
            return missing(Feature::Namespaces, why, remedy);
        }
        if landlock < SCOPES {
            let why = format!("Landlock has version {landlock}; {why}");
            return missing(Feature::Landlock(SCOPES), why, remedy);
        }
        Ok(Backend::Landlock)
    }

    fn prepare(&self, request: SandboxRequest<'_>) -> Result<SandboxedCommand, SandboxRefusal> {
        let confinement = request.confinement;
        let spec = self.spec(confinement)?;
        let text = serde_json::to_string(&spec)
            .map_err(|error| SandboxRefusal::Failed(error.to_string()))?;
        if text.len() > LONGEST_ARGUMENT {
            return Err(SandboxRefusal::Failed(format!(
                "the confinement takes {} bytes; name fewer paths",
                text.len()
            )));
        }
        let mut arguments: Vec<OsString> = ENTRY.iter().map(Into::into).collect();
        arguments.extend(["outer".into(), text.into(), "--".into()]);
        arguments.push(request.program.to_owned());
        arguments.extend_from_slice(request.arguments);
        let temporary = (spec.backend != Backend::Landlock).then_some("/tmp");
        Ok(SandboxedCommand {
            program: self.program.clone(),
            arguments,
            environment: environment::allowed(
                request.environment,
                &confinement.variables,
                &confinement.network,
                temporary,
            ),
            directory: spec.directory,
            backend: spec.backend,
        })
    }
}

fn unenforceable(path: &Path, why: impl Into<String>) -> SandboxRefusal {
    SandboxRefusal::Unenforceable {
        path: path.to_owned(),
        why: why.into(),
    }
}

fn real(path: &Path) -> Result<PathBuf, SandboxRefusal> {
    if path.to_str().is_none() {
        return Err(unenforceable(path, "it is not UTF-8"));
    }
    if !path.is_absolute() {
        return Err(unenforceable(path, "it is not absolute"));
    }
    fs_err::canonicalize(path).map_err(|error| unenforceable(path, error.to_string()))
}

/// Folders that a confined program has versions of its own of, or that reach the kernel.
const NEVER_WRITTEN: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/boot"];

/// Resolves every path once.
fn look(confinement: &Confinement) -> Result<(Outside, Vec<Protected>), SandboxRefusal> {
    let mut outside = Outside {
        temporary: confinement.limits.temporary,
        ..Outside::default()
    };
    for path in &confinement.write {
        let found = real(path)?;
        if !found.is_dir() {
            return Err(unenforceable(path, "only a folder can be a write root"));
        }
        if found == Path::new("/") || NEVER_WRITTEN.iter().any(|root| found.starts_with(root)) {
            return Err(unenforceable(
                path,
                "the system itself cannot be a write root",
            ));
        }
        if ["/etc", "/usr"].iter().any(|root| found == Path::new(root)) {
            return Err(unenforceable(
                path,
                "the system itself cannot be a write root",
            ));
        }
        outside.write.push(found);
    }
    for path in &confinement.read {
        // What is not there cannot be read; lists name the folders of several systems.
        if !path.exists() {
            continue;
        }
        let found = real(path)?;
        if let Ok(target) = fs_err::read_link(path) {
            outside.links.push((path.clone(), target));
        }
        outside.read.push(found);
    }
    for path in &confinement.deny_read {
        if !path.exists() {
            continue;
        }
        let found = real(path)?;
        match found.is_dir() {
            true => outside.hidden_folders.push(found),
            false => outside.hidden_files.push(found),
        }
    }
    outside.hidden_files.extend(listening_sockets());
    let roots = [&outside.read[..], &outside.write[..]].concat();
    outside
        .hidden_folders
        .retain(|path| layout::shows(&roots, path));
    outside
        .hidden_files
        .retain(|path| layout::shows(&roots, path));
    let mut kept: Vec<Protected> = Vec::new();
    for entry in &confinement.protected {
        let found = protected(entry, &outside.write)?;
        kept.extend(found.filter(|found| kept.iter().all(|other| other.path != found.path)));
    }
    outside.protected = kept.iter().map(|entry| entry.path.clone()).collect();
    Ok((outside, kept))
}

/// What is protected: the path itself, or the first part of it that does not exist.
fn first_missing(path: &Path, stand_in: &StandIn) -> Protected {
    // Another sandbox's stand-in is as good as missing: it goes when that sandbox does.
    let is_there =
        |path: &Path| fs_err::symlink_metadata(path).is_ok() && !stand_ins::is_folder_of_ours(path);
    let missing = path
        .ancestors()
        .skip(1)
        .take_while(|above| !is_there(above))
        .last()
        .unwrap_or(path);
    let stand_in = if missing == path {
        stand_in.clone()
    } else {
        StandIn::Folder
    };
    Protected::new(missing.to_owned(), stand_in)
}

/// `None` outside of every write root.
fn protected(entry: &Protected, roots: &[PathBuf]) -> Result<Option<Protected>, SandboxRefusal> {
    let path = &entry.path;
    if path.to_str().is_none() || !path.is_absolute() {
        return Err(unenforceable(path, "it is not absolute or not UTF-8"));
    }
    // The roots have no links any more; the way to a protected path may.
    let above = path
        .parent()
        .and_then(|above| fs_err::canonicalize(above).ok());
    let spelled = match (&above, path.file_name()) {
        (Some(above), Some(name)) => above.join(name),
        _ => path.clone(),
    };
    let Some(root) = roots
        .iter()
        .filter(|root| spelled.starts_with(root) || path.starts_with(root))
        .max_by_key(|root| root.as_os_str().len())
    else {
        return Ok(None);
    };
    let Ok(below) = path.strip_prefix(root) else {
        // Reached through a link outside of the root; the real path is what counts.
        return Ok(Some(first_missing(&spelled, &entry.stand_in)));
    };
    let mut walked = root.clone();
    for part in below.components() {
        let Component::Normal(part) = part else {
            return Err(unenforceable(path, "it has `..` in it"));
        };
        walked.push(part);
        match fs_err::symlink_metadata(&walked) {
            Err(_) => break,
            Ok(found) if found.is_symlink() => {
                return Err(unenforceable(
                    &walked,
                    "it is a symbolic link, which the program could replace; make it a file or a \
                     folder, or choose a smaller write root",
                ));
            }
            Ok(_) => {}
        }
    }
    Ok(Some(first_missing(path, &entry.stand_in)))
}

/// Unix sockets that someone listens on and that could be reached by name: agents of keys,
/// containers, desktops. Their servers act for the user, so they are hidden.
fn listening_sockets() -> BTreeSet<PathBuf> {
    const LISTENING: &str = "00010000";
    let table = fs_err::read_to_string("/proc/net/unix").unwrap_or_default();
    table
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let listens = fields.nth(3)? == LISTENING;
            let path = fields.nth(3)?;
            (listens && path.starts_with('/')).then(|| PathBuf::from(path))
        })
        .filter(|path| {
            fs_err::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
        })
        .filter_map(|path| fs_err::canonicalize(path).ok())
        .collect()
}

#[cfg(test)]
#[path = "prepare_tests.rs"]
mod tests;
