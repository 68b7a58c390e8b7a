//! What each command asks of which operation, and what people read of the answer. The operations
//! here only write down their input and give the answer the test made up.

use std::sync::{Arc, Mutex};

use clap::Parser as _;
use serde_json::{Value, json};
use windlass_config::{Environment, Home, Settings};
use windlass_engine::{
    Domain, Engine, WeakEngine,
    operation::{Operation, operation},
    run::RunKind,
};
use windlass_testkit::{TestWorld, local};

use super::*;
use crate::{
    Interrupt, OpenOptions, Opened,
    cli::{Cli, Command},
    no_host::NoHost,
    output::{Captured, Mode},
    session::Ending,
};

type Calls = Arc<Mutex<Vec<(String, Value)>>>;

/// Every operation a command calls.
const OPERATIONS: [&str; 35] = [
    "plan",
    "diff",
    "preview",
    "status",
    "doctor",
    "doctor_fix",
    "deploy",
    "apply",
    "rollback",
    "evolve.propose",
    "evolve.restore",
    "explain",
    "init",
    "import",
    "add",
    "remove",
    "lock",
    "fetch",
    "update",
    "bootstrap",
    "overlay.edit",
    "overlay.rebase",
    "overlay.path",
    "remote.set",
    "sync",
    "record",
    "score",
    "policy.lint",
    "policy.audit",
    "policy.lock",
    "snapshots.list",
    "snapshots.show",
    "snapshots.prune",
    "undo",
    "uninstall",
];

struct Notebook {
    calls: Calls,
    answer: Value,
}

impl Domain for Notebook {
    fn kinds(&self, _: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        Vec::new()
    }

    fn operations(&self, _: &Engine) -> Vec<Arc<dyn Operation>> {
        let made = OPERATIONS.iter().map(|verb| {
            let (calls, answer) = (Arc::clone(&self.calls), self.answer.clone());
            operation("pack", verb)
                .describe("Take notes", "Writes down its input.")
                .contract(&windlass_pack::PackContract)
                .not_a_tool()
                .handle(move |_, input: Value| {
                    calls.lock().unwrap().push(((*verb).to_owned(), input));
                    let answer = answer.clone();
                    async move { Ok(answer) }
                })
        });
        made.collect()
    }
}

struct Played {
    calls: Vec<(String, Value)>,
    stdout: String,
    report: Report,
}

/// Runs a command against operations that all give the same answer.
async fn play(line: &str, mode: Mode, answer: Value) -> Played {
    let calls = Calls::default();
    let notebook = (Arc::clone(&calls), answer);
    let world = TestWorld::new(move || {
        vec![Box::new(Notebook {
            calls: Arc::clone(&notebook.0),
            answer: notebook.1.clone(),
        }) as Box<dyn Domain>]
    });
    let process = world.process();
    let captured = Captured::new(mode);
    let opened = Opened {
        catalogue: process.catalogue().clone(),
        principal: local(),
    };
    let session = Session::new(opened, &captured.printer, Interrupt::never());
    let open = OpenOptions {
        program: "windlass pack".to_owned(),
        home: Home::at("/nowhere"),
        environment: Environment::from_pairs([("HOME", "/home/ada")]),
        settings: Settings::default(),
        reads_only: false,
        redactor: Arc::default(),
    };
    let cli = Cli::try_parse_from(format!("windlass pack {line}").split(' ')).unwrap();
    let Command::Pack(args) = cli.command else {
        panic!("{line}");
    };
    let report = world
        .clock
        .run(args.run(&session, &NoHost, &open))
        .await
        .unwrap_or_else(|problem| panic!("{line}: {problem}"));
    let calls = calls.lock().unwrap().clone();
    Played {
        calls,
        stdout: captured.stdout(),
        report,
    }
}

