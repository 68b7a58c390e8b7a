//! `schemas/`: JSON Schemas of the settings file and of every operation.

use std::path::PathBuf;

use serde_json::{Value, json};
use windlass_config::Settings;
use windlass_engine::operation::OperationInfo;

use super::Document;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

pub(super) fn documents(infos: &[&OperationInfo]) -> Vec<Document> {
    let mut documents = vec![(
        PathBuf::from("schemas/config.schema.json"),
        format!("{:#}\n", Settings::schema()),
    )];
    for info in infos {
        for (part, schema) in [
            ("input", &info.input_schema),
            ("output", &info.output_schema),
        ] {
            let path = PathBuf::from(format!("schemas/operations/{}.{part}.json", info.name));
            documents.push((
                path,
                format!("{:#}\n", titled(schema, &format!("{} {part}", info.name))),
            ));
        }
    }
    documents
}

/// The schema as a document of its own, which says what it is.
fn titled(schema: &Value, title: &str) -> Value {
    let mut schema = schema.clone();
    if let Some(map) = schema.as_object_mut() {
        map.insert("$schema".to_owned(), json!(DIALECT));
        map.insert("title".to_owned(), json!(title));
    }
    schema
}
