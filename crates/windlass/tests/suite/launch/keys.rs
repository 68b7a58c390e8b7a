//! Idempotency keys and run ids: one key is one run, no matter who asks and how often at once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    client::{Client, ToolReply},
    place::LaunchPlace,
    shapes::RUN_ID,
};
use crate::suite::support::{
    binary::{Daemon, free_address},
    http::Ask,
};

const AT_ONCE: usize = 64;

fn keyed(config: &Value, key: &str) -> Value {
    json!({ "run_config": config, "idempotency_key": key })
}

fn id(tool_reply: &ToolReply) -> String {
    tool_reply.worked()["run_id"].as_str().unwrap().to_owned()
}

fn runs(client: &mut Client) -> usize {
    let listed = client.call("launch_list_runs", json!({ "limit": 1000 }));
    listed.worked()["runs"].as_array().unwrap().len()
}

#[test]
fn a_key_returns_its_run_in_any_state() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let start = keyed(&place.config(), "release 1.2");
    let run_id = id(&client.call("launch_start_run", start.clone()));
    let again = |client: &mut Client, state: &str| {
        let tool_reply = client.call("launch_start_run", start.clone());
        let wanted = json!({ "ok": true, "run_id": run_id, "state": state, "existing": true });
        assert_eq!(tool_reply.0, wanted);
    };
    client.settled(&run_id);
    again(&mut client, "READY_FOR_PR");
    client.about("launch_cancel", &run_id).worked();
    again(&mut client, "CANCELLED");
    // By another process as well, and after the first one is gone.
    drop(client);
    let mut client = place.serve();
    again(&mut client, "CANCELLED");
    assert_eq!(runs(&mut client), 1);
    // Without a key, or with another one, it is another run.
    let other = id(&client.call("launch_start_run", keyed(&place.config(), "release 1.3")));
    assert_ne!(other, run_id);
    assert_ne!(client.start(&place.config()), client.start(&place.config()));
}

#[test]
fn configurations_that_mean_the_same_are_the_same() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let config = place.config();
    let first = id(&client.call("launch_start_run", keyed(&config, "k")));
    let hash = client.status(&first)["config_hash"].clone();
    let reversed: serde_json::Map<String, Value> = config
        .as_object()
        .unwrap()
        .clone()
        .into_iter()
        .rev()
        .collect();
    for same in [
        Value::Object(reversed),
        place.config_with(json!({ "max_fix_attempts": 5.0 })),
        place.config_with(json!({ "schema_version": "1.0" })),
        place.config_with(json!({ "product_slug": "quill", "family": "quill" })),
        place.config_with(json!({ "locale": "en" })),
        place.config_with(json!({ "locales": ["en"] })),
        place.config_with(json!({ "commit_service": { "adapter": "local" } })),
        place.config_with(json!({ "validation_profile": "local" })),
        place.config_with(json!({ "budgets": { "max_runtime_s": 3.6e3 } })),
        place.config_with(json!({ "review_enabled": true, "allow_inference": false })),
    ] {
        let tool_reply = client.call("launch_start_run", keyed(&same, "k"));
        assert_eq!(id(&tool_reply), first, "{same:#}");
        assert_eq!(tool_reply.0["existing"], true);
    }
    let fresh = client.start(&place.config_with(json!({ "locale": "en" })));
    assert_eq!(client.status(&fresh)["config_hash"], hash);
}

/// The order in which a client writes members is not the order a map keeps them in.
#[test]
fn the_order_of_members_does_not_matter() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let config = place.config();
    let first = id(&client.call("launch_start_run", keyed(&config, "k")));
    let mut members: Vec<String> = config
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| format!("{}:{value}", json!(key)))
        .collect();
    members.reverse();
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":"raw","method":"tools/call","params":{{"name":"launch_start_run","arguments":{{"idempotency_key":"k","run_config":{{{}}}}}}}}}"#,
        members.join(" , ")
    );
    client.session.server.send(line.as_bytes());
    let answer = client.session.answer();
    let envelope = &answer["result"]["structuredContent"];
    assert_eq!(envelope["run_id"], first, "{answer}");
    assert_eq!(envelope["existing"], true, "{answer}");
}

