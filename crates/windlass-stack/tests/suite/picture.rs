//! What an account and a project directory hold, as text that is the same for the same scenario.

use std::{collections::BTreeSet, fmt::Write as _, path::Path, sync::LazyLock};

use regex::Regex;
use serde_json::Value;
use windlass_cfn_double::{CallRecord, Control};

/// Prefixes of the asset store whose objects are named by what is in them. A deployment that
/// failed may leave some: the next one finds them again.
const BY_CONTENT: [&str; 3] = ["zips/", "templates/", "files/"];
/// Calls that begin something of their own.
const BEGINNINGS: [&str; 5] = [
    "ExecuteChangeSet",
    "DeleteStack",
    "CancelUpdateStack",
    "RollbackStack",
    "ContinueUpdateRollback",
];
/// Longer than any operation of the double.
const HOUR: u64 = 3_600_000;

/// The end state that matters: whether a stack came to it by an update
/// or by going back is not part of it. However a run ended, no change set is left waiting and no
/// stack is there for one only.
pub fn of_account(control: &Control) -> String {
    control.advance(HOUR);
    let state = control.state();
    let mut text = String::new();
    for stack in items(&state["stacks"]) {
        if stack["status"] == "DELETE_COMPLETE" {
            continue;
        }
        let status = match stack["status"].as_str().unwrap() {
            "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "UPDATE_ROLLBACK_COMPLETE" => "ready",
            other => other,
        };
        assert_ne!(status, "REVIEW_IN_PROGRESS", "{stack:#}");
        let mut sets = items(&stack["change_sets"]);
        assert!(sets.all(|set| set["execution"] != "AVAILABLE"), "{stack:#}");
        writeln!(text, "stack {} {status}", stack["name"]).unwrap();
        for (id, resource) in stack["resources"].as_object().unwrap() {
            let (kind, properties) = (&resource["type"], &resource["properties"]);
            writeln!(text, "  {id} {kind} {properties}").unwrap();
        }
        let protection = &stack["termination_protection"];
        writeln!(
            text,
            "  {} {} {protection}",
            stack["outputs"], stack["policy"]
        )
        .unwrap();
    }
    for (bucket, key) in keys(&state) {
        if !BY_CONTENT.iter().any(|prefix| key.starts_with(prefix)) {
            writeln!(text, "object {bucket}/{key}").unwrap();
        }
    }
    writeln!(text, "kept {}", state["kept"]).unwrap();
    writeln!(text, "secrets {}", state["secret_states"]).unwrap();
    plain(text)
}

/// What happened: every operation that was begun, how each stack went, what was sent.
pub fn of_events(control: &Control) -> Vec<String> {
    control.advance(HOUR);
    let state = control.state();
    let begun = begun(control);
    let tokens: BTreeSet<_> = begun.iter().map(|call| &call.token).collect();
    assert_eq!(tokens.len(), begun.len(), "begun twice: {begun:#?}");
    let mut happened: Vec<String> = begun
        .iter()
        .map(|call| format!("{} {}", call.action, call.outcome))
        .collect();
    for stack in items(&state["stacks"]) {
        // A stack that only ever held change sets may have been created again after a crash.
        let events = stack["events"].to_string();
        if events.contains("_COMPLETE\"") && events.contains("CREATE_COMPLETE") {
            happened.push(format!("{} {} {events}", stack["name"], stack["status"]));
        }
    }
    happened.extend(keys(&state).map(|(bucket, key)| format!("{bucket}/{key}")));
    happened.into_iter().map(plain).collect()
}

/// The calls that began an operation. Throwing a change set's empty stack away is none.
fn begun(control: &Control) -> Vec<CallRecord> {
    let is_cleaning = |call: &CallRecord| {
        let token = call.token.as_deref().unwrap_or_default();
        token.starts_with("windlass-preview") || token.starts_with("windlass-deploy")
    };
    let calls = control.calls().into_iter();
    calls
        .filter(|call| BEGINNINGS.contains(&call.action.as_str()) && !is_cleaning(call))
        .collect()
}

/// The operations that AWS began, by what was asked for.
pub fn begun_well(control: &Control) -> Vec<String> {
    let begun = begun(control).into_iter();
    let begun = begun.filter(|call| call.outcome == "ok");
    begun.map(|call| call.action).collect()
}

/// One line per file: its path and what is in it.
pub fn of_folder(folder: &Path) -> String {
    let mut text = String::new();
    list(folder, folder, &mut text);
    plain(text)
}

fn list(root: &Path, folder: &Path, text: &mut String) {
    let entries = fs_err::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            list(root, &path, text);
        } else {
            let content = fs_err::read(&path).unwrap();
            let shown = path.strip_prefix(root).unwrap().display();
            writeln!(text, "file {shown} {}", String::from_utf8_lossy(&content)).unwrap();
        }
    }
}

/// Without ids and times, and without what depends on how often it was read.
pub fn plain(text: String) -> String {
    static CHANGING: LazyLock<[(Regex, &str); 6]> = LazyLock::new(|| {
        [
            ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
            (r"run[_-][0-9A-Za-z]{20,}", "RUN"),
            (r"-[0-9A-Z]{12}\b", "-NAME"),
            (r#""pct":\d+"#, "\"pct\":0"),
            (r"\d+ uploaded, \d+ already there", "sent"),
        ]
        .map(|(pattern, name)| (Regex::new(pattern).unwrap(), name))
    });
    CHANGING.iter().fold(text, |text, (pattern, name)| {
        pattern.replace_all(&text, *name).into_owned()
    })
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn keys(state: &Value) -> impl Iterator<Item = (&String, &str)> {
    let buckets = state["buckets"].as_object().into_iter().flatten();
    buckets.flat_map(|(bucket, keys)| {
        items(keys).map(move |key| (bucket, key.as_str().unwrap_or_default()))
    })
}
