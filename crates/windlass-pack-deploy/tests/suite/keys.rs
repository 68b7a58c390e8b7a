//! Keys in files shared with others.

use serde_json::json;
use windlass_pack_deploy::Adoption;
use windlass_pack_model::{
    Desired,
    Target::{ClaudeCode, Codex},
};

use super::world::{World, lines, want};

const MCP: &str = "a/.mcp.json";

fn with_keys(world: &World, keys: &[(&str, &str, serde_json::Value)]) -> Desired {
    let mut desired = world.desired(&[(ClaudeCode, "a"), (Codex, "home/.codex")], &[]);
    desired.keys = keys
        .iter()
        .map(|(path, pointer, value)| {
            let target = if path.starts_with("home") {
                Codex
            } else {
                ClaudeCode
            };
            world.key(target, path, pointer, value.clone())
        })
        .collect();
    desired
}

#[test]
fn only_owned_keys_are_written_and_removed() {
    let world = World::new();
    let theirs = "{\n  // mine\n  \"mcpServers\": {\n    \"own\": { \"command\": \"x\" }\n  }\n}\n";
    world.write(MCP, theirs);
    let on = with_keys(
        &world,
        &[(MCP, "/mcpServers/demo", json!({"command": "run"}))],
    );
    let plan = world.plan(&on);
    assert_eq!(
        lines(&world, &plan.changes),
        ["update a/.mcp.json managed_update: content differs"]
    );
    insta::assert_snapshot!(super::world::json(&world, &plan.changes[0].keys), @r#"
    [
      {
        "after_sha256": "506471b764114dec80ea0ff056dae4ae7706a6d88c4e8709877c5a2b4badef74",
        "before_sha256": null,
        "op": "create",
        "pointer": "/mcpServers/demo"
      }
    ]
    "#);
    world.deploy(&on);
    insta::assert_snapshot!(world.read(MCP).unwrap(), @r#"
    {
      // mine
      "mcpServers": {
        "own": { "command": "x" },
        "demo": {
          "command": "run"
        }
      }
    }
    "#);
    assert!(world.plan(&on).is_empty());
    assert!(world.status(&on).summary.is_clean());
    let manifest = world
        .read("a/.agentpack.manifest.claude_code.json")
        .unwrap();
    assert!(
        manifest.contains("\"managed_files\": []"),
        "0.9.1 would delete the file"
    );
    // Others write too, and that is not drift.
    let edited = world.read(MCP).unwrap().replace("\"x\"", "\"changed\"");
    world.write(MCP, &edited);
    assert!(world.plan(&on).is_empty());
    world.deploy(&with_keys(&world, &[]));
    assert_eq!(
        world.read(MCP).unwrap(),
        theirs.replace("\"x\"", "\"changed\"")
    );
}

#[test]
fn a_file_pack_created_is_removed_with_its_last_key() {
    let world = World::new();
    let value = json!({"command": "run", "env": {"K": "${K}"}});
    let two = with_keys(
        &world,
        &[
            (
                "home/.codex/config.toml",
                "/mcp_servers/demo",
                value.clone(),
            ),
            (MCP, "/mcpServers/demo", value.clone()),
        ],
    );
    world.deploy(&two);
    insta::assert_snapshot!(world.read("home/.codex/config.toml").unwrap(), @r#"
    [mcp_servers.demo]
    command = "run"

    [mcp_servers.demo.env]
    K = "${K}"
    "#);
    assert!(world.plan(&two).is_empty());
    // A key is added by hand: then the file stays.
    let kept = format!(
        "model = \"x\"\n\n{}",
        world.read("home/.codex/config.toml").unwrap()
    );
    world.write("home/.codex/config.toml", &kept);
    let plan = world.plan(&with_keys(&world, &[]));
    assert_eq!(
        lines(&world, &plan.changes),
        [
            "delete a/.mcp.json: no longer managed",
            "update home/.codex/config.toml managed_update: content differs",
        ]
    );
    world.deploy(&with_keys(&world, &[]));
    assert_eq!(world.read(MCP), None);
    assert_eq!(
        world.read("home/.codex/config.toml").unwrap(),
        "model = \"x\"\n"
    );
}

#[test]
fn an_unmanaged_file_stays_even_when_empty() {
    let world = World::new();
    world.write(MCP, "{}\n");
    world.deploy(&with_keys(&world, &[(MCP, "/mcpServers/demo", json!(1))]));
    world.deploy(&with_keys(&world, &[]));
    assert_eq!(world.read(MCP).unwrap(), "{}\n");
}

#[test]
fn an_unmanaged_value_needs_the_users_consent() {
    let world = World::new();
    let theirs = "{\"mcpServers\": {\"demo\": {\"command\": \"theirs\"}, \"same\": 1}}\n";
    world.write(MCP, theirs);
    let on = with_keys(
        &world,
        &[
            (MCP, "/mcpServers/demo", json!({"command": "ours"})),
            (MCP, "/mcpServers/new", json!(2)),
            (MCP, "/mcpServers/same", json!(1)),
        ],
    );
    let plan = world.plan(&on);
    assert_eq!(
        lines(&world, &plan.changes),
        ["update a/.mcp.json adopt_update: would overwrite unmanaged existing file",]
    );
    assert!(plan.approve(&Adoption::none()).is_err());
    let skip = Adoption {
        skip_others: true,
        ..Adoption::none()
    };
    world.deploy_with(&on, &skip);
    let text = world.read(MCP).unwrap();
    assert!(
        text.contains("theirs") && text.contains("\"new\": 2"),
        "{text}"
    );
    world.deploy_with(&on, &Adoption::all());
    assert!(world.read(MCP).unwrap().contains("ours"));
    // What was adopted, the identical value too, goes; the original can come back.
    world.uninstall(&on, true);
    let after: serde_json::Value = serde_json::from_str(&world.read(MCP).unwrap()).unwrap();
    assert_eq!(
        after,
        json!({"mcpServers": {"demo": {"command": "theirs"}, "same": 1}})
    );
}

#[test]
fn elements_of_arrays_are_identified_by_their_value() {
    let world = World::new();
    let path = "a/.claude/settings.json";
    world.write(
        path,
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"command\": \"theirs\"}\n    ]\n  }\n}\n",
    );
    let before = world.read(path).unwrap();
    let hook = |command: &str| json!({"command": command});
    let one = with_keys(&world, &[(path, "/hooks/Stop/-", hook("ours"))]);
    world.deploy(&one);
    assert!(world.plan(&one).is_empty());
    let two = with_keys(
        &world,
        &[
            (path, "/hooks/Stop/-", hook("newer")),
            (path, "/hooks/Start/-", hook("s")),
        ],
    );
    world.deploy(&two);
    let now: serde_json::Value = serde_json::from_str(&world.read(path).unwrap()).unwrap();
    assert_eq!(
        now["hooks"]["Stop"],
        json!([{"command": "theirs"}, {"command": "newer"}])
    );
    world.deploy(&with_keys(&world, &[]));
    assert_eq!(world.read(path).unwrap(), before);
}

#[test]
fn keys_drift_and_go_back_in_history() {
    let world = World::new();
    world.write(MCP, "{\n  \"own\": 1\n}\n");
    let one = with_keys(
        &world,
        &[(MCP, "/mcpServers/demo", json!({"command": "one"}))],
    );
    let first = world.deploy(&one);
    let after_first = world.read(MCP).unwrap();
    let two = with_keys(
        &world,
        &[
            (MCP, "/mcpServers/demo", json!({"command": "two"})),
            (MCP, "/mcpServers/more", json!(1)),
        ],
    );
    let second = world.deploy(&two);

    // Our key is edited by hand.
    world.write(MCP, &world.read(MCP).unwrap().replace("two", "edited"));
    let report = world.status(&two);
    assert_eq!(report.summary.modified, 1);
    assert_eq!(report.items[0].keys[0].pointer, "/mcpServers/demo");
    let plan = world.plan(&two);
    assert_eq!(plan.local_edits.len(), 1);
    world.deploy(&two);

    world.rollback(&first);
    assert_eq!(world.read(MCP).unwrap(), after_first);
    assert!(world.plan(&one).is_empty());

    // Undoing an event on a file others changed since puts only the keys back.
    world.write(MCP, &after_first.replace("\"own\": 1", "\"own\": 2"));
    world.undo(&second);
    let now: serde_json::Value = serde_json::from_str(&world.read(MCP).unwrap()).unwrap();
    assert_eq!(
        now,
        json!({"own": 2, "mcpServers": {"demo": {"command": "one"}}})
    );
    world.undo(&first);
    let now: serde_json::Value = serde_json::from_str(&world.read(MCP).unwrap()).unwrap();
    assert_eq!(now, json!({"own": 2}));
    assert!(world.plan(&with_keys(&world, &[])).is_empty());
}

#[test]
fn a_shared_file_that_cannot_be_understood_is_left_alone() {
    let world = World::new();
    for (text, part) in [
        ("{ nope", "line 1, column 3"),
        ("[1]", "not an object"),
        ("\u{0}\u{1}", "line 1"),
    ] {
        world.write(MCP, text);
        let desired = with_keys(&world, &[(MCP, "/mcpServers/demo", json!(1))]);
        let problem = world
            .try_plan(&desired, windlass_pack_deploy::Purpose::Deploy, None)
            .unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID");
        assert!(
            problem.message().contains(".mcp.json") && problem.message().contains(part),
            "{problem}"
        );
    }
}

#[test]
fn a_file_is_either_owned_or_shared() {
    let world = World::new();
    let mut desired = with_keys(&world, &[(MCP, "/mcpServers/demo", json!(1))]);
    desired.files = world.desired(&[], &[want(ClaudeCode, MCP, "{}")]).files;
    let problem = world
        .try_plan(&desired, windlass_pack_deploy::Purpose::Deploy, None)
        .unwrap_err();
    assert_eq!(problem.code().name, "E_DESIRED_STATE_CONFLICT");
}

#[test]
fn undoing_gives_back_what_was_taken_over_without_being_written() {
    let world = World::new();
    world.write("a/AGENTS.md", "rules");
    world.write(MCP, "{\"mcpServers\": {\"demo\": {\"command\": \"run\"}}}");
    let demo = [(MCP, "/mcpServers/demo", json!({"command": "run"}))];
    let mut on = with_keys(&world, &demo);
    on.files = world
        .desired(
            &[(ClaudeCode, "a")],
            &[
                want(ClaudeCode, "a/AGENTS.md", "rules"),
                want(ClaudeCode, "a/new.md", "new"),
            ],
        )
        .files;
    let id = world.deploy_with(&on, &Adoption::all());
    world.undo(&id);
    // Nothing of it is pack's now, so a deploy of nothing leaves the user's files alone.
    let off = with_keys(&world, &[]);
    assert_eq!(lines(&world, &world.plan(&off).changes), [] as [String; 0]);
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "rules");
    assert_eq!(world.read("a/new.md"), None);
    assert_eq!(world.read("a/.agentpack.manifest.claude_code.json"), None);
}