#[tokio::test]
async fn every_command_asks_its_operation() {
    for (line, operation, input) in [
        ("plan", "plan", json!({})),
        (
            "--profile work --machine m diff",
            "diff",
            json!({ "profile": "work", "machine": "m" }),
        ),
        ("preview --diff", "preview", json!({ "diff": true })),
        (
            "deploy --target codex",
            "deploy",
            json!({ "target": "codex" }),
        ),
        (
            "deploy --apply --yes --adopt-path a --skip-unadopted",
            "apply",
            json!({ "adopt": false, "adopt_paths": ["a"], "skip_unadopted": true, "yes": true, "dry_run": false }),
        ),
        (
            "status --only extra",
            "status",
            json!({ "only": ["extra"] }),
        ),
        ("status", "status", json!({})),
        // A snapshot knows its own profile and machine.
        (
            "rollback --to 7 --yes --repo r --target codex --profile p --machine m",
            "rollback",
            json!({ "to": "7", "repo": "r", "target": "codex", "yes": true, "dry_run": false }),
        ),
        (
            "undo --dry-run --path a",
            "undo",
            json!({ "paths": ["a"], "yes": false, "dry_run": true }),
        ),
        (
            "uninstall --yes",
            "uninstall",
            json!({ "restore_originals": false, "yes": true, "dry_run": false }),
        ),
        ("doctor --strict", "doctor", json!({ "strict": true })),
        (
            "doctor --fix --yes",
            "doctor_fix",
            json!({ "strict": false, "yes": true, "dry_run": false }),
        ),
        ("explain status", "explain", json!({ "kind": "status" })),
        (
            "evolve propose --scope machine",
            "evolve.propose",
            json!({ "scope": "machine", "yes": false, "dry_run": false }),
        ),
        (
            "evolve restore --module-id m --yes",
            "evolve.restore",
            json!({ "module_id": "m", "yes": true, "dry_run": false }),
        ),
        (
            "bootstrap",
            "bootstrap",
            json!({ "scope": "both", "adopt": false, "yes": false, "dry_run": false }),
        ),
        (
            "bootstrap --decline --yes",
            "bootstrap",
            json!({ "decline": true, "yes": true, "dry_run": false }),
        ),
        (
            "init --git --yes",
            "init",
            json!({ "git": true, "bootstrap": false, "yes": true, "dry_run": false }),
        ),
        ("import", "import", json!({ "apply": false })),
        (
            "import --apply --yes",
            "import",
            json!({ "apply": true, "yes": true, "dry_run": false }),
        ),
        (
            "add skill local:x --tags a,b --yes",
            "add",
            json!({ "type": "skill", "source": "local:x", "tags": ["a", "b"], "allow_outside": false, "yes": true, "dry_run": false }),
        ),
        (
            "remove skill:x --dry-run",
            "remove",
            json!({ "id": "skill:x", "yes": false, "dry_run": true }),
        ),
        (
            "lock --yes",
            "lock",
            json!({ "yes": true, "dry_run": false }),
        ),
        (
            "fetch --yes",
            "fetch",
            json!({ "yes": true, "dry_run": false }),
        ),
        (
            "update --no-fetch",
            "update",
            json!({ "lock": false, "fetch": false, "no_lock": false, "no_fetch": true, "yes": false, "dry_run": false }),
        ),
        (
            "overlay edit m --project --kind patch --yes",
            "overlay.edit",
            json!({ "module_id": "m", "scope": "project", "kind": "patch", "sparse": false, "materialize": false, "yes": true, "dry_run": false }),
        ),
        (
            "overlay rebase m --sparsify --yes",
            "overlay.rebase",
            json!({ "module_id": "m", "scope": "global", "sparsify": true, "yes": true, "dry_run": false }),
        ),
        (
            "overlay path m --scope machine",
            "overlay.path",
            json!({ "module_id": "m", "scope": "machine" }),
        ),
        (
            "remote set u --yes",
            "remote.set",
            json!({ "url": "u", "name": "origin", "yes": true, "dry_run": false }),
        ),
        (
            "sync --yes",
            "sync",
            json!({ "rebase": false, "remote": "origin", "yes": true, "dry_run": false }),
        ),
        ("score", "score", json!({})),
        (
            "policy lint --strict",
            "policy.lint",
            json!({ "strict": true }),
        ),
        ("policy audit", "policy.audit", json!({})),
        (
            "policy lock --yes",
            "policy.lock",
            json!({ "yes": true, "dry_run": false }),
        ),
        ("snapshots list", "snapshots.list", json!({})),
        ("snapshots show 7", "snapshots.show", json!({ "id": "7" })),
        (
            "snapshots prune --older-than 30d --yes",
            "snapshots.prune",
            json!({ "older_than_days": 30, "include_originals": false, "yes": true, "dry_run": false }),
        ),
    ] {
        let answer = json!({ "overlay_dir": "/o" });
        let played = play(line, Mode::Json, answer.clone()).await;
        assert_eq!(played.calls, [(operation.to_owned(), input)], "{line}");
        assert_eq!(played.report.data, answer, "{line}");
        // The dispatcher prints the envelope, and nothing else prints.
        assert_eq!(played.stdout, "", "{line}");
    }
}

#[tokio::test]
async fn people_are_not_asked_about_the_repository() {
    for line in ["lock", "remove skill:x", "overlay edit m"] {
        let played = play(line, Mode::Human, json!({ "overlay_dir": "/o" })).await;
        assert_eq!(played.calls.len(), 1, "{line}");
        assert_eq!(played.calls[0].1["yes"], true, "{line}");
    }
}

#[tokio::test]
async fn checks_decide_the_exit_code() {
    let change = json!({ "changes": [{ "op": "create", "path": "/x" }], "drift": [{ "kind": "extra", "path": "/x" }] });
    for (line, answer, ending) in [
        ("plan --check", change.clone(), Ending::Found),
        ("plan --check", json!({ "changes": [] }), Ending::Document),
        ("plan", change.clone(), Ending::Document),
        ("status --check", change.clone(), Ending::Found),
        ("status --check", json!({ "drift": [] }), Ending::Document),
        ("status", change, Ending::Document),
    ] {
        let played = play(line, Mode::Json, answer).await;
        assert_eq!(played.report.ending, ending, "{line}");
    }
}

#[tokio::test]
async fn what_was_deployed_is_printed() {
    let answer = json!({
        "applied": true, "snapshot_id": "17", "profile": "default", "targets": ["codex"],
        "changes": [{ "target": "codex", "op": "create", "path": "/home/ada/.codex/AGENTS.md", "reason": "file missing" }],
        "summary": { "create": 1, "update": 0, "delete": 0 },
    });
    let played = play("deploy --apply --yes", Mode::Human, answer).await;
    insta::assert_snapshot!(played.stdout, @r"
    codex  ~/.codex
      + AGENTS.md
    1 created; snapshot 17
    ");
    let answer = json!({ "rolled_back_to": "7", "event_snapshot_id": "9" });
    let played = play("rollback --to 7 --yes", Mode::Human, answer).await;
    insta::assert_snapshot!(played.stdout, @"rolled back to 7; snapshot 9");
    let answer = json!({ "applied": false, "reason": "no_changes", "changes": [] });
    let played = play("deploy --apply --yes", Mode::Human, answer).await;
    insta::assert_snapshot!(played.stdout, @"nothing to change");
}
