//! Kill −9 of the real server while it applies 300 files, at random moments: the next command
//! finds the state before or after, manifest and snapshot to match, and the run continues to its
//! end when its home is opened again.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::json;

use super::place::{Client, PackPlace, json_file, sha};
use crate::suite::support::{directory::read_tree, random::Random};

const KILLS: u64 = 40;
const FILES: usize = 300;

const MANIFEST: &str = "\
version: 1
profiles:
  default:
    include_modules: ['skill:bulk', 'instructions:base']
targets:
  codex:
    mode: files
    scope: user
modules:
  - id: instructions:base
    type: instructions
    source:
      local_path:
        path: modules/base
  - id: skill:bulk
    type: skill
    source:
      local_path:
        path: modules/bulk
";

/// Writes the repository of a round: a third of the files new, a third changed, a third gone.
fn write_repository(place: &PackPlace, round: usize) {
    let module = place.repo().join("modules/bulk");
    if module.exists() {
        std::fs::remove_dir_all(&module).unwrap();
    }
    place.repo_file("agentpack.yaml", MANIFEST);
    place.repo_file("modules/base/AGENTS.md", &format!("# Round {round}\n"));
    let skill = "---\nname: bulk\ndescription: many files\n---\n";
    place.repo_file("modules/bulk/SKILL.md", skill);
    for number in 0..FILES {
        let number = number + round * FILES / 3;
        let text = format!("round {round}, file {number}\n").repeat(50);
        place.repo_file(
            &format!("modules/bulk/part-{}/{number}.md", number % 7),
            &text,
        );
    }
}

type Files = BTreeMap<String, String>;

fn deployed(place: &PackPlace) -> Files {
    let directory = place.user().join(".codex");
    if !directory.exists() {
        return Files::new();
    }
    let mut files = read_tree(&directory);
    files.retain(|name, _| !name.ends_with('/') && !name.contains(".agentpack.manifest."));
    files
}

fn wanted(place: &PackPlace) -> Files {
    let mut files = Files::new();
    for (name, text) in read_tree(&place.repo().join("modules/bulk")) {
        if !name.ends_with('/') {
            files.insert(format!("skills/bulk/{name}"), text);
        }
    }
    let agents = fs_err::read_to_string(place.repo().join("modules/base/AGENTS.md")).unwrap();
    files.insert("AGENTS.md".to_owned(), agents);
    files
}

/// Manifests and the newest snapshot say what is there; nothing half done is left.
fn assert_recorded(place: &PackPlace, files: &Files, when: &str) {
    assert_eq!(journals(place), Vec::<PathBuf>::new(), "{when}");
    let codex = place.user().join(".codex");
    let mut listed = BTreeMap::new();
    let mut events = Vec::new();
    for root in [codex.clone(), codex.join("skills")] {
        let manifest = json_file(&root.join(".agentpack.manifest.codex.json"));
        events.push(manifest["snapshot_id"].as_str().unwrap().to_owned());
        for file in manifest["managed_files"].as_array().unwrap() {
            let path = root.join(file["path"].as_str().unwrap());
            listed.insert(path, file["sha256"].as_str().unwrap().to_owned());
        }
    }
    let found: BTreeMap<PathBuf, String> = files
        .iter()
        .map(|(name, text)| (codex.join(name), sha(text)))
        .collect();
    assert_eq!(listed, found, "{when}: the manifests");
    let snapshots = place.snapshots();
    let newest = snapshots.last().unwrap();
    let managed: BTreeMap<PathBuf, String> = newest["managed_files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| {
            let path = Path::new(file["path"].as_str().unwrap()).to_owned();
            (path, file["sha256"].as_str().unwrap().to_owned())
        })
        .collect();
    assert_eq!(managed, found, "{when}: the snapshot");
    for event in events {
        assert!(
            snapshots.iter().any(|snapshot| snapshot["id"] == event),
            "{when}: {event}"
        );
    }
}

/// A server of the same user with a Windlass home that knows nothing of the runs.
fn stranger(place: &PackPlace) -> Client {
    let home = place.root().join("stranger");
    std::fs::create_dir_all(&home).unwrap();
    let mut command = place.command(&place.project());
    command
        .env("WINDLASS_HOME", home)
        .args(["mcp", "serve", "--toolset", "pack"]);
    Client::of(command)
}

/// The journals that count: one that was not yet whole when its process died has changed nothing.
fn journals(place: &PackPlace) -> Vec<PathBuf> {
    let directory = place.pack_home().join("state/journal");
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect()
}

/// Until an apply has announced what it writes; it may also be over before this is seen.
fn wait_for_journal(place: &PackPlace, at_most: Duration) {
    let started = Instant::now();
    while journals(place).is_empty() && started.elapsed() < at_most {
        std::thread::yield_now();
    }
}

#[test]
fn must_7_kill_9_leaves_before_or_after() {
    let (mut random, seed) = Random::seeded();
    println!("WINDLASS_TEST_SEED={seed}");
    let place = PackPlace::bare();
    write_repository(&place, 0);
    place.serve().deploy();
    write_repository(&place, 1);
    let mut client = place.serve();
    let token = client.token(json!({}));
    let started = Instant::now();
    client.apply(&token).data();
    let usual = started.elapsed();
    drop(client);

    let (mut interrupted, mut before_count, mut after_count) = (0, 0, 0);
    for round in 0..KILLS {
        let when = format!("round {round}");
        let before = deployed(&place);
        write_repository(&place, 2 + usize::try_from(round).unwrap());
        let after = wanted(&place);
        let runs = place.runs().len();
        let mut client = place.serve();
        let token = client.token(json!({}));
        let apply = json!({ "yes": true, "confirm_token": token });
        client.ask_tool("deploy_apply", &apply);
        let mut longest = u64::try_from(usual.as_micros()).unwrap();
        if round % 2 == 0 {
            // Every second one while files are being written, whenever in that time.
            wait_for_journal(&place, usual * 20);
            longest /= 8;
        }
        std::thread::sleep(Duration::from_micros(random.between(0, longest)));
        client.server.process.kill();
        interrupted += u32::from(!journals(&place).is_empty());

        // The next command, from any caller.
        stranger(&place).call("status", json!({})).data();
        let found = deployed(&place);
        assert!(
            found == before || found == after,
            "{when}: between the states"
        );
        assert_recorded(&place, &found, &when);

        // The home of the run: what was started is brought to its end.
        let mut client = place.serve();
        let started: Vec<String> = place
            .runs()
            .iter()
            .take(place.runs().len() - runs)
            .map(|run| run["run_id"].as_str().unwrap().to_owned())
            .collect();
        assert!(started.len() <= 1, "{when}: {started:?}");
        for run in &started {
            place.say(&["runs", "watch", run]).worked();
        }
        client.call("plan", json!({})).data();
        let found = deployed(&place);
        let ended = if started.is_empty() { &before } else { &after };
        assert!(found == *ended, "{when}: {} runs", started.len());
        assert_recorded(&place, &found, &when);
        before_count += u32::from(started.is_empty());
        after_count += u32::from(!started.is_empty());
        // The token was redeemed with the run, or not at all.
        let tool_reply = client.apply(&token);
        assert_eq!(
            tool_reply.is_ok(),
            started.is_empty(),
            "{when}: {:#}",
            tool_reply.0
        );
    }
    println!(
        "{KILLS} kills, an apply takes {usual:?}: {interrupted} found a journal, {before_count} \
         had not begun, {after_count} came to their end"
    );
    assert!(interrupted > 0, "no kill has hit an apply");
}
