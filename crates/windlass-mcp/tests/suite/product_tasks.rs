//! Tasks over runs.

use serde_json::{Value, json};
use windlass_testkit::program::Op;
use windlass_types::{Principal, Scope};

use super::{
    support::{StdioClient, call},
    workshop::{Workshop, modern, modern_call},
};

fn with_tasks() -> Value {
    json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn about(method: &str, task: &Value) -> Value {
    modern(
        json!({ "jsonrpc": "2.0", "id": 9, "method": method, "params": { "taskId": task } }),
        with_tasks(),
    )
}

async fn start(shop: &Workshop, client: &mut StdioClient, steps: &[Op]) -> Value {
    let input = shop.confirmed(steps).await;
    let answer = client
        .ask(&modern_call(1, "shop_apply", input, with_tasks()))
        .await;
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    answer["result"].clone()
}

/// The task once it is no longer working.
async fn settled(shop: &Workshop, client: &mut StdioClient, task: &Value) -> Value {
    shop.process
        .settle(&task["taskId"].as_str().unwrap().parse().unwrap())
        .await;
    client.ask(&about("tasks/get", &task["taskId"])).await["result"].clone()
}

#[tokio::test]
async fn a_run_is_a_task_from_the_first_reply_on() {
    let shop = Workshop::new().await;
    let mut client = shop.client();
    let task = start(&shop, &mut client, &[Op::sleep("pause", 60)]).await;
    assert_eq!(
        (&task["status"], &task["ttlMs"]),
        (&json!("working"), &Value::Null)
    );
    assert!(task.get("requestState").is_none() && task.get("result").is_none());
    let working = client.ask(&about("tasks/get", &task["taskId"])).await["result"].clone();
    assert_eq!(
        (&working["status"], &working["resultType"]),
        (&json!("working"), &json!("complete"))
    );
    let done = settled(&shop, &mut client, &task).await;
    assert_eq!(done["status"], "completed");
    assert_eq!(
        done["result"]["structuredContent"]["run"]["state"],
        "completed"
    );
    assert_eq!(done["result"]["isError"], false);
}

#[tokio::test]
async fn a_task_asks_and_takes_the_answer() {
    for (approve, status, error) in [
        (true, "completed", json!(false)),
        (false, "completed", json!(true)),
    ] {
        let shop = Workshop::new().await;
        let mut client = shop.client();
        let task = start(&shop, &mut client, &[Op::set("a", 1), Op::approval("go")]).await;
        let asking = settled(&shop, &mut client, &task).await;
        assert_eq!(asking["status"], "input_required", "{asking}");
        assert_eq!(
            asking["inputRequests"]["approval"]["method"],
            "elicitation/create"
        );
        let mut ignored = about("tasks/update", &task["taskId"]);
        ignored["params"]["inputResponses"] = json!({ "unknown-key": { "ignored": true } });
        assert_eq!(
            client.ask(&ignored).await["result"]["resultType"],
            "complete"
        );
        assert_eq!(
            settled(&shop, &mut client, &task).await["status"],
            "input_required"
        );
        let mut update = about("tasks/update", &task["taskId"]);
        update["params"]["inputResponses"] =
            json!({ "approval": { "action": "accept", "content": { "approve": approve } } });
        let ack = client.ask(&update).await["result"].clone();
        assert_eq!(
            (&ack["resultType"], ack.get("status")),
            (&json!("complete"), None)
        );
        let end = settled(&shop, &mut client, &task).await;
        assert_eq!(
            (&end["status"], &end["result"]["isError"]),
            (&json!(status), &error),
            "{end}"
        );
        // Late answers are acknowledged and change nothing.
        assert_eq!(
            client.ask(&update).await["result"]["resultType"],
            "complete"
        );
    }
}

#[tokio::test]
async fn a_dismissed_form_is_not_asked_again_and_the_task_says_what_to_type() {
    for action in ["cancel", "decline"] {
        let shop = Workshop::new().await;
        let mut client = shop.client();
        let task = start(&shop, &mut client, &[Op::set("a", 1), Op::approval("go")]).await;
        let asking = settled(&shop, &mut client, &task).await;
        assert_eq!(asking["status"], "input_required", "{asking}");
        let mut update = about("tasks/update", &task["taskId"]);
        update["params"]["inputResponses"] = json!({ "approval": { "action": action } });
        client.ask(&update).await;
        let get = about("tasks/get", &task["taskId"]);
        let waits = client.ask(&get).await["result"].clone();
        assert_eq!(waits["status"], "working", "{action}: {waits}");
        let run_id = task["taskId"].as_str().unwrap();
        let message = waits["statusMessage"].as_str().unwrap();
        let command = format!("windlass runs approve {run_id}");
        assert!(message.contains(&command), "{message}");
        // Nothing was decided: a person elsewhere still can.
        shop.process
            .call("runs.approve", json!({ "run_id": run_id }))
            .await
            .unwrap();
        let end = settled(&shop, &mut client, &task).await;
        assert_eq!(end["status"], "completed", "{end}");
        assert_eq!(end["result"]["isError"], false, "{end}");
    }
}

#[tokio::test]
async fn a_task_can_be_cancelled_once_and_again() {
    let shop = Workshop::new().await;
    let mut client = shop.client();
    let task = start(&shop, &mut client, &[Op::set("a", 1), Op::approval("go")]).await;
    for _ in 0..2 {
        let ack = client.ask(&about("tasks/cancel", &task["taskId"])).await["result"].clone();
        assert_eq!(ack["resultType"], "complete", "{ack}");
        let end = settled(&shop, &mut client, &task).await;
        assert_eq!(end["status"], "cancelled");
    }
}

#[tokio::test]
async fn tasks_of_others_do_not_exist() {
    let shop = Workshop::new().await;
    let task = start(
        &shop,
        &mut shop.client(),
        &[Op::set("a", 1), Op::approval("go")],
    )
    .await;
    let mut eve = shop.client_of(Principal::key(
        "key_eve",
        vec![Scope::new("runs"), Scope::new("shop")],
    ));
    for method in ["tasks/get", "tasks/cancel"] {
        assert_eq!(
            eve.ask(&about(method, &task["taskId"])).await["error"]["code"],
            -32602,
            "{method}"
        );
    }
    let mut client = shop.client();
    for id in ["run_0", "not a run", ""] {
        assert_eq!(
            client.ask(&about("tasks/get", &json!(id))).await["error"]["code"],
            -32602,
            "{id:?}"
        );
    }
}

#[tokio::test]
async fn without_the_capability_there_are_no_tasks() {
    let shop = Workshop::new().await;
    let mut client = shop.client();
    let get = modern(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": { "taskId": "run_0" } }),
        json!({}),
    );
    assert_eq!(client.ask(&get).await["error"]["code"], -32021);
    for method in ["tasks/list", "tasks/result"] {
        let gone = modern(
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": {} }),
            with_tasks(),
        );
        assert_eq!(client.ask(&gone).await["error"]["code"], -32601);
    }
    let mut legacy = shop.legacy_client().await;
    let input = shop.confirmed(&[Op::sleep("pause", 60)]).await;
    let mut request = call(1, "shop_apply", input);
    request["params"]["task"] = json!({ "ttl": 60000 });
    let answer = legacy.ask(&request).await;
    assert!(
        answer["result"]["structuredContent"]["run"]["run_id"].is_string(),
        "{answer}"
    );
}
