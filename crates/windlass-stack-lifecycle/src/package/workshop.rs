//! One place of work: a project, its tools, a cache; functions in, zips out.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;
use serde_json::json;
use windlass_ports::Runs;
use windlass_stack_config::model::function::{Architecture, LambdaRuntime};
use windlass_stack_config::model::packaging::{FunctionPackaging, LanguageConfig};
use windlass_types::{Digest, Problem};

use crate::package::cache::{Cache, Record, file_digest};
use crate::package::failure::{failed, with_hint};
use crate::package::glob::Globs;
use crate::package::job::FunctionJob;
use crate::package::lang;
use crate::package::program::Runner;
use crate::package::stage::{Body, Staged};
use crate::package::tools::Tools;
use crate::package::tree::{self, Kind, Links, Walk};
use crate::package::zip;

/// How large a package may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// All files of a function together, in bytes.
    pub unzipped: u64,
    /// The zip, in bytes.
    pub zipped: u64,
}

impl Default for Limits {
    /// Lambda's: 250 MB unzipped. A zip from S3 has no smaller limit of its own; the 50 MB of a
    /// direct upload are [`Zip::fits_direct_upload`].
    fn default() -> Self {
        Self {
            unzipped: 250 << 20,
            zipped: 250 << 20,
        }
    }
}

/// A function's package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zip {
    /// The SHA-256 of the zip.
    pub digest: Digest,
    /// Where it is, in the cache.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// The size of its files in bytes.
    pub unzipped: u64,
    /// The handler as Lambda writes it, where packaging decided on it.
    pub handler: Option<String>,
    /// Whether it was made before from the same inputs.
    pub was_cached: bool,
}

impl Zip {
    /// Whether the API would take it without S3.
    pub fn fits_direct_upload(&self) -> bool {
        self.bytes <= 50 << 20
    }
}

/// A project and what it is packaged with.
pub struct Workshop<'a> {
    /// Nothing outside of it is packaged. Absolute.
    pub project: &'a Path,
    /// What paths of the config are relative to.
    pub base: &'a Path,
    /// A folder for packages that are kept.
    pub cache: &'a Path,
    /// Programs.
    pub tools: &'a Tools,
    /// Refuses to run code of the project, named to it, unless the user has trusted the project.
    pub trust: &'a dyn Fn(Runs, &str) -> Result<(), Problem>,
    /// How large packages may be.
    pub limits: Limits,
    /// How long one program may run.
    pub time: Duration,
    /// Whether the result is no longer wanted.
    pub unwanted: &'a dyn Fn() -> bool,
    /// Receives what happens: workload, message.
    pub progress: &'a dyn Fn(&str, &str),
}

/// What a package is found again by.
pub(crate) struct Remember {
    key: Digest,
    names: Digest,
    inputs: Vec<(PathBuf, Digest)>,
}

/// Source that a language makes a package of.
pub(crate) struct Source<'a> {
    pub workload: &'a str,
    /// As in the config, without the name of an app behind it.
    pub entry: &'a str,
    /// What stands behind the entry's colon.
    pub app: Option<&'a str>,
    pub handler_function: Option<&'a str>,
    pub language: &'a LanguageConfig,
    pub exclude_dependencies: &'a [String],
    pub runtime: Option<LambdaRuntime>,
    pub architecture: Architecture,
    pub is_image: bool,
}

impl Source<'_> {
    /// The dependencies that the package is made without.
    pub fn left_out(&self) -> Vec<String> {
        let unwanted = &self
            .language
            .dependencies_to_exclude_from_deployment_package;
        let all = self.exclude_dependencies.iter();
        all.chain(unwanted.iter().flatten()).cloned().collect()
    }
}

