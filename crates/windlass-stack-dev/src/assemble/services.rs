//! Services, workloads of several containers, jobs and websites of a plan.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::container::{DependencyCondition, SideContainerType};
use windlass_stack_config::model::events::ContainerEvent;
use windlass_stack_config::model::packaging::ImagePackaging;
use windlass_types::{Problem, Secret, code};

use super::{Bench, announce, website};
use crate::code::{Language, Workshop};
use crate::container::{ContainerSpec, Engine, Network};
use crate::environment::LocalParams;
use crate::log::{Level, Log};
use crate::outside::Outside;
use crate::process::Launch;
use crate::stack::{Lasting, Stack, Unit};
use crate::status::{Condition, Role};
use crate::supervise::{Supervised, listens};

/// What becomes a unit.
struct Draft {
    /// `resource` or `resource/container`.
    name: String,
    work: Work,
    port: Option<u16>,
    lasting: Lasting,
    after: Vec<String>,
    grace: Duration,
}

enum Work {
    Image(ImagePackaging),
    Shell { command: String, directory: PathBuf },
}

/// Units that will run, and which deployed port is which local one.
#[derive(Default)]
pub(crate) struct Reserved {
    drafts: Vec<Draft>,
    pub ports: BTreeMap<(String, u16), u16>,
}

pub(crate) fn reserve(bench: &mut Bench, names: &[String]) -> Result<Reserved, Problem> {
    let mut reserved = Reserved::default();
    for name in names {
        let kind = bench.plan.config.resources[name].kind.clone();
        if bench.board.get(name).is_some() {
            continue;
        }
        match &kind {
            ResourceKind::HostingBucket(bucket) => match &bucket.dev {
                None => website(bench, name, bucket)?,
                Some(dev) => {
                    let directory = bench.plan.directory.join(&dev.working_directory);
                    let work = Work::Shell {
                        command: dev.command.clone(),
                        directory,
                    };
                    reserved.add(bench, name, kind.type_name(), work, None, Lasting::Always);
                }
            },
            ResourceKind::MultiContainerWorkload(workload) => {
                for container in &workload.containers {
                    let place = format!("{name}/{}", container.name);
                    let mut local = None;
                    for event in &container.events {
                        let deployed = match event {
                            ContainerEvent::HttpApiGateway(event) => event.container_port,
                            ContainerEvent::ApplicationLoadBalancer(event) => event.container_port,
                            ContainerEvent::WorkloadInternal(event) => event.container_port,
                            ContainerEvent::ServiceConnect(event) => event.container_port,
                        };
                        if let Some(port) = local {
                            reserved.ports.insert((place.clone(), deployed), port);
                        } else {
                            let port = bench.ports.number(&place, None)?;
                            reserved.ports.insert((place.clone(), deployed), port);
                            local = Some(port);
                        }
                    }
                    let is_waited_for = workload
                        .containers
                        .iter()
                        .flat_map(|other| &other.depends_on)
                        .any(|dependency| {
                            dependency.container_name == container.name
                                && matches!(
                                    dependency.condition,
                                    DependencyCondition::Complete | DependencyCondition::Success
                                )
                        });
                    let lasting = if is_waited_for {
                        Lasting::Once
                    } else {
                        Lasting::Always
                    };
                    let work = Work::Image(container.packaging.clone());
                    let draft = reserved.add(bench, &place, kind.type_name(), work, local, lasting);
                    draft.grace = Duration::from_secs(container.stop_timeout.into());
                    let others = container.depends_on.iter();
                    draft.after = others
                        .map(|it| format!("{name}/{}", it.container_name))
                        .collect();
                }
            }
            ResourceKind::BatchJob(job) => {
                let work = Work::Image(job.container.packaging.clone());
                reserved.add(bench, name, kind.type_name(), work, None, Lasting::OnDemand);
            }
            kind => {
                if let Some(service) = kind.as_service() {
                    let preferred = match kind {
                        ResourceKind::PrivateService(service) => Some(Some(service.port)),
                        ResourceKind::WebService(_) => Some(None),
                        _ => None,
                    };
                    let port = match preferred {
                        Some(preferred) => Some(bench.ports.number(name, preferred)?),
                        None => None,
                    };
                    if let Some(port) = port {
                        announce(bench, name, port);
                        bench.put(name, "address", format!("127.0.0.1:{port}"));
                    }
                    let mut first = Vec::new();
                    for side in service.side_containers() {
                        let place = format!("{name}/{}", side.name);
                        let lasting = match side.container_type {
                            SideContainerType::AlwaysRunning => Lasting::Always,
                            SideContainerType::RunOnInit => Lasting::Once,
                        };
                        if lasting == Lasting::Once {
                            first.push(place.clone());
                        }
                        let work = Work::Image(side.packaging.clone());
                        let draft =
                            reserved.add(bench, &place, kind.type_name(), work, None, lasting);
                        let others = side.depends_on.iter();
                        draft.after = others
                            .map(|it| format!("{name}/{}", it.container_name))
                            .collect();
                    }
                    let work = Work::Image(service.packaging().clone());
                    let draft =
                        reserved.add(bench, name, kind.type_name(), work, port, Lasting::Always);
                    draft.after = first;
                    draft.grace = Duration::from_secs(service.stop_timeout().into());
                }
            }
        }
    }
    Ok(reserved)
}

impl Reserved {
    fn add(
        &mut self,
        bench: &Bench,
        name: &str,
        kind: &'static str,
        work: Work,
        port: Option<u16>,
        lasting: Lasting,
    ) -> &mut Draft {
        let condition = if lasting == Lasting::OnDemand {
            Condition::Idle
        } else {
            Condition::Starting
        };
        bench.board.add(name, Role::Workload, kind, condition);
        self.drafts.push(Draft {
            name: name.to_owned(),
            work,
            port,
            lasting,
            after: Vec::new(),
            grace: Duration::from_secs(2),
        });
        let last = self.drafts.len() - 1;
        &mut self.drafts[last]
    }
}

