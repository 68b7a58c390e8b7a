//! The example from start to pull request, with the real Hugo building the site.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use super::{
    client::Client,
    place::{LaunchPlace, git},
    reader::{Found, Reader},
};

/// The real Hugo; none, and said so, where there is none.
pub(crate) fn real_hugo() -> Option<PathBuf> {
    let hugo = std::env::var_os("WINDLASS_TEST_HUGO").map(PathBuf::from);
    if hugo.is_none() {
        println!(
            "SKIPPED, HUGO WAS NOT TESTED: WINDLASS_TEST_HUGO does not name one; `cargo xtask \
             test` installs one and sets it"
        );
    }
    hugo
}

pub(crate) fn with_hugo(place: &LaunchPlace, hugo: &Path) {
    place.settings(&format!("[launch]\nhugo = {:?}\n", hugo.to_str().unwrap()));
}

fn gate<'a>(report: &'a Value, name: &str) -> &'a Value {
    let gates = report["gates"].as_array().unwrap();
    gates.iter().find(|gate| gate["name"] == name).unwrap()
}

/// Fixes what is wrong, one issue at a time, until the run is ready.
fn fix_all(client: &mut Client, run_id: &str) {
    while client.status(run_id)["state"] == "VALIDATING" {
        client.about("launch_fix_next", run_id).worked();
    }
    let status = client.status(run_id);
    assert_eq!(status["state"], "READY_FOR_PR", "{status:#}");
}

#[test]
fn the_example_reaches_its_pull_request() {
    let place = LaunchPlace::example();
    let hugo = real_hugo();
    if let Some(hugo) = &hugo {
        with_hugo(&place, hugo);
    }
    let mut client = place.serve();
    let main = place.site_git(&["rev-parse", "main"]);
    let run_id = client.started(&place.config(), "VALIDATING");
    let report = client.artifact_json(&run_id, "validation_report.json");
    let codes: BTreeSet<&str> = report["issues"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|issue| issue["severity"] == "blocker" || issue["severity"] == "error")
        .map(|issue| issue["error_code"].as_str().unwrap())
        .collect();
    let planted = [
        "GATE_CONSISTENCY_CANONICAL_URL",
        "GATE_CONSISTENCY_PRODUCT_NAME",
        "GATE_TEMPLATE_TOKEN_UNRESOLVED",
    ];
    assert_eq!(codes, BTreeSet::from(planted), "the planted ones alone");
    fix_all(&mut client, &run_id);
    let report = client.artifact_json(&run_id, "validation_report.json");
    let build = gate(&report, "HugoBuild");
    assert_eq!(build["skipped"] == true, hugo.is_none(), "{build}");
    assert_eq!(build["ok"], true, "{build}");
    let opened = client.about("launch_open_pr", &run_id).worked().clone();
    let branch = opened["branch"].as_str().unwrap();

    assert_paths(&place, &mut client, &run_id, branch);
    assert_eq!(place.site_git(&["rev-parse", "main"]), main, "untouched");
    let parent = place.site_git(&["rev-parse", &format!("{branch}^")]);
    assert_eq!(parent, main, "one commit on the recorded base");
    assert_rolls_back(&place, &mut client, &run_id, branch);
    assert_evidence(&place, &mut client, &run_id, branch);
    if let Some(hugo) = &hugo {
        assert_builds(&place, hugo, branch);
    }
}

/// The branch changes what was planned, and what the record says.
fn assert_paths(place: &LaunchPlace, client: &mut Client, run_id: &str, branch: &str) {
    let base = place.config()["site_ref"].as_str().unwrap().to_owned();
    let range = format!("{base}..{branch}");
    let changed: Vec<String> = place
        .site_git(&["diff", "--name-only", &range])
        .lines()
        .map(str::to_owned)
        .collect();
    let record = client.artifact_json(run_id, "pr.json");
    assert_eq!(record["affected_paths"], json!(changed));
    assert_eq!(record["base_ref"], base);
    assert_eq!(record["branch_name"], branch);
    assert_eq!(record["run_id"], run_id);
    assert_eq!(record["validation_summary"]["ok"], true);
    let bundle = client.artifact_json(run_id, "patch_bundle.json");
    let patched = paths(&bundle["patches"], "path");
    let plan = client.artifact_json(run_id, "page_plan.json");
    let planned = paths(&plan["pages"], "output_path");
    let changed: BTreeSet<String> = changed.into_iter().collect();
    assert_eq!(patched, changed);
    assert_eq!(planned, changed);
    let body = record["pr_body"].as_str().unwrap();
    assert!(body.contains(run_id), "{body}");
    let entries = place.config()["allowed_paths"].as_array().unwrap().clone();
    for path in &changed {
        assert!(body.contains(path), "{path} is not in the description");
        let is_below = |entry: &Value| path.starts_with(&format!("{}/", entry.as_str().unwrap()));
        assert!(entries.iter().any(is_below), "{path}");
    }
}

fn paths(list: &Value, member: &str) -> BTreeSet<String> {
    let items = list.as_array().unwrap().iter();
    items
        .map(|item| item[member].as_str().unwrap().to_owned())
        .collect()
}

