//! Operations as tools: the list, calls, failures, progress, a client that goes away.

use serde_json::{Value, json};
use windlass_mcp::{
    ServerOptions, handler,
    http::{HttpOptions, endpoint},
};
use windlass_testkit::program::Op;
use windlass_types::{Principal, RunState, Scope};

use super::{
    support::{HttpClient, StdioClient, call, modern_meta},
    workshop::{Workshop, modern, modern_call, run_of},
};

fn list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })
}

fn names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"));
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn every_operation_is_a_tool_in_the_same_order_each_time() {
    let shop = Workshop::new().await;
    let mut client = shop.legacy_client().await;
    let answer = client.ask(&list()).await;
    let want: Vec<_> = shop
        .process
        .catalogue()
        .operations()
        .map(|info| info.tool.clone())
        .collect();
    assert_eq!(names(&answer), want);
    assert_eq!(client.ask(&list()).await.to_string(), answer.to_string());
    for tool in answer["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        for key in ["title", "description"] {
            assert!(
                tool[key].as_str().is_some_and(|text| !text.is_empty()),
                "{key} of {tool}"
            );
        }
        jsonschema::validator_for(&tool["inputSchema"]).expect("the input schema compiles");
        jsonschema::validator_for(&tool["outputSchema"]).expect("the output schema compiles");
    }
    assert!(
        answer["result"].get("cacheScope").is_none(),
        "the legacy era has no cache hints"
    );
    let modern = client
        .ask(&modern(
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} }),
            json!({}),
        ))
        .await;
    assert_eq!(
        (&modern["result"]["cacheScope"], &modern["result"]["ttlMs"]),
        (&json!("private"), &json!(300_000))
    );
}

#[tokio::test]
async fn annotations_follow_effect_and_flow() {
    let shop = Workshop::new().await;
    let answer = shop.legacy_client().await.ask(&list()).await;
    let hints = |name: &str| {
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).unwrap()["annotations"].to_string()
    };
    let shown = ["runs_list", "shop_plan", "shop_apply", "runs_cancel"]
        .map(|name| format!("{name} {}", hints(name)))
        .join("\n");
    insta::assert_snapshot!(shown, @r#"
    runs_list {"openWorldHint":false,"readOnlyHint":true}
    shop_plan {"openWorldHint":false,"readOnlyHint":true}
    shop_apply {"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"readOnlyHint":false}
    runs_cancel {"destructiveHint":false,"openWorldHint":false,"readOnlyHint":false}
    "#);
}

#[tokio::test]
async fn toolsets_and_scopes_narrow_the_list() {
    let shop = Workshop::new().await;
    let only_shop = ServerOptions {
        toolsets: Some(vec!["shop".to_owned()]),
        principal: Some(windlass_testkit::local()),
        ..ServerOptions::default()
    };
    let mut client = StdioClient::start(shop.handler(only_shop));
    let tools = names(
        &client
            .ask(&modern(
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }),
                json!({}),
            ))
            .await,
    );
    assert_eq!(tools, ["shop_apply", "shop_plan"]);
    let refused = client
        .ask(&modern_call(2, "runs_list", json!({}), json!({})))
        .await;
    assert_eq!(refused["error"]["code"], -32602);

    let key = Principal::key("key_1", vec![Scope::new("shop")]);
    let mut client = shop.client_of(key);
    let tools = names(
        &client
            .ask(&modern(
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }),
                json!({}),
            ))
            .await,
    );
    assert_eq!(tools, ["shop_apply", "shop_plan"]);
    let forbidden = client
        .ask(&modern_call(2, "runs_list", json!({}), json!({})))
        .await;
    assert_eq!(forbidden["result"]["isError"], true);
    assert_eq!(
        forbidden["result"]["structuredContent"]["error"]["code"],
        "FORBIDDEN"
    );

    let wrong = ServerOptions {
        toolsets: Some(vec!["nope".to_owned()]),
        ..ServerOptions::default()
    };
    let error = handler(shop.process.catalogue().clone(), wrong)
        .err()
        .unwrap();
    insta::assert_snapshot!(error, @r#"there is no toolset "nope"; there are: runs, shop"#);
}

