//! Pages about stacks and the config's schema agree: reference pages are those made of it, and every
//! YAML example fits it.

use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_docs::{Docs, Mode, Query, config_reference};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema() -> Value {
    let path = root().join("schemas/stacktape.schema.json");
    serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn reference_pages_match_the_schema() {
    for (path, text) in config_reference(&schema()).unwrap() {
        let committed = fs_err::read_to_string(root().join(&path)).unwrap_or_default();
        assert!(
            committed == text,
            "{path} is out of date: run `cargo xtask generate`"
        );
    }
}

/// The text between fences, for every `yaml` block of a page.
fn examples(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match &mut open {
            None if line == "```yaml" => open = Some(String::new()),
            None => {}
            Some(_) if line == "```" => found.extend(open.take()),
            Some(example) => {
                example.push_str(line);
                example.push('\n');
            }
        }
    }
    found
}

#[test]
fn every_example_is_a_valid_config() {
    let (root, schema) = (root(), schema());
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut count = 0;
    let mut faults = Vec::new();
    for (path, _, _) in Docs::embedded().unwrap().pages() {
        if !path.starts_with("stack/") {
            continue;
        }
        let text = fs_err::read_to_string(root.join("docs").join(path)).unwrap();
        for example in examples(&text) {
            count += 1;
            let config: Value = serde_saphyr::from_str(&example).unwrap();
            for error in validator.iter_errors(&config) {
                faults.push(format!("{path}: {} at {}", error, error.instance_path()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let misspelt = serde_json::json!({
        "resources": { "jobs": { "type": "sqs-queue", "properties": { "delay": 1 } } }
    });
    assert!(!validator.is_valid(&misspelt), "the schema takes anything");
    assert!(count > 50, "only {count} examples were found");
}

#[test]
fn a_snippet_is_a_whole_config() {
    let docs = Docs::embedded().unwrap();
    for resource_type in docs.resource_types() {
        let answer = docs
            .query(&Query {
                mode: Mode::Snippet,
                resource_type: Some(resource_type.to_owned()),
                ..Query::new(format!("{resource_type} example"))
            })
            .unwrap();
        let snippets = answer.snippets.unwrap_or_default();
        let first = snippets
            .first()
            .unwrap_or_else(|| panic!("{resource_type} has no example"));
        assert_eq!(first.language, "yaml");
        let config: Value = serde_saphyr::from_str(&first.code).unwrap();
        assert!(
            config.get("resources").is_some(),
            "{resource_type}: {}",
            first.code
        );
    }
}
