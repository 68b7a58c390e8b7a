//! Commands that write, from outside: without a yes, as a dry run, and operator assets next to
//! modules.

use std::process::Stdio;

use serde_json::{Value, json};

use super::place::{PackPlace, difference};
use crate::suite::support::{
    binary::Said,
    directory::{fill, read_tree},
};

/// Every mutating id with a command line that would write in [`busy_place`].
const MUTATING: [(&str, &str); 19] = [
    ("init", "init"),
    ("import --apply", "import --apply"),
    ("add", "add prompt local:modules/more.md --id prompt:more"),
    ("remove", "remove skill:demo"),
    ("lock", "lock"),
    ("fetch", "fetch"),
    ("update", "update --lock"),
    ("deploy --apply", "deploy --apply"),
    ("rollback", "rollback --to SNAPSHOT"),
    ("doctor --fix", "doctor --fix"),
    ("bootstrap", "bootstrap"),
    ("evolve propose", "evolve propose"),
    ("evolve restore", "evolve restore"),
    ("overlay edit", "overlay edit skill:demo"),
    ("overlay rebase", "overlay rebase command:greet"),
    ("remote set", "remote set https://example.invalid/repo.git"),
    ("sync", "sync"),
    ("record", "record"),
    ("policy lock", "policy lock"),
];

fn git(place: &PackPlace, arguments: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.env_clear();
    place.dress(&mut command, &place.repo());
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"];
    let output = command.args(identity).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// A place in which every command has something to do; the snapshot to roll back to.
fn busy_place() -> (PackPlace, String) {
    let place = PackPlace::new();
    fill(
        &place.repo(),
        &[
            ("modules/more.md", "more\n"),
            (
                "agentpack.org.yaml",
                "version: 1\npolicy_pack:\n  source: local:modules/base\n",
            ),
        ],
    );
    place.say(&[
        "pack",
        "overlay",
        "edit",
        "command:greet",
        "--yes",
        "--json",
    ]);
    git(&place, &["init", "-q", "-b", "main"]);
    git(&place, &["add", "-A"]);
    git(&place, &["commit", "-q", "-m", "first"]);
    let mut client = place.serve();
    let first = client.deploy();
    place.repo_file("modules/base/AGENTS.md", "# Second\n");
    git(&place, &["commit", "-q", "-a", "-m", "second"]);
    client.deploy();
    // Drift, a file that is missing, and a file of the user's to import.
    fs_err::write(place.project().join("AGENTS.md"), "edited\n").unwrap();
    fs_err::remove_file(place.user().join(".codex/AGENTS.md")).unwrap();
    fill(&place.user(), &[(".codex/prompts/mine.md", "mine\n")]);
    (place, first)
}

fn say(place: &PackPlace, line: &str, snapshot: &str, flags: &[&str]) -> Said {
    let line = line.replace("SNAPSHOT", snapshot);
    let mut command = place.command(&place.project());
    command.arg("pack").args(line.split(' ')).args(flags);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let event = br#"{"module_id":"skill:demo","success":true}"#;
    // A command that refuses does not read it.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), event);
    child.wait_with_output().unwrap().into()
}

#[test]
fn commands_that_write_refuse_without_a_yes() {
    let (place, snapshot) = busy_place();
    let before = place.picture();
    for (id, line) in MUTATING {
        let said = say(&place, line, &snapshot, &["--json"]);
        assert_eq!(said.code, Some(1), "{id}: {}{}", said.stdout, said.stderr);
        let envelope = said.json();
        let error = &envelope["errors"][0];
        assert_eq!(error["code"], "E_CONFIRM_REQUIRED", "{id}: {envelope}");
        assert_eq!(error["details"]["command"], id, "{envelope}");
        assert_eq!(error["details"]["reason_code"], "confirm_required", "{id}");
        assert_eq!(
            error["details"]["next_actions"],
            json!(["retry_with_yes"]),
            "{id}"
        );
        assert_eq!(envelope["data"], json!({}), "{id}");
        let first_word = id.split(' ').next().unwrap();
        assert_eq!(envelope["command"], first_word, "{envelope}");
        assert_eq!(
            difference(&before, &place.picture()),
            Vec::<String>::new(),
            "{id}"
        );
    }
}

#[test]
fn must_6_a_dry_run_writes_nothing_on_every_command() {
    let (place, snapshot) = busy_place();
    let before = place.whole_picture();
    let own = [
        ("undo", "undo"),
        ("uninstall", "uninstall"),
        ("snapshots prune", "snapshots prune --keep 1"),
    ];
    for (id, line) in MUTATING.into_iter().chain(own) {
        let said = say(&place, line, &snapshot, &["--dry-run", "--json"]);
        let envelope = said.json();
        let code = envelope["errors"][0]["code"].as_str();
        assert_ne!(
            code,
            Some("E_CONFIRM_REQUIRED"),
            "{id}: a dry run needs no yes"
        );
        assert_ne!(code, Some("E_UNEXPECTED"), "{id}: {envelope}");
        let changed = difference(&before, &place.whole_picture());
        assert_eq!(changed, Vec::<String>::new(), "{id}");
    }
}

fn assets(place: &PackPlace) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (name, directory) in [("user", place.user()), ("project", place.project())] {
        let files = read_tree(&directory).into_keys();
        let asset = |file: &String| {
            !file.starts_with(".agentpack/")
                && !file.ends_with('/')
                && (file.contains("/ap-") || file.contains("agentpack-operator"))
        };
        found.extend(files.filter(asset).map(|file| format!("{name}/{file}")));
    }
    found
}

