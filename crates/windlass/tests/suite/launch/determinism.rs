//! The same inputs give the same bytes, in another home, by another process.

use std::collections::BTreeMap;

use super::{
    client::{Client, digests},
    place::LaunchPlace,
};

/// A whole launch; the digests of everything it made but the record of its pull request.
pub(super) fn launch(client: &mut Client, place: &LaunchPlace) -> BTreeMap<String, String> {
    let run_id = client.started(&place.config(), "VALIDATING");
    while client.status(&run_id)["state"] == "VALIDATING" {
        client.about("launch_fix_next", &run_id).worked();
    }
    client.about("launch_open_pr", &run_id).worked();
    let status = client.status(&run_id);
    assert_eq!(status["state"], "DONE", "{status:#}");
    comparable(&status)
}

/// The digests of a status without what differs between runs.
pub(super) fn comparable(status: &serde_json::Value) -> BTreeMap<String, String> {
    let mut digests = digests(status);
    assert!(digests.remove("pr.json").is_some(), "{digests:#?}");
    digests
}

#[test]
fn two_homes_produce_the_same_artifacts() {
    let place = LaunchPlace::example();
    let first = launch(&mut place.serve(), &place);
    assert!(first.len() > 25, "{first:#?}");
    let other = place.root().join("elsewhere/deep/home");
    std::fs::create_dir_all(&other).unwrap();
    let mut client = Client::of(place.command_on(&other), &other);
    let second = launch(&mut client, &place);
    assert_eq!(first, second);
}
