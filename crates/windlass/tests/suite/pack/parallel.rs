//! Many applies at once: exactly one happens, the others learn why not.

use serde_json::{Value, json};

use super::place::{Client, PackPlace, ToolReply};

const AT_ONCE: usize = 64;
const MISMATCH: &str = "E_CONFIRM_TOKEN_MISMATCH";

/// Sends all calls before it reads the first answer.
fn in_flight(client: &mut Client, calls: &[Value]) -> Vec<ToolReply> {
    for call in calls {
        client.ask_tool("deploy_apply", call);
    }
    calls
        .iter()
        .map(|_| ToolReply::of(&client.answer()))
        .collect()
}

/// One of the answers is good and came about once; the others.
fn only_one_applied<'a>(place: &PackPlace, answers: &'a [ToolReply]) -> Vec<&'a ToolReply> {
    let (applied, refused): (Vec<_>, Vec<_>) =
        answers.iter().partition(|tool_reply| tool_reply.is_ok());
    assert_eq!(applied.len(), 1, "{} refused", refused.len());
    assert_eq!(applied[0].data()["applied"], true);
    let snapshots = place.snapshots();
    assert_eq!(snapshots.len(), 1, "one apply, one snapshot");
    assert_eq!(snapshots[0]["id"], applied[0].data()["snapshot_id"]);
    let tool_reply = place.serve().call("status", json!({}));
    let clean = json!({ "modified": 0, "missing": 0, "extra": 0 });
    assert_eq!(tool_reply.data()["summary"], clean, "{:#}", tool_reply.0);
    refused
}

/// The same for one token: it cannot even have started another run.
fn assert_one_applied(place: &PackPlace, answers: &[ToolReply]) {
    for tool_reply in only_one_applied(place, answers) {
        tool_reply.refusal(MISMATCH);
    }
    let runs = place.runs();
    assert_eq!(runs.len(), 1, "one apply, one run: {runs:?}");
    assert_eq!(runs[0]["state"], "completed");
}

/// With a token each, one that planned before the first had written is stopped before it writes.
fn assert_refused_or_stopped(tool_reply: &ToolReply) {
    match tool_reply.code() {
        Some(MISMATCH) => {}
        Some("E_UNEXPECTED") => {
            tool_reply.refused_for("E_UNEXPECTED", "destination_changed");
        }
        _ => panic!("{:#}", tool_reply.0),
    }
}

#[test]
fn one_token_64_calls_in_flight() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let token = client.token(json!({}));
    let call = json!({ "yes": true, "confirm_token": token });
    let answers = in_flight(&mut client, &vec![call; AT_ONCE]);
    assert_one_applied(&place, &answers);
}

#[test]
fn must_8_64_tokens_of_one_plan_in_flight() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let calls: Vec<Value> = (0..AT_ONCE)
        .map(|_| json!({ "yes": true, "confirm_token": client.token(json!({})) }))
        .collect();
    let answers = in_flight(&mut client, &calls);
    for tool_reply in only_one_applied(&place, &answers) {
        assert_refused_or_stopped(tool_reply);
    }
    let runs = place.runs();
    let completed = runs.iter().filter(|run| run["state"] == "completed");
    assert_eq!(completed.count(), 1, "{runs:?}");
    assert!(
        runs.iter()
            .all(|run| run["state"] == "completed" || run["state"] == "failed")
    );
}

#[test]
fn one_token_64_calls_to_two_servers_on_one_home() {
    let place = PackPlace::new();
    let mut clients = [place.serve(), place.serve()];
    let token = clients[0].token(json!({}));
    let calls = vec![json!({ "yes": true, "confirm_token": token }); AT_ONCE / 2];
    let answers: Vec<ToolReply> = std::thread::scope(|scope| {
        let calls = &calls;
        let callers: Vec<_> = clients
            .iter_mut()
            .map(|client| scope.spawn(move || in_flight(client, calls)))
            .collect();
        callers
            .into_iter()
            .flat_map(|caller| caller.join().unwrap())
            .collect()
    });
    assert_eq!(answers.len(), AT_ONCE);
    assert_one_applied(&place, &answers);
}

/// Two Windlass homes share a pack home: the locks of the roots still keep them apart.
#[test]
fn must_8_servers_with_separate_homes_do_not_mix() {
    let place = PackPlace::new();
    let other = place.root().join("windlass2");
    std::fs::create_dir(&other).unwrap();
    let mut command = place.command(&place.project());
    command
        .env("WINDLASS_HOME", &other)
        .args(["mcp", "serve", "--toolset", "pack"]);
    let mut clients = [place.serve(), Client::of(command)];
    let calls: Vec<Vec<Value>> = clients
        .iter_mut()
        .map(|client| {
            let call = json!({ "yes": true, "confirm_token": client.token(json!({})) });
            vec![call; 8]
        })
        .collect();
    let answers: Vec<ToolReply> = std::thread::scope(|scope| {
        let callers: Vec<_> = clients
            .iter_mut()
            .zip(&calls)
            .map(|(client, calls)| scope.spawn(move || in_flight(client, calls)))
            .collect();
        callers
            .into_iter()
            .flat_map(|caller| caller.join().unwrap())
            .collect()
    });
    for tool_reply in only_one_applied(&place, &answers) {
        assert_refused_or_stopped(tool_reply);
    }
}
