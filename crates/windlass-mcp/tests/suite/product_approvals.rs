//! Approvals asked of the person at the client, in both eras.

use serde_json::{Value, json};
use windlass_mcp::ServerOptions;
use windlass_testkit::program::Op;
use windlass_types::{Principal, Scope};

use super::{
    support::{StdioClient, call},
    workshop::{ASK, Workshop, modern_call, run_of},
};

fn can_ask() -> Value {
    json!({ "elicitation": {} })
}

fn answer_form(action: &str, approve: bool) -> Value {
    json!({ "approval": { "action": action, "content": { "approve": approve, "reason": "looked at it" } } })
}

#[tokio::test]
async fn a_legacy_client_is_asked_and_its_answer_decides() {
    for (reply, want) in [
        (
            json!({ "action": "accept", "content": { "approve": true } }),
            "completed",
        ),
        (
            json!({ "action": "accept", "content": { "approve": false } }),
            "failed",
        ),
        (json!({ "action": "decline" }), "queued or waiting"),
        (json!({ "action": "cancel" }), "queued or waiting"),
    ] {
        let shop = Workshop::under(Some(ASK)).await;
        let mut client = shop.legacy_client().await;
        let mut input = shop.confirmed(&[Op::set("a", 1)]).await;
        input["wait_seconds"] = json!(60);
        let result = shop
            .run(async {
                client.send(&call(1, "shop_apply", input)).await;
                let question = client.receive().await;
                assert_eq!(question["method"], "elicitation/create", "{question}");
                let message = question["params"]["message"].as_str().unwrap();
                let (shown, run) = message.rsplit_once("\nRun: run_").unwrap();
                assert_eq!(
                    shown,
                    "Approve shop.apply on bench?\nChange:\n  > bench\nTarget: bench\n\
                     Effect: write (creates or changes)\nNeeds an approval by local:ada"
                );
                assert!(!run.contains('\n'), "{message}");
                client
                    .send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply }))
                    .await;
                client.receive().await
            })
            .await;
        let state = result["result"]["structuredContent"]["run"]["state"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(want.contains(&state), "{reply}: {state}, want {want}");
    }
}