#[test]
fn must_2_operator_assets_and_modules_share_a_root_in_both_orders() {
    for bootstrap_first in [true, false] {
        let place = PackPlace::new();
        let mut client = place.serve();
        let bootstrap = || {
            let said = place
                .say(&["pack", "bootstrap", "--yes", "--json"])
                .worked();
            said.json()["data"].clone()
        };
        let data = if bootstrap_first {
            let data = bootstrap();
            client.deploy();
            data
        } else {
            client.deploy();
            bootstrap()
        };
        assert_eq!(data["applied"], true, "{data}");
        assert_eq!(data["summary"]["create"], 20, "{data}");
        let all = assets(&place);
        assert_eq!(all.len(), 20, "{all:?}");
        assert!(place.user().join(".claude/commands/greet.md").is_file());
        let tool_reply = client.call("plan", json!({}));
        assert_eq!(tool_reply.changes(&place), Vec::<String>::new());
        let tool_reply = client.call("status", json!({}));
        let clean = json!({ "modified": 0, "missing": 0, "extra": 0 });
        assert_eq!(tool_reply.data()["summary"], clean, "{:#}", tool_reply.0);
        // Nothing is wanted any more: the modules go, the assets stay.
        place.edit_manifest("include_tags: [base]", "include_tags: [none]");
        client.deploy();
        assert_eq!(assets(&place), all);
        assert!(!place.user().join(".claude/commands/greet.md").exists());
    }
}

#[test]
fn must_2_bootstrap_does_not_overwrite_a_file_of_the_user() {
    let place = PackPlace::new();
    fill(&place.user(), &[(".claude/commands/ap-plan.md", "mine\n")]);
    let said = place.say(&["pack", "bootstrap", "--yes", "--json"]);
    assert_eq!(said.code, Some(1), "{}", said.stdout);
    let error = said.json()["errors"][0].clone();
    assert_eq!(error["code"], "E_ADOPT_CONFIRM_REQUIRED", "{error}");
    let tree = read_tree(&place.user());
    assert_eq!(tree[".claude/commands/ap-plan.md"], "mine\n");
    assert_eq!(assets(&place).len(), 1, "nothing was written");
}

#[test]
fn must_5_what_an_adopt_replaced_is_restored() {
    for command in ["undo", "uninstall --restore-originals"] {
        let place = PackPlace::new();
        fill(&place.project(), &[("AGENTS.md", "mine\n")]);
        let said = place.say(&["pack", "deploy", "--apply", "--adopt", "--yes", "--json"]);
        said.worked();
        assert_eq!(read_tree(&place.project())["AGENTS.md"], "# Base\n");
        let said = say(&place, command, "", &["--yes", "--json"]).worked();
        assert_eq!(said.json()["ok"], true);
        let tree = read_tree(&place.project());
        assert_eq!(tree["AGENTS.md"], "mine\n", "{command}");
        let left: Vec<&String> = tree.keys().filter(|name| !name.ends_with('/')).collect();
        assert_eq!(left, ["AGENTS.md"], "{command}");
    }
}

/// Drift over MCP, kept on a branch: the repository's own branch and files stay as they are.
#[test]
fn evolve_propose_keeps_drift_on_a_branch() {
    let (place, _) = busy_place();
    git(&place, &["config", "user.name", "a"]);
    git(&place, &["config", "user.email", "a@example.invalid"]);
    let mut client = place.serve();
    let tool_reply = client.call(
        "evolve_propose",
        json!({ "yes": true, "branch": "evolve/test", "module_id": "instructions:base" }),
    );
    assert_eq!(tool_reply.data()["created"], true, "{:#}", tool_reply.0);
    assert_eq!(tool_reply.data()["branch"], "evolve/test");
    assert_eq!(tool_reply.data()["committed"], true);
    let files = tool_reply.data()["files"].as_array().unwrap();
    let overlay = files.iter().find_map(|file: &Value| {
        let file = file.as_str().unwrap();
        file.ends_with("/AGENTS.md").then_some(file)
    });
    let overlay = overlay.unwrap_or_else(|| panic!("{files:?}"));
    assert!(!place.repo().join(overlay).exists(), "only on the branch");
    git(
        &place,
        &["cat-file", "-e", &format!("evolve/test:{overlay}")],
    );
    let mut command = std::process::Command::new("git");
    command.env_clear();
    place.dress(&mut command, &place.repo());
    let shown = command
        .args(["show", &format!("evolve/test:{overlay}")])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(shown.stdout).unwrap(), "edited\n");
    let head = fs_err::read_to_string(place.repo().join(".git/HEAD")).unwrap();
    assert_eq!(head, "ref: refs/heads/main\n");
}

/// Started as `agentpack`, the program is the old one: commands, envelope, suggestions.
#[test]
fn started_as_agentpack_it_answers_as_agentpack() {
    let place = PackPlace::new();
    let link = place.root().join("agentpack");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_windlass"), &link).unwrap();
    let run = |arguments: &[&str]| -> Said {
        let mut command = std::process::Command::new(&link);
        command
            .env_clear()
            .env("WINDLASS_HOME", place.windlass_home());
        place.dress(&mut command, &place.project());
        let output = command.args(arguments).stderr(Stdio::piped()).output();
        output.unwrap().into()
    };
    let planned = run(&["plan", "--json"]).worked().json();
    let same = place.say(&["pack", "plan", "--json"]).worked().json();
    assert_eq!(planned, same);
    let status = run(&["status", "--json"]).worked().json();
    let actions = status["data"]["next_actions"].as_array().unwrap();
    assert!(!actions.is_empty(), "{status}");
    for action in actions {
        assert!(
            action.as_str().unwrap().starts_with("agentpack "),
            "{action}"
        );
    }
    let usage = run(&["frobnicate", "--json"]);
    assert_eq!(usage.code, Some(2), "{}", usage.stdout);
    assert_eq!(usage.json()["errors"][0]["details"]["reason_code"], "usage");
}
