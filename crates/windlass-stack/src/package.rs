//! Workloads as artifacts: packaged on this machine, named by their content, sent where missing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_ports::aws::{ActionShape, SignedCall, services};
use windlass_ports::{Runs, trust};
use windlass_stack_compile::{Artifact, Need, NeedKind, needed_artifacts};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::function::{Architecture, LambdaRuntime};
use windlass_stack_config::model::packaging::{FunctionPackaging, ImagePackaging};
use windlass_stack_lifecycle::Access;
use windlass_stack_lifecycle::assets::{AssetStore, REPOSITORY};
use windlass_stack_lifecycle::package::{
    CliEngine, ContainerEngine, FunctionJob, ImageJob, Limits, Workshop, Zip, asset_bucket,
    plan_upload, upload, zip_key,
};
use windlass_types::{Digest, Problem, Secret};

use crate::desk::{Desk, blocking};
use crate::fault;
use crate::project::Project;

/// How long one program of packaging may run.
const PROGRAM_TIME: Duration = Duration::from_secs(900);

/// A function's zip on this machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PackedZip {
    pub name: String,
    pub digest: Digest,
    pub path: PathBuf,
    pub bytes: u64,
    pub unzipped: u64,
    pub handler: Option<String>,
}

impl PackedZip {
    fn zip(&self) -> Zip {
        Zip {
            digest: self.digest,
            path: self.path.clone(),
            bytes: self.bytes,
            unzipped: self.unzipped,
            handler: self.handler.clone(),
            was_cached: true,
        }
    }
}

/// An image that is or will be in the repository.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PackedImage {
    pub name: String,
    pub digest: Digest,
    pub uri: String,
}

/// What packaging came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Packages {
    pub zips: Vec<PackedZip>,
    pub images: Vec<PackedImage>,
    /// Workloads that were not packaged and have a placeholder.
    #[serde(default)]
    pub placeholders: Vec<String>,
    /// What was said meanwhile: workload, message.
    pub lines: Vec<(String, String)>,
}

impl Packages {
    /// What the compiler is told.
    pub fn artifacts(&self, account: &str, region: &str) -> BTreeMap<String, Artifact> {
        let zips = self.zips.iter().map(|zip| {
            let artifact = Artifact::Zip {
                bucket: asset_bucket(account, region),
                key: zip_key(&zip.digest),
                sha256: zip.digest.to_string(),
                handler: zip.handler.clone(),
            };
            (zip.name.clone(), artifact)
        });
        let images = self.images.iter().map(|image| {
            let uri = image.uri.clone();
            (image.name.clone(), Artifact::Image { uri })
        });
        zips.chain(images).collect()
    }

    /// Digests by name, for the plan.
    pub fn digests(&self) -> BTreeMap<String, String> {
        let zips = self.zips.iter().map(|zip| (&zip.name, zip.digest));
        let images = self.images.iter().map(|image| (&image.name, image.digest));
        zips.chain(images)
            .map(|(name, digest)| (name.clone(), digest.to_string()))
            .collect()
    }
}

/// Stands for everything a config needs, without packaging it: nothing runs and nothing is made.
pub(crate) fn placeholders(
    desk: &Desk,
    project: &Project,
    account: &str,
) -> Result<Packages, Problem> {
    let quiet = |_: &str, _: &str| {};
    let trust = |_: Runs, what: &str| Err(Problem::internal("placeholder", what));
    let workshop = workshop(desk, project, &quiet, &trust);
    let mut packages = Packages::default();
    for need in needed_artifacts(&project.config) {
        packages.placeholders.push(need.name.clone());
        let digest = Digest::ZERO;
        let entry = match need.kind {
            NeedKind::Zip(packaging) => {
                packages.zips.push(PackedZip {
                    name: need.name.clone(),
                    digest,
                    path: PathBuf::new(),
                    bytes: 0,
                    unzipped: 0,
                    handler: None,
                });
                match packaging {
                    FunctionPackaging::Buildpack(it) => Some(&it.entryfile_path),
                    FunctionPackaging::CustomArtifact(_) => None,
                }
            }
            NeedKind::Image(packaging) => {
                packages.images.push(PackedImage {
                    uri: image_uri(account, &project.region, &digest),
                    digest,
                    name: need.name.clone(),
                });
                match packaging {
                    ImagePackaging::Buildpack(it) => Some(&it.entryfile_path),
                    _ => None,
                }
            }
        };
        if let Some(entry) = entry {
            workshop.require_entry(&need.name, entry)?;
        }
    }
    Ok(packages)
}

