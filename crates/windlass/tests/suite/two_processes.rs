//! Two processes on one home: the daemon drives, commands submit, watch and steer. Once the
//! daemon is gone, a command takes over.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::Stdio,
};

use serde_json::Value;

use super::support::{
    binary::{Daemon, Killed, Said, say, windlass},
    directory::read_tree,
    home::{ALLOW_ALL, Place},
};

/// Places and commands around one scratch directory.
struct Scene {
    place: Place,
}

impl Scene {
    fn new() -> Self {
        Self {
            place: Place::with_policy(ALLOW_ALL),
        }
    }

    fn say(&self, arguments: &[&str]) -> Said {
        say(&self.place.home(), &[&["--json"], arguments].concat())
    }

    /// `demo apply` of two files below `name`, with more flags.
    fn apply(&self, name: &str, flags: &[&str]) -> Said {
        let directory = self.directory(name);
        std::fs::create_dir_all(&directory).unwrap();
        let change = [
            "--dir", &directory, "--file", "a.txt=a", "--file", "b.txt=b",
        ];
        let command = ["demo", "apply", "--yes"];
        self.say(&[command.as_slice(), &change, flags].concat())
    }

    fn directory(&self, name: &str) -> String {
        let path = self.place.scratch().join(name);
        path.to_str().unwrap().to_owned()
    }

    fn files(&self, name: &str) -> Vec<String> {
        let tree = read_tree(Path::new(&self.directory(name)));
        tree.into_keys().collect()
    }

    /// The fencing epochs of the drivers a run has had.
    fn epochs(&self, run_id: &str) -> Vec<u64> {
        let input = format!(r#"{{"run_id":"{run_id}","limit":1000}}"#);
        let watched = self.say(&["ops", "call", "runs.watch", "--input", &input]);
        let watched = watched.worked().json();
        let events = watched["events"].as_array().unwrap();
        events
            .iter()
            .filter(|event| event["type"] == "run.started")
            .map(|event| event["payload"]["epoch"].as_u64().unwrap())
            .collect()
    }
}

fn run_id(said: &Said) -> String {
    said.json()["run"]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn commands_submit_and_the_daemon_drives() {
    let scene = Scene::new();
    let _daemon = Daemon::open(&scene.place.home());
    let runs: Vec<String> = (0..3)
        .map(|number| run_id(&scene.apply(&number.to_string(), &["--child"]).worked()))
        .collect();
    let epochs: Vec<Vec<u64>> = runs.iter().map(|run| scene.epochs(run)).collect();
    // A command that had driven would have taken the lease, and with it a new epoch.
    assert_eq!(epochs, vec![vec![1]; 3]);
    assert_eq!(scene.files("0"), ["WINDLASS-NOTE.txt", "a.txt", "b.txt"]);
}

#[test]
fn one_command_watches_while_others_approve() {
    let scene = Scene::new();
    let _daemon = Daemon::open(&scene.place.home());
    let run = run_id(&scene.apply("a", &["--approval", "--detach"]).worked());
    let watch = windlass(&scene.place.home())
        .args(["--agent", "runs", "watch", &run])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut watch = Killed(watch);
    let mut lines = BufReader::new(watch.0.stdout.take().unwrap()).lines();
    // Watching ends when a person is asked: the run cannot go on without.
    let last: Value = serde_json::from_str(&lines.by_ref().last().unwrap().unwrap()).unwrap();
    assert_eq!(last["type"], "result", "{last}");
    assert_eq!(
        scene.say(&["runs", "show", &run]).json()["run"]["state"],
        "waiting"
    );
    let approved = scene.say(&["runs", "approve", &run]).worked();
    assert_eq!(approved.json()["run"]["state"], "completed");
    assert_eq!(scene.epochs(&run), [1]);
    assert_eq!(scene.files("a"), ["a.txt", "b.txt"]);
}

#[test]
fn one_command_cancels_what_another_started() {
    let scene = Scene::new();
    let _daemon = Daemon::open(&scene.place.home());
    let run = run_id(&scene.apply("a", &["--pause", "600", "--detach"]).worked());
    let cancelled = scene.say(&["runs", "cancel", &run]).worked();
    assert_eq!(cancelled.json()["run"]["state"], "cancelled");
    assert_eq!(scene.epochs(&run), [1]);
    assert_eq!(scene.files("a"), Vec::<String>::new(), "all undone");
}

#[test]
fn a_command_takes_over_from_a_killed_daemon() {
    let scene = Scene::new();
    let mut daemon = Daemon::open(&scene.place.home());
    let run = run_id(&scene.apply("a", &["--approval", "--detach"]).worked());
    // Half of it is done by the daemon.
    scene.say(&["runs", "watch", &run]);
    daemon.process.kill();
    let before = scene.say(&["runs", "show", &run]).json();
    assert_eq!(before["run"]["state"], "waiting", "{before}");
    let approved = scene.say(&["runs", "approve", &run]).worked();
    assert_eq!(approved.json()["run"]["state"], "completed");
    assert_eq!(scene.epochs(&run), [1, 2], "resumed once, by the command");
    assert_eq!(scene.files("a"), ["a.txt", "b.txt"]);
}

#[test]
fn resume_finishes_what_the_daemon_left() {
    let scene = Scene::new();
    let mut daemon = Daemon::open(&scene.place.home());
    let run = run_id(&scene.apply("a", &["--pause", "1", "--detach"]).worked());
    daemon.process.kill();
    let resumed = scene.say(&["runs", "resume", &run]).worked();
    assert_eq!(resumed.json()["run"]["state"], "completed");
    let epochs = scene.epochs(&run);
    assert_eq!(epochs.last(), Some(&2), "{epochs:?}");
    assert_eq!(scene.files("a"), ["a.txt", "b.txt"]);
}

#[test]
fn another_change_brings_the_unfinished_one_along() {
    let scene = Scene::new();
    let mut daemon = Daemon::open(&scene.place.home());
    let left = run_id(&scene.apply("left", &["--pause", "1", "--detach"]).worked());
    daemon.process.kill();
    // Drives for longer than the other still needs.
    let next = run_id(&scene.apply("next", &["--pause", "2"]).worked());
    let shown = scene.say(&["runs", "show", &left]).worked().json();
    assert_eq!(shown["run"]["state"], "completed", "{shown}");
    assert_eq!(scene.epochs(&next), [2]);
    assert_eq!(scene.files("left"), ["a.txt", "b.txt"]);
}

#[test]
fn a_second_daemon_waits_its_turn() {
    let scene = Scene::new();
    let mut first = Daemon::open(&scene.place.home());
    let second = Daemon::open(&scene.place.home());
    let run = run_id(&scene.apply("a", &[]).worked());
    assert_eq!(scene.epochs(&run), [1]);
    first.process.kill();
    let run = run_id(&scene.apply("b", &["--child"]).worked());
    // Either the command or the second daemon was quicker; both are fenced from each other.
    assert_eq!(scene.epochs(&run).len(), 1);
    drop(second);
}
