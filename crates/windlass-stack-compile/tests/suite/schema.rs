//! Every property of every type does something: it changes the template or what is said about
//! it, or another phase uses it and it stands in the list here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use windlass_stack_compile::{Facts, compile};
use windlass_stack_config::{Config, schema};

use super::world::{configs, facts};

/// Properties that other phases use, and which.
const ELSEWHERE: &[(&str, &str)] = &[
    ("BuildArgument.", "packaging"),
    ("CommandIn.", "packaging and dev"),
    ("Config.directives", "reading"),
    ("Config.hooks", "deploy"),
    ("Config.scripts", "scripts"),
    ("Config.serviceName", "the stack's name, before compiling"),
    ("Config.variables", "reading"),
    ("CustomDirective.", "reading"),
    ("DeploymentConfig.", "deploy"),
    ("Config.deploymentConfig", "deploy"),
    ("DeploymentScript.parameters", "deploy: the script's call"),
    ("DevSettings.", "dev"),
    ("DirectoryUpload.", "bucket sync"),
    ("Dockerfile.buildArgs", "packaging"),
    ("Dockerfile.buildContextPath", "packaging"),
    ("Dockerfile.dockerfilePath", "packaging"),
    ("ExternalBuildpack.builder", "packaging"),
    ("ExternalBuildpack.buildpacks", "packaging"),
    ("ExternalBuildpack.sourceDirectoryPath", "packaging"),
    ("FileOptions.", "bucket sync"),
    ("FunctionBuildpack.exclude", "packaging"),
    ("FunctionBuildpack.include", "packaging"),
    ("FunctionBuildpack.languageSpecificConfig", "packaging"),
    ("Hook.", "deploy"),
    ("Hooks.", "deploy"),
    ("HostingBucket.build", "packaging"),
    ("HostingBucket.dev", "dev"),
    ("HostingBucket.excludeFilesPatterns", "bucket sync"),
    ("HostingBucket.fileOptions", "bucket sync"),
    ("HostingBucket.injectEnvironment", "bucket sync"),
    ("HostingBucket.uploadDirectoryPath", "bucket sync"),
    ("HostingBucket.writeDotenvFilesTo", "packaging"),
    ("ImageBuildpack.", "packaging"),
    ("KeyValue.", "bucket sync; lifecycle rules are tested"),
    ("LanguageConfig.", "packaging"),
    ("LocalScript.", "scripts"),
    ("BastionScript.", "scripts"),
    ("TunnelScript.", "scripts"),
    ("Nixpacks.", "packaging"),
    ("NixpacksPhase.", "packaging"),
    ("StackConfig.disableStackInfoSaving", "deploy"),
    ("StackConfig.stackInfoDirectory", "deploy"),
    ("CustomArtifact.packagePath", "packaging"),
    ("ReuseVpc.", "looking up the network, before compiling"),
    (
        "AuroraServerlessEngine.",
        "refused with its engine: AWS makes none any more",
    ),
    (".dev", "dev"),
    ("EmailTarget.sender", "reported as unused"),
    (
        "AfterInitiation.tags",
        "refused: an upload that was never finished has no tags",
    ),
    (
        "CloudFormationResource.Condition",
        "refused: the template has no conditions",
    ),
];