#[tokio::test]
async fn a_modern_client_is_asked_in_another_round() {
    let shop = Workshop::under(Some(ASK)).await;
    let mut client = shop.client();
    let mut input = shop.confirmed(&[Op::set("a", 1)]).await;
    input["wait_seconds"] = json!(60);
    let first = shop
        .run(client.ask(&modern_call(1, "shop_apply", input.clone(), can_ask())))
        .await["result"]
        .clone();
    assert_eq!(first["resultType"], "input_required", "{first}");
    assert_eq!(
        first["inputRequests"]["approval"]["method"],
        "elicitation/create"
    );

    let round = |state: &Value, answers: Value| {
        let mut again = modern_call(2, "shop_apply", input.clone(), can_ask());
        again["params"]["requestState"] = state.clone();
        again["params"]["inputResponses"] = answers;
        again
    };
    // Not answered, or not understood: the run goes on waiting, and the call ends by saying so.
    for answers in [
        json!({}),
        json!({ "other": 1 }),
        json!({ "approval": 12345 }),
        answer_form("cancel", true),
        answer_form("decline", false),
    ] {
        let again = shop
            .run(client.ask(&round(&first["requestState"], answers)))
            .await["result"]
            .clone();
        assert_eq!(again["resultType"], "complete", "{again}");
        let run = &again["structuredContent"]["run"];
        assert_eq!(run["state"], "waiting", "{again}");
        let next = again["structuredContent"]["next_actions"].to_string();
        assert!(next.contains("windlass runs approve"), "{next}");
    }
    let done = shop
        .run(client.ask(&round(&first["requestState"], answer_form("accept", true))))
        .await;
    assert_eq!(
        done["result"]["structuredContent"]["run"]["state"], "completed",
        "{done}"
    );
    // The approval is given; a round that comes twice gives no second one and has the same answer.
    for answer in [answer_form("accept", true), answer_form("accept", false)] {
        let repeated = shop
            .run(client.ask(&round(&first["requestState"], answer)))
            .await;
        let result = &repeated["result"];
        assert_eq!(result["isError"], false, "{repeated}");
        assert_eq!(result["structuredContent"]["run"]["state"], "completed");
    }
    let journal = shop
        .process
        .call("runs.watch", json!({ "run_id": run_of(&done) }))
        .await
        .unwrap()
        .output;
    let signals = journal["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["type"] == "signal.received");
    assert_eq!(signals.count(), 1);
}

#[tokio::test]
async fn a_state_works_for_one_caller_and_one_call_only() {
    let shop = Workshop::under(Some(ASK)).await;
    let mut client = shop.client();
    let input = shop.confirmed(&[Op::set("a", 1)]).await;
    let first = client
        .ask(&modern_call(1, "shop_apply", input.clone(), can_ask()))
        .await["result"]
        .clone();
    let state = first["requestState"].as_str().unwrap().to_owned();
    let token = input["confirm_token"].as_str().unwrap().to_owned();

    let mut other_input = input.clone();
    other_input["program"] = json!([]);
    let eve = Principal::key("key_eve", vec![Scope::all()]);
    let cases: [(&str, Principal, &Value, String); 5] = [
        (
            "altered",
            windlass_testkit::local(),
            &input,
            format!("{state}x"),
        ),
        (
            "made up",
            windlass_testkit::local(),
            &input,
            "wct1.e30.AAAA".to_owned(),
        ),
        ("a confirm token", windlass_testkit::local(), &input, token),
        (
            "another call",
            windlass_testkit::local(),
            &other_input,
            state.clone(),
        ),
        ("another caller", eve, &input, state.clone()),
    ];
    for (name, principal, input, state) in cases {
        let mut client: StdioClient = shop.client_of(principal);
        let mut again = modern_call(2, "shop_apply", input.clone(), can_ask());
        again["params"]["requestState"] = json!(state);
        again["params"]["inputResponses"] = answer_form("accept", true);
        let refused = client.ask(&again).await;
        assert_eq!(refused["error"]["code"], -32602, "{name}: {refused}");
    }
    let run = shop
        .process
        .call("runs.list", json!({}))
        .await
        .unwrap()
        .output["runs"][0]
        .clone();
    assert!(
        matches!(run["state"].as_str(), Some("queued" | "waiting")),
        "nothing was approved: {run}"
    );
}

#[tokio::test]
async fn nobody_is_asked_who_cannot_answer() {
    let shop = Workshop::under(Some(ASK)).await;
    let input = shop.confirmed(&[Op::set("a", 1)]).await;
    // The client shows no forms.
    let answer = shop
        .client()
        .ask(&modern_call(1, "shop_apply", input, json!({})))
        .await;
    assert_eq!(answer["result"]["resultType"], "complete");
    let actions = answer["result"]["structuredContent"]["next_actions"].to_string();
    assert!(actions.contains("windlass runs approve"), "{actions}");
}

#[tokio::test]
async fn the_answer_is_the_person_s_not_the_program_s() {
    let shop = Workshop::under(Some(ASK)).await;
    let agent = Principal::local_agent("ada", "mcp");
    // Without a person behind it the program is not asked: it may not approve.
    let input = shop.confirmed_by(&agent, &[Op::set("a", 1)]).await;
    let mut alone = shop.client_of(agent.clone());
    let answer = alone
        .ask(&modern_call(1, "shop_apply", input, can_ask()))
        .await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");

    let options = ServerOptions {
        principal: Some(agent.clone()),
        person: Some(windlass_testkit::local()),
        ..ServerOptions::default()
    };
    let mut client = StdioClient::start(shop.handler(options));
    let mut input = shop.confirmed_by(&agent, &[Op::set("b", 2)]).await;
    input["wait_seconds"] = json!(60);
    let asked = shop
        .run(client.ask(&modern_call(1, "shop_apply", input.clone(), can_ask())))
        .await["result"]
        .clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let mut again = modern_call(2, "shop_apply", input, can_ask());
    again["params"]["requestState"] = asked["requestState"].clone();
    again["params"]["inputResponses"] = answer_form("accept", true);
    let done = shop.run(client.ask(&again)).await;
    let run = &done["result"]["structuredContent"]["run"];
    assert_eq!(
        (&run["state"], &run["principal"]),
        (&json!("completed"), &json!("local:ada/mcp"))
    );
    let journal = shop
        .process
        .call("runs.watch", json!({ "run_id": run_of(&done) }))
        .await
        .unwrap()
        .output;
    let signal = journal["events"]
        .as_array()
        .unwrap()
        .iter()
        .find(|event| event["type"] == "signal.received")
        .unwrap();
    assert_eq!(signal["payload"]["principal"]["name"], "ada");
}
