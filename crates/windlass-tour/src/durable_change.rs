//! Chapter 1: a change that is planned, applied, killed halfway, resumed and rolled back. It is the
//! first thing a newcomer sees and takes half a minute to read, so only the lines that matter are shown.

use windlass_types::Problem;

use crate::{
    site,
    stage::{PLANNED, Stage},
};

/// The signs of what was resumed and done, without the pauses between.
const RESUMED: &str = "▸✓";
/// The sign of what was undone.
const UNDONE: &str = "↶";

/// What a reader may do afterwards.
pub(crate) const NEXT: &str = "windlass demo apply --dir DIR --file hello.txt=hello";

const CHANGE: &[&str] = &[
    "--dir",
    site::FOLDER,
    "--file",
    "index.html=New",
    "--file",
    "news.html=News",
    "--delete",
    "old.txt",
    "--pause",
    "0.3",
];

pub(crate) fn play(stage: &mut Stage<'_>) -> Result<(), Problem> {
    site::prepare(stage, &[("index.html", "Old"), ("old.txt", "")])?;
    let before = site::read(stage)?;

    stage.say("A website needs three changes. The plan changes nothing yet.");
    let plan = site::command(&["demo", "plan"], CHANGE, &[]);
    stage.run_signs(&plan, 0, PLANNED)?;
    let planned = stage.ask(&plan)?;
    let token = site::text(&planned, "confirm_token")?;
    stage.name(&token, "$TOKEN");

    stage.say("Apply exactly the confirmed plan, and kill the program after the first change.");
    stage.run_and_kill(
        &site::command(&["demo", "apply"], CHANGE, &["--token", &token, "--yes"]),
        |line| line.contains("✓ change index.html"),
    )?;
    let half = site::read(stage)?;
    site::show(stage, &half);
    stage.expect(
        half.get("index.html").is_some_and(|page| page == "New") && half.contains_key("old.txt"),
        "one of three changes was made",
    )?;

    stage.say("The process is gone; its journal is on disk. Resume the run.");
    let run_id = site::newest_run(stage)?;
    let run = site::short(&run_id);
    let resumed = stage.run_signs(&["runs", "resume", run], 0, RESUMED)?;
    stage.expect(
        !resumed.text.contains("✓ change index.html"),
        "the finished change is not repeated",
    )?;
    let after = site::read(stage)?;
    site::show(stage, &after);
    stage.expect(
        after.contains_key("news.html") && !after.contains_key("old.txt"),
        "the other changes are made",
    )?;

    stage.say("Not what you wanted? Roll it back.");
    let undone = stage.run_signs(&["runs", "rollback", run, "--yes"], 0, UNDONE)?;
    stage.expect(undone.text.contains("rolled back"), "the rollback says so")?;
    let back = site::read(stage)?;
    site::show(stage, &back);
    stage.expect(back == before, "the site is what it was before")
}
