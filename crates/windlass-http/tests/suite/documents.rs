//! The OpenAPI document and the metadata: valid, complete, true.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_http::openapi;

use super::support::{Ask, call, get, server, server_with};

fn each(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, verbs)| {
            verbs
                .as_object()
                .unwrap()
                .iter()
                .map(move |(verb, operation)| (path.as_str(), verb.as_str(), operation))
        })
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(target)) = map.get("$ref") {
                found.push(target.clone());
            }
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[tokio::test]
async fn the_document_is_whole() {
    let server = server().await;
    let document = openapi(server.process.catalogue());
    assert_eq!(
        document,
        openapi(server.world.process().catalogue()),
        "the same catalogue, the same document"
    );
    let served = server.ask(get("/v1/openapi.json").key(&server.probe)).await;
    assert_eq!(served.json(), document);

    let ids: Vec<&str> = each(&document)
        .map(|(_, _, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    let unique: BTreeSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
    assert!(
        ids.iter().all(|id| id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')),
        "{ids:?}"
    );

    let mut found = Vec::new();
    references(&document, &mut found);
    for target in found {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(
            document.pointer(pointer).is_some(),
            "{target} leads nowhere"
        );
    }
    for (path, verb, operation) in each(&document) {
        let named: BTreeSet<&str> = path
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
            .collect();
        let described: BTreeSet<&str> = operation["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        assert_eq!(named, described, "{verb} {path}");
        assert!(
            operation["responses"]["default"].is_object(),
            "{verb} {path}"
        );
    }
    for info in server.process.catalogue().operations() {
        let path = format!("/v1/operations/{}", info.name);
        let described = &document["paths"][&path]["post"];
        assert_eq!(described["x-windlass-operation"], info.name);
    }
}

#[tokio::test]
async fn every_described_route_is_served() {
    let server = server().await;
    let document = openapi(server.process.catalogue());
    for (path, verb, operation) in each(&document) {
        let filled = path
            .replace("{run_id}", "run_1")
            .replace("{key_id}", "key_1")
            .replace("{name}", "probe.echo");
        // What these two do is not wanted here; that they are served is shown elsewhere.
        if path.contains("panic") || path.contains("probe.wait") || path.contains("probe.change") {
            continue;
        }
        let ask: Ask = get(&filled)
            .method(&verb.to_ascii_uppercase())
            .key(&server.root);
        let reply = server.ask(ask).await;
        reply.check_headers(path);
        assert_ne!(reply.status.as_u16(), 405, "{verb} {path}");
        let nothing =
            reply.code() == "NOT_FOUND" && reply.json()["error"]["details"]["path"].is_string();
        assert!(!nothing, "{verb} {path}: {}", operation["operationId"]);
    }
}

#[tokio::test]
async fn answers_fit_their_described_schemas() {
    let server = server().await;
    let document = openapi(server.process.catalogue());
    for (operation, input) in [
        ("probe.echo", json!({ "text": "a" })),
        ("runs.list", json!({})),
        ("admin.keys_list", json!({})),
    ] {
        let answer = server
            .ask(call(operation, input).key(&server.root))
            .await
            .json();
        let mut schema = document["paths"][format!("/v1/operations/{operation}")]["post"]["responses"]["200"]
            ["content"]["application/json"]["schema"]
            .clone();
        schema["components"] = document["components"].clone();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let wrong: Vec<String> = validator
            .iter_errors(&answer)
            .map(|error| error.to_string())
            .collect();
        assert!(wrong.is_empty(), "{operation}: {wrong:?}");
    }
    let failure = server.ask(get("/v1/runs")).await.json();
    let mut schema = json!({ "$ref": "#/components/schemas/Failure" });
    schema["components"] = document["components"].clone();
    assert!(
        jsonschema::draft202012::new(&schema)
            .unwrap()
            .is_valid(&failure),
        "{failure}"
    );
}

#[tokio::test]
async fn the_catalogue_is_shown() {
    let server = server().await;
    let listed = server
        .ask(get("/v1/operations").key(&server.probe))
        .await
        .json();
    let names: Vec<&str> = listed["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect();
    let known: Vec<&str> = server
        .process
        .catalogue()
        .operations()
        .map(|info| info.name.as_str())
        .collect();
    assert_eq!(names, known);
    let described = server
        .ask(get("/v1/operations/probe.echo").key(&server.probe))
        .await
        .json();
    assert_eq!(described["input_schema"]["required"], json!(["text"]));
    assert_eq!(
        described["examples"][0]["input"],
        json!({ "text": "hello" })
    );
}

#[tokio::test]
async fn the_metadata_names_the_resource() {
    let server = server_with(|_| {}).await;
    let path = "/.well-known/oauth-protected-resource";
    let api = server.ask(get(path).host("127.0.0.1:9")).await.canonical();
    insta::assert_snapshot!(api, @r#"{"bearer_methods_supported":["header"],"resource":"http://127.0.0.1:9","resource_name":"Windlass","scopes_supported":["admin","approve","ledger","metrics","probe","runs"]}"#);
    let mcp = server.ask(get(&format!("{path}/mcp"))).await.json();
    assert_eq!(mcp["resource"], "http://localhost:7717/mcp");
    let public =
        server_with(|state| state.public_url = Some("https://w.example/".to_owned())).await;
    let mcp = public
        .ask(get(&format!("{path}/mcp")).host("w.example"))
        .await
        .json();
    assert_eq!(mcp["resource"], "https://w.example/mcp");
}