#[test]
fn a_key_with_another_configuration_is_a_conflict() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let first = id(&client.call("launch_start_run", keyed(&place.config(), "k")));
    let hash = client.status(&first)["config_hash"].clone();
    for other in [
        json!({ "max_fix_attempts": 6 }),
        json!({ "product_name": "Quills" }),
        json!({ "allowed_paths": ["content/docs/quill", "static"] }),
        json!({ "launch_tier": "rich" }),
    ] {
        let other = place.config_with(other);
        let tool_reply = client.call("launch_start_run", keyed(&other, "k"));
        let details = tool_reply.refused("INVALID_INPUT");
        let conflict = &details["conflict"];
        assert_eq!(conflict["run_id"], first, "{details:#}");
        assert_eq!(conflict["existing_hash"], hash, "{details:#}");
        let given = client.start(&other);
        assert_eq!(conflict["given_hash"], client.status(&given)["config_hash"]);
        assert_ne!(conflict["given_hash"], hash);
        assert_eq!(conflict.as_object().unwrap().len(), 3, "{conflict}");
    }
}

#[test]
fn a_key_may_be_long_and_in_any_script() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let mut seen = BTreeSet::new();
    for key in [
        " ",
        "k",
        "K",
        &"k".repeat(200),
        "ключ 鍵 🔑",
        &"鍵".repeat(200),
        "../../k",
        "a/b",
    ] {
        let tool_reply = client.call("launch_start_run", keyed(&place.config(), key));
        assert!(seen.insert(id(&tool_reply)), "{key:?} is a key of its own");
        let again = client.call("launch_start_run", keyed(&place.config(), key));
        assert_eq!(again.0["existing"], true, "{key:?}");
        client.about("launch_cancel", &id(&tool_reply)).worked();
    }
}

#[test]
fn one_key_64_starts_at_once_is_one_run() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let start = keyed(&place.config(), "k");
    let tool_reply = client.at_once(&vec![("launch_start_run", start); AT_ONCE]);
    let ids: BTreeSet<String> = tool_reply.iter().map(id).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    let fresh = tool_reply
        .iter()
        .filter(|tool_reply| tool_reply.0.get("existing").is_none());
    assert_eq!(fresh.count(), 1, "one of them made it");
    assert_eq!(runs(&mut client), 1);
}

#[test]
fn one_key_64_starts_in_four_processes_is_one_run() {
    let place = LaunchPlace::clean();
    let mut clients: Vec<Client> = (0..4).map(|_| place.serve()).collect();
    let start = keyed(&place.config(), "k");
    let calls = vec![("launch_start_run", start); AT_ONCE / 4];
    let tool_reply: Vec<ToolReply> = std::thread::scope(|scope| {
        let calls = &calls;
        let callers: Vec<_> = clients
            .iter_mut()
            .map(|client| scope.spawn(move || client.at_once(calls)))
            .collect();
        callers
            .into_iter()
            .flat_map(|caller| caller.join().unwrap())
            .collect()
    });
    assert_eq!(tool_reply.len(), AT_ONCE);
    let ids: BTreeSet<String> = tool_reply.iter().map(id).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(runs(&mut clients[0]), 1);
    let run_id = ids.first().unwrap();
    assert_eq!(clients[3].settled(run_id)["state"], "READY_FOR_PR");
}

