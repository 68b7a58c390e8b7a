//! INTERNAL: a store that lost or changed what it holds, and that it is noticed.

use serde_json::json;

use super::{
    client::digests,
    place::{LaunchPlace, git},
};
use crate::suite::support::directory::fill;

/// Every file below a folder whose name has the digest in it.
fn blobs(folder: &std::path::Path, digest: &str, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            blobs(&path, digest, found);
        } else if path.to_string_lossy().replace('/', "").contains(digest) {
            found.push(path);
        }
    }
}

/// Artifacts of some size are files; a product with many files has a long inventory.
#[test]
fn an_artifact_that_was_damaged_is_never_handed_out() {
    let place = LaunchPlace::clean();
    let product = place.root().join("product");
    let names: Vec<String> = (0..900)
        .map(|number| format!("data/{}/{number}.txt", "long-".repeat(16)))
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    fill(&product, &files);
    git(&product, &["add", "--all"]);
    git(&product, &["commit", "--quiet", "--message", "more"]);
    let head = git(&product, &["rev-parse", "HEAD"]);
    let mut client = place.serve();
    let config = place.config_with(json!({ "github_ref": head.trim() }));
    let run_id = client.started(&config, "READY_FOR_PR");
    let name = "repo_inventory.json";
    let digest = digests(&client.status(&run_id))[name].clone();
    assert!(client.artifact(&run_id, name).len() > 64 * 1024);
    let mut found = Vec::new();
    blobs(&place.home().join("blobs"), &digest, &mut found);
    let [blob] = found.as_slice() else {
        panic!("{found:?}")
    };
    let whole = fs_err::read(blob).unwrap();
    let mut flipped = whole.clone();
    flipped[1000] ^= 1;
    let damages: [Option<&[u8]>; 4] = [Some(&flipped), Some(&whole[..5000]), Some(b"CANARY"), None];
    for damage in damages {
        fs_err::remove_file(blob).unwrap();
        if let Some(bytes) = damage {
            fs_err::write(blob, bytes).unwrap();
        }
        let tool_reply = client.call(
            "launch_get_artifact",
            json!({ "run_id": run_id, "artifact_name": name }),
        );
        tool_reply.refused("INTERNAL");
        assert_eq!(tool_reply.0["run_id"], run_id);
        let said = tool_reply.0.to_string();
        assert!(
            !said.contains("CANARY") && !said.contains("long-"),
            "{said}"
        );
        fs_err::write(blob, &whole).unwrap();
    }
    // Put back, it is what it was; the run was never troubled.
    client.artifact_json(&run_id, name);
    assert_eq!(client.status(&run_id)["state"], "READY_FOR_PR");
}
