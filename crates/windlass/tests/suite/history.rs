//! History that was lost, forged or brought from elsewhere, as commands tell it.

use std::{path::Path, time::Instant};

use serde_json::{Value, json};

use super::support::{
    binary::{Daemon, READY, Said, say},
    home::{ALLOW_ALL, Place},
    http::Ask,
};

const FILES: [&str; 2] = ["windlass.db", "windlass.db-wal"];

fn call(place: &Place, operation: &str, input: &Value) -> Said {
    let input = input.to_string();
    let arguments = ["ops", "call", operation, "--input", &input, "--json"];
    say(&place.home(), &arguments)
}

fn saved(home: &Path, names: &[&'static str]) -> Vec<(&'static str, Vec<u8>)> {
    let read = |name: &&'static str| (*name, fs_err::read(home.join(name)).unwrap());
    names.iter().map(read).collect()
}

fn put_back(home: &Path, files: &[(&'static str, Vec<u8>)]) {
    let _ = fs_err::remove_file(home.join("windlass.db-shm"));
    for (name, bytes) in files {
        fs_err::write(home.join(name), bytes).unwrap();
    }
}

fn code_of(said: &Said) -> Value {
    said.json()["error"]["code"].clone()
}

/// The end of the log is lost, and with it the run that used a token.
#[test]
fn a_used_token_does_not_come_back_with_a_damaged_log() {
    let place = Place::with_policy(ALLOW_ALL);
    let mut input = json!({ "dir": place.scratch(), "files": { "a.txt": "a" } });
    let planned = call(&place, "demo.plan", &input).worked().json();
    let before = saved(&place.home(), &FILES);
    input["confirm_token"] = planned["confirm_token"].clone();
    call(&place, "demo.apply", &input).worked();
    put_back(&place.home(), &before);

    let home = place.home();
    assert_eq!(
        code_of(&call(&place, "demo.apply", &input)),
        "STORE_DAMAGED"
    );
    let check = say(&home, &["store", "check", "--json"]);
    assert_eq!(
        (check.code, code_of(&check)),
        (Some(7), json!("STORE_DAMAGED"))
    );
    assert!(
        check.stdout.contains("were acknowledged and are gone"),
        "{}",
        check.stdout
    );
    let doctor = say(&home, &["doctor", "--json"]);
    assert!(
        doctor.stdout.contains("windlass store accept-loss"),
        "{}",
        doctor.stdout
    );
    let unasked = say(&home, &["store", "accept-loss", "--json"]);
    assert_eq!(code_of(&unasked), "APPROVAL_REQUIRED", "{}", unasked.stdout);

    say(&home, &["store", "accept-loss", "--yes"]).worked();
    let check = say(&home, &["store", "check", "--json"]).worked().json();
    let note = check["notes"][0].as_str().unwrap();
    assert!(note.contains("were acknowledged and are gone"), "{note}");
    assert_eq!(
        code_of(&call(&place, "demo.apply", &input)),
        "CONFIRM_TOKEN_EXPIRED"
    );
    let directory = place.scratch();
    let again = [
        "demo",
        "apply",
        "--yes",
        "--dir",
        directory.to_str().unwrap(),
        "--file",
        "b.txt=b",
    ];
    say(&home, &again).worked();
    let nothing = say(&home, &["store", "accept-loss"]).worked();
    assert!(
        nothing.stderr.contains("nothing is lost"),
        "{}",
        nothing.stderr
    );
}

#[test]
fn an_imported_run_is_not_rolled_back_and_names_its_signer() {
    let (here, there) = (Place::with_policy(ALLOW_ALL), Place::with_policy(ALLOW_ALL));
    let directory = here.scratch();
    let directory = directory.to_str().unwrap();
    let apply = [
        "demo", "apply", "--yes", "--dir", directory, "--file", "a.txt=a",
    ];
    say(&here.home(), &apply).worked();
    let file = here.root().join("run.json");
    let file = file.to_str().unwrap();
    say(&here.home(), &["runs", "export", "latest", "-o", file]).worked();
    let exported: Value = serde_json::from_slice(&fs_err::read(file).unwrap()).unwrap();
    let run = json!({ "run_id": exported["events"][0]["run_id"] });
    let plan = call(&here, "runs.rollback_plan", &run).worked();
    let origin = format!("of demo.apply on {directory}, asked for by local:");
    assert!(plan.stdout.contains(&origin), "{}", plan.stdout);

    let home = there.home();
    say(&home, &["runs", "import", file]).worked();
    let refused = say(&home, &["runs", "rollback", "latest", "--yes", "--json"]);
    assert_eq!(code_of(&refused), "ILLEGAL_STATE", "{}", refused.stdout);
    assert!(
        refused.stdout.contains("was imported"),
        "{}",
        refused.stdout
    );
    assert!(
        here.scratch().join("a.txt").exists(),
        "and nothing was undone"
    );
    let own = say(&here.home(), &["runs", "verify", "latest", "--json"])
        .worked()
        .json();
    let verified = say(&home, &["runs", "verify", "latest", "--json"])
        .worked()
        .json();
    let signer = &own["origin"]["key"];
    assert_eq!(verified["origin"]["signature"]["key"], *signer);
    for arguments in [["runs", "list"], ["runs", "show latest"]] {
        let arguments: Vec<&str> = arguments.iter().flat_map(|text| text.split(' ')).collect();
        let marked = format!("imported, signed by {}", signer.as_str().unwrap());
        let shown = say(&home, &arguments).worked();
        assert!(shown.stdout.contains(&marked), "{}", shown.stdout);
        let native = say(&here.home(), &arguments).worked();
        assert!(!native.stdout.contains("imported"), "{}", native.stdout);
    }

    let other = Place::with_policy(ALLOW_ALL);
    let mut export: Value = serde_json::from_slice(&fs_err::read(file).unwrap()).unwrap();
    export.as_object_mut().unwrap().remove("signature");
    fs_err::write(file, export.to_string()).unwrap();
    say(&other.home(), &["runs", "import", file]).worked();
    let verified = say(&other.home(), &["runs", "verify", "latest"]).worked();
    assert!(
        verified.stdout.contains("imported, unsigned"),
        "{}",
        verified.stdout
    );
}

/// A whole home put back to an older state agrees with itself; what was told outside does not.
#[test]
fn an_anchor_shows_a_home_that_was_put_back() {
    let place = Place::with_policy(ALLOW_ALL);
    let (home, anchors) = (place.home(), place.root().join("anchors"));
    let settings = format!("[store]\nanchor_file = {anchors:?}\nanchor_interval_seconds = 1\n");
    fs_err::write(home.join("config.toml"), settings).unwrap();
    let directory = place.scratch();
    let apply = |file: &str| {
        let directory = directory.to_str().unwrap();
        say(
            &home,
            &["demo", "apply", "--yes", "--dir", directory, "--file", file],
        )
        .worked();
    };
    apply("a.txt=a");
    let before = saved(&home, &["windlass.db", "windlass.db-wal", "windlass.mark"]);
    apply("b.txt=b");
    {
        let _daemon = Daemon::open(&home);
        let started = Instant::now();
        while !fs_err::read_to_string(&anchors).is_ok_and(|text| text.ends_with('\n')) {
            assert!(started.elapsed() < READY, "no anchor was written");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
    let check = [
        "store",
        "check",
        "--anchors",
        anchors.to_str().unwrap(),
        "--json",
    ];
    let compared = say(&home, &check).worked().json();
    assert!(
        compared["anchors"]["compared"].as_u64() > Some(0),
        "{compared}"
    );
    let told = say(&home, &check[..4]).worked();
    assert!(
        told.stdout.contains("compared; the newest is of "),
        "{}",
        told.stdout
    );
    fs_err::write(place.root().join("none"), "").unwrap();
    let none = place.root().join("none");
    let empty = say(
        &home,
        &["store", "check", "--anchors", none.to_str().unwrap()],
    );
    assert!(
        empty.stderr.contains("it holds no anchors"),
        "{}",
        empty.stderr
    );
    put_back(&home, &before);
    say(&home, &["store", "check"]).worked();
    let found = say(&home, &check);
    assert_eq!(found.code, Some(7), "{}", found.stdout);
    assert!(found.stdout.contains("the anchor of"), "{}", found.stdout);
}

/// A place that takes no anchors is named by everything that looks after the home.
#[test]
fn anchors_that_are_not_kept_are_told() {
    let place = Place::with_policy(ALLOW_ALL);
    let (home, anchors) = (place.home(), place.root().join("missing/anchors"));
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs_err::set_permissions(&home, private).unwrap();
    let settings = format!("[store]\nanchor_file = {anchors:?}\nanchor_interval_seconds = 1\n");
    fs_err::write(home.join("config.toml"), settings).unwrap();
    let directory = place.scratch();
    let apply = [
        "demo",
        "apply",
        "--yes",
        "--dir",
        directory.to_str().unwrap(),
        "--file",
        "a.txt=a",
    ];
    say(&home, &apply).worked();
    let daemon = Daemon::open(&home);
    let started = Instant::now();
    let ready = loop {
        let ready = Ask::get("/v1/ready").send(daemon.address).unwrap();
        if ready.json()["checks"]["anchors"] == "failing" {
            break ready;
        }
        assert!(started.elapsed() < READY, "{}", ready.json());
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert_eq!(ready.status, 200, "work goes on");
    assert!(
        !ready.json().to_string().contains("missing"),
        "anybody may ask"
    );
    let named = anchors.to_str().unwrap();
    let doctor = say(&home, &["doctor"]);
    assert_ne!(doctor.code, Some(0));
    assert!(
        doctor.stdout.contains(&format!("not kept in {named}")),
        "{}",
        doctor.stdout
    );
    let check = say(&home, &["store", "check"]).worked();
    assert!(
        check.stdout.contains(&format!("not kept in {named}")),
        "{}",
        check.stdout
    );
    fs_err::create_dir(place.root().join("missing")).unwrap();
    let started = Instant::now();
    while say(&home, &["doctor"]).code != Some(0) {
        assert!(
            started.elapsed() < READY,
            "{}",
            say(&home, &["doctor"]).stdout
        );
    }
}

/// Newest first, and only what was asked for.
#[test]
fn the_audit_is_read_from_its_end() {
    let place = Place::with_policy(ALLOW_ALL);
    let home = place.home();
    let directory = place.scratch();
    let directory = directory.to_str().unwrap();
    for file in ["a=1", "b=1", "c=1"] {
        let apply = ["demo", "apply", "--yes", "--dir", directory, "--file", file];
        say(&home, &apply).worked();
    }
    say(&home, &["keys", "create", "ci"]).worked();
    let audit = |more: &[&str]| {
        let arguments: Vec<&str> = ["audit", "--json"].iter().chain(more).copied().collect();
        say(&home, &arguments).worked().json()
    };
    let names = |answer: &Value| -> Vec<String> {
        let calls = answer["calls"].as_array().unwrap();
        let name = |call: &Value| call["operation"].as_str().unwrap().to_owned();
        calls.iter().map(name).collect()
    };
    let changes = audit(&["--changes"]);
    assert_eq!(
        names(&changes),
        [
            "admin.keys_create",
            "demo.apply",
            "demo.apply",
            "demo.apply"
        ]
    );
    let first = audit(&["--changes", "--limit", "2"]);
    assert_eq!(names(&first), ["admin.keys_create", "demo.apply"]);
    let before = first["next_before_seq"].to_string();
    let rest = audit(&["--changes", "--before", &before]);
    assert_eq!(names(&rest), ["demo.apply", "demo.apply"]);
    assert_eq!(rest["next_before_seq"], Value::Null);
    assert_eq!(
        names(&audit(&["--changes", "--operation", "demo.*"])).len(),
        3
    );
    assert_eq!(
        names(&audit(&["--changes", "--principal", "key:*"])).len(),
        0
    );
    let time = changes["calls"][1]["time"].as_str().unwrap();
    assert_eq!(names(&audit(&["--changes", "--since", time])).len(), 2);
    assert_eq!(names(&audit(&["--changes", "--until", time])).len(), 2);
    let after = changes["calls"][3]["seq"].to_string();
    assert_eq!(
        names(&audit(&["--changes", "--after", &after])),
        ["demo.apply", "demo.apply", "admin.keys_create"]
    );
    let wrong = say(&home, &["audit", "--since", "yesterday"]);
    assert!(wrong.stderr.contains("is not a time"), "{}", wrong.stderr);
}
