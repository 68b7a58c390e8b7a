//! A launch after a launch: nothing to change is a success, and a site that moved is noticed.

use serde_json::json;

use super::place::LaunchPlace;

/// Commits a file to the site's main branch.
fn commit(place: &LaunchPlace, path: &str, text: &str) -> String {
    let site = place.config()["site_repo_url"].as_str().unwrap().to_owned();
    let file = std::path::Path::new(&site).join(path);
    fs_err::create_dir_all(file.parent().unwrap()).unwrap();
    fs_err::write(file, text).unwrap();
    place.site_git(&["add", "--all"]);
    place.site_git(&["commit", "--quiet", "--message", "more"]);
    place.site_git(&["rev-parse", "HEAD"])
}

#[test]
fn an_unchanged_product_is_up_to_date() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    let opened = client.about("launch_open_pr", &run_id).worked().clone();
    place.site_git(&["merge", "--quiet", opened["branch"].as_str().unwrap()]);
    let now = place.site_git(&["rev-parse", "HEAD"]);

    let again = place.config_with(json!({ "site_ref": now.trim() }));
    let run_id = client.started(&again, "CANCELLED");
    let status = client.status(&run_id);
    assert_eq!(status["failure"]["code"], "NOTHING_TO_COMMIT", "{status:#}");
    assert_eq!(status["open_issues"], json!([]));
    drop(client);

    let config = place.root().join("again.json");
    fs_err::write(&config, again.to_string()).unwrap();
    let said = place.say(&["launch", "start", "--config", config.to_str().unwrap()]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(
        said.stdout.contains("The site is up to date"),
        "{}",
        said.stdout
    );
}

#[test]
fn a_site_that_moved_is_said_or_refused() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    let moved = commit(
        &place,
        "content/docs/other.md",
        "---\ntitle: Other\n---\n\nOther.\n",
    );
    client.about("launch_open_pr", &run_id).worked();
    let body = client.artifact_json(&run_id, "pr.json")["pr_body"].clone();
    let body = body.as_str().unwrap();
    assert!(body.contains(moved.trim()), "{body}");

    let behind = place.config();
    let run_id = client.started(&behind, "READY_FOR_PR");
    let plan = client.artifact_json(&run_id, "page_plan.json");
    let page = plan["pages"][0]["output_path"].as_str().unwrap().to_owned();
    commit(&place, &page, "---\ntitle: Theirs\n---\n\nTheirs.\n");
    let reply = client.about("launch_open_pr", &run_id);
    let details = reply.refused_for("ILLEGAL_STATE", "site_moved");
    assert_eq!(details["both_changed"], json!([page]));
    assert_eq!(client.status(&run_id)["state"], "READY_FOR_PR");
}