/// 64 configurations under one key at once: one of them wins, the others get its run.
#[test]
fn one_key_many_configurations_at_once_is_one_run() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let calls: Vec<(&str, Value)> = (0..AT_ONCE)
        .map(|number| {
            let config = place.config_with(json!({ "max_fix_attempts": number }));
            ("launch_start_run", keyed(&config, "k"))
        })
        .collect();
    let tool_reply = client.at_once(&calls);
    let winner: Vec<String> = tool_reply
        .iter()
        .filter(|tool_reply| tool_reply.is_ok())
        .map(id)
        .collect();
    assert_eq!(winner.len(), 1, "{winner:?}");
    for tool_reply in tool_reply.iter().filter(|tool_reply| !tool_reply.is_ok()) {
        let details = tool_reply.refused("INVALID_INPUT");
        assert_eq!(details["conflict"]["run_id"], winner[0], "{details:#}");
    }
    assert_eq!(runs(&mut client), 1);
}

/// A key belongs to its caller: two people may use the same word.
#[test]
fn a_key_belongs_to_its_owner() {
    let place = LaunchPlace::clean();
    place.settings(&format!(
        "[launch]\nlocal_roots = [{:?}]\n",
        place.root().to_str().unwrap()
    ));
    let start = keyed(&place.config(), "k").to_string();
    let create = |name: &str| {
        let said = place
            .say(&["keys", "create", name, "--scope", "*"])
            .worked();
        said.stdout.trim().to_owned()
    };
    let keys = [create("ada"), create("bob")];
    let mut client = place.serve();
    let own = id(&client.call("launch_start_run", keyed(&place.config(), "k")));
    let mut daemon = Daemon::spawn_with(place.command(), free_address(), &[]);
    daemon.wait_until_ready();
    let mut ids = BTreeSet::from([own]);
    for key in &keys {
        for existing in [false, true] {
            let reply = Ask::post("/v1/operations/launch.start_run", start.clone())
                .with("authorization", format!("Bearer {key}"))
                .send(daemon.address)
                .unwrap();
            let answer = reply.json();
            assert!(reply.status < 300, "{}", reply.text());
            let run_id = find(&answer, "run_id")
                .unwrap()
                .as_str()
                .unwrap()
                .to_owned();
            assert_eq!(!ids.insert(run_id), existing, "{answer:#}");
        }
    }
    assert_eq!(ids.len(), 3);
}

/// A member wherever it is in an answer.
pub(super) fn find<'a>(answer: &'a Value, key: &str) -> Option<&'a Value> {
    match answer {
        Value::Object(members) => members
            .get(key)
            .or_else(|| members.values().find_map(|value| find(value, key))),
        _ => None,
    }
}

/// 128 random bits each: nobody guesses one from another.
#[test]
fn run_ids_are_unguessable() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    // Over as soon as they have begun.
    let config = place.config_with(json!({ "github_repo_url": place.root().join("nowhere") }));
    let call = ("launch_start_run", json!({ "run_config": config }));
    let tool_reply = client.at_once(&vec![call; 200]);
    let pattern = regex::Regex::new(RUN_ID).unwrap();
    let ids: BTreeSet<String> = tool_reply.iter().map(id).collect();
    assert_eq!(ids.len(), 200);
    let tails: Vec<&str> = ids
        .iter()
        .map(|id| {
            assert!(pattern.is_match(id) && id.len() == 49, "{id}");
            id.rsplit('_').next().unwrap()
        })
        .collect();
    let distinct: BTreeSet<&str> = tails.iter().copied().collect();
    assert_eq!(distinct.len(), 200, "the time does not make them distinct");
    for place in 0..26 {
        let letters: BTreeSet<u8> = tails.iter().map(|tail| tail.as_bytes()[place]).collect();
        // The last letter holds the last three bits.
        let enough = if place == 25 { 4 } else { 16 };
        assert!(letters.len() >= enough, "letter {place}: {letters:?}");
    }
    // No two share a beginning: 30 bits of 200 ids hardly ever meet.
    let beginnings: BTreeSet<&str> = tails.iter().map(|tail| &tail[..6]).collect();
    assert!(beginnings.len() >= 199, "{}", beginnings.len());
}