/// How a unit is started, whenever it is.
struct Recipe {
    name: String,
    work: Work,
    port: Option<u16>,
    grace: Duration,
    outside: Outside,
    log: Arc<Log>,
    directory: PathBuf,
    build: PathBuf,
    engine: Result<Engine, Problem>,
    container: String,
}

impl Recipe {
    fn launch(&self, mut variables: Vec<(String, Secret<String>)>) -> Result<Launch, Problem> {
        if let Some(port) = self.port {
            variables.push(("PORT".to_owned(), Secret::new(port.to_string())));
        }
        let mut launch = match &self.work {
            Work::Shell { command, directory } => {
                Launch::new("/bin/sh", directory).arguments(["-c", command.as_str()])
            }
            Work::Image(ImagePackaging::Buildpack(pack)) => {
                let progress = |line: &str| self.log.write(&self.name, Level::Info, line);
                let workshop = Workshop {
                    programs: &self.outside.programs,
                    bundler: self.outside.bundler.as_deref(),
                    progress: &progress,
                    directory: &self.directory,
                    build: &self.build,
                };
                let run =
                    workshop.service(&self.name, &pack.entryfile_path, self.port.unwrap_or(0))?;
                Launch::new(run.program, &self.directory).arguments(run.arguments)
            }
            Work::Image(packaging) => return self.container(packaging, variables),
        };
        launch.environment = variables;
        launch.grace = self.grace;
        Ok(launch)
    }

    fn container(
        &self,
        packaging: &ImagePackaging,
        environment: Vec<(String, Secret<String>)>,
    ) -> Result<Launch, Problem> {
        let engine = self.engine.clone()?;
        let (image, entry_point, command) = match packaging {
            ImagePackaging::Dockerfile(file) => {
                let tag = format!("{}:dev", self.container);
                let arguments: Vec<(String, String)> = file
                    .build_args
                    .iter()
                    .map(|it| (it.arg_name.clone(), it.value.clone()))
                    .collect();
                let context = self.directory.join(&file.build_context_path);
                engine.build(&tag, &context, file.dockerfile_path.as_deref(), &arguments)?;
                (tag, file.entry_point.clone(), file.command.clone())
            }
            ImagePackaging::Prebuilt(image) => {
                let name = image.image.literal().ok_or_else(|| {
                    Problem::invalid(
                        "packaging.image",
                        "a literal name",
                        format!(
                            "the image of {} is known only when it is deployed",
                            self.name
                        ),
                    )
                })?;
                (
                    name.to_owned(),
                    image.entry_point.clone(),
                    image.command.clone(),
                )
            }
            other => {
                return Err(Problem::new(
                    &code::TOOLCHAIN_MISSING,
                    format!(
                        "{} is packaged by {}, which is not run locally; use stacktape-image-buildpack, custom-dockerfile or prebuilt-image, or set dev.remote",
                        self.name,
                        other.type_name()
                    ),
                )
                .with("reason", "packaging_failed"));
            }
        };
        Ok(engine.launch(&ContainerSpec {
            name: self.container.clone(),
            image,
            network: Network::Shared,
            environment,
            entry_point,
            command: command.unwrap_or_default(),
            directory: self.directory.clone(),
            grace: self.grace,
        }))
    }
}

fn language_of(work: &Work) -> Option<Language> {
    match work {
        Work::Image(ImagePackaging::Buildpack(pack)) => {
            let file = pack.entryfile_path.split(':').next().unwrap_or_default();
            Language::of(None, file).ok()
        }
        // A dev command watches its own files; an image is built when it is asked for.
        Work::Image(_) | Work::Shell { .. } => None,
    }
}

pub(crate) fn make(
    bench: &mut Bench,
    reserved: &mut Reserved,
    params: &Arc<LocalParams>,
) -> Vec<Unit> {
    let mut units = Vec::new();
    for draft in std::mem::take(&mut reserved.drafts) {
        let needs_engine = matches!(&draft.work, Work::Image(packaging) if !matches!(packaging, ImagePackaging::Buildpack(_)));
        let engine = if needs_engine {
            bench.engine()
        } else {
            Err(Problem::internal(
                "dev containers",
                "no engine was asked for",
            ))
        };
        let language = language_of(&draft.work);
        let label = draft.name.replace('/', "-").to_ascii_lowercase();
        let recipe = Recipe {
            name: draft.name.clone(),
            work: draft.work,
            port: draft.port,
            grace: draft.grace,
            outside: bench.outside.clone(),
            log: bench.host.log.clone(),
            directory: bench.plan.directory.clone(),
            build: bench.plan.places().build(),
            engine,
            container: format!(
                "windlass-dev-{}-{}-{label}",
                bench.plan.project_name, bench.plan.stage
            ),
        };
        let (outside, log, plan) = (
            bench.outside.clone(),
            bench.host.log.clone(),
            bench.plan.clone(),
        );
        let (workload, known) = (draft.name.clone(), params.clone());
        let make = Box::new(move || {
            recipe.launch(Stack::variables(&outside, &log, &plan, &known, &workload)?)
        });
        let address = draft.port.map(|port| format!("http://127.0.0.1:{port}"));
        let probe = draft.port.map(listens);
        let supervised = Supervised::new(
            &draft.name,
            &draft.name,
            address,
            bench.host.clone(),
            bench.board.clone(),
            make,
            probe,
        );
        units.push(Unit {
            supervised,
            lasting: draft.lasting,
            after: draft.after,
            language,
        });
    }
    units
}
