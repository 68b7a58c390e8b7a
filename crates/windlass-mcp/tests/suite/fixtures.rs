//! The conformance fixtures over stdio, which the official suite cannot reach, in both
//! eras, compared where the answer does not depend on the era.

use serde_json::{Value, json};
use windlass_mcp::{
    McpHandler, ServerOptions,
    fixtures::{TOOLSET, domain, extension},
    handler,
};
use windlass_testkit::{Process, TestWorld, local};

use super::support::{StdioClient, call, initialize, modern_meta};

/// The product's server, offering the fixtures.
async fn process() -> (TestWorld, Process) {
    let world = TestWorld::new(|| vec![domain(), windlass_runs::domain()]);
    let process = world.driving().await;
    (world, process)
}

fn fixtures(process: &Process) -> McpHandler {
    let options = ServerOptions {
        toolsets: Some(vec![TOOLSET.to_owned()]),
        principal: Some(local()),
        extension: Some(extension()),
        ..ServerOptions::default()
    };
    handler(process.catalogue().clone(), options).unwrap()
}

fn modern(mut request: Value, capabilities: Value) -> Value {
    request["params"]["_meta"] = modern_meta();
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    request
}

/// The answer without what only the modern era adds.
fn without_era(mut answer: Value) -> Value {
    if let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut) {
        for key in ["resultType", "ttlMs", "cacheScope"] {
            result.remove(key);
        }
    }
    answer
}

#[tokio::test]
async fn era_neutral_answers_are_the_same_bytes() {
    let get = |name: &str, arguments: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": { "name": name, "arguments": arguments } });
    let read = |uri: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": uri } });
    let list = |method: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": {} });
    let requests = [
        list("tools/list"),
        list("prompts/list"),
        list("resources/list"),
        list("resources/templates/list"),
        call(1, "test_simple_text", json!({})),
        call(1, "test_image_content", json!({})),
        call(1, "test_audio_content", json!({})),
        call(1, "test_embedded_resource", json!({})),
        call(1, "test_multiple_content_types", json!({})),
        call(1, "test_error_handling", json!({})),
        call(1, "greet", json!({ "name": "Ada" })),
        call(1, "no_such_tool", json!({})),
        get("test_simple_prompt", json!({})),
        get(
            "test_prompt_with_arguments",
            json!({ "arg1": "hello", "arg2": "world" }),
        ),
        get(
            "test_prompt_with_embedded_resource",
            json!({ "resourceUri": "test://x" }),
        ),
        get("test_prompt_with_image", json!({})),
        get("no_such_prompt", json!({})),
        read("test://static-text"),
        read("test://static-binary"),
        read("test://template/123/data"),
    ];
    let (_world, process) = process().await;
    let mut legacy = StdioClient::start(fixtures(&process));
    legacy.ask(&initialize(0, "2025-11-25")).await;
    let mut fresh = StdioClient::start(fixtures(&process));
    for request in requests {
        let old = legacy.ask(&request).await;
        let new = without_era(fresh.ask(&modern(request.clone(), json!({}))).await);
        assert_eq!(old.to_string(), new.to_string(), "{request}");
    }
}

#[tokio::test]
async fn a_tool_may_ask_in_rounds_and_then_run_as_a_task() {
    let (_world, process) = process().await;
    let mut client = StdioClient::start(fixtures(&process));
    let capabilities =
        json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let round = client
        .ask(&modern(
            call(1, "test_tool_with_task", json!({})),
            capabilities.clone(),
        ))
        .await;
    assert_eq!(round["result"]["resultType"], "input_required");
    let mut again = call(2, "test_tool_with_task", json!({}));
    again["params"]["inputResponses"] =
        json!({ "user_name": { "action": "accept", "content": { "name": "Ada" } } });
    let task = client.ask(&modern(again, capabilities.clone())).await["result"].clone();
    assert_eq!(task["resultType"], "task");
    loop {
        let get = json!({ "jsonrpc": "2.0", "id": 3, "method": "tasks/get", "params": { "taskId": task["taskId"] } });
        let state = client.ask(&modern(get, capabilities.clone())).await["result"].clone();
        match state["status"].as_str() {
            Some("working") => tokio::task::yield_now().await,
            _ => {
                assert_eq!(
                    state["result"]["content"][0]["text"], "Hello, Ada!",
                    "{state}"
                );
                break;
            }
        }
    }
    let refused = client
        .ask(&modern(call(4, "failing_job", json!({})), json!({})))
        .await;
    assert_eq!(refused["error"]["code"], -32021);
}

#[tokio::test]
async fn a_tampered_state_is_refused() {
    let (_world, process) = process().await;
    let mut client = StdioClient::start(fixtures(&process));
    let tool = "test_input_required_result_tampered_state";
    let state = client
        .ask(&modern(
            call(1, tool, json!({})),
            json!({ "elicitation": {} }),
        ))
        .await["result"]["requestState"]
        .clone();
    for (state, want) in [
        (state.clone(), Value::Null),
        (
            json!(format!("{}x", state.as_str().unwrap())),
            json!(-32602),
        ),
    ] {
        let mut again = call(2, tool, json!({}));
        again["params"]["requestState"] = state;
        again["params"]["inputResponses"] =
            json!({ "confirm": { "action": "accept", "content": { "ok": true } } });
        let answer = client
            .ask(&modern(again, json!({ "elicitation": {} })))
            .await;
        assert_eq!(answer["error"]["code"], want, "{answer}");
    }
}
