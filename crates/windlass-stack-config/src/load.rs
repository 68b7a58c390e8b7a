//! A config file read: text → tree → directives resolved → checked → typed.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_types::Problem;

use crate::check::{self, References};
use crate::directive::{Context, Resolver};
use crate::fault::{Fault, FaultKind, Faults};
use crate::model::alarms::{Alarm, NotificationTarget};
use crate::model::script::{Hooks, Script};
use crate::model::{Config, Resource, ResourceKind};
use crate::tree::{Entry, Kind, Node, Path, Place};
use crate::yaml;

/// A config file's text.
#[derive(Clone, Copy, Debug)]
pub struct ConfigText<'a> {
    /// The file, as it is named in messages.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// A config that can be used.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What it says.
    pub config: Config,
    /// What is worth knowing; they do not keep the config from being used.
    pub warnings: Vec<Fault>,
    tree: Node,
}

impl Loaded {
    /// Where something stands, or the nearest place before it: `["resources", "api"]`.
    pub fn place(&self, path: &[&str]) -> Option<Place> {
        self.tree.locate(&Path::of(path)).map(|span| span.start)
    }
}

/// Why a config cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LoadFailure {
    /// It is wrong.
    #[error("the config is invalid")]
    Invalid(Faults),
    /// A question one of its directives asks was not answered.
    #[error("a directive could not be answered")]
    Lookup(Problem),
}

impl LoadFailure {
    /// As the public error.
    pub fn into_problem(self) -> Problem {
        match self {
            Self::Invalid(faults) => faults.to_problem(),
            Self::Lookup(problem) => problem,
        }
    }
}

/// Reads a YAML config. Lookups of the context may block.
pub fn load(source: &ConfigText<'_>, context: &Context<'_>) -> Result<Loaded, LoadFailure> {
    let mut faults = Vec::new();
    match yaml::parse(source.text, &mut faults) {
        Ok(tree) => finish(source, &tree, faults, context),
        Err(fault) => {
            faults.push(*fault);
            Err(invalid(source, faults))
        }
    }
}

/// Reads a config that a program made. Its faults name no lines.
pub fn load_value(file: &str, value: Value, context: &Context<'_>) -> Result<Loaded, LoadFailure> {
    let source = ConfigText { file, text: "" };
    finish(&source, &Node::from_json(value, None), Vec::new(), context)
}

fn invalid(source: &ConfigText<'_>, faults: Vec<Fault>) -> LoadFailure {
    LoadFailure::Invalid(Faults::new(source.file, source.text, faults))
}

fn finish(
    source: &ConfigText<'_>,
    written: &Node,
    mut faults: Vec<Fault>,
    context: &Context<'_>,
) -> Result<Loaded, LoadFailure> {
    if !matches!(written.kind, Kind::Map(_)) {
        let message = match written.kind {
            Kind::Null => "the config is empty".to_owned(),
            _ => format!("the config is a mapping, not {}", written.describe()),
        };
        let help = "begin with resources:";
        faults.push(
            Fault::new(
                FaultKind::WrongType,
                written.span,
                &Path::default(),
                message,
            )
            .suggest(Some(help)),
        );
        return Err(invalid(source, faults));
    }
    let mut resolver = Resolver::new(written, context);
    let mut tree = resolver.resolve(written, &Path::default());
    faults.append(&mut resolver.faults);
    let problem = resolver.problem.take();
    drop_empty_properties(&mut tree);
    faults.extend(check::check_shape(&tree));

    let resources: BTreeMap<String, Resource> = section(&tree, "resources");
    let scripts: BTreeMap<String, Script> = section(&tree, "scripts");
    let hooks: Hooks = tree
        .get("hooks")
        .and_then(|hooks| serde_json::from_value(hooks.to_json()).ok())
        .unwrap_or_default();
    let mut references = References::new(&tree, &resources);
    references.resources();
    references.scripts(&scripts);
    references.hooks(&hooks.moments());
    faults.append(&mut references.faults);
    if !faults.is_empty() {
        return Err(invalid(source, faults));
    }
    if let Some(problem) = problem {
        return Err(LoadFailure::Lookup(problem));
    }
    match serde_json::from_value::<Config>(tree.to_json()) {
        Ok(config) => {
            let mut warnings = warnings(&config, &tree);
            for warning in &mut warnings {
                source.file.clone_into(&mut warning.file);
            }
            Ok(Loaded {
                config,
                warnings,
                tree,
            })
        }
        // The checks above follow the same types; this says so where they should not.
        Err(error) => {
            let fault = Fault::new(
                FaultKind::InvalidValue,
                tree.span,
                &Path::default(),
                error.to_string(),
            );
            Err(invalid(source, vec![fault]))
        }
    }
}

/// The members of a section that can be read by themselves.
fn section<T: serde::de::DeserializeOwned>(tree: &Node, name: &str) -> BTreeMap<String, T> {
    tree.get(name)
        .map(Node::entries)
        .unwrap_or_default()
        .iter()
        .filter_map(|entry| {
            let value = serde_json::from_value(entry.value.to_json()).ok()?;
            Some((entry.key.clone(), value))
        })
        .collect()
}

/// `properties:` with nothing behind it is no properties.
fn drop_empty_properties(tree: &mut Node) {
    if let Kind::Map(sections) = &mut tree.kind {
        for section in sections.iter_mut().filter(|entry| entry.key == "resources") {
            if let Kind::Map(resources) = &mut section.value.kind {
                for resource in resources {
                    if let Kind::Map(entries) = &mut resource.value.kind {
                        entries.retain(|entry: &Entry| {
                            !(entry.key == "properties" && entry.value.kind == Kind::Null)
                        });
                    }
                }
            }
        }
    }
}

fn warnings(config: &Config, tree: &Node) -> Vec<Fault> {
    let mut warnings = Vec::new();
    let mut warn = |path: Path, message: String| {
        let span = tree.locate(&path);
        warnings.push(Fault::new(FaultKind::Warning, span, &path, message));
    };
    for (name, resource) in &config.resources {
        for (index, alarm) in alarms(&resource.kind).iter().enumerate() {
            for (target_index, target) in alarm.notification_targets.iter().enumerate() {
                let NotificationTarget::Email(_) = target;
                let path = Path::of(&["resources", name, "properties", "alarms"])
                    .index(index)
                    .key("notificationTargets")
                    .index(target_index)
                    .key("properties")
                    .key("sender");
                let message = "the sender is not used: AWS sends from an address of its own";
                warn(path, message.to_owned());
            }
        }
    }
    if config.service_name.is_some() {
        let message = "serviceName is deprecated; give projectName to the command";
        warn(Path::of(&["serviceName"]), message.to_owned());
    }
    for (key, given) in [
        ("mongoDbAtlas", &config.provider_config.mongo_db_atlas),
        ("upstash", &config.provider_config.upstash),
    ] {
        if given.is_some() {
            let message = format!("{key} is not supported; the section is not used");
            warn(Path::of(&["providerConfig", key]), message);
        }
    }
    warnings
}

fn alarms(kind: &ResourceKind) -> &[Alarm] {
    match kind {
        ResourceKind::Function(it) => &it.alarms,
        ResourceKind::WebService(it) => &it.alarms,
        ResourceKind::RelationalDatabase(it) => &it.alarms,
        ResourceKind::HttpApiGateway(it) => &it.alarms,
        ResourceKind::ApplicationLoadBalancer(it) => &it.alarms,
        ResourceKind::SqsQueue(it) => &it.alarms,
        _ => &[],
    }
}
