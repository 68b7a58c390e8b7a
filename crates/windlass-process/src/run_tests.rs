//! Processes that end, that do not, and that leave children behind.

use super::*;

const LONG: Duration = Duration::from_secs(60);

fn shell(script: &str, input: Option<&[u8]>, limit: Duration) -> Ended {
    run(Command::new("sh").args(["-c", script]), input, limit).unwrap()
}

fn output(ended: Ended) -> (Option<i32>, String, String) {
    match ended {
        Ended::Itself {
            code,
            mut stdout,
            mut stderr,
        } => (
            code,
            String::from_utf8(stdout.all().unwrap()).unwrap(),
            String::from_utf8(stderr.all().unwrap()).unwrap(),
        ),
        Ended::Stopped => panic!("stopped"),
    }
}

#[test]
fn code_output_and_messages_are_kept_apart() {
    let ended = shell("echo out; echo err >&2; exit 3", None, LONG);
    assert_eq!(output(ended), (Some(3), "out\n".into(), "err\n".into()));
}

#[test]
fn input_is_what_is_given_and_nothing_else() {
    assert_eq!(output(shell("cat", None, LONG)).1, "");
    assert_eq!(output(shell("cat", Some(b"a\0b"), LONG)).1, "a\0b");
    // More than a pipe holds, in both directions.
    let large = vec![b'x'; 1 << 20];
    let ended = shell("cat", Some(&large), LONG);
    assert_eq!(output(ended).1.len(), large.len());
}

#[test]
fn output_is_followed_while_it_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let seen_it = directory.path().join("seen");
    // Continues only once its first line was seen.
    let script = "echo one; echo first >&2; until [ -e seen ]; do sleep 0.01; done; echo two";
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(directory.path());
    let running = start(&mut command, None, Command::spawn).unwrap();
    let following = std::cell::RefCell::new(running.following().unwrap());
    let seen = std::cell::RefCell::new((Vec::new(), Vec::new()));
    let look = || {
        let more = following.borrow_mut().more().unwrap();
        let mut seen = seen.borrow_mut();
        seen.0.extend(more.0);
        seen.1.extend(more.1);
        if seen.0 == b"one\n" {
            fs_err::write(&seen_it, "").unwrap();
        }
        false
    };
    let ended = running.finish(&Bounds {
        time: LONG,
        unwanted: &look,
        stragglers: Stragglers::End,
    });
    look();
    // Looking moves nothing: the process wrote on where it was.
    let whole = (Some(0), "one\ntwo\n".to_owned(), "first\n".to_owned());
    assert_eq!(output(ended.unwrap()), whole);
    assert_eq!(
        seen.into_inner(),
        (b"one\ntwo\n".to_vec(), b"first\n".to_vec())
    );
}

#[test]
fn a_death_by_signal_has_no_code() {
    assert_eq!(output(shell("kill -9 $$", None, LONG)).0, None);
}

#[test]
fn a_child_that_keeps_the_output_open_is_not_waited_for() {
    let (code, stdout, _) = output(shell("sleep 600 & echo $!", None, LONG));
    assert_eq!(code, Some(0));
    let left_behind = Pid::from_raw(stdout.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(left_behind, Signal::KILL).unwrap();
}

/// Runs a script that never ends against growing limits until it got far enough to leave the
/// file; returns what it wrote there.
fn stopped_after_writing(script: impl Fn(&str) -> String) -> String {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report");
    let script = script(report.to_str().unwrap());
    [250, 1_000, 4_000, 16_000]
        .into_iter()
        .find_map(|limit| {
            let ended = shell(&script, None, Duration::from_millis(limit));
            assert!(matches!(ended, Ended::Stopped));
            let text = fs_err::read_to_string(&report).ok()?;
            text.ends_with('\n').then_some(text)
        })
        .expect("the script writes its report in time")
}

/// Waits until a process is gone.
#[cfg(target_os = "linux")]
fn assert_ends(pid: &str) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{PidfdFlags, pidfd_open};

    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    // No such process: gone. Otherwise it must be about to go.
    if let Ok(watched) = pidfd_open(pid, PidfdFlags::empty()) {
        let limit = Timespec {
            tv_sec: 60,
            tv_nsec: 0,
        };
        let mut watched = [PollFd::new(&watched, PollFlags::IN)];
        assert_eq!(poll(&mut watched, Some(&limit)), Ok(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn at_the_limit_the_whole_group_ends() {
    // The helper ignores the request to end, and its parent does not wait for it.
    let helper = stopped_after_writing(|report| {
        format!("sh -c 'trap \"\" TERM; echo $$ > {report}; while :; do sleep 600; done' & wait")
    });
    assert_ends(&helper);
}

#[cfg(target_os = "linux")]
#[test]
fn stragglers_end_on_request() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 600 & echo $!"]);
    let running = start(&mut command, None, Command::spawn).unwrap();
    let ended = running.finish(&Bounds {
        time: LONG,
        unwanted: &|| false,
        stragglers: Stragglers::End,
    });
    assert_ends(&output(ended.unwrap()).1);
}

#[test]
fn an_unwanted_process_is_stopped() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let mut command = Command::new("sleep");
    command.arg("600");
    let running = start(&mut command, None, Command::spawn).unwrap();
    let ended = running.finish(&Bounds {
        time: LONG,
        unwanted: &|| asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 1,
        stragglers: Stragglers::End,
    });
    assert!(matches!(ended, Ok(Ended::Stopped)));
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_dropped_ends() {
    let mut command = Command::new("sleep");
    command.arg("600");
    let running = start(&mut command, None, Command::spawn).unwrap();
    let pid = running.pid().as_raw_nonzero().to_string();
    drop(running);
    assert_ends(&pid);
}

#[test]
fn both_ends_of_a_long_output() {
    for (script, expected) in [
        ("printf abc", ("abc", "")),
        ("printf abcd", ("abcd", "")),
        ("printf abcdef", ("abcd", "ef")),
        ("printf abcd%sxyz0 123456", ("abcd", "xyz0")),
    ] {
        let Ended::Itself { mut stdout, .. } = shell(script, None, LONG) else {
            panic!("stopped");
        };
        let (first, last) = stdout.ends(4).unwrap();
        assert_eq!(
            (first.as_slice(), last.as_slice()),
            (expected.0.as_bytes(), expected.1.as_bytes())
        );
        assert!(stdout.all().unwrap().starts_with(&first));
    }
}

#[test]
fn a_process_that_ends_when_asked_may_clean_up() {
    let report = stopped_after_writing(|report| {
        format!("trap 'echo cleaned > {report}; exit 1' TERM; sleep 600 & wait")
    });
    assert_eq!(report, "cleaned\n");
}
