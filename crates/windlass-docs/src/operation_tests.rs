//! The operation: what it publishes, that it answers, and that the index is kept.

use windlass_engine::contract::Plain;

use super::*;
use crate::query::Reference;

#[test]
fn it_publishes_the_shapes_of_the_contract() {
    let operation = ask(&Plain);
    let info = operation.info();
    assert_eq!(
        (info.name.as_str(), info.tool.as_str()),
        ("stack.docs", "stacktape_docs")
    );
    let input = &info.input_schema["properties"];
    let names: Vec<&String> = input.as_object().unwrap().keys().collect();
    assert_eq!(names, ["maxItems", "mode", "query", "resourceType"]);
    assert_eq!(info.input_schema["required"], json!(["query"]));
    assert_eq!(
        info.output_schema["required"],
        json!(["answer", "references"])
    );
    let schema = jsonschema::validator_for(&info.input_schema).unwrap();
    for example in &info.examples {
        assert!(schema.is_valid(&example.input), "{}", example.input);
    }
}

/// The examples of the operation are answered from the pages in the binary.
#[test]
fn its_examples_have_answers() {
    let operation = ask(&Plain);
    let info = operation.info();
    let docs = OnceLock::new();
    let schema = jsonschema::validator_for(&info.output_schema).unwrap();
    for example in &info.examples {
        let query = asked::read(&example.input).unwrap();
        let answer = answer(&docs, &query).unwrap();
        assert!(
            !answer.references.is_empty(),
            "{}: {}",
            example.input,
            answer.answer
        );
        assert!(schema.is_valid(&serde_json::to_value(&answer).unwrap()));
    }
    let docs = docs.get().expect("the index is kept");
    for sample in info.examples.iter().filter_map(|it| it.output.as_ref()) {
        assert!(schema.is_valid(sample), "{sample}");
        let sample: Answer = serde_json::from_value(sample.clone()).unwrap();
        for reference in &sample.references {
            let Reference {
                title,
                path,
                doc_type,
            } = reference;
            let page = (path.as_str(), title.as_str(), *doc_type);
            assert!(docs.pages().any(|known| known == page), "{page:?}");
        }
    }
}

#[test]
fn an_unknown_type_is_refused_in_the_contract_s_words() {
    let docs = OnceLock::new();
    let query = Query {
        resource_type: Some("buckett".to_owned()),
        ..Query::new("versioning")
    };
    let problem = answer(&docs, &query).unwrap_err();
    assert_eq!(problem.details()["reason"], "invalid_argument");
    assert_eq!(problem.details()["argument"], "resourceType");
    assert!(
        problem.message().contains("did you mean \"bucket\"?"),
        "{}",
        problem.message()
    );
}
