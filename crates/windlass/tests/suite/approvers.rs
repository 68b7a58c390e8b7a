//! Who may approve, what they see and what their answer does; and what a rule about a run or an
//! effect holds for. Over HTTP, with keys of two callers.

use serde_json::{Value, json};

use super::support::{
    binary::{Daemon, Said, free_address, say, windlass},
    home::Place,
    http::{Ask, Reply},
};

struct Office {
    place: Place,
    daemon: Daemon,
}

/// A key and its id.
struct Key {
    secret: String,
    id: String,
}

fn key(home: &std::path::Path, scopes: &[&str]) -> Key {
    let mut arguments = vec!["keys", "create", "test", "--json"];
    for scope in scopes {
        arguments.extend(["--scope", scope]);
    }
    let made = say(home, &arguments).worked().json();
    let text = |field: &str| {
        let found = find(&made, field);
        found.unwrap_or_else(|| panic!("{field}: {made:#}"))
    };
    Key {
        secret: text("api_key"),
        id: text("key_id"),
    }
}

fn find(document: &Value, field: &str) -> Option<String> {
    match document {
        Value::Object(map) => match map.get(field).and_then(Value::as_str) {
            Some(text) => Some(text.to_owned()),
            None => map.values().find_map(|value| find(value, field)),
        },
        Value::Array(items) => items.iter().find_map(|item| find(item, field)),
        _ => None,
    }
}

impl Office {
    fn of(place: Place) -> Self {
        let mut command = windlass(&place.home());
        // Keys may work below the directory that the server was started in.
        command.current_dir(place.root());
        let mut daemon = Daemon::spawn_with(command, free_address(), &[]);
        daemon.wait_until_ready();
        Self { place, daemon }
    }

    fn post(&self, path: &str, body: &Value, key: &Key) -> Reply {
        let ask = Ask::post(path, body.to_string());
        let ask = ask.with("authorization", format!("Bearer {}", key.secret));
        ask.send(self.daemon.address).unwrap()
    }

    fn get(&self, path: &str, key: &Key) -> Value {
        let ask = Ask::get(path).with("authorization", format!("Bearer {}", key.secret));
        ask.send(self.daemon.address).unwrap().json()
    }

    fn say(&self, arguments: &[&str]) -> Said {
        say(&self.place.home(), arguments)
    }

    /// Has a key apply a small change, and gives its run.
    fn change(&self, key: &Key) -> String {
        let input = json!({ "dir": self.place.scratch(), "files": { "a.txt": "a" } });
        let plan = self.post("/v1/operations/demo.plan", &input, key).json();
        let token = find(&plan, "confirm_token").unwrap_or_else(|| panic!("{plan:#}"));
        let mut input = input;
        input["confirm_token"] = json!(token);
        let reply = self.post("/v1/operations/demo.apply", &input, key).json();
        find(&reply, "run_id").unwrap_or_else(|| panic!("{reply:#}"))
    }

    fn state(&self, run: &str) -> String {
        let shown = self.say(&["runs", "show", run, "--json"]).worked().json();
        find(&shown, "state").unwrap()
    }

