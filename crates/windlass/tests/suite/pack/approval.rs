//! A deploy that policy asks about waits as a run, is approved from a second process, and applies
//! exactly the plan that was shown.

use super::place::PackPlace;

fn asking(place: &PackPlace, rule: &str) {
    let policy = format!("version = 1\napprovers = [\"local:*\"]\n[[rule]]\n{rule}\n");
    fs_err::write(place.windlass_home().join("policy.toml"), policy).unwrap();
}

#[test]
fn an_agents_deploy_waits_for_a_person_and_then_applies_the_plan() {
    let place = PackPlace::new();
    asking(
        &place,
        "operation = \"pack.deploy_apply\"\nprincipal = \"local:*/mcp\"\ndecision = \"ask\"",
    );
    let before = place.picture();
    let mut client = place.serve();
    let token = client.token(serde_json::json!({}));
    let waiting = client.apply(&token);
    let details = waiting.refused_for("E_CONFIRM_REQUIRED", "approval_pending");
    let run = details["run_id"].as_str().unwrap().to_owned();
    assert_eq!(place.picture(), before, "nothing is written before the yes");
    let shown = place.say(&["runs", "show", &run, "--json"]).worked();
    assert!(shown.stdout.contains("plan_lines"), "{}", shown.stdout);
    place.say(&["runs", "approve", &run]).worked();
    let started = std::time::Instant::now();
    while place.picture() == before {
        assert!(
            started.elapsed().as_secs() < 60,
            "approved, and not applied"
        );
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // The token is used up by the run that waited.
    client
        .apply(&token)
        .refused_for("E_CONFIRM_TOKEN_MISMATCH", "confirm_token_mismatch");
}

#[test]
fn a_rule_about_a_repository_holds_however_it_is_named() {
    let place = PackPlace::new();
    let link = place.root().join("elsewhere");
    std::os::unix::fs::symlink(place.repo(), &link).unwrap();
    let repo = fs_err::canonicalize(place.repo()).unwrap();
    asking(
        &place,
        &format!(
            "operation = \"pack.*\"\ntarget = \"{}\"\ndecision = \"deny\"",
            repo.display()
        ),
    );
    let before = place.picture();
    for repo in [place.repo(), link] {
        let repo = repo.display().to_string();
        let said = place.say(&["pack", "--repo", &repo, "deploy", "--apply", "--yes"]);
        assert_ne!(said.code, Some(0), "{repo}: {}", said.stdout);
        assert!(said.stderr.contains("policy forbids"), "{}", said.stderr);
    }
    assert_eq!(place.picture(), before);
}
