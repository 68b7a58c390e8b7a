//! Every config of `tests/configs` is accepted, fits the editors' schema, and means the same
//! when it is written and read again.

use std::collections::BTreeSet;
use std::path::Path;

use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::events::{ContainerEvent, Event};
use windlass_stack_config::{Config, ConfigText, LoadFailure, load, schema};

use super::world::{Answers, context};

fn configs() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs");
    let mut files: Vec<_> = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs_err::read_to_string(path).unwrap())
        })
        .collect()
}

fn accepted(name: &str, text: &str) -> Config {
    let source = ConfigText { file: name, text };
    match load(&source, &context(Path::new("/nonexistent"), &Answers)) {
        Ok(loaded) => loaded.config,
        Err(LoadFailure::Invalid(faults)) => panic!("{}", faults.render()),
        Err(LoadFailure::Lookup(problem)) => panic!("{name}: {}", problem.message()),
    }
}

#[test]
fn all_configs_are_accepted_and_survive_writing() {
    let configs = configs();
    assert!(configs.len() >= 25, "{}", configs.len());
    for (name, text) in configs {
        let config = accepted(&name, &text);
        let written = serde_json::to_value(&config).unwrap();
        let again: Config = serde_json::from_value(written).unwrap();
        assert_eq!(again, config, "{name}");
    }
}

#[test]
fn together_they_use_every_type_there_is() {
    let mut resources = BTreeSet::new();
    let mut events = BTreeSet::new();
    let mut container_events = BTreeSet::new();
    for (name, text) in configs() {
        for resource in accepted(&name, &text).resources.values() {
            resources.insert(resource.type_name());
            match &resource.kind {
                ResourceKind::Function(function) => {
                    events.extend(function.events.iter().map(Event::type_name));
                }
                ResourceKind::MultiContainerWorkload(workload) => container_events.extend(
                    workload
                        .containers
                        .iter()
                        .flat_map(|container| &container.events)
                        .map(ContainerEvent::type_name),
                ),
                _ => {}
            }
        }
    }
    assert_eq!(resources, ResourceKind::TYPES.iter().copied().collect());
    assert_eq!(events, Event::TYPES.iter().copied().collect());
    container_events.insert("application-load-balancer");
    assert_eq!(
        container_events,
        ContainerEvent::TYPES.iter().copied().collect()
    );
}

#[test]
fn the_editors_schema_accepts_them_too() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for (name, text) in configs() {
        // Directives stay texts here: that is what an editor sees. Merge keys are not for it.
        if text.contains("<<:") {
            continue;
        }
        let value: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        let faults: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{name}: {faults:#?}");
    }
}

#[test]
fn defaults_are_filled_in() {
    let config = accepted(
        "defaults",
        "
resources:
  hello:
    type: function
    properties:
      packaging: {type: stacktape-lambda-buildpack, properties: {entryfilePath: a.ts}}
  web:
    type: web-service
    properties:
      packaging: {type: prebuilt-image, properties: {image: nginx}}
      resources: {cpu: 0.25, memory: 512}
  queue:
    type: sqs-queue
    properties:
",
    );
    let ResourceKind::Function(hello) = &config.resources["hello"].kind else {
        panic!("hello is a function");
    };
    assert_eq!((hello.timeout, hello.storage), (10, 512));
    assert_eq!(hello.logging.retention_days, 180);
    assert_eq!(hello.memory, None);
    let ResourceKind::WebService(web) = &config.resources["web"].kind else {
        panic!("web is a web-service");
    };
    assert_eq!((web.logging.retention_days, web.stop_timeout), (90, 2));
    assert_eq!(
        web.scaling.scaling_policy.keep_avg_cpu_utilization_under,
        80
    );
    let ResourceKind::SqsQueue(queue) = &config.resources["queue"].kind else {
        panic!("queue is an sqs-queue");
    };
    assert_eq!(
        (
            queue.visibility_timeout_seconds,
            queue.max_message_size_bytes
        ),
        (30, 262_144)
    );
    assert_eq!(config.deployment_config.previous_versions_to_keep, 10);
    assert_eq!(
        config.stack_config.stack_info_directory,
        ".stacktape-stack-info/"
    );
}

#[test]
fn things_worth_knowing_are_warnings() {
    let text = configs()
        .into_iter()
        .find(|(name, _)| name == "settings.yml")
        .unwrap()
        .1;
    let source = ConfigText {
        file: "settings.yml",
        text: &text,
    };
    let loaded = load(&source, &context(Path::new("/nonexistent"), &Answers)).unwrap();
    let said: Vec<String> = loaded
        .warnings
        .iter()
        .map(|warning| {
            format!(
                "{}:{}: {}",
                warning.file,
                warning.line.unwrap_or_default(),
                warning.message
            )
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"), @"
    settings.yml:1: serviceName is deprecated; give projectName to the command
    settings.yml:35: upstash is not supported; the section is not used
    ");
    let place = loaded.place(&["resources", "files", "type"]).unwrap();
    assert_eq!((place.line, place.column), (11, 11));
}
