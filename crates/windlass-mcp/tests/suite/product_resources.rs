//! Runs as resources, subscriptions, prompts, completions.

use serde_json::{Value, json};
use windlass_testkit::program::Op;
use windlass_types::RunId;

use super::{
    support::StdioClient,
    workshop::{Workshop, modern},
};

fn read(uri: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": uri } })
}

async fn finished_run(shop: &Workshop) -> RunId {
    let report = Op::Artifact {
        name: "report.txt".to_owned(),
        text: "all done".to_owned(),
    };
    let run_id = shop.started(&[Op::set("a", 1), report]).await;
    assert_eq!(shop.settled(&run_id).await, "completed");
    run_id
}

async fn text_of(client: &mut StdioClient, uri: &str) -> (String, String) {
    let contents = client.ask(&read(uri)).await["result"]["contents"][0].clone();
    assert_eq!(contents["uri"], uri, "{contents}");
    (
        contents["mimeType"].as_str().unwrap().to_owned(),
        contents["text"].as_str().unwrap().to_owned(),
    )
}

#[tokio::test]
async fn runs_are_listed_and_read() {
    let shop = Workshop::new().await;
    let run_id = finished_run(&shop).await;
    let mut client = shop.legacy_client().await;
    let listed = client
        .ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" }))
        .await["result"]
        .clone();
    assert_eq!(
        listed["resources"][0]["uri"],
        format!("windlass://runs/{run_id}"),
        "{listed}"
    );
    assert_eq!(
        listed["resources"][0]["description"],
        "program run, completed"
    );

    let (kind, run) = text_of(&mut client, &format!("windlass://runs/{run_id}")).await;
    let run: Value = serde_json::from_str(&run).unwrap();
    assert_eq!(
        (kind.as_str(), &run["run"]["state"]),
        ("application/json", &json!("completed"))
    );
    let (_, events) = text_of(&mut client, &format!("windlass://runs/{run_id}/events")).await;
    let events: Value = serde_json::from_str(&events).unwrap();
    assert_eq!(events["events"][0]["type"], "run.created");
    assert_eq!(events["done"], true);
    let uri = format!("windlass://runs/{run_id}/artifacts/report.txt");
    let (kind, report) = text_of(&mut client, &uri).await;
    assert!(kind.starts_with("text/plain"), "{kind}");
    assert_eq!(report, "all done");

    let templates = client
        .ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/templates/list" }))
        .await;
    assert_eq!(
        templates["result"]["resourceTemplates"]
            .as_array()
            .map(Vec::len),
        Some(3)
    );
}

