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

/// As a home is that Windlass makes itself: the doctor finds fault with one that others can open.
fn private(home: &Path) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs_err::set_permissions(home, mode).unwrap();
}

/// A look at a home changes nothing in it, and tells which keys are gone.
#[test]
fn the_doctor_makes_nothing() {
    let place = Place::new();
    let home = place.home();
    private(&home);
    let files = || -> Vec<String> {
        let mut names: Vec<String> = [home.clone(), home.join("keys")]
            .iter()
            .filter_map(|directory| fs_err::read_dir(directory).ok())
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            // SQLite's index of the log is shared by readers.
            .filter(|name| !name.ends_with("-shm"))
            .collect();
        names.sort();
        names
    };
    let before = files();
    let doctor = say(&home, &["doctor"]);
    assert_eq!(files(), before, "{}", doctor.stdout);
    say(&home, &["runs", "list"]).worked();
    say(&home, &["doctor"]).worked();
    fs_err::remove_file(home.join("keys/confirm.key")).unwrap();
    fs_err::write(home.join("keys/export.key"), "").unwrap();
    let before = files();
    for (name, hint) in [
        ("export.key", "it is empty"),
        ("confirm.key", "confirm.key is missing"),
    ] {
        let doctor = say(&home, &["doctor"]);
        assert_ne!(doctor.code, Some(0), "{name}");
        assert!(doctor.stdout.contains(hint), "{name}: {}", doctor.stdout);
        assert_eq!(files(), before, "{name}");
        fs_err::write(home.join("keys/export.key"), [7; 32]).unwrap();
    }
    fs_err::remove_file(home.join("keys/store.key")).unwrap();
    let doctor = say(&home, &["doctor"]);
    assert!(doctor.stdout.contains("store.key"), "{}", doctor.stdout);
    assert!(!home.join("keys/store.key").exists());
}

/// A process that is stopped inside a commit is named at once.
#[test]
fn the_doctor_does_not_wait_for_a_stopped_writer() {
    let place = Place::new();
    let home = place.home();
    private(&home);
    say(&home, &["runs", "list"]).worked();
    let database = home.join("windlass.db");
    // Another program, stopped while it holds the store.
    let script = format!(
        "import sqlite3, os, signal\nc = sqlite3.connect({database:?}, isolation_level=None)\n\
         c.execute('BEGIN IMMEDIATE')\nprint('held', flush=True)\nos.kill(os.getpid(), signal.SIGSTOP)\n"
    );
    let spawned = std::process::Command::new("python3")
        .args(["-c", &script])
        .stdout(std::process::Stdio::piped())
        .spawn();
    let Ok(mut holder) = spawned else {
        return;
    };
    let status = format!("/proc/{}/stat", holder.id());
    let started = Instant::now();
    while !fs_err::read_to_string(&status).is_ok_and(|text| text.contains(") T ")) {
        assert!(started.elapsed() < READY, "python3 did not stop");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let doctor = say(&home, &["doctor"]);
    let process = holder.id().to_string();
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_ne!(doctor.code, Some(0));
    assert!(
        doctor.stdout.contains(&format!("process {process}"))
            && doctor.stdout.contains("kill -CONT"),
        "{}",
        doctor.stdout
    );
    say(&home, &["doctor"]).worked();
}
