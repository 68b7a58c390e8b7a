//! The described commands are those of 0.9.1 and more.

use std::collections::BTreeSet;

use super::*;
use crate::{no_host::NoHost, output::Captured};

fn command(id: &str) -> Value {
    let described = describe();
    let commands = described["commands"].as_array().unwrap();
    let found = commands.iter().find(|command| command["id"] == id);
    found.unwrap_or_else(|| panic!("{id}")).clone()
}

#[test]
fn must_22_positional_arguments_are_marked_as_such() {
    assert_eq!(
        command("add")["args"],
        json!([
            { "id": "module_type", "kind": "positional", "required": true },
            { "id": "source", "kind": "positional", "required": true },
            { "id": "id", "kind": "option", "long": "id", "required": false },
            { "id": "tags", "kind": "option", "long": "tags", "required": false },
            { "id": "targets", "kind": "option", "long": "targets", "required": false },
            { "id": "allow_outside", "kind": "flag", "long": "allow-outside", "required": false },
        ])
    );
    for (id, name) in [
        ("remove", "module_id"),
        ("overlay edit", "module_id"),
        ("overlay path", "module_id"),
        ("overlay rebase", "module_id"),
        ("remote set", "url"),
        ("completions", "shell"),
    ] {
        let expected = json!({ "id": name, "kind": "positional", "required": true });
        assert_eq!(command(id)["args"][0], expected, "{id}");
    }
}

/// What 0.9.1 describes, as far as it has no positional arguments: id and the ids of arguments.
const KNOWN: [(&str, &[&str]); 29] = [
    ("bootstrap", &["scope"]),
    ("deploy", &["adopt", "apply"]),
    ("diff", &[]),
    ("doctor", &["fix"]),
    ("doctor --fix", &["fix"]),
    ("evolve propose", &["branch", "module_id", "scope"]),
    ("evolve restore", &["module_id"]),
    ("explain diff", &[]),
    ("explain plan", &[]),
    ("explain status", &[]),
    ("fetch", &[]),
    ("help", &["markdown"]),
    ("import", &["apply", "home_root"]),
    ("init", &["bootstrap", "git", "guided"]),
    ("lock", &[]),
    ("mcp serve", &[]),
    (
        "overlay edit",
        &["kind", "scope", "materialize", "project", "sparse"],
    ),
    ("overlay rebase", &["scope", "sparsify"]),
    ("plan", &[]),
    ("policy audit", &[]),
    ("policy lint", &[]),
    ("policy lock", &[]),
    ("preview", &["diff"]),
    ("record", &[]),
    ("rollback", &["to"]),
    ("schema", &[]),
    ("score", &[]),
    ("status", &["only"]),
    ("sync", &["rebase", "remote"]),
];

#[test]
fn every_command_of_0_9_1_is_there_with_its_arguments() {
    for (id, args) in KNOWN {
        let found = command(id);
        let found: BTreeSet<&str> = found["args"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|arg| arg["id"].as_str())
            .collect();
        for arg in args {
            assert!(found.contains(arg), "{id} {arg}");
        }
    }
    assert_eq!(command("update")["args"].as_array().unwrap().len(), 4);
    assert_eq!(command("doctor --fix")["path"], json!(["doctor"]));
    let described = describe();
    let globals: Vec<&str> = described["global_args"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|arg| arg["id"].as_str())
        .collect();
    for id in [
        "dry_run", "json", "machine", "profile", "repo", "target", "yes",
    ] {
        assert!(globals.contains(&id), "{id}");
    }
    assert!(globals.is_sorted());
}

#[test]
fn writing_commands_are_marked() {
    let described = describe();
    let ids: BTreeSet<&str> = described["commands"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|command| command["mutating"] == true)
        .filter_map(|command| command["id"].as_str())
        .collect();
    // These are variants of commands that otherwise only read.
    let variants = ["deploy --apply", "import --apply", "watch --apply"];
    let expected: BTreeSet<&str> = MUTATING
        .into_iter()
        .filter(|id| !variants.contains(id))
        .collect();
    assert_eq!(ids, expected);
    assert_eq!(command("completions")["supports_json"], false);
    assert_eq!(command("mcp serve")["supports_json"], false);
    assert_eq!(command("tui")["supports_json"], false);
}

#[test]
fn people_get_text_or_markdown() {
    let shown = |program, words: &[&str], markdown| {
        let captured = Captured::new(Mode::Human);
        let args = HelpArgs {
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            markdown,
        };
        args.run(&NoHost, &captured.printer, program)
            .map(|_| captured.stdout())
    };
    let text = shown(Program::Agentpack, &[], false).unwrap();
    assert!(text.contains("Usage: agentpack"), "{text}");
    let text = shown(Program::Windlass, &["evolve", "propose"], false).unwrap();
    assert!(
        text.contains("Usage: windlass pack evolve propose"),
        "{text}"
    );
    let page = shown(Program::Agentpack, &[], true).unwrap();
    assert_eq!(page, "page of agentpack: agentpack");
    let problem = shown(Program::Agentpack, &["evlove"], false).unwrap_err();
    assert_eq!(problem.details()["reason_code"], "usage");
}