#[tokio::test]
async fn what_does_not_exist_has_the_code_of_its_era() {
    let shop = Workshop::new().await;
    let run_id = finished_run(&shop).await;
    let mut client = shop.legacy_client().await;
    for uri in [
        "windlass://runs/run_0".to_owned(),
        "windlass://runs/../x".to_owned(),
        "test://nope".to_owned(),
        String::new(),
        format!("windlass://runs/{run_id}/artifacts/nope"),
    ] {
        let legacy = client.ask(&read(&uri)).await;
        assert_eq!(
            (&legacy["error"]["code"], &legacy["error"]["data"]["uri"]),
            (&json!(-32002), &json!(uri))
        );
        let modern = client.ask(&modern(read(&uri), json!({}))).await;
        assert_eq!(
            (&modern["error"]["code"], &modern["error"]["data"]["uri"]),
            (&json!(-32602), &json!(uri))
        );
    }
    let cursor = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": { "cursor": "x" } });
    assert_eq!(client.ask(&cursor).await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_legacy_subscriber_hears_of_changes_until_it_unsubscribes() {
    let shop = Workshop::new().await;
    let mut client = shop.legacy_client().await;
    let run_id = shop.started(&[Op::approval("go")]).await;
    shop.settled(&run_id).await;
    let uri = format!("windlass://runs/{run_id}");
    let ask = |method: &str| json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": { "uri": uri } });
    assert_eq!(
        client.ask(&ask("resources/subscribe")).await["result"],
        json!({})
    );
    shop.process
        .call("runs.approve", json!({ "run_id": run_id }))
        .await
        .unwrap();
    let told = shop.run(client.receive()).await;
    assert_eq!(
        (&told["method"], &told["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!(uri))
    );
    shop.settled(&run_id).await;
    client.send(&ask("resources/unsubscribe")).await;
    let unknown = json!({ "jsonrpc": "2.0", "id": "u", "method": "resources/subscribe", "params": { "uri": "test://watched-resource" } });
    client.send(&unknown).await;
    for message in client.until_ping("end").await {
        assert!(
            message["method"] == "notifications/resources/updated"
                || message["result"] == json!({}),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_modern_listener_hears_of_the_runs_it_named() {
    let shop = Workshop::new().await;
    let mut client = shop.client();
    let run_id = shop.started(&[Op::approval("go")]).await;
    shop.settled(&run_id).await;
    let uri = format!("windlass://runs/{run_id}");
    let listen = json!({
        "jsonrpc": "2.0", "id": "sub", "method": "subscriptions/listen",
        "params": { "notifications": { "resourceSubscriptions": [uri, "test://other"], "toolsListChanged": true } },
    });
    client.send(&modern(listen, json!({}))).await;
    let acknowledged = client.receive().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "resourceSubscriptions": [uri] })
    );
    shop.process
        .call("runs.approve", json!({ "run_id": run_id }))
        .await
        .unwrap();
    let told = shop.run(client.receive()).await;
    assert_eq!(told["params"]["uri"], uri);
    assert_eq!(
        told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        "sub"
    );
}

#[tokio::test]
async fn prompts_are_filled_in() {
    let shop = Workshop::new().await;
    let run_id = finished_run(&shop).await;
    let mut client = shop.legacy_client().await;
    let listed = client
        .ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/list" }))
        .await;
    let names: Vec<_> = listed["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["name"].clone())
        .collect();
    assert_eq!(names, [json!("explain_run"), json!("make_change")]);
    let get = |name: &str, arguments: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": { "name": name, "arguments": arguments } });
    let explained = client
        .ask(&get("explain_run", json!({ "run_id": run_id })))
        .await;
    assert_eq!(
        explained["result"]["messages"][0]["content"]["type"], "resource",
        "{explained}"
    );
    let change = client
        .ask(&get(
            "make_change",
            json!({ "tool": "shop_plan", "goal": "two files" }),
        ))
        .await;
    assert!(
        change["result"]["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .contains("shop_plan")
    );
    for (name, arguments) in [
        ("nope", json!({})),
        ("explain_run", json!({})),
        ("explain_run", json!({ "run_id": "no such run" })),
        ("explain_run", json!({ "run_id": "run_0" })),
        ("make_change", json!({ "tool": "nope", "goal": "x" })),
    ] {
        assert_eq!(
            client.ask(&get(name, arguments.clone())).await["error"]["code"],
            -32602,
            "{name} {arguments}"
        );
    }
}

#[tokio::test]
async fn arguments_are_completed() {
    let shop = Workshop::new().await;
    let run_id = finished_run(&shop).await;
    let mut client = shop.legacy_client().await;
    let cases = [
        ("run_id", &run_id.as_str()[..6], json!([run_id])),
        ("run_id", "nope", json!([])),
        ("tool", "shop", json!(["shop_plan"])),
        ("unknown", "", json!([])),
    ];
    for (name, value, want) in cases {
        let request = json!({
            "jsonrpc": "2.0", "id": 1, "method": "completion/complete",
            "params": {
                "ref": { "type": "ref/prompt", "name": "explain_run" },
                "argument": { "name": name, "value": value },
            },
        });
        assert_eq!(
            client.ask(&request).await["result"]["completion"]["values"],
            want,
            "{name} {value}"
        );
    }
}
