//! Images: named by what they would be built from, built on request.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::json;
use windlass_stack_config::model::packaging::{ImageBuildpack, ImagePackaging, Nixpacks};
use windlass_types::{Digest, Problem};

use crate::package::context::{self, Ignore};
use crate::package::dockerfile;
use crate::package::engine::{ContainerEngine, ImageBuild};
use crate::package::failure::{failed, missing_tool};
use crate::package::job::{ImageJob, platform};
use crate::package::program::Call;
use crate::package::stage::{Body, Entry};
use crate::package::workshop::{Source, Workshop, split_entry};

/// An image that can be built.
#[derive(Debug)]
pub struct ImagePlan {
    /// The workload.
    pub workload: String,
    /// The digest of everything it is built from; the image's tag.
    pub digest: Digest,
    /// How it is built.
    source: ImageSource,
    platform: &'static str,
}

#[derive(Debug)]
enum ImageSource {
    Dockerfile {
        context: PathBuf,
        dockerfile: PathBuf,
        arguments: Vec<(String, String)>,
    },
    Staged {
        dockerfile: String,
        folder: tempfile::TempDir,
    },
    Pack {
        folder: PathBuf,
        arguments: Vec<String>,
    },
    Nixpacks {
        folder: PathBuf,
        config: Nixpacks,
    },
}

impl Workshop<'_> {
    /// What an image would be built from. `None` for one that exists.
    pub fn image(&self, job: &ImageJob<'_>) -> Result<Option<ImagePlan>, Problem> {
        let workload = job.workload;
        let wrong = |cause: String| failed(workload, cause);
        let root = self.root(workload)?;
        let platform = platform(job.architecture);
        let folder_digest =
            |folder: &Path, ignore: &Ignore| context::digest(&root, folder, ignore).map_err(wrong);
        let (source, content) = match job.packaging {
            ImagePackaging::Prebuilt(_) => return Ok(None),
            ImagePackaging::Dockerfile(it) => {
                let context = self.folder(workload, &it.build_context_path)?;
                let name = it.dockerfile_path.as_deref().unwrap_or("Dockerfile");
                let below = Path::new(&it.build_context_path).join(name);
                let dockerfile = self.inside(workload, &below.to_string_lossy())?;
                let text = fs::read_to_string(&dockerfile).map_err(|it| failed(workload, it))?;
                let ignore = Ignore::read(&context, &dockerfile).map_err(wrong)?;
                let content = json!([folder_digest(&context, &ignore)?, text, it.build_args]);
                let arguments = it.build_args.iter();
                let arguments = arguments
                    .map(|it| (it.arg_name.clone(), it.value.clone()))
                    .collect();
                (
                    ImageSource::Dockerfile {
                        context,
                        dockerfile,
                        arguments,
                    },
                    content,
                )
            }
            ImagePackaging::Buildpack(it) => self.buildpack(job, it)?,
            ImagePackaging::ExternalBuildpack(it) => {
                let folder = self.folder(workload, &it.source_directory_path)?;
                let ignore = Ignore::parse(".git\nnode_modules\n").map_err(wrong)?;
                let content = json!([folder_digest(&folder, &ignore)?, it]);
                let mut arguments = vec!["--builder".to_owned(), it.builder.clone()];
                for buildpack in &it.buildpacks {
                    arguments.extend(["--buildpack".to_owned(), buildpack.clone()]);
                }
                (ImageSource::Pack { folder, arguments }, content)
            }
            ImagePackaging::Nixpacks(it) => {
                let folder = self.folder(workload, &it.source_directory_path)?;
                let ignore = Ignore::parse(".git\nnode_modules\n").map_err(wrong)?;
                let content = json!([folder_digest(&folder, &ignore)?, it]);
                (
                    ImageSource::Nixpacks {
                        folder,
                        config: (**it).clone(),
                    },
                    content,
                )
            }
        };
        let digest = Digest::of_json(&json!([job.packaging.type_name(), platform, content]));
        (self.progress)(workload, &format!("image {}", digest.short()));
        Ok(Some(ImagePlan {
            workload: workload.to_owned(),
            digest,
            source,
            platform,
        }))
    }

    /// Builds a planned image under a name.
    pub fn build_image(
        &self,
        plan: &ImagePlan,
        engine: &dyn ContainerEngine,
        tag: &str,
    ) -> Result<(), Problem> {
        let workload = plan.workload.as_str();
        (self.progress)(workload, &format!("building image {}", plan.digest.short()));
        let build = |context: &Path, dockerfile: &Path, arguments: &[(String, String)]| {
            engine.build(&ImageBuild {
                workload: workload.to_owned(),
                context: context.to_owned(),
                dockerfile: dockerfile.to_owned(),
                arguments: arguments.to_vec(),
                platform: plan.platform,
                tag: tag.to_owned(),
            })
        };
        match &plan.source {
            ImageSource::Dockerfile {
                context,
                dockerfile,
                arguments,
            } => build(context, dockerfile, arguments),
            ImageSource::Staged { dockerfile, folder } => {
                let scratch = tempfile::tempdir().map_err(|it| failed(workload, it))?;
                let file = scratch.path().join("Dockerfile");
                fs::write(&file, dockerfile).map_err(|it| failed(workload, it))?;
                build(folder.path(), &file, &[])
            }
            ImageSource::Pack { folder, arguments } => {
                let hint = "install pack from https://buildpacks.io";
                let mut words: Vec<OsString> = vec!["build".into(), tag.into(), "--path".into()];
                words.push(folder.into());
                words.extend(arguments.iter().map(Into::into));
                words.extend(["--platform".into(), plan.platform.into()]);
                self.other(
                    workload,
                    ("pack", self.tools.pack.as_deref(), hint),
                    words,
                    folder,
                )
            }
            ImageSource::Nixpacks { folder, config } => {
                let hint = "install Nixpacks from https://nixpacks.com";
                let scratch = tempfile::tempdir().map_err(|it| failed(workload, it))?;
                let file = scratch.path().join("nixpacks.json");
                let text = nixpacks_config(config).to_string();
                fs::write(&file, text).map_err(|it| failed(workload, it))?;
                let mut words: Vec<OsString> = vec!["build".into(), folder.into()];
                words.extend(["--name".into(), tag.into(), "--config".into(), file.into()]);
                words.extend(["--platform".into(), plan.platform.into()]);
                let tool = ("nixpacks", self.tools.nixpacks.as_deref(), hint);
                self.other(workload, tool, words, folder)
            }
        }
    }

    fn other(
        &self,
        workload: &str,
        (tool, program, hint): (&str, Option<&Path>, &str),
        arguments: Vec<OsString>,
        directory: &Path,
    ) -> Result<(), Problem> {
        let Some(program) = program else {
            return Err(missing_tool(
                workload,
                tool,
                "its image is built by it",
                hint,
            ));
        };
        let call = Call {
            tool,
            program,
            arguments,
            directory,
            environment: Vec::new(),
            input: None,
        };
        self.runner(workload).run(call).map(drop)
    }

    fn buildpack(
        &self,
        job: &ImageJob<'_>,
        it: &ImageBuildpack,
    ) -> Result<(ImageSource, serde_json::Value), Problem> {
        let workload = job.workload;
        let (entry, app) = split_entry(&it.entryfile_path);
        let source = Source {
            workload,
            entry,
            app,
            handler_function: None,
            language: &it.language_specific_config,
            exclude_dependencies: &it.exclude_dependencies,
            runtime: None,
            architecture: job.architecture,
            is_image: true,
        };
        let staged = self.stage(&source, &it.include_files, &it.exclude_files)?;
        let entries = staged.entries().map_err(|cause| failed(workload, cause))?;
        let dockerfile = dockerfile::of(&source, it, &staged.start, &entries)
            .map_err(|cause| failed(workload, cause))?;
        let folder = tempfile::tempdir().map_err(|it| failed(workload, it))?;
        for entry in &entries {
            write(folder.path(), entry).map_err(|it| failed(workload, it))?;
        }
        let root = fs::canonicalize(folder.path()).map_err(|it| failed(workload, it))?;
        let files = context::digest(&root, &root, &Ignore::default())
            .map_err(|cause| failed(workload, cause))?;
        let content = json!([files, dockerfile]);
        Ok((ImageSource::Staged { dockerfile, folder }, content))
    }

    fn folder(&self, workload: &str, written: &str) -> Result<PathBuf, Problem> {
        let place = self.inside(workload, written)?;
        match place.is_dir() {
            true => Ok(place),
            false => Err(failed(workload, format!("{written} is not a folder"))),
        }
    }
}

