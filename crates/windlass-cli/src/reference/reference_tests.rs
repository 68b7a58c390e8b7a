//! Generated documents are the same every time and point at files that exist.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_engine::operation::operation;

use super::*;

fn infos() -> Vec<OperationInfo> {
    let made = operation("runs", "list")
        .describe("List runs", "Lists runs | newest first.")
        .example("All", json!({ "limit": 5, "kind": "it's" }))
        .input_schema(json!({
            "type": "object",
            "properties": { "limit": { "type": "integer", "description": "How many." } }
        }))
        .handle(|_, _: Value| async { Ok(json!({})) });
    vec![made.info().clone()]
}

fn generated() -> BTreeMap<PathBuf, String> {
    let infos = infos();
    let documents = generate(&infos.iter().collect::<Vec<_>>()).unwrap();
    let count = documents.len();
    let map: BTreeMap<PathBuf, String> = documents.into_iter().collect();
    assert_eq!(map.len(), count, "two documents share a path");
    map
}

#[test]
fn the_same_every_time() {
    assert_eq!(generated(), generated());
}

#[test]
fn every_document_is_there() {
    let documents = generated();
    for path in [
        "docs/reference/cli.md",
        "docs/reference/environment.md",
        "docs/reference/errors.md",
        "docs/reference/errors/POLICY_DENIED.md",
        "docs/reference/exit-codes.md",
        "docs/reference/man/windlass.1",
        "docs/reference/man/windlass-runs-rollback.1",
        "docs/reference/operations.json",
        "docs/reference/operations.md",
        "docs/reference/samples/runs.list.json",
        "schemas/config.schema.json",
        "schemas/operations/runs.list.input.json",
        "schemas/operations/runs.list.output.json",
    ] {
        assert!(documents.contains_key(std::path::Path::new(path)), "{path}");
    }
    assert!(
        !documents
            .keys()
            .any(|path| path.to_string_lossy().contains("internal")),
        "hidden commands stay hidden"
    );
}

#[test]
fn links_between_documents_lead_somewhere() {
    let documents = generated();
    for (path, text) in documents
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|end| end == "md"))
    {
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let target = link.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let mut whole = PathBuf::new();
            for part in path.parent().unwrap().join(target).components() {
                match part {
                    std::path::Component::ParentDir => {
                        whole.pop();
                    }
                    other => whole.push(other),
                }
            }
            assert!(
                documents.contains_key(&whole),
                "{} links to {link}",
                path.display()
            );
        }
    }
}

#[test]
fn commands_are_described_without_a_terminal() {
    let documents = generated();
    let page = &documents[std::path::Path::new("docs/reference/cli.md")];
    let section = page.split("#### `windlass runs approve`").nth(1);
    let section = section
        .or_else(|| page.split("### `windlass runs approve`").nth(1))
        .unwrap();
    let section = section.split("\n#").next().unwrap();
    insta::assert_snapshot!(section.trim(), @"");
}

#[test]
fn an_operation_is_described() {
    let documents = generated();
    insta::assert_snapshot!(documents[std::path::Path::new("docs/reference/operations.md")], @"");
    insta::assert_snapshot!(documents[std::path::Path::new("docs/reference/samples/runs.list.json")], @"");
}
