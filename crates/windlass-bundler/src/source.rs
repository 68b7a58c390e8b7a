//! Where the files of a release are: in the cache, or fetched into it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256, Sha512};
use tokio::runtime::Handle;
use url::Url;
use windlass_config::Environment;
use windlass_files::{Access, write_from};
use windlass_ports::{Bundler, BundlerUnavailable, DecoratorTools, Outbound, OutboundError};

use crate::download::{DownloadError, download};
use crate::registry::NpmSettings;
use crate::release::{ESBUILD, Package, Release};
use crate::tarball;

const NAME_ONE: &str =
    "or install esbuild and name it in config.toml: [stack] esbuild = \"/path/to/esbuild\"";

/// What a bundler is given.
pub struct BundlerOptions {
    /// What is fetched.
    pub release: Release,
    /// Where it is kept.
    pub cache: PathBuf,
    /// How registries are reached. Its policy decides which.
    pub outbound: Arc<dyn Outbound>,
    /// The environment that names the registry.
    pub environment: Environment,
    /// An esbuild that the user named; it is used instead.
    pub esbuild: Option<PathBuf>,
    /// Whether nothing may be fetched.
    pub refuse_downloads: bool,
    /// What drives the calls; they come from threads that may block.
    pub runtime: Handle,
}

/// The pinned esbuild.
pub struct PinnedBundler {
    options: BundlerOptions,
    /// Files that this process has checked, by their package. Held while one is fetched, so that
    /// it is fetched once.
    checked: Mutex<BTreeMap<&'static str, PathBuf>>,
}

impl std::fmt::Debug for PinnedBundler {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.identity())
    }
}

impl PinnedBundler {
    /// A bundler; nothing is looked at before it is asked for.
    pub fn new(options: BundlerOptions) -> Self {
        Self {
            options,
            checked: Mutex::default(),
        }
    }

    fn own(&self) -> Result<Package, BundlerUnavailable> {
        self.options.release.esbuild.ok_or_else(|| {
            let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
            BundlerUnavailable {
                cause: format!("there is no pinned esbuild for {system} on {processor}"),
                next: vec![NAME_ONE.trim_start_matches("or ").to_owned()],
                is_forbidden: false,
            }
        })
    }

    /// The file of a package, checked once by each process.
    fn file(
        &self,
        package: Package,
        progress: &dyn Fn(&str),
    ) -> Result<PathBuf, BundlerUnavailable> {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = checked.get(package.name) {
            return Ok(file.clone());
        }
        let file = self.place(&package);
        if !is_pinned(&package, &fs_err::read(&file).unwrap_or_default()) {
            self.fetch(&package, &file, progress)?;
        }
        checked.insert(package.name, file.clone());
        Ok(file)
    }

    fn place(&self, package: &Package) -> PathBuf {
        let name = package.name.trim_start_matches('@').replace('/', "-");
        let file = package.file.path.rsplit('/').next().unwrap_or_default();
        let folder = format!("{name}-{}", package.version);
        self.options.cache.join(folder).join(file)
    }

