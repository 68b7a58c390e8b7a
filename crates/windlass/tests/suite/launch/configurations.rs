//! SCHEMA_VALIDATION_FAILED: configurations that do not fit, each with the place that does not.

use serde_json::{Value, json};

use super::place::LaunchPlace;

/// Where a configuration is wrong once a member is set to something.
fn table() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("product_name", json!(""), "/product_name"),
        ("product_name", json!(7), "/product_name"),
        ("product_name", json!("two\nlines"), "/product_name"),
        ("github_ref", json!("main"), "/github_ref"),
        (
            "github_ref",
            json!("ABCDEF0123456789abcdef0123456789abcdef01"),
            "/github_ref",
        ),
        ("github_ref", json!("0123456789abcdef"), "/github_ref"),
        (
            "github_repo_url",
            json!("-oProxyCommand=id"),
            "/github_repo_url",
        ),
        (
            "github_repo_url",
            json!("ext::sh -c id"),
            "/github_repo_url",
        ),
        (
            "github_repo_url",
            json!("https://user:word@git.example/a"),
            "/github_repo_url",
        ),
        (
            "github_repo_url",
            json!("http://git.example/a"),
            "/github_repo_url",
        ),
        ("site_repo_url", json!(""), "/site_repo_url"),
        ("site_ref", json!("HEAD"), "/site_ref"),
        ("allowed_paths", json!([]), "/allowed_paths"),
        ("allowed_paths", json!("content"), "/allowed_paths"),
        ("allowed_paths", json!(["ok", "/etc"]), "/allowed_paths/1"),
        ("allowed_paths", json!(["../other"]), "/allowed_paths/0"),
        ("allowed_paths", json!(["a\\b"]), "/allowed_paths/0"),
        ("allowed_paths", json!(["a//b"]), "/allowed_paths/0"),
        ("allowed_paths", json!(["a\u{0}b"]), "/allowed_paths/0"),
        ("product_slug", json!("Has Space"), "/product_slug"),
        ("product_slug", json!("-x"), "/product_slug"),
        ("family", json!("../up"), "/family"),
        (
            "validation_profile",
            json!("staging"),
            "/validation_profile",
        ),
        ("max_fix_attempts", json!(-1), "/max_fix_attempts"),
        ("max_fix_attempts", json!(1.5), "/max_fix_attempts"),
        ("max_fix_attempts", json!("3"), "/max_fix_attempts"),
        ("required_sections", json!([]), "/required_sections"),
        (
            "required_sections",
            json!(["docs", "shop"]),
            "/required_sections/1",
        ),
        ("launch_tier", json!("huge"), "/launch_tier"),
        ("templates_version", json!("99"), "/templates_version"),
        ("ruleset_version", json!("99"), "/ruleset_version"),
        ("taskcard_id", json!("TC-1"), "/taskcard_id"),
        (
            "extra_evidence_urls",
            json!(["https://a.example/"]),
            "/extra_evidence_urls",
        ),
        (
            "budgets",
            json!({ "max_runtime_s": 0 }),
            "/budgets/max_runtime_s",
        ),
        ("budgets", json!({ "max_speed": 1 }), "/budgets/max_speed"),
        (
            "site_layout",
            json!({ "content_root": "/srv" }),
            "/site_layout/content_root",
        ),
        (
            "commit_service",
            json!({ "adapter": "svn" }),
            "/commit_service/adapter",
        ),
        (
            "commit_service",
            json!({ "adapter": "http" }),
            "/commit_service/endpoint_url",
        ),
        ("llm", json!({ "model": "m" }), "/llm/api_base_url"),
        (
            "llm",
            json!({ "api_base_url": "https://m.example", "model": "m", "key": "s" }),
            "/llm/key",
        ),
        (
            "workflows_ref",
            json!("0123456789abcdef0123456789abcdef01234567"),
            "/workflows_repo_url",
        ),
        (
            "network",
            json!({ "allowed_hosts": ["https://a.example"] }),
            "/network/allowed_hosts/0",
        ),
        ("github_token", json!("secret"), "/github_token"),
        ("a/b~c", json!(1), "/a~1b~0c"),
    ]
}