    fn until(&self, run: &str, state: &str) {
        let started = std::time::Instant::now();
        while self.state(run) != state {
            assert!(
                started.elapsed().as_secs() < 60,
                "{run} is {}",
                self.state(run)
            );
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

#[test]
fn an_approver_sees_the_run_answers_it_and_is_told_so() {
    let place = Place::new();
    let author = key(&place.home(), &["runs", "demo"]);
    let approver = key(&place.home(), &["runs", "demo", "approve"]);
    let office = Office::of(place);
    let run = office.change(&author);
    let waiting = office.get("/v1/approvals", &approver);
    assert_eq!(
        find(&waiting, "run_id").as_deref(),
        Some(run.as_str()),
        "{waiting:#}"
    );
    assert_eq!(
        office.get("/v1/approvals", &author)["approvals"][0]["run_id"],
        json!(run)
    );
    // A key that may not approve is refused; no approval of the approval is asked for.
    let refused = office.post(&format!("/v1/runs/{run}/approve"), &json!({}), &author);
    assert_eq!(find(&refused.json(), "code").as_deref(), Some("FORBIDDEN"));
    let approved = office.post(&format!("/v1/runs/{run}/approve"), &json!({}), &approver);
    assert_eq!(approved.status, 200, "{}", approved.json());
    office.until(&run, "completed");
    let runs = office.say(&["runs", "list", "--json"]).worked().json();
    assert_eq!(runs.to_string().matches("\"kind\":").count(), 1, "{runs:#}");
}

#[test]
fn an_approver_named_by_a_rule_alone_may_answer() {
    let place = Place::new();
    let author = key(&place.home(), &["runs", "demo"]);
    let approver = key(&place.home(), &["runs", "demo"]);
    place.policy(&format!(
        "version = 1\napprovers = [\"local:ada\"]\n[[rule]]\noperation = \"demo.apply\"\n\
         decision = \"ask\"\napprovers = [\"key:{}\"]\n",
        approver.id
    ));
    let office = Office::of(place);
    let run = office.change(&author);
    let approved = office.post(&format!("/v1/runs/{run}/approve"), &json!({}), &approver);
    assert_eq!(approved.status, 200, "{}", approved.json());
    office.until(&run, "completed");
}

#[test]
fn a_rule_about_a_run_holds_for_every_operation_on_it() {
    let place = Place::new();
    let author = key(&place.home(), &["*"]);
    let office = Office::of(place);
    let run = office.change(&author);
    office.place.policy(&format!(
        "version = 1\n[[rule]]\noperation = \"runs.*\"\ntarget = \"{run}\"\ndecision = \"deny\"\n"
    ));
    let input = json!({ "run_id": run }).to_string();
    for operation in [
        "show",
        "watch",
        "verify",
        "export",
        "artifacts",
        "cancel",
        "approve",
        "reject",
        "resume",
    ] {
        let name = format!("runs.{operation}");
        let said = office.say(&["--json", "ops", "call", &name, "--input", &input]);
        assert!(
            said.stdout.contains("POLICY_DENIED"),
            "{name}: {}{}",
            said.stdout,
            said.stderr
        );
    }
    office.place.policy("version = 1\n");
    assert_eq!(office.state(&run), "waiting");
}

#[test]
fn a_rule_about_deletions_leaves_writes_alone() {
    let place = Place::with_policy(
        "version = 1\n[[rule]]\neffect = \"destructive\"\ndecision = \"deny\"\n",
    );
    let directory = place.scratch();
    let directory = directory.to_str().unwrap();
    let apply = ["demo", "apply", "--yes", "--dir", directory];
    say(&place.home(), &[&apply[..], &["--file", "a=1"]].concat()).worked();
    let refused = say(&place.home(), &[&apply[..], &["--delete", "a"]].concat());
    assert_eq!(refused.code, Some(4), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("policy forbids"),
        "{}",
        refused.stderr
    );
}

#[test]
fn undoing_a_call_that_has_no_undo_lists_what_stays() {
    let place = Place::with_policy(
        "version = 1\napprovers = [\"local:*\"]\n[[rule]]\noperation = \"admin.keys_revoke\"\n\
         principal = \"key:*\"\ndecision = \"ask\"\n",
    );
    let caller = key(&place.home(), &["*"]);
    let victim = key(&place.home(), &["runs"]);
    let office = Office::of(place);
    let input = json!({ "key_id": victim.id });
    let reply = office
        .post("/v1/operations/admin.keys_revoke", &input, &caller)
        .json();
    let run = find(&reply, "run_id").unwrap_or_else(|| panic!("{reply:#}"));
    office.say(&["runs", "approve", &run]).worked();
    office.until(&run, "completed");
    let undone = office.say(&["runs", "rollback", &run, "--yes", "--json"]);
    assert_eq!(undone.code, Some(5), "{}", undone.stderr);
    let undone = undone.json();
    assert_eq!(undone["error"]["code"], "UNDO_CONFLICT", "{undone:#}");
    assert_eq!(
        undone["error"]["details"]["cause"]["residue"],
        json!(["call"])
    );
}

#[test]
fn what_is_no_policy_file_is_an_error_and_no_missing_file() {
    let place = Place::new();
    let file = place.home().join("policy.toml");
    std::os::unix::fs::symlink("/nonexistent/policy", &file).unwrap();
    let refused = say(&place.home(), &["runs", "list"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    std::fs::remove_file(&file).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&file).status();
    assert!(made.unwrap().success());
    let refused = say(&place.home(), &["runs", "list"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("not a regular file"),
        "{}",
        refused.stderr
    );
}

/// Over HTTP, with the state of the approval in what the caller and the approvers are told.
#[test]
fn two_approvers_other_than_the_caller_have_to_agree() {
    let place = Place::with_policy(
        "version = 1\n[[rule]]\noperation = \"demo.apply\"\ndecision = \"ask\"\n\
         approvers = [\"scope:approve\"]\nquorum = 2\ndistinct_approver = true\n",
    );
    let scopes = ["runs", "demo", "approve"];
    let author = key(&place.home(), &scopes);
    let approvers = [key(&place.home(), &scopes), key(&place.home(), &scopes)];
    let office = Office::of(place);
    let checked = office.say(&["policy", "check", "--operation", "demo.apply"]);
    assert!(
        checked
            .worked()
            .stdout
            .contains("2 different approvers, not the caller")
    );
    let run = office.change(&author);
    let path = format!("/v1/runs/{run}/approve");
    let own = office.post(&path, &json!({}), &author);
    assert_eq!(find(&own.json(), "code").as_deref(), Some("FORBIDDEN"));
    assert_eq!(office.post(&path, &json!({}), &approvers[0]).status, 200);
    let again = office.post(&path, &json!({}), &approvers[0]).json();
    assert!(again.to_string().contains("1 of 2 approvals"), "{again}");
    let shown = office.say(&["runs", "show", &run]).worked();
    assert!(
        shown.stdout.contains("1 of 2 approvals"),
        "{}",
        shown.stdout
    );
    assert_eq!(office.post(&path, &json!({}), &approvers[1]).status, 200);
    office.until(&run, "completed");
}

fn names(directory: &std::path::Path) -> Vec<String> {
    let entries = fs_err::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A key learns nothing about directories that the installation does not allow, and changes nothing
/// there, whatever the capability.
#[test]
fn a_key_works_only_below_the_allowed_directories() {
    let place = Place::new();
    let author = key(&place.home(), &["runs", "demo", "pack", "stack", "launch"]);
    let home = place.home();
    let office = Office::of(place);
    let elsewhere = super::support::home::temporary();
    fs_err::write(
        elsewhere.path().join("stacktape.yml"),
        "serviceName: shop\n",
    )
    .unwrap();
    fs_err::write(elsewhere.path().join("agentpack.yaml"), "version: 1\n").unwrap();
    let before = names(elsewhere.path());
    let outside = elsewhere.path().to_str().unwrap();
    let file = |name: &str| elsewhere.path().join(name).display().to_string();
    let stage = |more: Value| {
        let mut input = json!({ "stage": "dev", "region": "eu-west-1" });
        let all = input.as_object_mut().unwrap();
        all.extend(more.as_object().unwrap().clone());
        input
    };
    let in_outside = json!({ "currentWorkingDirectory": outside });
    let logs_outside = json!({ "currentWorkingDirectory": outside, "resourceName": "web" });
    for (operation, input) in [
        ("pack.plan", json!({ "repo": outside })),
        ("pack.status", json!({ "repo": file("none") })),
        ("pack.doctor", json!({ "repo": "../.." })),
        ("pack.init", json!({ "repo": file("new"), "yes": true })),
        ("pack.lock", json!({ "repo": outside, "yes": true })),
        (
            "pack.apply",
            json!({ "repo": outside, "plan_digest": "0".repeat(64), "yes": true }),
        ),
        (
            "pack.deploy_apply",
            json!({ "repo": outside, "confirm_token": "t", "yes": true }),
        ),
        ("pack.import", json!({ "home_root": outside, "yes": true })),
        ("stack.validate", stage(in_outside.clone())),
        (
            "stack.validate",
            stage(json!({ "configPath": file("stacktape.yml") })),
        ),
        (
            "stack.validate",
            stage(json!({ "configPath": "../../stacktape.yml" })),
        ),
        (
            "stack.compile_template",
            stage(json!({ "outFile": file("t.json") })),
        ),
        ("stack.preview_changes", stage(in_outside.clone())),
        ("stack.deploy", stage(in_outside.clone())),
        ("stack.logs", stage(logs_outside.clone())),
        ("stack.dev_start", stage(in_outside.clone())),
        ("stack.init", in_outside.clone()),
        (
            "stack.secret_create",
            stage(json!({ "secretName": "s", "secretFile": file("stacktape.yml") })),
        ),
        (
            "stack.ops",
            json!({ "operation": "compile_template", "args": stage(in_outside.clone()) }),
        ),
        (
            "stack.diagnose",
            json!({ "operation": "logs", "args": stage(logs_outside) }),
        ),
    ] {
        let refused = office.post(&format!("/v1/operations/{operation}"), &input, &author);
        let text = refused.json().to_string();
        assert!(
            text.contains("allows to callers with a key"),
            "{operation} {input}: {text}"
        );
    }
    let run_config = json!({
        "product_name": "Quill",
        "github_repo_url": outside,
        "github_ref": "0".repeat(40),
        "site_repo_url": outside,
        "allowed_paths": ["content/docs"],
    });
    let refused = office.post(
        "/v1/operations/launch.start_run",
        &json!({ "run_config": run_config }),
        &author,
    );
    let text = refused.json().to_string();
    assert!(text.contains("reads no repository there"), "{text}");
    assert_eq!(names(elsewhere.path()), before);
    for directory in [elsewhere.path(), &home, std::path::Path::new("/missing")] {
        let input = json!({ "dir": directory, "files": { "a.txt": "a" } });
        let refused = office
            .post("/v1/operations/demo.plan", &input, &author)
            .json();
        assert_eq!(
            find(&refused, "code").as_deref(),
            Some("FORBIDDEN"),
            "{refused:#}"
        );
        assert!(refused.to_string().contains("server.roots"), "{refused:#}");
    }
    office.change(&author);
}

/// Nothing starts on a policy, a home or settings that others may write.
#[test]
fn a_policy_that_others_may_write_is_refused() {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};
    let place = Place::with_policy("version = 1\n");
    let home = place.home();
    fs_err::write(home.join("config.toml"), "").unwrap();
    say(&home, &["runs", "list"]).worked();
    for name in ["policy.toml", "config.toml", ""] {
        let path = home.join(name);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        std::fs::set_permissions(&path, Permissions::from_mode(mode | 0o022)).unwrap();
        let refused = say(&home, &["runs", "list"]);
        assert_ne!(refused.code, Some(0), "{name}");
        assert!(
            refused.stderr.contains("chmod go-w"),
            "{name}: {}",
            refused.stderr
        );
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
    say(&home, &["runs", "list"]).worked();
}

/// An answer that policy asks about is refused: it does not wait for an approval itself.
#[test]
fn an_approval_never_waits_for_an_approval() {
    let place = Place::with_policy(
        "version = 1\napprovers = [\"local:*\", \"scope:approve\"]\n[[rule]]\noperation = \"runs.*\"\n\
         principal = \"key:*\"\ndecision = \"ask\"\napprovers = [\"local:*\"]\n",
    );
    let author = key(&place.home(), &["runs", "demo"]);
    let office = Office::of(place);
    let run = office.change(&author);
    for verb in ["approve", "reject"] {
        let path = format!("/v1/runs/{run}/{verb}");
        let refused = office.post(&path, &json!({}), &author).json();
        assert_eq!(
            find(&refused, "reason_code").as_deref(),
            Some("approval_required"),
            "{refused:#}"
        );
    }
    let kept = office.say(&["runs", "list", "--kind", "operation.call", "--json"]);
    assert_eq!(kept.worked().json()["runs"], json!([]));
    office.say(&["runs", "approve", &run]).worked();
    office.until(&run, "completed");
}

/// Settings that can mean nothing are refused where they are made, with the nearest that would.
#[test]
fn settings_that_mean_nothing_are_refused() {
    let place = Place::new();
    let home = place.home();
    let refused = say(&home, &["keys", "create", "x", "--scope", "rums"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("did you mean \"runs\"?"),
        "{}",
        refused.stderr
    );
    for (text, expected) in [
        (
            "demoo = 7",
            "no run is of the kind `demoo`; did you mean `demo`?",
        ),
        ("pipeline = 7", "has a setting of its own"),
        ("demo = 7", ""),
    ] {
        let settings = format!("[store.keep_kinds_days]\n{text}\n");
        fs_err::write(home.join("config.toml"), settings).unwrap();
        let listed = say(&home, &["runs", "list"]);
        assert_eq!(
            listed.code == Some(0),
            expected.is_empty(),
            "{text}: {}",
            listed.stderr
        );
        assert!(
            listed.stderr.contains(expected),
            "{text}: {}",
            listed.stderr
        );
    }
    for (rule, expected) in [
        (
            "approvers = [\"local:ada\"]\nquorum = 2",
            "2 approvals by local:ada",
        ),
        ("approvers = [\"scope:aprove\"]", "did you mean `approve`?"),
    ] {
        place.policy(&format!(
            "version = 1\n[[rule]]\ndecision = \"ask\"\n{rule}\n"
        ));
        let listed = say(&home, &["runs", "list"]);
        assert_eq!(listed.code, Some(2), "{rule}: {}", listed.stderr);
        assert!(
            listed.stderr.contains(expected),
            "{rule}: {}",
            listed.stderr
        );
    }
}
