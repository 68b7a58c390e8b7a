//! Several processes on one home: commands drive their own runs, the daemon everything that no
//! other process does, and each run is driven by one.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::support::{
    binary::{Daemon, Killed, READY, Said, say, windlass},
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

    fn events(&self, run_id: &str) -> Vec<Value> {
        let input = format!(r#"{{"run_id":"{run_id}","limit":1000}}"#);
        let watched = self.say(&["ops", "call", "runs.watch", "--input", &input]);
        let watched = watched.worked().json();
        watched["events"].as_array().unwrap().clone()
    }

    /// The numbers of the drivers a run has had.
    fn drivers(&self, run_id: &str) -> Vec<u64> {
        self.events(run_id)
            .iter()
            .filter(|event| event["type"] == "run.started")
            .map(|event| event["payload"]["epoch"].as_u64().unwrap())
            .collect()
    }

    /// That a run ended once and no driver began it twice. Which process takes it up first, the
    /// daemon or a command that follows it, is up to the machine.
    fn ended_once(&self, run_id: &str) {
        let events = self.events(run_id);
        let count = |name: &str| {
            let of_type = events.iter().filter(|event| event["type"] == name);
            of_type.count()
        };
        let ends = ["run.completed", "run.failed", "run.cancelled"].map(count);
        assert_eq!(ends.iter().sum::<usize>(), 1, "{events:?}");
        let mut drivers = self.drivers(run_id);
        drivers.dedup();
        assert_eq!(drivers, self.drivers(run_id), "no driver begins twice");
    }
}

impl Scene {
    fn state(&self, run_id: &str) -> String {
        let shown = self.say(&["runs", "show", run_id]).worked().json();
        shown["run"]["state"].as_str().unwrap().to_owned()
    }