#[test]
fn each_fault_is_pointed_at() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    for (member, wrong, pointer) in table() {
        let mut config = place.config();
        config[member] = wrong.clone();
        let tool_reply = client.call("launch_start_run", json!({ "run_config": config }));
        assert!(!tool_reply.is_ok(), "{member} {wrong} was taken");
        let errors = tool_reply.refused("SCHEMA_VALIDATION_FAILED")["errors"].clone();
        let pointers: Vec<&str> = errors
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["pointer"].as_str().unwrap())
            .collect();
        assert!(pointers.contains(&pointer), "{member} {wrong}: {errors:#}");
        assert!(tool_reply.0.get("run_id").is_none(), "{:#}", tool_reply.0);
    }
    assert_nothing_started(&mut client);
}

#[test]
fn every_required_member_is_missed() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let required = [
        "allowed_paths",
        "github_ref",
        "github_repo_url",
        "product_name",
        "site_repo_url",
    ];
    for member in required {
        for absent in [true, false] {
            let mut config = place.config();
            if absent {
                config.as_object_mut().unwrap().remove(member);
            } else {
                config[member] = Value::Null;
            }
            let tool_reply = client.call("launch_start_run", json!({ "run_config": config }));
            let errors = tool_reply.refused("SCHEMA_VALIDATION_FAILED")["errors"].to_string();
            assert!(errors.contains(member), "{errors}");
        }
    }
    // All of them at once.
    let tool_reply = client.call("launch_start_run", json!({ "run_config": {} }));
    let errors = tool_reply.refused("SCHEMA_VALIDATION_FAILED")["errors"].to_string();
    for member in required {
        assert!(errors.contains(member), "{errors}");
    }
    assert_nothing_started(&mut client);
}

/// A path of this machine is for profile local alone.
#[test]
fn a_path_is_for_profile_local_alone() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    for profile in ["ci", "prod"] {
        let config = place.config_with(json!({ "validation_profile": profile }));
        let tool_reply = client.call("launch_start_run", json!({ "run_config": config }));
        let errors = &tool_reply.refused("SCHEMA_VALIDATION_FAILED")["errors"];
        let pointers: Vec<&Value> = errors
            .as_array()
            .unwrap()
            .iter()
            .map(|error| &error["pointer"])
            .collect();
        assert_eq!(
            pointers,
            ["/github_repo_url", "/site_repo_url"],
            "{errors:#}"
        );
    }
    assert_nothing_started(&mut client);
}

/// What cannot be known before the repositories are read ends the run, with the run's own code.
#[test]
fn repositories_that_are_not_there_fail_the_run() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let nowhere = place.root().join("nowhere");
    let absent = "0123456789abcdef0123456789abcdef01234567";
    for (members, code) in [
        (json!({ "github_repo_url": nowhere }), "REPO_UNREACHABLE"),
        (json!({ "site_repo_url": nowhere }), "REPO_UNREACHABLE"),
        (json!({ "github_ref": absent }), "REF_NOT_FOUND"),
        (json!({ "site_ref": absent }), "REF_NOT_FOUND"),
    ] {
        let config = place.config_with(members.clone());
        let run_id = client.start(&config);
        let status = client.settled(&run_id);
        assert_eq!(status["state"], "FAILED", "{members}: {status:#}");
        assert_eq!(status["failure"]["code"], code, "{members}: {status:#}");
        let summary = client.artifact(&run_id, "failure_summary.md");
        assert!(summary.starts_with("# The launch failed"), "{summary}");
    }
}

fn assert_nothing_started(client: &mut super::client::Client) {
    let listed = client.call("launch_list_runs", json!({}));
    assert_eq!(listed.0, json!({ "ok": true, "runs": [] }));
}