fn write(folder: &Path, entry: &Entry) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join(&entry.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match &entry.body {
        Body::File(source) => fs::copy(source, &path).map(drop)?,
        Body::Bytes(bytes) => fs::write(&path, bytes)?,
    }
    let mode = if entry.executable { 0o755 } else { 0o644 };
    fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))
}

/// The settings in the form of Nixpacks' own file.
fn nixpacks_config(it: &Nixpacks) -> serde_json::Value {
    let mut phases = serde_json::Map::new();
    for phase in &it.phases {
        let settings = json!({
            "cmds": phase.cmds,
            "nixPkgs": phase.nix_pkgs,
            "nixLibs": phase.nix_libs,
            "nixOverlays": phase.nix_overlay,
            "nixpkgsArchive": phase.nixpkgs_archive,
            "aptPkgs": phase.apt_pkgs,
            "cacheDirectories": phase.cache_directories,
            "onlyIncludeFiles": phase.only_include_files,
        });
        phases.insert(phase.name.clone(), without_nulls(settings));
    }
    let providers = (!it.providers.is_empty()).then_some(&it.providers);
    without_nulls(json!({
        "providers": providers,
        "buildImage": it.build_image,
        "phases": phases,
        "start": without_nulls(json!({
            "cmd": it.start_cmd,
            "runImage": it.start_run_image,
            "onlyIncludeFiles": it.start_only_include_files,
        })),
    }))
}

fn without_nulls(mut value: serde_json::Value) -> serde_json::Value {
    if let Some(map) = value.as_object_mut() {
        map.retain(|_, it| !it.is_null());
    }
    value
}
