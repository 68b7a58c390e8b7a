//! The template of every config of `tests/configs`, as it was reviewed.

use std::collections::BTreeSet;

use windlass_stack_compile::compile;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::events::{ContainerEvent, Event};

use super::world::{configs, facts};

#[test]
fn templates() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _guard = settings.bind_to_scope();
    for (name, config) in configs() {
        let compiled = match compile(&config, &facts(&config)) {
            Ok(compiled) => compiled,
            Err(refusals) => panic!("{name}: {:#?}", refusals.list),
        };
        let mut text = serde_json::to_string_pretty(&compiled.template).unwrap();
        for warning in &compiled.warnings {
            text.push_str(&format!(
                "\nwarning: {}: {}",
                warning.path.join("."),
                warning.message
            ));
        }
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn every_type_and_event_has_one() {
    let mut resources = BTreeSet::new();
    let mut events = BTreeSet::new();
    let mut container_events = BTreeSet::new();
    for (_, config) in configs() {
        for resource in config.resources.values() {
            resources.insert(resource.type_name());
            match &resource.kind {
                ResourceKind::Function(it) => events.extend(it.events.iter().map(Event::type_name)),
                ResourceKind::MultiContainerWorkload(it) => container_events.extend(
                    it.containers
                        .iter()
                        .flat_map(|container| &container.events)
                        .map(ContainerEvent::type_name),
                ),
                _ => {}
            }
        }
    }
    let all = |names: &[&'static str]| names.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(resources, all(ResourceKind::TYPES));
    assert_eq!(events, all(Event::TYPES));
    assert_eq!(container_events, all(ContainerEvent::TYPES));
}