impl Workshop<'_> {
    /// Forgets how packages were built before, so that all are built again.
    pub fn forget(&self) -> Result<(), Problem> {
        Cache(self.cache)
            .forget()
            .map_err(|cause| failed("the cache of packages", cause))
    }

    /// Refuses a workload whose entry file does not exist. Nothing is packaged for that.
    pub fn require_entry(&self, workload: &str, entryfile_path: &str) -> Result<(), Problem> {
        let (entry, _) = split_entry(entryfile_path);
        self.inside(workload, entry).map(drop)
    }

    /// Makes a function's zip, or finds it as it was made before.
    pub fn zip(&self, job: &FunctionJob<'_>) -> Result<Zip, Problem> {
        match job.packaging {
            FunctionPackaging::CustomArtifact(artifact) => {
                lang::artifact::zip(self, job.workload, artifact)
            }
            FunctionPackaging::Buildpack(buildpack) => {
                let (entry, app) = split_entry(&buildpack.entryfile_path);
                let source = Source {
                    workload: job.workload,
                    entry,
                    app,
                    handler_function: buildpack.handler_function.as_deref(),
                    language: &buildpack.language_specific_config,
                    exclude_dependencies: &buildpack.exclude_dependencies,
                    runtime: job.runtime,
                    architecture: job.architecture,
                    is_image: false,
                };
                let key = Digest::of_json(&json!({
                    "version": 1,
                    "packaging": buildpack,
                    "runtime": job.runtime,
                    "architecture": job.architecture,
                    "base": self.base,
                    "project": self.project,
                    "tools": lang::tool_identity(self, entry),
                }));
                let names = self.names(job.workload)?;
                if let Some(record) = Cache(self.cache).look(&key, &names) {
                    return self.zip_of(job.workload, record, true);
                }
                let staged =
                    self.stage(&source, &buildpack.include_files, &buildpack.exclude_files)?;
                let inputs = digests(job.workload, &staged.inputs)?;
                self.pack(job.workload, &staged, Some(Remember { key, names, inputs }))
            }
        }
    }

    /// Everything a buildpack takes: what the language makes, further files, without the excluded.
    pub(crate) fn stage(
        &self,
        source: &Source<'_>,
        include: &[String],
        exclude: &[String],
    ) -> Result<Staged, Problem> {
        let workload = source.workload;
        let excluded = Globs::new(exclude).map_err(|cause| failed(workload, cause))?;
        let mut staged = lang::stage(self, source, &excluded)?;
        if !include.is_empty() {
            let included = Globs::new(include).map_err(|cause| failed(workload, cause))?;
            let into_modules = include
                .iter()
                .any(|pattern| pattern.contains("node_modules"));
            let wanted = |path: &str, kind: Kind| {
                let is_modules = path.rsplit('/').next() == Some("node_modules");
                !excluded.is_match(path)
                    && !tree::is_never_packaged(path)
                    && match kind {
                        Kind::Folder => into_modules || !is_modules || included.is_match(path),
                        Kind::File => included.is_match(path),
                    }
            };
            let found = self.walk(workload, self.base, Links::Followed, &wanted)?;
            if found.is_empty() {
                let hint = "check includeFiles: patterns are relative to the config";
                let cause = format!("no file matches {}", include.join(", "));
                return Err(with_hint(failed(workload, cause), hint));
            }
            for file in found {
                staged.add_found(file.path.clone(), file);
            }
        }
        staged.retain(|path| !excluded.is_match(path));
        Ok(staged)
    }

    /// Packs what was staged, within the limits.
    pub(crate) fn pack(
        &self,
        workload: &str,
        staged: &Staged,
        remember: Option<Remember>,
    ) -> Result<Zip, Problem> {
        let entries = staged.entries().map_err(|cause| failed(workload, cause))?;
        if entries.len() > zip::MOST_ENTRIES {
            let cause = format!("it has {} files, more than a zip holds", entries.len());
            return Err(failed(workload, cause));
        }
        let mut sizes = Vec::new();
        for entry in &entries {
            sizes.push(match &entry.body {
                Body::Bytes(bytes) => bytes.len() as u64,
                Body::File(path) => fs::metadata(path).map_err(|it| failed(workload, it))?.len(),
            });
        }
        // Before anything is read: a huge file must not become a huge buffer.
        let total: u64 = sizes.iter().sum();
        let largest = sizes.iter().zip(&entries).max_by_key(|(size, _)| **size);
        self.check_size(
            workload,
            total,
            largest.map(|(_, entry)| entry.path.as_str()),
        )?;
        let mut bytes = Vec::new();
        let unzipped = zip::write(&entries, &mut bytes).map_err(|it| failed(workload, it))?;
        let record = Record {
            names: Digest::ZERO,
            inputs: Vec::new(),
            digest: Digest::of(&bytes),
            unzipped,
            handler: staged.handler.clone(),
        };
        let cache = Cache(self.cache);
        cache
            .keep_zip(&record.digest, &bytes)
            .map_err(|it| failed(workload, it))?;
        if let Some(Remember { key, names, inputs }) = remember {
            let remembered = Record {
                names,
                inputs,
                ..record.clone()
            };
            cache
                .keep(&key, &remembered)
                .map_err(|it| failed(workload, it))?;
        }
        self.zip_of(workload, record, false)
    }

    pub(crate) fn check_size(
        &self,
        workload: &str,
        unzipped: u64,
        largest: Option<&str>,
    ) -> Result<(), Problem> {
        if unzipped <= self.limits.unzipped {
            return Ok(());
        }
        let megabyte = |bytes: u64| bytes.div_ceil(1 << 20);
        let largest = largest.map_or_else(String::new, |path| format!("; the largest is {path}"));
        let cause = format!(
            "its files have {} MB, more than the {} MB of a function{largest}",
            megabyte(unzipped),
            megabyte(self.limits.unzipped),
        );
        let hint = "leave files out with excludeFiles or excludeDependencies, or use a container";
        Err(with_hint(failed(workload, cause), hint).with("bytes", unzipped))
    }

    fn zip_of(&self, workload: &str, record: Record, was_cached: bool) -> Result<Zip, Problem> {
        let path = Cache(self.cache).zip(&record.digest);
        let bytes = fs::metadata(&path)
            .map_err(|it| failed(workload, it))?
            .len();
        if bytes > self.limits.zipped {
            let cause = format!(
                "its zip has {bytes} bytes, more than {}",
                self.limits.zipped
            );
            return Err(failed(workload, cause));
        }
        let how = if was_cached { "unchanged" } else { "packaged" };
        let short = record.digest.short();
        (self.progress)(
            workload,
            &format!("{how}: {} KB, {short}", bytes.div_ceil(1024)),
        );
        Ok(Zip {
            digest: record.digest,
            path,
            bytes,
            unzipped: record.unzipped,
            handler: record.handler,
            was_cached,
        })
    }

    pub(crate) fn walk(
        &self,
        workload: &str,
        folder: &Path,
        links: Links,
        wanted: &dyn Fn(&str, Kind) -> bool,
    ) -> Result<Vec<tree::Found>, Problem> {
        let project = self.root(workload)?;
        let walk = Walk {
            project: &project,
            links,
            wanted,
        };
        let hint = "leave it out with excludeFiles, or put a copy into the project";
        walk.files(folder)
            .map_err(|cause| with_hint(failed(workload, cause), hint))
    }

    /// The project as the disk knows it.
    pub(crate) fn root(&self, workload: &str) -> Result<PathBuf, Problem> {
        fs::canonicalize(self.project).map_err(|error| failed(workload, error))
    }

    /// A path of the config, inside the project.
    pub(crate) fn inside(&self, workload: &str, written: &str) -> Result<PathBuf, Problem> {
        let hint = "paths are relative to the config and stay inside the project";
        tree::inside(&self.root(workload)?, self.base, written)
            .map_err(|cause| with_hint(failed(workload, cause), hint).with("path", written))
    }

    pub(crate) fn runner<'b>(&'b self, workload: &'b str) -> Runner<'b> {
        Runner {
            workload,
            environment: &self.tools.environment,
            time: self.time,
            unwanted: self.unwanted,
        }
    }

    /// The digest of the names of all files of the project.
    fn names(&self, workload: &str) -> Result<Digest, Problem> {
        let cache = fs::canonicalize(self.cache).ok();
        let root = self.root(workload)?;
        let cache = cache
            .as_deref()
            .and_then(|cache| cache.strip_prefix(&root).ok());
        let cache = cache.and_then(Path::to_str);
        let wanted = |path: &str, _: Kind| {
            !tree::is_never_packaged(path)
                && path.rsplit('/').next() != Some("node_modules")
                && Some(path) != cache
        };
        let found = self.walk(workload, self.project, Links::Kept, &wanted)?;
        let names: Vec<&[u8]> = found.iter().map(|it| it.path.as_bytes()).collect();
        Ok(Digest::of_parts(&names))
    }
}

/// `main.py:app` is a file and an app.
pub(crate) fn split_entry(written: &str) -> (&str, Option<&str>) {
    match written.split_once(':') {
        Some((file, app)) => (file, Some(app)),
        None => (written, None),
    }
}

fn digests(workload: &str, inputs: &[PathBuf]) -> Result<Vec<(PathBuf, Digest)>, Problem> {
    let mut sorted = inputs.to_vec();
    sorted.sort();
    sorted.dedup();
    sorted
        .into_iter()
        .map(|path| {
            let digest = file_digest(&path).map_err(|it| failed(workload, it))?;
            Ok((path, digest))
        })
        .collect()
}
