//! Kill −9 of the server while Hugo builds: Hugo ends with it, nothing it leaves is in the way, and the
//! resumed run builds again. A disk that is full for a while makes the run wait.
#![cfg(target_os = "linux")]

use std::{
    path::Path,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open},
};

use super::{
    end_to_end::{real_hugo, with_hugo},
    levers::write_program,
    place::LaunchPlace,
};

const WAIT_LIMIT: Duration = Duration::from_secs(120);

/// A Hugo whose build does this.
fn stand_in(place: &LaunchPlace, build: &str) {
    write_program(
        &place.root().join("bin/hugo"),
        &format!(
            r#"case "$1" in
version) echo 'hugo v0.168.0+extended linux/amd64 BuildDate=unknown'; exit ;;
config) printf '{{"path":"project","dir":"%s","mounts":[{{"source":"content"}}]}}' "$PWD"; exit ;;
esac
{build}
"#
        ),
    );
}

/// The group that builds now: the second that is noted, after the one that asked for the mounts.
fn building(scratch: &Path) -> Option<Pid> {
    let folders = std::fs::read_dir(scratch).ok()?;
    let noted = folders.filter_map(|folder| {
        let noted = fs_err::read_to_string(folder.ok()?.path().join(".owner")).ok()?;
        noted.lines().nth(1)?.parse().ok()
    });
    noted.filter_map(Pid::from_raw).next()
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < WAIT_LIMIT, "{what} does not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until a process has ended.
fn assert_ends(pid: Pid) {
    // No such process: gone.
    if let Ok(watched) = pidfd_open(pid, PidfdFlags::empty()) {
        let limit = Timespec {
            tv_sec: 60,
            tv_nsec: 0,
        };
        let mut watched = [PollFd::new(&watched, PollFlags::IN)];
        assert_eq!(poll(&mut watched, Some(&limit)), Ok(1), "{pid:?} lives on");
    }
}

/// Starts a launch and kills its server while Hugo builds; the run.
fn killed_over_hugo(place: &LaunchPlace) -> String {
    let mut client = place.serve();
    let run_id = client.start(&place.config());
    let scratch = place.home().join("tmp");
    let group = wait_for("the build", || building(&scratch));
    let server = Pid::from_child(&client.session.server.process.0);
    kill_process(server, Signal::KILL).unwrap();
    client.session.server.process.kill();
    assert_ends(group);
    run_id
}

#[test]
fn hugo_ends_with_its_server_and_the_run_continues() {
    let place = LaunchPlace::example();
    stand_in(&place, "trap '' TERM HUP INT; while :; do sleep 1; done");
    let run_id = killed_over_hugo(&place);
    // What the build left is in nobody's way.
    stand_in(&place, "echo '{}' > \"$3/left\"; exit 0");
    let mut client = place.serve();
    let status = client.settled(&run_id);
    assert_eq!(status["state"], "VALIDATING", "{status:#}");
    assert!(status.get("failure").is_none(), "{status:#}");
    let left = std::fs::read_dir(place.home().join("tmp")).unwrap();
    let left = left.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("hugo-")
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn the_real_hugo_ends_with_its_server() {
    let Some(hugo) = real_hugo() else { return };
    let place = LaunchPlace::example();
    with_hugo(&place, &hugo);
    let run_id = killed_over_hugo(&place);
    let mut client = place.serve();
    let status = client.settled(&run_id);
    assert_eq!(status["state"], "VALIDATING", "{status:#}");
    assert!(status.get("failure").is_none(), "{status:#}");
    let report = client.artifact_json(&run_id, "validation_report.json");
    let gates = report["gates"].as_array().unwrap();
    let build = gates
        .iter()
        .find(|gate| gate["name"] == "HugoBuild")
        .unwrap();
    assert_eq!(build["ok"], true, "{build}");
    assert_ne!(build["skipped"], true, "{build}");
}

#[test]
fn a_full_disk_makes_the_run_wait() {
    let place = LaunchPlace::example();
    stand_in(
        &place,
        "echo 'ERROR write public/index.html: no space left on device' >&2; exit 1",
    );
    let mut client = place.serve();
    let run_id = client.start(&place.config());
    wait_for("the pause", || {
        let shown = place.say(&["runs", "show", &run_id]);
        shown.stdout.contains("disk is full").then_some(())
    });
    stand_in(&place, "exit 0");
    let status = client.settled(&run_id);
    assert_eq!(status["state"], "VALIDATING", "{status:#}");
    assert!(status.get("failure").is_none(), "{status:#}");
}