#[test]
fn every_property_does_something() {
    let schema = schema();
    let mut seen: BTreeMap<String, bool> = BTreeMap::new();
    for (name, config) in configs() {
        let facts = facts(&config);
        let written = serde_json::to_value(&config).unwrap();
        let before = outcome(&config, &facts);
        assert!(before.is_ok(), "{name}");
        let mut places = Vec::new();
        walk(
            &schema,
            &schema,
            "Config",
            &written,
            &mut Vec::new(),
            &mut places,
        );
        // Deepest first: what holds something that works, works.
        places.sort_by_key(|place| std::cmp::Reverse(place.path.len()));
        let mut working: Vec<Vec<String>> = Vec::new();
        for place in places {
            if is_elsewhere(&place.property) {
                continue;
            }
            let works = seen.entry(place.property.clone()).or_default();
            if !*works {
                *works = working.iter().any(|path| path.starts_with(&place.path))
                    || mutations(&written, &place)
                        .into_iter()
                        .filter_map(|changed| serde_json::from_value::<Config>(changed).ok())
                        .any(|changed| outcome(&changed, &facts) != before);
            }
            if *works {
                working.push(place.path);
            }
        }
    }
    let mut problems = Vec::new();
    for property in all_properties(&schema) {
        match (seen.get(&property), is_elsewhere(&property)) {
            (_, true) | (Some(true), false) => {}
            (None, false) => problems.push(format!("{property}: in no config of tests/configs")),
            (Some(false), false) => problems.push(format!("{property}: changes nothing")),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// One property of a config.
struct Place {
    property: String,
    path: Vec<String>,
    /// Values it can have, where these are counted.
    values: Vec<Value>,
}

fn is_elsewhere(property: &str) -> bool {
    ELSEWHERE.iter().any(|(listed, _)| {
        property.starts_with(listed) || (listed.starts_with('.') && property.ends_with(listed))
    })
}

/// What a config becomes: the template and what is said about it, or why not.
fn outcome(config: &Config, facts: &Facts) -> Result<String, String> {
    match compile(config, facts) {
        Ok(compiled) => Ok(format!(
            "{}{:?}{:?}{:?}{:?}",
            compiled.body(),
            compiled.warnings,
            compiled.tags,
            compiled.scripts,
            compiled.synced_buckets
        )),
        Err(refusals) => Err(format!("{:?}", refusals.list)),
    }
}

/// The same config without a property, or with another value there.
fn mutations(written: &Value, place: &Place) -> Vec<Value> {
    let mut changed = Vec::new();
    let (last, parents) = place.path.split_last().unwrap();
    let mut without = written.clone();
    if let Some(Value::Object(entries)) = at(&mut without, parents) {
        entries.remove(last);
        changed.push(without);
    }
    let mut other = written.clone();
    let Some(value) = at(&mut other, &place.path) else {
        return changed;
    };
    let mut candidates = place.values.clone();
    match &*value {
        Value::Bool(flag) => candidates.push(json!(!flag)),
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            candidates.push(json!(number as i64 + 1));
            candidates.push(json!(number * 2.0));
        }
        Value::String(text) => candidates.push(json!(format!("{text}x"))),
        Value::Array(_) => candidates.push(json!([])),
        Value::Object(_) => candidates.extend([
            json!("other"),
            json!({}),
            json!({"type": "prebuilt-image", "properties": {"image": "other:1"}}),
        ]),
        Value::Null => {}
    }
    for candidate in candidates {
        let mut other = written.clone();
        if let Some(value) = at(&mut other, &place.path) {
            *value = candidate;
            changed.push(other);
        }
    }
    changed
}

fn at<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    let mut at = value;
    for key in path {
        at = match at {
            Value::Object(entries) => entries.get_mut(key)?,
            Value::Array(items) => items.get_mut(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}

/// Follows references and leaves out what stands for directives.
fn resolve<'a>(root: &'a Value, node: &'a Value, name: &str) -> (&'a Value, String) {
    if let Some(reference) = node["$ref"].as_str() {
        let definition = reference.rsplit('/').next().unwrap();
        return resolve(root, &root["$defs"][definition], definition);
    }
    if let Some(alternatives) = node["anyOf"].as_array() {
        let real = alternatives
            .iter()
            .find(|it| it["$ref"] != "#/$defs/Directive")
            .unwrap();
        return resolve(root, real, name);
    }
    (node, name.to_owned())
}

/// Every property of a value by its type's name, with its path.
fn walk(
    root: &Value,
    node: &Value,
    name: &str,
    value: &Value,
    path: &mut Vec<String>,
    places: &mut Vec<Place>,
) {
    let (node, name) = resolve(root, node, name);
    if let Some(alternatives) = node["oneOf"].as_array() {
        let chosen = alternatives
            .iter()
            .find(|it| it["properties"]["type"]["const"] == value["type"]);
        if let (Some(chosen), Some(inner)) = (chosen, value.get("properties")) {
            path.push("properties".to_owned());
            walk(
                root,
                &chosen["properties"]["properties"],
                "",
                inner,
                path,
                places,
            );
            path.pop();
        }
        return;
    }
    match value {
        Value::Object(entries) => {
            for (key, inner) in entries {
                path.push(key.clone());
                if let Some(property) = node["properties"].get(key) {
                    places.push(Place {
                        property: format!("{name}.{key}"),
                        path: path.clone(),
                        values: values(resolve(root, property, "").0),
                    });
                    walk(root, property, &name, inner, path, places);
                } else if node["additionalProperties"].is_object() {
                    walk(
                        root,
                        &node["additionalProperties"],
                        &name,
                        inner,
                        path,
                        places,
                    );
                }
                path.pop();
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                path.push(index.to_string());
                walk(root, &node["items"], &name, inner, path, places);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The values a schema counts.
fn values(node: &Value) -> Vec<Value> {
    let listed = node["enum"].as_array().into_iter().flatten().cloned();
    let named = node["oneOf"].as_array().into_iter().flatten();
    listed
        .chain(named.filter_map(|it| it.get("const").cloned()))
        .collect()
}

fn all_properties(schema: &Value) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut add = |name: &str, node: &Value| {
        if node["oneOf"].is_array() {
            return;
        }
        for key in node["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key)
        {
            all.insert(format!("{name}.{key}"));
        }
    };
    add("Config", schema);
    for (name, node) in schema["$defs"].as_object().unwrap() {
        add(name, node);
    }
    all
}
