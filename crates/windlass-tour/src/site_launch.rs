//! Chapter 4: a product and a site go in; pages come out whose every fact has its line of
//! evidence, checked, fixed and offered as a branch of the site.

use std::path::Path;

use serde_json::Value;
use windlass_types::Problem;

use crate::{
    sample,
    sample_launch::{CONFIG, PRODUCT, SITE},
    stage::Stage,
};

/// What a reader may do afterwards.
pub(crate) const NEXT: &str = "windlass launch start --product REPO --site REPO";

/// Where the product and the site are, below the user's home.
const PRODUCT_PLACE: &str = "tidemark";
const SITE_PLACE: &str = "quayside.git";
/// Where the site's files come from before they are in a repository.
const SITE_SOURCE: &str = "quayside";
const CONFIG_FILE: &str = "launch.yaml";
/// A page of the launch, and a sentence on it.
const PAGE: &str = "content/products/tidemark/_index.md";
const SENTENCE: &str = "Tidemark requires Python 3.10 or newer.";
/// What the gates find, because the site's own pages have it.
const PLANTED: [&str; 3] = ["TemplateTokens", "called Tidemark", "canonical address"];

pub(crate) fn play(stage: &mut Stage<'_>) -> Result<(), Problem> {
    if stage.ask_git(&["--version"]).is_none() {
        stage.say("A launch reads and writes git repositories, and git is NOT installed here.");
        stage.say("This chapter is skipped. Install git and run: windlass tour --chapter 4");
        return Ok(());
    }
    prepare(stage)?;
    stage.say(
        "Tidemark is a small library, Quayside a company's site. The library gets its pages.\n\
         Nothing is written without permission, so the first answer is a question.",
    );
    stage.enter_home();
    let places = ["--product", PRODUCT_PLACE, "--site", SITE_PLACE];
    let asked = stage.run(&[&["launch", "start"], places.as_slice()].concat(), 2)?;
    stage.expect(
        asked.text.contains("--allow content/products/tidemark"),
        "folders of the site are suggested",
    )?;

    stage.say(
        "A configuration answers it. The run reads both repositories, collects facts with the lines\n\
         that prove them, writes pages into a copy of the site, and runs 18 gates on them.",
    );
    let commits = ["--ref", "main", "--site-ref", "main"];
    let start = ["launch", "start", "--config", CONFIG_FILE];
    let started = stage.run(&[&start, places.as_slice(), &commits].concat(), 8)?;
    stage.expect(
        PLANTED.iter().all(|planted| started.text.contains(planted)),
        "the gates find what the site's own pages do wrong",
    )?;

    stage.say(
        "The site's own mistakes were copied: a placeholder, a dead address, a misspelt name. Fix one.",
    );
    stage.run(&["launch", "fix", "latest"], 8)?;

    stage.say("Then fix all the others, and kill the program after the next one.");
    // On a busy machine it may finish before it is killed; the outcome is the same.
    let killed = stage.try_to_kill(&["launch", "fix", "latest", "--all"], |line| {
        line.contains("resolved:")
    })?;
    if killed {
        stage.say("The journal knows which issues are fixed. Resuming fixes the rest, none twice.");
        stage.run(&["launch", "resume", "latest"], 0)?;
    }
    let status = stage.ask(&["launch", "status", "latest"])?;
    stage.expect(
        status["status"]["state"] == "READY_FOR_PR",
        "the launch is ready for its pull request",
    )?;
    stage.expect(
        status["status"]["fix_attempts"]["used"] == 4,
        "four issues took four fixes",
    )?;

    stage.say("So far only the copy was changed. Now the pages become a branch of the site.");
    stage.run(&["launch", "open-pr", "latest", "--yes"], 0)?;
    let branch = stage.ask(&["launch", "status", "latest"])?["status"]["pr"]["branch"]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| Problem::internal("tour", "the pull request names no branch"))?;
    stage.name(&branch, "$BRANCH");
    stage.git(&["-C", SITE_PLACE, "diff", "--stat=76", "main", &branch])?;
    let changed = stage.ask_git(&["-C", SITE_PLACE, "diff", "--name-only", "main", &branch]);
    let changed = changed.unwrap_or_default();
    stage.expect(
        changed.lines().count() == 10 && changed.lines().all(|path| path.contains("/tidemark/")),
        "the branch changes ten pages and nothing else",
    )?;

    evidence(stage, &branch)?;

    stage.say("Until it is merged, branch and pull request can be removed.");
    let run = run_id(&status)?;
    stage.name(&run, "$RUN");
    stage.run(&["runs", "rollback", &run, "--yes"], 0)?;
    let left = stage.ask_git(&["-C", SITE_PLACE, "branch", "--list", "launch/*"]);
    stage.expect(
        left.is_some_and(|left| left.is_empty()),
        "the site is what it was before",
    )
}