/// The steps for taking it back, done by hand, give the site as it was.
fn assert_rolls_back(place: &LaunchPlace, client: &mut Client, run_id: &str, branch: &str) {
    let record = client.artifact_json(run_id, "pr.json");
    let work = place.root().join("merged");
    let site = place.config()["site_repo_url"].as_str().unwrap().to_owned();
    git(place.root(), &["clone", "--quiet", &site, "merged"]);
    let before = git(&work, &["rev-parse", "HEAD^{tree}"]);
    let theirs = format!("origin/{branch}");
    git(
        &work,
        &["merge", "--quiet", "--no-ff", "--message", "merge", &theirs],
    );
    assert_ne!(git(&work, &["rev-parse", "HEAD^{tree}"]), before);
    for step in record["rollback_steps"].as_array().unwrap() {
        let step = step.as_str().unwrap();
        println!("rollback: {step}");
        let done = Command::new("sh")
            .args(["-ec", &commands(step)])
            .current_dir(&work)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .envs([
                ("GIT_AUTHOR_NAME", "example"),
                ("GIT_AUTHOR_EMAIL", "example@quayside.example"),
                ("GIT_COMMITTER_NAME", "example"),
                ("GIT_COMMITTER_EMAIL", "example@quayside.example"),
            ])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{step}: {said}");
    }
    assert_eq!(git(&work, &["rev-parse", "HEAD^{tree}"]), before);
}

/// The commands of a step: what it sets as code, or the whole of it.
fn commands(step: &str) -> String {
    let code = regex::Regex::new("`([^`]+)`").unwrap();
    let found: Vec<String> = code.captures_iter(step).map(|c| c[1].to_owned()).collect();
    if found.is_empty() {
        step.to_owned()
    } else {
        found.join("\n")
    }
}

/// Every factual sentence leads to lines that hold it.
fn assert_evidence(place: &LaunchPlace, client: &mut Client, run_id: &str, branch: &str) {
    let facts = client.artifact_json(run_id, "product_facts.json");
    let evidence = client.artifact_json(run_id, "evidence_map.json");
    let reader = Reader::new(&place.config(), &facts, evidence);
    let base = place.config()["site_ref"].as_str().unwrap().to_owned();
    let record = client.artifact_json(run_id, "pr.json");
    let mut found = Found::default();
    for path in record["affected_paths"].as_array().unwrap() {
        let path = path.as_str().unwrap();
        let page = place.site_git(&["show", &format!("{branch}:{path}")]);
        let known = place.site_git(&["ls-tree", "--name-only", &base, path]);
        let before = if known.is_empty() {
            String::new()
        } else {
            place.site_git(&["show", &format!("{base}:{path}")])
        };
        reader.read(path, &page, &before, &mut found);
    }
    assert_eq!(found.wrong, [""; 0]);
    println!("{} statements hold", found.sound);
    assert!(found.sound > 40, "{} statements", found.sound);
}

/// Hugo, called by the test itself, builds the published branch with every page of it.
fn assert_builds(place: &LaunchPlace, hugo: &Path, branch: &str) {
    let site = place.root().join("published");
    let from = place.config()["site_repo_url"].as_str().unwrap().to_owned();
    git(
        place.root(),
        &["clone", "--quiet", "--branch", branch, &from, "published"],
    );
    let built = Command::new(hugo)
        .args(["--panicOnWarning", "--destination", "../rendered"])
        .current_dir(&site)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    for page in [
        "products/tidemark",
        "docs/tidemark",
        "docs/tidemark/getting-started",
        "reference/tidemark/api",
        "kb/tidemark/known-limits",
        "blog/tidemark/introducing",
    ] {
        let file = place.root().join("rendered").join(page).join("index.html");
        let text = fs_err::read_to_string(file).unwrap();
        assert!(text.contains("Tidemark"), "{page}");
        assert!(
            !text.contains("claim_id"),
            "a reader sees no marker: {page}"
        );
    }
}

/// Profile ci with repositories from elsewhere: every gate is strict, and the branch is in the
/// run's own clone.
#[test]
fn a_strict_launch_builds_with_the_real_hugo() {
    let Some(hugo) = real_hugo() else { return };
    let place = LaunchPlace::example();
    with_hugo(&place, &hugo);
    let mut client = place.serve();
    let run_id = client.start(&place.config_far("ci"));
    client.settled(&run_id);
    fix_all(&mut client, &run_id);
    let report = client.artifact_json(&run_id, "validation_report.json");
    assert_eq!(report["profile"], "ci");
    let build = gate(&report, "HugoBuild");
    assert_eq!(build["ok"], true, "{build}");
    assert_ne!(build["skipped"], true, "{build}");
    let opened = client.about("launch_open_pr", &run_id).worked().clone();
    let clone = place
        .home()
        .join("launch")
        .join(&run_id)
        .join("git/site.git");
    let commit = git(&clone, &["rev-parse", opened["branch"].as_str().unwrap()]);
    assert_eq!(opened["commit_sha"], commit.trim());
    let refs = place.site_git(&["for-each-ref", "refs/heads/launch"]);
    assert_eq!(refs, "", "what is elsewhere is not written to");
}
