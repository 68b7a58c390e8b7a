//! The documentation tool from outside.

use serde_json::json;

use super::world::World;

#[test]
fn every_mode_answers_and_cites() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    let question = "connect a function to postgres";
    for mode in ["answer", "reference", "snippet"] {
        let input = json!({ "query": question, "mode": mode, "maxItems": 2 });
        let answer = tool_client.tool("stacktape_docs", &input).body;
        let references = answer["references"].as_array().unwrap();
        assert!((1..=2).contains(&references.len()), "{mode}: {answer:#}");
        let path = references[0]["path"].as_str().unwrap();
        let text = answer["answer"].as_str().unwrap();
        assert!(text.contains(&format!("[{path}#")), "{mode}: {text}");
        assert!(text.chars().count() <= 12_000);
        let next = answer["nextQueries"].as_array().unwrap();
        assert!((1..=3).contains(&next.len()), "{mode}: {next:?}");
        if mode == "snippet" {
            assert_eq!(answer["snippets"][0]["language"], "yaml", "{answer:#}");
        }
    }
    let plain = tool_client.tool("stacktape_docs", &json!({ "query": question }));
    let same = json!({ "query": question, "mode": "answer", "maxItems": 3, "resourceType": null });
    assert_eq!(plain.body, tool_client.tool("stacktape_docs", &same).body);
    let about = json!({ "query": "versioning", "resourceType": "bucket" });
    let about = tool_client.tool("stacktape_docs", &about).body;
    assert_eq!(about["references"][0]["title"], "bucket", "{about:#}");
    assert_eq!(world.mark(), 0, "nothing is asked of AWS");
}

#[test]
fn unanswerable_questions_get_suggestions() {
    let mut tool_client = World::new().tool_client();
    let answer = tool_client.tool(
        "stacktape_docs",
        &json!({ "query": "zwetschgendatschi oven temperature" }),
    );
    assert_eq!(answer.body["references"], json!([]), "{:#}", answer.body);
    assert!(!answer.is_error);
    let lacking = tool_client.tool(
        "stacktape_docs",
        &json!({ "query": "how do I use nextjs-web?" }),
    );
    let text = lacking.body["answer"].as_str().unwrap();
    assert!(text.contains("not supported"), "{text}");
}

#[test]
fn bad_input_is_named() {
    let mut tool_client = World::new().tool_client();
    let long = "x ".repeat(600_000);
    for (input, says) in [
        (json!({}), "query"),
        (json!({ "query": "" }), "query is empty"),
        (json!({ "query": long }), "longer than 1048576"),
        (json!({ "query": 5 }), "query is a text"),
        (
            json!({ "query": "x", "mod": "answer" }),
            "did you mean \"mode\"?",
        ),
        (
            json!({ "query": "x", "resource_type": "bucket" }),
            "did you mean \"resourceType\"?",
        ),
        (
            json!({ "query": "x", "mode": "snippets" }),
            "did you mean \"snippet\"?",
        ),
        (
            json!({ "query": "x", "maxItems": "3" }),
            "maxItems is a whole number",
        ),
        (json!({ "query": "x", "maxItems": 0 }), "from 1 to 20"),
        (
            json!({ "query": "x", "resourceType": "buckett" }),
            "did you mean \"bucket\"?",
        ),
    ] {
        let answer = tool_client.tool("stacktape_docs", &input);
        assert!(answer.is_error, "{input}: {:#}", answer.body);
        let text = answer.body["answer"].as_str().unwrap();
        assert!(text.starts_with("VALIDATION_ERROR: "), "{input}: {text}");
        assert!(text.contains(says), "{input}: {text}");
        assert_eq!(answer.body["references"], json!([]));
    }
}
