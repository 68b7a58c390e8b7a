//! How commands end: with a result line, by a signal, or because nobody reads any more.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Stdio},
};

use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::support::{
    binary::{Killed, Said, windlass},
    scene::Scene,
};

#[test]
fn events_as_lines() {
    let scene = Scene::new();
    let said = scene.demo("apply", &["--yes", "--agent"]).worked();
    assert_eq!(said.stderr, "");
    let kinds: Vec<String> = said
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| {
            assert_eq!(line["v"], "1.0", "{line}");
            line["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds.last().unwrap(), "result");
    assert_eq!(kinds.iter().filter(|kind| *kind == "result").count(), 1);
    assert!(kinds.len() > 3, "{kinds:?}");
}

/// Starts a change that pauses for long and waits until it does.
fn pausing(scene: &Scene, flags: &[&str]) -> Killed {
    let dir = scene.dir();
    let mut command = windlass(&scene.place.home());
    command.args(["demo", "apply", "--yes", "--pause", "600"]);
    command
        .args(["--dir", &dir, "--file", "new.txt=new"])
        .args(flags);
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped());
    Killed(piped.stderr(Stdio::piped()).spawn().unwrap())
}

/// Reads lines until one contains a text.
fn read_until(lines: &mut impl std::io::BufRead, text: &str) -> String {
    let mut said = String::new();
    while !said.contains(text) {
        assert_ne!(lines.read_line(&mut said).unwrap(), 0, "{said}");
    }
    said
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn interrupted_by_hand() {
    let scene = Scene::new();
    let mut process = pausing(&scene, &[]);
    let mut stderr = BufReader::new(process.0.stderr.take().unwrap());
    let mut said = read_until(&mut stderr, "change new.txt");
    signal(&process.0, Signal::INT);
    stderr.read_to_string(&mut said).unwrap();
    let mut stdout = String::new();
    let output = process.0.stdout.as_mut().unwrap();
    output.read_to_string(&mut stdout).unwrap();
    let said = Said {
        code: process.0.wait().unwrap().code(),
        stdout,
        stderr: said[said.find("error:").unwrap()..].to_owned(),
    };
    // Whatever the run was doing when it was last looked at.
    let state = Regex::new(r"state: \w+").unwrap();
    let shown = scene.show(&said);
    let shown = state.replace(&shown, "state: STATE");
    insta::assert_snapshot!(shown, @"
    exit 130
    ── stdout
    ── stderr
    error: interrupted; run RUN-1 continues when a driver runs
      code: INTERRUPTED
      state: STATE
    hint: windlass runs resume RUN-1
    ");
    let run = scene.say(&["runs", "show", "latest", "--json"]).json();
    let state = run["run"]["state"].as_str().unwrap();
    assert!(["running", "waiting"].contains(&state), "{state}");
}

#[test]
fn ended_by_a_supervisor() {
    let scene = Scene::new();
    let mut process = pausing(&scene, &["--agent"]);
    let mut stdout = BufReader::new(process.0.stdout.take().unwrap());
    read_until(&mut stdout, "change new.txt");
    signal(&process.0, Signal::TERM);
    let last: Value = serde_json::from_str(&stdout.lines().last().unwrap().unwrap()).unwrap();
    assert_eq!(process.0.wait().unwrap().code(), Some(130));
    assert_eq!(last["type"], "result", "{last}");
    assert_eq!(last["ok"], false, "{last}");
    assert_eq!(last["data"]["error"]["code"], "INTERRUPTED", "{last}");
}

#[test]
fn a_reader_that_closes_its_pipe() {
    let scene = Scene::new();
    scene.demo("apply", &["--yes"]).worked();
    for arguments in [
        ["ops", "list"].as_slice(),
        &["runs", "list", "--json"],
        &["runs", "watch", "latest", "--agent"],
        &["errors"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = windlass(&scene.place.home())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(writer)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panic"), "{arguments:?}: {said}");
        assert_eq!(output.status.code(), Some(141), "{arguments:?}: {said}");
    }
}
