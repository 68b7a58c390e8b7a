//! What was made is delivered as it was made: redaction is for what is told about it.

use std::os::unix::fs::PermissionsExt as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use windlass_types::Digest;

use super::{
    doors::doors,
    site::{NO_LIMITS, SPEC, Site, make_key},
};
use crate::suite::support::{
    binary::{say, windlass},
    http::Ask,
    mcp::Session,
};

/// An attribute that looks like the password it asks for.
const ATTRIBUTE: &str = "\"current-password\"";

/// A site whose key may read runs, too, and a job of it that has ended.
fn site_with_job() -> (Site, String) {
    let mut site = Site::open(NO_LIMITS);
    site.key = make_key(&site.place, &["--scope", "runs"]);
    let job = site.begin(&json!({ "spec": SPEC }));
    assert_eq!(site.ended(&job)["status"], "completed");
    (site, job)
}

fn files(code: &Value) -> Vec<(&str, &str)> {
    let files = code["files"].as_array().unwrap().iter();
    files
        .map(|file| {
            (
                file["path"].as_str().unwrap(),
                file["content"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn generated_sources_are_the_same_through_every_door() {
    let (site, job) = site_with_job();
    let stored = site.ask(Ask::get(&format!("/v1/runs/{job}/artifacts/code.json")));
    assert_eq!(stored.status, 200, "{}", stored.text());
    let made: Value = serde_json::from_slice(&stored.body).unwrap();
    let holds = |code: &Value| {
        let mut contents = files(code).into_iter();
        contents.any(|(_, content)| content.contains(ATTRIBUTE))
    };
    assert!(holds(&made), "the form is part of what is made");

    let wanted = json!({ "job_id": job, "artifact_type": "code" });
    for mut door in doors(&site) {
        // A process of its own is another caller.
        let Some(answer) = door
            .call("aios_get_artifact", &wanted)
            .filter(|it| !it.is_error)
        else {
            continue;
        };
        assert_eq!(answer.worked(), &made, "{}", door.name);
    }
    for mut door in doors(&site) {
        let code = door.call("aios_generate_code", &json!({ "spec": SPEC }));
        let code = code.unwrap();
        assert!(holds(code.worked()), "{}", door.name);
        assert!(
            !code.body.to_string().contains("[redacted:"),
            "{}",
            door.name
        );
    }
    let directory = site.place.root().join("project");
    let out = directory.to_str().unwrap();
    let spec = site.place.root().join("spec.md");
    fs_err::write(&spec, SPEC).unwrap();
    let home = site.place.home();
    let said = say(
        &home,
        &[
            "--json",
            "pipeline",
            "code",
            "--spec",
            spec.to_str().unwrap(),
            "--out",
            out,
        ],
    );
    let answer = said.worked().json();
    for (path, content) in files(answer.get("data").unwrap_or(&answer)) {
        let written = fs_err::read_to_string(directory.join(path)).unwrap();
        assert_eq!(written, content, "{path}");
        assert!(!written.contains("[redacted:"), "{path}");
    }
    assert!(holds(answer.get("data").unwrap_or(&answer)));
}

#[test]
fn every_artifact_is_what_its_digest_says_through_every_door() {
    let (site, job) = site_with_job();
    let listed = site
        .ask(Ask::get(&format!("/v1/runs/{job}/artifacts")))
        .json();
    let listed = listed.get("data").unwrap_or(&listed)["artifacts"].clone();
    let listed = listed.as_array().unwrap_or_else(|| panic!("{listed:#}"));
    assert!(listed.len() >= 4, "{listed:#?}");
    let home = site.place.home();
    let mut command = windlass(&home);
    command.args(["mcp", "serve"]);
    let mut mcp = Session::of(command);
    for artifact in listed {
        let name = artifact["name"].as_str().unwrap();
        let sha256 = artifact["sha256"].as_str().unwrap();
        let check = |bytes: &[u8], door: &str| {
            assert_eq!(Digest::of(bytes).to_string(), sha256, "{name} by {door}");
        };
        let http = site.ask(Ask::get(&format!("/v1/runs/{job}/artifacts/{name}")));
        check(&http.body, "HTTP");
        let file = site.place.root().join("artifact");
        let path = file.to_str().unwrap();
        say(&home, &["runs", "artifact", &job, name, "--output", path]).worked();
        check(&fs_err::read(&file).unwrap(), "the command line");
        let shown = say(&home, &["runs", "artifact", &job, name]).worked();
        check(shown.stdout.as_bytes(), "standard output");
        let read = mcp.request(
            "resources/read",
            &json!({ "uri": format!("windlass://runs/{job}/artifacts/{name}") }),
        );
        let contents = &read["result"]["contents"][0];
        let bytes = match contents["blob"].as_str() {
            Some(blob) => STANDARD.decode(blob).unwrap(),
            None => contents["text"].as_str().unwrap().as_bytes().to_vec(),
        };
        check(&bytes, "MCP");
    }
    // The journal is not redacted, so its file is its owner's alone.
    let file = site.place.root().join("run.json");
    let path = file.to_str().unwrap();
    let said = say(&home, &["runs", "export", &job, "--output", path]).worked();
    assert!(said.stderr.contains("0600"), "{}", said.stderr);
    let mode = fs_err::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