/// Follows one sentence of a page to the line that proves it.
fn evidence(stage: &Stage<'_>, branch: &str) -> Result<(), Problem> {
    stage.say("Where does a sentence come from? Its claim leads to a file and a line.");
    let missing = |what: &str| Problem::internal("tour", format!("the page has no {what}"));
    let page = stage
        .ask_git(&["-C", SITE_PLACE, "show", &format!("{branch}:{PAGE}")])
        .ok_or_else(|| missing("text"))?;
    let line = page
        .lines()
        .find(|line| line.contains(SENTENCE))
        .ok_or_else(|| missing("such sentence"))?;
    let claim = line
        .split_once("claim_id: ")
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .ok_or_else(|| missing("claim"))?;
    stage.show(&format!("{PAGE}: {}", line.trim_start_matches("- ")));
    let map: Value = serde_json::from_str(&artifact(stage, "evidence_map.json")?)
        .map_err(|error| Problem::internal("tour: evidence", error))?;
    let citation = &map["claims"][claim]["citations"][0];
    let (path, number) = (citation["path"].as_str(), citation["start_line"].as_u64());
    let (Some(path), Some(number)) = (path, number) else {
        return Err(missing("evidence"));
    };
    let file = stage.user().join(PRODUCT_PLACE).join(path);
    let text =
        fs_err::read_to_string(file).map_err(|error| Problem::internal("tour: evidence", error))?;
    let cited = usize::try_from(number)
        .ok()
        .and_then(|number| text.lines().nth(number.saturating_sub(1)))
        .unwrap_or_default();
    stage.show(&format!("{PRODUCT_PLACE}/{path}:{number}: {cited}"));
    stage.expect(
        cited.contains("3.10"),
        "the cited line says what the sentence says",
    )
}

fn artifact(stage: &Stage<'_>, name: &str) -> Result<String, Problem> {
    let answer = stage.ask(&["launch", "artifact", "latest", name])?;
    let content = answer["artifact"]["content"].as_str().map(str::to_owned);
    content.ok_or_else(|| Problem::internal("tour", format!("there is no {name}")))
}

fn run_id(status: &Value) -> Result<String, Problem> {
    let run_id = status["run_id"].as_str().map(str::to_owned);
    run_id.ok_or_else(|| Problem::internal("tour", "the launch has no id"))
}

/// Two repositories with a commit each; the site's has no checkout, like one on a server.
fn prepare(stage: &Stage<'_>) -> Result<(), Problem> {
    let home = stage.user();
    for (place, samples) in [(PRODUCT_PLACE, PRODUCT), (SITE_SOURCE, SITE)] {
        sample::unpack(samples, &home.join(place))?;
        commit(stage, &home.join(place))?;
    }
    let (from, to) = (home.join(SITE_SOURCE), home.join(SITE_PLACE));
    let (from, to) = (from.display().to_string(), to.display().to_string());
    let cloned = stage.ask_git(&["clone", "--quiet", "--bare", &from, &to]);
    stage.expect(cloned.is_some(), "git can clone a repository")?;
    fs_err::write(home.join(CONFIG_FILE), CONFIG)
        .map_err(|error| Problem::internal("tour: configuration", error))
}

fn commit(stage: &Stage<'_>, directory: &Path) -> Result<(), Problem> {
    let place = directory.display().to_string();
    let identity = [
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@example.com",
        "-c",
        "commit.gpgSign=false",
    ];
    for words in [
        ["init", "--quiet", "--initial-branch=main"].as_slice(),
        &["add", "--all"],
        &["commit", "--quiet", "--message=Start"],
    ] {
        let git = [&["-C", place.as_str()], identity.as_slice(), words].concat();
        let worked = stage.ask_git(&git).is_some();
        stage.expect(worked, &format!("git {} works", words.join(" ")))?;
    }
    Ok(())
}
