//! The whole tree of processes ends with the program, with the supervisor and with the caller.

use std::{
    process::{Child, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use windlass_ports::sandbox::Backend;

use crate::support::{Place, Way, ways};

/// A number that no other process sleeps for.
fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = NEXT.fetch_add(1, Ordering::SeqCst);
    format!("7{:07}{number}", std::process::id())
}

/// Starts programs that leave their parents, marked by how long they sleep; waits until they run.
fn daemons(way: &Way, place: &Place, after: &str) -> (Child, String) {
    let mark = mark();
    let script = format!(
        "for i in 1 2 3; do setsid sh -c 'sleep {mark} & sleep {mark} & wait' & done; {after}"
    );
    let confinement = place.confinement();
    let mut command = way.command(place, &confinement, &["sh", "-c", &script]);
    let child = command.spawn().unwrap();
    let began = Instant::now();
    while running(&mark) < 6 {
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{way:?}: they do not start"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    (child, mark)
}

/// How many `sleep`s of this mark run on the machine.
fn running(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| fs_err::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| {
            line.starts_with(b"sleep\0") && line.ends_with(format!("{mark}\0").as_bytes())
        })
        .count()
}

fn ends(way: &Way, mark: &str) {
    let began = Instant::now();
    while running(mark) > 0 {
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "{way:?}: processes are left"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

#[test]
fn daemons_end_with_the_program() {
    let place = Place::new();
    for way in ways() {
        let (mut child, mark) = daemons(
            &way,
            &place,
            "while [ ! -e go ]; do sleep 0.02; done; exit 3",
        );
        fs_err::write(place.path("project/go"), "").unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3), "{way:?}");
        assert_eq!(running(&mark), 0, "{way:?}");
        fs_err::remove_file(place.path("project/go")).unwrap();
    }
}

#[test]
fn daemons_end_with_a_killed_supervisor() {
    let place = Place::new();
    for way in ways() {
        // Without a namespace of processes nobody is left to end those that left their parents.
        if way.backend == Backend::Landlock {
            continue;
        }
        let (mut child, mark) = daemons(&way, &place, "sleep 600");
        kill_process(pid(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        ends(&way, &mark);
    }
}

#[test]
fn a_request_to_end_reaches_the_program() {
    let place = Place::new();
    for way in ways() {
        let after =
            "trap 'echo bye > file; exit 9' TERM; echo set > file; while :; do sleep 0.02; done";
        let (mut child, mark) = daemons(&way, &place, after);
        // The shell sets its trap after it has started the others.
        while !fs_err::read_to_string(place.path("project/file"))
            .unwrap()
            .contains("set")
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        kill_process(pid(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(9), "{way:?}");
        assert_eq!(
            fs_err::read_to_string(place.path("project/file")).unwrap(),
            "bye\n"
        );
        fs_err::write(place.path("project/file"), "").unwrap();
        ends(&way, &mark);
    }
}

#[test]
fn everything_ends_with_the_process_that_prepared_it() {
    let place = Place::new();
    let probe = place.probe.to_str().unwrap().to_owned();
    for backend in ["bubblewrap", "namespaces", "landlock"] {
        let offered = ways()
            .iter()
            .any(|way| format!("{:?}", way.backend).eq_ignore_ascii_case(backend));
        if !offered {
            continue;
        }
        let mut command = std::process::Command::new(&probe);
        let mark = mark();
        command.args([
            "hold",
            backend,
            place.path("project").to_str().unwrap(),
            &mark,
        ]);
        let mut caller = command.stdout(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while running(&mark) == 0 {
            assert!(
                began.elapsed() < Duration::from_secs(10),
                "{backend}: it did not start"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        kill_process(pid(&caller), Signal::KILL).unwrap();
        caller.wait().unwrap();
        let began = Instant::now();
        while running(&mark) > 0 {
            assert!(
                began.elapsed() < Duration::from_secs(5),
                "{backend}: processes are left"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
