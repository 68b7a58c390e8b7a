//! No room in the middle of an apply: nothing of it stays, the cause is named, and it is over
//! once there is room.

use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::json;

use super::place::{Client, PackPlace, difference};

/// What one file may hold: more than the store's log needs for this, less than the large file.
const LIMIT: u64 = 1_500_000;

/// A server whose writes beyond the limit fail instead of ending it.
fn serve(place: &PackPlace) -> Client {
    let mut command = Command::new("sh");
    let line = r#"trap "" XFSZ; exec "$0" "$@""#;
    command
        .args(["-c", line, env!("CARGO_BIN_EXE_windlass")])
        .args(["mcp", "serve", "--toolset", "pack"])
        .env_clear()
        .env("WINDLASS_HOME", place.windlass_home());
    place.dress(&mut command, &place.project());
    Client::of(command)
}

fn limit(client: &Client, current: Option<u64>) {
    let pid = Pid::from_child(&client.server.process.0);
    let maximum = getrlimit(Resource::Fsize).maximum;
    prlimit(Some(pid), Resource::Fsize, Rlimit { current, maximum }).unwrap();
}

#[test]
fn must_7_a_full_disk_in_mid_apply_leaves_nothing_behind() {
    let place = PackPlace::new();
    let mut client = serve(&place);
    client.deploy();
    place.repo_file("modules/base/AGENTS.md", "# Second\n");
    place.repo_file("modules/demo/new.md", "new\n");
    place.repo_file("modules/demo/z/large.bin", &"0123456789".repeat(400_000));
    let token = client.token(json!({}));
    let targets = |place: &PackPlace| {
        let mut picture = place.picture();
        picture.retain(|path, _| !path.starts_with(place.pack_home()));
        picture
    };
    let before = targets(&place);
    limit(&client, Some(LIMIT));
    let tool_reply = client.apply(&token);
    let details = tool_reply.refused_for("E_UNEXPECTED", "disk_full");
    assert!(details["next_actions"].is_array(), "{details}");
    assert!(details["path"].is_string(), "names the file: {details}");
    let changed = difference(&before, &targets(&place));
    // Directories made for the new files are gone again, which their parents' times show.
    let changed: Vec<&String> = changed
        .iter()
        .filter(|line| !line.contains(" directory "))
        .collect();
    assert!(changed.is_empty(), "{changed:?}");
    assert!(!place.project().join(".codex/skills/demo/z").exists());
    assert_eq!(place.snapshots().len(), 1);
    let journal = place.pack_home().join("state/journal");
    assert_eq!(std::fs::read_dir(journal).unwrap().count(), 0);

    limit(&client, getrlimit(Resource::Fsize).current);
    // An apply that failed does not give its token back.
    client.apply(&token).refusal("E_CONFIRM_TOKEN_MISMATCH");
    client.deploy();
    let tool_reply = client.call("status", json!({}));
    let clean = json!({ "modified": 0, "missing": 0, "extra": 0 });
    assert_eq!(tool_reply.data()["summary"], clean, "{:#}", tool_reply.0);
}