    fn fetch(
        &self,
        package: &Package,
        file: &Path,
        progress: &dyn Fn(&str),
    ) -> Result<(), BundlerUnavailable> {
        let what = format!("{} {}", package.name, package.version);
        if self.options.refuse_downloads {
            return Err(BundlerUnavailable {
                cause: format!(
                    "{what} is not in {}, and the setting stack.refuse_downloads forbids fetching it",
                    self.options.cache.display()
                ),
                next: vec![
                    "unset stack.refuse_downloads in config.toml".to_owned(),
                    NAME_ONE.to_owned(),
                ],
                is_forbidden: true,
            });
        }
        let registry = NpmSettings::read(&self.options.environment).registry_of(package.name);
        let host = host(&registry.address);
        progress(&format!("fetching {what} from {host}, once"));
        let work = download(&*self.options.outbound, &registry, package);
        let tarball = self.options.runtime.block_on(work).map_err(|error| {
            let next = next_steps(&error, &host);
            failure(
                format!("{what} could not be fetched from {host}: {error}"),
                next,
            )
        })?;
        let other = || {
            let cause = format!(
                "what {host} sent as {what} is not that package: its SHA-512 is not the pinned \
                 one; it was discarded"
            );
            failure(cause, vec![another_registry(), NAME_ONE.to_owned()])
        };
        if STANDARD.encode(Sha512::digest(&tarball)) != package.sha512 {
            return Err(other());
        }
        let content = tarball::file(&tarball, package.file.path)
            .filter(|content| is_pinned(package, content))
            .ok_or_else(other)?;
        let access = match package.file.is_program {
            true => Access::Executable,
            false => Access::Usual,
        };
        write_from(&self.options.cache, file, &content, access)
            .map_err(|error| failure(format!("{what} could not be kept: {error}"), Vec::new()))
    }
}

impl Bundler for PinnedBundler {
    fn esbuild(&self, progress: &dyn Fn(&str)) -> Result<PathBuf, BundlerUnavailable> {
        match &self.options.esbuild {
            Some(named) if named.is_file() => Ok(named.clone()),
            Some(named) => Err(failure(
                format!(
                    "the setting stack.esbuild names {}, which is not there",
                    named.display()
                ),
                vec!["correct stack.esbuild in config.toml, or remove it".to_owned()],
            )),
            None => self.file(self.own()?, progress),
        }
    }

    fn decorators(&self, progress: &dyn Fn(&str)) -> Result<DecoratorTools, BundlerUnavailable> {
        let release = self.options.release;
        // The interface runs the esbuild of its own version only, so never a named one.
        Ok(DecoratorTools {
            esbuild: self.file(self.own()?, progress)?,
            interface: self.file(release.interface, progress)?,
            typescript: self.file(release.typescript, progress)?,
        })
    }

    fn identity(&self) -> String {
        match &self.options.esbuild {
            None => format!("esbuild {ESBUILD}"),
            Some(named) => {
                let length = fs_err::metadata(named).map(|it| it.len()).unwrap_or(0);
                format!("{} {length}", named.display())
            }
        }
    }
}

fn is_pinned(package: &Package, content: &[u8]) -> bool {
    let digest = Sha256::digest(content);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex == package.file.sha256
}

fn failure(cause: String, next: Vec<String>) -> BundlerUnavailable {
    BundlerUnavailable {
        cause,
        next,
        is_forbidden: false,
    }
}

fn another_registry() -> String {
    "set NPM_CONFIG_REGISTRY, or registry in ~/.npmrc, to a registry that has it".to_owned()
}

/// What to do about a package that did not arrive.
fn next_steps(error: &DownloadError, host: &str) -> Vec<String> {
    let first = match error {
        DownloadError::Outbound(OutboundError::Forbidden(_)) => format!(
            "if {host} is a registry of yours on a private network or without TLS, set \
             allow_private_registry = true in the [stack] table of config.toml"
        ),
        DownloadError::Status(401 | 403) => {
            format!("sign in to {host} with npm login, or write its _authToken into ~/.npmrc")
        }
        DownloadError::Outbound(OutboundError::Unreachable(_) | OutboundError::TimedOut(_)) => {
            format!("connect this machine to {host} and repeat the command; this is done only once")
        }
        _ => another_registry(),
    };
    let mut next = vec![first, another_registry(), NAME_ONE.to_owned()];
    next.dedup();
    next
}

/// The host of an address, with its port. Nothing else of it is shown: it may hold a password.
fn host(address: &str) -> String {
    let parsed = Url::parse(address).ok();
    let host = parsed.as_ref().and_then(|url| {
        let port = url.port().map(|port| format!(":{port}"));
        Some(format!("{}{}", url.host_str()?, port.unwrap_or_default()))
    });
    host.unwrap_or_else(|| "the registry".to_owned())
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