#[tokio::test]
async fn a_result_is_the_same_json_twice_and_fits_its_schema() {
    let shop = Workshop::new().await;
    let mut client = shop.legacy_client().await;
    let tools = client.ask(&list()).await["result"]["tools"].clone();
    let schema = |name: &str| {
        let tool = tools
            .as_array()
            .unwrap()
            .iter()
            .find(|tool| tool["name"] == name)
            .unwrap();
        jsonschema::validator_for(&tool["outputSchema"]).unwrap()
    };
    let apply = shop
        .confirmed(&[Op::set("a", 1), Op::sleep("pause", 5)])
        .await;
    let cases = [
        ("runs_list", json!({}), false),
        ("runs_list", json!({ "limit": "many" }), true),
        ("runs_list", json!({ "no_such": 1 }), true),
        ("runs_show", json!({ "run_id": "run_0" }), true),
        ("shop_plan", json!({ "program": [] }), false),
        ("shop_plan", json!({}), true),
        ("shop_apply", apply, false),
        ("shop_apply", json!({ "program": [] }), true),
        ("runs_list", json!({ "states": ["completed"] }), false),
    ];
    for (id, (tool, input, fails)) in cases.into_iter().enumerate() {
        let result = shop.run(client.ask(&call(id, tool, input.clone()))).await["result"].clone();
        assert_eq!(result["isError"], fails, "{tool} {input}: {result}");
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        let errors: Vec<_> = schema(tool)
            .iter_errors(&text)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{tool} {input}: {errors:?}\n{text}");
        if fails {
            assert_eq!(text["ok"], false);
            assert!(
                text["error"]["request_id"]
                    .as_str()
                    .is_some_and(|id| id.starts_with("req_")),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_with_a_hint() {
    let shop = Workshop::new().await;
    let mut client = shop.legacy_client().await;
    let answer = client.ask(&call(1, "runs_lst", json!({}))).await;
    assert_eq!(answer["error"]["code"], -32602);
    insta::assert_snapshot!(answer["error"]["message"].as_str().unwrap(), @"unknown tool: runs_lst; did you mean runs_list?");
    // The operation's own name is no tool.
    assert_eq!(
        client.ask(&call(2, "runs.list", json!({}))).await["error"]["code"],
        -32602
    );
}

#[tokio::test]
async fn applying_waits_reports_progress_and_shows_the_run_at_its_end() {
    let shop = Workshop::new().await;
    let mut client = shop.legacy_client().await;
    client.ask(&json!({ "jsonrpc": "2.0", "id": "level", "method": "logging/setLevel", "params": { "level": "notice" } })).await;
    let mut input = shop
        .confirmed(&[
            Op::set("a", 1),
            Op::sleep("pause", 5),
            Op::Emit {
                name: "halfway".to_owned(),
                text: "half of it".to_owned(),
            },
            Op::Artifact {
                name: "report.txt".to_owned(),
                text: "done".to_owned(),
            },
        ])
        .await;
    input["wait_seconds"] = json!(120);
    let mut request = call(1, "shop_apply", input);
    request["params"]["_meta"] = json!({ "progressToken": "p1" });
    let (mut progress, mut logs) = (Vec::new(), Vec::new());
    let answer = shop
        .run(async {
            client.send(&request).await;
            loop {
                let message = client.receive().await;
                match message["method"].as_str() {
                    Some("notifications/progress") => {
                        assert_eq!(message["params"]["progressToken"], "p1");
                        progress.push((
                            message["params"]["progress"].as_f64().unwrap(),
                            message["params"]["message"].as_str().unwrap().to_owned(),
                        ));
                    }
                    Some("notifications/message") => logs.push(
                        message["params"]["data"]["message"]
                            .as_str()
                            .unwrap()
                            .to_owned(),
                    ),
                    _ => return message,
                }
            }
        })
        .await;
    assert_eq!(
        answer["result"]["structuredContent"]["run"]["state"], "completed",
        "{answer}"
    );
    assert!(
        progress.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "progress grows: {progress:?}"
    );
    let messages: Vec<_> = progress
        .iter()
        .map(|(_, message)| message.as_str())
        .collect();
    for want in [
        "started",
        "a: started",
        "a: done",
        "halfway",
        "stored report.txt",
        "completed",
    ] {
        assert!(messages.contains(&want), "{want} in {messages:?}");
    }
    assert_eq!(
        logs,
        ["completed"],
        "only what is at least a notice is logged"
    );
}

#[tokio::test]
async fn the_run_goes_on_when_the_client_is_gone() {
    let shop = Workshop::new().await;
    let mut client = shop.legacy_client().await;
    let mut input = shop
        .confirmed(&[Op::set("a", 1), Op::approval("go"), Op::set("b", 2)])
        .await;
    input["wait_seconds"] = json!(300);
    client.send(&call(1, "shop_apply", input)).await;
    let run_id = loop {
        let page = shop
            .process
            .call("runs.list", json!({}))
            .await
            .unwrap()
            .output;
        match page["runs"][0]["run_id"].as_str() {
            Some(run_id) => break run_id.parse().unwrap(),
            None => tokio::task::yield_now().await,
        }
    };
    client.close_input().await;
    client.server.await.unwrap().unwrap();
    assert_eq!(shop.settled(&run_id).await, "waiting");
    shop.process
        .call("runs.approve", json!({ "run_id": run_id }))
        .await
        .unwrap();
    assert_eq!(shop.settled(&run_id).await, RunState::Completed.as_str());
}

#[tokio::test]
async fn over_http_the_caller_is_the_one_the_http_surface_found() {
    let shop = Workshop::new().await;
    let handler = shop.handler(ServerOptions::default());
    let mut client = HttpClient::over(endpoint(move || handler.session(), HttpOptions::default()));
    client
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "shop_plan")
        .header("x-request-id", "req_from_outside");
    let body = modern_call(1, "shop_plan", json!({}), json!({})).to_string();

    let nobody = client.post_bytes(body.as_bytes()).await;
    assert_eq!(
        nobody.messages[0]["error"]["code"], -32603,
        "without a caller nothing is done"
    );

    let mut request = client.request("POST", body);
    request
        .extensions_mut()
        .insert(Principal::key("key_1", vec![Scope::new("runs")]));
    let reply = client.send(request).await;
    let error = &reply.messages[0]["result"]["structuredContent"]["error"];
    assert_eq!(
        (&error["code"], &error["request_id"]),
        (&json!("FORBIDDEN"), &json!("req_from_outside"))
    );
}

#[tokio::test]
async fn the_answer_after_a_wait_names_the_run_where_tasks_are_unknown() {
    let shop = Workshop::new().await;
    let mut client = shop.client();
    let input = shop.confirmed(&[Op::sleep("pause", 60)]).await;
    let mut request = call(1, "shop_apply", input);
    request["params"]["_meta"] = modern_meta();
    let answer = client.ask(&request).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    let run_id = run_of(&answer);
    assert_eq!(shop.settled(&run_id).await, "completed");
}
