//! Every tool with good input, through every door: the contract's shapes, and the same bytes
//! wherever and whenever the same is asked.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    doors::doors,
    shapes,
    site::{NO_LIMITS, SPEC, Site},
};
use crate::suite::support::http::Ask;

const OTHER: &str =
    "Nurses can record vital signs of patients. A patient has a name and a birthday.";

/// What each tool is called with: the least, and everything there is.
fn calls() -> Vec<(&'static str, Value)> {
    let made = |tool: &'static str, input: Value| (tool, input);
    vec![
        made("aios_strategize", json!({ "spec": SPEC })),
        made(
            "aios_strategize",
            json!({
                "spec": OTHER,
                "context": {
                    "industry": "health", "target_audience": "nurses", "budget_tier": "startup",
                },
            }),
        ),
        made("aios_design_architecture", json!({ "spec": SPEC })),
        made(
            "aios_design_ux",
            json!({ "spec": SPEC, "style_preference": "playful" }),
        ),
        made(
            "aios_generate_code",
            json!({
                "spec": SPEC, "framework": "vite-react",
                "target_files": ["package.json", "supabase/**"],
            }),
        ),
    ]
}

#[test]
fn the_same_call_has_the_same_answer_on_every_surface() {
    let site = Site::open(NO_LIMITS);
    let mut answers: BTreeMap<String, (String, String)> = BTreeMap::new();
    for mut door in doors(&site) {
        for (tool, input) in calls() {
            let answer = door.call(tool, &input).unwrap();
            let body = answer.worked().to_string();
            assert!(answer.status.is_none_or(|status| status == 200));
            let known = answers.entry(format!("{tool} {input}"));
            let (first, expected) = known.or_insert_with(|| (door.name.to_owned(), body.clone()));
            assert_eq!(*expected, body, "{tool}: {first} and {}", door.name);
        }
    }
    let two: Vec<&String> = answers
        .iter()
        .filter(|(call, _)| call.starts_with("aios_strategize"))
        .map(|(_, (_, body))| body)
        .collect();
    assert!(two[0] != two[1], "another spec gives something else");
}

/// Each tool takes what the one before it gave, whole or bare.
#[test]
fn outputs_are_passed_on() {
    let site = Site::open(NO_LIMITS);
    for mut door in doors(&site).into_iter().skip(2) {
        let mut call = |tool: &str, input: Value| {
            let answer = door.call(tool, &input).unwrap();
            answer.worked().clone()
        };
        let strategy = call("aios_strategize", json!({ "spec": SPEC }));
        for given in [&strategy, &strategy["requirements"]] {
            let architecture = call(
                "aios_design_architecture",
                json!({ "spec": SPEC, "requirements": given, "stack_preference": "vite" }),
            );
            assert_eq!(architecture["coverage"]["derived_inputs"], json!([]));
        }
        // The output of the first tool is a spec as well.
        let architecture = call(
            "aios_design_architecture",
            json!({ "spec": strategy.to_string(), "stack_preference": "cobol" }),
        );
        let coverage = &architecture["coverage"];
        assert_eq!(coverage["untraced"], json!([]), "{coverage:#}");
        assert_eq!(
            coverage["preferences_not_honoured"],
            json!(["stack_preference: cobol"])
        );
        let ux = call(
            "aios_design_ux",
            json!({
                "spec": SPEC, "requirements": strategy, "architecture": architecture,
                "style_preference": "minimal", "colour": "unknown",
            }),
        );
        assert_eq!(ux["coverage"]["ignored_fields"], json!(["colour"]));
        let code = call(
            "aios_generate_code",
            json!({
                "spec": SPEC, "architecture": architecture["architecture"], "ux_spec": ux,
                "target_files": [],
            }),
        );
        assert!(code["files"].as_array().unwrap().len() > 20);
    }
}

#[test]
fn a_job_runs_and_its_artifacts_are_the_tools_outputs() {
    let site = Site::open(NO_LIMITS);
    let phases = ["strategy", "architecture", "ux", "code"];
    let mut all = Vec::new();
    for mut door in doors(&site) {
        let input = json!({
            "spec": SPEC, "phases": ["code", "ux", "strategy", "architecture", "code"],
            "stack_preference": "next.js", "style_preference": "bold",
        });
        let begun = door.call("aios_full_pipeline", &input).unwrap();
        let begun = begun.worked();
        assert_eq!(begun["status"], "running");
        assert_eq!(
            begun["phases_queued"],
            json!(phases),
            "in the order they run"
        );
        let job = &begun["job_id"];
        let status = loop {
            let status = door.call("aios_get_status", &json!({ "job_id": job }));
            let status = status.unwrap().worked().clone();
            if status["status"] != "running" {
                break status;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        assert_eq!(status["status"], "completed", "{status:#}");
        assert_eq!(status["progress_percent"], 100);
        assert_eq!(status["error"], Value::Null);
        let mut made = BTreeMap::new();
        for (phase, tool) in phases.into_iter().zip([
            "aios_strategize",
            "aios_design_architecture",
            "aios_design_ux",
            "aios_generate_code",
        ]) {
            assert_eq!(status["phases"][phase]["status"], "completed");
            assert!(status["phases"][phase]["duration_ms"].is_u64());
            let input = json!({ "job_id": job, "artifact_type": phase });
            let artifact = door.call("aios_get_artifact", &input).unwrap();
            shapes::check(tool, artifact.worked());
            made.insert(phase, artifact.body.clone());
        }
        let input = json!({ "job_id": job, "artifact_type": "all" });
        let whole = door.call("aios_get_artifact", &input).unwrap();
        assert_eq!(*whole.worked(), json!(made), "{}", door.name);
        all.push(whole.body.to_string());
    }
    all.dedup();
    assert_eq!(all.len(), 1, "the same spec gives the same bytes");
}

/// The same in homes that know nothing of each other, as bytes on the wire.
#[test]
fn two_servers_produce_the_same_bytes() {
    let artifacts = || {
        let site = Site::open(NO_LIMITS);
        let spec = fs_err::read_to_string(EXAMPLE).unwrap();
        let job = site.begin(&json!({ "spec": spec, "stack_preference": "vite-react" }));
        assert_eq!(site.ended(&job)["status"], "completed");
        ["strategy", "architecture", "ux", "code"].map(|phase| {
            let reply = site.ask(Ask::get(&format!("/artifacts/{job}/{phase}")));
            assert_eq!(reply.status, 200);
            let tag = reply.header("etag").unwrap().to_owned();
            (tag, reply.body)
        })
    };
    let (first, second) = (artifacts(), artifacts());
    assert!(first == second, "the artifacts differ");
}

/// A spec with something of everything.
pub(super) const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/pipeline/warehouse.md"
);