/// Packages everything a config needs. Nothing is sent and no image is built. Blocks.
pub(crate) fn package(desk: &Desk, project: &Project, account: &str) -> Result<Packages, Problem> {
    let lines = Mutex::new(Vec::new());
    let progress = |workload: &str, message: &str| {
        if let Ok(mut lines) = lines.lock() {
            lines.push((workload.to_owned(), message.to_owned()));
        }
    };
    let trust = |runs: Runs, what: &str| {
        trust::require(&*desk.outside.trust, &project.config_directory, runs, what)
    };
    let workshop = workshop(desk, project, &progress, &trust);
    if says(project, "noCache") {
        workshop.forget()?;
    }
    let mut packages = Packages::default();
    for need in needed_artifacts(&project.config) {
        match need.kind {
            NeedKind::Zip(packaging) => {
                let (runtime, architecture) = function_facts(project, &need);
                let zip = workshop.zip(&FunctionJob {
                    workload: &need.name,
                    packaging,
                    runtime,
                    architecture,
                })?;
                packages.zips.push(PackedZip {
                    name: need.name,
                    digest: zip.digest,
                    path: zip.path,
                    bytes: zip.bytes,
                    unzipped: zip.unzipped,
                    handler: zip.handler,
                });
            }
            NeedKind::Image(packaging) => {
                let job = ImageJob {
                    workload: &need.name,
                    packaging,
                    architecture: image_architecture(project, need.resource),
                };
                if let Some(plan) = workshop.image(&job)? {
                    packages.images.push(PackedImage {
                        uri: image_uri(account, &project.region, &plan.digest),
                        digest: plan.digest,
                        name: need.name,
                    });
                }
            }
        }
    }
    packages.lines = lines.into_inner().unwrap_or_default();
    Ok(packages)
}

fn workshop<'a>(
    desk: &'a Desk,
    project: &'a Project,
    progress: &'a dyn Fn(&str, &str),
    trust: &'a dyn Fn(Runs, &str) -> Result<(), Problem>,
) -> Workshop<'a> {
    Workshop {
        project: &project.root,
        base: &project.config_directory,
        cache: &desk.outside.cache,
        tools: &desk.outside.tools,
        trust,
        limits: Limits::default(),
        time: PROGRAM_TIME,
        unwanted: &|| false,
        progress,
    }
}

fn image_uri(account: &str, region: &str, digest: &Digest) -> String {
    format!("{account}.dkr.ecr.{region}.amazonaws.com/{REPOSITORY}:{digest}")
}

fn function_facts(project: &Project, need: &Need<'_>) -> (Option<LambdaRuntime>, Architecture) {
    let kind = project
        .config
        .resources
        .get(need.resource)
        .map(|it| &it.kind);
    match kind {
        Some(ResourceKind::Function(function)) => (function.runtime, function.architecture),
        Some(ResourceKind::DeploymentScript(script)) => (script.runtime, Architecture::X86_64),
        Some(ResourceKind::CustomResourceDefinition(definition)) => {
            (definition.runtime, Architecture::X86_64)
        }
        _ => (None, Architecture::X86_64),
    }
}

fn image_architecture(project: &Project, resource: &str) -> Architecture {
    let Some(resource) = project.config.resources.get(resource) else {
        return Architecture::X86_64;
    };
    match (&resource.kind, resource.kind.as_service()) {
        (_, Some(service)) => service.resources().architecture,
        (ResourceKind::MultiContainerWorkload(workload), _) => workload.resources.architecture,
        _ => Architecture::X86_64,
    }
}

/// What sending came to.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub uploaded: usize,
    pub present: usize,
}

/// Sends the zips that the asset store lacks.
pub(crate) async fn send_zips(
    access: &Access,
    store: &AssetStore,
    packages: &Packages,
) -> Result<Sent, Problem> {
    let zips: Vec<Zip> = packages.zips.iter().map(PackedZip::zip).collect();
    let failed = |failure: windlass_ports::aws::AwsFailure| fault::problem(failure.into());
    let plan = plan_upload(&*access.cloud, &access.target, &store.bucket, &zips)
        .await
        .map_err(failed)?;
    upload(
        &*access.cloud,
        &access.target,
        &store.bucket,
        &plan,
        &|_| {},
    )
    .await
    .map_err(failed)?;
    Ok(Sent {
        uploaded: plan.missing.len(),
        present: plan.present.len(),
    })
}

const DESCRIBE_IMAGES: ActionShape = ActionShape::new(&services::ECR, "DescribeImages");
const GET_TOKEN: ActionShape = ActionShape::new(&services::ECR, "GetAuthorizationToken");

