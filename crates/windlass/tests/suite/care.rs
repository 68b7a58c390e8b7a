//! Care of a home: pruned while it is used, and told what is wrong with its runs and keys.

use std::{path::Path, time::Instant};

use serde_json::{Value, json};

use super::support::{
    binary::{Daemon, READY, Said, say},
    home::{ALLOW_ALL, Place},
    http::Ask,
};

fn call(home: &Path, operation: &str, input: &Value) -> Said {
    let input = input.to_string();
    say(
        home,
        &["ops", "call", operation, "--input", &input, "--json"],
    )
}

fn apply(place: &Place, name: &str) -> Said {
    let directory = place.scratch();
    let file = format!("{name}=1");
    let directory = directory.to_str().unwrap();
    let arguments = [
        "demo", "apply", "--yes", "--dir", directory, "--file", &file,
    ];
    say(&place.home(), &arguments)
}

fn runs(home: &Path) -> usize {
    let listed = say(home, &["runs", "list", "--json"]).worked().json();
    let runs = listed["runs"].as_array().unwrap();
    runs.iter().filter(|run| run["kind"] == "demo").count()
}

/// The plan is a moment: runs that end before it is applied neither refuse it nor go with it.
#[test]
fn a_prune_is_applied_to_a_busy_store() {
    let place = Place::with_policy(ALLOW_ALL);
    let home = place.home();
    for name in ["a", "b"] {
        apply(&place, name).worked();
    }
    let input = json!({ "keep_days": 0 });
    let planned = call(&home, "admin.prune_plan", &input).worked().json();
    let change = &planned["plan"]["changes"][0];
    assert!(
        change["summary"]
            .as_str()
            .unwrap()
            .starts_with("all from before "),
        "{planned}"
    );
    apply(&place, "c").worked();
    let token = planned["confirm_token"].as_str().unwrap();
    let prune = [
        "store",
        "prune",
        "--keep-days",
        "0",
        "--yes",
        "--token",
        token,
        "--json",
    ];
    let applied = say(&home, &prune).worked().json();
    assert_eq!(applied["run"]["output"]["removed"]["runs"], 2, "{applied}");
    assert_eq!(runs(&home), 1);
    // Another rule is another plan.
    let mut input = json!({ "keep_days": 0 });
    let planned = call(&home, "admin.prune_plan", &input).worked().json();
    input["keep_days"] = 1.into();
    input["confirm_token"] = planned["confirm_token"].clone();
    let refused = call(&home, "admin.prune", &input).json();
    assert_eq!(refused["error"]["code"], "CONFIRM_TOKEN_MISMATCH");
}

/// The same key and the same input are the same run, also once it has ended and nothing is left to do.
#[test]
fn a_repeated_command_finds_its_run() {
    let place = Place::with_policy(ALLOW_ALL);
    let directory = place.scratch();
    let directory = directory.to_str().unwrap();
    let apply = |file: &str| {
        let arguments = [
            "demo",
            "apply",
            "--yes",
            "--dir",
            directory,
            "--file",
            file,
            "--idempotency-key",
            "k",
            "--json",
        ];
        say(&place.home(), &arguments)
    };
    let first = apply("a=1").worked().json();
    let second = apply("a=1").worked().json();
    assert_eq!(first["run"]["run_id"], second["run"]["run_id"], "{second}");
    assert_eq!(runs(&place.home()), 1);
    assert_eq!(apply("a=2").json()["error"]["code"], "IDEMPOTENCY_CONFLICT");
}

/// A waiting run with a damaged journal, and a key file that others may read.
#[test]
fn damage_is_told_by_the_doctor_and_by_the_server() {
    let place = Place::with_policy(ALLOW_ALL);
    let home = place.home();
    let directory = place.scratch();
    let directory = directory.to_str().unwrap();
    let arguments = [
        "demo",
        "apply",
        "--yes",
        "--dir",
        directory,
        "--file",
        "a=1",
        "--file",
        "b=1",
        "--approval",
        "--detach",
    ];
    say(&home, &arguments).worked();
    let daemon = Daemon::open(&home);
    let started = Instant::now();
    let run_id = loop {
        let (_, listed) = daemon.call("runs.list", &json!({ "states": ["waiting"] }));
        if let Some(run_id) = listed["runs"][0]["run_id"].as_str() {
            break run_id.to_owned();
        }
        assert!(started.elapsed() < READY, "{listed}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    drop(daemon);
    let connection = rusqlite::Connection::open(home.join("windlass.db")).unwrap();
    let changed = connection
        .execute(
            "UPDATE events SET payload = replace(payload, 'a', 'b') WHERE seq = 2 AND journal = \
             (SELECT id FROM journals WHERE run_id = ?1)",
            [&run_id],
        )
        .unwrap();
    assert_eq!(changed, 1);
    drop(connection);
    let doctor = say(&home, &["doctor", "--json"]);
    assert_ne!(doctor.code, Some(0));
    assert!(doctor.stdout.contains(&run_id), "{}", doctor.stdout);

    // It is taken over, found damaged, and fails.
    let daemon = Daemon::open(&home);
    let started = Instant::now();
    loop {
        let (_, shown) = daemon.call("runs.show", &json!({ "run_id": run_id }));
        if shown["run"]["state"] == "failed" {
            assert_eq!(shown["run"]["problem"]["code"], "STORE_DAMAGED", "{shown}");
            break;
        }
        assert!(started.elapsed() < READY, "{shown}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let ready = Ask::get("/v1/ready").send(daemon.address).unwrap();
    assert_eq!(ready.status, 200, "others go on");
    assert_eq!(ready.json()["checks"]["runs"], "damaged");
    assert!(
        !ready.json().to_string().contains(&run_id),
        "anybody may ask"
    );
    apply(&place, "c").worked();

    let key = home.join("keys/export.key");
    let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs_err::set_permissions(&key, mode(0o644)).unwrap();
    let started = Instant::now();
    loop {
        let ready = Ask::get("/v1/ready").send(daemon.address).unwrap().json();
        if ready["checks"]["keys"] == "unusable" {
            break;
        }
        assert!(started.elapsed() < READY, "{ready}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}
