//! Chapter 1: a change that is planned, confirmed, killed halfway, resumed, approved, rolled back
//! and verified.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;
use windlass_types::Problem;

use crate::stage::Stage;

/// What a reader may do afterwards.
pub(crate) const NEXT: &[&str] = &[
    "windlass demo apply --dir DIR --file hello.txt=hello    the same on a directory of yours",
    "windlass mcp serve                                      offer the operations to an MCP client",
    "windlass serve                                          a daemon: HTTP API, MCP, driver",
    "windlass ops list                                       everything that can be called",
    "windlass doctor                                         is everything fine?",
];

/// A directory's files and their contents.
type Files = BTreeMap<String, String>;

const CHANGE: &[&str] = &[
    "--dir",
    "site",
    "--file",
    "about.html=<h1>About</h1>",
    "--file",
    "index.html=<h1>New</h1>",
    "--file",
    "news.html=<h1>News</h1>",
    "--delete",
    "obsolete.txt",
    "--pause",
    "0.5",
    "--approval",
    "--child",
];

pub(crate) fn play(stage: &mut Stage<'_>) -> Result<(), Problem> {
    let site = stage.path().join("site");
    prepare(&site)?;
    let before = read(&site)?;

    stage.say(
        "A small website needs a change: two new pages, one update, one removal. First the plan.",
    );
    show_files(stage, &before);
    stage.run(&command(&["demo", "plan"], &[]), 0)?;

    stage.say("Nothing has changed yet. The token is bound to you, to this operation and to this exact plan.");
    let planned = stage.ask(&command(&["demo", "plan"], &[]))?;
    let token = text(&planned, "confirm_token")?;
    stage.name(&token, "$TOKEN");

    stage.say("Now the token is redeemed, and the program is killed as soon as the first page is written.");
    stage.run_and_kill(
        &command(&["demo", "apply"], &["--token", &token, "--yes"]),
        |line| line.contains("change about.html"),
    )?;
    let half = read(&site)?;
    show_files(stage, &half);
    stage.expect(half.contains_key("about.html"), "the first page is on disk")?;
    stage.expect(
        half.get("index.html") == before.get("index.html"),
        "the second page is untouched",
    )?;

    stage
        .say("No process is left, but the journal is: it knows what was done and what comes next.");
    let shown = stage.ask(&["runs", "show", "latest"])?;
    let run_id = text(&shown["run"], "run_id")?;
    // The beginning of an id is enough to name a run.
    let run: &str = &run_id[..run_id.len().min(12)];
    stage.run(&["runs", "show", run], 0)?;

    stage.say(
        "Resuming continues where the journal ends. Halfway the run asks for an approval and waits.",
    );
    let resumed = stage.run(&["runs", "resume", run], 4)?;
    stage.expect(
        resumed.text.contains("resumed (start 2)"),
        "the run says that it was resumed",
    )?;
    stage.expect(
        !resumed.text.contains("change about.html"),
        "the finished step is not done again",
    )?;

    stage.say("An approver reviews it and says yes; the answer is an event in the same journal.");
    stage.run(&["runs", "approve", run, "--reason", "looks right"], 0)?;
    let after = read(&site)?;
    show_files(stage, &after);
    stage.expect(
        after
            .get("index.html")
            .is_some_and(|page| page.contains("New")),
        "the update is made",
    )?;
    stage.expect(
        !after.contains_key("obsolete.txt"),
        "the obsolete file is gone",
    )?;

    stage.say("Killed, resumed, approved: was anything done twice?");
    let watched = stage.ask(&["runs", "watch", run])?;
    let counts = effects(&watched);
    for (step, count) in &counts {
        stage.show(&format!("{step}: done {count} time"));
    }
    stage.expect(counts.len() == 4, "the four changes are in the journal")?;
    stage.expect(
        counts.values().all(|count| *count == 1),
        "each is there once",
    )?;

    stage.say("The token has been used. It starts nothing a second time.");
    let refused = stage.run(
        &command(&["demo", "apply"], &["--token", &token, "--yes"]),
        4,
    )?;
    stage.expect(
        refused.text.contains("CONFIRM_TOKEN_USED"),
        "the used token is refused as used",
    )?;

    stage.say(
        "Rolling it all back is a change like any other: planned, confirmed, applied by a run.",
    );
    stage.run(&["runs", "rollback", run, "--yes"], 0)?;
    let back = read(&site)?;
    show_files(stage, &back);
    stage.expect(back == before, "the site is what it was before")?;

    stage.say("Every event carries the hash of the one before. Verifying follows the chain.");
    stage.run(&["runs", "verify", run], 0)?;
    stage.run(&["runs", "verify", "sys_audit"], 0)?;

    stage.say("A run can be exported as one file, and verified elsewhere.");
    stage.run(&["runs", "export", run, "--output", "run.json"], 0)?;
    stage.run(&["--home", "elsewhere", "runs", "import", "run.json"], 0)?;

    stage.say("With one word changed, it is refused.");
    forge(&stage.path().join("run.json"))?;
    let forged = stage.run(&["--home", "third", "runs", "import", "run.json"], 7)?;
    stage.expect(
        forged.text.contains("was altered"),
        "the forged run is refused as altered",
    )
}

fn command<'a>(verb: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    verb.iter().chain(CHANGE).chain(rest).copied().collect()
}

fn prepare(site: &Path) -> Result<(), Problem> {
    let failed = |error: std::io::Error| Problem::internal("tour: site", error);
    fs_err::create_dir(site).map_err(failed)?;
    fs_err::write(site.join("index.html"), "<h1>Old</h1>").map_err(failed)?;
    fs_err::write(site.join("obsolete.txt"), "nobody reads this").map_err(failed)
}

fn read(directory: &Path) -> Result<Files, Problem> {
    let failed = |error: std::io::Error| Problem::internal("tour: site", error);
    let mut files = Files::new();
    for entry in fs_err::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let content = fs_err::read_to_string(entry.path()).map_err(failed)?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), content);
    }
    Ok(files)
}

fn show_files(stage: &Stage<'_>, files: &Files) {
    let shown: Vec<String> = files
        .iter()
        .map(|(name, content)| format!("{name} ({})", content.trim()))
        .collect();
    stage.show(&format!("site/ holds {}", shown.join(", ")));
}

/// How often each change was recorded as done.
fn effects(watched: &Value) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let events = watched.get("events").and_then(Value::as_array);
    for event in events.into_iter().flatten() {
        let done = event["type"] == "step.completed" && event["payload"].get("effect").is_some();
        if let Some(key) = event["payload"]["key"].as_str().filter(|_| done) {
            *counts.entry(key.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Changes one word of an exported journal.
fn forge(file: &Path) -> Result<(), Problem> {
    let failed = |error: std::io::Error| Problem::internal("tour: exported file", error);
    let text = fs_err::read_to_string(file).map_err(failed)?;
    fs_err::write(file, text.replacen("looks right", "looks wrong", 1)).map_err(failed)
}

fn text(value: &Value, name: &str) -> Result<String, Problem> {
    value
        .get(name)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| Problem::internal("tour", format!("an answer has no {name}")))
}
