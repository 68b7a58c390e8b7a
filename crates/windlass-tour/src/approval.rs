//! Chapter 2: a change that waits for an approval, a token that works once, and a history that can
//! be verified elsewhere.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;
use windlass_types::Problem;

use crate::{site, stage::Stage};

/// What a reader may do afterwards.
pub(crate) const NEXT: &str = "windlass policy show";

const CHANGE: &[&str] = &[
    "--dir",
    site::FOLDER,
    "--file",
    "about.html=About",
    "--file",
    "index.html=New",
    "--file",
    "news.html=News",
    "--delete",
    "obsolete.txt",
    "--approval",
    "--child",
];

pub(crate) fn play(stage: &mut Stage<'_>) -> Result<(), Problem> {
    site::prepare(
        stage,
        &[("index.html", "Old"), ("obsolete.txt", "nobody reads this")],
    )?;
    let before = site::read(stage)?;

    stage.say("This change asks for an approval halfway, and starts a child run at its end.");
    site::show(stage, &before);
    let planned = stage.ask(&site::command(&["demo", "plan"], CHANGE, &[]))?;
    let token = site::text(&planned, "confirm_token")?;
    stage.name(&token, "$TOKEN");
    let confirmed = ["--token", &token, "--yes"];
    let asked = stage.run(&site::command(&["demo", "apply"], CHANGE, &confirmed), 4)?;
    stage.expect(
        asked.text.contains("APPROVAL_REQUIRED"),
        "the run waits for an approval",
    )?;
    let run_id = site::newest_run(stage)?;
    let run = site::short(&run_id);

    stage.say("An approver reviews and approves it; the answer is an event in the same journal.");
    stage.run(&["runs", "approve", run, "--reason", "looks right"], 0)?;
    let after = site::read(stage)?;
    site::show(stage, &after);
    stage.expect(
        after.get("index.html").is_some_and(|page| page == "New")
            && !after.contains_key("obsolete.txt"),
        "the changes are made",
    )?;

    stage.say("The run was interrupted and continued. Was anything done twice?");
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

    stage.say("The token has been used and does not work a second time.");
    let refused = stage.run(&site::command(&["demo", "apply"], CHANGE, &confirmed), 4)?;
    stage.expect(
        refused.text.contains("CONFIRM_TOKEN_USED"),
        "the used token is refused as used",
    )?;

    stage.say("Every event contains the hash of the previous one. Verify the chain.");
    stage.run(&["runs", "verify", run], 0)?;
    stage.run(&["runs", "verify", "sys_audit"], 0)?;

    stage.say("A run can be exported as one file, and verified elsewhere.");
    stage.run(&["runs", "export", run, "--output", "run.json"], 0)?;
    stage.run(&["--home", "elsewhere", "runs", "import", "run.json"], 0)?;

    stage.say("If one word is changed, the import is refused.");
    forge(&stage.path().join("run.json"))?;
    let forged = stage.run(&["--home", "third", "runs", "import", "run.json"], 7)?;
    stage.expect(
        forged.text.contains("was altered"),
        "the forged run is refused as altered",
    )
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