    fn until(&self, run_id: &str, state: &str) {
        let started = Instant::now();
        while self.state(run_id) != state {
            assert!(
                started.elapsed() < READY,
                "{run_id} is {}",
                self.state(run_id)
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn run_id(said: &Said) -> String {
    said.json()["run"]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn commands_and_the_daemon_drive_each_run_once() {
    let scene = Scene::new();
    let _daemon = Daemon::open(&scene.place.home());
    for number in 0..3 {
        let run = run_id(&scene.apply(&number.to_string(), &["--child"]).worked());
        // By the command or by the daemon, whichever was first.
        assert_eq!(scene.drivers(&run).len(), 1);
    }
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
    // Watching ends when a person is asked: the run cannot continue without.
    let last: Value = serde_json::from_str(&lines.by_ref().last().unwrap().unwrap()).unwrap();
    assert_eq!(last["type"], "result", "{last}");
    assert_eq!(
        scene.say(&["runs", "show", &run]).json()["run"]["state"],
        "waiting"
    );
    let approved = scene.say(&["runs", "approve", &run]).worked();
    assert_eq!(approved.json()["run"]["state"], "completed");
    scene.ended_once(&run);
    assert_eq!(scene.files("a"), ["a.txt", "b.txt"]);
}

#[test]
fn doctor_counts_only_runs_that_could_go_on_and_that_nobody_drives() {
    let scene = Scene::new();
    let driver = || {
        let doctor = ["ops", "call", "admin.doctor", "--input", "{}"];
        let answer = scene.say(&doctor).json();
        let checks = answer["checks"].as_array().unwrap().clone();
        let mut checks = checks.into_iter();
        checks.find(|check| check["name"] == "driver").unwrap()
    };
    assert_eq!(scene.apply("a", &["--approval"]).code, Some(4));
    let waits = driver();
    assert_eq!(waits["ok"], true, "it waits for a person: {waits}");
    scene.apply("b", &["--detach"]).worked();
    let stalled = driver();
    assert_eq!(
        stalled["finding"], "1 run could continue, but no driver is running",
        "{stalled}"
    );
}

#[test]
fn one_command_cancels_what_another_started() {
    let scene = Scene::new();
    let _daemon = Daemon::open(&scene.place.home());
    let run = run_id(&scene.apply("a", &["--pause", "600", "--detach"]).worked());
    let cancelled = scene.say(&["runs", "cancel", &run]).worked();
    assert_eq!(cancelled.json()["run"]["state"], "cancelled");
    scene.ended_once(&run);
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
    let drivers = scene.drivers(&run);
    assert_eq!(
        drivers.len(),
        2,
        "resumed once, by the command: {drivers:?}"
    );
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
    let drivers = scene.drivers(&run);
    assert_eq!(drivers.last(), Some(&2), "{drivers:?}");
    assert_eq!(scene.files("a"), ["a.txt", "b.txt"]);
}

#[test]
fn another_change_leaves_the_unfinished_one_alone() {
    let scene = Scene::new();
    let left = run_id(&scene.apply("left", &["--detach"]).worked());
    run_id(&scene.apply("next", &[]).worked());
    // Neither does a command that is refused begin it, nor one that only looks.
    let other = "run_00000000000000000000000000000000";
    for (arguments, code) in [
        (["runs", "approve", other].as_slice(), 3),
        (&["runs", "cancel", other], 3),
        (&["ops", "call", "demo.apply", "--input", "{}"], 2),
        (&["ops", "call", "runs.list"], 0),
    ] {
        let said = scene.say(arguments);
        assert_eq!(said.code, Some(code), "{arguments:?}: {}", said.stdout);
    }
    assert_eq!(scene.state(&left), "queued");
    assert_eq!(scene.files("left"), Vec::<String>::new());
    // Until it is asked to.
    let resumed = scene.say(&["runs", "watch", &left]).worked();
    assert_eq!(resumed.json()["run"]["state"], "completed");
    assert_eq!(scene.files("left"), ["a.txt", "b.txt"]);
}

#[test]
fn two_daemons_share_the_runs_without_duplicates() {
    let scene = Scene::new();
    let mut first = Daemon::open(&scene.place.home());
    let second = Daemon::open(&scene.place.home());
    let runs: Vec<String> = (0..6)
        .map(|number| {
            let flags = ["--child", "--pause", "1", "--detach"];
            run_id(&scene.apply(&number.to_string(), &flags).worked())
        })
        .collect();
    first.process.kill();
    for (number, run) in runs.iter().enumerate() {
        scene.until(run, "completed");
        let drivers = scene.drivers(run);
        assert!((1..=2).contains(&drivers.len()), "{drivers:?}");
        let files = ["WINDLASS-NOTE.txt", "a.txt", "b.txt"];
        assert_eq!(scene.files(&number.to_string()), files);
    }
    drop(second);
}

#[test]
fn a_terminated_command_leaves_its_run_to_the_daemon() {
    let scene = Scene::new();
    let daemon = Daemon::open(&scene.place.home());
    let directory = scene.directory("a");
    std::fs::create_dir_all(&directory).unwrap();
    let mut command = windlass(&scene.place.home());
    command.args(["--agent", "demo", "apply", "--yes", "--pause", "8"]);
    command.args(["--dir", &directory, "--file", "a.txt=a"]);
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut process = Killed(piped.stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(process.0.stdout.take().unwrap()).lines();
    let begun = lines.find(|line| line.as_ref().unwrap().contains("change a.txt"));
    assert!(begun.is_some(), "the change is made before the pause");
    kill_process(Pid::from_child(&process.0), Signal::TERM).unwrap();
    let last: Value = serde_json::from_str(&lines.last().unwrap().unwrap()).unwrap();
    assert_eq!(process.0.wait().unwrap().code(), Some(130));
    assert_eq!(last["data"]["error"]["code"], "INTERRUPTED", "{last}");
    let text = last.to_string();
    let goes_on = format!("process {} continues run", daemon.process.0.id());
    assert!(text.contains(&goes_on), "{text}");
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let run = words.find(|word| word.len() == 36 && word.starts_with("run_"));
    let run = run.unwrap();
    scene.until(run, "completed");
    assert_eq!(scene.files("a"), ["a.txt"]);
}

#[test]
fn a_call_that_waits_drives_its_run_and_ends_on_request() {
    let scene = Scene::new();
    // No daemon: the call drives the job it waits for.
    let spec = "An app to keep recipes: people sign in, add recipes and search them by name.";
    let input = serde_json::json!({ "spec": spec }).to_string();
    let made = scene.say(&["ops", "call", "pipeline.strategize", "--input", &input]);
    assert_eq!(made.code, Some(0), "{}{}", made.stdout, made.stderr);
    // A question that waits for events of a run that nobody drives.
    let run = run_id(&scene.apply("a", &["--detach"]).worked());
    let input = format!(r#"{{"run_id":"{run}","after_seq":1,"wait_seconds":60}}"#);
    let mut command = windlass(&scene.place.home());
    command.args(["--json", "ops", "call", "runs.watch", "--input", &input]);
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut process = Killed(piped.stderr(Stdio::null()).spawn().unwrap());
    let started = Instant::now();
    // Before it listens a signal ends it at once, too.
    std::thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_child(&process.0), Signal::TERM).unwrap();
    assert_eq!(process.0.wait().unwrap().code(), Some(130));
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "it ends promptly"
    );
    assert_eq!(scene.state(&run), "queued", "looking begins nothing");
}
