//! `windlass launch` as people and scripts see it: exit codes, standard output, standard error.

use std::{
    io::Write as _,
    process::{Child, Stdio},
};

use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{
    levers,
    place::{LaunchPlace, git},
};
use crate::suite::support::binary::Said;

/// Text without what differs from run to run.
fn plain(place: &LaunchPlace, text: &str) -> String {
    let mut text = text.replace(place.root().to_str().unwrap(), "ROOT");
    for (pattern, name) in [
        (r"\br_[\dTZ-]+_[a-z2-7]{26}", "RUN"),
        (r"\b[0-9a-f]{40}\b", "COMMIT"),
        (r"\b\d+(\.\d+)? (ms|s)\b", "DURATION"),
    ] {
        let pattern = Regex::new(pattern).unwrap();
        text = pattern.replace_all(&text, name).into_owned();
    }
    text
}

/// Runs a command of `windlass launch` and expects an exit code.
#[track_caller]
fn launch(place: &LaunchPlace, arguments: &[&str], exit: i32) -> Said {
    let said = place.say(&[&["launch"], arguments].concat());
    let shown = format!("{arguments:?}\n{}\n{}", said.stdout, said.stderr);
    assert_eq!(said.code, Some(exit), "{shown}");
    said
}

/// A file with the configuration of the place, and its path.
fn config_file(place: &LaunchPlace, config: &Value) -> String {
    let path = place.root().join("run_config.json");
    fs_err::write(&path, config.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The state of the latest launch.
fn state(place: &LaunchPlace) -> String {
    let said = launch(place, &["status", "latest", "--json"], 0).json();
    said["status"]["state"].as_str().unwrap().to_owned()
}

#[test]
fn the_example_goes_from_two_repositories_to_a_branch() {
    let place = LaunchPlace::example();
    let config = config_file(&place, &place.config());
    let started = launch(&place, &["start", "--config", &config], 8);
    insta::assert_snapshot!(plain(&place, &started.stdout), @"
    run RUN waits in VALIDATING: 1 blocker, 3 errors, 1 warning
    SEVERITY  GATE            FIX        WHERE                                   ISSUE
    blocker   TemplateTokens  automatic  content/products/tidemark/_index.md:5   The token __PACKAGE_NAME__ was never replaced
    error     Consistency     automatic  content/blog/tidemark/_index.md:6       The product is called Tidemark
    error     Consistency     automatic  content/blog/tidemark/introducing.md:6  The product is called Tidemark
    error     Consistency     automatic  content/products/tidemark/_index.md:4   The canonical address is https://quayside.example/products/tidemark/
    ");
    assert!(
        started.stderr.contains("✓ FACTS_READY"),
        "{}",
        started.stderr
    );
    assert!(
        started.stderr.contains("hint: windlass launch fix r_"),
        "{}",
        started.stderr
    );

    let fixed = launch(&place, &["fix", "latest"], 8);
    assert!(fixed.stdout.starts_with("fixed iss_"), "{}", fixed.stdout);
    assert!(
        fixed.stdout.contains("; 3 issues left\n"),
        "{}",
        fixed.stdout
    );
    let resumed = launch(&place, &["fix", "latest", "--all"], 0);
    insta::assert_snapshot!(plain(&place, &resumed.stdout), @"run RUN is READY_FOR_PR");
    let valid = launch(&place, &["validate", "latest"], 0);
    assert!(
        valid.stdout.contains("TruthLock            passed\n"),
        "{}",
        valid.stdout
    );

    let asked = launch(&place, &["open-pr", "latest"], 4);
    assert!(asked.stderr.contains("+ created"), "{}", asked.stderr);
    assert!(
        asked.stderr.contains("code: CONFIRM_REQUIRED"),
        "{}",
        asked.stderr
    );
    assert_eq!(place.site_git(&["branch", "--list", "launch/*"]), "");
    let opened = launch(&place, &["open-pr", "latest", "--yes"], 0);
    insta::assert_snapshot!(plain(&place, &opened.stdout), @"
    pull request  file://ROOT/home/launch/RUN/pr/launch-RUN-tidemark.md
    branch        launch/RUN/tidemark
    commit        COMMIT
    ");
    let branch = opened.stdout.lines().nth(1).unwrap();
    let branch = branch.trim_start_matches("branch").trim();
    let files = place.site_git(&["diff", "--name-only", "main", branch]);
    assert_eq!(files.lines().count(), 10, "{files}");
    assert_eq!(state(&place), "DONE");
    let again = launch(&place, &["open-pr", "latest", "--yes"], 5);
    assert!(again.stderr.contains("already_open"), "{}", again.stderr);

    let listed = launch(
        &place,
        &["list", "--state", "done", "--product", "tidemark"],
        0,
    );
    assert!(
        listed.stdout.contains("DONE   tidemark"),
        "{}",
        listed.stdout
    );
    assert_eq!(launch(&place, &["list", "--state", "failed"], 0).stdout, "");
    let page = launch(&place, &["artifact", "latest", "page_plan.json"], 0);
    serde_json::from_str::<Value>(&page.stdout).expect("an artifact is printed as it is");
}

#[test]
fn any_repository_is_accepted_by_its_path() {
    let place = LaunchPlace::clean();
    // From within the product, without a name, a commit or a word on what may be written.
    let mut command = place.command();
    command
        .args(["launch", "start", "--product", ".", "--site", "../../site"])
        .current_dir(place.root().join("product/src"))
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    let said: Said = command.output().unwrap().into();
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    insta::assert_snapshot!(plain(&place, &said.stderr), @r#"
    ROOT/product/src is part of ROOT/product, which is read whole
    main of the product is 3317d08332ce
    the product is called Quill
    error: say what may be written in the site; nothing else is ever written
      code: INVALID_INPUT
      constraint: required
      field: allow
      suggested_paths: ["products/quill","docs/quill","reference/quill","kb/quill","blog/quill"]
    hint: windlass launch start --product . --site ../../site --allow products/quill docs/quill reference/quill kb/quill blog/quill
    "#);
    assert_eq!(
        place.checkouts(),
        Vec::<String>::new(),
        "nothing is left behind"
    );

    let (product, site) = (place.root().join("product"), place.root().join("site"));
    let (product, site) = (product.to_str().unwrap(), site.to_str().unwrap());
    git(place.root().join("product").as_path(), &["tag", "v1.2.0"]);
    let allowed = [
        "--allow",
        "docs/quill",
        "--section",
        "docs",
        "--tier",
        "minimal",
    ];
    for reference in ["v1.2.0", "main", "HEAD", "main~0"] {
        let start = [
            "start",
            "--product",
            product,
            "--ref",
            reference,
            "--site",
            site,
        ];
        let said = launch(
            &place,
            &[&start, allowed.as_slice(), &["--no-wait", "--json"]].concat(),
            0,
        );
        let run_id = said.json()["run_id"].as_str().unwrap().to_owned();
        launch(&place, &["resume", &run_id], 0);
        let config = launch(&place, &["artifact", &run_id, "run_config.json"], 0);
        let config: Value = serde_json::from_str(&config.stdout).unwrap();
        assert_eq!(
            config["github_ref"],
            place.config()["github_ref"],
            "{reference}"
        );
        assert_eq!(config["product_name"], "Quill", "as its README spells it");
    }
}

#[test]
fn yaml_json_and_standard_input_are_one_configuration() {
    let place = LaunchPlace::clean();
    let config = place.config();
    let json_path = config_file(&place, &config);
    let yaml_path = place.root().join("run_config.yaml");
    let mut yaml = String::new();
    for (key, value) in config.as_object().unwrap() {
        yaml.push_str(&format!("{key}: {value}\n"));
    }
    fs_err::write(&yaml_path, &yaml).unwrap();
    let key = ["--key", "one", "--no-wait", "--json"];
    let start = |path: &str| {
        let said = launch(
            &place,
            &[&["start", "--config", path], key.as_slice()].concat(),
            0,
        );
        said.json()["run_id"].clone()
    };
    let first = start(&json_path);
    assert_eq!(start(yaml_path.to_str().unwrap()), first);
    let mut child = place
        .command()
        .args(["launch", "start", "--config", "-"])
        .args(key)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(yaml.as_bytes())
        .unwrap();
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.worked().json()["run_id"], first);
    let other = ["start", "--config", &json_path, "--tier", "rich"];
    let refused = launch(&place, &[&other, key.as_slice()].concat(), 2).json();
    assert_eq!(refused["error"]["details"]["reason"], "key_conflict");
    assert_eq!(
        launch(&place, &["list", "--json"], 0).json()["runs"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn every_failure_has_its_exit_class() {
    let place = LaunchPlace::clean();
    let root = place.root().to_str().unwrap().to_owned();
    let (product, site) = (format!("{root}/product"), format!("{root}/site"));
    let start = |product: &str, more: &[&str]| {
        let base = ["launch", "start", "--product", product, "--site", &site];
        place.say(&[&base, ["--allow", "content"].as_slice(), more].concat())
    };
    let nowhere = format!("{root}/nowhere");
    let mistyped = config_file(&place, &place.config_with(json!({ "alowed_paths": [] })));
    let cases = [
        ("unknown run", place.say(&["launch", "status", "r_1"])),
        ("no launches", place.say(&["launch", "status", "latest"])),
        ("no such path", start(&nowhere, &[])),
        ("no repository", start(&format!("{root}/user"), &[])),
        ("no such branch", start(&product, &["--ref", "v9"])),
        (
            "an option as a branch",
            start(&product, &["--ref", "--upload-pack=x"]),
        ),
        ("unreachable", start("https://git.example/gone", &[])),
        (
            "unknown field",
            place.say(&["launch", "start", "--config", &mistyped]),
        ),
        (
            "unknown file",
            place.say(&["launch", "start", "--config", &nowhere]),
        ),
        ("strict and local", start(&product, &["--profile", "prod"])),
        (
            "unknown state",
            place.say(&["launch", "list", "--state", "asleep"]),
        ),
    ];
    let shown: Vec<String> = cases
        .iter()
        .map(|(case, said)| {
            let first = said.stderr.lines().find(|line| line.starts_with("error: "));
            let code = said
                .stderr
                .lines()
                .find(|line| line.starts_with("  code: "));
            let (first, code) = (first.unwrap_or(&said.stderr), code.unwrap_or_default());
            let first = first.split(" ended with ").next().unwrap();
            format!("{case}: {} {} {first}", said.code.unwrap(), code.trim())
        })
        .collect();
    insta::assert_snapshot!(plain(&place, &shown.join("\n")), @r#"
    unknown run: 3 code: RUN_NOT_FOUND error: no launch is called "r_1" or starts with it
    no launches: 3 code: RUN_NOT_FOUND error: there are no launches yet
    no such path: 3 code: NOT_FOUND error: there is no repository at ROOT/nowhere
    no repository: 3 code: NOT_FOUND error: ROOT/user is not a git repository with a commit: 'ROOT/user' does not appear to be a git repository
    no such branch: 3 code: NOT_FOUND error: ROOT/product has no branch, tag or commit "v9"
    an option as a branch: 2  error: unexpected argument '--upload-pack' found
    unreachable: 6 code: UPSTREAM_ERROR error: the repository https://git.example/gone cannot be read: 'ROOT/gone' does not appear to be a git repository
    unknown field: 2 code: SCHEMA_VALIDATION_FAILED error: run_config/alowed_paths: /alowed_paths is not a known key; did you mean allowed_paths?
    unknown file: 2 code: INVALID_INPUT error: failed to open file `ROOT/nowhere`: No such file or directory (os error 2)
    strict and local: 2 code: SCHEMA_VALIDATION_FAILED error: run_config/github_repo_url: /github_repo_url: a path of this machine is taken in profile local only; use https:// or ssh:// (and 1 more)
    unknown state: 2 code: INVALID_INPUT error: no state is called "ASLEEP"; the states are CREATED, CLONED_INPUTS, INGESTED, FACTS_READY, PLAN_READY, DRAFTING, DRAFT_READY, LINKING, VALIDATING, FIXING, READY_FOR_PR, PR_OPENED, DONE, FAILED, CANCELLED
    "#);
}

#[test]
fn policy_and_services_have_their_own_exit_codes() {
    let place = LaunchPlace::clean();
    let config = config_file(&place, &place.config());
    launch(&place, &["start", "--config", &config], 0);
    place.policy(
        "version = 1\n[[rule]]\noperation = \"launch.open_pr\"\ndecision = \"deny\"\n\
         reason = \"not from here\"\n",
    );
    let denied = launch(&place, &["open-pr", "latest", "--yes"], 4);
    assert!(
        denied.stderr.contains("code: POLICY_DENIED"),
        "{}",
        denied.stderr
    );
    fs_err::remove_file(place.home().join("policy.toml")).unwrap();

    // A service that refuses to talk: nothing listens where it should.
    let settings = "[launch]\nallow_private_targets = true\nallow_http = true\n";
    place.settings(settings);
    let free = crate::suite::support::binary::free_address();
    let service = json!({ "adapter": "http", "endpoint_url": format!("http://{free}") });
    let config = config_file(
        &place,
        &place.config_with(json!({ "commit_service": service })),
    );
    launch(&place, &["start", "--config", &config], 0);
    let failed = launch(&place, &["open-pr", "latest", "--yes"], 6);
    assert!(
        failed.stderr.contains("code: COMMIT_SERVICE_ERROR"),
        "{}",
        failed.stderr
    );
    assert!(
        failed.stderr.contains("hint: windlass launch open-pr r_"),
        "{}",
        failed.stderr
    );
    assert_eq!(state(&place), "READY_FOR_PR", "it may be tried again");
}

#[test]
fn running_out_of_fixes_fails_the_run_and_the_command() {
    let place = LaunchPlace::defective();
    let config = config_file(&place, &place.config_with(json!({ "max_fix_attempts": 1 })));
    launch(&place, &["start", "--config", &config], 8);
    let said = launch(&place, &["resume", "latest"], 1);
    assert!(
        said.stderr.contains("code: FIX_EXHAUSTED"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("failure_summary.md"),
        "{}",
        said.stderr
    );
    let failed = launch(&place, &["status", "latest"], 0);
    assert!(failed.stdout.contains(" FAILED\n"), "{}", failed.stdout);
    launch(&place, &["artifact", "latest", "failure_summary.md"], 0);
    launch(&place, &["fix", "latest"], 1);
    launch(&place, &["cancel", "latest"], 5);
}

#[test]
fn programs_get_one_document_or_one_line_per_event() {
    let place = LaunchPlace::defective();
    let config = config_file(&place, &place.config());
    let document = launch(&place, &["start", "--config", &config, "--json"], 8);
    assert_eq!(document.stderr, "");
    let document = document.json();
    assert_eq!(
        (&document["ok"], &document["state"]),
        (&json!(true), &json!("VALIDATING"))
    );
    assert_eq!(document["status"]["parked"], true);

    let stream = launch(&place, &["fix", "latest", "--agent"], 8).stdout;
    let lines: Vec<Value> = stream
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (result, events) = lines.split_last().unwrap();
    assert_eq!(
        (&result["type"], &result["ok"]),
        (&json!("result"), &json!(true))
    );
    assert_eq!(result["data"]["validation_report"]["ok"], false);
    assert!(
        events.iter().all(|line| line["type"] != "result"),
        "{stream}"
    );
    let shows_phase = |phase: &str| events.iter().any(|line| line["phase"] == phase);
    assert!(
        shows_phase("fixing") && shows_phase("validating"),
        "{stream}"
    );

    let refused = launch(&place, &["open-pr", "latest", "--yes", "--json"], 5).json();
    assert_eq!(refused["error"]["code"], "ILLEGAL_STATE");
    assert_eq!(refused["run_id"], document["run_id"]);
    let refused = launch(&place, &["open-pr", "latest", "--yes", "--agent"], 5).stdout;
    let refused: Value = serde_json::from_str(refused.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&refused["ok"], &refused["data"]["error"]["code"]),
        (&json!(false), &json!("ILLEGAL_STATE"))
    );
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[test]
fn an_interrupted_command_leaves_a_run_that_continues() {
    let place = LaunchPlace::clean();
    let config = config_file(&place, &place.config());
    let started = launch(
        &place,
        &["start", "--config", &config, "--no-wait", "--json"],
        0,
    )
    .json();
    let run_id = started["run_id"].as_str().unwrap();
    let lever = levers::git(&place);
    lever.hold();
    let child = place
        .command()
        .args(["launch", "resume", run_id])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    lever.wait_until_reached();
    interrupt(&child);
    // Stopping may wait for the program in progress, which is allowed to end now.
    lever.release();
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    let next = format!("hint: windlass launch resume {run_id}");
    assert!(said.stderr.contains(&next), "{}", said.stderr);
    let still = launch(&place, &["status", run_id], 0);
    assert!(
        still
            .stderr
            .contains("No driver is running, so this run is paused"),
        "{}",
        still.stderr
    );
    launch(&place, &["resume", run_id], 0);
    assert_eq!(state(&place), "READY_FOR_PR");
    launch(&place, &["cancel", run_id], 0);
    launch(&place, &["cancel", run_id], 0);
    launch(&place, &["watch", run_id], 1);
}

#[test]
fn a_run_that_another_process_drives_is_followed() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "VALIDATING");
    let watched = launch(&place, &["watch", &run_id], 8);
    assert!(
        watched.stdout.contains("✓ CLONED_INPUTS"),
        "{}",
        watched.stdout
    );
    assert!(
        watched.stdout.contains("✗ TemplateTokens: "),
        "{}",
        watched.stdout
    );
    // Requested here, done there.
    launch(&place, &["fix", &run_id, "--all"], 0);
    assert_eq!(client.status(&run_id)["state"], "READY_FOR_PR");
    let later = launch(&place, &["watch", &run_id, "--after", "999999"], 0);
    insta::assert_snapshot!(plain(&place, &later.stdout), @"run RUN is READY_FOR_PR");
}
