//! What a client learns before it calls anything: names, descriptions, schemas, hints.

use serde_json::{Value, json};

use super::{
    shapes::{self, DEV, DIAGNOSE, OPS, TOOLS},
    world::World,
};

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_tools_of_the_contract_are_there_and_no_others() {
    let world = World::new();
    let tool_client = world.tool_client();
    let names: Vec<&str> = tool_client.tools.keys().map(String::as_str).collect();
    assert_eq!(names, TOOLS);
    // The project need not have a config, and nothing is asked of AWS.
    assert_eq!(world.mark(), 0);
}

#[test]
fn descriptions_are_the_contract_s() {
    let tool_client = World::new().tool_client();
    for (tool, begins, says) in [
        (
            "stacktape_docs",
            "Search Stacktape documentation for configuration help, resource types, deployment \
             patterns, and troubleshooting.",
            "The project has a stacktape.ts, stacktape.yml, or stacktape.yaml file",
        ),
        (
            "stacktape_ops",
            "Execute Stacktape infrastructure operations: deploy, delete, preview changes, manage \
             secrets, run scripts.",
            "User needs to manage secrets or run deployment scripts",
        ),
        (
            "stacktape_dev",
            "Control Stacktape dev mode: start local development environment, check status, read \
             logs, rebuild workloads, and stop.",
            "An active dev session needs management",
        ),
        (
            "stacktape_diagnose",
            "Diagnose and inspect deployed Stacktape infrastructure: view logs, metrics, alarms, \
             query databases, execute commands in containers, and call AWS SDK.",
            "User wants to check stack info or deployment history",
        ),
    ] {
        let said = words(tool_client.tools[tool]["description"].as_str().unwrap());
        assert!(said.starts_with(begins), "{tool}: {said}");
        assert!(said.contains("Use this tool when:"), "{tool}: {said}");
        assert!(said.contains(says), "{tool}: {said}");
    }
}

#[test]
fn hints_say_what_a_tool_may_do() {
    let tool_client = World::new().tool_client();
    let hint = |tool: &str, name: &str| tool_client.tools[tool]["annotations"][name].clone();
    assert_eq!(hint("stacktape_docs", "readOnlyHint"), true);
    assert_eq!(hint("stacktape_ops", "readOnlyHint"), false);
    assert_eq!(hint("stacktape_ops", "destructiveHint"), true);
    assert_eq!(hint("stacktape_dev", "readOnlyHint"), false);
    assert_eq!(hint("stacktape_dev", "destructiveHint"), false);
    assert_eq!(hint("stacktape_diagnose", "readOnlyHint"), false);
}

#[test]
fn inputs_are_those_of_the_contract() {
    let tool_client = World::new().tool_client();
    let schema = |tool: &str| tool_client.tools[tool]["inputSchema"].clone();
    for (tool, operations) in [
        ("stacktape_ops", &OPS[..]),
        ("stacktape_dev", &DEV),
        ("stacktape_diagnose", &DIAGNOSE),
    ] {
        let schema = schema(tool);
        assert_eq!(schema["type"], "object", "{tool}");
        assert_eq!(
            schema["properties"]["operation"]["enum"],
            json!(operations),
            "{tool}"
        );
        let required = schema["required"].as_array().unwrap();
        assert!(required.contains(&json!("operation")), "{tool}");
        let inputs = jsonschema::validator_for(&schema).unwrap();
        for operation in operations {
            let input = json!({ "operation": operation, "args": { "stage": "dev" } });
            assert!(inputs.is_valid(&input), "{tool} {input}");
        }
        assert!(!inputs.is_valid(&json!({ "operation": "explode", "args": {} })));
        assert!(!inputs.is_valid(&json!({ "args": {} })));
    }
    let ops = schema("stacktape_ops");
    assert_eq!(ops["properties"]["confirm"]["type"], "boolean");
    for argument in [
        "projectName",
        "stage",
        "region",
        "configPath",
        "resourceName",
        "scriptName",
        "secretName",
        "secretValue",
    ] {
        let published = &ops["properties"]["args"]["properties"][argument];
        assert_eq!(published["type"], "string", "{argument}");
    }
    let docs = schema("stacktape_docs");
    assert_eq!(docs["required"], json!(["query"]));
    let modes = modes(&docs["properties"]["mode"]);
    assert_eq!(modes, ["answer", "reference", "snippet"]);
}

/// The words a schema allows, whichever way it says so.
fn modes(schema: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    match schema["enum"].as_array() {
        Some(words) => words.iter().map(text).collect(),
        None => {
            let choices = schema["oneOf"].as_array().unwrap().iter();
            choices.map(|choice| text(&choice["const"])).collect()
        }
    }
}

/// Every sample that is published works as the schemas say.
#[test]
fn published_output_schemas_accept_the_contract_s_samples() {
    let tool_client = World::new().tool_client();
    for (tool, sample) in [
        (
            "stacktape_ops",
            json!({
                "ok": false, "code": "CONFIRMATION_REQUIRED",
                "message": "Deleting shop-dev removes 2 stateful resources",
                "data": { "stackName": "shop-dev", "statefulChanges": [] },
                "nextActions": ["repeat with confirm=true"],
            }),
        ),
        (
            "stacktape_dev",
            json!({
                "ok": true, "code": "OK", "message": "2 lines",
                "data": { "logs": "10:00:01 [api] ready", "count": 2, "nextCursor": 123 },
            }),
        ),
        (
            "stacktape_diagnose",
            json!({
                "ok": true, "code": "OK", "message": "1 row",
                "data": { "resource": "db", "engine": "postgres", "rows": [{ "n": 1 }] },
            }),
        ),
        (
            "stacktape_docs",
            json!({
                "answer": "List the database in connectTo",
                "references": [
                    { "title": "function", "path": "config-ref/function.md", "docType": "config-ref" },
                ],
                "nextQueries": ["relational-database accessibility"],
            }),
        ),
    ] {
        shapes::check(tool, &sample);
        let schema = &tool_client.tools[tool]["outputSchema"];
        if let Err(error) = jsonschema::validator_for(schema).unwrap().validate(&sample) {
            panic!("{tool}: {error}");
        }
    }
}

/// A server that may only read says so, and refuses the one question that can do more.
#[test]
fn a_server_that_may_only_read() {
    let world = World::new();
    let settings = "[stack]\nread_only = true\n";
    fs_err::write(world.place.home().join("config.toml"), settings).unwrap();
    let mut tool_client = world.tool_client();
    let hints = &tool_client.tools["stacktape_diagnose"]["annotations"];
    assert_eq!(hints["readOnlyHint"], true);
    let exec = json!({
        "projectName": "shop", "stage": "dev", "region": "eu-west-1",
        "resourceName": "web", "command": "ls", "confirm": true,
    });
    tool_client
        .diagnose("container_exec", &exec)
        .refused("READ_ONLY_VIOLATION");
    let deploy = json!({ "stage": "dev", "region": "eu-west-1" });
    tool_client
        .ops("deploy", &deploy)
        .refused("READ_ONLY_VIOLATION");
    assert_eq!(world.mark(), 0, "nothing is asked of AWS");
}