/// Builds and sends the images that the repository lacks.
pub(crate) async fn send_images(
    desk: &Desk,
    access: &Access,
    project: Project,
    packages: &Packages,
) -> Result<Sent, Problem> {
    let mut missing = Vec::new();
    let mut sent = Sent::default();
    for image in &packages.images {
        let ids = json!([{ "imageTag": image.digest.to_string() }]);
        let input = json!({ "repositoryName": REPOSITORY, "imageIds": ids });
        let call = SignedCall::new(DESCRIBE_IMAGES, input);
        match access.cloud.call(&access.target, call).await {
            Ok(_) => sent.present += 1,
            Err(failure) if failure.is_not_found() => missing.push(image.clone()),
            Err(failure) => return Err(fault::problem(failure.into())),
        }
    }
    if missing.is_empty() {
        return Ok(sent);
    }
    let login = registry_login(access).await?;
    sent.uploaded = missing.len();
    let desk = desk.clone();
    blocking(move || build_and_push(&desk, &project, &missing, &login)).await?;
    Ok(sent)
}

/// How to sign in to a registry.
struct Login {
    registry: String,
    user: String,
    password: Secret<String>,
}

async fn registry_login(access: &Access) -> Result<Login, Problem> {
    let call = SignedCall::new(GET_TOKEN, json!({}));
    let answer = access.cloud.call(&access.target, call).await;
    let answer = answer.map_err(|failure| fault::problem(failure.into()))?;
    let data = &answer["authorizationData"][0];
    let decoded = data["authorizationToken"]
        .as_str()
        .and_then(|token| STANDARD.decode(token).ok())
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let pair = decoded.as_deref().and_then(|text| text.split_once(':'));
    let Some((user, password)) = pair else {
        return Err(Problem::internal(
            "ecr",
            "the registry gave no authorization token",
        ));
    };
    let endpoint = data["proxyEndpoint"].as_str().unwrap_or_default();
    Ok(Login {
        registry: endpoint.trim_start_matches("https://").to_owned(),
        user: user.to_owned(),
        password: Secret::new(password.to_owned()),
    })
}

fn build_and_push(
    desk: &Desk,
    project: &Project,
    missing: &[PackedImage],
    login: &Login,
) -> Result<(), Problem> {
    let quiet = |_: &str, _: &str| {};
    let trust = |runs: Runs, what: &str| {
        trust::require(&*desk.outside.trust, &project.config_directory, runs, what)
    };
    let workshop = workshop(desk, project, &quiet, &trust);
    for need in needed_artifacts(&project.config) {
        let (NeedKind::Image(packaging), Some(image)) = (
            need.kind,
            missing.iter().find(|image| image.name == need.name),
        ) else {
            continue;
        };
        let job = ImageJob {
            workload: &need.name,
            packaging,
            architecture: image_architecture(project, need.resource),
        };
        let Some(plan) = workshop.image(&job)? else {
            continue;
        };
        if plan.digest != image.digest {
            return Err(Problem::new(
                &windlass_types::code::CONFIRM_REQUIRED,
                format!(
                    "the sources of {} changed while it was being deployed",
                    need.name
                ),
            )
            .with("reason", "plan_changed"));
        }
        let engine = CliEngine::of(&desk.outside.tools, &need.name, PROGRAM_TIME)?
            .with_build_options(build_options(project));
        let (registry, user) = (login.registry.as_str(), login.user.as_str());
        engine.login(&need.name, registry, user, login.password.expose_secret())?;
        if says(project, "noCache") || !engine.has(&need.name, &image.uri)? {
            workshop.build_image(&plan, &engine, &image.uri)?;
        }
        engine.push(&need.name, &image.uri)?;
    }
    Ok(())
}

fn says(project: &Project, argument: &str) -> bool {
    project.arguments.get(argument).and_then(Value::as_bool) == Some(true)
}

/// Options of the call for the program that builds images.
fn build_options(project: &Project) -> Vec<String> {
    let mut options = project
        .arguments
        .get("dockerArgs")
        .map(texts)
        .unwrap_or_default();
    if says(project, "noCache") {
        options.push("--no-cache".to_owned());
    }
    options
}

/// What a version needs in the asset store.
pub(crate) fn version_artifacts(
    packages: &Packages,
) -> BTreeMap<String, windlass_stack_lifecycle::versions::Artifact> {
    use windlass_stack_lifecycle::versions::Artifact as Kept;
    let zips = packages.zips.iter().map(|zip| {
        let key = zip_key(&zip.digest);
        (zip.name.clone(), Kept::Object { key })
    });
    let images = packages.images.iter().map(|image| {
        let tag = image.digest.to_string();
        (image.name.clone(), Kept::Image { tag })
    });
    zips.chain(images).collect()
}

/// Members of an answer that are lists of texts.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}
