//! The same call many times at once: one of them applies, the others learn so.

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::Barrier,
};

use serde_json::{Value, json};

use super::support::{
    binary::{Daemon, Said, say, windlass},
    directory::read_tree,
    home::{ALLOW_ALL, Place},
};

const AT_ONCE: usize = 64;
const ROUNDS: usize = 8;

/// Calls an operation with many inputs at the same moment.
fn all_at_once(daemon: &Daemon, operation: &str, inputs: &[Value]) -> Vec<(u16, Value)> {
    let start = Barrier::new(inputs.len());
    std::thread::scope(|scope| {
        let callers: Vec<_> = inputs
            .iter()
            .map(|input| {
                scope.spawn(|| {
                    start.wait();
                    daemon.call(operation, input)
                })
            })
            .collect();
        callers
            .into_iter()
            .map(|caller| caller.join().unwrap())
            .collect()
    })
}

fn input(directory: &Path) -> Value {
    std::fs::create_dir(directory).unwrap();
    json!({ "dir": directory, "files": { "a.txt": "a", "b.txt": "b" } })
}

fn plan(daemon: &Daemon, input: &Value) -> Value {
    let (status, planned) = daemon.call("demo.plan", input);
    assert_eq!(status, 200, "{planned}");
    planned["confirm_token"].clone()
}

fn with(input: &Value, fields: &[(&str, Value)]) -> Value {
    let mut input = input.clone();
    for (name, value) in fields {
        input[*name] = value.clone();
    }
    input
}

/// The run of every answer that is good, and the others.
fn sort(answers: Vec<(u16, Value)>) -> (Vec<String>, Vec<(u16, Value)>) {
    let (good, bad): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.0 == 200);
    let run = |(_, answer): (u16, Value)| answer["run"]["run_id"].as_str().unwrap().to_owned();
    (good.into_iter().map(run).collect(), bad)
}

fn runs(home: &Path) -> Vec<Value> {
    let listed = say(home, &["runs", "list", "--json"]).worked().json();
    listed["runs"].as_array().unwrap().clone()
}

#[test]
fn one_token_many_calls() {
    let place = Place::with_policy(ALLOW_ALL);
    let daemon = Daemon::open(&place.home());
    for round in 0..ROUNDS {
        let input = input(&place.scratch().join(round.to_string()));
        let input = with(&input, &[("confirm_token", plan(&daemon, &input))]);
        let (applied, refused) = sort(all_at_once(&daemon, "demo.apply", &vec![input; AT_ONCE]));
        assert_eq!(applied.len(), 1, "round {round}: {refused:?}");
        for (status, answer) in refused {
            let error = &answer["error"];
            assert_eq!(status, 409, "{answer}");
            assert_eq!(error["code"], "CONFIRM_TOKEN_USED", "{answer}");
            assert_eq!(error["details"]["run_id"], applied[0], "{answer}");
            assert_eq!(error["details"]["reason_code"], "token_used", "{answer}");
        }
    }
    assert_eq!(runs(&place.home()).len(), ROUNDS);
}

#[test]
fn one_key_many_calls_with_one_token() {
    let place = Place::with_policy(ALLOW_ALL);
    let daemon = Daemon::open(&place.home());
    let input = input(&place.scratch().join("files"));
    let token = plan(&daemon, &input);
    let call = [("confirm_token", token), ("idempotency_key", json!("once"))];
    let calls = vec![with(&input, &call); AT_ONCE];
    let (mut started, refused) = sort(all_at_once(&daemon, "demo.apply", &calls));
    assert_eq!(refused, []);
    assert_eq!(started.len(), AT_ONCE);
    started.dedup();
    assert_eq!(started.len(), 1);
    assert_eq!(runs(&place.home()).len(), 1);
}

/// Everyone plans for themselves; the run waits for an approval, so that nothing changes while
/// the others come.
#[test]
fn one_key_many_calls_with_a_token_each() {
    let place = Place::with_policy("version = 1\napprovers = [\"local:nobody\"]\n");
    let daemon = Daemon::open(&place.home());
    let input = input(&place.scratch().join("files"));
    let calls: Vec<Value> = (0..AT_ONCE)
        .map(|_| {
            let token = plan(&daemon, &input);
            with(
                &input,
                &[("confirm_token", token), ("idempotency_key", json!("once"))],
            )
        })
        .collect();
    let (mut started, refused) = sort(all_at_once(&daemon, "demo.apply", &calls));
    assert_eq!(refused, []);
    started.dedup();
    assert_eq!(started.len(), 1);
    assert_eq!(runs(&place.home()).len(), 1);
    assert!(read_tree(&place.scratch().join("files")).is_empty());
}

#[test]
fn one_key_many_inputs() {
    let place = Place::with_policy(ALLOW_ALL);
    let daemon = Daemon::open(&place.home());
    let calls: Vec<Value> = (0..AT_ONCE)
        .map(|number| {
            let input = input(&place.scratch().join(number.to_string()));
            let token = plan(&daemon, &input);
            with(
                &input,
                &[("confirm_token", token), ("idempotency_key", json!("once"))],
            )
        })
        .collect();
    let (started, refused) = sort(all_at_once(&daemon, "demo.apply", &calls));
    assert_eq!(started.len(), 1);
    for (status, answer) in refused {
        assert_eq!(status, 409, "{answer}");
        assert_eq!(answer["error"]["code"], "IDEMPOTENCY_CONFLICT", "{answer}");
        assert_eq!(answer["error"]["details"]["run_id"], started[0], "{answer}");
    }
    assert_eq!(runs(&place.home()).len(), 1);
}

#[test]
fn one_token_many_processes() {
    let place = Place::with_policy(ALLOW_ALL);
    let directory = place.scratch();
    let change = ["--dir", directory.to_str().unwrap(), "--file", "a.txt=a"];
    let planned = say(
        &place.home(),
        &[["--json", "demo", "plan"].as_slice(), &change].concat(),
    );
    let planned = planned.worked().json();
    let token = planned["confirm_token"].as_str().unwrap();
    let processes: Vec<_> = (0..8)
        .map(|_| {
            let mut command: Command = windlass(&place.home());
            command.args(["--json", "demo", "apply", "--yes", "--token", token]);
            command.args(change).stdin(Stdio::null());
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let said: Vec<Said> = processes
        .into_iter()
        .map(|process| process.wait_with_output().unwrap().into())
        .collect();
    let (applied, refused): (Vec<_>, Vec<_>) =
        said.into_iter().partition(|said| said.code == Some(0));
    assert_eq!(applied.len(), 1);
    let run_id = applied[0].json()["run"]["run_id"].clone();
    for said in refused {
        assert_eq!(said.code, Some(4), "{}{}", said.stdout, said.stderr);
        let error = &said.json()["error"];
        assert_eq!(error["code"], "CONFIRM_TOKEN_USED", "{error}");
        assert_eq!(error["details"]["run_id"], run_id, "{error}");
    }
    assert_eq!(runs(&place.home()).len(), 1);
    assert_eq!(read_tree(&directory)["a.txt"], "a");
}
